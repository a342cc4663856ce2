//! Words as the page shows them.

use std::fmt;

use askama::filters::{Escaper, Html};
use carson_core::untrusted::visible;
use carson_store::Firing;
use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;

/// The only way from a template's values into a page: escaped as HTML, and with what nobody would see made visible.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown;

impl Escaper for Shown {
    fn write_escaped_str<W: fmt::Write>(&self, to: W, text: &str) -> fmt::Result {
        Html.write_escaped_str(to, &visible(text))
    }
}

/// The first characters of a text, and whether there are more.
pub(crate) fn cut(text: &str, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (text[..end].to_owned(), true),
        None => (text.to_owned(), false),
    }
}

/// A text of one line, cut where it is long.
pub(crate) fn line(text: &str) -> String {
    let one = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut shown, more) = cut(&one, 200);
    if more {
        shown.push('…');
    }
    shown
}

/// Money.
pub(crate) fn usd(amount: f64, estimated: bool) -> String {
    let about = if estimated { "about " } else { "" };
    format!("{about}${amount:.2}")
}

/// What a firing cost, as far as that is known.
pub(crate) fn cost(row: &Firing) -> String {
    row.spent()
        .map_or_else(|| "—".to_owned(), |spent| usd(spent.usd, spent.estimated))
}

/// How long something took or will take, in its two largest units.
pub(crate) fn span(time: TimeDelta) -> String {
    let seconds = time.num_seconds().max(0);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Instants as the people of one zone read them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zone {
    pub(crate) zone: Tz,
    pub(crate) now: DateTime<Utc>,
}

impl Zone {
    /// `Thu 26 Nov 02:20`; of the last and next twelve hours the time alone.
    pub(crate) fn at(&self, at: DateTime<Utc>) -> String {
        let local = at.with_timezone(&self.zone);
        let near = (at - self.now).abs() < TimeDelta::hours(12);
        let form = if near { "%H:%M:%S" } else { "%a %-d %b %H:%M" };
        local.format(form).to_string()
    }

    /// How it lies to now: `3 min 2 s ago`, `in 5 h 10 min`.
    pub(crate) fn ago(&self, at: DateTime<Utc>) -> String {
        match at <= self.now {
            true => format!("{} ago", span(self.now - at)),
            false => format!("in {}", span(at - self.now)),
        }
    }

    /// Until then, or until somebody ends it.
    pub(crate) fn until(&self, until: Option<DateTime<Utc>>) -> String {
        match until {
            Some(at) if at <= self.now => format!("ran out {}", self.ago(at)),
            Some(at) => format!("until {} ({})", self.at(at), self.ago(at)),
            None => "until a person ends it".to_owned(),
        }
    }
}

/// An address that a browser may be sent to; what somebody else wrote can be a script.
pub(crate) fn link(url: &str) -> Option<String> {
    let web = url.starts_with("https://") || url.starts_with("http://");
    let plain = url.len() < 2_000 && !url.chars().any(|c| c.is_whitespace() || c.is_control());
    (web && plain).then(|| url.to_owned())
}

/// A text as a part of an address.
pub(crate) fn part(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_text_and_all_of_it_is_seen() {
        let shown = |text: &str| {
            let mut out = String::new();
            Shown.write_escaped_str(&mut out, text).unwrap();
            out
        };
        let script = shown("<script>\"'&\u{202e}\u{200b}a\nb");
        assert!(!script.contains(['<', '>', '"', '\'']), "{script}");
        assert!(script.ends_with("\u{fffd}\u{fffd}a\nb"), "{script}");
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        assert!(link("https://forge.example/w/pulls/1").is_some());
        for wrong in [
            "javascript:alert(1)",
            "data:text/html,x",
            "//x",
            "https://a b",
            "",
        ] {
            assert_eq!(link(wrong), None, "{wrong}");
        }
        assert_eq!(part("a&b=c/ä"), "a%26b%3Dc%2F%C3%A4");
    }

    #[test]
    fn spans_and_instants_are_for_people() {
        let now: DateTime<Utc> = "2026-11-26T07:00:00Z".parse().unwrap();
        let zone = Zone {
            zone: chrono_tz::Europe::Berlin,
            now,
        };
        assert_eq!(zone.at(now), "08:00:00");
        assert_eq!(zone.at(now - TimeDelta::days(2)), "Tue 24 Nov 08:00");
        assert_eq!(zone.ago(now + TimeDelta::seconds(3_700)), "in 1 h 1 min");
        assert_eq!(zone.ago(now - TimeDelta::hours(50)), "2 d 2 h ago");
        assert_eq!(zone.until(None), "until a person ends it");
        assert_eq!(line("a\n b  c"), "a b c");
        assert_eq!(cut("äöü", 2), ("äö".to_owned(), true));
    }
}

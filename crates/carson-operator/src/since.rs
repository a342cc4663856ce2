//! Since when: how long ago, a day, or a word for one.

use carson_config::parse_duration;
use carson_home::Home;
use carson_home::calendar::day_of;
use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use crate::refusal::Refusal;

/// The instant that was typed: `2h`, `3d`, `1w`, `today`, `yesterday`, or a day of the fleet's zone.
pub(crate) fn since(home: &Home, text: Option<&str>) -> Result<Option<DateTime<Utc>>, Refusal> {
    let Some(text) = text else { return Ok(None) };
    let (now, zone) = (home.clock.now(), home.fleet.zone);
    let today = day_of(zone, now).0;
    if let Ok(day) = text.parse::<NaiveDate>() {
        let noon = day.and_hms_opt(12, 0, 0).unwrap_or_default();
        let noon = noon.and_local_timezone(zone).earliest();
        return Ok(noon.map(|noon| day_of(zone, noon.with_timezone(&Utc)).0));
    }
    let ago = match text {
        "today" => return Ok(Some(today)),
        "yesterday" => return Ok(Some(day_of(zone, today - TimeDelta::seconds(1)).0)),
        _ => ago(text).map_err(|problem| Refusal::Field {
            field: "since",
            problem,
        })?,
    };
    Ok(Some(now - ago))
}

fn ago(text: &str) -> Result<TimeDelta, String> {
    let weeks = text.strip_suffix('w').and_then(|n| n.parse::<u32>().ok());
    if let Some(weeks) = weeks {
        // No fleet is older than that.
        return Ok(TimeDelta::weeks(i64::from(weeks.min(520))));
    }
    let wrong = |_| {
        format!("{text:?} says no time: write 2h, 3d, 1w, today, yesterday or a day (2026-11-20)")
    };
    let span = parse_duration(text).map_err(wrong)?;
    Ok(TimeDelta::from_std(span).unwrap_or(TimeDelta::weeks(520)))
}

#[cfg(test)]
mod tests {
    use super::ago;

    #[test]
    fn a_week_is_seven_days_and_a_wrong_word_says_which_there_are() {
        assert_eq!(ago("1w"), ago("7d"));
        assert_eq!(ago("2h30m").unwrap().num_minutes(), 150);
        assert_eq!(ago("99999w").unwrap().num_weeks(), 520);
        for wrong in ["", "w", "last week", "-1w", "1y"] {
            assert!(ago(wrong).unwrap_err().contains("yesterday"), "{wrong}");
        }
    }
}

//! A message in Slack's syntax.

use carson_core::Untrusted;
use carson_core::outcome::Severity;
use serde_json::{Value, json};

use crate::message::{Message, cut};

/// Longest header (the chat allows 150).
const TITLE_MAX: usize = 150;
/// Longest text block (the chat allows 3000).
const TEXT_MAX: usize = 2_900;
/// Longest field (the chat allows 2000), and the most of them.
const FIELD_MAX: usize = 1_900;
const FIELDS_MAX: usize = 10;

/// The headline as Slack's `text`, which has syntax: what notifications and old clients show.
pub(super) fn text(message: &Message) -> String {
    cut(&escape(&message.headline()), TEXT_MAX)
}

/// The message as Slack blocks. Titles go in as plain text, which has no syntax; the rest is
/// escaped, so that no text can mention a channel or forge a link. Whoever wrote a part of it,
/// all of it is [`Untrusted`] but for the link.
pub(super) fn blocks(message: &Message) -> Value {
    let title = cut(&Untrusted::new(&message.headline()).plain(), TITLE_MAX);
    let mut blocks = vec![
        json!({"type": "header", "text": {"type": "plain_text", "text": title}}),
        json!({"type": "section", "text": mrkdwn(&cut(&escape(&message.text), TEXT_MAX))}),
    ];
    if !message.fields.is_empty() {
        let field = |(name, value): &(String, String)| {
            let text = format!("*{}*\n{}", escape(name), escape(value));
            mrkdwn(&cut(&text, FIELD_MAX))
        };
        let fields = message.fields.iter().take(FIELDS_MAX).map(field);
        blocks.push(json!({"type": "section", "fields": fields.collect::<Vec<_>>()}));
    }
    if let Some(link) = message.link.as_deref() {
        let text = match message.page() {
            Some(page) => controls_escaped(page),
            None => escape(link),
        };
        blocks.push(json!({"type": "context", "elements": [mrkdwn(&text)]}));
    }
    Value::Array(blocks)
}

/// Calls whoever is there, where the message says that somebody must look. Only this may mention anybody.
pub(super) fn call_people(body: &mut Value, message: &Message) {
    if message.severity != Some(Severity::Error) {
        return;
    }
    let text = format!("<!here> {}", body["text"].as_str().unwrap_or_default());
    body["text"] = Value::String(text);
    if let Some(blocks) = body["blocks"].as_array_mut() {
        let call = mrkdwn("<!here> somebody must look");
        blocks.push(json!({"type": "context", "elements": [call]}));
    }
}

/// Sections of one post: Slack refuses posts whose texts come to some 11,000 characters (`msg_blocks_too_long`; it says
/// nowhere how many, see https://github.com/slackapi/bolt-js/issues/2509).
const SECTIONS: usize = 3;

/// A text of many lines as posts of sections, each within what the chat allows. What is beyond `most` posts is left out,
/// and the last one says so, and where the rest is.
#[must_use]
pub fn posts(text: &str, most: usize, rest: &str) -> Vec<Vec<Value>> {
    let (mut parts, most) = (parts(text), most * SECTIONS);
    if parts.len() > most {
        let beyond = parts.split_off(most - 1);
        let left_out: usize = beyond.iter().map(|part| part.chars().count()).sum();
        parts.push(format!(
            "… {left_out} more characters stand elsewhere: {rest}"
        ));
    }
    let section = |part: &String| json!({"type": "section", "text": mrkdwn(part)});
    let posts = parts.chunks(SECTIONS);
    posts
        .map(|parts| parts.iter().map(section).collect())
        .collect()
}

/// The lines as texts of sections; none of them is empty, which the chat does not take.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for line in text.lines() {
        for piece in pieces(&shown(line)) {
            let fits = |part: &&mut String| part.chars().count() + piece.chars().count() < TEXT_MAX;
            match parts.last_mut().filter(fits) {
                Some(part) => {
                    part.push('\n');
                    part.push_str(piece);
                }
                None => parts.push(piece.to_owned()),
            }
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    if parts.is_empty() {
        parts.push("–".to_owned());
    }
    parts
}

/// A line in pieces that fit into a section: cut between words, where there are any, and never within `&amp;`.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((most, _)) = rest.char_indices().nth(TEXT_MAX - 1) {
        let fits = &rest[..most];
        let sign = fits.rfind('&').filter(|&at| !fits[at..].contains(';'));
        let at = fits.rfind(' ').or(sign).unwrap_or(most);
        let at = if at == 0 { most } else { at };
        pieces.push(&rest[..at]);
        rest = rest[at..].trim_start();
    }
    pieces.push(rest);
    pieces
}

/// A line as the chat shows it, without anything that it gives a meaning.
#[must_use]
pub fn shown(text: &str) -> String {
    controls_escaped(&Untrusted::new(text).plain())
}

fn mrkdwn(text: &str) -> Value {
    json!({"type": "mrkdwn", "text": text})
}

/// Without anything that the chat gives a meaning.
fn escape(text: &str) -> String {
    shown(if text.is_empty() { "–" } else { text })
}

/// Slack's three control characters.
fn controls_escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message() -> Message {
        Message {
            severity: None,
            title: "t".into(),
            fields: Vec::new(),
            text: "see https://evil.example @everyone".into(),
            link: None,
            role: None,
            outcome: None,
        }
    }

    #[test]
    fn no_text_can_mention_or_link() {
        let message = Message {
            severity: Some(Severity::Error),
            title: "<!channel> & <https://evil|click>".into(),
            fields: vec![("a".into(), "<@U1>".into())],
            text: "<!here> & <https://evil|click>".repeat(300),
            ..message()
        };
        let shown = blocks(&message);
        assert_eq!(shown[0]["text"]["type"], "plain_text");
        let body = shown[1]["text"]["text"].as_str().unwrap();
        assert!(!body.contains('<') && body.chars().count() <= 3_000);
        assert!(!shown[2].to_string().contains('<'));
        assert_eq!(
            text(&message),
            "🚨 &lt;\u{2060}!channel&gt; &amp; &lt;https:\u{2060}//evil|click&gt;"
        );
    }

    #[test]
    fn a_text_of_any_length_is_whole_in_posts_that_the_chat_takes() {
        let words: String = (0..6_000).fold(String::new(), |text, n| text + &format!("w{n}&<! "));
        let text = format!("head\n\n{words}\n{}", "&".repeat(9_000));
        let posts = posts(&text, 99, "there");
        let mut shown = String::new();
        for post in &posts {
            let texts = post.iter().map(|one| one["text"]["text"].as_str().unwrap());
            let all: usize = texts.clone().map(|text| text.chars().count()).sum();
            assert!(all < 10_000 && post.len() <= SECTIONS, "{all}");
            for text in texts {
                assert!(!text.trim().is_empty() && !text.contains('<'));
                shown.push_str(text);
                shown.push('\n');
            }
        }
        let plain = shown
            .replace('\u{2060}', "")
            .replace("&lt;", "<")
            .replace("&amp;", "&");
        for n in 0..6_000 {
            assert!(plain.contains(&format!("w{n}&<!")), "{n}");
        }
        assert_eq!(plain.matches('&').count(), 6_000 + 9_000, "no sign is cut");
    }

    #[test]
    fn what_is_beyond_the_most_posts_is_said_to_be_elsewhere() {
        let text = "a line of words\n".repeat(9_000);
        let posts = posts(&text, 2, "`carson plans`");
        assert_eq!(posts.len(), 2);
        let last = posts[1].last().unwrap()["text"]["text"].as_str().unwrap();
        assert!(
            last.ends_with("more characters stand elsewhere: `carson plans`"),
            "{last}"
        );
        assert_eq!(
            super::posts(" \n", 2, "x"),
            [[json!({"type": "section", "text": mrkdwn("–")})]]
        );
    }

    #[test]
    fn only_what_needs_somebody_calls_people() {
        for severity in [None, Some(Severity::Info), Some(Severity::Warning)] {
            let message = Message {
                severity,
                ..message()
            };
            let mut body = json!({"text": text(&message), "blocks": blocks(&message)});
            call_people(&mut body, &message);
            assert!(!body.to_string().contains("<!"), "{body}");
        }
        let message = Message {
            severity: Some(Severity::Error),
            ..message()
        };
        let mut body = json!({"text": text(&message), "blocks": blocks(&message)});
        call_people(&mut body, &message);
        assert_eq!(body["text"], "<!here> 🚨 t");
        assert_eq!(body.to_string().matches("<!here>").count(), 2, "{body}");
    }

    #[test]
    fn only_a_link_is_one() {
        let context = |link: &str| {
            let link = Some(link.to_owned());
            let shown = blocks(&Message { link, ..message() });
            let text = shown[1]["text"]["text"].as_str().unwrap();
            assert!(!text.contains("://") && !text.contains("@e"), "{text}");
            let text = shown[2]["elements"][0]["text"].as_str().unwrap();
            text.to_owned()
        };
        let address = "https://forge.example/pull/7?a=1&b=2";
        assert_eq!(context(address), address.replace('&', "&amp;"));
        for link in [
            "https://evil.example|click here",
            "javascript:x",
            "https://x @everyone",
        ] {
            let shown = context(link);
            assert!(!shown.contains("://") && !shown.contains("@e"), "{shown}");
        }
    }
}

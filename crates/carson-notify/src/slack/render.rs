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

/// Blocks that one post may have, one of which says what was left out.
pub const MOST_BLOCKS: usize = 48;

/// A text of many lines as sections: each within what the chat allows, all of them within a post. What
/// is beyond that is left out, and said to be.
#[must_use]
pub fn sections(text: &str) -> Vec<Value> {
    let mut parts = vec![String::new()];
    for line in text.lines() {
        let line = cut(&shown(line), TEXT_MAX - 1);
        let last = parts.last_mut().filter(|part| {
            part.is_empty() || part.chars().count() + line.chars().count() < TEXT_MAX
        });
        match last {
            Some(part) if part.is_empty() => *part = line,
            Some(part) => *part = format!("{part}\n{line}"),
            None => parts.push(line),
        }
    }
    let left_out = parts.len().saturating_sub(MOST_BLOCKS);
    parts.truncate(MOST_BLOCKS);
    if left_out > 0 {
        parts.push("… the rest is left out: a terminal shows all of it".to_owned());
    }
    let section = |text: String| json!({"type": "section", "text": mrkdwn(&escape_empty(text))});
    parts.into_iter().map(section).collect()
}

/// The chat takes no section without a text.
fn escape_empty(text: String) -> String {
    if text.trim().is_empty() {
        "–".to_owned()
    } else {
        text
    }
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

//! A message in Slack's syntax.

use carson_core::Untrusted;
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

fn mrkdwn(text: &str) -> Value {
    json!({"type": "mrkdwn", "text": text})
}

/// Without anything that the chat gives a meaning.
fn escape(text: &str) -> String {
    let text = if text.is_empty() { "–" } else { text };
    controls_escaped(&Untrusted::new(text).plain())
}

/// Slack's three control characters.
fn controls_escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use carson_core::outcome::Severity;

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

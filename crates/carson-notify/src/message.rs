//! A message to people.

use carson_core::Untrusted;
use carson_core::outcome::Severity;
use carson_redact::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Longest header (the chat allows 150).
const TITLE_MAX: usize = 150;
/// Longest text block (the chat allows 3000).
const TEXT_MAX: usize = 2_900;

/// A message, without any chat's own syntax.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// How loud; `None` while it is still going on.
    pub severity: Option<Severity>,
    /// One line.
    pub title: String,
    /// Names and values.
    pub fields: Vec<(String, String)>,
    /// The rest.
    pub text: String,
    /// Where to read on.
    pub link: Option<String>,
}

impl Message {
    /// The message without secrets.
    #[must_use]
    pub fn redacted(&self, redactor: &Redactor) -> Self {
        let clean = |text: &String| redactor.redact(text).into_owned();
        let field = |(name, value): &(String, String)| (clean(name), clean(value));
        Self {
            severity: self.severity,
            title: clean(&self.title),
            fields: self.fields.iter().map(field).collect(),
            text: clean(&self.text),
            link: self.link.as_ref().map(clean),
        }
    }

    /// The title with its sign of loudness.
    #[must_use]
    pub fn headline(&self) -> String {
        let sign = match self.severity {
            None => "⏳",
            Some(Severity::Info) => "✅",
            Some(Severity::Warn) => "⚠️",
            Some(Severity::Alert) => "🚨",
        };
        format!("{sign} {}", self.title)
    }

    /// The headline as Slack's `text`, which has syntax: what notifications and old clients show.
    #[must_use]
    pub fn slack_text(&self) -> String {
        cut(&escape(&self.headline()), TEXT_MAX)
    }

    /// The message as Slack blocks. Titles go in as plain text, which has no syntax; the rest is
    /// escaped, so that no text can mention a channel or forge a link. Whoever wrote a part of it,
    /// all of it is [`Untrusted`] but for the link.
    #[must_use]
    pub fn slack_blocks(&self) -> Value {
        let mut blocks = vec![
            json!({"type": "header", "text": {"type": "plain_text", "text": cut(&Untrusted::new(&self.headline()).plain(), TITLE_MAX)}}),
            json!({"type": "section", "text": {"type": "mrkdwn", "text": cut(&escape(&self.text), TEXT_MAX)}}),
        ];
        if !self.fields.is_empty() {
            let field = |(name, value): &(String, String)| json!({"type": "mrkdwn", "text": cut(&format!("*{}*\n{}", escape(name), escape(value)), 1_900)});
            let fields: Vec<Value> = self.fields.iter().take(10).map(field).collect();
            blocks.push(json!({"type": "section", "fields": fields}));
        }
        if let Some(link) = self.link.as_deref() {
            let text = match is_link(link) {
                true => controls_escaped(link),
                false => escape(link),
            };
            blocks.push(json!({"type": "context", "elements": [{"type": "mrkdwn", "text": text}]}));
        }
        Value::Array(blocks)
    }
}

/// One address and nothing else.
fn is_link(text: &str) -> bool {
    let is_page = ["https://", "http://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    let plain = |c: char| c.is_ascii_graphic() && !"<>|`*".contains(c);
    is_page && text.chars().all(plain)
}

/// Without anything that a chat gives a meaning.
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

fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_mention_or_link() {
        let message = Message {
            severity: Some(Severity::Alert),
            title: "<!channel> & <https://evil|click>".into(),
            fields: vec![("a".into(), "<@U1>".into())],
            text: "<!here> & <https://evil|click>".repeat(300),
            link: None,
        };
        let blocks = message.slack_blocks();
        assert_eq!(blocks[0]["text"]["type"], "plain_text");
        let text = blocks[1]["text"]["text"].as_str().unwrap();
        assert!(!text.contains('<') && text.chars().count() <= 3_000);
        assert!(!blocks[2].to_string().contains('<'));
        assert_eq!(
            message.slack_text(),
            "🚨 &lt;\u{2060}!channel&gt; &amp; &lt;https:\u{2060}//evil|click&gt;"
        );
    }

    #[test]
    fn only_a_link_is_one() {
        let context = |link: &str| {
            let message = Message {
                severity: None,
                title: "t".into(),
                fields: Vec::new(),
                text: "see https://evil.example @everyone".into(),
                link: Some(link.into()),
            };
            let blocks = message.slack_blocks();
            let text = blocks[1]["text"]["text"].as_str().unwrap();
            assert!(!text.contains("://") && !text.contains("@e"), "{text}");
            let text = blocks[2]["elements"][0]["text"].as_str().unwrap();
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

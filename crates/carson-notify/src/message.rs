//! A message to people.

use carson_core::outcome::Severity;
use carson_redact::Redactor;
use serde::{Deserialize, Serialize};

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
    /// The role that it is about. Posts of older versions name none.
    #[serde(default)]
    pub role: Option<String>,
    /// How the firing ended, once it has.
    #[serde(default)]
    pub outcome: Option<String>,
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
            role: self.role.as_ref().map(clean),
            outcome: self.outcome.clone(),
        }
    }

    /// The title with its sign of loudness.
    #[must_use]
    pub fn headline(&self) -> String {
        let sign = match self.severity {
            None => "⏳",
            Some(Severity::Info) => "✅",
            Some(Severity::Warning) => "⚠️",
            Some(Severity::Error) => "🚨",
        };
        format!("{sign} {}", self.title)
    }

    /// What tells an alert from others: the role that it is about, and what it says of it.
    #[must_use]
    pub fn alert(&self) -> String {
        let role = self.role.as_deref().unwrap_or_default();
        format!("{role}: {}", self.title)
    }

    /// The link, where it is one address and nothing else.
    #[must_use]
    pub fn page(&self) -> Option<&str> {
        self.link.as_deref().filter(|link| is_link(link))
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

/// At most so many characters.
pub(crate) fn cut(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}

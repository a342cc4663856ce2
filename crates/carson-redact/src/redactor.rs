//! The handle that every sink has.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use secrecy::{ExposeSecret, SecretString};

use crate::known;
use crate::pieces::Pieces;
use crate::scan::Scanner;
use crate::span::Span;

/// Knows the secrets that Carson holds, and the forms of those it does not. Clones share it.
#[derive(Clone)]
pub struct Redactor(Arc<Shared>);

struct Shared {
    known: Mutex<BTreeSet<String>>,
    scanner: RwLock<Arc<Scanner>>,
}

/// Something in a text that must not leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which rule says so.
    pub rule: &'static str,
    /// Where.
    pub at: Range<usize>,
}

impl Default for Redactor {
    fn default() -> Self {
        Self(Arc::new(Shared {
            known: Mutex::default(),
            scanner: RwLock::new(Arc::new(Scanner::new(&BTreeSet::new()))),
        }))
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// One that knows these values, in the forms in which they travel.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let redactor = Self::default();
        redactor.learn(secrets);
        redactor
    }

    /// Learns more values, for all its clones. Values too short to be told from words are left out.
    pub fn learn(&self, secrets: impl IntoIterator<Item = SecretString>) {
        let mut known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        for secret in secrets {
            let value = secret.expose_secret().trim();
            if value.len() >= known::LEAST && !known.contains(value) {
                known.insert(value.to_owned());
            }
        }
        if known.len() > before {
            let scanner = Arc::new(Scanner::new(&known));
            *self
                .0
                .scanner
                .write()
                .unwrap_or_else(PoisonError::into_inner) = scanner;
        }
    }

    pub(crate) fn scanner(&self) -> Arc<Scanner> {
        let scanner = self.0.scanner.read();
        Arc::clone(&scanner.unwrap_or_else(PoisonError::into_inner))
    }

    /// The text without secrets; each becomes `[redacted:RULE]`.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(match String::from_utf8(bytes) {
                Ok(text) => text,
                Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            }),
        }
    }

    /// The same for bytes, which need not be UTF-8.
    #[must_use]
    pub fn redact_bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let spans = self.scanner().scan(text, 0, true).spans;
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut from) = (Vec::with_capacity(text.len()), 0);
        for span in spans {
            out.extend_from_slice(&text[from..span.start]);
            mark(span.rule, &mut out);
            from = span.end;
        }
        out.extend_from_slice(&text[from..]);
        Cow::Owned(out)
    }

    /// What is in a text, without touching it.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Vec<Finding> {
        let finding = |span: Span| Finding {
            rule: span.rule,
            at: span.start..span.end,
        };
        let spans = self.scanner().scan(text, 0, true).spans;
        spans.into_iter().map(finding).collect()
    }

    /// Looks for known values that are spread over several texts.
    #[must_use]
    pub fn pieces(&self) -> Pieces {
        let known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        Pieces::of(known.iter().map(String::as_str))
    }

    /// The known values, for a child of ours to read from its standard input.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let known = self.0.known.lock().unwrap_or_else(PoisonError::into_inner);
        serde_json::to_vec(&*known).unwrap_or_default()
    }

    /// One that knows what another does.
    ///
    /// # Errors
    /// When these are not bytes of [`to_wire`](Self::to_wire).
    pub fn from_wire(wire: &[u8]) -> Result<Self, String> {
        let known: Vec<String> = serde_json::from_slice(wire).map_err(|error| error.to_string())?;
        Ok(Self::new(known.into_iter().map(SecretString::from)))
    }
}

/// What stands in the place of a secret.
pub(crate) fn mark(rule: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"[redacted:");
    out.extend_from_slice(rule.as_bytes());
    out.push(b']');
}

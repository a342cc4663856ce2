//! Takes secrets out of text.

use std::borrow::Cow;

use secrecy::{ExposeSecret, SecretString};

use crate::shapes::{SHAPES, Shape};

/// A known value shorter than this would take ordinary words out of every text.
const LEAST: usize = 6;

/// Knows the secrets that Carson holds, and the shapes of those it does not.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    known: Vec<SecretString>,
}

impl Redactor {
    /// A redactor that knows these values, in the forms in which they travel.
    pub fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        let mut known: Vec<String> = Vec::new();
        for secret in secrets {
            let value = secret.expose_secret();
            known.extend([
                value.to_owned(),
                json_form(value),
                url_form(value),
                base64_form(value),
            ]);
        }
        known.retain(|value| value.len() >= LEAST);
        // Longer first: one form may contain another.
        known.sort_by_key(|value| std::cmp::Reverse(value.len()));
        known.dedup();
        Self {
            known: known.into_iter().map(SecretString::from).collect(),
        }
    }

    /// The text without secrets; each becomes `[redacted:KIND]`.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for known in &self.known {
            if text.contains(known.expose_secret()) {
                text = Cow::Owned(text.replace(known.expose_secret(), "[redacted:known]"));
            }
        }
        if text.contains("PRIVATE KEY-----") {
            text = Cow::Owned(without_keys(&text));
        }
        for shape in &SHAPES {
            if text.contains(shape.prefix) {
                text = Cow::Owned(without_shape(&text, shape));
            }
        }
        text
    }
}

fn without_shape(text: &str, shape: &Shape) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(shape.prefix) {
        let (before, found) = rest.split_at(at);
        out.push_str(before);
        let tail = &found[shape.prefix.len()..];
        let outside = |c: char| !c.is_ascii_alphanumeric() && !shape.also.contains(c);
        // The word first: a long run of prefixes must not be read again from each of them.
        let length = match ends_in_a_word(&out) {
            true => 0,
            false => tail.find(outside).unwrap_or(tail.len()),
        };
        if length >= shape.least {
            out.push_str("[redacted:");
            out.push_str(shape.name);
            out.push(']');
            rest = &tail[length..];
        } else {
            // One character on: the tail of this one may hold the beginning of another.
            out.push_str(&found[..1]);
            rest = &found[1..];
        }
    }
    out.push_str(rest);
    out
}

/// Whether what follows would be the middle of a word. The last character of an escape is no part
/// of one: `\n` or `\u000a` in JSON and in logs, `%0A` in addresses.
fn ends_in_a_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    let escaped = |opening: &[u8], digits: usize| {
        let (rest, last) = bytes.split_at(bytes.len().saturating_sub(digits));
        rest.ends_with(opening) && last.iter().all(u8::is_ascii_hexdigit)
    };
    match bytes {
        [.., b'\\', _] => false,
        [.., last] if last.is_ascii_alphanumeric() => {
            !(escaped(b"%", 2) || escaped(b"\\x", 2) || escaped(b"\\u", 4))
        }
        _ => false,
    }
}

/// PEM blocks (RFC 7468) of private keys, also unfinished ones.
fn without_keys(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("-----BEGIN ") {
        let (before, block) = rest.split_at(at);
        let first_line = block.lines().next().unwrap_or_default();
        if !first_line.contains("PRIVATE KEY-----") {
            out.push_str(before);
            out.push_str("-----BEGIN ");
            rest = &block["-----BEGIN ".len()..];
            continue;
        }
        out.push_str(before);
        out.push_str("[redacted:private-key]");
        let end = block.find("-----END ").map(|end| {
            let close = &block[end + "-----END ".len()..];
            end + "-----END ".len() + close.find("-----").map_or(close.len(), |at| at + 5)
        });
        rest = &block[end.unwrap_or(block.len())..];
    }
    out.push_str(rest);
    out
}

fn json_form(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted.trim_matches('"').to_owned()
}

fn url_form(value: &str) -> String {
    value
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

/// RFC 4648 §4, without the last group: what follows the value changes it.
fn base64_form(value: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for group in value.as_bytes().chunks_exact(3) {
        let bits = u32::from(group[0]) << 16 | u32::from(group[1]) << 8 | u32::from(group[2]);
        for shift in [18, 12, 6, 0] {
            out.push(char::from(ALPHABET[(bits >> shift) as usize & 63]));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_go_and_words_stay() {
        let redactor = Redactor::default();
        let tail = "a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4";
        for shape in &SHAPES {
            let secret = format!("{}{tail}", shape.prefix);
            let text = redactor.redact(&format!("x={secret}, y")).into_owned();
            assert_eq!(
                text,
                format!("x=[redacted:{}], y", shape.name),
                "{}",
                shape.prefix
            );
        }
        for word in [
            "task-ant-hill",
            "sk-short",
            "the AKIA prefix",
            "desk-proj-x",
            "eyJ.a.b",
        ] {
            assert_eq!(redactor.redact(word), word);
        }
    }

    #[test]
    fn an_escape_before_a_secret_does_not_hide_it() {
        let redactor = Redactor::default();
        let secret = "ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";
        for before in [
            "\\n", "\\t", "\\u000a", "\\x0a", "%0A", "\n", "ghp_", "ghp_x-", "é",
        ] {
            let text = redactor
                .redact(&format!("{before}{secret}\\n"))
                .into_owned();
            assert_eq!(text, format!("{before}[redacted:github]\\n"));
        }
        let json = serde_json::json!({ "text": format!("line\n{secret}\nline") }).to_string();
        assert!(!redactor.redact(&json).contains("ghp_"), "{json}");
        for word in [
            format!("x{secret}"),
            format!("0A{secret}"),
            format!("u000a{secret}"),
        ] {
            assert_eq!(redactor.redact(&word), word, "the middle of a word");
        }
        let long = "eyJ".repeat(500_000);
        assert_eq!(redactor.redact(&format!("x{long}")).len(), long.len() + 1);
    }

    #[test]
    fn a_known_value_goes_in_every_form() {
        let redactor = Redactor::new([SecretString::from("p\"ss/w+rd"), SecretString::from("ab")]);
        for form in [
            "p\"ss/w+rd",
            "p\\\"ss/w+rd",
            "p%22ss%2Fw%2Brd",
            "cCJzcy93K3Jk",
        ] {
            let text = redactor.redact(&format!("<{form}>")).into_owned();
            assert_eq!(text, "<[redacted:known]>", "{form}");
        }
        assert_eq!(
            redactor.redact("grab"),
            "grab",
            "too short to be told from words"
        );
    }

    #[test]
    fn private_keys_go_whole() {
        let redactor = Redactor::default();
        let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----";
        assert_eq!(
            redactor.redact(&format!("a {key} b")),
            "a [redacted:private-key] b"
        );
        assert_eq!(redactor.redact(&key[..40]), "[redacted:private-key]");
        let cert = "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----";
        assert_eq!(redactor.redact(cert), cert);
    }
}

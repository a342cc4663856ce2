//! No secret is in it, and nothing that looks like one.

use super::rail::{Breach, Known, texts};

pub(super) fn breach(known: &Known<'_>) -> Option<Breach> {
    texts(known).find_map(|text| {
        // Without what nobody sees; but a key stands in lines of its own.
        let seen: String = text
            .chars()
            .filter(|c| *c == '\n' || !carson_core::untrusted::is_hidden(*c))
            .collect();
        if known.redactor.redact(&seen) != seen || text.contains("[redacted:") {
            return Some(Breach::Rejects("it has a secret".to_owned()));
        }
        // A commit and a firing are random, too, and stand in evidence alone.
        let is_evidence = text.starts_with("file:") || text.starts_with("firing:");
        let looks = !is_evidence
            && (carson_redact::suspicious_words(seen.as_bytes()) > 0 || gives_one_away(&seen));
        looks.then(|| {
            Breach::Holds("it has a word that looks like a secret or like code".to_owned())
        })
    })
}

/// Names of what is secret, before what it is.
const NAMES: [&str; 8] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "private key",
];
/// The shortest that is one.
const SHORTEST: usize = 8;
/// Letters and digits on end that are no word of anybody's.
const RUN: usize = 32;
/// What tokens begin with.
const PREFIXES: [&str; 6] = ["ghp_", "gho_", "github_pat_", "xoxb-", "glpat-", "akia"];
/// Where whoever knows the rest of the address may write.
const HOOKS: [&str; 2] = ["hooks.slack.com/", "discord.com/api/webhooks/"];

/// Whether it says what a secret is, or has what nobody would write but for one.
fn gives_one_away(text: &str) -> bool {
    let lower = text.to_lowercase();
    let assigned = |name: &str| {
        lower.match_indices(name).any(|(at, name)| {
            let rest = lower[at + name.len()..].trim_start_matches(['"', '\'', '`', ' ']);
            let value = rest.strip_prefix(['=', ':']);
            let value = value.map(|value| value.trim_start_matches([' ', '"', '\'', '`']));
            let word = value.and_then(|value| value.split_whitespace().next());
            word.is_some_and(|word| word.len() >= SHORTEST)
        })
    };
    let is_run = |word: &str| {
        word.len() >= RUN
            && word.bytes().any(|byte| byte.is_ascii_digit())
            && word.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    NAMES.iter().any(|name| assigned(name))
        || lower.contains("begin openssh")
        || lower.contains("private key-")
        || PREFIXES.iter().any(|prefix| lower.contains(prefix))
        || HOOKS.iter().any(|hook| lower.contains(hook))
        || lower
            .split(|c: char| !(c.is_ascii_alphanumeric() || "+/".contains(c)))
            .any(is_run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gives_a_secret_away_is_seen() {
        for text in [
            "The staging box has password = correcthorsebatterystaple9",
            "token: `abcdefgh12`",
            "Use wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY to upload",
            "BEGIN OPENSSH PRIVATE KEY b3BlbnNzaC1rZXktdjEAAAAA",
            "Posts go to hooks.slack.com/services/T0/B0/x",
            "5f4dcc3b5aa765d61d8327deb882cf99 opens it",
        ] {
            assert!(gives_one_away(text), "{text}");
        }
        for text in [
            "The password prompt is hidden behind a flag: see the docs",
            "A token is read from the file, and the secret: no",
            "crates/carson-memory/src/rails/secret.rs has the rule",
        ] {
            assert!(!gives_one_away(text), "{text}");
        }
    }
}

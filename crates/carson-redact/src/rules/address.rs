//! Passwords in addresses: `https://user:password@host`.

use super::rule::{Around, Rule, Verdict};
use crate::random::is_placeholder;
use crate::runs::Runs;

/// Longest user name and password.
const LONGEST: usize = 512;

/// Passwords of examples and of databases on one's own machine.
const HARMLESS: [&[u8]; 10] = [
    b"password",
    b"passwd",
    b"pass",
    b"pwd",
    b"pw",
    b"secret",
    b"postgres",
    b"root",
    b"admin",
    b"token",
];

/// Only the password goes: where it was used is worth reading.
pub(super) fn judge_url_password(rule: &Rule, around: &Around<'_>, _: &mut Runs) -> Verdict {
    if !around
        .before()
        .last()
        .is_some_and(u8::is_ascii_alphanumeric)
    {
        return Verdict::No;
    }
    let after = &around.after()[..around.after().len().min(LONGEST)];
    let stops = |byte: &u8| !byte.is_ascii_graphic() || b"/?#\"'`<>\\|{}()[],".contains(byte);
    let Some(length) = after.iter().position(stops).or(Some(after.len())) else {
        return Verdict::No;
    };
    let authority = &after[..length];
    let Some(at) = authority.iter().rposition(|byte| *byte == b'@') else {
        let cut = around.end + length == around.text.len() && length < LONGEST;
        return match cut && !around.complete {
            true => Verdict::Undecided(around.start),
            false => Verdict::No,
        };
    };
    let Some(colon) = authority[..at].iter().position(|byte| *byte == b':') else {
        return Verdict::No;
    };
    let (user, password) = (&authority[..colon], &authority[colon + 1..at]);
    let host = authority[at + 1..].first();
    if !host.is_some_and(u8::is_ascii_alphanumeric) || is_harmless(user, password) {
        return Verdict::No;
    }
    let from = around.end + colon + 1;
    rule.goes(from, from + password.len(), None)
}

fn is_harmless(user: &[u8], password: &[u8]) -> bool {
    let lower = password.to_ascii_lowercase();
    password.len() < 4
        || password == user
        || password.iter().all(|byte| b"*x.X".contains(byte))
        || password.starts_with(b"$")
        || password.starts_with(b"%")
        || HARMLESS.contains(&lower.as_slice())
        || is_placeholder(password)
}

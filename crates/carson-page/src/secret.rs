//! What is made so that nobody guesses it, and what proves that somebody knew it.

use std::fmt::Write;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt;

use carson_config::Page;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// So many bytes nobody guesses.
const BYTES: usize = 32;

/// A new secret, as digits.
///
/// # Errors
/// When the system gives no random bytes.
pub(crate) fn random() -> Result<String, String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| format!("the system gives no random bytes: {error}"))?;
    Ok(digits(&bytes))
}

/// What only who knows the key can make of a text, as digits.
pub(crate) fn proof(key: &str, text: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes());
    // A key of any length is one.
    let Ok(mut mac) = mac else {
        return String::new();
    };
    mac.update(text.as_bytes());
    digits(&mac.finalize().into_bytes())
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The token that people sign in with; it is made where its file is missing.
///
/// # Errors
/// When the file cannot be read or made, others can read it too, or what is in it could be guessed.
pub fn token(page: &Page) -> Result<SecretString, String> {
    if !page.token_file.exists() {
        make(page)?;
    }
    page.token()
}

/// Makes the file, unless somebody made it a moment ago.
fn make(page: &Page) -> Result<(), String> {
    let file = page.token_file.display();
    let token = random()?;
    let mut options = std::fs::OpenOptions::new();
    let made = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&page.token_file);
    let mut made = match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        made => made.map_err(|error| format!("{file} cannot be made: {error}"))?,
    };
    let written = made.write_all(format!("{token}\n").as_bytes());
    let written = written.and_then(|()| made.sync_all());
    written.map_err(|error| format!("{file} cannot be written: {error}"))
}

/// For how many seconds a link signs in.
pub const LINK_LASTS: i64 = 300;

/// The part of an address that signs in once, within [`LINK_LASTS`] seconds from then; then it is worth nothing.
///
/// # Errors
/// When the system gives no random bytes.
pub fn link(token: &SecretString, now: i64) -> Result<String, String> {
    let words = format!("{}.{}", now + LINK_LASTS, random()?);
    let proof = proof(token.expose_secret(), &said(&words));
    Ok(format!("{words}.{proof}"))
}

/// Whether a link was made with this token and still holds: until when, and its name.
pub(crate) fn linked(link: &str, token: &SecretString, now: i64) -> Option<(i64, String)> {
    let (words, proven) = link.rsplit_once('.')?;
    let expected = proof(token.expose_secret(), &said(words));
    let is_same = carson_door::is_same(proven.as_bytes(), &SecretString::from(expected));
    let (until, name) = words.split_once('.')?;
    let until: i64 = until.parse().ok()?;
    let holds = now < until && until <= now + LINK_LASTS;
    (is_same && holds).then(|| (until, name.to_owned()))
}

fn said(words: &str) -> String {
    format!("carson page: sign in\n{words}")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_link_holds_for_five_minutes_for_one_token() {
        let token = SecretString::from("0123456789abcdef0123456789abcdef");
        let link = link(&token, 1_000).unwrap();
        assert!(linked(&link, &token, 1_000).is_some());
        assert!(linked(&link, &token, 1_299).is_some());
        assert_eq!(linked(&link, &token, 1_300), None, "too late");
        assert_eq!(
            linked(&link, &token, 900),
            None,
            "nobody makes one for later"
        );
        let other = SecretString::from("x123456789abcdef0123456789abcdef");
        assert_eq!(linked(&link, &other, 1_000), None);
        let longer = link.replacen("1300", "1299", 1);
        for wrong in ["", ".", "..", "1300.x", &link[1..], &longer] {
            assert_eq!(linked(wrong, &token, 1_000), None, "{wrong}");
        }
    }

    #[test]
    fn a_token_is_made_once_and_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let page = Page {
            listen: "127.0.0.1:0".parse().unwrap(),
            token_file: dir.path().join("page.token"),
            hosts: Vec::new(),
        };
        let made = token(&page).unwrap();
        assert_eq!(made.expose_secret().len(), 64);
        let mode = page.token_file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(token(&page).unwrap().expose_secret(), made.expose_secret());
        std::fs::set_permissions(&page.token_file, PermissionsExt::from_mode(0o640)).unwrap();
        assert!(token(&page).unwrap_err().contains("chmod 600"));
        std::fs::remove_file(&page.token_file).unwrap();
        assert_ne!(token(&page).unwrap().expose_secret(), made.expose_secret());
    }
}

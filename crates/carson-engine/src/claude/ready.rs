//! Whether somebody is signed in to Claude Code.
//!
//! A sign-in cannot be proved without asking the provider; what is looked for is what the CLI
//! itself looks for first. One that has run out shows at the first session, and blocks the account.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::ready::NotReady;

/// Variables by which the CLI signs in without a file.
const SIGN_IN: [&str; 6] = [
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

pub(crate) fn signed_in(env: &[(OsString, OsString)]) -> Result<(), NotReady> {
    // There it is in the keychain, which cannot be looked into without a prompt on the screen.
    if cfg!(target_os = "macos") {
        return Ok(());
    }
    let value = |wanted: &str| {
        let found = env.iter().rfind(|(name, _)| name == wanted);
        found.map(|(_, value)| value.as_os_str())
    };
    let given = |name: &str| value(name).is_some_and(|value| !value.is_empty());
    if SIGN_IN.into_iter().any(given) {
        return Ok(());
    }
    let looked = match value("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) if credentials(dir) => return Ok(()),
        Some(dir) => format!("there is no {}/.credentials.json", dir.to_string_lossy()),
        None => "its env names neither a key, nor a token, nor CLAUDE_CONFIG_DIR".to_owned(),
    };
    Err(NotReady::NotSignedIn { looked })
}

/// Whether the CLI's own file is there and not empty.
fn credentials(dir: &OsStr) -> bool {
    let file = Path::new(dir).join(".credentials.json");
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_in_is_a_variable_that_says_something_or_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let of = |name: &str, value: &str| vec![(name.into(), value.into())];
        let config = of("CLAUDE_CONFIG_DIR", dir.path().to_str().unwrap());
        assert!(signed_in(&of("ANTHROPIC_API_KEY", "sk")).is_ok());
        if cfg!(target_os = "macos") {
            return;
        }
        assert!(signed_in(&of("ANTHROPIC_API_KEY", "")).is_err());
        assert!(signed_in(&[]).unwrap_err().to_string().contains("neither"));
        let missing = signed_in(&config).unwrap_err().to_string();
        assert!(missing.contains(".credentials.json"), "{missing}");
        std::fs::write(dir.path().join(".credentials.json"), "{}").unwrap();
        assert!(signed_in(&config).is_ok());
    }
}

//! Whether Claude Code can be used: its version, and whether somebody is signed in.
//!
//! A sign-in cannot be proved without asking the provider; what is looked for is what the CLI
//! itself looks for first. One that has run out shows at the first session, and blocks the account.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use crate::engine::Engine;
use crate::ready::NotReady;

/// The oldest version whose flags and events were measured (see the adapter's own notes).
const NEEDED: [u32; 3] = [2, 1, 329];

/// How long `--version` may take; 15 ms is usual.
const PATIENCE: Duration = Duration::from_secs(20);

/// Variables by which the CLI signs in without a file.
const SIGN_IN: [&str; 6] = [
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

pub(crate) async fn ready(
    engine: &Engine,
    cwd: &Path,
    env: &[(OsString, OsString)],
) -> Result<(), NotReady> {
    signed_in(env)?;
    let command = Command::new(&engine.program, cwd)
        .arg("--version")
        .exact_env(env.to_vec());
    let done = capture(&command, &Limits::within(PATIENCE)).await?;
    let said = done.stdout.text();
    let Some(found) = version(&said) else {
        let said = format!("{} {}", said.trim(), done.stderr.text().trim());
        return Err(NotReady::NoVersion {
            program: engine.program.clone(),
            said: said.trim().chars().take(200).collect(),
        });
    };
    if found < NEEDED {
        return Err(NotReady::TooOld {
            program: engine.program.clone(),
            found: dotted(found),
            needed: dotted(NEEDED),
        });
    }
    Ok(())
}

/// `2.1.329 (Claude Code)`
fn version(said: &str) -> Option<[u32; 3]> {
    let mut parts = said.split_whitespace().next()?.split('.');
    let mut number = || parts.next()?.parse().ok();
    Some([number()?, number()?, number()?])
}

fn dotted([major, minor, patch]: [u32; 3]) -> String {
    format!("{major}.{minor}.{patch}")
}

fn signed_in(env: &[(OsString, OsString)]) -> Result<(), NotReady> {
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
    fn versions_are_read_and_compared() {
        assert_eq!(version("2.1.329 (Claude Code)\n"), Some(NEEDED));
        assert_eq!(version("v2.1.329"), None);
        assert_eq!(version(""), None);
        assert_eq!(version("2.1"), None);
        assert!(version("2.1.1000").unwrap() > NEEDED);
        assert!(version("2.0.999").unwrap() < NEEDED);
    }

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

//! Whether a CLI can be used at all. No model is asked.
//!
//! A sign-in cannot be proved without asking the provider; what is looked for is what the CLI itself
//! looks for first. One that has run out shows at the first session, and blocks the account.

use std::ffi::OsStr;
use std::path::Path;

use carson_core::EngineFacts;

use crate::adapters::adapter;
use crate::engine::Engine;
use crate::not_ready::NotReady;
use crate::rehearsal::Script;
use crate::sign_in::SignIn;
use crate::variables::{Variables, given};

impl Engine {
    /// Looks for what the CLI signs in with, without asking anybody: variables and files. `None`
    /// where that is the program's own affair.
    ///
    /// # Errors
    /// When nobody is signed in.
    #[must_use]
    pub fn signed_in(&self, env: &Variables) -> Option<Result<(), NotReady>> {
        let driven = adapter(self.kind).driven.as_ref()?;
        let sign_in = driven.cli.sign_in.as_ref();
        let facts = self.kind.facts();
        let found = match looked_for(facts, sign_in, env) {
            Err(looked) if !(driven.signs_in_otherwise)(env) => Err(NotReady::NotSignedIn {
                cli: facts.title,
                looked,
                mend: driven.sign_in_hint,
            }),
            _ => Ok(()),
        };
        Some(found)
    }

    /// Reads the script that it plays, where it plays one.
    ///
    /// # Errors
    /// When it cannot be played.
    pub fn script_is_sound(&self) -> Result<(), NotReady> {
        match &self.script {
            Some(script) if self.kind.facts().plays_script => Ok(Script::read(script).map(|_| ())?),
            _ => Ok(()),
        }
    }
}

/// Whether there is a variable or a file to sign in with; else where none was found.
fn looked_for(
    facts: &EngineFacts,
    sign_in: Option<&SignIn>,
    env: &Variables,
) -> Result<(), String> {
    let mut keys = facts.sign_in_keys.iter();
    if keys.any(|name| given(env, name).is_some()) {
        return Ok(());
    }
    let Some(sign_in) = sign_in else {
        return Err("its env names no key".to_owned());
    };
    let Some(dir) = given(env, sign_in.variable) else {
        let variable = sign_in.variable;
        return Err(format!(
            "its env names neither a key, nor a token, nor {variable}"
        ));
    };
    let mut files = sign_in.credentials.iter().map(|credential| credential.file);
    match files.find(|file| !is_there(dir, file)) {
        Some(file) => Err(format!("there is no {}/{file}", dir.to_string_lossy())),
        None => Ok(()),
    }
}

/// Whether the CLI's own file is there and not empty.
fn is_there(dir: &OsStr, file: &str) -> bool {
    let file = Path::new(dir).join(file);
    file.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

#[cfg(test)]
mod tests {
    use carson_core::{EngineKind, Program};

    use super::*;
    use crate::adapters::cli;

    #[test]
    fn a_sign_in_is_a_variable_that_says_something_or_the_file() {
        for facts in EngineKind::all().map(EngineKind::facts) {
            let Program::Cli(program) = facts.program else {
                continue;
            };
            let sign_in = cli(program).unwrap().sign_in.as_ref();
            let dir = tempfile::tempdir().unwrap();
            let of = |name: &str, value: &str| vec![(name.into(), value.into())];
            let look = |env: &Variables| looked_for(facts, sign_in, env);
            for key in facts.sign_in_keys {
                assert!(look(&of(key, "sk")).is_ok());
                assert!(look(&of(key, "")).is_err());
            }
            assert!(look(&[]).unwrap_err().contains("its env names"));
            let Some(sign_in) = sign_in else { continue };
            let config = of(sign_in.variable, dir.path().to_str().unwrap());
            let file = sign_in.credentials[0].file;
            assert!(look(&config).unwrap_err().contains(file));
            let file = dir.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "{}").unwrap();
            assert!(look(&config).is_ok());
        }
    }
}

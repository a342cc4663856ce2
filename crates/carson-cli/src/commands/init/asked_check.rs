//! The question for the check of a new role: an answer is a command that a shell reads and this machine has, or a
//! word for one that was proposed, or for none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use crate::commands::proposed_check::ProposedCheck;
use crate::error::CommandError;
use crate::print;

/// How long a shell may think about a line that it does not run.
const PATIENCE: Duration = Duration::from_secs(5);

/// What an answer means.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Proposed,
    None,
    Run(String),
}

/// The command that the operator wants at a terminal; asked again until there is one, or an end of the input.
/// `checkout` is where the repository is here, if it is; a setup may make what is not there yet.
pub async fn agreed(
    proposed: Option<ProposedCheck>,
    checkout: Option<&Path>,
    has_setup: bool,
) -> Result<Option<ProposedCheck>, CommandError> {
    loop {
        print::line(&match &proposed {
            Some(ProposedCheck { run, by }) => {
                format!("Check (Enter for `{run}`, by {by}; another command; or \"none\"):")
            }
            None => "Check (the command that tests the repository; Enter for none):".to_owned(),
        });
        let mut answer = String::new();
        let is_end = std::io::stdin().read_line(&mut answer)? == 0;
        match said(&answer) {
            Said::Proposed => return Ok(proposed),
            Said::None => return Ok(None),
            Said::Run(run) => match wrong(&run, checkout, has_setup).await {
                None => {
                    let by = "as you said";
                    return Ok(Some(ProposedCheck { run, by }));
                }
                Some(why) if is_end => return Err(CommandError::usage(why)),
                Some(why) => print::warning(&why),
            },
        }
    }
}

fn said(answer: &str) -> Said {
    let answer = answer.trim();
    match answer.to_lowercase().as_str() {
        "" | "y" | "yes" => Said::Proposed,
        "n" | "no" | "none" => Said::None,
        _ => Said::Run(answer.to_owned()),
    }
}

/// Why a line is no command of this machine. A shell says so, and runs nothing of it. What is by a path of a
/// repository that is not here, or that a setup may make, is believed.
async fn wrong(run: &str, checkout: Option<&Path>, has_setup: bool) -> Option<String> {
    let here = checkout.map_or_else(std::env::temp_dir, Path::to_owned);
    if !reads(&here, &["-n", "-c", run]).await {
        return Some(format!(
            "`{run}` is no line that sh can read: a quote or a bracket is open"
        ));
    }
    let word = first_word(run)?;
    let is_elsewhere = (checkout.is_none() || has_setup) && word.contains('/');
    let known = is_elsewhere || reads(&here, &["-c", "command -v -- \"$0\"", word]).await;
    (!known).then(|| format!("`{word}` is no command that is found here"))
}

/// Whether `sh` does this well. One that cannot be asked has nothing against it.
async fn reads(here: &Path, args: &[&str]) -> bool {
    let command = Command::new(PathBuf::from("/bin/sh"), here).inherit_env();
    let done = capture(
        &command.args(args.iter().copied()),
        &Limits::within(PATIENCE),
    )
    .await;
    done.is_ok_and(|done| done.success())
}

/// The word that names the first command, where it stands there as it is.
fn first_word(run: &str) -> Option<&str> {
    let mut words = run.split_whitespace();
    let is_name = |name: &str| {
        let mut letters = name.bytes();
        letters.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let goes_before = |word: &&str| {
        let assigned = word.split_once('=');
        ["!", "{", "(", "time"].contains(word) || assigned.is_some_and(|(name, _)| is_name(name))
    };
    let word = words.find(|word| !goes_before(word))?;
    let word = word.trim_start_matches('(').trim_end_matches([';', ')']);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._+-[:".contains(&byte);
    (!word.is_empty() && word.bytes().all(plain)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_and_a_no_are_no_commands() {
        for yes in ["", "y\n", "YES", " yes "] {
            assert_eq!(said(yes), Said::Proposed, "{yes:?}");
        }
        for no in ["n", "No\n", "none", "NONE"] {
            assert_eq!(said(no), Said::None, "{no:?}");
        }
        assert_eq!(said(" make test \n"), Said::Run("make test".to_owned()));
    }

    #[tokio::test]
    async fn a_command_is_a_line_for_sh_whose_program_is_here() {
        let dir = tempfile::tempdir().unwrap();
        let here = Some(dir.path());
        for right in [
            "true",
            "cd . && ls",
            "FLAG=1 env",
            "! test -e broken",
            "(exit 0)",
            "if true; then ls; fi",
            "$TESTS",
        ] {
            assert_eq!(wrong(right, here, false).await, None, "{right}");
        }
        for wrong_one in [
            "make 'tes",
            "no-such-program-at-all",
            "./nothing-here",
            "(ls",
        ] {
            assert!(wrong(wrong_one, here, false).await.is_some(), "{wrong_one}");
        }
        for installed in [
            ("./in-a-repository-elsewhere", None, false),
            (".venv/bin/pytest -q", here, true),
        ] {
            assert_eq!(wrong(installed.0, installed.1, installed.2).await, None);
        }
    }
}

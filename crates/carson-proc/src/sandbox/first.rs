//! What is asked of another program before the one that was called for begins: in the same walls and with the same
//! environment, so that its answer holds for what follows.
//!
//! No shell and no `timeout` stand between: they were half of the processes of a short session, and not every machine has both.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde::{Deserialize, Serialize};

use crate::sandbox::becoming::{become_program, exit_of};

/// The first argument that makes it ask something and then become a program: `sandbox-first QUESTIONS PROGRAM [ARGUMENT]…`.
/// Where another program puts the walls up, the launcher cannot ask behind them by itself.
pub(super) const FIRST: &str = "sandbox-first";

/// The exit code of a command that was not begun, because an answer was wrong.
pub const NOT_BEGUN: u8 = 121;

/// What stands on standard error before the answers, when one is wrong.
const SAYS: &str = "carson: asked first, it answered ";

/// Questions to one program, each with the exit code that is right, asked all at one time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct First {
    /// The program, by its path.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of the environment that it does not get.
    pub without: Vec<String>,
    /// What it is asked.
    pub questions: Vec<Question>,
    /// Within which time it has to have answered everything, in seconds.
    pub within_s: u32,
}

/// One question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Question {
    /// What the program reads: some thousand bytes at most.
    pub input: String,
    /// How it has to end.
    pub right: u8,
}

impl First {
    /// The answers of a program for which another was not begun, from what that one's place said on standard error:
    /// exit codes in the order of the questions, 128 and the number for a signal, `none` for no answer in time.
    #[must_use]
    pub fn answers_in(said: &str) -> Option<&str> {
        said.lines().find_map(|line| line.strip_prefix(SAYS))
    }

    /// As one argument of the launcher.
    pub(crate) fn as_argument(&self) -> OsString {
        // Texts and numbers can always be written.
        serde_json::to_string(self).unwrap_or_default().into()
    }

    pub(super) fn from_argument(text: &OsString) -> Result<Self, String> {
        serde_json::from_slice(text.as_encoded_bytes()).map_err(|error| format!("--first: {error}"))
    }

    /// Asks, and becomes the program if all answers are right: `QUESTIONS PROGRAM [ARGUMENT]…`.
    #[expect(
        clippy::disallowed_methods,
        reason = "this process becomes the program; nobody is started"
    )]
    pub(super) fn then_become(
        mut args: impl Iterator<Item = OsString>,
    ) -> Result<ExitCode, String> {
        let (Some(first), Some(program)) = (args.next(), args.next()) else {
            return Err(format!("usage: {FIRST} QUESTIONS PROGRAM [ARGUMENT]…"));
        };
        if let Some(code) = Self::from_argument(&first)?.refuses() {
            return Ok(ExitCode::from(code));
        }
        let mut command = Command::new(program);
        command.args(args);
        Ok(ExitCode::from(become_program(command)))
    }

    /// Asks, and says on standard error when an answer is wrong; the exit code then.
    pub(super) fn refuses(&self) -> Option<u8> {
        let answers = self.answers();
        let right = self
            .questions
            .iter()
            .map(|question| Some(i32::from(question.right)));
        if answers.iter().copied().eq(right) {
            return None;
        }
        let words = answers.iter().map(|answer| match answer {
            Some(code) => code.to_string(),
            None => "none".to_owned(),
        });
        let _ = writeln!(
            io::stderr(),
            "{SAYS}{}",
            words.collect::<Vec<_>>().join(" ")
        );
        Some(NOT_BEGUN)
    }

    /// Exit codes in the order of the questions. Who has not answered in time ends with the place that asked: with the
    /// namespace, or as one that was left behind.
    fn answers(&self) -> Vec<Option<i32>> {
        let deadline = Instant::now() + Duration::from_secs(self.within_s.into());
        let mut answers = vec![None; self.questions.len()];
        let (say, hear) = mpsc::channel();
        for (number, question) in self.questions.iter().enumerate() {
            let asked = self.ask(question).and_then(|mut child| {
                let say = say.clone();
                let waits = move || {
                    let end = child.wait();
                    // Nobody hears it when the time is over.
                    let _ = say.send((number, end));
                };
                std::thread::Builder::new().spawn(waits)
            });
            if let Err(error) = asked {
                answers[number] = Some(i32::from(exit_of(&error)));
            }
        }
        drop(say);
        let left = || deadline.saturating_duration_since(Instant::now());
        while let Ok((number, end)) = hear.recv_timeout(left()) {
            answers[number] = end.ok().map(code);
        }
        answers
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a moment of what is begun next, in its own walls; who waits for that ends these, too"
    )]
    fn ask(&self, question: &Question) -> io::Result<Child> {
        // All of it lies in the pipe before anybody reads: whoever ends without having read kills nobody.
        let (reads, mut writes) = io::pipe()?;
        fcntl(&writes, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        writes.write_all(question.input.as_bytes())?;
        drop(writes);
        let mut command = Command::new(&self.program);
        command.args(&self.args).process_group(0).stdin(reads);
        for name in &self.without {
            command.env_remove(name);
        }
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
    }
}

/// As a shell says it.
fn code(end: ExitStatus) -> i32 {
    end.code()
        .unwrap_or_else(|| 128 + end.signal().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::becoming::UNMET;

    /// Questions to a line of `sh`.
    fn asked(line: &str, right: [u8; 2], within_s: u32) -> First {
        let question = |input: &str, right| Question {
            input: input.to_owned(),
            right,
        };
        First {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), line.into()],
            without: vec!["CARGO_PKG_NAME".into()],
            questions: vec![question("bad\n", right[0]), question("good\n", right[1])],
            within_s,
        }
    }

    const KNOWS: &str = "read said; test \"$said\" = good || exit 2";

    #[test]
    fn each_is_answered_for_itself_and_codes_are_those_of_a_shell() {
        let of = |line| asked(line, [2, 0], 20).answers();
        assert_eq!(of(KNOWS), [Some(2), Some(0)]);
        assert_eq!(of("exit 7"), [Some(7), Some(7)]);
        assert_eq!(of("kill -9 $$"), [Some(137), Some(137)]);
        assert_eq!(of("test -z \"$CARGO_PKG_NAME\""), [Some(0), Some(0)]);
        let mut gone = asked("", [2, 0], 20);
        gone.program = "/no/such/program".into();
        assert_eq!(gone.answers(), [Some(127), Some(127)]);
        gone.program = "/dev/null".into();
        assert_eq!(gone.answers(), [Some(126), Some(126)]);
    }

    #[test]
    fn who_gives_no_answer_is_waited_for_no_longer_than_it_may_take() {
        let begun = Instant::now();
        let slow = asked(
            "read said; test \"$said\" = good || exec sleep 20",
            [2, 0],
            1,
        );
        assert_eq!(slow.answers(), [None, Some(0)]);
        assert!(
            begun.elapsed() < Duration::from_secs(15),
            "{:?}",
            begun.elapsed()
        );
    }

    #[test]
    fn what_does_not_fit_is_not_asked() {
        let mut much = asked(KNOWS, [2, 0], 20);
        much.questions[0].input = "x".repeat(1 << 20);
        assert_eq!(much.answers(), [Some(UNMET.into()), Some(0)]);
    }

    #[test]
    fn only_what_is_right_lets_another_begin() {
        assert_eq!(asked(KNOWS, [2, 0], 20).refuses(), None);
        for wrong in [[0, 0], [2, 2], [0, 2]] {
            assert_eq!(asked(KNOWS, wrong, 20).refuses(), Some(NOT_BEGUN));
        }
        let said = format!("what the program says\n{SAYS}0 none\n");
        assert_eq!(First::answers_in(&said), Some("0 none"));
        assert_eq!(First::answers_in("carson: asked\n"), None);
    }

    #[test]
    fn it_goes_through_an_argument_as_it_is() {
        let mut first = asked("x", [2, 0], 3);
        first.questions[0].input = "{\"a\": \"\\u00e9\n\"}".into();
        let again = First::from_argument(&first.as_argument()).unwrap();
        assert_eq!(format!("{again:?}"), format!("{first:?}"));
    }
}

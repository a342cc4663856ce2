//! What goes wrong in a command, and the exit code that says so.

use carson_home::halt::with_causes;
use carson_loop::error::LoopError;
use carson_loop::json_file::FileError;
use carson_operator::Refusal;
use serde_json::json;

use crate::print;

/// What `carson --help` says of exit codes: `ErrorKind::code` and `Outcome::exit_code`.
pub const EXIT_CODES: &str = "\
Exit codes:
  0   done; of `fire`: OK, SILENT or ALREADY_DONE; of `loop run`: done or already_done
  1   refused, not there, or something Carson stands on does not work (disk, database, forge)
  2   the command line or the settings are wrong; of `hook`: the call is blocked
  10  of `fire`: PARTIAL or NO_COMMIT; of `loop run`: stopped
  11  of `fire`: BLOCKED
  12  of `fire`: REJECTED
  13  of `fire`: FAILED; of `loop run`: exhausted, stagnated or failed
  14  of `fire`: TIMED_OUT; of `loop run`: timed_out
  15  of `fire`: RATE_LIMITED
  16  of `fire`: SKIPPED
  17  of `fire`: AUTH
  70  a bug in Carson";

/// Kinds of failure. What a firing's *outcome* exits with is `Outcome::exit_code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line or the settings are wrong.
    Usage,
    /// What was asked for does not exist or refuses, or something that Carson stands on does not
    /// work: the disk, the database, the forge.
    Failed,
    /// Carson itself is wrong.
    Bug,
}

impl ErrorKind {
    /// The exit code, as `carson --help` lists it; 70 is `EX_SOFTWARE` of sysexits.h.
    pub fn code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Failed => 1,
            Self::Bug => 70,
        }
    }
}

/// A failure with what to do next.
#[derive(Debug)]
pub struct CommandError {
    /// Its kind.
    pub kind: ErrorKind,
    /// What happened, with its causes.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
}

impl CommandError {
    /// A wrong command line or wrong settings.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Usage,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// A command line that clap does not take, by its words: what is wrong, and what to do on lines of their
    /// own behind it.
    pub fn misread(said: &str) -> Self {
        let said = said.trim().trim_start_matches("error: ");
        let (message, rest) = said.split_once("\n\n").unwrap_or((said, ""));
        let words: Vec<&str> = message.split_whitespace().collect();
        let lines = rest.lines().map(str::trim);
        let hints = lines.filter(|line| !line.is_empty()).map(str::to_owned);
        Self {
            hints: hints.collect(),
            ..Self::usage(words.join(" "))
        }
    }

    /// Something that is not there, or refuses.
    pub fn failed(message: impl Into<String>) -> Self {
        Self {
            kind: ErrorKind::Failed,
            message: message.into(),
            hints: Vec::new(),
        }
    }

    /// Something that Carson stands on does not work; with the chain of causes.
    pub fn caused_by(error: &dyn std::error::Error) -> Self {
        Self::failed(with_causes(error))
    }

    /// A panic, which has printed itself.
    pub fn bug() -> Self {
        Self {
            kind: ErrorKind::Bug,
            message: "this is a bug in Carson".to_owned(),
            hints: vec!["report it with the lines above; nothing that was saved is lost".into()],
        }
    }

    /// Adds what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Prints it: for people on standard error, as JSON on standard output.
    pub fn show(&self, json: bool) {
        if json {
            print::json(&json!({"error": self.message, "hints": self.hints}));
            return;
        }
        print::error(&format!("error: {}", self.message));
        for hint in &self.hints {
            print::error(&format!("  hint: {hint}"));
        }
    }
}

macro_rules! from {
    ($($error:ty),+) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                let hint = error.hint();
                Self::caused_by(&error).hint(hint)
            }
        })+
    };
}

from!(
    carson_store::StoreError,
    carson_forge::ForgeError,
    carson_proc::SpawnError
);

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> Self {
        let kind = match refusal.is_of_the_ask() {
            true => ErrorKind::Usage,
            false => ErrorKind::Failed,
        };
        // Here the fields of an ask are options.
        let (message, hint) = match &refusal {
            Refusal::Field { field, problem } => {
                (format!("{}: {problem}", typed(field)), refusal.hint())
            }
            Refusal::WhichRepo { known } => {
                let hint = format!("add --repo with one of: {}", known.join(", "));
                (refusal.to_string(), Some(hint))
            }
            _ => (with_causes(&refusal), refusal.hint()),
        };
        Self {
            kind,
            message,
            hints: hint.into_iter().collect(),
        }
    }
}

impl From<LoopError> for CommandError {
    fn from(error: LoopError) -> Self {
        let is_broken = matches!(error, LoopError::File(FileError::Malformed { .. }));
        let kind = match error.is_of_the_ask() || is_broken {
            true => ErrorKind::Usage,
            false => ErrorKind::Failed,
        };
        Self {
            kind,
            message: with_causes(&error),
            hints: error.hint().into_iter().collect(),
        }
    }
}

impl From<std::io::Error> for CommandError {
    fn from(error: std::io::Error) -> Self {
        Self::caused_by(&error)
    }
}
/// A field of an ask as it is typed: an option, or what stands alone.
fn typed(field: &str) -> String {
    match field {
        "id" | "lesson" | "file" | "text" | "query" | "what" | "number" => field.to_owned(),
        option => format!("--{}", option.replace('_', "-")),
    }
}

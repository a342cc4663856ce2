//! `carson loop`

use std::path::PathBuf;
use std::time::Duration;

use carson_config::parse_duration;
use carson_loop::config::{Changes, Config};
use carson_loop::place::Layout;
use carson_loop::words::Words;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};

/// What `carson loop --help` shows at its end.
const EXAMPLE: &str = "\
Example: a failing suite, in two commands
  carson loop init --promise \"npm test\" --task \"claude -p 'fix the failing tests'\"
  carson loop run

Example: the same in one, with words that meet no shell
  carson loop run --until \"npm test\" -- claude -p \"fix the failing tests\"

`run` exits with 0 for done and already_done, 10 for stopped, 13 for exhausted, stagnated and failed, 14 for timed_out.
The task hears how the check failed on its standard input and in the file $CARSON_LOOP_FEEDBACK. docs/LOOP.md has the rest.";

/// `carson loop`
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLE)]
pub enum Loop {
    /// Make a loop here: what must exit 0, what is run until it does, and how often at most.
    Init {
        #[command(flatten)]
        what: What,
    },
    /// Run it here, in this terminal, until the promise is kept or a bound is met.
    ///
    /// After a crash it goes on under the same bounds. What has ended refuses to begin again without `--more` or
    /// `--fresh`. With --promise and a task it makes the loop first, if there is none.
    Run(Run),
    /// Run it in the background; it outlives this terminal.
    Start(Run),
    /// Stop it: the task's whole tree gets SIGTERM, and SIGKILL ten seconds later; what it left is kept.
    Stop {
        /// Only when the attempt that runs has ended; does not wait for that.
        #[arg(long)]
        after_attempt: bool,
        #[command(flatten)]
        compat: Compat,
    },
    /// Say how it stands.
    Status {
        #[command(flatten)]
        compat: Compat,
    },
    /// List its attempts, and what they left.
    History {
        /// Only so many, the newest ones.
        #[arg(value_name = "N")]
        limit: Option<usize>,
        #[command(flatten)]
        compat: Compat,
    },
    /// Bring the tree and the index back to where an attempt left them; HEAD stays where it is.
    Rollback {
        /// The attempt; 0 is before the first one.
        #[arg(value_name = "N")]
        attempt: u32,
        /// Keep files that somebody edited since the loop looked last as they are.
        #[arg(long, conflicts_with = "overwrite")]
        keep_mine: bool,
        /// Bring those back, too: the edits are lost.
        #[arg(long)]
        overwrite: bool,
        #[command(flatten)]
        compat: Compat,
    },
    /// Change the task, the promise or a bound; a loop that runs takes it over before its next attempt.
    Update {
        #[command(flatten)]
        what: What,
    },
    /// Ask whether the promise is kept, and nothing else; exits with 1 if it is not.
    Test {
        #[command(flatten)]
        compat: Compat,
    },
    /// Say what differed between two attempts: the input, the tree, the executor, or nothing.
    Compare {
        /// An attempt: its number, or RUN/NUMBER of a run that was put away (`001/3`).
        #[arg(value_name = "A")]
        a: String,
        /// The other one.
        #[arg(value_name = "B")]
        b: String,
        #[command(flatten)]
        compat: Compat,
    },
}

/// What is run, and how often.
#[derive(Clone, Debug, ClapArgs)]
pub struct What {
    /// What must exit 0: a line for `sh`.
    #[arg(long, visible_alias = "until", value_name = "COMMAND", value_parser = line)]
    pub promise: Option<Words>,
    /// What is run until it does: a line for `sh`.
    #[arg(long, value_name = "COMMAND", value_parser = line, conflicts_with = "argv")]
    pub task: Option<Words>,
    /// Attempts at most [default: 10].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub max_attempts: Option<u32>,
    /// The longest that one attempt may take [default: 300s].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub timeout: Option<u64>,
    /// The longest that all of it may take [default: 1h].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub total: Option<u64>,
    /// So many attempts that get nowhere end it [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    pub stagnation_limit: Option<u32>,
    /// Times in a row that the promise must be kept [default: 1].
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub verify_runs: Option<u32>,
    /// The longest that the promise may take, each time [default: 60s].
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub verify_timeout: Option<u64>,
    #[command(flatten)]
    pub compat: Compat,
    /// The task as a program and its arguments, without a shell.
    #[arg(last = true, value_name = "ARGV")]
    pub argv: Vec<String>,
}

/// Whose files.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub struct Compat {
    /// Keep everything in the names of another program: alpf is `.alpf/`.
    #[arg(long, value_name = "PROGRAM")]
    pub compat: Option<Program>,
}

/// A program whose names are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// ALPF: config, state and attempts are in `.alpf/`.
    Alpf,
}

/// `carson loop run`, `carson loop start`
#[derive(Clone, Debug, ClapArgs)]
pub struct Run {
    /// Give a loop that has ended so many more attempts, and its whole time again.
    #[arg(long, value_name = "N", conflicts_with = "fresh")]
    pub more: Option<u32>,
    /// Begin anew; the attempts so far are moved into runs/.
    #[arg(long)]
    pub fresh: bool,
    /// Run task and promise behind the sandbox's walls: they write the tree and a temporary directory, and read the
    /// system and the toolchains.
    #[arg(long)]
    pub sandbox: bool,
    /// With --sandbox: a file or a tree that may be read, too.
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    pub read: Vec<PathBuf>,
    /// With --sandbox: a file or a tree that may be written, too.
    #[arg(long, value_name = "PATH", requires = "sandbox")]
    pub write: Vec<PathBuf>,
    /// Do not show what the task prints; attempts/NNN/output has it.
    #[arg(long)]
    pub quiet: bool,
    /// Nobody watches, and the terminal may go.
    #[arg(long, hide = true)]
    pub background: bool,
    #[command(flatten)]
    pub what: What,
}

impl Loop {
    /// In whose names the files are that it is about, by its flag.
    pub fn layout(&self) -> Layout {
        let compat = match self {
            Self::Init { what } | Self::Update { what } => what.compat,
            Self::Run(run) | Self::Start(run) => run.what.compat,
            Self::Stop { compat, .. }
            | Self::Status { compat }
            | Self::History { compat, .. }
            | Self::Rollback { compat, .. }
            | Self::Test { compat }
            | Self::Compare { compat, .. } => *compat,
        };
        compat.layout()
    }
}

impl Compat {
    /// In whose names the files are.
    pub fn layout(self) -> Layout {
        match self.compat {
            Some(Program::Alpf) => Layout::Alpf,
            None => Layout::Native,
        }
    }
}

impl What {
    /// What is to be another way than it is.
    pub fn changes(&self) -> Result<Changes, String> {
        let argv = (!self.argv.is_empty()).then(|| Words::argv(self.argv.clone()));
        Ok(Changes {
            promise: self.promise.clone(),
            task: argv.transpose()?.or_else(|| self.task.clone()),
            max_attempts: self.max_attempts,
            timeout_seconds: self.timeout,
            total_seconds: self.total,
            stagnation_limit: self.stagnation_limit,
            verify_runs: self.verify_runs,
            verify_timeout_seconds: self.verify_timeout,
            feedback_tokens: None,
        })
    }

    /// A whole configuration, if promise and task are named.
    pub fn config(&self) -> Result<Option<Config>, String> {
        let changes = self.changes()?;
        match (&changes.promise, &changes.task) {
            (Some(promise), Some(task)) => changes
                .to(&Config::new(promise.clone(), task.clone()))
                .map(Some),
            _ => Ok(None),
        }
    }
}

fn line(text: &str) -> Result<Words, String> {
    Words::line(text)
}

/// Whole seconds, of a duration; a number alone is one of seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let time = match is_number {
        true => Duration::from_secs(text.parse().map_err(|_| "it is too long".to_owned())?),
        false => parse_duration(text)?,
    };
    match time.as_secs() {
        0 => Err("it is to be a second at least".to_owned()),
        seconds if time.subsec_millis() == 0 => Ok(seconds),
        _ => Err("it is to be whole seconds".to_owned()),
    }
}

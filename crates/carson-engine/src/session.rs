//! The words of one session.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::repetition::{CallPrint, Circle};
use carson_core::{Clock, Stage};
use carson_proc::sandbox::First;
use carson_proc::{Exit, StopReason};
use carson_redact::Redactor;
use chrono::{DateTime, Utc};

/// What a session may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read the worktree.
    Read,
    /// Full trust, behind the hook.
    Write,
}

/// The hook that is asked before every tool call.
#[derive(Clone, Debug)]
pub struct Hook {
    /// A shell command line, as CLIs want it.
    pub command: String,
    /// Where the settings that name it are written.
    pub settings_file: PathBuf,
}

/// The MCP servers that a session has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Servers {
    /// Each of them.
    pub list: Vec<ServerCommand>,
    /// Where a file for the CLI is written that wants one. The session reads it.
    pub file: PathBuf,
}

/// One of them, as a CLI starts it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerCommand {
    /// Its name.
    pub name: String,
    /// The tools that it has for the session.
    pub tools: Vec<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// How long a call may take.
    pub timeout: Duration,
}

impl Servers {
    /// The names by which a model calls their tools.
    pub fn tools(&self) -> impl Iterator<Item = String> + '_ {
        let of = |server: &ServerCommand| {
            let named = |tool: &String| format!("mcp__{}__{tool}", server.name);
            server.tools.iter().map(named).collect::<Vec<_>>()
        };
        self.list.iter().flat_map(of)
    }

    /// The longest that any call may take.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let all = self.list.iter().map(|server| server.timeout);
        all.max().unwrap_or_default()
    }
}

/// Everything one session needs. Nothing else reaches it.
#[derive(Clone, Debug)]
pub struct Session<'a> {
    /// The stage it serves.
    pub stage: Stage,
    /// What it may do.
    pub access: Access,
    /// The prompt; goes in by standard input, so its size does not matter.
    pub prompt: &'a str,
    /// The worktree.
    pub cwd: &'a Path,
    /// The complete environment.
    pub env: Vec<(OsString, OsString)>,
    /// Tools, in the CLI's own notation.
    pub tools: &'a [String],
    /// MCP servers, where it has some; none of an engine that takes none.
    pub servers: Option<&'a Servers>,
    /// The folder with its skills, of an engine that reads them by itself.
    pub skills: Option<&'a Path>,
    /// Whether the worktree or the home may hold skills that nobody gave it.
    pub may_hold_skills: bool,
    /// The turn ceiling; always passed on.
    pub max_turns: u32,
    /// The ceiling of tool calls, as far as the CLI's output tells of them.
    pub max_tool_calls: u32,
    /// The money ceiling, where the CLI has one.
    pub max_cost_usd: Option<f64>,
    /// Total time.
    pub wall_clock: Duration,
    /// Time without output.
    pub silence: Duration,
    /// Bytes of output.
    pub max_output: u64,
    /// Where the output goes, without secrets.
    pub transcript: &'a Path,
    /// Takes them out, before anything else sees what the session says.
    pub redactor: &'a Redactor,
    /// Its sandbox; `None` runs it without any.
    pub confined: Option<Behind<'a>>,
    /// The hook; `None` only for engines without tools.
    pub hook: Option<&'a Hook>,
    /// Appended to the CLI's own system prompt.
    pub system: &'a str,
    /// Tells when a limit ends that names a time of day.
    pub clock: &'a Clock,
}

/// The walls of a session.
#[derive(Clone, Copy, Debug)]
pub struct Behind<'a> {
    /// The file of their profile.
    pub profile: &'a Path,
    /// What is asked behind them before the session begins.
    pub first: &'a First,
}

/// Something a session did, as it happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It began.
    Started {
        /// The model, when the CLI says so.
        model: Option<String>,
    },
    /// It wrote something.
    Text(String),
    /// It calls a tool.
    ToolCall {
        /// Which.
        name: String,
        /// The call in short.
        call: String,
    },
    /// A call has its result.
    ToolDone {
        /// The tool.
        name: String,
        /// Which call and which result; `None` where the CLI tells too little to compare it.
        call: Option<CallPrint>,
    },
    /// A call was stopped.
    ToolDenied(Denied),
    /// The provider did not answer and the CLI tries again.
    Retrying {
        /// HTTP status, when there was one.
        status: Option<u16>,
    },
    /// What it used so far, as far as the CLI tells it while it runs; its end has the last word.
    Used {
        /// Turns.
        turns: u32,
        /// Input tokens, those from and for the provider's cache weighed by what they cost.
        tokens_in: u64,
        /// Output tokens.
        tokens_out: u64,
    },
    /// The provider says how much of a usage window is left.
    LimitWarning {
        /// Which window.
        window: String,
        /// How much of it is used, from 0 to 1.
        utilization: Option<f64>,
        /// When it starts again.
        resets_at: Option<DateTime<Utc>>,
    },
}

/// A tool call that was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The tool.
    pub tool: String,
    /// Why, in the words of whoever stopped it.
    pub reason: String,
    /// The call, cut to 300 characters.
    pub call: String,
    /// Whether the hook stopped it; else the CLI's own tool rules did.
    pub by_hook: bool,
}

/// How a session ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// With a final text.
    Completed,
    /// At its turn ceiling.
    MaxTurns,
    /// At its ceiling of tool calls.
    MaxToolCalls,
    /// It went in circles, and Carson stopped it.
    Circled(Circle),
    /// At its money ceiling.
    MaxCost,
    /// At the provider's limit.
    Limited(Limit),
    /// The provider was overloaded or not reached: trying again later may do.
    Unavailable {
        /// HTTP status, when there was one.
        status: Option<u16>,
        /// Not before then, where the provider says so.
        not_before: Option<DateTime<Utc>>,
        /// What the CLI said.
        message: String,
        /// Whether the provider is down, as far as this session can tell; else it may be a hiccup.
        outage: bool,
    },
    /// The model refused the task, as the CLI says: another one may not.
    Refused {
        /// What the CLI said.
        message: String,
    },
    /// With an API error that is none of these.
    ApiError {
        /// HTTP status, when there was one.
        status: Option<u16>,
        /// What the CLI said.
        message: String,
    },
    /// Carson stopped it: total time or silence.
    TimedOut(StopReason),
    /// Carson stopped it: too much output.
    OutputCap,
    /// Somebody asked.
    Cancelled,
    /// The CLI ended without saying how.
    Crashed {
        /// How the process ended.
        exit: Exit,
        /// The end of what it wrote to standard error.
        message: String,
    },
}

/// A provider limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Which kind.
    pub kind: LimitKind,
    /// When it ends, where the provider says so.
    pub resets_at: Option<DateTime<Utc>>,
    /// What the CLI said.
    pub message: String,
    /// What a person does about it, where only a person can.
    pub remedy: Option<&'static str>,
    /// The usage window, where it is one.
    pub window: Option<String>,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::UsageWindow => "usage window",
            Self::RateLimit => "rate limit",
            Self::Billing => "billing",
            Self::Auth => "sign-in",
        })
    }
}

/// What kind of limit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// A usage window of a subscription.
    UsageWindow,
    /// Too many requests.
    RateLimit,
    /// The account is not paid for: only a person can mend it.
    Billing,
    /// The sign-in is not valid: only a person can mend it.
    Auth,
}

/// A session that has ended.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionEnd {
    /// How.
    pub ended: Ended,
    /// Its final text: the only place where a sentinel is looked for.
    pub text: String,
    /// Turns it took.
    pub turns: u32,
    /// Input tokens, cached ones included.
    pub tokens_in: u64,
    /// Output tokens.
    pub tokens_out: u64,
    /// Money, where the CLI says so.
    pub cost_usd: Option<f64>,
    /// Calls that were stopped.
    pub denied: Vec<Denied>,
    /// How long it took.
    pub elapsed: Duration,
    /// Descendants that outlived it and were killed.
    pub leaked: u32,
    /// How many of its processes the kernel ended because their memory was used up.
    pub out_of_memory: u32,
    /// How its process ended.
    pub exit: Option<Exit>,
    /// The end of what it wrote to standard error.
    pub said: String,
}

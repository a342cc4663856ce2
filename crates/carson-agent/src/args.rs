//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use url::Url;

use crate::bounds::{Bounds, Preset};
use crate::context::LEAST_TOKENS;
use crate::tools;

const ENDPOINT: &str = "Endpoint";
const BOUNDS: &str = "Bounds: the first that is met ends the run";
const TOOLS: &str = "Tools";
const WALLS: &str = "Walls around what the model runs";
const OUTPUT: &str = "Output";

const CODES: &str = "\
Exit codes:
    0  done: the check passed, or, without --until, the model answered
    2  the command line, a file it names or this machine is not fit for the run
    3  exhausted: a bound was met and the check does not pass
    4  a bound was met, and there is no check
    5  the endpoint gave no answer
  130  interrupted

Progress is on standard error, the final text on standard output, and the last line of standard
error says how it ended: `→ done after N iteration(s): verify passed`.";

/// A small coding agent with bounds, over any OpenAI-compatible chat endpoint: the model proposes, and a
/// command that you name decides when it is done.
#[derive(Clone, Debug, Parser)]
#[command(name = "carson-agent", version, max_term_width = 100, after_help = CODES)]
pub struct Args {
    /// What is to be done; `-` reads it from standard input.
    pub task: String,
    /// A command line; its exit code 0, and nothing else, is done. Runs after each step in which
    /// something was done; what it prints is the model's next message.
    #[arg(long, value_name = "CMD", value_parser = some_words)]
    pub until: Option<String>,
    /// The directory that is worked on.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub workdir: PathBuf,

    /// The endpoint's base address, such as http://127.0.0.1:11434/v1.
    #[arg(long, value_name = "URL", help_heading = ENDPOINT)]
    pub base_url: Url,
    /// The model's name there.
    #[arg(long, value_name = "NAME", value_parser = some_words, help_heading = ENDPOINT)]
    pub model: String,
    /// A variable that holds the API key; commands do not see it.
    #[arg(long, value_name = "NAME", help_heading = ENDPOINT, conflicts_with = "api_key_file")]
    pub api_key_env: Option<String>,
    /// A file that holds the API key, outside of the directory that is worked on.
    #[arg(long, value_name = "FILE", help_heading = ENDPOINT)]
    pub api_key_file: Option<PathBuf>,
    /// Calls are text from the beginning, for models without tool calling; else only once the endpoint
    /// refuses tools.
    #[arg(long, help_heading = ENDPOINT)]
    pub text_tools: bool,
    /// How long the endpoint may say nothing.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time, help_heading = ENDPOINT)]
    pub silence: Duration,

    /// Bounds by a name.
    #[arg(long, value_name = "NAME", help_heading = BOUNDS)]
    pub preset: Option<Preset>,
    /// Answers of the model [default: 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = BOUNDS)]
    pub max_turns: Option<u32>,
    /// Tool calls; the one above is not made [default: 200].
    #[arg(long, value_name = "N", help_heading = BOUNDS)]
    pub max_tool_calls: Option<u32>,
    /// Iterations: an answer and what came of it [default: 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = BOUNDS)]
    pub max_iterations: Option<u32>,
    /// Time of everything together, such as 90s or 30m [default: 30m].
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = BOUNDS)]
    pub wall_clock: Option<Duration>,
    /// Tokens of the model's context, at 4 characters each [default: 32768].
    #[arg(long, value_name = "N", value_parser = context_tokens, help_heading = BOUNDS)]
    pub context_tokens: Option<usize>,
    /// Time of one command and of the check.
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = time, help_heading = BOUNDS)]
    pub command_time: Duration,

    /// The tools that the model gets, separated by commas; `read_file,list,grep` cannot write.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_values_t = all_tools(),
          value_parser = tools::names(), help_heading = TOOLS)]
    pub tools: Vec<String>,
    /// MCP servers: {"servers": {"NAME": {"command": […], "tools": […]}}}.
    #[arg(long, value_name = "FILE", help_heading = TOOLS)]
    pub mcp: Option<PathBuf>,
    /// Do not ask before a file is written; nobody is asked where there is no terminal.
    #[arg(long, help_heading = TOOLS)]
    pub yes: bool,

    /// Commands may reach the network.
    #[arg(long, help_heading = WALLS)]
    pub network: bool,
    /// Commands may read this, too.
    #[arg(long, value_name = "PATH", help_heading = WALLS)]
    pub read: Vec<PathBuf>,
    /// Commands may write this, too.
    #[arg(long, value_name = "PATH", help_heading = WALLS)]
    pub write: Vec<PathBuf>,
    /// Commands may write the repository's own files (.git), to commit; what they leave there may run
    /// when you use git next.
    #[arg(long, help_heading = WALLS)]
    pub git: bool,
    /// Commands see this variable, too.
    #[arg(long, value_name = "NAME", help_heading = WALLS)]
    pub pass: Vec<String>,
    /// No walls of our own: where others stand already, or this machine cannot have any. Commands then
    /// reach what you reach, and see your environment but for the API key.
    #[arg(long, help_heading = WALLS, conflicts_with_all = ["network", "read", "write", "git", "pass"])]
    pub no_walls: bool,

    /// Events on standard output, one JSON object a line; the final text is in the last (docs/AGENT.md).
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
}

impl Args {
    /// The bounds: what is said, else the preset's, else the usual.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let usual = self.preset.map_or_else(Bounds::default, Preset::bounds);
        Bounds {
            max_turns: self.max_turns.unwrap_or(usual.max_turns),
            max_tool_calls: self.max_tool_calls.unwrap_or(usual.max_tool_calls),
            max_iterations: self.max_iterations.unwrap_or(usual.max_iterations),
            wall_clock: self.wall_clock.unwrap_or(usual.wall_clock),
            context_tokens: self.context_tokens.unwrap_or(usual.context_tokens),
        }
    }
}

fn all_tools() -> Vec<String> {
    tools::names().map(str::to_owned).to_vec()
}

fn context_tokens(text: &str) -> Result<usize, String> {
    let tokens: usize = text.parse().map_err(|_| "no number".to_owned())?;
    match tokens {
        LEAST_TOKENS.. => Ok(tokens),
        _ => Err(format!("at least {LEAST_TOKENS}")),
    }
}

/// A text with something in it: a variable that was not set leaves blanks.
fn some_words(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("it is blank"),
        _ => Ok(text.to_owned()),
    }
}

/// `90s`, `30m`, `2h`.
fn time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no time such as 90s, 30m or 2h");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    let all = number
        .checked_mul(seconds)
        .filter(|all| (1..=31_536_000).contains(all));
    all.map(Duration::from_secs).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parsed(more: &[&str]) -> Result<Args, clap::Error> {
        let usual = [
            "carson-agent",
            "--base-url",
            "http://127.0.0.1:1/v1",
            "--model",
            "m",
            "task",
        ];
        Args::try_parse_from(usual.iter().chain(more))
    }

    #[test]
    fn what_is_said_goes_before_the_preset() {
        Args::command().debug_assert();
        let bounds = parsed(&["--preset", "react", "--max-turns", "9"])
            .unwrap()
            .bounds();
        assert_eq!((bounds.max_turns, bounds.max_tool_calls), (9, 4));
        let bounds = parsed(&["--preset", "local"]).unwrap().bounds();
        assert_eq!((bounds.max_iterations, bounds.context_tokens), (8, 4096));
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("2h"), Ok(Duration::from_secs(7200)));
        for wrong in [
            "",
            "5",
            "m",
            "0s",
            "-1s",
            "1d",
            "1ä",
            "99999999999999999999h",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_is_no_argument_and_walls_are_not_half() {
        assert!(parsed(&["--api-key", "secret"]).is_err());
        assert!(parsed(&["--no-walls", "--network"]).is_err());
        assert!(parsed(&["--tools", "read_file,fly"]).is_err());
        assert!(parsed(&["--context-tokens", "100"]).is_err());
        for blank in [["--until", " "], ["--until", ""], ["--max-turns", "0"]] {
            assert!(parsed(&blank).is_err(), "{blank:?}");
        }
        assert_eq!(
            parsed(&["--tools", "list,grep"]).unwrap().tools,
            ["list", "grep"]
        );
    }
}

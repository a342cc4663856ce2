//! `carson stories`

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

/// `carson stories`
#[derive(Debug, Subcommand)]
pub enum Stories {
    /// Do the open stories of a plan, one after the other, each within what it may change.
    Run(Run),
    /// Show every story: how far it is, its attempts, and what became of the last one.
    Status(Status),
    /// Say all that is wrong with a plan, each with where it stands.
    Check(Check),
    /// Print the plan as the events alone say that it must be.
    Replay(Replay),
}

/// Whose plan it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compat {
    /// Carson's own (`stories.json`).
    Carson,
    /// ralph-loop's (`prd.json`).
    Ralph,
}

/// Which plan.
#[derive(Debug, ClapArgs)]
pub struct PlanArg {
    /// The plan [default: stories.json, else prd.json].
    #[arg(value_name = "PRD.json")]
    pub plan: Option<PathBuf>,
    /// Whose format it is in [default: by what stands in it].
    #[arg(long, value_enum)]
    pub compat: Option<Compat>,
    /// The top of the tree that stories work in [default: the repository that the plan is in].
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

/// What `carson stories run --help` shows at its end.
const RUN_EXAMPLE: &str = "\
Example: do two stories of stories.json, with Claude Code
  carson stories run stories.json 2 --executor 'claude -p --permission-mode acceptEdits < {prompt_file}'

Exit: 0 all that were taken passed, 13 one failed, 10 stopped by a signal, 2 the plan or the command line is wrong. With
--compat ralph those of ralph.sh; its own options follow behind `--`.";

/// `carson stories run`
#[derive(Debug, ClapArgs)]
#[command(after_help = RUN_EXAMPLE)]
pub struct Run {
    #[command(flatten)]
    pub plan: PlanArg,
    /// How many stories are taken [default: all that are open].
    pub n: Option<u64>,
    /// Only stories of this mode: `fix` or `audit`; of ralph-loop `audit`, `linting` or `fixing`.
    #[arg(long, env = "CARSON_STORIES_MODE", value_name = "MODE")]
    pub mode: Option<String>,
    /// A file whose text stands at the end of every prompt.
    #[arg(long, env = "CARSON_STORIES_POLICY", value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// A line for `sh` that does a story: it reads the prompt, and finds it in `{prompt_file}`.
    #[arg(long, env = "CARSON_STORIES_EXECUTOR", value_name = "LINE")]
    pub executor: Option<String>,
    /// How many attempts a story gets in this run [default: 3].
    #[arg(long, env = "CARSON_STORIES_MAX_ATTEMPTS", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub max_attempts: Option<u32>,
    /// The longest that one attempt may take [default: 15m].
    #[arg(long, env = "CARSON_STORIES_TIMEOUT", value_name = "TIME", value_parser = time)]
    pub timeout: Option<u32>,
    /// How many times in a row a promise must hold [default: 1].
    #[arg(long, env = "CARSON_STORIES_VERIFY_RUNS", value_name = "K", value_parser = clap::value_parser!(u32).range(1..=20))]
    pub verify_runs: Option<u32>,
    /// The longest that one run of a promise may take [default: 5m].
    #[arg(long, env = "CARSON_STORIES_VERIFY_TIMEOUT", value_name = "TIME", value_parser = time)]
    pub verify_timeout: Option<u32>,
    /// End the run with the first story that fails.
    #[arg(long)]
    pub fail_fast: bool,
    /// What becomes of the files of an attempt that was killed with its run.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub interrupted: Option<Interrupted>,
    /// What ralph.sh takes (`carson stories run --compat ralph -- --help`).
    #[arg(last = true, value_name = "RALPH OPTIONS")]
    pub words: Vec<String>,
}

/// What becomes of the files of an attempt that was killed with its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Interrupted {
    /// They stay as they are.
    Keep,
    /// The tree becomes what it was before it; what was changed is kept as a patch.
    Restore,
}

/// `carson stories status`
#[derive(Debug, ClapArgs)]
pub struct Status {
    #[command(flatten)]
    pub plan: PlanArg,
    /// As lines of id, priority, mode, status, attempts, last outcome and title, between tabs.
    #[arg(long)]
    pub tsv: bool,
}

/// `carson stories check`
#[derive(Debug, ClapArgs)]
pub struct Check {
    #[command(flatten)]
    pub plan: PlanArg,
    /// Print the JSON schema of a plan instead.
    #[arg(long, conflicts_with_all = ["plan", "compat", "root"])]
    pub schema: bool,
}

/// `carson stories replay`
#[derive(Debug, ClapArgs)]
pub struct Replay {
    #[command(flatten)]
    pub plan: PlanArg,
    /// Exit with 1 when the plan in its file is another one.
    #[arg(long)]
    pub check: bool,
}

/// `300`, `300s`, `15m`, `1h`, in seconds.
fn time(text: &str) -> Result<u32, String> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &text[..text.len() - unit.len()];
    let factor = match unit {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return Err("write it as 300s, 15m or 1h".to_owned()),
    };
    let seconds = number
        .parse::<u32>()
        .ok()
        .and_then(|number| number.checked_mul(factor));
    seconds
        .filter(|seconds| (1..=86_400).contains(seconds))
        .ok_or_else(|| "it must be from 1s to 24h".to_owned())
}

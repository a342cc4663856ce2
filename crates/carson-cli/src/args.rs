//! The command line.

pub mod agent;
pub mod asked;
pub mod engine;
pub mod forge;
pub mod looping;
pub mod memory;
pub mod service;
pub mod stories;

use std::ffi::OsString;
use std::path::PathBuf;

use carson_config::{McpGrant, shipped_roles};
use carson_core::{EngineKind, Program};
use carson_forge::OPENERS;
use carson_operator::{block, brief, events, firings, outcomes, pause, usage};
use chrono::{DateTime, Utc};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args as ClapArgs, Parser, Subcommand};

use crate::error::EXIT_CODES;
use agent::Agent;
use asked::Asked;
use engine::Engine;
pub use forge::{IssueAction, LabelsAction, PrAction};
use looping::Loop;
use memory::Memory;
use service::Service;
use stories::Stories;

/// The heading of what every command takes.
const EVERYWHERE: &str = "Options of every command";

/// Carson runs a household of coding agents while its owner sleeps.
#[derive(Debug, Parser)]
#[command(name = "carson", version, about, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Args {
    /// Where the fleet lives [default: what CARSON_HOME says, else ~/.carson].
    #[arg(long, global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    pub home: Option<PathBuf>,
    /// Answer as JSON.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a home: settings, a first role, a first repository.
    Init(Init),
    /// Add a role to a home.
    #[command(subcommand)]
    Agent(Agent),
    /// Watch an embedded fleet do real work in a temporary home (at most a minute).
    Demo(Demo),
    /// Run the supervisor in the foreground.
    Daemon(Daemon),
    /// Run the daemon as a service of this machine: systemd or launchd.
    ///
    /// docs/SERVICE.md says how for each platform, and how to upgrade, back up and remove.
    #[command(subcommand)]
    Service(Service),
    /// Fire a role now and wait for its end.
    Fire(Fire),
    /// Stop a running firing; its work is saved.
    Stop {
        /// The firing: its id, or any part of it that no other has.
        firing: String,
    },
    /// Let the fleet take an issue up again, with its attempts counted anew.
    Retry {
        /// The issue's number.
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        issue: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Approve the plan that waits on an issue: its issues are filed.
    Approve {
        /// The issue's number.
        #[arg(value_parser = clap::value_parser!(u64).range(1..))]
        issue: u64,
        #[command(flatten)]
        repo: RepoArg,
    },
    /// Take back what a firing did, as far as nobody has touched it since.
    ///
    /// It shows the list and asks. Pull requests are closed, branches deleted that have the commit that was pushed,
    /// labels put back, comments removed, issues opened or closed again, lessons dropped; a merge is taken back by
    /// a pull request. What a person has touched since is left, and named; what another firing stands on waits for
    /// that. Said again, it looks again, and does what is still to be done.
    Undo(Undo),
    #[command(flatten)]
    Asked(Asked),
    /// Show roles, stops and running firings on one screen.
    Status {
        /// List every housekeeping job with its last run, its result and its next run.
        #[arg(long)]
        jobs: bool,
        /// Show it again every two seconds, until Ctrl-C.
        #[arg(long, conflicts_with = "json")]
        watch: bool,
    },
    /// Say why a role fired or did not, what would change it, and what comes next.
    Why {
        /// The role; an issue (`issue-12`, or `REPO#12` where there are several repositories); a pull request
        /// (`pr-12`, `pr-REPO#12`); or a firing: its
        /// id, or any part of it that no other has.
        #[arg(value_name = "ROLE|ISSUE|FIRING")]
        what: String,
    },
    /// List roles, or show one with its worst case.
    Roles {
        #[command(subcommand)]
        action: Option<Roles>,
    },
    /// List firings, or show one.
    Firings(Firings),
    /// Show one firing, or what it was told, said and changed.
    Show(Show),
    /// Say what the fleet did, and what waits for you.
    ///
    /// It is what the role `steward` posts in the morning and at night: what needs a person, what is ready to
    /// be read, what was merged, what was not finished. What happened is as the rows have it; what needs a person is
    /// what stands now: the stops of `carson status`, and what the forges say. No model is asked.
    Brief {
        /// Since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
        #[arg(long, value_name = "WHEN", default_value = brief::SINCE)]
        since: String,
    },
    /// Say what firings cost, by role.
    Cost {
        /// Only since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
    },
    /// Show usage windows, what each role spent of each account, and what the night will cost.
    ///
    /// The windows are as the provider told them last. The night goes until 7 in the morning of the fleet's zone:
    /// each role's slots at the average of its newest firings (at most 50 of the last 14 days), and at worst each
    /// slot at all that a firing may cost; both within the budgets. It says which budget or window would be used
    /// up before, and whom that cuts first.
    Usage {
        /// What was spent since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
        #[arg(long, value_name = "WHEN", default_value = usage::SINCE)]
        since: String,
    },
    /// Look at engines and accounts, or write which of them a role uses.
    #[command(subcommand)]
    Engine(Engine),
    /// Say what became of the pull requests that firings opened.
    ///
    /// Each is counted once: merged as the fleet pushed it, merged after people changed it, reverted within
    /// 14 days of its merge, closed, or still open. HOURS is the median from opening to merge, COST the
    /// money for each one that was merged and stands, with all attempts at its work. All of it is what the
    /// rows, the forge and git say; nothing is asked of a model.
    Outcomes {
        /// Those of firings since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
        #[arg(long, value_name = "WHEN", default_value = outcomes::SINCE)]
        since: String,
        /// By what they are put together.
        #[arg(long, value_parser = groups(), default_value = "role")]
        by: String,
    },
    /// Show the fleet as numbers, in the text format of Prometheus.
    ///
    /// The daemon serves the same at `/metrics` where `[metrics]` says so. docs/LOGGING.md lists what there is.
    Metrics {
        /// Count only firings since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
    },
    /// Look at what the fleet remembers, propose, promote and take back.
    Memory {
        #[command(subcommand)]
        action: Memory,
    },
    /// Print a firing's log, and where its transcripts are.
    #[command(group = ArgGroup::new("logged").args(["id", "since"]).required(true).multiple(true))]
    Logs {
        /// The firing: its id, or any part of it that no other has; with --since alone, every firing that
        /// began then.
        id: Option<String>,
        /// Only what was logged since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
        /// Print the transcripts too, as the CLI wrote them; `carson show --transcript` has them
        /// readable.
        #[arg(long)]
        transcripts: bool,
        /// Go on until the firing has ended.
        #[arg(short, long, requires = "id", conflicts_with_all = ["since", "transcripts", "json"])]
        follow: bool,
    },
    /// List what was decided and what happened, the newest first: of the fleet and of its firings.
    ///
    /// Settings that were refused, a daemon that was away, jobs, pauses that ran out, lessons, and what firings
    /// wrote down. docs/EVENTS.md lists the kinds.
    Events {
        /// Only since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
        #[arg(long, value_name = "WHEN")]
        since: Option<String>,
        /// Only of this kind (`config.rejected`), or of all that begin with a word (`job`).
        #[arg(long)]
        kind: Option<String>,
        /// At most so many, the newest.
        #[arg(long, value_name = "N", default_value_t = events::LIMIT)]
        limit: u32,
    },
    /// Work with issues on any forge.
    Issue {
        #[command(subcommand)]
        action: IssueAction,
    },
    /// Look at pull requests on any forge, merge or close them.
    Pr {
        #[command(subcommand)]
        action: PrAction,
    },
    /// Say which labels the repositories lack, or make them.
    Labels {
        #[command(subcommand)]
        action: LabelsAction,
    },
    /// List breakers, or reset one.
    Breaker {
        #[command(subcommand)]
        action: BreakerAction,
    },
    /// List, set or clear block flags of accounts.
    Block {
        #[command(subcommand)]
        action: BlockAction,
    },
    /// Say what waits for which role, and on what.
    Queue {
        /// Only for this role.
        role: Option<String>,
    },
    /// Say where the page is, and print a link that signs a browser in once.
    ///
    /// The daemon serves the page where `[page] listen` says so. docs/PAGE.md says what it shows, and how a phone
    /// reaches it.
    Page {
        /// Serve it from here, as long as this runs: for a home that no daemon runs.
        #[arg(long)]
        serve: bool,
    },
    /// Pause the fleet, a role, a repository or an account.
    Pause(Pause),
    /// End a pause.
    Resume(Scope),
    /// Conclude dead firings and remove benches nobody needs; work is salvaged first.
    Prune {
        /// Only say what would be done.
        #[arg(long)]
        dry_run: bool,
        /// Give the bench of this firing up: what cannot be kept of it is lost.
        #[arg(long, value_name = "FIRING", conflicts_with = "dry_run")]
        discard: Option<String>,
    },
    /// List the hosts of the fleet, let one take nothing new, or forget one
    ///
    /// Several hosts are one fleet where their `database.url` names the same PostgreSQL.
    Hosts {
        #[command(subcommand)]
        action: Option<HostsAction>,
    },
    /// List what workspaces stand on, or remove what nobody needs of it.
    Workspaces {
        #[command(subcommand)]
        action: Option<WorkspacesAction>,
    },
    /// Examine this machine and this home, and say what would mend what is amiss
    ///
    /// Asks remotes and forges, and no model; exits with 1 when it finds an error.
    /// docs/CHECKS.md lists the checks.
    Doctor,
    /// List backups of the database, make one, or put one in its place.
    Backup {
        #[command(subcommand)]
        action: BackupAction,
    },
    /// Check or show the settings, or print their schema.
    Config {
        #[command(subcommand)]
        action: ConfigAction,
    },
    /// The pre-tool-use hook: explain a command line, list the rules, or run it.
    Hook {
        #[command(subcommand)]
        action: HookAction,
    },
    /// Serve tools to an agent CLI, over the Model Context Protocol.
    ///
    /// It speaks on standard input and output; a client starts it: `claude mcp add carson -- carson mcp`. Its
    /// tools read the fleet, and loops in the directory that it is started in; they change and run something only
    /// with a grant. docs/MCP.md lists them.
    Mcp(Mcp),
    /// Run a command with the walls of a session around it, and say which there are.
    Sandbox(Sandbox),
    /// Run a task until a check passes, within bounds; needs no fleet.
    #[command(subcommand)]
    Loop(Loop),
    /// Do a plan of stories, each within what it may change; needs no home.
    #[command(subcommand)]
    Stories(Stories),
    /// Run a claimed firing (the daemon calls this).
    Firing {
        #[command(subcommand)]
        action: FiringAction,
    },
    /// Play a script as an agent CLI would (the rehearsal engine calls this).
    Rehearsal {
        /// The script.
        script: PathBuf,
    },
    /// Print the version.
    Version,
    /// Print the manual page of a command, or write all of them.
    Man {
        /// The command (`memory promote`); of `carson` itself without one.
        command: Vec<String>,
        /// Write a page of every command into this directory.
        #[arg(long, value_name = "DIR", conflicts_with = "command")]
        into: Option<PathBuf>,
    },
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// `carson init`
#[derive(Debug, Default, ClapArgs)]
pub struct Init {
    /// The repository: a path, or an address that git understands [default: the one you stand in]. With
    /// --role: its name in the settings.
    #[arg(long, value_name = "PATH_OR_URL")]
    pub repo: Option<String>,
    /// Only add this role, which comes with Carson, to the home that is there.
    #[arg(long, value_parser = roles(), conflicts_with_all = ["forge", "slug", "token_file", "api_base", "base", "engine"])]
    pub role: Option<String>,
    /// Where its issues live [default: where its address says, if Carson is let in there; else local].
    #[arg(long, value_parser = forges())]
    pub forge: Option<String>,
    /// The repository's owner and name there [default: what its address says]; not for local.
    #[arg(long, value_name = "OWNER/NAME")]
    pub slug: Option<String>,
    /// The file with the forge's token, of mode 0600 [default: what `gh auth token` says]; not for local.
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// The address of the forge's API, where it is not the public one's; not for local.
    #[arg(long, value_name = "URL")]
    pub api_base: Option<String>,
    /// The branch that work starts from [default: the one that the repository's HEAD names].
    #[arg(long)]
    pub base: Option<String>,
    /// What works: an agent CLI, or any program [default: the first agent CLI that is installed, one that is
    /// signed in first].
    #[arg(long, value_parser = engine(|_| true))]
    pub engine: Option<EngineKind>,
    /// The program of the engine, by its path or its name on PATH; `command` has none of its own.
    #[arg(long, value_name = "PROGRAM", required_if_eq_any(with_any_program()))]
    pub binary: Option<String>,
    /// The script that `rehearsal` plays.
    #[arg(long, value_name = "FILE", required_if_eq_any(with_scripts()))]
    pub script: Option<PathBuf>,
    /// The time zone of cadences, by its IANA name [default: this machine's].
    #[arg(long)]
    pub zone: Option<String>,
    /// The Slack channel to tell; with --slack-token-file.
    #[arg(long, value_name = "CHANNEL", requires = "slack_token_file")]
    pub slack_channel: Option<String>,
    /// The file with the token of Slack's bot, of mode 0600; with --slack-channel.
    #[arg(long, value_name = "FILE", requires = "slack_channel")]
    pub slack_token_file: Option<PathBuf>,
    /// Ask nothing, and take what is proposed.
    #[arg(long)]
    pub yes: bool,
}

/// Engines that start what the account names, and those that play a script, as conditions.
fn with_any_program() -> impl Iterator<Item = (&'static str, &'static str)> {
    let facts = EngineKind::all().map(EngineKind::facts);
    let any = facts.filter(|facts| facts.program == Program::Any);
    any.map(|facts| ("engine", facts.name))
}

fn with_scripts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let facts = EngineKind::all().map(EngineKind::facts);
    let players = facts.filter(|facts| facts.plays_script);
    players.map(|facts| ("engine", facts.name))
}

/// What the clients of a server may change.
fn grants() -> impl TypedValueParser<Value = McpGrant> {
    let values = McpGrant::ALL.map(|grant| {
        let help = match grant {
            McpGrant::Loop => {
                "Loops: start, stop, roll back, another task, ask the promise; that is any command line, as you"
            }
            McpGrant::Queue => "The queue: issues that roles take up",
            McpGrant::Memory => "Memory: lessons, of which nobody is told before they are promoted",
        };
        PossibleValue::new(grant.as_str()).help(help)
    });
    PossibleValuesParser::new(values).try_map(|word| McpGrant::named(&word).ok_or("unknown"))
}

/// By what pull requests are put together.
fn groups() -> PossibleValuesParser {
    PossibleValuesParser::new([
        PossibleValue::new("role").help("The role"),
        PossibleValue::new("engine").help("The engine and its account"),
        PossibleValue::new("prompt").help("The role and the version of its prompts"),
    ])
}

/// Roles that come with Carson.
fn roles() -> PossibleValuesParser {
    PossibleValuesParser::new(shipped_roles().iter().map(|role| role.name))
}

/// Engines that drive a CLI, signed in as the operator is, and the one that needs nobody to be.
fn demo_engine() -> impl TypedValueParser<Value = EngineKind> {
    engine(|engine| {
        let facts = engine.facts();
        engine.cli().is_some() && !facts.needs_model || facts.plays_script
    })
}

fn engine(offered: fn(&EngineKind) -> bool) -> impl TypedValueParser<Value = EngineKind> {
    let values = EngineKind::all().filter(offered).map(|engine| {
        let facts = engine.facts();
        let help = match facts.plays_script {
            true => "A script plays the model; everything else is real".to_owned(),
            false if facts.program == Program::Any => "Any program that takes a prompt".to_owned(),
            false if facts.needs_model => {
                format!("{}, on an endpoint of your choice", facts.title)
            }
            false => format!("{}, signed in as you are", facts.title),
        };
        PossibleValue::new(facts.name).help(help)
    });
    PossibleValuesParser::new(values).try_map(|name| EngineKind::named(&name).ok_or("unknown"))
}

/// The forges to choose from.
fn forges() -> PossibleValuesParser {
    let forges = OPENERS.iter();
    PossibleValuesParser::new(forges.map(|forge| PossibleValue::new(forge.name).help(forge.about)))
}

/// `carson demo`
#[derive(Debug, ClapArgs)]
pub struct Demo {
    /// Which engine does the work.
    #[arg(long, value_parser = demo_engine(), default_value = "rehearsal")]
    pub engine: EngineKind,
    /// A repository to copy instead of the generated sample; it is only read.
    #[arg(long, value_name = "PATH")]
    pub repo: Option<PathBuf>,
    /// How many seconds to run at most; it ends when all is done [default: 48, with a real
    /// engine 600].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: Option<u64>,
}

/// `carson daemon`
#[derive(Debug, ClapArgs)]
pub struct Daemon {
    /// On SIGTERM, wait for the firings that run.
    #[arg(long)]
    pub drain: bool,
}

/// `carson mcp`
#[derive(Debug, ClapArgs)]
pub struct Mcp {
    /// What its tools may change and run.
    #[arg(long, value_name = "GRANT", value_delimiter = ',', value_parser = grants())]
    pub grant: Vec<McpGrant>,
    /// A directory in which, and below which, they work with loops too; the grant `loop` is for these alone then.
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
}

/// `carson fire`
#[derive(Debug, ClapArgs)]
pub struct Fire {
    /// The role.
    pub role: String,
    /// Only this repository.
    #[arg(long)]
    pub repo: Option<String>,
    /// Only this issue, or this pull request of a role that takes those.
    #[arg(long, visible_alias = "issue", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub work: Option<u64>,
    /// Only this story of the plan, of a role that does stories.
    #[arg(long, value_name = "ID", conflicts_with = "work")]
    pub story: Option<String>,
    /// Fire over a pause, a daily cap, an account's reserve or an open breaker; --reason says why.
    ///
    /// What it fires over is said. A block of the provider, a forge's limit, a budget, a firing that runs and a host that
    /// is full hold it all the same, and so does everything that a firing looks at itself.
    #[arg(long, requires = "reason", conflicts_with = "dry_run")]
    pub force: bool,
    /// With --force: why; `carson why` and `carson show` have it.
    #[arg(long, value_name = "TEXT", requires = "force")]
    pub reason: Option<String>,
    /// Only say what would be done: preflight is asked, and nothing is claimed. Without a home, in the one that `carson init` would make here.
    #[arg(long)]
    pub dry_run: bool,
    /// With --dry-run: the whole prompt, the sandbox's paths and the environment too.
    #[arg(long, requires = "dry_run")]
    pub all: bool,
}

/// `carson undo`
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("undone").args(["firing", "since"]).required(true))]
pub struct Undo {
    /// The firing: its id, or any part of it that no other has.
    pub firing: Option<String>,
    /// All that began since then, the newest first: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Ask nothing, and do it.
    #[arg(long)]
    pub yes: bool,
    /// Only show what would be done; so does --json without --yes.
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
}

/// `carson roles`
#[derive(Debug, Subcommand)]
pub enum Roles {
    /// List roles, as `carson roles` does.
    List,
    /// Show one role.
    Show {
        /// The role.
        role: String,
    },
}

/// `carson show`
#[derive(Debug, ClapArgs)]
pub struct Show {
    /// The firing: its id, or any part of it that no other has.
    pub firing: String,
    /// What its sessions were told.
    #[arg(long)]
    pub prompt: bool,
    /// What it changed: from the base that it began with to what was pushed or kept.
    #[arg(long)]
    pub diff: bool,
    /// What its sessions said, called and were answered.
    #[arg(long)]
    pub transcript: bool,
}

/// `carson firings`
#[derive(Debug, ClapArgs)]
pub struct Firings {
    /// Show this one: its id, or any part of it that no other has.
    #[arg(conflicts_with_all = ["role", "since", "all", "outcome", "limit"])]
    pub id: Option<String>,
    /// Only of this role.
    #[arg(long)]
    pub role: Option<String>,
    /// Only since then: how long ago (2h, 3d, 1w), `today`, `yesterday`, or a day.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// Those that were skipped too: slots, and firings that ended before they had made anything.
    #[arg(long)]
    pub all: bool,
    /// Only those that ended so: `OK`, `PARTIAL`, `FAILED`, …; docs/OPERATIONS.md lists them.
    #[arg(long)]
    pub outcome: Option<String>,
    /// At most so many.
    #[arg(long, value_name = "N", default_value_t = firings::LIMIT, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
}

/// Which repository a forge command is about.
#[derive(Debug, ClapArgs)]
pub struct RepoArg {
    /// The repository; needed when there are several.
    #[arg(long)]
    pub repo: Option<String>,
}

/// `carson breaker`
#[derive(Debug, Subcommand)]
pub enum BreakerAction {
    /// List the breakers of roles, open or with a streak.
    List,
    /// Close one and forget its streak.
    Reset {
        /// The role.
        role: String,
    },
}

/// `carson block`
#[derive(Debug, Subcommand)]
pub enum BlockAction {
    /// List the accounts that are blocked.
    List,
    /// Block an account.
    Set {
        /// The account.
        account: String,
        /// For how long (2h); until it is cleared without it.
        #[arg(long, value_name = "DURATION")]
        r#for: Option<String>,
        /// Why.
        #[arg(
            long,
            default_value = block::REASON,
            allow_hyphen_values = true
        )]
        reason: String,
    },
    /// Lift a block.
    Clear {
        /// The account.
        account: String,
    },
}

/// `carson hosts`
#[derive(Debug, Subcommand)]
pub enum HostsAction {
    /// List them: who lives, what runs there, what is drained.
    List,
    /// Let nothing new fire on a host; what runs there goes on to its end.
    Drain {
        /// The host.
        host: String,
    },
    /// Let a drained host fire again.
    Resume {
        /// The host.
        host: String,
    },
    /// Forget a host that is gone: its daemon is stopped, and none of its firings runs.
    Remove {
        /// The host.
        host: String,
    },
}

/// `carson workspaces`
#[derive(Debug, Subcommand)]
pub enum WorkspacesAction {
    /// Remove layers that no workspace stands on, those used longest ago first, until the rest takes
    /// no more than `housekeeping.layers_mb`; a setup that failed is tried again at once.
    Prune {
        /// Remove all of them.
        #[arg(long)]
        all: bool,
    },
}

/// `carson backup`
#[derive(Debug, Subcommand)]
pub enum BackupAction {
    /// List the backups, oldest first.
    List,
    /// Make one now; the daemon makes one a day.
    Make,
    /// Put one in the place of the database, which is kept beside it. No daemon may run.
    Restore {
        /// Its name or path [default: the newest].
        backup: Option<PathBuf>,
    },
}

/// What a pause is about; the whole fleet without a choice.
#[derive(Debug, ClapArgs)]
#[group(multiple = false)]
pub struct Scope {
    /// One role.
    #[arg(long)]
    pub role: Option<String>,
    /// One repository.
    #[arg(long)]
    pub repo: Option<String>,
    /// One account.
    #[arg(long)]
    pub account: Option<String>,
}

/// `carson pause`
#[derive(Debug, ClapArgs)]
pub struct Pause {
    #[command(flatten)]
    pub scope: Scope,
    /// Why.
    #[arg(
        long,
        default_value = pause::REASON,
        allow_hyphen_values = true
    )]
    pub reason: String,
    /// For how long (2h); until it is resumed without it.
    #[arg(long, value_name = "DURATION")]
    pub r#for: Option<String>,
}

/// `carson config`
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Check settings and roles; print every finding.
    Check,
    /// Print every setting.
    Show {
        /// With where each value comes from.
        #[arg(long)]
        provenance: bool,
    },
    /// Print the JSON schema of carson.toml, or of role.toml.
    Schema {
        /// That of role.toml.
        #[arg(long)]
        role: bool,
    },
}

/// `carson hook`
#[derive(Debug, Subcommand)]
pub enum HookAction {
    /// Say what the hook makes of a shell command line, or of another tool's call.
    Explain {
        /// The command line; for another tool its input as JSON, or the path it is given.
        command: String,
        /// The tool, as the agent CLI calls it.
        #[arg(long, value_name = "TOOL", default_value = "Bash")]
        tool: String,
        /// The directory it would run in [default: the worktree].
        #[arg(long, value_name = "DIR")]
        cwd: Option<PathBuf>,
        /// The worktree it would run in [default: here].
        #[arg(long, value_name = "DIR")]
        worktree: Option<PathBuf>,
    },
    /// List the rules, with what to do instead.
    List,
    /// Answer one call on standard input, as agent CLIs ask.
    Run,
}

/// What `carson sandbox --help` shows at its end.
const SANDBOX_EXAMPLE: &str = "\
Example: no file but those here can be written, and nobody but HTTPS servers be talked to
  carson sandbox --write . --port 443 -- npm test

Example: try a list of hosts before a role has it; who was refused is said at the end
  carson sandbox --write . --egress api.example.com:443 --egress '*.example.org:443' -- npm ci

The exit code is the command's own; 125 when it was not started.";

/// `carson sandbox`
#[derive(Debug, ClapArgs)]
#[command(after_help = SANDBOX_EXAMPLE)]
pub struct Sandbox {
    /// A profile, such as one of a firing; the other options add to it.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// A file or a tree that may be read and executed, beside those of the system.
    #[arg(long, value_name = "PATH")]
    pub read: Vec<PathBuf>,
    /// A file or a tree that may be written too.
    #[arg(long, value_name = "PATH")]
    pub write: Vec<PathBuf>,
    /// A file or a tree that is not to be seen, though it lies in one that may be read.
    #[arg(long, value_name = "PATH")]
    pub hide: Vec<PathBuf>,
    /// A TCP port that may be connected to; without any, the network is open.
    #[arg(long, value_name = "PORT")]
    pub port: Vec<u16>,
    /// A host and a port that may be talked to, through the proxy that sessions have; as in a
    /// role's `egress`.
    #[arg(long, value_name = "HOST:PORT", conflicts_with = "port")]
    pub egress: Vec<String>,
    /// Processes and threads at the same time.
    #[arg(long, value_name = "N")]
    pub processes: Option<u64>,
    /// Memory in MiB.
    #[arg(long, value_name = "MB")]
    pub memory: Option<u64>,
    /// Do not start it if the kernel cannot do all this.
    #[arg(long)]
    pub required: bool,
    /// Only say what this machine can do.
    #[arg(long, conflicts_with = "command")]
    pub probe: bool,
    /// The command and its arguments.
    #[arg(last = true, required_unless_present = "probe", value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// `carson firing`
#[derive(Debug, Subcommand)]
pub enum FiringAction {
    /// Run a firing whose row is claimed.
    Run {
        /// Its id.
        id: String,
        /// Where carson.toml and roles/ are read from [default: the home].
        #[arg(long, value_name = "DIR")]
        settings: Option<PathBuf>,
        /// Begin at this instant, if it is not long until then.
        #[arg(long, value_name = "TIME")]
        at: Option<DateTime<Utc>>,
    },
}

#[cfg(test)]
mod tests;

//! What operators write in `role.toml`, to the letter: see `raw.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use carson_core::admission::Overlap;
use carson_core::cadence::CatchUp;
use carson_core::declared::Grant;
use carson_core::limits::Limits;
use carson_core::text::matches;
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choices::{HookFailure, NetworkUse, Priority, Push, Sandbox, Spare};
use crate::forms::{As, Maybe, SomeTime, Span, TimeOrNever, Zone};
use crate::routes::RouteSection;
use crate::servers::McpSection;
use crate::work::{RoleKind, WorkSection};

/// `role.toml`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("x-planned" = ["scope"]))]
pub(crate) struct RoleFile {
    /// What people call it; the directory's name without it.
    #[schemars(extend("examples" = ["Implementer"]))]
    pub title: Option<String>,
    /// Whether it fires by itself.
    #[schemars(extend("examples" = [false]))]
    pub enabled: bool,
    /// Required: repositories of `carson.toml` that it works in, the first one with work first.
    #[schemars(extend("examples" = [["widget"]]))]
    pub repos: Vec<String>,
    /// Hosts that it fires on, where several share a database: their names, or labels that they have
    /// (`fleet.labels`); any without it.
    #[schemars(extend("examples" = [["gpu", "attic"]]))]
    pub hosts: Vec<String>,
    /// Cron lines of five fields (minute hour day month weekday), or six with seconds first; none
    /// fires only by hand.
    #[schemars(extend("examples" = [["*/20 * * * *", "0 7 * * 1-5"]]))]
    pub cadence: Vec<String>,
    /// The zone of the cadence and of the role's day; the fleet's without it.
    #[schemars(with = "Maybe<Zone>", extend("examples" = ["America/New_York"]))]
    pub zone: Option<Tz>,
    /// What it is for; without it an implementer, a routine where `work.from` is `none`, and `stories` where it is
    /// `stories`.
    #[schemars(extend("examples" = ["reviewer"]))]
    pub kind: Option<RoleKind>,
    /// What it works on.
    pub work: WorkSection,
    /// What its sessions may ask Carson to do on the forge, in `$CARSON_OUTBOX`; without this section what is
    /// usual for its kind.
    pub grant: Option<Grant>,
    /// Required where it asks a model: accounts, in order of preference; a blocked one moves to the next.
    #[schemars(extend("examples" = [["claude", "spare"]]))]
    pub engines: Vec<String>,
    /// What single stages use: `plan` (and its revision), `review`, `execute`, `diff-review`.
    pub routes: BTreeMap<String, RouteSection>,
    /// Whether plans and changes are judged by an account of another vendor than the one that wrote them, where
    /// the role (or `routes` of that stage) names one that can be used; else the writer's own judges, in a fresh
    /// session.
    #[schemars(extend("examples" = [false]))]
    pub other_vendor: bool,
    /// Parts of its firings whose plan and work these accounts do, in the place of the first of `engines`: which
    /// ones follows from the firing's id. `carson outcomes --by engine` says what became of their work.
    #[schemars(extend("examples" = [{"codex": "20%"}]))]
    pub share: BTreeMap<String, String>,
    /// The stages it walks; `review` needs `plan`, `verify` and `diff-review` need `execute`. Without it all of
    /// them where its sessions make commits, `["execute"]` where they ask in their outbox, and none of a merger.
    #[schemars(extend("examples" = [["execute", "verify"]]))]
    pub stages: Option<Vec<String>>,
    /// What becomes of slots that passed while the box was off: one firing stands for all, or none.
    #[schemars(extend("examples" = ["none"]))]
    pub catch_up: CatchUp,
    /// How old a missed slot may be to be caught up.
    #[serde(with = "As::<Span>")]
    #[schemars(extend("examples" = ["30m"]))]
    pub max_late: Duration,
    /// What becomes of a slot while its last firing still runs: it is skipped, or the latest one
    /// waits.
    #[schemars(extend("examples" = ["queue-one"]))]
    pub overlap: Overlap,
    /// What becomes of a tool call when the hook is missing, crashes or is too slow: it runs and
    /// the firing reports `hook_failed_open`, or it is refused.
    #[schemars(extend("examples" = ["closed"]))]
    pub hook_failure: HookFailure,
    /// Whether the kernel must confine its sessions: without what it needs they do not start, or
    /// they start with what there is and the firing says what is weaker, or they are not confined
    /// at all; `carson doctor` says what this machine can do.
    #[schemars(extend("examples" = ["required"]))]
    pub sandbox: Sandbox,
    /// Whose network its sessions and its promise are in: one of their own, which they leave
    /// through the firing's proxy, to everywhere but this machine, its link and its metadata
    /// service (`egress` names less, and a URL of this machine in the account's `env` or the role's
    /// `[identity]` is reached too); or this machine's, for programs that know no proxy. Where the
    /// kernel gives no network, the firing says so.
    #[schemars(extend("examples" = ["host"]))]
    pub network: NetworkUse,
    /// Who pushes: Carson, from outside and after its checks, or the agent with credentials that
    /// you hand it; the second is shown in red.
    #[schemars(extend("examples" = ["carson"]))]
    pub push: Push,
    /// Variables of your environment that its sessions see: names, or beginnings with a `*`; no
    /// beginning passes what may carry a secret, code or a way into your session (`AWS_*`,
    /// `*_TOKEN`, `LD_*`, `GIT_*`, `SSH_AUTH_SOCK`, …), a full name does.
    #[schemars(extend("examples" = [["CARGO_*", "RUSTFLAGS"]]))]
    pub pass: Vec<String>,
    /// Delays its slots by a fixed part of this, so that roles of one cadence do not start
    /// together.
    #[serde(with = "As::<Span>")]
    #[schemars(extend("examples" = ["2m"]))]
    pub splay: Duration,
    /// `host:port` that its sessions and its promise may connect to; `*.host:port` is every name
    /// below it, not the name itself; addresses and `localhost` are named themselves. `[]` is
    /// nothing; without it, everything that `network` does not close.
    /// [SECURITY.md](SECURITY.md#egress) says what cuts the rest.
    #[schemars(extend("examples" = [["api.anthropic.com:443", "*.example.org:443"]]))]
    pub egress: Option<Vec<String>>,
    /// A role of low priority waits first when an account's usage window is nearly used up.
    #[schemars(extend("examples" = ["low"]))]
    pub priority: Priority,
    /// What it does at a slot at which it finds nothing new, while a usage window of its account is about to start
    /// again with at least a quarter that nobody would use: an independent second try of the hardest issue that it left
    /// as a draft. The better one of the two becomes the pull request, the other one stays on its ref
    /// ([how](#second-tries)).
    #[schemars(extend("examples" = ["second-try"]))]
    pub spare: Option<Spare>,
    #[serde(with = "LimitsSection")]
    pub limits: Limits,
    pub tools: ToolsSection,
    pub promise: Option<Promise>,
    pub command: Option<CommandSection>,
    pub coverage: Option<CoverageSection>,
    pub identity: IdentitySection,
    pub paths: PathsSection,
}

impl Default for RoleFile {
    fn default() -> Self {
        Self {
            title: None,
            enabled: true,
            hosts: Vec::new(),
            repos: Vec::new(),
            cadence: Vec::new(),
            zone: None,
            kind: None,
            work: WorkSection::default(),
            grant: None,
            engines: Vec::new(),
            routes: BTreeMap::new(),
            other_vendor: true,
            share: BTreeMap::new(),
            stages: None,
            catch_up: CatchUp::One,
            max_late: Duration::from_secs(6 * 60 * 60),
            overlap: Overlap::Skip,
            hook_failure: HookFailure::Open,
            sandbox: Sandbox::BestEffort,
            network: NetworkUse::Own,
            push: Push::Carson,
            pass: Vec::new(),
            splay: Duration::ZERO,
            egress: None,
            priority: Priority::Normal,
            spare: None,
            limits: Limits::default(),
            tools: ToolsSection::default(),
            promise: None,
            command: None,
            coverage: None,
            identity: IdentitySection::default(),
            paths: PathsSection::default(),
        }
    }
}

/// `[limits]`
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(remote = "Limits", default = "Limits::default", deny_unknown_fields)]
pub(crate) struct LimitsSection {
    /// Turns of one execute session; always passed to the CLI.
    #[schemars(range(min = 1), extend("examples" = [120]))]
    max_turns: u32,
    /// Turns of one plan, review, revise or diff-review session.
    #[schemars(range(min = 1), extend("examples" = [30]))]
    max_turns_read: u32,
    /// Tool calls of one session, counted on its output; ten for each turn without it. Refused where an
    /// account's CLI tells of no calls.
    #[schemars(range(min = 1), extend("examples" = [300]))]
    max_tool_calls: Option<u32>,
    /// The whole firing; what is there then is saved as a draft, for which a remote that does not answer has 5 minutes more.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["2h"]))]
    wall_clock: Duration,
    /// Time without output after which a session counts as stalled.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["5m"]))]
    silence: Duration,
    /// Execute sessions until the check (`[promise]`) passes.
    #[schemars(range(min = 1), extend("examples" = [5]))]
    max_attempts: u32,
    /// Rounds of plan review and revision.
    #[schemars(extend("examples" = [2]))]
    max_revisions: u32,
    /// Firings in one day of the role's zone that took work; skipped ones, and looks that found nothing, are not counted.
    #[schemars(range(min = 1), extend("examples" = [48]))]
    max_firings_per_day: u32,
    /// Money of one firing, where the CLI reports it; no limit without it.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [5.0]))]
    max_cost_usd: Option<f64>,
    /// Money of this role in one day of its zone; where the CLI reports none, it is priced from
    /// tokens and shown with `~`.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [20.0]))]
    max_cost_usd_per_day: Option<f64>,
    /// Mebibytes that one session may print.
    #[schemars(range(min = 1), extend("examples" = [16]))]
    max_output_mb: u64,
    /// Mebibytes of files that one firing may push; beyond, its work is kept under a ref on this
    /// host.
    #[schemars(range(min = 1), extend("examples" = [500]))]
    max_salvage_mb: u64,
    /// Lines that one finished change may add and take away, lock files left out; a line of more than 400
    /// bytes counts as several. A larger change is a draft that asks to be split.
    #[schemars(range(min = 1), extend("examples" = [4000]))]
    max_diff_lines: u64,
    /// Processes and threads of one session at once.
    #[schemars(range(min = 16), extend("examples" = [512]))]
    max_processes: u32,
    /// The largest file that a session may write, in mebibytes.
    #[schemars(range(min = 1), extend("examples" = [512]))]
    max_file_mb: u64,
    /// Memory of one session in mebibytes, where a cgroup can hold it to that, else of each of its
    /// processes; without it, three quarters of the machine's where a cgroup can.
    #[schemars(range(min = 64), extend("examples" = [8192]))]
    max_memory_mb: Option<u64>,
    /// Open pull requests of this role on one repository; with so many it waits for people.
    #[schemars(range(min = 1), extend("examples" = [5]))]
    max_open_prs: u32,
    /// Bad outcomes in a row that open the role's breaker.
    #[schemars(range(min = 1), extend("examples" = [3]))]
    fail_streak: u32,
    /// How long after the breaker opened one firing may try: a good end closes it, a bad one opens
    /// it again; with `"never"` only a person closes it.
    #[serde(with = "As::<TimeOrNever>")]
    #[schemars(extend("examples" = ["1h"]))]
    cooldown: Option<Duration>,
    /// Refusals by a review in a row that do not yet count as bad.
    #[schemars(extend("examples" = [0]))]
    max_rejections: u32,
    /// Firings that may take up one issue before a person must look at it.
    #[schemars(range(min = 1), extend("examples" = [2]))]
    max_work_attempts: u32,
}

/// What sessions may use, in the notation of their CLI.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tools {
    /// Of sessions that read.
    pub read: Vec<String>,
    /// Of those that write.
    pub write: Vec<String>,
}

/// `[tools]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ToolsSection {
    /// Tools of plan, review, revise and diff-review sessions.
    #[schemars(extend("examples" = [["Read", "Grep"]]))]
    pub read: Vec<String>,
    /// Tools of execute sessions, all behind the hook.
    #[schemars(extend("examples" = [["Read", "Edit", "Write"]]))]
    pub write: Vec<String>,
    /// Folders with a `SKILL.md` each, beside those in `skills/` of the role's own folder: its sessions have copies
    /// that only they see, and that nobody writes.
    #[schemars(extend("examples" = [["~/skills/review"]]))]
    pub skills: Vec<String>,
    /// MCP servers of which its sessions have single tools.
    pub mcp: BTreeMap<String, McpSection>,
}

impl Default for ToolsSection {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            read: words(&[
                "Read",
                "Grep",
                "Glob",
                "Bash(git log *)",
                "Bash(git diff *)",
                "Bash(git show *)",
                "Bash(git status *)",
            ]),
            write: words(&["Bash", "Read", "Edit", "Write", "Grep", "Glob"]),
            skills: Vec::new(),
            mcp: BTreeMap::new(),
        }
    }
}

/// `[promise]`: the check, a command that must exit 0.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("x-planned" = ["verify_runs"]))]
pub struct Promise {
    /// Required in this section: a shell command line, run in the worktree; exit code 0 is done. Of `a; b` that is the exit code of `b`: write `a && b`.
    #[schemars(extend("examples" = ["cargo test"]))]
    pub run: String,
    /// How long it may take.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["30m"]))]
    pub timeout: Duration,
}

impl Default for Promise {
    fn default() -> Self {
        Self {
            run: String::new(),
            timeout: Duration::from_secs(10 * 60),
        }
    }
}

/// `[command]`: what a role of kind `command` runs, in its workspace and in its sandbox. Where it fails, one
/// issue says so, and is closed when it passes again.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandSection {
    /// Required in this section: a line for `sh`; exit code 0 is well.
    #[schemars(extend("examples" = ["curl --fail --silent --show-error https://acme.example/health"]))]
    pub run: String,
    /// How long it may take.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["30m"]))]
    pub timeout: Duration,
    /// What a commit of what it changed says; once the checks pass, that is offered as a pull request. Without it
    /// nothing that it changed is kept.
    #[schemars(extend("examples" = ["Update dependencies"]))]
    pub commit: Option<String>,
}

impl Default for CommandSection {
    fn default() -> Self {
        Self {
            run: String::new(),
            timeout: Duration::from_secs(10 * 60),
            commit: None,
        }
    }
}

/// `[coverage]`: how a role of kind `tester` finds what is tested least, and what it may change.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CoverageSection {
    /// Required in this section: a line for `sh` that exits 0 and prints an lcov report on standard output, of
    /// at most 8 MiB; its paths are those of the repository, or absolute.
    #[schemars(extend("examples" = ["cargo llvm-cov --lcov"]))]
    pub run: String,
    /// How long it may take.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["40m"]))]
    pub timeout: Duration,
    /// Percent of its lines, at most 100, from which on a file is left alone.
    #[schemars(range(min = 1, max = 100), extend("examples" = [80]))]
    pub enough: u32,
    /// Files that it may change, and never writes tests for; `*` stands for anything.
    #[schemars(extend("examples" = [["tests/*", "*_test.go"]]))]
    pub tests: Vec<String>,
    /// How far back a change of a file on the base branch counts.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["30d"]))]
    pub since: Duration,
}

impl Default for CoverageSection {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            run: String::new(),
            timeout: Duration::from_secs(20 * 60),
            enough: 90,
            tests: words(&[
                "tests/*",
                "*/tests/*",
                "test/*",
                "*/test/*",
                "*/__tests__/*",
                "*_test.*",
                "*.test.*",
                "*.spec.*",
                "test_*.py",
                "*/test_*.py",
            ]),
            since: Duration::from_secs(14 * 24 * 60 * 60),
        }
    }
}

impl CoverageSection {
    /// Whether a file is one of tests, which may change.
    #[must_use]
    pub fn is_test(&self, path: &str) -> bool {
        self.tests.iter().any(|pattern| matches(pattern, path))
    }
}

/// How it is known who a role's sessions are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityCheck {
    /// A line for `sh`.
    pub run: String,
    /// What it prints; `*` stands for anything. `None` is anything at all.
    pub expect: Option<String>,
}

/// `[identity]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IdentitySection {
    /// Variables that only this role's sessions and its promise see.
    #[schemars(extend("examples" = [{"AWS_PROFILE": "implementer"}]))]
    pub env: BTreeMap<String, String>,
    /// A line for `sh` that says who its sessions are; it runs in their sandbox, with their variables and
    /// their ways out, before any model is asked. When it does not exit 0 within 30 seconds, or prints
    /// something else than `expect`, the firing is skipped and says so.
    #[schemars(extend("examples" = ["aws sts get-caller-identity"]))]
    pub check: Option<String>,
    /// What `check` prints somewhere in its output; `*` stands for anything.
    #[schemars(extend("examples" = ["assumed-role/carson-implementer/*"]))]
    pub expect: Option<String>,
    /// The author of its sessions' commits; without it `Carson (ROLE)`.
    #[schemars(extend("examples" = ["Acme Agent"]))]
    pub git_name: Option<String>,
    /// Their address; without it `carson@localhost`.
    #[schemars(extend("examples" = ["agent@acme.example"]))]
    pub git_email: Option<String>,
    /// What signs its commits when they leave: `ssh:FILE` (a private key without a passphrase, or a
    /// public one whose private half an agent holds) or `gpg:KEY`. No session sees the key, and without its
    /// signature nothing is pushed.
    #[schemars(extend("examples" = ["ssh:~/.ssh/carson_signing", "gpg:agent@acme.example"]))]
    pub git_sign: Option<String>,
}

/// Who its commits say has written them; what is missing has a default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Author {
    /// The name.
    pub name: Option<String>,
    /// The address.
    pub email: Option<String>,
}

/// `[paths]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PathsSection {
    /// Files and directories that its sessions may read, and run programs from.
    #[schemars(extend("examples" = [["~/.m2"]]))]
    pub read: Vec<String>,
    /// Files and directories that they may write, too; every firing of the role shares them.
    #[schemars(extend("examples" = [["/srv/build-cache"]]))]
    pub write: Vec<String>,
}

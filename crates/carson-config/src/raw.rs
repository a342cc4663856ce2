//! What operators write, to the letter. Plain types only: their errors come from `keys.rs`, which
//! knows the lines.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `carson.toml`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    pub fleet: FleetSection,
    /// Repositories by name.
    pub repos: BTreeMap<String, RepoSection>,
    /// Accounts by name.
    pub accounts: BTreeMap<String, AccountSection>,
    pub github: Option<GitHubSection>,
    pub slack: Option<SlackSection>,
    pub database: DatabaseSection,
    pub housekeeping: HousekeepingSection,
    pub heartbeat: HeartbeatSection,
}

/// `[fleet]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FleetSection {
    /// Its name.
    pub name: String,
    /// IANA zone of roles that name none.
    pub zone: String,
    /// Name of this host; the machine's own by default.
    pub host: Option<String>,
    /// Firings at once on this host.
    pub max_firings: u32,
    /// Free mebibytes of the home's disk below which nothing is started.
    pub min_free_mb: u32,
    /// Money of all roles in one day of the fleet's zone.
    pub max_cost_usd_per_day: Option<f64>,
    /// Money of all roles in one month of the fleet's zone.
    pub max_cost_usd_per_month: Option<f64>,
}

impl Default for FleetSection {
    fn default() -> Self {
        Self {
            name: "home".into(),
            zone: "UTC".into(),
            host: None,
            max_firings: 2,
            min_free_mb: 256,
            max_cost_usd_per_day: None,
            max_cost_usd_per_month: None,
        }
    }
}

/// `[repos.NAME]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RepoSection {
    /// What Carson mirrors; a local path or file:// works.
    pub url: String,
    /// github or local.
    pub forge: String,
    /// owner/name; not for local.
    pub slug: Option<String>,
    /// The branch that work starts from.
    pub base: String,
    /// Branches that are never pushed; `*` stands for anything.
    pub protected: Vec<String>,
    /// RULE:FILE of what looks like a secret and may be pushed all the same; `*` stands for anything.
    pub allow_secrets: Vec<String>,
    /// Whether reviewed work may change definitions of CI, which run with the repository's rights.
    pub allow_ci: bool,
    /// Files of work that a reviewer cannot read and that may be pushed all the same; `*` stands for anything.
    pub allow_unshown: Vec<String>,
}

impl Default for RepoSection {
    fn default() -> Self {
        Self {
            url: String::new(),
            forge: "local".into(),
            slug: None,
            base: "main".into(),
            protected: vec!["main".into(), "master".into(), "release/*".into()],
            allow_secrets: Vec::new(),
            allow_ci: false,
            allow_unshown: Vec::new(),
        }
    }
}

/// `[accounts.NAME]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AccountSection {
    /// claude, command or rehearsal.
    pub engine: String,
    /// Path of the CLI, or its name on PATH.
    pub binary: Option<String>,
    /// Arguments that are added.
    pub args: Vec<String>,
    /// Variables by which it signs in.
    pub env: BTreeMap<String, String>,
    /// The model.
    pub model: Option<String>,
    /// The script of a rehearsal.
    pub script: Option<String>,
    /// File with the provider's key, mode 0600; the firing's proxy uses it, sessions never see it.
    pub key_file: Option<String>,
    /// anthropic or openai: whose API the key is for.
    pub api: Option<String>,
    /// Where that API is; the provider's own address without it.
    pub upstream: Option<String>,
    /// The header that carries the key; the API's own without it.
    pub key_header: Option<String>,
    /// What its provider may do in a session's place, such as web_search.
    pub allow_provider: Vec<String>,
    /// codex, gemini, opencode or openai: whose words a program of `command` speaks.
    pub limits: Option<String>,
    /// How much of a usage window may be used before roles of low priority wait.
    pub warn_at: String,
    /// Which part of each usage window is kept for people.
    pub reserve: String,
}

impl Default for AccountSection {
    fn default() -> Self {
        Self {
            engine: String::new(),
            binary: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            model: None,
            script: None,
            key_file: None,
            api: None,
            upstream: None,
            key_header: None,
            allow_provider: Vec::new(),
            limits: None,
            warn_at: "90%".into(),
            reserve: "0%".into(),
        }
    }
}

/// `[github]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct GitHubSection {
    /// Address of the API.
    pub api_base: String,
    /// File with a token, mode 0600.
    pub token_file: Option<String>,
    /// Program that prints a token.
    pub token_command: Option<Vec<String>>,
}

impl Default for GitHubSection {
    fn default() -> Self {
        let api_base = "https://api.github.com".into();
        Self {
            api_base,
            token_file: None,
            token_command: None,
        }
    }
}

/// `[slack]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SlackSection {
    /// Address of the API.
    pub api_base: String,
    /// The channel.
    pub channel: String,
    /// File with a bot token, mode 0600.
    pub token_file: Option<String>,
    /// File with the address of an incoming webhook, mode 0600.
    pub webhook_file: Option<String>,
}

impl Default for SlackSection {
    fn default() -> Self {
        Self {
            api_base: "https://slack.com/api".into(),
            channel: "#carson".into(),
            token_file: None,
            webhook_file: None,
        }
    }
}

/// `[database]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DatabaseSection {
    /// sqlite:PATH or postgres://…; a relative path lies in the home.
    pub url: Option<String>,
}

/// `[housekeeping]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HousekeepingSection {
    /// When heavy work on mirrors and database is done, in the fleet's zone.
    pub quiet_hours: String,
    /// Days that logs, transcripts, posts and events are kept.
    pub keep_days: u32,
    /// Mebibytes that logs and transcripts may take together.
    pub keep_mb: u32,
    /// Backups of the database that are kept.
    pub keep_backups: u32,
}

impl Default for HousekeepingSection {
    fn default() -> Self {
        Self {
            quiet_hours: "02:00-05:00".into(),
            keep_days: 30,
            keep_mb: 2_048,
            keep_backups: 7,
        }
    }
}

/// `[heartbeat]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HeartbeatSection {
    /// Address that is asked for while the daemon lives.
    pub url: Option<String>,
    /// File with that address, mode 0600.
    pub url_file: Option<String>,
    /// How often.
    pub every: String,
    /// How long the daemon may have been away without the chat being told.
    pub alert_after_down: String,
}

impl Default for HeartbeatSection {
    fn default() -> Self {
        Self {
            url: None,
            url_file: None,
            every: "5m".into(),
            alert_after_down: "30m".into(),
        }
    }
}

/// `role.toml`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RoleFile {
    /// What people call it.
    pub title: Option<String>,
    /// Whether it fires at all.
    pub enabled: bool,
    /// Repositories it works in.
    pub repos: Vec<String>,
    /// Cron lines of five fields, or six with seconds first.
    pub cadence: Vec<String>,
    /// IANA zone of the cadence and of the role's day.
    pub zone: Option<String>,
    /// What it works on.
    pub work: WorkSection,
    /// Accounts, in order of preference.
    pub engines: Vec<String>,
    /// Stages.
    pub stages: Vec<String>,
    /// one or none: what happens to slots that passed while nobody was there.
    pub catch_up: String,
    /// How old a slot may be.
    pub max_late: String,
    /// skip or queue-one: what happens when its firing still runs.
    pub overlap: String,
    /// open or closed: what becomes of a tool call that the hook does not answer.
    pub hook_failure: String,
    /// required, best-effort or off: whether the kernel must confine its sessions.
    pub sandbox: String,
    /// own or host: whose network sessions are in.
    pub network: String,
    /// carson or agent: who pushes.
    pub push: String,
    /// Names of variables that pass from the operator's environment, or beginnings with a `*`.
    pub pass: Vec<String>,
    /// Spreads herds of roles.
    pub splay: String,
    /// host:port that sessions may connect to; everything without it.
    pub egress: Option<Vec<String>>,
    /// normal or low: one of low priority waits first when a usage window runs out.
    pub priority: String,
    pub limits: LimitsSection,
    pub tools: ToolsSection,
    pub promise: Option<PromiseSection>,
    pub identity: IdentitySection,
    pub paths: PathsSection,
}

impl Default for RoleFile {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            title: None,
            enabled: true,
            repos: Vec::new(),
            cadence: Vec::new(),
            zone: None,
            work: WorkSection::default(),
            engines: Vec::new(),
            stages: words(&["plan", "review", "execute", "verify", "diff-review"]),
            catch_up: "one".into(),
            max_late: "6h".into(),
            overlap: "skip".into(),
            hook_failure: "open".into(),
            sandbox: "best-effort".into(),
            network: "own".into(),
            push: "carson".into(),
            pass: Vec::new(),
            splay: "0s".into(),
            egress: None,
            priority: "normal".into(),
            limits: LimitsSection::default(),
            tools: ToolsSection::default(),
            promise: None,
            identity: IdentitySection::default(),
            paths: PathsSection::default(),
        }
    }
}

/// `work = { from = "issues", label = "carson:ready" }`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WorkSection {
    /// issues or none.
    pub from: String,
    /// The label that makes an issue ready.
    pub label: String,
}

impl Default for WorkSection {
    fn default() -> Self {
        Self {
            from: "issues".into(),
            label: "carson:ready".into(),
        }
    }
}

/// `[limits]`: what is left out has the default of `carson roles show`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitsSection {
    /// Turns of one execute session.
    pub max_turns: Option<u32>,
    /// Turns of one plan, review or diff-review session.
    pub max_turns_read: Option<u32>,
    /// Wall clock of the whole firing.
    pub wall_clock: Option<String>,
    /// Time without output before a session counts as stalled.
    pub silence: Option<String>,
    /// Execute attempts against the promise.
    pub max_attempts: Option<u32>,
    /// Rounds of plan revision.
    pub max_revisions: Option<u32>,
    /// Firings in one day of the role's zone.
    pub max_firings_per_day: Option<u32>,
    /// Money of one firing.
    pub max_cost_usd: Option<f64>,
    /// Money of this role in one day of its zone.
    pub max_cost_usd_per_day: Option<f64>,
    /// Output of one session, in mebibytes.
    pub max_output_mb: Option<u64>,
    /// What one firing may push, in mebibytes of files; beyond, its work is kept here.
    pub max_salvage_mb: Option<u64>,
    /// Processes and threads of one session at once.
    pub max_processes: Option<u32>,
    /// The largest file that a session may write, in mebibytes.
    pub max_file_mb: Option<u64>,
    /// Memory of one session, in mebibytes, where the kernel's cgroups can hold it to that.
    pub max_memory_mb: Option<u64>,
    /// Open pull requests of this role.
    pub max_open_prs: Option<u32>,
    /// Consecutive bad outcomes that open the breaker.
    pub fail_streak: Option<u32>,
    /// After how long an open breaker lets one firing try.
    pub cooldown: Option<String>,
    /// Rejections in a row that do not yet count as bad.
    pub max_rejections: Option<u32>,
    /// Firings that may take one piece of work.
    pub max_work_attempts: Option<u32>,
}

/// `[tools]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ToolsSection {
    /// Of plan and review sessions.
    pub read: Vec<String>,
    /// Of execute sessions.
    pub write: Vec<String>,
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
        }
    }
}

/// `[promise]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PromiseSection {
    /// Carson runs it in the worktree; exit 0 is done.
    pub run: String,
    /// How long it may take.
    pub timeout: String,
}

impl Default for PromiseSection {
    fn default() -> Self {
        Self {
            run: String::new(),
            timeout: "10m".into(),
        }
    }
}

/// `[identity]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IdentitySection {
    /// Variables that only this role's sessions see.
    pub env: BTreeMap<String, String>,
}

/// `[paths]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PathsSection {
    /// What its sessions may read and run, beside what every session may.
    pub read: Vec<String>,
    /// What its sessions may write, beside their bench.
    pub write: Vec<String>,
}

/// The JSON schemas of `carson.toml` and of `role.toml`.
#[must_use]
pub fn schema() -> (Value, Value) {
    (
        schemars::schema_for!(Settings).to_value(),
        schemars::schema_for!(RoleFile).to_value(),
    )
}

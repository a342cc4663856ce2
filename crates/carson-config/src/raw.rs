//! What operators write in `carson.toml`, to the letter. These types are the table of its keys:
//! names, kinds, bounds, defaults, examples; the comments are what docs/CONFIG.md says of them.

use std::collections::BTreeMap;
use std::time::Duration;

use carson_core::{Api, ENGINE_NAMES};
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::choices::{Cache, Toolchain, Unproven, Workspaces};
use crate::forms::{As, Share, SomeTime, Zone};
use crate::listed::Sections;
use crate::sections::{
    HeartbeatSection, Housekeeping, McpSection, MemorySection, MetricsSection, PageSection,
};

// A section that is not here is a sink's or a forge's (`listed.rs`); what is nobody's was found
// with its line before.
/// `carson.toml`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Settings {
    pub fleet: FleetSection,
    /// Repositories by name.
    pub repos: BTreeMap<String, RepoSection>,
    /// Accounts by name.
    pub accounts: BTreeMap<String, AccountSection>,
    pub database: DatabaseSection,
    pub housekeeping: Housekeeping,
    pub heartbeat: HeartbeatSection,
    pub mcp: McpSection,
    pub page: PageSection,
    pub memory: MemorySection,
    pub metrics: MetricsSection,
    #[serde(skip)]
    pub listed: Sections,
}

impl Settings {
    /// As a value, the sections of sinks and forges among them.
    pub(crate) fn with_sections(&self) -> Value {
        let mut all = serde_json::to_value(self).unwrap_or_default();
        for (name, section) in &self.listed {
            all[*name] = section.clone();
        }
        all
    }
}

/// `[fleet]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FleetSection {
    /// What the fleet is called in messages.
    #[schemars(extend("examples" = ["attic"]))]
    pub name: String,
    /// The zone of roles that name none.
    #[schemars(with = "As<Zone>", extend("examples" = ["Europe/Berlin"]))]
    pub zone: Tz,
    /// The name of this box; the machine's own name without it.
    #[schemars(extend("examples" = ["box-1"]))]
    pub host: Option<String>,
    /// What this box has that roles may ask for (`hosts` of a role), where several share a database.
    #[schemars(extend("examples" = [["gpu", "eu"]]))]
    pub labels: Vec<String>,
    /// Firings at once on this host.
    #[schemars(range(min = 1), extend("examples" = [4]))]
    pub max_firings: u32,
    /// Mebibytes that must be free on the home's disk before a firing starts; below, it is skipped
    /// and says so.
    #[schemars(extend("examples" = [2048]))]
    pub min_free_mb: u32,
    /// What a firing's workspace is made of. `layers`: a checkout of the base that all of them share,
    /// and what a session changes above it; where this machine cannot do that (`carson doctor` says
    /// so) it is a clone. `clone`: of such a checkout, its files share their blocks with it until they
    /// are written; where the disk cannot do that, and for a role without a sandbox, it is a copy.
    /// `copy`: always a checkout of its own.
    #[schemars(extend("examples" = ["copy"]))]
    pub workspaces: Workspaces,
    /// Money of all roles in one day of the fleet's zone; then every slot is skipped until the
    /// next.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [20.0]))]
    pub max_cost_usd_per_day: Option<f64>,
    /// Money of all roles in one month of the fleet's zone.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [300.0]))]
    pub max_cost_usd_per_month: Option<f64>,
}

impl Default for FleetSection {
    fn default() -> Self {
        Self {
            name: "home".into(),
            zone: Tz::UTC,
            host: None,
            labels: Vec::new(),
            max_firings: 2,
            min_free_mb: 256,
            workspaces: Workspaces::default(),
            max_cost_usd_per_day: None,
            max_cost_usd_per_month: None,
        }
    }
}

/// `[repos.NAME]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RepoSection {
    /// Required: what Carson clones; anything git understands, a local path too.
    #[schemars(extend("examples" = ["git@github.com:acme/widget.git"]))]
    pub url: String,
    /// Where issues and pull requests live; `local` is Markdown files under `forge/` in the home.
    #[schemars(extend(
        "enum" = carson_forge::names(),
        "x-planned" = ["forgejo"],
        "examples" = ["github"]
    ))]
    pub forge: String,
    /// Owner and name there; required but for `local`.
    #[schemars(extend("examples" = ["acme/widget"]))]
    pub slug: Option<String>,
    /// Whose issues are work, and whose comments and approvals count: how their authors stand to the
    /// repository (`owner`, `member`, `collaborator`, `contributor`, `none`).
    #[schemars(extend("examples" = [["owner"]]))]
    pub trusted: Vec<String>,
    /// Authors who are trusted whatever they are to the repository, by their names on the forge.
    #[schemars(extend("examples" = [["dependabot[bot]"]]))]
    pub trusted_authors: Vec<String>,
    /// The branch that work starts from; it is always protected.
    #[schemars(extend("examples" = ["trunk"]))]
    pub base: String,
    /// Branches that are never pushed; `*` stands for anything. `base` is always among them, and so is the branch that the remote's HEAD names.
    #[schemars(extend("examples" = [["main", "v*"]]))]
    pub protected: Vec<String>,
    /// `RULE:FILE` of what looks like a secret and may be pushed all the same; the reason of a
    /// firing that was blocked for one names both; `*` stands for anything. `known` is none of these
    /// rules: what Carson itself holds, an included file's values among it, never leaves.
    #[schemars(extend("examples" = [["private-key:tests/fixtures/*"]]))]
    pub allow_secrets: Vec<String>,
    /// Names that never leave in what is pushed, in any case: of customers, hosts, people.
    #[schemars(extend("examples" = [["Initech"]]))]
    pub scrub: Vec<String>,
    /// Whether work that a promise and a diff review passed (the role needs both) may change
    /// definitions of CI (`.github/workflows`, `.gitlab-ci.yml`, `Jenkinsfile`, …): they run with
    /// the repository's rights as soon as they are on a branch; without it such work is kept here,
    /// for a person. Workflows of GitHub's leave only once `actionlint` has read them: it must be on the
    /// PATH of the role's sessions.
    #[schemars(extend("examples" = [true]))]
    pub allow_ci: bool,
    /// Files that may be pushed as ready though no reviewer can read them (pictures, archives, more
    /// than a megabyte); `*` stands for anything.
    #[schemars(extend("examples" = [["docs/*.png"]]))]
    pub allow_unshown: Vec<String>,
    /// Manifests (`package.json`, `Cargo.toml`, `pyproject.toml`, `go.mod`, `Gemfile`) whose lock file need
    /// not change with what they ask for; `*` stands for anything. Others make the work a draft.
    #[schemars(extend("examples" = [["examples/*"]]))]
    pub allow_drift: Vec<String>,
    /// A shell command line that must exit 0 before work of any role is finished, beside the role's own
    /// `[promise]`: it is run in a clean room, and a failure goes back to the sessions.
    #[schemars(extend("examples" = ["make check"]))]
    pub check: String,
    /// How long it may take.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["30m"]))]
    pub check_timeout: Duration,
    /// Whether the tests that a change adds or alters fail without it.
    pub red_to_green: RedToGreenSection,
    /// What the fleet may do there by itself.
    pub policy: PolicySection,
    /// Minutes that people have each day to read the fleet's pull requests of this repository; no bound
    /// without it. While [those that wait](#what-people-have-to-read) take as many, no role begins work
    /// there.
    #[schemars(range(min = 1), extend("examples" = [60]))]
    pub review_minutes_per_day: Option<u32>,
    /// Lines for `sh` that make a checkout ready to work in: they install what the repository
    /// depends on. Each is a step that must end with 0. They run in the sandbox, with the role's network, once
    /// for each state of the lock files and of these lines; every workspace has what they left.
    #[schemars(extend("examples" = [["npm ci"]]))]
    pub setup: Vec<String>,
    /// Files of the repository on which the lines depend, beside lock files, manifests and what the lines
    /// name themselves: when one changes they run again; `*` stands for anything.
    #[schemars(extend("examples" = [["packages/deps/*"]]))]
    pub setup_inputs: Vec<String>,
    /// How long they may take together; what they use of the firing's own wall clock is gone.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["30m"]))]
    pub setup_timeout: Duration,
    /// Programs that are asked which tools work here needs: what they make of their files in the base commit
    /// is on the `PATH` and in the environment of setup, sessions and checks. These files run code, in the
    /// sandbox; none is asked unless it stands here.
    #[schemars(extend("examples" = [["mise"]]))]
    pub toolchains: Vec<Toolchain>,
    /// Package managers whose downloads in your home every workspace finds; what a session downloads
    /// or spoils there is its own.
    #[schemars(extend("examples" = [["npm", "cargo"]]))]
    pub caches: Vec<Cache>,
    /// Files that work needs and git ignores.
    pub include: IncludeSection,
}

/// `red_to_green` of a repository.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RedToGreenSection {
    /// What becomes of finished work of which no test fails on the base: the pull request says so
    /// (`note`), a fix becomes a draft besides (`draft`), or nothing is run (`off`).
    #[schemars(extend("examples" = ["draft"]))]
    pub unproven: Unproven,
    /// Labels of issues whose work is a fix.
    #[schemars(extend("examples" = [["bug"]]))]
    pub fixes: Vec<String>,
    /// A line for `sh` that runs the test files it gets as arguments (`"$@"`); without it the runner is
    /// found: cargo, pytest, jest, vitest, go.
    #[schemars(extend("examples" = ["bundle exec rspec \"$@\""]))]
    pub run: Option<String>,
    /// How long the tests may take, on the base and on the work together.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["30m"]))]
    pub timeout: Duration,
}

/// `policy` of a repository.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PolicySection {
    /// Whether a role of kind `merger` may merge pull requests of the fleet that
    /// [nothing stands against](ROLES.md#merger); people merge all the others.
    #[schemars(extend("examples" = [true]))]
    pub merge: bool,
    /// Whether a merge of theirs that [turned the base red](ROLES.md#merger) is taken back by a pull
    /// request, which is reviewed and merged as all others.
    #[schemars(extend("examples" = [true]))]
    pub revert: bool,
}

impl Default for RedToGreenSection {
    fn default() -> Self {
        Self {
            unproven: Unproven::default(),
            fixes: ["bug", "fix", "regression"].map(str::to_owned).to_vec(),
            run: None,
            timeout: Duration::from_secs(15 * 60),
        }
    }
}

/// `include` of a repository.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct IncludeSection {
    /// The directory from which files are copied into every workspace and clean room.
    #[schemars(extend("examples" = ["~/src/widget"]))]
    pub from: String,
    /// Their paths in it, and in the workspace: files that work needs and git ignores. None of their
    /// values that look secret leaves (docs/WORKSPACES.md)
    #[schemars(extend("examples" = [[".env.test"]]))]
    pub files: Vec<String>,
}

impl Default for RepoSection {
    fn default() -> Self {
        Self {
            url: String::new(),
            forge: "local".into(),
            slug: None,
            trusted: ["owner", "member", "collaborator"]
                .map(str::to_owned)
                .to_vec(),
            trusted_authors: Vec::new(),
            scrub: Vec::new(),
            base: "main".into(),
            protected: [
                "main",
                "master",
                "production",
                "prod",
                "release",
                "release/*",
            ]
            .map(str::to_owned)
            .to_vec(),
            allow_secrets: Vec::new(),
            policy: PolicySection::default(),
            allow_ci: false,
            allow_unshown: Vec::new(),
            allow_drift: Vec::new(),
            check: String::new(),
            check_timeout: Duration::from_secs(15 * 60),
            red_to_green: RedToGreenSection::default(),
            review_minutes_per_day: None,
            setup: Vec::new(),
            setup_inputs: Vec::new(),
            setup_timeout: Duration::from_secs(15 * 60),
            toolchains: Vec::new(),
            caches: Vec::new(),
            include: IncludeSection::default(),
        }
    }
}

/// `[accounts.NAME]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AccountSection {
    /// Required: Claude Code, [Codex](#codex), Gemini CLI, opencode, [carson-agent](AGENT.md), any program that takes a
    /// prompt on standard input (its output is a socket: write to `&1` and `&2`, not to `/dev/stdout` and
    /// `/dev/stderr`; [templates](engines.md#templates)), or the player of scripts.
    #[schemars(extend(
        "enum" = ENGINE_NAMES,
        "examples" = ["claude"]
    ))]
    pub engine: String,
    /// The CLI's path, or its name on PATH; the engine's own without it, required for `command`.
    #[schemars(extend("examples" = ["/opt/claude/bin/claude"]))]
    pub binary: Option<String>,
    /// Arguments that are added to every call.
    #[schemars(extend("examples" = [["--fallback-model", "claude-haiku-4-5"]]))]
    pub args: Vec<String>,
    /// Variables by which sessions sign in: `CLAUDE_CONFIG_DIR`, `ANTHROPIC_API_KEY` or
    /// `CLAUDE_CODE_OAUTH_TOKEN`, for Codex `CODEX_HOME`, `CODEX_API_KEY` or `OPENAI_API_KEY`, for Gemini CLI
    /// `GEMINI_CLI_HOME` or `GEMINI_API_KEY`, for opencode `XDG_DATA_HOME` or its provider's key (and what
    /// `OPENCODE_CONFIG_CONTENT` says of providers and models); nothing else of your environment reaches them. Of what
    /// `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `GEMINI_CLI_HOME` or `XDG_DATA_HOME` (opencode) names,
    /// each session gets a [copy of its own](SECURITY.md#keys-that-sessions-never-see).
    #[schemars(extend("examples" = [{"CLAUDE_CONFIG_DIR": "~/.claude"}]))]
    pub env: BTreeMap<String, String>,
    /// The model; the CLI's own choice without it. Of opencode `provider/model`.
    #[schemars(extend("examples" = ["claude-sonnet-5"]))]
    pub model: Option<String>,
    /// The file that is played; required for `rehearsal`.
    #[schemars(extend("examples" = ["play.toml"]))]
    pub script: Option<String>,
    /// A file, mode 0600, with the provider's key. Carson's proxy uses it in the sessions' place:
    /// they get a token that is worth nothing elsewhere ([SECURITY.md](SECURITY.md#egress)).
    #[schemars(extend("examples" = ["provider.key"]))]
    pub key_file: Option<String>,
    /// Whose API the key is for, and so which variables and header; always `anthropic` for the engine
    /// `claude`, `openai` for `codex` and `google` for `gemini`, `openai` for others without it.
    #[schemars(extend("examples" = ["anthropic"]))]
    pub api: Option<Api>,
    /// Where that API is; the provider's own address without it.
    #[schemars(extend("examples" = ["https://gateway.example/anthropic"]))]
    pub upstream: Option<String>,
    /// The header that carries the key; without it `x-api-key` for `anthropic`, `Authorization: Bearer` for
    /// `openai`, `x-goog-api-key` for `google`.
    #[schemars(extend("examples" = ["api-key"]))]
    pub key_header: Option<String>,
    /// What the provider may fetch or run in a session's place, by the names that a refusal says: a
    /// tool (`web_search`, `web_fetch`, `mcp_toolset`), a member of a request (`mcp_servers`), a
    /// source (`source.url`), a whole value of a beta header ([SECURITY.md](SECURITY.md#egress));
    /// needs `key_file`.
    #[schemars(extend("examples" = [["web_search"]]))]
    pub allow_provider: Vec<String>,
    /// Whose words a program of `command` speaks: its JSON lines, exit and standard error are read
    /// by that CLI's rules, so that a limit blocks the account until it ends. `codex` wants `exec
    /// --json`, `gemini` `-o stream-json`, `opencode` `run --format json`; `openai` is any program
    /// around such an API, of which only standard error is read.
    #[schemars(extend(
        "enum" = ["codex", "gemini", "opencode", "openai"],
        "x-renamed-from" = "limits",
        "examples" = ["codex"]
    ))]
    pub speaks: Option<String>,
    /// How much of a usage window may be used before roles of low priority wait until it starts
    /// again; as the CLI itself tells.
    #[serde(with = "As::<Share>")]
    #[schemars(extend("examples" = ["80%"]))]
    pub warn_at: f64,
    /// The part of each usage window that is kept for people: with `"25%"` no role fires once three
    /// quarters are used.
    #[serde(with = "As::<Share>")]
    #[schemars(extend("examples" = ["25%"]))]
    pub reserve: f64,
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
            speaks: None,
            warn_at: 0.9,
            reserve: 0.0,
        }
    }
}

/// `[database]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DatabaseSection {
    /// `sqlite:PATH` or `postgres://…`; `sqlite:state/carson.db` in the home without it. Several
    /// hosts share a fleet through PostgreSQL.
    #[schemars(extend("examples" = ["postgres://carson@db.example/carson"]))]
    pub url: Option<String>,
}

//! The checked settings: what every other crate works with.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use carson_core::admission::Overlap;
use carson_core::cadence::Cadence;
use carson_core::declared::Grant;
use carson_core::egress::Allowlist;
use carson_core::limits::Limits;
use carson_core::signing::SigningKey;
use carson_core::{AccountName, Api, EngineKind, FiringId, HostName, RepoName, RoleName, Stage};
use carson_notify::Spec;
use chrono_tz::Tz;

use crate::choices::{Cache, HookFailure, Priority, Spare, Toolchain, Unproven, Workspaces};
use crate::confine::Confinement;
use crate::layout::Layout;
use crate::role_file::{Author, CommandSection, CoverageSection, IdentityCheck, Promise, Tools};
use crate::routes::Route;
use crate::sections::{Heartbeat, Housekeeping, Mcp, Memory, Metrics, Page};
use crate::servers::McpServer;
use crate::skills::Skill;
use crate::work::{RoleKind, WorkSource};

/// Everything an operator decided.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Where it lives.
    pub layout: Layout,
    /// Its name.
    pub name: String,
    /// The zone of roles that name none.
    pub zone: Tz,
    /// This host.
    pub host: HostName,
    /// What it has that roles may ask for.
    pub labels: Vec<HostName>,
    /// Firings at once on this host.
    pub max_firings: u32,
    /// Free mebibytes of the home's disk below which nothing is started.
    pub min_free_mb: u32,
    /// What workspaces are made of.
    pub workspaces: Workspaces,
    /// Money of all roles in one day of the zone.
    pub max_cost_usd_per_day: Option<f64>,
    /// Money of all roles in one month of the zone.
    pub max_cost_usd_per_month: Option<f64>,
    /// Repositories.
    pub repos: BTreeMap<RepoName, Repo>,
    /// Accounts.
    pub accounts: BTreeMap<AccountName, Account>,
    /// Roles.
    pub roles: BTreeMap<RoleName, Role>,
    /// Where issues and pull requests can live, in the order of `carson_forge::OPENERS`.
    pub forges: Vec<Arc<dyn carson_forge::Spec>>,
    /// Where messages go, in the order of `carson_notify::SINKS`.
    pub sinks: Vec<Arc<dyn Spec>>,
    /// `sqlite:PATH` or `postgres://…`.
    pub database: String,
    /// How Carson cleans up after itself.
    pub housekeeping: Housekeeping,
    /// How others learn that the daemon lives.
    pub heartbeat: Heartbeat,
    /// What the daemon serves over the Model Context Protocol; nothing without it.
    pub mcp: Option<Mcp>,
    /// The page that the daemon serves; none without it.
    pub page: Option<Page>,
    /// What it remembers, and may believe by itself.
    pub memory: Memory,
    /// Where the daemon tells its numbers and whether it lives; nowhere without it.
    pub metrics: Option<Metrics>,
    /// Where ended firings are told as traces (OTLP over HTTP); nowhere without it.
    pub traces_to: Option<String>,
}

impl Fleet {
    /// Whether a role fires on this host.
    #[must_use]
    pub fn runs(&self, role: &Role) -> bool {
        let is_ours = |one: &String| {
            let mut own = std::iter::once(&self.host).chain(&self.labels);
            own.any(|name| name.as_str() == one)
        };
        role.hosts.is_empty() || role.hosts.iter().any(is_ours)
    }
}

/// A repository.
#[derive(Clone, Debug)]
pub struct Repo {
    /// Its name in the settings.
    pub name: RepoName,
    /// What Carson mirrors.
    pub url: String,
    /// Where its issues and pull requests live.
    pub forge: Arc<dyn carson_forge::Spec>,
    /// What it is called there, where the forge has such names.
    pub slug: String,
    /// Whose issues are work, and whose comments and approvals count.
    pub trust: carson_forge::Trust,
    /// The branch that work starts from.
    pub base: String,
    /// Branches that are never pushed; the base is among them.
    pub protected: Vec<String>,
    /// What looks like a secret and may be pushed all the same.
    pub allow_secrets: Vec<AllowedSecret>,
    /// Names that never leave in what is pushed.
    pub scrub: Vec<String>,
    /// Whether reviewed work may change definitions of CI.
    pub allow_ci: bool,
    /// Whether a merger may merge pull requests of the fleet here.
    pub merge: bool,
    /// Whether a merge of a merger's that turned the base red is taken back by a pull request.
    pub revert: bool,
    /// Files that may be pushed though no reviewer can read them; `*` stands for anything.
    pub allow_unshown: Vec<String>,
    /// Manifests whose lock file need not change with them; `*` stands for anything.
    pub allow_drift: Vec<String>,
    /// What must exit 0 on the work of any role.
    pub check: Option<Promise>,
    /// How it is shown that a change was needed.
    pub red_to_green: RedToGreen,
    /// Minutes that people have each day to read the fleet's pull requests; no bound without it.
    pub review_minutes_per_day: Option<u32>,
    /// What makes a checkout ready to work in.
    pub setup: Setup,
    /// Downloads of the operator's that every workspace finds.
    pub caches: Vec<Cache>,
    /// Files that are copied into every workspace.
    pub include: Vec<Included>,
}

/// How it is shown that a change was needed: its tests fail without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RedToGreen {
    /// What becomes of work of which no test does.
    pub unproven: Unproven,
    /// Labels of issues whose work is a fix.
    pub fixes: Vec<String>,
    /// Runs test files; without it the runner is found.
    pub run: Option<String>,
    /// How long the tests may take together.
    pub timeout: Duration,
}

/// What makes a checkout ready to work in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setup {
    /// Lines for `sh`.
    pub lines: Vec<String>,
    /// Files on which they depend beside the usual ones; `*` stands for anything.
    pub inputs: Vec<String>,
    /// How long they may take together.
    pub timeout: Duration,
    /// Who is asked which tools there are, before they run and after.
    pub toolchains: Vec<Toolchain>,
}

/// A file that work needs and git ignores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Included {
    /// Where the operator has it.
    pub from: PathBuf,
    /// Its path in the workspace.
    pub to: PathBuf,
}

/// A false alarm that the operator knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedSecret {
    /// The rule that sees it.
    pub rule: String,
    /// Files where it may; `*` stands for anything.
    pub files: String,
}

/// An account: a subscription or key that engines share.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its name in the settings.
    pub name: AccountName,
    /// Its CLI.
    pub engine: EngineKind,
    /// Path of that CLI, or its name on `PATH`; `None` is Carson's own (rehearsal).
    pub binary: Option<PathBuf>,
    /// Arguments that the operator adds.
    pub args: Vec<String>,
    /// How it signs in.
    pub env: BTreeMap<String, String>,
    /// The model, where one is chosen.
    pub model: Option<String>,
    /// The script of a rehearsal.
    pub script: Option<PathBuf>,
    /// The provider's key, where Carson's proxy uses it in the sessions' place.
    pub key: Option<ProviderKey>,
    /// Whose words a program of `command` speaks: `codex`, `gemini`, `opencode` or `openai`.
    pub speaks: Option<String>,
    /// How much of a usage window may be used, from 0 to 1, before roles of low priority wait.
    pub warn_at: f64,
    /// Which part of each usage window is kept for people, from 0 to 1.
    pub reserve: f64,
}

impl Account {
    /// Whose model answers, as far as its engine tells.
    #[must_use]
    pub fn vendor(&self) -> &str {
        let spoken = self.speaks.as_deref();
        let facts = self.engine.facts();
        let model = self
            .model
            .as_deref()
            .and_then(|model| model.split_once('/'));
        match model {
            // Of a CLI that asks any provider, whose model it is stands before its name.
            Some((vendor, _)) if facts.api.is_none() && self.engine.cli().is_some() => vendor,
            _ => EngineKind::vendor_of(spoken.unwrap_or(facts.name)),
        }
    }

    /// Stands for one where no model is asked: it signs in nowhere.
    #[must_use]
    pub fn nobodys() -> &'static Self {
        static NOBODYS: LazyLock<Account> = LazyLock::new(|| Account {
            name: AccountName::nobodys(),
            engine: EngineKind::any(),
            binary: Some(PathBuf::from("sh")),
            args: Vec::new(),
            env: BTreeMap::new(),
            model: None,
            script: None,
            key: None,
            speaks: None,
            warn_at: 1.0,
            reserve: 0.0,
        });
        &NOBODYS
    }
}

/// A key that sessions use without seeing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderKey {
    /// The file, readable by its owner only.
    pub file: PathBuf,
    /// Whose API it is for.
    pub api: Api,
    /// Where that API is: `https://host`, without a final slash.
    pub upstream: String,
    /// The header that carries it; the API's own without it.
    pub header: Option<String>,
    /// What the provider may fetch or run in a session's place, by the names that its API has.
    pub allow: Vec<String>,
}

/// A named specialist.
#[derive(Clone, Debug)]
pub struct Role {
    /// Its name: that of its directory.
    pub name: RoleName,
    /// What people call it.
    pub title: String,
    /// Whether it fires at all.
    pub enabled: bool,
    /// Where it works.
    pub repos: Vec<RepoName>,
    /// When it fires.
    pub cadence: Cadence,
    /// The same, as written.
    pub cadence_lines: Vec<String>,
    /// What happens when its firing still runs at the next slot.
    pub overlap: Overlap,
    /// What becomes of a tool call that the hook does not answer.
    pub hook_failure: HookFailure,
    /// What its sessions may connect to; everything without it.
    pub egress: Option<Allowlist>,
    /// What holds its sessions in.
    pub confinement: Confinement,
    /// Who waits first.
    pub priority: Priority,
    /// What it does with what a usage window would lose.
    pub spare: Option<Spare>,
    /// What it is for.
    pub kind: RoleKind,
    /// What its sessions may ask Carson to do on the forge.
    pub grant: Grant,
    /// What it works on.
    pub work: WorkSource,
    /// Its accounts, in order of preference.
    pub engines: Vec<AccountName>,
    /// What single stages use in their place.
    pub routes: BTreeMap<Stage, Route>,
    /// Whether an account of another vendor judges, where one can be used.
    pub other_vendor: bool,
    /// The hosts that it fires on, by their names or labels; any without one.
    pub hosts: Vec<String>,
    /// Which part of its firings other accounts do, from 0 to 1.
    pub share: Vec<(AccountName, f64)>,
    /// Its stages, in order.
    pub stages: Vec<Stage>,
    /// Its bounds.
    pub limits: Limits,
    /// What its sessions may use.
    pub tools: Tools,
    /// MCP servers of which they have single tools.
    pub servers: Vec<McpServer>,
    /// Skills of which they have copies.
    pub skills: Vec<Skill>,
    /// The command that says "done".
    pub promise: Option<Promise>,
    /// What it runs in the place of sessions.
    pub command: Option<CommandSection>,
    /// How it finds what is tested least.
    pub coverage: Option<CoverageSection>,
    /// Variables that only this role's sessions see.
    pub identity: BTreeMap<String, String>,
    /// How it is known that they have the right ones.
    pub identity_check: Option<IdentityCheck>,
    /// Who its commits say has written them.
    pub author: Author,
    /// What signs them when they leave.
    pub signing: Option<SigningKey>,
    /// Its prompts.
    pub prompts: Prompts,
}

/// Which account does what.
impl Role {
    /// The accounts of a stage's sessions, in order of preference: its own, then the role's.
    #[must_use]
    pub fn accounts_of(&self, stage: Stage) -> [&[AccountName]; 2] {
        let route = self.routes.get(&stage.route());
        let own = route.map_or(&[][..], |route| route.engines.as_slice());
        [own, &self.engines]
    }

    /// The model and the effort that a stage asks of one account, where it says so.
    #[must_use]
    pub fn route_of(&self, stage: Stage, account: &AccountName) -> Option<&Route> {
        let route = self.routes.get(&stage.route())?;
        let mut lists = self.accounts_of(stage).into_iter();
        let meant = lists.find(|list| !list.is_empty())?;
        meant.contains(account).then_some(route)
    }

    /// The first of its stages that has sessions.
    #[must_use]
    pub fn begins_with(&self) -> Stage {
        let mut stages = self.stages.iter().copied();
        let first = stages.find(|stage| Stage::ROUTED.contains(stage));
        first.unwrap_or(Stage::Execute)
    }

    /// Every account that its sessions may have, each once.
    #[must_use]
    pub fn accounts(&self) -> Vec<AccountName> {
        let routed = self.routes.values().flat_map(|route| &route.engines);
        let shared = self.share.iter().map(|(name, _)| name);
        let mut all: Vec<AccountName> = Vec::new();
        for name in self.engines.iter().chain(routed).chain(shared) {
            if !all.contains(name) {
                all.push(name.clone());
            }
        }
        all
    }

    /// The account in whose share a firing is: always the same one for the same firing.
    #[must_use]
    pub fn shared_with(&self, firing: &FiringId) -> Option<&AccountName> {
        let (place, mut end) = (firing.place(), 0.0);
        let found = self.share.iter().find(|(_, share)| {
            end += share;
            place < end
        });
        found.map(|(name, _)| name)
    }
}

impl Role {
    /// The name and the address in its commits.
    #[must_use]
    pub fn git_identity(&self) -> (String, &str) {
        let name = self.author.name.clone();
        let name = name.unwrap_or_else(|| format!("Carson ({})", self.name));
        (
            name,
            self.author.email.as_deref().unwrap_or("carson@localhost"),
        )
    }

    /// Whether what is committed in its workspace is its work.
    #[must_use]
    pub fn makes_commits(&self) -> bool {
        let throws_away = |command: &CommandSection| command.commit.is_none();
        self.kind.makes_commits() && !self.command.as_ref().is_some_and(throws_away)
    }

    /// What must exit 0 before its work in a repository is done, in this order: its own promise, and the
    /// repository's check unless that is the same command.
    #[must_use]
    pub fn checks<'c>(&'c self, repo: &'c Repo) -> Vec<&'c Promise> {
        let own = self.promise.as_ref();
        let own = own.filter(|_| self.stages.contains(&Stage::Verify));
        // Where nothing is changed there is nothing to check.
        let of_repo = repo.check.as_ref().filter(|_| self.makes_commits());
        let of_repo = of_repo.filter(|check| own.is_none_or(|own| own.run != check.run));
        own.into_iter().chain(of_repo).collect()
    }

    /// The same as one line, for prompts and people; `None` where nothing is checked.
    #[must_use]
    pub fn checks_line(&self, repo: &Repo) -> Option<String> {
        let all: Vec<&str> = self
            .checks(repo)
            .iter()
            .map(|check| check.run.as_str())
            .collect();
        (!all.is_empty()).then(|| all.join(" && "))
    }

    /// Stands for a role that the settings no longer have, so that what it left can be concluded.
    /// It never fires and has no work.
    #[must_use]
    pub fn gone(name: RoleName, zone: Tz) -> Self {
        Self {
            title: name.to_string(),
            name,
            enabled: false,
            repos: Vec::new(),
            cadence: Cadence::never(zone),
            cadence_lines: Vec::new(),
            overlap: Overlap::default(),
            hook_failure: HookFailure::default(),
            egress: None,
            confinement: Confinement::default(),
            priority: Priority::default(),
            spare: None,
            kind: RoleKind::Routine,
            grant: Grant::default(),
            work: WorkSource::none(),
            engines: Vec::new(),
            routes: BTreeMap::new(),
            other_vendor: false,
            hosts: Vec::new(),
            share: Vec::new(),
            stages: Vec::new(),
            limits: Limits::default(),
            tools: Tools::default(),
            servers: Vec::new(),
            skills: Vec::new(),
            promise: None,
            command: None,
            coverage: None,
            identity: BTreeMap::new(),
            identity_check: None,
            author: Author::default(),
            signing: None,
            prompts: Prompts::default(),
        }
    }
}

/// Templates by stage: of most roles those that come with Carson, which are in the program.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    /// Of the plan session.
    pub plan: Cow<'static, str>,
    /// Of the plan review.
    pub review: Cow<'static, str>,
    /// Of the revision.
    pub revise: Cow<'static, str>,
    /// Of the execute session.
    pub execute: Cow<'static, str>,
    /// Of the diff review.
    pub diff_review: Cow<'static, str>,
    /// Judges whether the work was done before.
    pub confirm: Cow<'static, str>,
}

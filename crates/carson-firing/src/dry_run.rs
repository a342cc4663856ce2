//! What a firing of a role would do, without doing it.

mod sought;

use std::path::PathBuf;

use carson_config::{Account, McpServer, Repo, Role, Skill, Tools, WorkFrom, Workspaces};
use carson_core::admission::{Admission, SkipReason, Spent, admit, free_account};
use carson_core::egress::Allowlist;
use carson_core::limits::WorstCase;
use carson_core::work::WorkKey;
use carson_core::{FiringId, Stage};
use carson_engine::Access;
use carson_proc::Cancel;
use carson_proc::sandbox::{Level, Network, Profile, probe};
use carson_store::{Filter, Firing};
use serde::Serialize;

pub use self::sought::{Candidate, DryRunError, HandedOver, Told};
use self::sought::{candidate, in_the_bench, preflight, told};
use crate::accounts::first_accounts;
use crate::admit::{self, Wish};
use crate::second_try;
use crate::steps::Steps;
use carson_bench::bench::Bench;
use carson_bench::environment::{From as Origin, Wanted};
use carson_bench::layers;
use carson_bench::proxy;
use carson_bench::sandbox_profile::Reach;
use carson_bench::toolchains::Found;
use carson_home::Home;
use carson_home::lent_dirs::is_lent;

/// The answer of `carson fire ROLE --dry-run`.
#[derive(Debug, Serialize)]
pub struct Outlook {
    /// The role.
    pub role: String,
    /// What admission says now.
    pub admission: String,
    /// The account it would use.
    pub account: Option<String>,
    /// Whether it asks a model at all.
    pub asks_models: bool,
    /// What it would do on the forge, where that needs no session.
    pub decided: Option<Vec<&'static str>>,
    /// The work it would take first, by repository.
    pub work: Option<Candidate>,
    /// The issues before it that it would give to people, and why.
    pub handed_over: Vec<HandedOver>,
    /// What keeps it from nothing, and somebody should know.
    pub warnings: Vec<String>,
    /// The stages it would walk.
    pub stages: Vec<Stage>,
    /// What it runs in the place of sessions.
    pub command: Option<String>,
    /// The command that must exit 0, if the role has one.
    pub check: Option<String>,
    /// The tools of sessions that read, and of those that write.
    pub tools: Tools,
    /// MCP servers of which they have single tools.
    pub servers: Vec<McpServer>,
    /// Skills of which they have copies.
    pub skills: Vec<Skill>,
    /// Its bound.
    pub worst_case: WorstCase,
    /// The most that it may cost; nothing bounds it without.
    pub max_cost_usd: Option<f64>,
    /// What the role's last firings cost.
    pub price: Price,
    /// What its first session would be told.
    pub prompt: Option<Told>,
    /// The hosts that its sessions could connect to; all without it.
    pub egress: Option<Allowlist>,
    /// How its account signs in.
    pub sign_in: Option<String>,
    /// Whether a workspace was made, and what runs in one was run there.
    #[serde(skip)]
    pub was_in_bench: bool,
    /// What its workspace would be, and what would run before there is one.
    pub workspace: Workspace,
    /// The walls around an execute session, and what this machine can do.
    pub sandbox: Option<Walls>,
    /// Everything a session would see, with values left out where they may be secret.
    pub environment: Vec<Shown>,
}

/// What firings of the role cost so far.
#[derive(Debug, Default, Serialize)]
pub struct Price {
    /// The last firings whose cost is known.
    pub firings: u32,
    /// What one of them cost on average.
    pub mean_usd: Option<f64>,
    /// Whether part of it was priced from tokens.
    pub estimated: bool,
}

/// The walls around a session, before they are put up.
#[derive(Debug, Serialize)]
pub struct Walls {
    /// What the role asks for.
    pub asked: String,
    /// What an execute session may read beside the system's own places.
    pub read: Vec<PathBuf>,
    /// What it may write, too.
    pub write: Vec<PathBuf>,
    /// What stays closed within these.
    pub hidden: Vec<PathBuf>,
    /// What this machine can do for this user.
    pub level: Level,
}

/// What a workspace would be.
#[derive(Debug, Serialize)]
pub struct Workspace {
    /// What it would be made of.
    pub kind: Workspaces,
    /// Why it would stand on no layers, if it would not.
    pub because: Option<String>,
    /// The lines of the repository's setup.
    pub setup: Vec<String>,
}

/// A variable as people may see it.
#[derive(Debug, Serialize)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// Its value, if that may be seen.
    pub value: String,
    /// Where it comes from.
    pub from: String,
}

/// Looks, and changes nothing but what it measures. It asks all that a firing asks before a model is paid, and so
/// runs the check of the role in a workspace of its own. That may take as long as it may there: who watches
/// hears of it.
///
/// # Errors
/// When the store or the forge does not answer.
pub async fn foresee_firing(
    home: &Home,
    role: &Role,
    wish: &Wish,
    watched: (Cancel, Steps),
) -> Result<Outlook, DryRunError> {
    let now = home.clock.now();
    let gate = admit::gate(home, role, now).await?;
    let mut found = candidate(home, role, wish).await?;
    let spare = second_try::left_over(home, role).await?;
    if let (Some(Ok(spare)), None) = (spare, wish.work) {
        found.warnings.push(format!(
            "{spare}: where nothing else is new, it does its hardest draft once more"
        ));
    }
    let skipped = |reason: &SkipReason| format!("would be skipped: {reason}");
    let mut was_in_bench = false;
    let free = free_account(&gate, now).filter(|_| gate.asks_models);
    let free = free.map(|account| account.to_string());
    let (admission, account) = match admit(&gate, now) {
        Admission::Admit(account) => {
            let mut stopped = match &found.held_up {
                Some(reason) => Some(skipped(reason)),
                None => preflight(home, role, account.as_ref(), &found).await,
            };
            // Nothing is to be asked in a workspace where there is no session.
            let idle = role.work.from != WorkFrom::None && found.work.is_none();
            let decided = found.decided.is_some();
            if let (None, false, Some(account)) = (&stopped, idle || decided, &account) {
                was_in_bench = true;
                stopped = in_the_bench(home, role, account, &mut found, watched).await;
            }
            let admission = stopped.or_else(|| idle.then(|| found.idle()));
            let admission = admission.unwrap_or_else(|| "would fire now".to_owned());
            (admission, account.map(|account| account.to_string()))
        }
        Admission::Wait(why) => (format!("would wait: {why}"), free),
        Admission::Skip(reason) => (skipped(&reason), free),
    };
    // As if there were a firing: its bench is nowhere yet.
    let bench = Bench::of(home, FiringId::new());
    let repo = role.repos.first();
    let repo = repo.and_then(|name| home.fleet.repos.get(name));
    let (bench, workspace) = foreseen(home, role, repo, bench).await;
    Ok(Outlook {
        was_in_bench,
        workspace,
        role: role.name.to_string(),
        admission,
        prompt: told(home, role, repo, &found),
        asks_models: role.kind.has_sessions(),
        decided: found.decided,
        work: found.work.map(|(candidate, _)| candidate),
        handed_over: found.handed_over,
        warnings: found.warnings,
        command: role.command.as_ref().map(|command| command.run.clone()),
        check: repo.and_then(|repo| role.checks_line(repo)),
        tools: role.tools.clone(),
        servers: role.servers.clone(),
        skills: role.skills.clone(),
        max_cost_usd: role.limits.max_cost_usd,
        price: price(home, role).await?,
        stages: role.stages.clone(),
        worst_case: role.limits.worst_case(&role.stages),
        sandbox: walls(home, role, account.as_deref(), &bench),
        environment: environment(home, role, account.as_deref(), &bench),
        egress: role.egress.clone(),
        sign_in: chosen(home, role, account.as_deref()).map(sign_in),
        account,
    })
}

/// Firings that an average is made of.
const PRICED: u32 = 20;

async fn price(home: &Home, role: &Role) -> Result<Price, DryRunError> {
    let filter = Filter {
        role: Some(role.name.clone()),
        since: None,
        skipped: false,
        outcome: None,
        limit: PRICED,
    };
    let rows = home.store.firings(&filter).await?;
    let known: Vec<Spent> = rows.iter().filter_map(Firing::spent).collect();
    let firings = u32::try_from(known.len()).unwrap_or(PRICED);
    let sum: f64 = known.iter().map(|spent| spent.usd).sum();
    let mean = sum / f64::from(firings);
    Ok(Price {
        firings,
        mean_usd: (firings > 0).then_some(mean),
        estimated: known.iter().any(|spent| spent.estimated),
    })
}

/// The account that would be used; the first one when none is free.
fn chosen<'h>(home: &'h Home, role: &Role, account: Option<&str>) -> Option<&'h Account> {
    let mut accounts = first_accounts(role).into_iter();
    let name = accounts.find(|name| account.is_none_or(|a| a == name.as_str()))?;
    home.fleet.accounts.get(&name)
}

/// How an account signs in, and who can read what it signs in with.
fn sign_in(account: &Account) -> String {
    match &account.key {
        Some(key) => format!(
            "with the key in {}, which only the firing's proxy reads; it goes to {}",
            key.file.display(),
            key.upstream
        ),
        None if account.env.is_empty() => "by itself: the account names nothing".to_owned(),
        None => {
            let names: Vec<&str> = account.env.keys().map(String::as_str).collect();
            let mut env = account.env.iter();
            let copied = env.any(|(name, value)| is_lent(name, value).is_some());
            let whose = if copied {
                ", each session in a copy of its own"
            } else {
                ""
            };
            format!(
                "by {}, which its sessions can read{whose}",
                names.join(", ")
            )
        }
    }
}

/// What a workspace is made of that stands on no layers, and why.
async fn without_layers(home: &Home, role: &Role, why: &str) -> (Workspaces, Option<String>) {
    if layers::why_no_clone(home, role).is_some() {
        return (Workspaces::Copy, Some(why.to_owned()));
    }
    match layers::clones(home).await {
        Ok(()) => (Workspaces::Clone, Some(why.to_owned())),
        Err(more) => (Workspaces::Copy, Some(format!("{why}; {more}"))),
    }
}

/// The bench as its sessions would see it.
async fn foreseen(
    home: &Home,
    role: &Role,
    repo: Option<&Repo>,
    bench: Bench,
) -> (Bench, Workspace) {
    let stand = match repo {
        Some(repo) => layers::foreseen(home, role, repo).await,
        None => Err("its repository is not in the settings".to_owned()),
    };
    let setup = repo.map_or_else(Vec::new, |repo| repo.setup.lines.clone());
    let (kind, because) = match &stand {
        Ok(_) => (Workspaces::Layers, None),
        Err(why) => without_layers(home, role, why).await,
    };
    let workspace = Workspace {
        kind,
        because,
        setup,
    };
    (bench.on(stand.ok()), workspace)
}

fn walls(home: &Home, role: &Role, account: Option<&str>, bench: &Bench) -> Option<Walls> {
    let repo = home.fleet.repos.get(role.repos.first()?)?;
    let mirror = home.mirror(repo);
    let reach = Reach {
        home,
        role,
        account: chosen(home, role, account)?,
        bench,
        mirror: mirror.path(),
        access: Access::Write,
        is_session: true,
        // The proxy begins with a firing; what it lets through is told apart from the walls.
        network: Network::Open,
    };
    let profile = reach.profile();
    let system = Profile::system_reads();
    Some(Walls {
        asked: role.confinement.sandbox.to_string(),
        read: profile
            .read
            .into_iter()
            .filter(|path| !system.contains(path))
            .collect(),
        write: profile.write,
        hidden: profile.hide,
        level: probe(),
    })
}

fn environment(home: &Home, role: &Role, account: Option<&str>, bench: &Bench) -> Vec<Shown> {
    let account = chosen(home, role, account);
    let repo = role
        .repos
        .first()
        .and_then(|name| home.fleet.repos.get(name));
    let (Some(account), Some(repo)) = (account, repo) else {
        return Vec::new();
    };
    let wanted = Wanted {
        home,
        id: FiringId::new(),
        role,
        account,
        repo: &repo.name,
        protected: &repo.protected,
        work: WorkKey::Issue(0),
        branch: "carson/…",
        attempt: 1,
        egress: proxy::foreseen(home, role, account),
        toolchains: &Found::default(),
    };
    let redactor = &home.redactor;
    let mut shown: Vec<Shown> = bench
        .variables(&wanted)
        .into_iter()
        .map(|variable| Shown {
            value: redactor.redact(&variable.shown()).into_owned(),
            from: variable.from.to_string(),
            name: variable.name.to_string_lossy().into_owned(),
        })
        .collect();
    let own = carson_engine::added_environment(account.engine, Access::Write);
    let runs = [("CARSON_RUN", "…"), ("CARSON_STAGE_RUN", "…")];
    for (name, value) in own.into_iter().chain(runs) {
        // A copy of the sign-in stays where the session would make a place of its own without one.
        let signs_in = |one: &Shown| one.name == name && one.from == Origin::SignIn.to_string();
        if shown.iter().any(signs_in) {
            continue;
        }
        shown.retain(|one| one.name != name);
        shown.push(Shown {
            name: name.to_owned(),
            value: value.to_owned(),
            from: "the session itself".to_owned(),
        });
    }
    shown.sort_by(|a, b| a.name.cmp(&b.name));
    shown
}

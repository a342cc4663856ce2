//! What was written becomes what is meant; what crosses files is checked here.

use std::collections::BTreeMap;

use carson_core::cadence::Cadence;
use carson_core::signing::SigningKey;
use carson_core::{AccountName, HostName, RepoName, RoleName, Stage};
use carson_notify::SINKS;
use chrono_tz::Tz;

use crate::abilities::{self, Abilities, abilities};
use crate::bounds;
use crate::check::Check;
use crate::confine::confinement;
use crate::document::Document;
use crate::egress::{Providers, providers};
use crate::finding::Finding;
use crate::fleet::{Fleet, Role};
use crate::known_names::known_names;
use crate::layout::Layout;
use crate::listed;
use crate::options::LoadOptions;
use crate::paths::Paths;
use crate::raw::Settings;
use crate::read::ReadRole;
use crate::role_file::{Author, IdentityCheck, IdentitySection, RoleFile, Tools};
use crate::role_kind::{
    command, coverage, grant, kind, merges, queue_of, stages, taken_by_somebody, work,
};
use crate::role_routes::{Accounts, accounts_of, routes, shares};
use crate::sections::{accounts, forges, heartbeat, mcp, memory, metrics, page, repos, traces_to};
use crate::servers::servers;
use crate::skills::skills;
use crate::work::RoleKind;

/// The whole fleet. What could not be read is left out; there is a finding for it then.
pub(crate) fn fleet(
    options: &LoadOptions,
    layout: Layout,
    document: &Document,
    raw: Settings,
    read: Vec<ReadRole>,
    findings: &mut Vec<Finding>,
) -> Fleet {
    let file = layout.settings();
    let mut check = Check {
        file: &file,
        document,
        findings,
    };
    let paths = Paths {
        home: &layout.root,
        user: options.user_home.as_deref(),
    };
    let mut around = Around {
        paths,
        providers: Providers::new(),
        abilities: Abilities::new(),
        zone: raw.fleet.zone,
        day_cost_usd: raw.fleet.max_cost_usd_per_day,
        has_places: raw.fleet.max_firings > 1,
        repos: Some(raw.repos.keys().cloned().collect()),
        checked: raw
            .repos
            .iter()
            .filter(|(_, repo)| !repo.check.trim().is_empty())
            .map(|(name, _)| name.clone())
            .collect(),
        merged: raw
            .repos
            .iter()
            .filter(|(_, repo)| repo.policy.merge)
            .map(|(name, _)| name.clone())
            .collect(),
        accounts: Some(raw.accounts.keys().cloned().collect()),
        checked_accounts: Accounts::new(),
        labels: Some(read.iter().filter_map(|role| queue_of(&role.raw)).collect()),
    };
    let (listed, at) = (&raw.listed, &around.paths);
    let sinks = SINKS.iter();
    let sinks = sinks.filter_map(|sink| listed::check(sink, listed, (at, false), &mut check));
    let sinks = sinks.collect();
    let forges = forges(listed, at, &mut check);
    let (day, month) = (
        raw.fleet.max_cost_usd_per_day,
        raw.fleet.max_cost_usd_per_month,
    );
    let (day, month) = (
        ("fleet.max_cost_usd_per_day", day),
        ("fleet.max_cost_usd_per_month", month),
    );
    bounds::more(day, month, &mut check);
    let repos = repos(raw.repos, &forges, listed, at, &mut check);
    let accounts = accounts(raw.accounts, &around.paths, &mut check);
    around.providers = providers(&accounts);
    around.checked_accounts.clone_from(&accounts);
    around.abilities = abilities(&accounts);
    let names: Vec<AccountName> = accounts.keys().cloned().collect();
    let places: Vec<RepoName> = repos.keys().cloned().collect();
    let memory = memory(raw.memory, (&names, &places), &around.paths, &mut check);
    let host = match &raw.fleet.host {
        Some(host) => check.name("fleet.host", host),
        None => None,
    };
    let labels = raw.fleet.labels.iter().enumerate();
    let labels = labels.filter_map(|(at, label)| check.name(&format!("fleet.labels.{at}"), label));
    let labels = labels.collect();
    let mut fleet = Fleet {
        name: raw.fleet.name,
        zone: around.zone,
        host: host.unwrap_or_else(|| HostName::from_machine(&options.machine)),
        labels,
        max_firings: raw.fleet.max_firings,
        min_free_mb: raw.fleet.min_free_mb,
        workspaces: raw.fleet.workspaces,
        max_cost_usd_per_day: raw.fleet.max_cost_usd_per_day,
        max_cost_usd_per_month: raw.fleet.max_cost_usd_per_month,
        repos,
        accounts,
        roles: BTreeMap::new(),
        forges,
        sinks,
        database: database(raw.database.url, &layout, &mut check),
        housekeeping: raw.housekeeping,
        heartbeat: heartbeat(raw.heartbeat, &around.paths, &mut check),
        mcp: mcp(raw.mcp, &around.paths, &mut check),
        page: page(raw.page, &around.paths, &mut check),
        memory,
        traces_to: traces_to(&raw.metrics, &mut check),
        metrics: metrics(raw.metrics, &mut check),
        layout: layout.clone(),
    };
    for role in read {
        let (name, role) = resolve_role(role, &around, findings);
        fleet.roles.insert(name, role);
    }
    fleet
}

/// Findings of roles whose fleet cannot be read: what they name in it is not held against it.
pub(crate) fn roles_alone(paths: Paths<'_>, read: Vec<ReadRole>, findings: &mut Vec<Finding>) {
    let unknown = Around {
        paths,
        providers: Providers::new(),
        abilities: Abilities::new(),
        zone: Tz::UTC,
        day_cost_usd: None,
        has_places: true,
        repos: None,
        checked: Vec::new(),
        merged: Vec::new(),
        accounts: None,
        checked_accounts: Accounts::new(),
        labels: None,
    };
    for role in read {
        resolve_role(role, &unknown, findings);
    }
}

/// What a role refers to. The names are those that were written, rightly or not: one mistake is
/// one finding.
struct Around<'a> {
    paths: Paths<'a>,
    zone: Tz,
    providers: Providers,
    abilities: Abilities,
    day_cost_usd: Option<f64>,
    /// Whether the host has room for more than one firing.
    has_places: bool,
    repos: Option<Vec<String>>,
    /// Repositories with a check of their own.
    checked: Vec<String>,
    /// Repositories where the fleet may merge.
    merged: Vec<String>,
    accounts: Option<Vec<String>>,
    /// The accounts in which nothing is wrong.
    checked_accounts: Accounts,
    /// The labels by which roles take issues.
    labels: Option<Vec<String>>,
}

fn database(url: Option<String>, layout: &Layout, check: &mut Check<'_>) -> String {
    if let Some(url) = &url {
        let known = ["sqlite:", "postgres://", "postgresql://"];
        if !known.iter().any(|scheme| url.starts_with(scheme)) {
            // It is not shown: it may hold a password.
            let hint = "url = \"sqlite:state/carson.db\" or \"postgres://user@host/name\"";
            check.problem("database.url", "it is no database that Carson knows", hint);
        }
    }
    let in_home = |path: &str| format!("sqlite:{}", layout.root.join(path).display());
    match url {
        None => in_home("state/carson.db"),
        Some(url) => match url.strip_prefix("sqlite:") {
            Some(path) => in_home(path.trim_start_matches("//")),
            None => url,
        },
    }
}

fn resolve_role(
    read: ReadRole,
    around: &Around<'_>,
    findings: &mut Vec<Finding>,
) -> (RoleName, Role) {
    let ReadRole {
        name,
        file,
        document,
        raw,
        prompts,
    } = read;
    let mut check = Check {
        file: &file,
        document: &document,
        findings,
    };
    let zone = raw.zone.unwrap_or(around.zone);
    let repos = known_names("repos", &raw.repos, around.repos.as_deref(), &mut check);
    let accounts = around.accounts.as_deref();
    let engines: Vec<AccountName> = known_names("engines", &raw.engines, accounts, &mut check);
    let kind = kind(&raw, &mut check);
    needed(&raw, kind, &mut check);
    command(&raw, kind, &mut check);
    coverage(&raw, kind, &mut check);
    let stages = stages(&raw, kind, &mut check);
    merges(&raw, kind, &around.merged, &mut check);
    let known = (accounts, &around.checked_accounts);
    let routes = routes(&raw, (&engines, &stages), known, &mut check);
    let share = shares(&raw, &engines, accounts, &mut check);
    let cadence = cadence(&raw.cadence, zone, &mut check);
    let egress = raw.egress.as_ref();
    let asked = accounts_of(&raw);
    let egress =
        egress.map(|rules| crate::egress::egress(rules, &asked, &around.providers, &mut check));
    let confinement = confinement(&raw, &around.paths, &mut check);
    let signing = signing(&raw, &around.paths, &mut check);
    promise(&raw, (kind, &stages), &around.checked, &mut check);
    bounds::check(&raw, around.day_cost_usd, &mut check);
    abilities::check(&raw, &around.abilities, &mut check);
    spare(&raw, kind, around.has_places, &mut check);
    let servers = servers(raw.tools.mcp.clone(), &stages, &around.paths, &mut check);
    let skills = skills(&raw.tools.skills, name.as_str(), &around.paths, &mut check);
    if !kind.has_sessions() && !raw.tools.mcp.is_empty() {
        let problem = format!("a role of kind {:?} asks no model", kind.as_str());
        check.problem("tools.mcp", problem, "leave it out");
    }
    let grant = grant(raw.grant, kind, &mut check);
    taken_by_somebody(&grant, around.labels.as_deref(), &mut check);
    let role = Role {
        title: raw.title.unwrap_or_else(|| name.to_string()),
        enabled: raw.enabled,
        repos,
        cadence: cadence
            .catching_up(raw.catch_up, raw.max_late)
            .splayed(raw.splay, name.as_str()),
        cadence_lines: raw.cadence,
        overlap: raw.overlap,
        hook_failure: raw.hook_failure,
        egress,
        confinement,
        priority: raw.priority,
        spare: raw.spare,
        work: work(raw.work, kind, &mut check),
        grant,
        kind,
        engines,
        routes,
        other_vendor: raw.other_vendor,
        hosts: hosts(raw.hosts, &mut check),
        share,
        stages,
        limits: raw.limits,
        servers,
        skills,
        tools: Tools {
            read: raw.tools.read,
            write: raw.tools.write,
        },
        promise: raw.promise,
        command: raw.command,
        coverage: raw.coverage,
        identity_check: identity_check(&raw.identity, &mut check),
        author: author(&raw.identity, &mut check),
        signing,
        identity: raw.identity.env,
        prompts,
        name: name.clone(),
    };
    (name, role)
}

/// What would be lost is spent on drafts of issues, beside which something new can begin.
fn spare(raw: &RoleFile, kind: RoleKind, has_places: bool, check: &mut Check<'_>) {
    if raw.spare.is_none() {
        return;
    }
    if kind != RoleKind::Implementer {
        let kind = kind.as_str();
        let problem = format!("a role of kind {kind:?} leaves no drafts of issues");
        let hint =
            "leave it out: a second try is made of an issue that an implementer left as a draft";
        check.problem("spare", problem, hint);
    } else if !has_places {
        let warning =
            "no second try is made: another firing must fit beside it, and fleet.max_firings is 1";
        check.warning("spare", warning, "raise fleet.max_firings, or leave it out");
    }
}

/// Names or labels of hosts, as the settings of those can have them.
fn hosts(raw: Vec<String>, check: &mut Check<'_>) -> Vec<String> {
    for (at, name) in raw.iter().enumerate() {
        let _: Option<HostName> = check.name(&format!("hosts.{at}"), name);
    }
    raw
}

/// What a role cannot do without.
fn needed(raw: &RoleFile, kind: RoleKind, check: &mut Check<'_>) {
    if raw.engines.is_empty() && kind.has_sessions() {
        let hint = "engines = [\"claude\"]";
        check.problem("engines", "a role needs at least one account", hint);
    }
    if raw.repos.is_empty() && kind != RoleKind::Steward {
        let problem = "a role needs at least one repository to work in";
        check.problem("repos", problem, "repos = [\"widget\"]");
    }
}

/// The command that says done, and the stage that runs it: neither is anything without the other.
fn promise(
    raw: &RoleFile,
    (kind, stages): (RoleKind, &[Stage]),
    checked: &[String],
    check: &mut Check<'_>,
) {
    let verifies = stages.contains(&Stage::Verify);
    // Each story says itself what tells that it is done.
    let says_itself = kind == RoleKind::Stories;
    match &raw.promise {
        Some(promise) if promise.run.trim().is_empty() => {
            check.problem("promise.run", "it is missing", "run = \"cargo test\"");
        }
        Some(_) if !verifies => {
            let hint = "add \"verify\" to stages, or remove [promise]";
            check.problem("promise", "no stage runs it", hint);
        }
        None if verifies
            && !says_itself
            && !raw.repos.iter().all(|repo| checked.contains(repo)) =>
        {
            let warning = "\"verify\" has nothing to run: no check says whether the work is done";
            let hint = "[promise] with run = \"cargo test\", check of the repository, or stages without \"verify\"";
            check.warning("stages", warning, hint);
        }
        _ => {}
    }
}

/// A key that a session could read signs whatever it likes.
fn signing(raw: &RoleFile, at: &Paths<'_>, check: &mut Check<'_>) -> Option<SigningKey> {
    const KEY: &str = "identity.git_sign";
    let text = raw.identity.git_sign.as_deref()?;
    let hint = "ssh:~/.ssh/carson_signing, or gpg:agent@acme.example";
    let Some(key) = SigningKey::parse(text) else {
        check.problem(KEY, format!("{text:?} names no key"), hint);
        return None;
    };
    let SigningKey::Ssh(file) = key else {
        return Some(key);
    };
    let file = at.expand(&file.to_string_lossy());
    let granted = raw.paths.read.iter().chain(&raw.paths.write);
    if let Some(open) = granted
        .into_iter()
        .find(|open| file.starts_with(at.expand(open)))
    {
        let problem = format!("its sessions may read the key: paths grants {open:?}");
        check.problem(KEY, problem, "move the key, or take the grant back");
        return None;
    }
    Some(SigningKey::Ssh(file))
}

/// Git leaves out what ends an author's name in a commit.
fn author(raw: &IdentitySection, check: &mut Check<'_>) -> Author {
    let given = [
        ("identity.git_name", &raw.git_name),
        ("identity.git_email", &raw.git_email),
    ];
    for (key, text) in given {
        let Some(text) = text else { continue };
        if text.trim().is_empty() || text.contains(|c: char| c.is_control() || "<>".contains(c)) {
            let problem = format!("{text:?} cannot stand in a commit");
            check.problem(key, problem, "leave it out, or give it without < and >");
        }
    }
    Author {
        name: raw.git_name.clone(),
        email: raw.git_email.clone(),
    }
}

/// A pattern says nothing without the command that it is held against.
fn identity_check(raw: &IdentitySection, check: &mut Check<'_>) -> Option<IdentityCheck> {
    let hint = "check = \"aws sts get-caller-identity\"";
    let is_empty = |text: &str| text.trim().is_empty();
    match (&raw.check, &raw.expect) {
        (Some(run), _) if is_empty(run) => check.problem("identity.check", "it is empty", hint),
        (None, Some(_)) => check.problem("identity.expect", "it needs a check", hint),
        (Some(_), Some(expect)) if is_empty(expect) => {
            let problem = "it is empty, and any output would hold it";
            check.problem(
                "identity.expect",
                problem,
                "leave it out, or say what is printed",
            );
        }
        (None, None) => {}
        (Some(run), expect) => {
            return Some(IdentityCheck {
                run: run.clone(),
                expect: expect.clone(),
            });
        }
    }
    None
}

fn cadence(lines: &[String], zone: Tz, check: &mut Check<'_>) -> Cadence {
    for (at, line) in lines.iter().enumerate() {
        let key = format!("cadence.{at}");
        match Cadence::parse(&[line], zone) {
            Err(error) => {
                let hint = "five fields: minute hour day month weekday, such as \"*/20 * * * *\"";
                check.problem(&key, error.to_string(), hint);
            }
            Ok(parsed) if parsed.is_never() => {
                let warning = format!("{line:?} never comes: the calendar has no such day");
                check.warning(&key, warning, "look at its day and its month");
            }
            Ok(_) => {}
        }
    }
    // Where a line is wrong there is no fleet, and this one is never used.
    Cadence::parse(lines, zone).unwrap_or_else(|_| Cadence::never(zone))
}

//! What was written becomes what is meant; what crosses files is checked here.

use std::collections::BTreeMap;

use carson_core::admission::Overlap;
use carson_core::cadence::{Cadence, CatchUp};
use carson_core::limits::Limits;
use carson_core::{HostName, RoleName, Stage};
use chrono_tz::Tz;

use crate::check::Check;
use crate::confine::confinement;
use crate::document::Document;
use crate::duration::parse_duration;
use crate::egress::{Providers, providers};
use crate::finding::Finding;
use crate::fleet::{Fleet, HookFailure, Priority, Promise, Role, Tools, WorkSource};
use crate::home::Home;
use crate::keys::nearest;
use crate::load::{LoadOptions, ReadRole};
use crate::outside::{Paths, accounts, github, repos, slack};
use crate::raw::{LimitsSection, RoleFile, Settings, WorkSection};
use crate::upkeep::{heartbeat, housekeeping};

/// The whole fleet. What could not be read is left out; there is a finding for it then.
pub(crate) fn fleet(
    options: &LoadOptions,
    home: Home,
    document: &Document,
    raw: Settings,
    read: Vec<ReadRole>,
    findings: &mut Vec<Finding>,
) -> Fleet {
    let file = home.settings();
    let mut check = Check {
        file: &file,
        document,
        findings,
    };
    let paths = Paths {
        home: &home.root,
        user: options.user_home.as_deref(),
    };
    let mut around = Around {
        paths,
        providers: Providers::new(),
        zone: raw.fleet.zone.parse().unwrap_or(Tz::UTC),
        repos: Some(raw.repos.keys().cloned().collect()),
        accounts: Some(raw.accounts.keys().cloned().collect()),
    };
    let repos = repos(raw.repos, &raw.github.is_some(), &around.paths, &mut check);
    let accounts = accounts(raw.accounts, &around.paths, &mut check);
    around.providers = providers(&accounts);
    let github = raw
        .github
        .and_then(|section| github(section, &around.paths, &mut check));
    let slack = raw
        .slack
        .and_then(|section| slack(section, &around.paths, &mut check));
    let host = match &raw.fleet.host {
        Some(host) => check.name("fleet.host", host),
        None => None,
    };
    let mut fleet = Fleet {
        name: raw.fleet.name,
        zone: around.zone,
        host: host.unwrap_or_else(|| HostName::from_machine(&options.machine)),
        max_firings: raw.fleet.max_firings,
        min_free_mb: raw.fleet.min_free_mb,
        max_cost_usd_per_day: raw.fleet.max_cost_usd_per_day,
        max_cost_usd_per_month: raw.fleet.max_cost_usd_per_month,
        repos,
        accounts,
        roles: BTreeMap::new(),
        github,
        slack,
        database: database(raw.database.url, &home, &mut check),
        housekeeping: housekeeping(&raw.housekeeping),
        heartbeat: heartbeat(raw.heartbeat, &around.paths, &mut check),
        home: home.clone(),
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
        zone: Tz::UTC,
        repos: None,
        accounts: None,
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
    repos: Option<Vec<String>>,
    accounts: Option<Vec<String>>,
}

fn database(url: Option<String>, home: &Home, check: &mut Check<'_>) -> String {
    if let Some(url) = &url {
        let known = ["sqlite:", "postgres://", "postgresql://"];
        if !known.iter().any(|scheme| url.starts_with(scheme)) {
            // It is not shown: it may hold a password.
            let hint = "url = \"sqlite:state/carson.db\" or \"postgres://user@host/name\"";
            check.problem("database.url", "it is no database that Carson knows", hint);
        }
    }
    let in_home = |path: &str| format!("sqlite:{}", home.root.join(path).display());
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
    let zone = raw
        .zone
        .as_ref()
        .and_then(|zone| zone.parse().ok())
        .unwrap_or(around.zone);
    let span = |text: &str| parse_duration(text).unwrap_or_default();
    let repos = known_names("repos", &raw.repos, around.repos.as_deref(), &mut check);
    let accounts = around.accounts.as_deref();
    let engines = known_names("engines", &raw.engines, accounts, &mut check);
    needed(&raw, &mut check);
    let cadence = cadence(&raw.cadence, zone, &mut check);
    let catch_up = if raw.catch_up == "none" {
        CatchUp::None
    } else {
        CatchUp::One
    };
    let egress = raw.egress.as_ref();
    let egress = egress
        .map(|rules| crate::egress::egress(rules, &raw.engines, &around.providers, &mut check));
    let confinement = confinement(&raw, &around.paths, &mut check);
    let promise = raw.promise.map(|promise| {
        if promise.run.trim().is_empty() {
            check.problem("promise.run", "it is missing", "run = \"cargo test\"");
        }
        if !raw
            .stages
            .iter()
            .any(|stage| stage == Stage::Verify.as_str())
        {
            let hint = "add \"verify\" to stages, or remove [promise]";
            check.problem("promise", "no stage runs it", hint);
        }
        Promise {
            timeout: span(&promise.timeout),
            run: promise.run,
        }
    });
    let role = Role {
        title: raw.title.unwrap_or_else(|| name.to_string()),
        enabled: raw.enabled,
        repos,
        cadence: cadence
            .catching_up(catch_up, span(&raw.max_late))
            .splayed(span(&raw.splay), name.as_str()),
        cadence_lines: raw.cadence,
        overlap: if raw.overlap == "queue-one" {
            Overlap::QueueOne
        } else {
            Overlap::Skip
        },
        hook_failure: if raw.hook_failure == "closed" {
            HookFailure::Closed
        } else {
            HookFailure::Open
        },
        egress,
        confinement,
        priority: if raw.priority == "low" {
            Priority::Low
        } else {
            Priority::Normal
        },
        work: work(raw.work, &mut check),
        engines,
        stages: stages(&raw.stages, &mut check),
        limits: limits(raw.limits),
        tools: Tools {
            read: raw.tools.read,
            write: raw.tools.write,
        },
        promise,
        identity: raw.identity.env,
        prompts,
        name: name.clone(),
    };
    (name, role)
}

/// What a role cannot do without.
fn needed(raw: &RoleFile, check: &mut Check<'_>) {
    if raw.engines.is_empty() {
        let hint = "engines = [\"claude\"]";
        check.problem("engines", "a role needs at least one account", hint);
    }
    if raw.repos.is_empty() && raw.work.from == "issues" {
        let problem = "a role that works on issues needs at least one repository";
        check.problem("repos", problem, "repos = [\"widget\"]");
    }
}

fn work(raw: WorkSection, check: &mut Check<'_>) -> WorkSource {
    if raw.from == "none" {
        return WorkSource::None;
    }
    if raw.label.trim().is_empty() {
        let hint = "label = \"carson:ready\"";
        check.problem("work.label", "the label is empty", hint);
    }
    WorkSource::Issues { label: raw.label }
}

/// Names that must stand in the settings, each once.
fn known_names<T: std::str::FromStr + PartialEq>(
    key: &str,
    wanted: &[String],
    known: Option<&[String]>,
    check: &mut Check<'_>,
) -> Vec<T> {
    let mut names = Vec::new();
    for name in wanted {
        let is_known = known.is_none_or(|known| known.contains(name));
        match name.parse() {
            Ok(parsed) if names.contains(&parsed) => {
                check.problem(key, format!("{name:?} is named twice"), "name it once");
            }
            Ok(parsed) if is_known => names.push(parsed),
            _ => {
                let known: Vec<&str> = known
                    .unwrap_or_default()
                    .iter()
                    .map(String::as_str)
                    .collect();
                let hint = match nearest(name, &known) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None if known.is_empty() => "it has none".to_owned(),
                    None => format!("it has: {}", known.join(", ")),
                };
                check.problem(key, format!("carson.toml has no {name:?}"), &hint);
            }
        }
    }
    names
}

fn cadence(lines: &[String], zone: Tz, check: &mut Check<'_>) -> Cadence {
    match Cadence::parse(lines, zone) {
        Ok(cadence) => cadence,
        Err(error) => {
            let hint = "five fields: minute hour day month weekday, such as \"*/20 * * * *\"";
            check.problem("cadence", error.to_string(), hint);
            Cadence::parse::<&str>(&[], zone).unwrap_or_else(|_| unreachable!("no line, no error"))
        }
    }
}

fn stages(wanted: &[String], check: &mut Check<'_>) -> Vec<Stage> {
    let mut stages = Vec::new();
    for name in wanted {
        match name.parse::<Stage>() {
            Ok(stage) if Stage::CHOSEN.contains(&stage) => stages.push(stage),
            _ => {
                let known: Vec<&str> = Stage::CHOSEN.iter().map(|stage| stage.as_str()).collect();
                let hint = format!("stages: {}", known.join(", "));
                check.problem(
                    "stages",
                    format!("{name:?} is not a stage to choose"),
                    &hint,
                );
            }
        }
    }
    for (stage, needs) in [
        (Stage::Review, Stage::Plan),
        (Stage::Verify, Stage::Execute),
        (Stage::DiffReview, Stage::Execute),
    ] {
        if stages.contains(&stage) && !stages.contains(&needs) {
            check.problem("stages", format!("{stage} needs {needs}"), "");
        }
    }
    stages.sort();
    stages.dedup();
    stages
}

pub(crate) fn limits(raw: LimitsSection) -> Limits {
    let base = Limits::default();
    let span = |text: Option<String>, default| {
        text.and_then(|text| parse_duration(&text).ok())
            .unwrap_or(default)
    };
    Limits {
        max_turns: raw.max_turns.unwrap_or(base.max_turns),
        max_turns_read: raw.max_turns_read.unwrap_or(base.max_turns_read),
        wall_clock: span(raw.wall_clock, base.wall_clock),
        silence: span(raw.silence, base.silence),
        max_attempts: raw.max_attempts.unwrap_or(base.max_attempts),
        max_revisions: raw.max_revisions.unwrap_or(base.max_revisions),
        max_firings_per_day: raw.max_firings_per_day.unwrap_or(base.max_firings_per_day),
        max_cost_usd: raw.max_cost_usd.or(base.max_cost_usd),
        max_cost_usd_per_day: raw.max_cost_usd_per_day,
        cooldown: raw.cooldown.and_then(|text| parse_duration(&text).ok()),
        max_output_mb: raw.max_output_mb.unwrap_or(base.max_output_mb),
        max_salvage_mb: raw.max_salvage_mb.unwrap_or(base.max_salvage_mb),
        max_processes: raw.max_processes.unwrap_or(base.max_processes),
        max_file_mb: raw.max_file_mb.unwrap_or(base.max_file_mb),
        max_memory_mb: raw.max_memory_mb.or(base.max_memory_mb),
        max_open_prs: raw.max_open_prs.unwrap_or(base.max_open_prs),
        fail_streak: raw.fail_streak.unwrap_or(base.fail_streak),
        max_rejections: raw.max_rejections.unwrap_or(base.max_rejections),
        max_work_attempts: raw.max_work_attempts.unwrap_or(base.max_work_attempts),
    }
}

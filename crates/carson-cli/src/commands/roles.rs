//! `carson roles`

use std::path::Path;

use carson_config::{
    Fleet, Loaded, NetworkUse, Priority, Push, Role, Spare, WorkFrom, format_duration,
};
use carson_core::egress::Allowlist;
use carson_core::limits::WorstDay;
use carson_core::text::counted;
use carson_core::{AccountName, RepoName};
use carson_operator::Ask;
use carson_operator::roles::{List, Show};

use crate::app::App;
use crate::args::Roles;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: Option<Roles>) -> Result<u8, CommandError> {
    let Loaded {
        fleet, warnings, ..
    } = app.load()?;
    let home = app.home_unopened(fleet)?;
    let Some(Roles::Show { role }) = action else {
        let roles = List {}.answer(&home).await?;
        if app.json {
            print::json(&roles);
        } else {
            let rows = roles.iter().map(|summary| row(&summary.role)).collect();
            print::table(&["ROLE", "TITLE", "CADENCE", "REPOS"], rows);
        }
        return Ok(0);
    };
    let summary = Show { role }.answer(&home).await?;
    if app.json {
        print::json(&summary);
        return Ok(0);
    }
    show(&home.fleet, &summary.role, &summary.worst_day);
    let role = &summary.role;
    let cap = role.limits.max_firings_per_day;
    if cap < summary.slots_a_day {
        print::warning(&format!(
            "limits.max_firings_per_day: its cadence has {} slots a day, and after {cap} firings that \
             found work it waits for the next",
            summary.slots_a_day
        ));
    }
    let file = Path::new("roles")
        .join(role.name.as_str())
        .join("role.toml");
    for warning in warnings.iter().filter(|one| one.file.ends_with(&file)) {
        print::warning(&format!("{}: {}", warning.key, warning.problem));
    }
    Ok(0)
}

fn row(role: &Role) -> Vec<String> {
    let repos: Vec<&str> = role.repos.iter().map(RepoName::as_str).collect();
    let when = match role.enabled {
        true => role.cadence_lines.join("; "),
        false => "disabled".to_owned(),
    };
    vec![
        role.name.to_string(),
        role.title.clone(),
        when,
        repos.join(", "),
    ]
}

fn confinement(role: &Role) {
    let confinement = &role.confinement;
    let pushed = match confinement.push {
        Push::Carson => "Carson pushes",
        Push::Agent => "the agent pushes",
    };
    print::line(&format!("sandbox: {}, {pushed}", confinement.sandbox));
    for (what, paths) in [("reads", &confinement.read), ("writes", &confinement.write)] {
        if !paths.is_empty() {
            let shown: Vec<_> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            print::line(&format!("{what}, beside the usual: {}", shown.join(", ")));
        }
    }
    if !confinement.pass.is_empty() {
        print::line(&format!("passes: {}", confinement.pass.join(", ")));
    }
}

/// What its sessions have beside the tools of their CLI, a line each.
pub fn given(role: &Role) -> Vec<String> {
    let servers = role.servers.iter().map(|server| {
        let stages: Vec<&str> = server.stages.iter().map(|stage| stage.as_str()).collect();
        let secrets: Vec<&str> = server.secrets.keys().map(String::as_str).collect();
        let secrets = match secrets.as_slice() {
            [] => String::new(),
            names => format!(", with secrets in {}", names.join(", ")),
        };
        format!(
            "MCP server {}: {} of `{}` in {}{secrets}",
            server.name,
            server.tools.join(", "),
            server.command.join(" "),
            stages.join(", ")
        )
    });
    let skills = role.skills.iter();
    let skills = skills.map(|skill| format!("skill {}: {}", skill.name, skill.dir.display()));
    servers.chain(skills).collect()
}

/// Where its sessions may connect to, in one line.
pub fn egress(role: &Role) -> String {
    match &role.egress {
        None if role.confinement.network == NetworkUse::Host => {
            "egress: everywhere, on this machine's network".to_owned()
        }
        None => "egress: everywhere but this machine, where the kernel gives a network of its own"
            .to_owned(),
        Some(Allowlist(rules)) if rules.is_empty() => "egress: nowhere".to_owned(),
        Some(Allowlist(rules)) => {
            let rules: Vec<String> = rules.iter().map(ToString::to_string).collect();
            format!("egress: only {}", rules.join(", "))
        }
    }
}

/// What single stages use, and which part of the firings other accounts do.
fn routing(role: &Role) {
    for (stage, route) in &role.routes {
        let engines: Vec<&str> = route.engines.iter().map(AccountName::as_str).collect();
        let asked = [
            (!engines.is_empty()).then(|| engines.join(", then ")),
            route.model.as_ref().map(|model| format!("model {model}")),
            route
                .effort
                .as_ref()
                .map(|effort| format!("effort {effort}")),
        ];
        let asked: Vec<String> = asked.into_iter().flatten().collect();
        print::line(&format!("{stage}: {}", asked.join(", ")));
    }
    for (account, share) in &role.share {
        let percent = share * 100.0;
        print::line(&format!(
            "share of {account}: {percent:.0} % of its firings"
        ));
    }
}

fn show(fleet: &Fleet, role: &Role, day: &WorstDay) {
    let limits = &role.limits;
    let worst = limits.worst_case(&role.stages);
    let stages: Vec<&str> = role.stages.iter().map(|stage| stage.as_str()).collect();
    let engines: Vec<&str> = role.engines.iter().map(AccountName::as_str).collect();
    print::line(&format!("{} ({})", role.title, role.name));
    print::line(&format!(
        "cadence: {} ({})",
        role.cadence_lines.join("; "),
        role.cadence.zone()
    ));
    print::line(&format!("in words: {}", role.cadence.describe()));
    let work = match (role.work.label(), role.work.from) {
        (Some(label), _) => label,
        (None, WorkFrom::Issues) => "open issues",
        (None, WorkFrom::Pulls) => "open pull requests",
        (None, WorkFrom::Stories) => "stories",
        (None, WorkFrom::None) => "none",
    };
    match &role.work.file {
        Some(file) => print::line(&format!("work: {work} of {file}")),
        None => print::line(&format!("work: {work}")),
    }
    if !role.kind.has_sessions() {
        print::line("it asks no model");
        if let Some(command) = &role.command {
            let timeout = format_duration(command.timeout);
            print::line(&format!("it runs: {} (within {timeout})", command.run));
            print::line(match command.commit {
                Some(_) => "what it changes: a pull request, once the checks pass",
                None => "what it changes: thrown away",
            });
            confinement(role);
            print::line(&egress(role));
        }
        print::line(&format!(
            "worst case of a firing: {}",
            format_duration(limits.wall_clock)
        ));
        return;
    }
    print::line(&format!("accounts: {}", engines.join(", then ")));
    routing(role);
    print::line(&format!("stages: {}", stages.join(" → ")));
    if let Some(promise) = &role.promise {
        let timeout = format_duration(promise.timeout);
        print::line(&format!("check: {} (within {timeout})", promise.run));
    }
    for repo in role.repos.iter().filter_map(|name| fleet.repos.get(name)) {
        if let Some(check) = &repo.check {
            let (name, timeout) = (&repo.name, format_duration(check.timeout));
            print::line(&format!(
                "check of {name}: {} (within {timeout})",
                check.run
            ));
        }
    }
    given(role).iter().for_each(|line| print::line(line));
    confinement(role);
    print::line(&egress(role));
    print::line(&format!(
        "worst case of a firing: {}, {}, {}, {}{}",
        counted(worst.sessions, "session"),
        counted(worst.turns, "turn"),
        counted(worst.tool_calls, "tool call"),
        format_duration(limits.wall_clock),
        money(limits.max_cost_usd)
    ));
    print::line(&format!(
        "worst case of a day: {}, {}, {}, {}{}",
        counted(day.firings, "firing"),
        counted(day.sessions, "session"),
        counted(day.turns, "turn"),
        format_duration(day.wall_clock),
        money(day.cost_usd)
    ));
    print::line(&format!(
        "retries of a firing: {}, where the provider is not available before anything was done",
        worst.retries
    ));
    print::line(&format!(
        "stops: {} a day, breaker at {}, {}",
        counted(limits.max_firings_per_day, "firing"),
        counted(limits.fail_streak, "bad outcome"),
        counted(limits.max_open_prs, "open pull request")
    ));
    if let Some(cooldown) = limits.cooldown {
        let cooldown = format_duration(cooldown);
        print::line(&format!(
            "an open breaker lets one firing try after {cooldown}"
        ));
    }
    if let Some(Spare::SecondTry) = role.spare {
        print::line(
            "what a usage window would lose is spent on a second try of its hardest draft; the better one is kept, and the other one stays on its ref",
        );
    }
    if role.priority == Priority::Low {
        print::line("low priority: it waits when an account's usage window is nearly used up");
    }
}

/// An amount at the end of a list; nothing bounds the money without one.
fn money(max: Option<f64>) -> String {
    max.map_or(", money without a bound".to_owned(), |max| {
        format!(", ${max:.2}")
    })
}

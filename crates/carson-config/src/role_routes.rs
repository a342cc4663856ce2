//! Which accounts the stages of a role use, held against those that there are.

use std::collections::{BTreeMap, BTreeSet};

use carson_core::{AccountName, Program, Stage};

use crate::check::Check;
use crate::fleet::Account;
use crate::forms::{Form, Share};
use crate::known_names::known_names;
use crate::nearest::nearest;
use crate::role_file::RoleFile;
use crate::routes::Route;

/// Accounts in which nothing is wrong.
pub(crate) type Accounts = BTreeMap<AccountName, Account>;

/// Every account that the role names, as it is written.
pub(crate) fn accounts_of(raw: &RoleFile) -> Vec<String> {
    let routes = raw.routes.values().flat_map(|route| &route.engines);
    let named = raw.engines.iter().chain(routes).chain(raw.share.keys());
    let mut all: Vec<String> = Vec::new();
    for name in named {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    all
}

/// What single stages use in the place of what the role does.
pub(crate) fn routes(
    raw: &RoleFile,
    (engines, stages): (&[AccountName], &[Stage]),
    (names, accounts): (Option<&[String]>, &Accounts),
    check: &mut Check<'_>,
) -> BTreeMap<Stage, Route> {
    let mut routes = BTreeMap::new();
    for (name, section) in &raw.routes {
        let at = format!("routes.{name}");
        let Some(stage) = routed(name, &at, stages, check) else {
            continue;
        };
        let route = Route {
            engines: known_names(&format!("{at}.engines"), &section.engines, names, check),
            model: section.model.clone(),
            effort: section.effort.clone(),
        };
        let own = match route.engines.as_slice() {
            [] => engines,
            own => own,
        };
        let asked: Vec<&Account> = own.iter().filter_map(|name| accounts.get(name)).collect();
        model(&at, &route, &asked, check);
        effort(&at, &route, &asked, check);
        routes.insert(stage, route);
    }
    routes
}

/// The stage that a section is for.
fn routed(name: &str, at: &str, stages: &[Stage], check: &mut Check<'_>) -> Option<Stage> {
    let stage = name.parse::<Stage>().ok();
    let Some(stage) = stage.filter(|stage| Stage::ROUTED.contains(stage)) else {
        let known = Stage::ROUTED.map(Stage::as_str);
        let hint = match nearest(name, &known) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("stages with sessions: {}", known.join(", ")),
        };
        let problem = format!("{name:?} is no stage with sessions of its own");
        check.problem(at, problem, &hint);
        return None;
    };
    if !stages.contains(&stage) {
        let hint = format!("add {name:?} to stages, or remove [{at}]");
        check.problem(at, "the role does not walk this stage", &hint);
        return None;
    }
    Some(stage)
}

/// One model is of one vendor, and only a CLI whose flags are known can be told of it.
fn model(at: &str, route: &Route, asked: &[&Account], check: &mut Check<'_>) {
    let Some(model) = &route.model else { return };
    let key = format!("{at}.model");
    if model.trim().is_empty() {
        return check.problem(&key, "it is empty", "leave it out");
    }
    let vendors: BTreeSet<&str> = asked.iter().map(|account| account.vendor()).collect();
    if vendors.len() > 1 {
        let vendors: Vec<&str> = vendors.into_iter().collect();
        let problem = format!("one model is not that of {}", vendors.join(" and of "));
        let hint = format!("name accounts of one vendor in {at}.engines");
        check.problem(&key, problem, &hint);
    }
    let is_told = |account: &Account| matches!(account.engine.facts().program, Program::Cli(_));
    if let Some(account) = asked.iter().find(|account| !is_told(account)) {
        let problem = format!(
            "account {} (engine {:?}) cannot be told of a model",
            account.name,
            account.engine.facts().name
        );
        check.problem(&key, problem, "leave it out, or name another account");
    }
}

/// A word that the CLI does not know would end every session of the stage.
fn effort(at: &str, route: &Route, asked: &[&Account], check: &mut Check<'_>) {
    let Some(effort) = &route.effort else { return };
    for account in asked {
        let facts = account.engine.facts();
        if facts.efforts.contains(&effort.as_str()) {
            continue;
        }
        let whose = format!("account {} (engine {:?})", account.name, facts.name);
        let (problem, hint) = match facts.efforts {
            [] => (
                format!("{whose} cannot be told how hard to think"),
                "leave it out, or name another account".to_owned(),
            ),
            known => (
                format!("{whose} knows no effort {effort:?}"),
                format!("it has: {}", known.join(", ")),
            ),
        };
        check.problem(&format!("{at}.effort"), problem, &hint);
    }
}

/// The parts of the role's firings that other accounts do.
pub(crate) fn shares(
    raw: &RoleFile,
    engines: &[AccountName],
    names: Option<&[String]>,
    check: &mut Check<'_>,
) -> Vec<(AccountName, f64)> {
    let wanted: Vec<String> = raw.share.keys().cloned().collect();
    let mut shares = Vec::new();
    for name in known_names::<AccountName>("share", &wanted, names, check) {
        let key = format!("share.{name}");
        if engines.first() == Some(&name) {
            let problem = "it is the role's first account, which does what no other one does";
            check.problem(&key, problem, "remove it, or name another account");
        }
        let text = raw.share.get(name.as_str());
        match text.map_or(Ok(0.0), |text| Share::read(text)) {
            Ok(share) => shares.push((name, share)),
            Err(problem) => check.problem(&key, problem, "share = { codex = \"20%\" }"),
        }
    }
    let all: f64 = shares.iter().map(|(_, share)| share).sum();
    // Percents do not add up to the last digit.
    if all > 1.0 + 1e-9 {
        let problem = "they are more than all of its firings";
        check.problem("share", problem, "let them be 100% together at most");
    }
    shares
}

//! The part of the list that a firing needs.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use carson_config::{Account, Repo};
use carson_core::admission::SkipReason;
use carson_core::settle::Halt;
use carson_forge::Forge;

use super::list::Run;
use super::scene::Asking;
use super::{Asked, Check, Health, LIST, Machine, Scene, Verdict};
use crate::firing::Firing;

/// A check that did not pass.
#[derive(Clone, Debug)]
pub(crate) struct Failed {
    /// Its id.
    pub id: String,
    /// What it found, and what would mend it.
    pub why: String,
}

/// What the checks of one firing found.
#[derive(Debug, Default)]
pub(crate) struct Findings(Mutex<Inner>);

#[derive(Clone, Debug, Default)]
struct Inner {
    passed: BTreeSet<String>,
    failed: Option<Failed>,
}

impl Findings {
    /// The ids that passed, and the check that did not.
    pub(super) fn all(&self) -> (BTreeSet<String>, Option<Failed>) {
        let inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.passed.clone(), inner.failed.clone())
    }

    pub(crate) fn pass(&self, id: impl Into<String>) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.passed.insert(id.into());
    }

    fn fail(&self, failed: Failed) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.failed = Some(failed);
    }
}

/// What a firing is about to use.
#[derive(Clone, Copy)]
struct Needs<'a> {
    account: &'a Account,
    repo: Option<&'a Repo>,
}

/// What every firing needs.
pub(crate) async fn always(firing: &Firing<'_>, account: &Account) -> Result<(), Halt> {
    let needs = Needs {
        account,
        repo: None,
    };
    let machine = Machine::new(firing.house.clock.clone());
    let scene = scene(firing, &machine, None);
    for check in of(Asked::Always) {
        one(firing, &scene, check, needs)
            .await
            .map_err(|failed| halt(firing, failed))?;
    }
    Ok(())
}

/// What work in a repository needs. `forge` has just listed it.
pub(crate) async fn with_work(
    firing: &Firing<'_>,
    account: &Account,
    repo: &Repo,
    forge: &Forge,
) -> Result<(), Halt> {
    let needs = Needs {
        account,
        repo: Some(repo),
    };
    let machine = Machine::new(firing.house.clock.clone());
    let scene = scene(firing, &machine, Some(forge));
    for check in of(Asked::WithWork) {
        one(firing, &scene, check, needs)
            .await
            .map_err(|failed| halt(firing, failed))?;
    }
    Ok(())
}

/// Whether a firing could go on with another account.
pub(crate) async fn account_is_usable(
    firing: &Firing<'_>,
    account: &Account,
) -> Result<(), Failed> {
    let needs = Needs {
        account,
        repo: None,
    };
    let machine = Machine::new(firing.house.clock.clone());
    let scene = scene(firing, &machine, None);
    for check in of(Asked::Always).chain(of(Asked::WithWork)) {
        if matches!(check.run, Run::Account(_)) {
            one(firing, &scene, check, needs).await?;
        }
    }
    Ok(())
}

/// Ends the firing because a check of the list did not pass where only the firing could ask it.
pub(crate) fn refuse(firing: &Firing<'_>, id: impl Into<String>, why: impl Into<String>) -> Halt {
    let (id, why) = (id.into(), why.into());
    halt(firing, Failed { id, why })
}

fn halt(firing: &Firing<'_>, failed: Failed) -> Halt {
    let said = format!("{}: {}", failed.id, failed.why);
    firing.checks.fail(failed);
    Halt::Skipped(SkipReason::Preflight(said))
}

fn of(asked: Asked) -> impl Iterator<Item = &'static Check> {
    LIST.iter().filter(move |check| check.preflight == asked)
}

fn scene<'a>(firing: &'a Firing<'_>, machine: &'a Machine, forge: Option<&'a Forge>) -> Scene<'a> {
    Scene {
        house: firing.house,
        machine,
        database: None,
        firing: Some(Asking {
            id: firing.id,
            role: firing.role,
            forge,
        }),
    }
}

async fn one(
    firing: &Firing<'_>,
    scene: &Scene<'_>,
    check: &Check,
    needs: Needs<'_>,
) -> Result<(), Failed> {
    let Some((name, verdict)) = ask(firing, scene, check, needs).await else {
        return Ok(());
    };
    let id = check.id_of(name);
    if verdict.health == Health::Broken {
        let told = check.checked(name, verdict);
        let remedy = told.remedy.unwrap_or_default();
        let why = format!("{}; {remedy}", told.found);
        return Err(Failed { id, why });
    }
    firing.checks.pass(id);
    Ok(())
}

async fn ask<'a>(
    firing: &'a Firing<'_>,
    scene: &Scene<'_>,
    check: &Check,
    needs: Needs<'a>,
) -> Option<(&'a str, Verdict)> {
    Some(match check.run {
        // The settings that a firing has were checked.
        Run::Settings => return None,
        Run::Machine(run) => ("", run(scene.machine).await?),
        Run::Home(run) => ("", run(scene).await?),
        Run::Account(run) => (
            needs.account.name.as_str(),
            run(scene, needs.account).await?,
        ),
        Run::Role(run) => (firing.role.name.as_str(), run(scene, firing.role).await?),
        Run::Repo(run) => {
            let repo = needs.repo?;
            (repo.name.as_str(), run(scene, repo).await?)
        }
    })
}

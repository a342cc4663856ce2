//! The part of the list that a firing needs.

use carson_config::{Account, Repo};
use carson_core::admission::SkipReason;
use carson_core::settle::Halt;
use carson_forge::Forge;

use crate::findings::{Failed, Findings};
use crate::list::Run;
use crate::subject::Asking;
use crate::{Asked, Check, Health, LIST, Machine, Scene, Verdict};
use carson_home::FiringRef;

/// The check that fetches.
const REMOTE: &str = "repo.NAME.remote";

/// What a firing is about to use.
#[derive(Clone, Copy)]
struct Needs<'a> {
    /// `None` of who asks no model.
    account: Option<&'a Account>,
    repo: Option<&'a Repo>,
}

/// What every firing needs.
pub async fn always(
    firing: &FiringRef<'_>,
    found: &mut Findings,
    account: Option<&Account>,
) -> Result<(), Halt> {
    let needs = Needs {
        account,
        repo: None,
    };
    let machine = Machine::of_firing(firing.home);
    let scene = scene(firing, &machine, None);
    for check in checks_asked(Asked::Always) {
        run_check(firing, found, &scene, check, needs)
            .await
            .map_err(|failed| halt(found, failed))?;
    }
    Ok(())
}

/// What work in a repository needs. `forge` has just listed it.
pub async fn with_work(
    firing: &FiringRef<'_>,
    found: &mut Findings,
    account: Option<&Account>,
    repo: &Repo,
    forge: &Forge,
) -> Result<(), Halt> {
    let needs = Needs {
        account,
        repo: Some(repo),
    };
    let machine = Machine::of_firing(firing.home);
    let scene = scene(firing, &machine, Some(forge));
    // What the remote has takes longest, and is wanted in any case: it is fetched while the others are made.
    let (remote, others): (Vec<&Check>, Vec<&Check>) =
        checks_asked(Asked::WithWork).partition(|check| check.id == REMOTE);
    let fetched = async {
        let mut told = Vec::new();
        for check in remote {
            told.push((check, ask(firing, &scene, check, needs).await));
        }
        Ok::<_, Failed>(told)
    };
    let made = async {
        for check in others {
            run_check(firing, found, &scene, check, needs).await?;
        }
        Ok(())
    };
    let judged = match tokio::try_join!(fetched, made) {
        Ok((fetched, ())) => { fetched.into_iter() }
            .filter_map(|(check, told)| Some((check, told?)))
            .try_for_each(|(check, (name, verdict))| judge(found, check, name, verdict)),
        Err(failed) => Err(failed),
    };
    judged.map_err(|failed| halt(found, failed))
}

/// Whether a firing could go on with another account.
pub async fn account_is_usable(
    firing: &FiringRef<'_>,
    found: &mut Findings,
    account: &Account,
) -> Result<(), Failed> {
    let needs = Needs {
        account: Some(account),
        repo: None,
    };
    let machine = Machine::of_firing(firing.home);
    let scene = scene(firing, &machine, None);
    for check in checks_asked(Asked::Always).chain(checks_asked(Asked::WithWork)) {
        if matches!(check.run, Run::Account(_)) {
            run_check(firing, found, &scene, check, needs).await?;
        }
    }
    Ok(())
}

/// Ends the firing because a check of the list did not pass where only the firing could ask it.
pub fn refuse(found: &mut Findings, id: impl Into<String>, why: impl Into<String>) -> Halt {
    let (id, why) = (id.into(), why.into());
    halt(found, Failed { id, why })
}

fn halt(found: &mut Findings, failed: Failed) -> Halt {
    let said = format!("{}: {}", failed.id, failed.why);
    found.failed = Some(failed);
    Halt::Skipped(SkipReason::preflight(&said))
}

fn checks_asked(asked: Asked) -> impl Iterator<Item = &'static Check> {
    LIST.iter().filter(move |check| check.preflight == asked)
}

fn scene<'a>(firing: &FiringRef<'a>, machine: &'a Machine, forge: Option<&'a Forge>) -> Scene<'a> {
    Scene {
        home: firing.home,
        machine,
        database: None,
        firing: Some(Asking {
            id: firing.id,
            role: firing.role,
            forge,
        }),
    }
}

async fn run_check(
    firing: &FiringRef<'_>,
    found: &mut Findings,
    scene: &Scene<'_>,
    check: &Check,
    needs: Needs<'_>,
) -> Result<(), Failed> {
    match ask(firing, scene, check, needs).await {
        Some((name, verdict)) => judge(found, check, name, verdict),
        None => Ok(()),
    }
}

fn judge(found: &mut Findings, check: &Check, name: &str, verdict: Verdict) -> Result<(), Failed> {
    let id = check.id_of(name);
    if verdict.health == Health::Error {
        let told = check.checked(name, verdict);
        let remedy = told.remedy.unwrap_or_default();
        let why = format!("{}; {remedy}", told.found);
        return Err(Failed { id, why });
    }
    found.pass(id);
    Ok(())
}

async fn ask<'a>(
    firing: &FiringRef<'a>,
    scene: &Scene<'_>,
    check: &Check,
    needs: Needs<'a>,
) -> Option<(&'a str, Verdict)> {
    Some(match check.run {
        // The settings that a firing has were checked, and posts wait for a sink that is away.
        Run::Settings | Run::Sink(_) | Run::Bare(_) => return None,
        Run::Machine(run) => ("", run(scene.machine).await?),
        Run::Home(run) => ("", run(scene).await?),
        Run::Account(run) => {
            let account = needs.account?;
            (account.name.as_str(), run(scene, account).await?)
        }
        Run::Role(run) => (firing.role.name.as_str(), run(scene, firing.role).await?),
        Run::Repo(run) => {
            let repo = needs.repo?;
            (repo.name.as_str(), run(scene, repo).await?)
        }
    })
}

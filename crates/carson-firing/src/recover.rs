//! Ends firings whose process is gone.
//!
//! A pass takes no input: it reads which rows of this host are alive, asks the system which
//! processes are, and concludes the difference. A firing whose process lives is left alone, by
//! whichever daemon it was started.
//!
//! Where hosts share a database it also takes over the rows of those that were taken for dead: what such a
//! firing changed lies on its host, so only what was pushed before is delivered.

use std::time::Duration;

use carson_config::{Repo, Role};
use carson_core::settle::{Facts, Settled};
use carson_core::text::counted;
use carson_core::work::{Background, WorkKey};
use carson_core::{Event, FiringId, Outcome, Stage, Work};
use carson_git::{Oid, Worktree};
use carson_proc::{Cancel, ProcessId, reap_marked};
use carson_store::{Firing as Row, StoreError};
use tracing::{error, info, warn};

use crate::conclude;
use crate::ctx::Ctx;
use crate::daemons::{self, NoCopy};
use crate::effects;
pub use crate::effects::CaughtUp;
use crate::ended::{Ended, FiringError};
use crate::full_disk;
use crate::life::{Judge, Life, is_held, runs};
use crate::reached::{FirstTry, GoesOn, Mends, Place, Reached, Taken};
use crate::record::Record;
use crate::roles::stories;
use crate::saved::Saved;
use crate::stages::facts::{self, Findings};
use crate::turn::Turns;
use carson_bench::bench::{Bench, MARKER};
use carson_home::Home;

/// Time between SIGTERM and SIGKILL for what a dead firing left running.
const GRACE: Duration = Duration::from_secs(5);

/// What a pass did.
#[derive(Clone, Debug, Default)]
pub struct Recovered {
    /// The dead firings that it concluded.
    pub ended: Vec<Ended>,
    /// The ended ones whose effects it carried out.
    pub caught_up: Vec<CaughtUp>,
}

/// Concludes every dead firing of this host, and carries out what ended ones still owe.
///
/// # Errors
/// When the store does not answer. Trouble with one firing is logged and does not stop the others.
pub async fn pass(home: &Home) -> Result<Recovered, StoreError> {
    match daemons::no_copy(home).await? {
        Some(seen) => pass_of(home, &seen).await,
        None => {
            warn!(host = %home.fleet.host, "this home is a copy of another host's: what that runs is not judged here");
            Ok(Recovered::default())
        }
    }
}

/// The same of a home that is no copy, as was seen before.
///
/// # Errors
/// As for [`pass`].
pub async fn pass_of(home: &Home, _seen: &NoCopy) -> Result<Recovered, StoreError> {
    let mut ended = Vec::new();
    // The daemon's, or that of a `carson fire` beside it.
    let Some(_turn) = Turns::Recovery.now(home) else {
        return Ok(Recovered::default());
    };
    for row in home.store.live_firings(Some(&home.fleet.host)).await? {
        if is_alive(&Judge::of(home).await?, &row).await || !seize(home, &row).await? {
            continue;
        }
        match conclude_dead(home, &row).await {
            Ok(done) => ended.push(done),
            // A host that took this one for dead has it.
            Err(FiringError::Store(error)) if error.is_fenced() => {}
            // Nor would it take the others: they are found again.
            Err(FiringError::Store(error)) => return Err(error),
            Err(error) => {
                error!(firing.id = %row.id, %error, "a dead firing could not be concluded");
            }
        }
    }
    for row in taken_over(home).await? {
        match conclude_far(home, &row).await {
            Ok(done) => ended.push(done),
            // A host that is alive again has it, or a third one.
            Err(FiringError::Store(error)) if error.is_fenced() => {}
            Err(FiringError::Store(error)) => return Err(error),
            Err(error) => {
                error!(firing.id = %row.id, %error, "a firing of a dead host could not be concluded");
            }
        }
    }
    // What the forge could not be told when they ended.
    let caught_up = effects::replay(home).await?;
    Ok(Recovered { ended, caught_up })
}

/// The firings that this host has taken over from dead ones, and has to conclude.
async fn taken_over(home: &Home) -> Result<Vec<Row>, StoreError> {
    let me = &home.fleet.host;
    for row in home.store.lapsed_firings(me).await? {
        if home.store.take_over(&row, me).await?.is_none() {
            continue;
        }
        warn!(firing.id = %row.id, firing.host = %row.host, "the host of a firing is gone: it is taken over");
        let event = Event::FiringTakenOver {
            from: row.host.clone(),
            by: me.clone(),
        };
        let (role, now) = (Some(&row.role), home.clock.now());
        let told = home.store.event(&event, role, Some(row.id), now);
        told.await?;
    }
    home.store.carried_firings(me).await
}

/// Whether the row's process lives. One far past its deadline is ended here.
async fn is_alive(judge: &Judge, row: &Row) -> bool {
    match judge.life(row) {
        Life::Alive => true,
        Life::Gone => false,
        Life::Overdue(process) => {
            warn!(firing.id = %row.id, "the firing is past its deadline and is ended");
            !process.terminate(GRACE).await
        }
    }
}

/// Takes a row that no process ever took, so that one that starts late is refused. Whether the row
/// is dead for sure then.
async fn seize(home: &Home, row: &Row) -> Result<bool, StoreError> {
    if row.pid.is_some() {
        return Ok(true);
    }
    let (me, now) = (ProcessId::current(), home.clock.now());
    let seized =
        home.store
            .as_firing(row.id, row.epoch)
            .start_firing((me.pid, me.start), None, now);
    seized.await
}

/// Ends what is left of the process tree, then goes the way every firing goes.
async fn conclude_dead(home: &Home, row: &Row) -> Result<Ended, FiringError> {
    let left = reap_marked(MARKER, &row.id.to_string(), GRACE).await;
    info!(firing.id = %row.id, processes = left, "concluding a dead firing");
    full_disk::after_sessions(home, &Bench::of(home, row.id)).await;
    let gone = Role::gone(row.role.clone(), home.fleet.zone);
    let role = home.fleet.roles.get(&row.role).unwrap_or(&gone);
    let ctx = Ctx::of_row(home, row, role, Cancel::new());
    let (mut reached, rec) = (find_again(home, row, true).await, Record::of_row(row));
    let mut facts = facts::gather(
        (role, reached.taken.as_ref()),
        &rec,
        reached.place.as_mut(),
        None,
        Findings::default(),
    )
    .await;
    facts.is_second_try_of(row.second_try);
    let (settled, facts) = match &row.settled {
        // It died after settle: its outcome stands.
        Some(settled) => (settled.clone(), row.facts.clone().unwrap_or(facts)),
        None => {
            let commits = match &mut reached.place {
                Some(place) => place.own_commits().await.unwrap_or(facts.commits),
                None => facts.commits,
            };
            (crashed(row, commits, facts.dirty), facts)
        }
    };
    conclude::conclude(&ctx, &rec, &mut reached, settled, &facts).await
}

/// Concludes a firing of a host that is gone, from its row alone.
async fn conclude_far(home: &Home, row: &Row) -> Result<Ended, FiringError> {
    let gone = Role::gone(row.role.clone(), home.fleet.zone);
    let role = home.fleet.roles.get(&row.role).unwrap_or(&gone);
    let ctx = Ctx::of_row(home, row, role, Cancel::new());
    let pushed = row.pushed_sha.as_ref().and_then(|sha| sha.parse().ok());
    let mut reached = Reached {
        far: Some(Saved {
            pushed,
            kept_ref: row.salvage_ref.clone(),
            ..Saved::default()
        }),
        ..find_again(home, row, false).await
    };
    let rec = Record::of_row(row);
    let work = (role, reached.taken.as_ref());
    let mut facts = facts::gather(work, &rec, None, None, Findings::default()).await;
    facts.is_second_try_of(row.second_try);
    let (settled, facts) = far_settled(row, facts);
    conclude::conclude(&ctx, &rec, &mut reached, settled, &facts).await
}

/// What was settled there stands, unless it says that work is done which nobody but that host has.
fn far_settled(row: &Row, facts: Facts) -> (Settled, Facts) {
    let host = &row.host;
    if let (Some(settled), Some(known)) = (&row.settled, &row.facts) {
        let is_all_here = row.pushed_sha.is_some() || !(known.commits > 0 || known.dirty);
        if is_all_here {
            return (settled.clone(), known.clone());
        }
    }
    let stage = last_stage(row);
    let mut reason = format!("its host {host} was gone {stage}");
    if row.branch.is_some() && row.pushed_sha.is_none() {
        reason.push_str(&format!(
            "; what it changed is in its workspace on {host}, and is saved when that is back"
        ));
    }
    (Settled::new(Outcome::Crashed, reason), facts)
}

fn last_stage(row: &Row) -> String {
    row.stage.map_or("before its first stage".to_owned(), |s| {
        format!("in stage {s}")
    })
}

fn crashed(row: &Row, commits: u32, dirty: bool) -> Settled {
    let stage = last_stage(row);
    let mut reason = format!("the process of the firing was gone {stage}");
    let commits = (commits > 0).then(|| counted(commits, "commit"));
    let changes = dirty.then(|| "uncommitted changes".to_owned());
    let left: Vec<String> = commits.into_iter().chain(changes).collect();
    if !left.is_empty() {
        reason.push_str(&format!("; left behind: {}", left.join(" and ")));
    }
    Settled::new(Outcome::Crashed, reason)
}

/// Finds the claim again, and the worktree where it lies on this host, as far as the firing had come.
async fn find_again<'h>(home: &'h Home, row: &Row, is_here: bool) -> Reached<'h> {
    let repo = row.repo.as_ref();
    let Some(repo) = repo.and_then(|repo| home.fleet.repos.get(repo)) else {
        return Reached::default();
    };
    Reached {
        taken: taken_again(home, row, repo).await,
        place: match is_here {
            true => place_again(home, row, repo).await,
            false => None,
        },
        far: None,
    }
}

async fn taken_again<'h>(home: &Home, row: &Row, repo: &'h Repo) -> Option<Taken<'h>> {
    let key = row.work.unwrap_or(WorkKey::None);
    let forge = match home.forge(repo).await {
        Ok(forge) => forge,
        Err(error) => {
            warn!(firing.id = %row.id, %error, "the forge of a dead firing cannot be opened");
            return None;
        }
    };
    let issue = match key {
        WorkKey::Issue(number) => forge.issue(number).await.ok(),
        _ => None,
    };
    let title = issue.as_ref().map_or_else(
        || row.title.clone().unwrap_or_else(|| key.to_string()),
        |issue| home.redactor.redact(&issue.title).into_owned(),
    );
    let work = Work {
        key,
        title,
        body: String::new(),
        url: issue.map(|issue| issue.url).unwrap_or_default(),
        attempts: 0,
        background: Background::default(),
    };
    let mends = match (key, home.fleet.roles.get(&row.role)) {
        (WorkKey::Pull(number), Some(role)) if role.makes_commits() => {
            forge.pull(number).await.ok()
        }
        _ => None,
    };
    let mut taken = Taken::new(repo, forge, work);
    taken.story = stories::again(home, repo, row).await.map(Box::new);
    taken.first = row.second_try.map(|pull| FirstTry { pull, failed: 0 });
    taken.mends = mends.map(|pull| Mends {
        branch: pull.head,
        ..Mends::default()
    });
    Some(taken)
}

async fn place_again(home: &Home, row: &Row, repo: &Repo) -> Option<Place> {
    let branch = row.branch.clone()?;
    let base = row.base_sha.as_ref()?.parse::<Oid>().ok()?;
    let (mirror, bench) = (home.mirror(repo), Bench::of(home, row.id));
    // No session was anywhere yet: there is nothing to look at.
    if row.stage == Some(Stage::Workspace) && !bench.may_hold_work() {
        return None;
    }
    let worktree = Worktree::open(&mirror, bench.tree(), branch, base);
    let mut place = Place::new(mirror, worktree, bench);
    if let Some(branch) = row.goes_on.clone() {
        let at = place.worktree.begun_at().await.unwrap_or_default();
        place.goes_on = Some(GoesOn { branch, at });
    }
    Some(place)
}

/// Whether a firing still needs its bench, or removes it just now: pruning asks before it touches one.
pub(crate) async fn is_live(home: &Home, id: FiringId) -> Result<bool, StoreError> {
    let row = home.store.firing(id).await?;
    // One that another host took over has still its work to put aside.
    Ok(row.is_some_and(|row| {
        row.ended_at.is_none()
            || row.carrier.is_some() && runs(&row)
            || is_held(&home.fleet, row.id)
    }))
}

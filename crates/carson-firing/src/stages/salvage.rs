//! Nothing lost: whatever changed goes to a pushed branch, or under a kept ref.
//!
//! Every step may be repeated: the same firing concluded twice pushes nothing twice and opens one
//! pull request.

use carson_core::settle::Settled;
use carson_core::{Outcome, Stage};
use carson_forge::NewPull;
use carson_git::{GitError, Oid, Seen};
use carson_store::Judged;
use tracing::{error, info, warn};

use super::{leaving, verify};
use crate::firing::{Firing, Place, Taken};
use crate::messages;
use crate::saved::Saved;

/// Label of a draft that is unfinished work, not a proposal.
const DO_NOT_REVIEW: &str = "do-not-review";

pub(crate) async fn run(firing: &Firing<'_>, settled: &Settled) -> Saved {
    firing.enter(Stage::Salvage).await;
    let mut saved = Saved::default();
    let Some(place) = firing.place() else {
        return saved;
    };
    let seen = match place.look().await {
        Ok(seen) => seen,
        Err(error) => {
            saved
                .trouble
                .push(format!("the worktree cannot be read: {error}"));
            return saved;
        }
    };
    saved.trouble.extend(seen.facts().trouble.iter().cloned());
    if let [first, more @ ..] = seen.renamed() {
        let more = if more.is_empty() { "" } else { " and others" };
        saved.trouble.push(format!(
            "git refuses the name {first:?}{more}: kept with `.kept` behind it"
        ));
    }
    take_up(firing, place, settled, &seen, &mut saved).await;
    let tip = place
        .worktree
        .tip()
        .await
        .unwrap_or_else(|_| seen.tip().clone());
    if tip == place.worktree.base {
        return saved;
    }
    let pushed = match firing.taken() {
        Some(taken) if leaving::may(firing, taken, settled, &seen, &mut saved).await => {
            push(firing, place, taken, &tip, &mut saved).await
        }
        _ => false,
    };
    if !pushed {
        keep(firing, place, &tip, &mut saved).await;
    } else if let Some(taken) = firing.taken() {
        open_pull(firing, place, taken, settled, &mut saved).await;
    }
    saved
}

/// Work that a person must see first is for a person, however it ended. Finished work that nobody
/// can see as a pull request is not done: it goes back to the queue.
pub(crate) fn as_delivered(settled: Settled, saved: &Saved) -> Settled {
    if let Some(reason) = &saved.held {
        return Settled::new(Outcome::Blocked, reason);
    }
    if settled.outcome != Outcome::Ok || saved.pull.is_some() {
        return settled;
    }
    let reason = format!("finished without a pull request: {}", settled.reason);
    Settled::new(Outcome::Partial, reason)
}

/// Commits what lies uncommitted. Beside finished work it is kept aside, out of the pull request;
/// else it is part of the unfinished work.
async fn take_up(
    firing: &Firing<'_>,
    place: &Place,
    settled: &Settled,
    seen: &Seen,
    saved: &mut Saved,
) {
    let tree = seen.facts();
    if !tree.dirty && !tree.head_strayed {
        return;
    }
    let message = format!(
        "Unfinished work of firing {}\n\n{}",
        firing.id,
        firing.house.redactor.redact(&settled.reason)
    );
    let taken = if settled.outcome == Outcome::Ok {
        aside(firing, place, seen, &message, saved).await
    } else {
        seen.snapshot(&message).await.map(|_| ())
    };
    if let Err(error) = taken {
        error!(firing.id = %firing.id, %error, "uncommitted work could not be taken up");
        saved.trouble.push(format!(
            "uncommitted work stays in {}: {error}",
            place.bench.tree().display()
        ));
    }
}

async fn aside(
    firing: &Firing<'_>,
    place: &Place,
    seen: &Seen,
    message: &str,
    saved: &mut Saved,
) -> Result<(), GitError> {
    if let Some(oid) = seen.snapshot_aside(message).await? {
        let kept = place.worktree.kept();
        let kept = kept.keep_ref(&firing.id.to_string(), &oid).await?;
        note_ref(firing, kept, saved).await;
    }
    Ok(())
}

async fn note_ref(firing: &Firing<'_>, kept: String, saved: &mut Saved) {
    if let Err(error) = firing.store().set_salvage_ref(firing.id, &kept).await {
        warn!(firing.id = %firing.id, %error, "the kept ref could not be noted");
    }
    saved.kept_ref = Some(kept);
}

async fn push(
    firing: &Firing<'_>,
    place: &Place,
    taken: &Taken<'_>,
    tip: &Oid,
    saved: &mut Saved,
) -> bool {
    let (branch, protected) = (&place.worktree.branch, &taken.repo.protected);
    match place.worktree.kept().push(branch, tip, protected).await {
        Ok(_) => {
            info!(firing.id = %firing.id, branch, commit = %tip, "branch pushed");
            verify::note(firing, Judged::Pushed, tip).await;
            true
        }
        Err(error) => {
            warn!(firing.id = %firing.id, %error, "the branch could not be pushed");
            saved
                .trouble
                .push(format!("the branch could not be pushed: {error}"));
            false
        }
    }
}

async fn keep(firing: &Firing<'_>, place: &Place, tip: &Oid, saved: &mut Saved) {
    let kept = place.worktree.kept();
    match kept.keep_ref(&firing.id.to_string(), tip).await {
        Ok(kept) => note_ref(firing, kept, saved).await,
        Err(error) => {
            error!(firing.id = %firing.id, %error, "no ref could be kept; the worktree stays");
            saved.trouble.push(format!("no ref could be kept: {error}"));
        }
    }
}

async fn open_pull(
    firing: &Firing<'_>,
    place: &Place,
    taken: &Taken<'_>,
    settled: &Settled,
    saved: &mut Saved,
) {
    let draft = settled.outcome != Outcome::Ok;
    let redact = |text: &str| firing.house.redactor.redact(text).into_owned();
    let pull = NewPull {
        title: messages::pull_title(&taken.work).without(redact),
        body: messages::pull_body(firing, taken, settled).without(redact),
        head: place.worktree.branch.clone(),
        base: taken.repo.base.clone(),
        draft,
        labels: if draft {
            vec![DO_NOT_REVIEW.to_owned()]
        } else {
            Vec::new()
        },
    };
    match taken.forge.create_pull(&pull).await {
        Ok(pull) => {
            if let Err(error) = firing
                .store()
                .set_pull(firing.id, pull.number, &pull.url)
                .await
            {
                warn!(firing.id = %firing.id, %error, "the pull request could not be noted");
            }
            saved.pull = Some(pull);
        }
        Err(error) => {
            warn!(firing.id = %firing.id, %error, "no pull request could be opened");
            saved
                .trouble
                .push(format!("no pull request could be opened: {error}"));
        }
    }
}

//! Each way, gone. It was looked at directly before; whoever was interrupted looks again, and finds what is done.

use carson_core::Compensation;
use carson_core::compensation::short;
use carson_firing::back::{Reverted, revert};
use carson_firing::ended_pulls;
use carson_forge::PullState;
use carson_git::{Deleted, Oid};
use carson_store::{Firing, UndoState};

use super::going::{Going, Place};
use super::labels::{labels_of, still};
use super::pulls::closed_since;
use crate::memory::revert::Revert;
use crate::refusal::Refusal;
use crate::verb::Ask;

/// Where it stands then, and what there is to say.
type Stands = (UndoState, Option<String>);

fn done() -> Stands {
    (UndoState::Done, None)
}

fn left(why: impl Into<String>) -> Stands {
    (UndoState::Left, Some(why.into()))
}

pub(super) async fn act(
    going: &mut Going<'_>,
    row: &Firing,
    what: &Compensation,
) -> Result<Stands, Refusal> {
    if let Compensation::DropLessons { .. } = what {
        return drop_lessons(going, row).await;
    }
    let Some(repo) = &row.repo else {
        return Ok(left("the firing had no repository"));
    };
    let place = going.place(repo).await?;
    let forge = &place.forge;
    match what {
        Compensation::RevertMerge { pull, head } => {
            let reverted = revert(going.home, place.repo, forge, (row, *pull, head)).await?;
            Ok(match reverted {
                Reverted::By(pull) => (UndoState::Done, Some(pull.url)),
                Reverted::Already => (
                    UndoState::Done,
                    Some("the base has nothing of it any more".to_owned()),
                ),
                Reverted::Conflicts => {
                    left("what came into the base since changed the same lines: it needs a person")
                }
                Reverted::Closed(pull) => left(closed_since(pull.number)),
                Reverted::BranchTaken(branch) => left(format!(
                    "the remote has another branch {branch}: delete or rename that one, and say the same again"
                )),
                Reverted::Unknown => left("nobody can say any more which commit brought it"),
            })
        }
        Compensation::ClosePull { pull, .. } => {
            let _turn = ended_pulls::turn_to_end(going.home).await;
            if forge.pull(*pull).await?.state == PullState::Merged {
                return Ok(left("it was merged a moment ago"));
            }
            forge.close_pull(*pull).await?;
            Ok(done())
        }
        Compensation::DeleteBranch { branch, commit } => {
            delete_branch(going, row, &place, (branch, commit)).await
        }
        Compensation::ReopenPull { pull } => {
            forge.reopen_pull(*pull).await?;
            Ok(done())
        }
        Compensation::WithdrawReview { pull, review } => {
            forge.withdraw_review(*pull, *review).await?;
            Ok(done())
        }
        Compensation::RemoveReply {
            pull,
            thread,
            reply,
        } => {
            forge.remove_reply(*pull, thread, *reply).await?;
            Ok(done())
        }
        Compensation::RemoveComments { on, comments } => {
            for comment in comments {
                forge.remove_comment(*on, *comment).await?;
            }
            Ok(done())
        }
        Compensation::RestoreLabels { on, add, remove } => restore(&place, *on, add, remove).await,
        Compensation::ReopenIssue { issue } => {
            forge.reopen_issue(*issue).await?;
            Ok(done())
        }
        Compensation::CloseIssue { repo: other, issue } => {
            let place = going.place(other.as_ref().unwrap_or(repo)).await?;
            place.forge.close_issue(*issue).await?;
            Ok(done())
        }
        // All of that was dropped before anything was looked at.
        Compensation::DropOwed { .. } => Ok(done()),
        Compensation::DropLessons { .. } | Compensation::Nothing { .. } => {
            Ok(left("nothing does it"))
        }
    }
}

/// What it holds is kept here before it goes.
async fn delete_branch(
    going: &Going<'_>,
    row: &Firing,
    place: &Place<'_>,
    (branch, commit): (&str, &str),
) -> Result<Stands, Refusal> {
    let Ok(oid) = commit.parse::<Oid>() else {
        return Ok(left("its commit has no name"));
    };
    let mirror = going.home.mirror(place.repo);
    mirror.refresh().await?;
    if mirror.remote_head(branch).await?.is_none() {
        return Ok(done());
    }
    let kept = mirror.kept().keep_ref(&row.id.to_string(), &oid).await?;
    let protected = &place.repo.protected;
    Ok(match mirror.delete_branch(branch, &oid, protected).await? {
        Deleted::Now | Deleted::Before => (
            UndoState::Done,
            Some(format!("its work is kept under {kept}")),
        ),
        Deleted::Moved(now) => {
            let now = now.to_string();
            left(format!("somebody pushed {} to it since", short(&now)))
        }
    })
}

async fn restore(
    place: &Place<'_>,
    on: u64,
    add: &[String],
    remove: &[String],
) -> Result<Stands, Refusal> {
    let Some((now, _)) = labels_of(&place.forge, on).await? else {
        return Ok(done());
    };
    let still = still(&now, add, remove);
    let add: Vec<&str> = still.lost.iter().map(String::as_str).collect();
    let remove: Vec<&str> = still.got.iter().map(String::as_str).collect();
    place.forge.set_labels(on, &add, &remove).await?;
    Ok(done())
}

async fn drop_lessons(going: &Going<'_>, row: &Firing) -> Result<Stands, Refusal> {
    let revert = Revert {
        firing: Some(row.id.to_string()),
        reason: Some("an operator took its firing back".to_owned()),
        ..Revert::default()
    };
    let lessons = revert.answer(going.home).await?.lessons;
    let told: usize = lessons.iter().map(|lesson| lesson.seen_by.len()).sum();
    let said = (told > 0).then(|| format!("sessions were told them {told} times"));
    Ok((UndoState::Done, said))
}

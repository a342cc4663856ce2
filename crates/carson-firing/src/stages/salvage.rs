//! Nothing lost: whatever changed goes to a pushed branch, or under a kept ref.
//!
//! Every step may be repeated: the same firing concluded twice pushes nothing twice.

use std::time::Duration;

use carson_bench::bench::{Bench, MARKER};
use carson_bench::commit_trailers::trailers;
use carson_core::settle::Settled;
use carson_core::work::WorkKey;
use carson_core::{Outcome, Stage};
use carson_git::{GitError, Oid, OwnCommit, Salvaged, Seen, Signer};
use carson_store::Judged;
use tracing::{error, info, warn};

use super::{leaving, verify, wanted};
use crate::ctx::Ctx;
use crate::forge_text::one_line;
use crate::reached::{GoesOn, Place, Reached, Taken};
use crate::saved::Saved;
use crate::searched_ahead::Ahead;

/// Time between SIGTERM and SIGKILL for what the sessions may have left running.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) async fn run(ctx: &Ctx<'_>, reached: &mut Reached<'_>, settled: &Settled) -> Saved {
    let entered = ctx.enter(Stage::Salvage);
    // Whoever salvages removes the bench afterwards: nobody may be left in there by then.
    let (saved, (), ()) = tokio::join!(save(ctx, reached, settled), entered, nobody_is_left(ctx));
    saved
}

/// Ends what its sessions may have left running.
async fn nobody_is_left(ctx: &Ctx<'_>) {
    let bench = Bench::of(ctx.home, ctx.id);
    if bench.root.is_dir() && !bench.is_locked() {
        carson_proc::reap_marked(MARKER, &ctx.id.to_string(), GRACE).await;
    }
}

async fn save(ctx: &Ctx<'_>, reached: &mut Reached<'_>, settled: &Settled) -> Saved {
    let mut saved = reached.far.clone().unwrap_or_default();
    let Some(place) = &mut reached.place else {
        return saved;
    };
    if settled.outcome == Outcome::Ok
        && let Some(taken) = &reached.taken
        && let Some(mends) = &taken.mends
    {
        joins(ctx, place, (taken, &mends.branch), &mut saved).await;
    }
    let seen = match place.inspect().await {
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
    let work = reached.taken.as_ref();
    let work = work.map_or(WorkKey::None, |taken| taken.work.key);
    let aside = take_up(ctx, place, (settled, work), &seen, &mut saved).await;
    let tip = place
        .worktree
        .tip()
        .await
        .unwrap_or_else(|_| seen.tip().clone());
    saved.work = Some(tip.clone());
    // Earlier work to which nothing was added is where it was; finished, it is offered all the same.
    if !place.is_begin(&tip) || settled.outcome == Outcome::Ok && tip != place.worktree.base {
        let taken = reached.taken.as_ref();
        let ahead = place.ahead.take();
        let work = (&*seen, &tip);
        deliver(ctx, place, taken, settled, work, ahead, &mut saved).await;
    }
    name_inside(&seen, &mut saved).await;
    keep_beside(ctx, &seen, &tip, &mut saved).await;
    keep_let_go(ctx, &seen, &tip, &mut saved).await;
    keep_hidden(
        ctx,
        place,
        &seen,
        aside.as_ref().unwrap_or(&tip),
        &mut saved,
    )
    .await;
    compare(&seen, &mut saved).await;
    saved
}

/// What mends a pull request goes to its branch once it is finished; until then it has one of its own.
async fn joins(
    ctx: &Ctx<'_>,
    place: &mut Place,
    (taken, branch): (&Taken<'_>, &str),
    saved: &mut Saved,
) {
    let number = taken.work.key.number().unwrap_or_default();
    // A firing that died before may be concluded long after its end was settled.
    let (base, tip) = (&place.worktree.base, place.worktree.tip().await);
    let ours: Vec<&Oid> = [base].into_iter().chain(tip.as_ref().ok()).collect();
    let why = wanted::of_pull(ctx, taken, number, &ours).await;
    if let Some(why) = why {
        let told = format!("it is not added to #{number}: {why}");
        saved.trouble.push(told);
        return;
    }
    let noted = ctx.as_firing().set_goes_on(branch);
    ctx.best_effort("the branch that it goes on with", noted)
        .await;
    place.goes_on = Some(GoesOn {
        branch: branch.to_owned(),
        at: Some(place.worktree.base.clone()),
    });
}

/// What was kept is known by its trees: no step that went well says that it had everything.
async fn compare(seen: &Seen, saved: &mut Saved) {
    if !seen.facts().trouble.is_empty() {
        return;
    }
    let why = match seen.is_salvaged().await {
        Ok(Salvaged::Yes) => return,
        Ok(Salvaged::No { why }) => why,
        Err(error) => error.to_string(),
    };
    let told = format!("not all of it is kept elsewhere, and its workspace stays: {why}");
    saved.trouble.push(told);
}

/// Pushes the branch where it may leave, and keeps it here where it was not pushed.
async fn deliver(
    ctx: &Ctx<'_>,
    place: &Place,
    taken: Option<&Taken<'_>>,
    settled: &Settled,
    (seen, tip): (&Seen, &Oid),
    ahead: Option<Ahead>,
    saved: &mut Saved,
) {
    // Commits that change nothing are nothing to read, and one from before the base is no work.
    let is_empty = tip == seen.tip() && seen.brings_nothing();
    // Nobody granted more to who makes no commits: what it left is kept, and no branch is made of it. Nor
    // is one made of a second try that is not the better one.
    if let Some(taken) = taken
        && ctx.role.makes_commits()
        && (taken.first.is_none() || settled.outcome == Outcome::Ok)
        && leaving::may(ctx, taken, settled, seen, saved, ahead).await
        && !is_empty
    {
        push(ctx, place, (taken, settled), tip, saved).await;
    }
    if saved.pushed.is_none() {
        keep(ctx, place, tip, saved).await;
    }
}

/// Commits what lies uncommitted. Beside finished work it is kept aside, out of the pull request: then
/// the commit; else it is part of the unfinished work.
async fn take_up(
    ctx: &Ctx<'_>,
    place: &Place,
    (settled, work): (&Settled, WorkKey),
    seen: &Seen,
    saved: &mut Saved,
) -> Option<Oid> {
    let tree = seen.facts();
    if !tree.dirty && !tree.head_strayed {
        return None;
    }
    let message = format!(
        "Unfinished work of firing {}\n\n{}\n\n{}",
        ctx.id,
        ctx.home.redactor.redact(&settled.reason),
        trailers(ctx.id, &ctx.role.name, work).join("\n")
    );
    let taken = if settled.outcome == Outcome::Ok {
        aside(ctx, place, seen, &message, saved).await
    } else {
        seen.snapshot(&message).await.map(|_| None)
    };
    taken.unwrap_or_else(|error| {
        stays(ctx, place, &error, saved);
        None
    })
}

fn stays(ctx: &Ctx<'_>, place: &Place, error: &GitError, saved: &mut Saved) {
    error!(firing.id = %ctx.id, %error, "uncommitted work could not be taken up");
    saved.trouble.push(format!(
        "uncommitted work stays in {}: {error}",
        place.bench.tree().display()
    ));
}

/// What only the session's own ignore rules hide is named and kept here; it never leaves by itself.
async fn keep_hidden(ctx: &Ctx<'_>, place: &Place, seen: &Seen, on: &Oid, saved: &mut Saved) {
    let Some(hidden) = seen.hidden() else { return };
    let message = format!("What new ignore rules hid in firing {}", ctx.id);
    let kept = match seen.snapshot_hidden(on, &message).await {
        Ok(Some(oid)) => {
            let kept = place.worktree.kept();
            kept.keep_ref(&ctx.id.to_string(), &oid).await.map(Some)
        }
        Ok(None) => Ok(None),
        Err(error) => Err(error),
    };
    let how = match &kept {
        Ok(Some(kept)) => format!("kept under {kept}"),
        Ok(None) => "not kept".to_owned(),
        Err(_) => "not committed".to_owned(),
    };
    let told = format!("its new ignore rules hide what it made ({hidden}): {how}");
    saved.trouble.push(told);
    match kept {
        Ok(Some(kept)) => note_ref(ctx, kept, saved).await,
        Ok(None) => {}
        Err(error) => stays(ctx, place, &error, saved),
    }
}

async fn aside(
    ctx: &Ctx<'_>,
    place: &Place,
    seen: &Seen,
    message: &str,
    saved: &mut Saved,
) -> Result<Option<Oid>, GitError> {
    let taken = seen.snapshot_aside(message).await?;
    if let Some(oid) = &taken {
        let kept = place.worktree.kept();
        let kept = kept.keep_ref(&ctx.id.to_string(), oid).await?;
        note_ref(ctx, kept, saved).await;
    }
    Ok(taken)
}

/// Commits that the work does not have leave with no pull request: each gets a ref of its own.
async fn keep_beside(ctx: &Ctx<'_>, seen: &Seen, tip: &Oid, saved: &mut Saved) {
    let kept = match seen.keep_beside(&ctx.id.to_string(), tip).await {
        Ok(kept) => kept,
        Err(error) => {
            let why = format!("commits beside the work could not be kept: {error}");
            saved.trouble.push(why);
            return;
        }
    };
    for (branch, kept) in kept {
        let told = format!("what it committed on {branch} is kept under {kept}");
        saved.trouble.push(told);
        if saved.kept_ref.is_none() {
            note_ref(ctx, kept, saved).await;
        }
    }
}

/// Commits that the session moved away from, or put aside, are kept however it ended; those whose changes
/// the work does not have are named.
async fn keep_let_go(ctx: &Ctx<'_>, seen: &Seen, tip: &Oid, saved: &mut Saved) {
    match seen.keep_missing(tip).await {
        Ok(None) => {}
        Ok(Some(kept)) => {
            let told =
                format!("commits that it moved away from, or a stash, are kept under {kept}");
            saved.trouble.push(told);
            if saved.kept_ref.is_none() {
                note_ref(ctx, kept, saved).await;
            }
        }
        Err(error) => {
            let why = format!("commits that it moved away from could not be kept: {error}");
            saved.trouble.push(why);
        }
    }
}

/// Says where commits of repositories inside are kept. Whether all of them are, [`compare`] says.
async fn name_inside(seen: &Seen, saved: &mut Saved) {
    let inside = seen.kept_inside().await.unwrap_or_default();
    let Some((dir, kept)) = inside.first() else {
        return;
    };
    let more = match inside.len() {
        1 => "",
        _ => ", and more beside it",
    };
    let told = format!("commits of the repository {dir} inside are kept under {kept}{more}");
    saved.trouble.push(told);
}

async fn note_ref(ctx: &Ctx<'_>, kept: String, saved: &mut Saved) {
    let written = ctx.as_firing().set_salvage_ref(&kept);
    ctx.best_effort("the kept ref", written).await;
    saved.kept_ref = Some(kept);
}

async fn push(
    ctx: &Ctx<'_>,
    place: &Place,
    (taken, settled): (&Taken<'_>, &Settled),
    tip: &Oid,
    saved: &mut Saved,
) {
    // Who was taken for dead pushes nothing that somebody else has by now; work that is put aside is its own.
    if place.aside.is_none()
        && let Err(error) = ctx.as_firing().acts().await
    {
        saved.trouble.push(format!("nothing was pushed: {error}"));
        return;
    }
    let leaves = match marked(ctx, place, (taken, settled), tip).await {
        Ok(tip) => signed(ctx, place, &tip).await,
        Err(why) => Err(why),
    };
    let leaves = match leaves {
        Ok(copy) => copy,
        Err(why) => {
            saved.held = Some(format!("nothing was pushed: {why}"));
            return;
        }
    };
    let (branch, protected) = (place.pushed_as(), &taken.repo.protected);
    match place.worktree.kept().push(branch, &leaves, protected).await {
        Ok(_) => {
            info!(firing.id = %ctx.id, branch, commit = %leaves, "branch pushed");
            verify::record_judged(ctx, Judged::Pushed, &leaves).await;
            saved.pushed = Some(leaves);
        }
        Err(error) => {
            warn!(firing.id = %ctx.id, %error, "the branch could not be pushed");
            saved
                .trouble
                .push(format!("the branch could not be pushed: {error}"));
        }
    }
}

/// What leaves in the place of work on a story: of what is finished, the same with one commit of Carson's own on top,
/// in which the plan says so; or why nothing does.
async fn marked(
    ctx: &Ctx<'_>,
    place: &Place,
    (taken, settled): (&Taken<'_>, &Settled),
    tip: &Oid,
) -> Result<Oid, String> {
    let WorkKey::Story(id) = taken.work.key else {
        return Ok(tip.clone());
    };
    if settled.outcome != Outcome::Ok {
        return Ok(tip.clone());
    }
    let Some(story) = &taken.story else {
        return Err("the plan of its story cannot be read any more".to_owned());
    };
    let (name, email) = ctx.role.git_identity();
    let trailers = trailers(ctx.id, &ctx.role.name, taken.work.key).join("\n");
    let message = format!("Story {id} is passing\n\n{trailers}\n");
    let own = OwnCommit {
        file: &story.file,
        content: story.passing.as_bytes(),
        message: &message,
        who: (&name, email),
    };
    let made = place.worktree.with_own_commit(tip, &own).await;
    made.map_err(|error| {
        warn!(firing.id = %ctx.id, %error, "the plan could not be marked");
        format!(
            "its story could not be marked in {}: {error}",
            one_line(&story.file)
        )
    })
}

/// What leaves in place of a commit where signatures are asked for, or why nothing does: in words for people,
/// who need not know where a key lies.
async fn signed(ctx: &Ctx<'_>, place: &Place, tip: &Oid) -> Result<Oid, String> {
    let Some(key) = &ctx.role.signing else {
        return match place.worktree.is_to_be_signed().await {
            Ok(false) => Ok(tip.clone()),
            Ok(true) => Err(
                "its commits were to be signed, and the settings name no key for that now"
                    .to_owned(),
            ),
            Err(error) => Err(format!("nobody knows whether it is to be signed: {error}")),
        };
    };
    let (name, email) = ctx.role.git_identity();
    let signer = Signer {
        key,
        name: &name,
        email,
    };
    place.worktree.signed(tip, &signer).await.map_err(|error| {
        warn!(firing.id = %ctx.id, %key, %error, "the branch could not be signed");
        match error {
            GitError::NotSigned { .. } => {
                "the role's signing key does not sign (`carson doctor` says why)".to_owned()
            }
            error => error.to_string(),
        }
    })
}

async fn keep(ctx: &Ctx<'_>, place: &Place, tip: &Oid, saved: &mut Saved) {
    let kept = place.worktree.kept();
    match kept.keep_ref(&ctx.id.to_string(), tip).await {
        Ok(kept) => note_ref(ctx, kept, saved).await,
        Err(error) => {
            error!(firing.id = %ctx.id, %error, "no ref could be kept; the worktree stays");
            saved.trouble.push(format!("no ref could be kept: {error}"));
        }
    }
}

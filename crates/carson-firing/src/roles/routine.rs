//! A role that works without an issue, at every slot: documentation, dependencies, housekeeping. Its
//! task is in its settings or its prompts.

use carson_config::{Repo, Role};
use carson_core::settle::{Goal, Halt};
use carson_core::work::{Background, WorkKey};
use carson_core::{Effect, Stage, Work};
use carson_store::{Store, StoreError};
use tracing::info;

use super::effects;
use super::kind::{Closing, Kind};
use super::repositories::{check, forge_of, full, open_to};
use crate::ctx::Ctx;
use crate::reached::Taken;
use crate::record::Record;
use carson_home::halt::OrBroken;

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(pick(ctx, rec)),
    look: None,
    goal,
    effects,
};

pub(super) fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    let pull = effects::open_pull(closing).into_iter();
    pull.chain(effects::asked_for(closing)).collect()
}

/// One that only reads says what it found.
fn goal(role: &Role) -> Goal {
    match role.stages.contains(&Stage::Execute) {
        true => Goal::Commits,
        false => Goal::Text,
    }
}

/// Takes the repository that the role has not been in for the longest time.
pub(super) async fn pick<'h>(ctx: &Ctx<'h>, rec: &mut Record) -> Result<Taken<'h>, Halt> {
    let next = next_repo(ctx.store(), ctx.role, open_to(ctx).await?).await;
    let next = next.or_broken("reading the role's firings")?;
    let repo = next.ok_or(Halt::NothingToDo)?;
    let forge = forge_of(ctx, rec, repo).await?;
    if let Some(full) = full(ctx, rec, repo, &forge).await? {
        return Err(Halt::Skipped(full.reason));
    }
    check(ctx, rec, repo, &forge).await?;
    let title = ctx.role.title.clone();
    let key = WorkKey::None;
    let taken = ctx.as_firing().take_work(&repo.name, key, &title).await;
    if !taken.or_broken("taking the work")? {
        return Err(Halt::NothingToDo);
    }
    info!(firing.id = %ctx.id, repo = %repo.name, "the role's own task");
    let work = Work {
        key,
        title,
        body: ctx.role.work.task.clone(),
        url: String::new(),
        attempts: 0,
        background: Background::default(),
    };
    Ok(Taken::new(repo, forge, work))
}

/// The one of them that the role has not been in for the longest time.
pub(crate) async fn next_repo<'h>(
    store: &Store,
    role: &Role,
    open: Vec<&'h Repo>,
) -> Result<Option<&'h Repo>, StoreError> {
    let mut last = Vec::new();
    for repo in open {
        last.push((store.last_in(&role.name, &repo.name).await?, repo));
    }
    // Of those that are equally old the first one: never before anything else.
    Ok(last
        .into_iter()
        .min_by_key(|(at, _)| *at)
        .map(|(_, repo)| repo))
}

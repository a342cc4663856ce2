//! The repositories that a firing may work in.

use carson_config::Repo;
use carson_core::RepoName;
use carson_core::admission::SkipReason;
use carson_core::settle::Halt;
use carson_forge::Forge;

use crate::ctx::Ctx;
use crate::record::Record;
use carson_bench::sandbox_profile;
use carson_home::halt::{OrBroken, describe_error};

/// Those of the role, in its order, that nobody paused.
pub(super) async fn open_to<'h>(ctx: &Ctx<'h>) -> Result<Vec<&'h Repo>, Halt> {
    let paused = ctx.store().paused_repos(ctx.now()).await;
    let paused = paused.or_broken("reading the pauses")?;
    let wanted = ctx.wanted.repo.as_ref();
    Ok(ctx
        .role
        .repos
        .iter()
        .filter(|name| wanted.is_none_or(|wanted| wanted == *name) && !paused.contains(name))
        .filter_map(|name| ctx.home.fleet.repos.get(name))
        .collect())
}

/// The forge of a repository.
pub(super) async fn forge_of(ctx: &Ctx<'_>, rec: &mut Record, repo: &Repo) -> Result<Forge, Halt> {
    let forge = ctx.home.forge(repo).await;
    forge.map_err(|error| away(rec, repo, describe_error(&error)))
}

/// Nothing was taken yet: a forge that cannot be asked costs a slot, and counts against nobody.
pub(super) fn away(rec: &mut Record, repo: &Repo, why: String) -> Halt {
    carson_checks::refuse(&mut rec.checks, format!("repo.{}.forge", repo.name), why)
}

/// There is work: what it needs is checked, while the walls' grants are found out.
pub(super) async fn check(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    repo: &Repo,
    forge: &Forge,
) -> Result<(), Halt> {
    review_queue(ctx, &repo.name, forge).await?;
    let home = ctx.home.clone();
    drop(tokio::task::spawn_blocking(move || {
        sandbox_profile::prepare(&home);
    }));
    let account = rec.required_account(ctx)?;
    carson_checks::with_work(&ctx.firing(), &mut rec.checks, account, repo, forge).await
}

/// People's review capacity is the fleet's real bottleneck.
async fn review_queue(ctx: &Ctx<'_>, repo: &RepoName, forge: &Forge) -> Result<(), Halt> {
    let prefix = format!("carson/{}/", ctx.role.name);
    let open = forge.open_pulls_of(&prefix).await;
    let open = open.or_broken("listing the pull requests")?;
    let ready = open.iter().filter(|pull| !pull.draft).count();
    // Those that the forge does not take now will be there for people to read, too.
    let owed = ctx.store().owed_of(&ctx.role.name, repo).await;
    let owed = owed.or_broken("reading what is owed to the forge")?;
    let ready = ready
        + owed
            .iter()
            .filter(|owed| owed.effect.asks_for_review())
            .count();
    let ready = u32::try_from(ready).unwrap_or(u32::MAX);
    if ready >= ctx.role.limits.max_open_prs {
        return Err(Halt::Skipped(SkipReason::open_pull_requests(ready)));
    }
    Ok(())
}

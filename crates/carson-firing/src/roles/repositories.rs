//! The repositories that a firing may work in.

use carson_config::{Repo, Role};
use carson_core::RepoName;
use carson_core::admission::SkipReason;
use carson_core::settle::Halt;
use carson_forge::{Forge, ForgeError};
use carson_store::StoreError;

use crate::ctx::Ctx;
use crate::record::Record;
use carson_bench::sandbox_profile;
use carson_home::Home;
use carson_home::halt::{Hinted, OrBroken, describe_error};

/// Those of a role, in its order, or the one that is wanted of them.
pub(crate) struct Open<'h> {
    /// Nobody paused these.
    pub repos: Vec<&'h Repo>,
    /// Somebody paused the others: why nothing is left.
    pub closed: Option<SkipReason>,
}

impl<'h> Open<'h> {
    pub(crate) async fn of(
        home: &'h Home,
        role: &Role,
        wanted: Option<&RepoName>,
    ) -> Result<Self, StoreError> {
        let paused = home.store.paused_repos(home.clock.now()).await?;
        let repos = role.repos.iter();
        let (shut, open): (Vec<_>, Vec<_>) = repos
            .filter(|name| wanted.is_none_or(|wanted| wanted == *name))
            .partition(|name| paused.contains_key(name));
        let pause = shut.first().and_then(|name| paused.get(name));
        Ok(Self {
            closed: pause.filter(|_| open.is_empty()).map(SkipReason::paused),
            repos: open
                .into_iter()
                .filter_map(|name| home.fleet.repos.get(name))
                .collect(),
        })
    }
}

/// Those that a firing may work in.
pub(super) async fn open_to<'h>(ctx: &Ctx<'h>) -> Result<Vec<&'h Repo>, Halt> {
    let open = Open::of(ctx.home, ctx.role, ctx.wanted.repo.as_ref()).await;
    let open = open.or_broken("reading the pauses")?;
    match open.closed {
        Some(reason) => Err(Halt::Skipped(reason)),
        None => Ok(open.repos),
    }
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
    let queue = review_queue(ctx.home, ctx.role, &repo.name, forge).await;
    if let Some(reason) = queue.or_broken("counting what waits for review")? {
        return Err(Halt::Skipped(reason));
    }
    let home = ctx.home.clone();
    drop(tokio::task::spawn_blocking(move || {
        sandbox_profile::prepare(&home);
    }));
    let account = rec.required_account(ctx)?;
    carson_checks::with_work(&ctx.firing(), &mut rec.checks, account, repo, forge).await
}

/// People's review capacity is the fleet's real bottleneck: whether they have enough of the role's
/// pull requests to read.
pub(crate) async fn review_queue(
    home: &Home,
    role: &Role,
    repo: &RepoName,
    forge: &Forge,
) -> Result<Option<SkipReason>, QueueError> {
    let open = forge
        .open_pulls_of(&format!("carson/{}/", role.name))
        .await?;
    // Those that the forge does not take now will be there for people to read, too.
    let owed = home.store.owed_of(&role.name, repo).await?;
    let owed = owed.iter().filter(|owed| owed.effect.asks_for_review());
    let ready = open.iter().filter(|pull| !pull.draft).count() + owed.count();
    let ready = u32::try_from(ready).unwrap_or(u32::MAX);
    let is_full = ready >= role.limits.max_open_prs;
    Ok(is_full.then(|| SkipReason::open_pull_requests(ready)))
}

/// The pull requests could not be counted.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error("the pull requests cannot be listed")]
    Forge(#[from] ForgeError),
    #[error("what is owed to the forge cannot be read")]
    Store(#[from] StoreError),
}

impl Hinted for QueueError {
    fn hint(&self) -> &str {
        match self {
            Self::Forge(error) => error.hint(),
            Self::Store(error) => error.hint(),
        }
    }
}

//! The repositories that a firing may work in.

use carson_config::{Repo, Role};
use carson_core::RepoName;
use carson_core::admission::SkipReason;
use carson_core::settle::Halt;
use carson_forge::Forge;
use carson_store::StoreError;

use crate::asked_forge::AskedForge;
use crate::ctx::Ctx;
use crate::record::Record;
use crate::review_queue::{self, Full};
use carson_bench::sandbox_profile;
use carson_checks::know_sandbox;
use carson_home::Home;
use carson_home::halt::{OrBroken, describe_error};

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

/// An answer of the forge's before anything is taken. One that stays away in the middle of it is as one that
/// was away before; what it refuses is somebody's to mend.
pub(super) fn asked<T, E: AskedForge>(
    rec: &mut Record,
    repo: &Repo,
    what: &str,
    answer: Result<T, E>,
) -> Result<T, Halt> {
    match answer {
        Err(error) if error.is_away() => {
            let why = format!("{what}: {}", describe_error(&error));
            Err(away(rec, repo, why))
        }
        answer => answer.or_broken(what),
    }
}

/// Whether people have enough to read there.
pub(super) async fn full(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    repo: &Repo,
    forge: &Forge,
) -> Result<Option<Full>, Halt> {
    let full = review_queue::look(ctx.home, ctx.role, repo, forge).await;
    asked(rec, repo, "counting what waits for review", full)
}

/// There is work: what it needs is checked, while the walls' grants are found out.
pub(super) async fn check(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    repo: &Repo,
    forge: &Forge,
) -> Result<(), Halt> {
    know_sandbox(ctx.home).await;
    sandbox_profile::prepare(ctx.home);
    let account = match ctx.role.kind.has_sessions() {
        true => Some(rec.required_account(ctx)?),
        false => None,
    };
    carson_checks::with_work(&ctx.firing(), &mut rec.checks, account, repo, forge).await
}

//! Worktree, branch, bench; the mirror was fetched when the work was found.

use carson_config::Repo;
use carson_core::Stage;
use carson_core::settle::Halt;
use carson_core::text::counted;
use carson_core::work::WorkKey;
use carson_git::{Mirror, Oid, Worktree, branch_name};
use tracing::warn;

use super::go_on;
use super::pick::Picked;
use crate::ctx::Ctx;
use crate::guidance;
use crate::identity_check;
use crate::placed::Placed;
use crate::reached::{Place, Taken};
use crate::record::Record;
use crate::setup;
use crate::site::Site;
use crate::toolchains;
use carson_bench::bench::Bench;
use carson_bench::commit_trailers::trailers;
use carson_bench::layers::{self, Held, Source};
use carson_home::Home;
use carson_home::halt::OrBroken;

pub(crate) async fn run<'r, 'h>(
    ctx: &Ctx<'h>,
    rec: &mut Record,
    reached: &'r mut Option<Place>,
    picked: Picked<'r, 'h>,
) -> Result<Placed<'r, 'h>, Halt> {
    let entered = ctx.enter(Stage::Workspace);
    let taken = picked.taken;
    let mirror = ctx.home.mirror(taken.repo);
    // Whoever finds the firing dead goes by its stage, once there is anything of it here.
    let (ground, ()) = tokio::join!(ground(ctx, taken, &mirror), entered);
    let (base, layers) = ground?;
    let bench = Bench::of(ctx.home, ctx.id);
    bench.create(ctx.role).or_broken("making the bench")?;
    let work = match taken.work.key {
        WorkKey::None => String::new(),
        key => key.to_string(),
    };
    let branch = branch_name(ctx.role.name.as_str(), &work, &ctx.id.short());
    rec.open_proxy(ctx, &bench.root)?;
    // The row knows the place before the place exists: whatever dies in between, recovery looks
    // there and finds either nothing or the worktree.
    let noted = ctx
        .as_firing()
        .set_place(&branch, base.as_str(), &bench.root)
        .await;
    noted.or_broken("noting the place")?;
    let layers = match layers {
        Some(held) => {
            let site = Site {
                repo: taken.repo,
                mirror: &mirror,
                base: &base,
                bench: &bench,
            };
            setup::complete(ctx, rec, &site, held).await?
        }
        None => None,
    };
    let source = match (&layers, &taken.at) {
        (None, None) => layers::source(ctx.home, ctx.role, taken.repo, &mirror, &base).await,
        _ => None,
    };
    let mut bench = bench.on(layers.as_ref().map(|held| held.stand.clone()));
    bench.create(ctx.role).or_broken("making the bench")?;
    let at = (branch.as_str(), &base);
    let cloned = match &source {
        Some(source) => clone(ctx, source, (&mirror, &bench), at).await,
        None => None,
    };
    let worktree = match cloned {
        Some(worktree) => {
            bench = bench.cloned(true);
            setup::include(rec, taken.repo, &bench)?;
            let told = bench.tell_git(ctx.home, &taken.repo.include, &base);
            told.or_broken("telling git what is not work")?;
            worktree
        }
        None => worktree((ctx.home, rec), taken.repo, (&mirror, &bench), at).await?,
    };
    drop(source);
    let trailers = trailers(ctx.id, &ctx.role.name, taken.work.key);
    let signed = bench.end_messages_with(&trailers);
    signed.or_broken("telling git what commits say")?;
    // From here on the worktree's own note keeps what it stands on.
    drop(layers);
    let place = reached.insert(Place::new(mirror, worktree, bench));
    if ctx.role.signing.is_some() {
        let noted = place.worktree.must_be_signed().await;
        noted.or_broken("noting that its commits are to be signed")?;
    }
    let given = taken.repo.include.iter().map(|file| file.to.as_path());
    let noted = place.worktree.note_given(given);
    noted.or_broken("noting where included files lie")?;
    carson_checks::note_checkout(&ctx.firing(), taken.repo, &place.worktree).await;
    let runs = taken.at.is_none() || ctx.role.makes_commits();
    let needs_setup = runs && !taken.repo.setup.lines.is_empty();
    if place.bench.layered().is_none() && needs_setup {
        let site = Site {
            repo: taken.repo,
            mirror: &place.mirror,
            base: &base,
            bench: &place.bench,
        };
        let worktree = &place.worktree;
        worktree.begin_setup().or_broken("beginning the setup")?;
        setup::in_copy(ctx, rec, (&site, &worktree.branch)).await?;
        // What is not noted counts as a session's: it is kept.
        match worktree.note_residue().await {
            Ok(0) => {}
            Ok(count) => {
                let what = counted(count, "place");
                let why = format!("it left {what} in the workspace that nobody may read");
                layers::note_copy(ctx.home, taken.repo, Some(&why));
                return Err(setup::refuse(rec, taken.repo, &why));
            }
            Err(error) => {
                warn!(firing.id = %ctx.id, %error, "what the setup left is not told from work");
            }
        }
        worktree.end_setup().or_broken("ending the setup")?;
    }
    if runs {
        let site = Site {
            repo: taken.repo,
            mirror: &place.mirror,
            base: &base,
            bench: &place.bench,
        };
        toolchains::resolve(ctx, rec, &site).await?;
    }
    let earlier = async {
        match ctx.role.makes_commits() && taken.first.is_none() {
            true => go_on::find(ctx, taken, &place.mirror).await,
            false => None,
        }
    };
    let (earlier, guidance, protected) = tokio::join!(
        earlier,
        guidance::of_base(&place.mirror, &base),
        protected(ctx, taken.repo, &place.mirror),
    );
    let protected = protected?;
    let mut placed = Placed {
        taken,
        protected,
        guidance,
        lessons: String::new(),
        proposals: None,
        place,
        failed_before: None,
    };
    if let Some(earlier) = earlier {
        go_on::bring(ctx, rec, &mut placed, earlier).await?;
    }
    identity_check::run(ctx, rec, &placed).await?;
    Ok(placed)
}

/// The commit with which its work begins, and the layers on which its workspace stands.
async fn ground(
    ctx: &Ctx<'_>,
    taken: &Taken<'_>,
    mirror: &Mirror,
) -> Result<(Oid, Option<Held>), Halt> {
    let base = match (&taken.at, &taken.story) {
        // Who only judges a pull request runs nothing of what others share.
        (Some(at), _) => return Ok((at.clone(), None)),
        // The base may have moved since: the work begins where its plan was read.
        (None, Some(story)) => story.base.clone(),
        (None, None) => mirror
            .resolve(&taken.repo.base)
            .await
            .or_broken("finding the base branch")?,
    };
    let layers = layers::stand(ctx.home, ctx.role, taken.repo, mirror, &base).await;
    Ok((base, layers))
}

/// What its sessions push to no branch of: the settings' patterns and, where nothing but the hook keeps them
/// from pushing, the branch that the remote's HEAD names. Where Carson pushes from outside of their walls, it
/// asks for that itself.
async fn protected(ctx: &Ctx<'_>, repo: &Repo, mirror: &Mirror) -> Result<Vec<String>, Halt> {
    let mut protected = repo.protected.clone();
    if ctx.role.confinement.may_push() {
        let default = mirror.default_branch().await;
        protected.extend(default.or_broken("asking for the remote's own branch")?);
    }
    Ok(protected)
}

/// The worktree as a clone; `None` where it could not be made, and is to be a copy.
async fn clone(
    ctx: &Ctx<'_>,
    source: &Source,
    (mirror, bench): (&Mirror, &Bench),
    (branch, base): (&str, &Oid),
) -> Option<Worktree> {
    let tree = bench.tree();
    match mirror.add_cloned(&tree, branch, base, &source.layer).await {
        Ok(made) => Some(made),
        Err(error) => {
            warn!(firing.id = %ctx.id, %error, "the workspace is a copy: it could not be cloned");
            for half in [tree, bench.repository()] {
                if let Err(error) = bench.remove_dir(ctx.home, &half).await {
                    warn!(firing.id = %ctx.id, %error, "half of a workspace stays");
                }
            }
            None
        }
    }
}

/// The worktree with what is included, above its layers or as a copy.
async fn worktree(
    (home, rec): (&Home, &mut Record),
    repo: &Repo,
    (mirror, bench): (&Mirror, &Bench),
    (branch, base): (&str, &Oid),
) -> Result<Worktree, Halt> {
    let tree = bench.tree();
    if !bench.stands() {
        let made = mirror.add_worktree(&tree, branch, base).await;
        let made = made.or_broken("making the worktree")?;
        setup::include(rec, repo, bench)?;
        let told = bench.tell_git(home, &repo.include, base);
        told.or_broken("telling git what is not work")?;
        return Ok(made);
    }
    setup::include(rec, repo, bench)?;
    let Some(layered) = bench.layered() else {
        return Err(Halt::Broken("the layers are gone".to_owned()));
    };
    let made = mirror.add_layered(&tree, branch, base, &layered).await;
    let made = made.or_broken("making the worktree")?;
    let told = bench.tell_git(home, &repo.include, base);
    told.or_broken("telling git what is not work")?;
    Ok(made)
}

//! People may take work back while a firing holds it: they close the issue, do it themselves, or put a
//! label on it that keeps the fleet away.

use carson_core::admission::SkipReason;
use carson_core::settle::Halt;
use carson_core::work::WorkKey;
use carson_forge::{ForgeError, PullState, Review, State, why_withdrawn};
use carson_git::Oid;
use tracing::warn;

use crate::ctx::Ctx;
use crate::forge_text::one_line;
use crate::reached::Taken;
use crate::roles::pulls;

/// Goes on while the work is wanted. A forge that does not answer now has not said no.
pub(crate) async fn still(ctx: &Ctx<'_>, taken: &Taken<'_>) -> Result<(), Halt> {
    let number = match (taken.work.key, &taken.at) {
        (WorkKey::Issue(number), _) => number,
        (WorkKey::Pull(number), Some(at)) if ctx.role.makes_commits() => {
            return match of_pull(ctx, taken, number, &[at]).await {
                Some(why) => Err(Halt::Skipped(SkipReason::withdrawn(&why))),
                None => Ok(()),
            };
        }
        _ => return Ok(()),
    };
    match withdrawn(ctx, taken, number, ctx.role.work.label()).await {
        Ok(None) => Ok(()),
        Ok(Some(why)) => Err(Halt::Skipped(SkipReason::withdrawn(&why))),
        Err(error) => {
            warn!(firing.id = %ctx.id, work.issue = number, %error, "nobody knows whether the work is still wanted");
            Ok(())
        }
    }
}

async fn withdrawn(
    ctx: &Ctx<'_>,
    taken: &Taken<'_>,
    number: u64,
    label: Option<&str>,
) -> Result<Option<String>, ForgeError> {
    let issue = match taken.forge.issue(number).await {
        Err(ForgeError::NotFound { .. }) => return Ok(Some("it is not there any more".to_owned())),
        issue => issue?,
    };
    let mut required = ctx.role.work.labels.iter();
    if let Some(lost) = required.find(|label| !issue.has(label)) {
        return Ok(Some(format!("its label {lost} was removed")));
    }
    let me = taken.forge.me().await?;
    Ok(match label {
        Some(label) => why_withdrawn(&issue, label, me),
        // Who takes every issue leaves alone what was closed.
        None => (issue.state != State::Open).then(|| "it was closed".to_owned()),
    })
}

/// Why a pull request is not to be mended any more: people ended it, took it up, said no, or pushed other
/// commits than ours meanwhile. A forge that does not answer now has not said so.
pub(crate) async fn of_pull(
    ctx: &Ctx<'_>,
    taken: &Taken<'_>,
    number: u64,
    ours: &[&Oid],
) -> Option<String> {
    match changed(ctx, taken, number, ours).await {
        Ok(why) => why,
        Err(error) => {
            warn!(firing.id = %ctx.id, pull.number = number, %error, "nobody knows whether it is still to be mended");
            None
        }
    }
}

async fn changed(
    ctx: &Ctx<'_>,
    taken: &Taken<'_>,
    number: u64,
    ours: &[&Oid],
) -> Result<Option<String>, ForgeError> {
    let forge = &taken.forge;
    let pull = forge.pull(number).await?;
    if pull.state != PullState::Open {
        return Ok(Some(format!("pull request #{number} was ended")));
    }
    if let Some(why) = pulls::kept(ctx.role, &pull, ctx.now()) {
        return Ok(Some(why));
    }
    let head = forge.pull_head(number).await?.sha;
    if !ours.iter().any(|own| own.as_str() == head) {
        return Ok(Some("somebody pushed to it".to_owned()));
    }
    let reviews = pulls::or_none(forge.reviews(number).await)?;
    let noes = pulls::objections(&reviews, forge.me().await?);
    let is_new = |no: &&Review| no.submitted_at.is_some_and(|at| at >= ctx.claimed_at);
    let meanwhile = noes.into_iter().find(is_new);
    Ok(meanwhile.map(|no| format!("{} asked for changes", one_line(&no.author))))
}

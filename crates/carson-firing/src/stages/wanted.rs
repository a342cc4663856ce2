//! People may take work back while a firing holds it: they close the issue, do it themselves, or put a
//! label on it that keeps the fleet away.

use carson_core::admission::SkipReason;
use carson_core::settle::Halt;
use carson_core::work::WorkKey;
use carson_forge::{ForgeError, State, why_withdrawn};
use tracing::warn;

use crate::ctx::Ctx;
use crate::reached::Taken;

/// Goes on while the work is wanted. A forge that does not answer now has not said no.
pub(crate) async fn still(ctx: &Ctx<'_>, taken: &Taken<'_>) -> Result<(), Halt> {
    let WorkKey::Issue(number) = taken.work.key else {
        return Ok(());
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

//! Which files a role may change: of who writes tests, those alone. It is asked of the commits, whatever a
//! session says.

use carson_config::CoverageSection;
use carson_core::settle::Halt;
use carson_git::{Oid, Sides};
use carson_home::halt::{OrBroken, describe_error};

use crate::ctx::Ctx;
use crate::forge_text::one_line;
use crate::placed::Placed;
use crate::reached::Place;

/// Files that a session hears of.
const TOLD: usize = 20;

/// What the commits up to this one change that they may not. What cannot be asked is not allowed.
pub(crate) async fn outside(asked: &CoverageSection, place: &Place, tip: &Oid) -> Vec<String> {
    let sides = Sides {
        head: tip.clone(),
        base: place.worktree.base.clone(),
    };
    match place.mirror.changed(&sides).await {
        Ok(changed) => {
            let strays = changed.iter().filter(|one| !asked.is_test(&one.path));
            strays.map(|one| one_line(&one.path)).collect()
        }
        Err(error) => vec![format!(
            "what it changed cannot be listed: {}",
            describe_error(&error)
        )],
    }
}

/// What a session hears that changed something else.
pub(super) async fn feedback(
    ctx: &Ctx<'_>,
    placed: &mut Placed<'_, '_>,
) -> Result<Option<String>, Halt> {
    let Some(asked) = &ctx.role.coverage else {
        return Ok(None);
    };
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    let outside = outside(asked, placed.place, seen.tip()).await;
    if outside.is_empty() {
        return Ok(None);
    }
    let files: Vec<String> = outside.into_iter().take(TOLD).collect();
    Ok(Some(format!(
        "Your commits change what is no test:\n{}\nOnly files that match one of these may change: {}. Take the \
         other changes back, in a further commit.",
        files.join("\n"),
        asked.tests.join(", ")
    )))
}

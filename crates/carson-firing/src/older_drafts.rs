//! Drafts of earlier firings, in whose place a newer pull request comes.
//!
//! A retry begins on a branch of its own: its base may have moved, and what failed is nothing to build
//! on. So each would leave a draft behind for ever. The branch of a closed one stays, with all that was saved.

use carson_core::Page;
use carson_core::effect::Draft;
use carson_forge::{ForgeError, PullState};
use carson_store::StoreError;

use crate::ctx::Ctx;
use crate::effects::{Bearer, OpenedPull};
use crate::reached::Taken;

/// How our comment on one begins.
const SUPERSEDED: &str = "A later firing of the same role worked on this anew: ";

/// Those of the role's earlier firings for the same work, as far as rows tell.
pub(crate) async fn of_work(ctx: &Ctx<'_>, taken: &Taken<'_>) -> Result<Vec<Draft>, StoreError> {
    if taken.work.key.number().is_none() {
        return Ok(Vec::new());
    }
    let rows = ctx.store().firings_of(&taken.repo.name, taken.work.key);
    let rows = rows.await?.into_iter();
    let earlier = rows.filter(|row| row.role == ctx.role.name && row.id != ctx.id);
    let draft = |row: carson_store::Firing| {
        Some(Draft {
            pull: row.pr_number?,
            branch: row.branch?,
            pushed: row.pushed_sha?,
        })
    };
    Ok(earlier.filter_map(draft).collect())
}

/// Closes those that nobody but the fleet has touched. Repeating it changes nothing.
pub(crate) async fn close(
    bearer: &Bearer<'_>,
    drafts: &[Draft],
    newer: &OpenedPull,
) -> Result<String, ForgeError> {
    let mut closed = Vec::new();
    for draft in drafts {
        if draft.pull != newer.number && close_one(bearer, draft, newer).await? {
            closed.push(format!("#{}", draft.pull));
        }
    }
    Ok(match closed.is_empty() {
        true => "none was open and untouched".to_owned(),
        false => closed.join(", "),
    })
}

async fn close_one(
    bearer: &Bearer<'_>,
    draft: &Draft,
    newer: &OpenedPull,
) -> Result<bool, ForgeError> {
    let forge = bearer.forge;
    let pull = match forge.pull(draft.pull).await {
        Err(ForgeError::NotFound { .. }) => return Ok(false),
        pull => pull?,
    };
    if pull.state != PullState::Open || !pull.draft {
        return Ok(false);
    }
    let me = forge.me().await?;
    let comments = forge.comments(draft.pull).await?;
    let mut ours = comments.iter().filter(|comment| {
        comment.author.eq_ignore_ascii_case(me) && comment.body.starts_with(SUPERSEDED)
    });
    let is_said = ours.next().is_some();
    let of_people = comments.len() > usize::from(is_said) + ours.count();
    if of_people || has_other_commits(bearer, draft).await {
        return Ok(false);
    }
    if !is_said {
        let note = Page::from(SUPERSEDED)
            .names(&newer.url)
            .says("\n\nIts branch `")
            .names(&draft.branch)
            .says("` stays.");
        forge.comment(draft.pull, note.as_str()).await?;
    }
    forge.close_pull(draft.pull).await?;
    Ok(true)
}

/// Whether a person may have pushed to its branch: what cannot be asked may have any commit.
async fn has_other_commits(bearer: &Bearer<'_>, draft: &Draft) -> bool {
    let mirror = bearer.home.mirror(bearer.repo);
    match mirror.remote_head(&draft.branch).await {
        Ok(now) => now.is_some_and(|now| now.as_str() != draft.pushed),
        Err(_) => true,
    }
}

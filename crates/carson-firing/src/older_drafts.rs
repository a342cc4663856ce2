//! Drafts of earlier firings, in whose place a newer pull request comes.
//!
//! A retry goes on with the draft of the attempt before it. One whose base has moved too far begins on a
//! branch of its own, and would leave a draft behind for ever. The branch of a closed one stays, with all that was saved.

use carson_config::Repo;
use carson_core::Page;
use carson_core::effect::Draft;
use carson_core::work::WorkKey;
use carson_forge::{Forge, ForgeError, PullState};
use carson_store::StoreError;

use crate::ctx::Ctx;
use crate::reached::Taken;
use carson_home::Home;

/// How our comment on one begins: without the line by which all others are found.
pub const SUPERSEDED: &str = "A later firing of the same role worked on this anew: ";

/// Those of the role's earlier firings for the same work, as far as rows tell.
pub(crate) async fn of_work(ctx: &Ctx<'_>, taken: &Taken<'_>) -> Result<Vec<Draft>, StoreError> {
    if taken.work.key == WorkKey::None {
        return Ok(Vec::new());
    }
    let rows = ctx.store().firings_of(&taken.repo.name, taken.work.key);
    let rows = rows.await?.into_iter();
    let earlier = rows.filter(|row| row.role == ctx.role.name && row.id != ctx.id);
    let draft = |row: carson_store::Firing| {
        Some(Draft {
            pull: row.pr_number?,
            branch: row.goes_on.or(row.branch)?,
            pushed: row.pushed_sha?,
        })
    };
    Ok(earlier.filter_map(draft).collect())
}

/// Where they are, and what comes in their place.
pub(crate) struct Closing<'a> {
    pub home: &'a Home,
    pub repo: &'a Repo,
    pub forge: &'a Forge,
    /// The newer pull request.
    pub number: u64,
    /// Where people find it.
    pub url: &'a str,
}

impl Closing<'_> {
    /// Closes those that nobody but the fleet has touched. Repeating it changes nothing.
    pub(crate) async fn close(&self, drafts: &[Draft]) -> Result<String, ForgeError> {
        let mut closed = Vec::new();
        for draft in drafts {
            if draft.pull != self.number && self.close_one(draft).await? {
                closed.push(format!("#{}", draft.pull));
            }
        }
        Ok(match closed.is_empty() {
            true => "none was open and untouched".to_owned(),
            false => closed.join(", "),
        })
    }

    async fn close_one(&self, draft: &Draft) -> Result<bool, ForgeError> {
        let pull = match self.forge.pull(draft.pull).await {
            Err(ForgeError::NotFound { .. }) => return Ok(false),
            pull => pull?,
        };
        if pull.state != PullState::Open || !pull.draft {
            return Ok(false);
        }
        let me = self.forge.me().await?;
        let comments = self.forge.comments(draft.pull).await?;
        let ours = comments.iter().filter(|comment| {
            comment.author.eq_ignore_ascii_case(me) && comment.body.starts_with(SUPERSEDED)
        });
        let ours = ours.count();
        if comments.len() > ours || self.has_other_commits(draft).await {
            return Ok(false);
        }
        if ours == 0 {
            let note = Page::from(SUPERSEDED)
                .names(self.url)
                .says("\n\nIts branch `")
                .names(&draft.branch)
                .says("` stays.");
            self.forge.comment(draft.pull, note.as_str()).await?;
        }
        self.forge.close_pull(draft.pull).await?;
        Ok(true)
    }

    /// Whether a person may have pushed to its branch: what cannot be asked may have any commit.
    async fn has_other_commits(&self, draft: &Draft) -> bool {
        let mirror = self.home.mirror(self.repo);
        match mirror.remote_head(&draft.branch).await {
            Ok(now) => now.is_some_and(|now| now.as_str() != draft.pushed),
            Err(_) => true,
        }
    }
}

//! A merge of a firing that an operator takes back: by a pull request, as one that turned its base red is.

use carson_config::Repo;
use carson_core::Page;
use carson_forge::{Forge, NewPull, Pull, PullState};
use carson_git::{GitError, TakenBack};
use carson_home::Home;
use carson_store::Firing as Row;

use crate::ended_pulls::PullError;
use crate::way_back::{BRANCHES, commit, landed};

/// What came of it.
#[derive(Clone, Debug)]
pub enum Reverted {
    /// This pull request takes it back, once a person merges it.
    By(Pull),
    /// The base has nothing of it any more, or it was never merged.
    Already,
    /// What came since changed the same lines.
    Conflicts,
    /// A person closed the pull request that takes it back, which was this one.
    Closed(Pull),
    /// The remote has another branch of the name that this takes.
    BranchTaken(String),
    /// Nobody can say which commit brought it.
    Unknown,
}

/// Opens the pull request that takes a merge back, once: the branch has a name by which a repetition finds it.
///
/// # Errors
/// When the store, the forge or git does not answer.
pub async fn revert(
    home: &Home,
    repo: &Repo,
    forge: &Forge,
    (row, number, head): (&Row, u64, &str),
) -> Result<Reverted, PullError> {
    let branch = format!("{BRANCHES}{number}");
    if let Some(known) = forge.pull_by_head(&branch).await? {
        return Ok(match noted(home, row, known).await? {
            known if known.state == PullState::Closed => Reverted::Closed(known),
            known => Reverted::By(known),
        });
    }
    let fate = forge.fate(number).await?;
    if fate.state != PullState::Merged {
        return Ok(Reverted::Already);
    }
    let Some(landed) = landed(home, repo, (&fate, head)).await? else {
        return Ok(Reverted::Unknown);
    };
    let pull = forge.pull(number).await?;
    let merge = (row, &landed, &pull);
    let commit = match commit(home, repo, merge).await? {
        TakenBack::By(commit) => commit,
        TakenBack::Already => return Ok(Reverted::Already),
        TakenBack::Conflicts => return Ok(Reverted::Conflicts),
    };
    let mirror = home.mirror(repo);
    match mirror.kept().push(&branch, &commit, &repo.protected).await {
        Err(GitError::PushRejected { .. }) if mirror.remote_head(&branch).await?.is_some() => {
            return Ok(Reverted::BranchTaken(branch));
        }
        pushed => pushed?,
    };
    let body = Page::from("Reverts #")
        .names(number)
        .says("\n\nThis reverts commit ")
        .names(&landed)
        .says(".\n\nAn operator took the firing back that merged it.\n\n- role: ")
        .names(&row.role)
        .says("\n- firing: ")
        .names(row.id)
        .says("\n\nNo model wrote it, and no check was run on it here.\n");
    let new = NewPull {
        title: Page::from("Revert \"").title(&pull.title).says("\""),
        body,
        head: branch,
        base: pull.base,
        draft: false,
        labels: Vec::new(),
    };
    let opened = noted(home, row, forge.create_pull(&new).await?).await?;
    Ok(Reverted::By(opened))
}

/// The row has it: so it is the fleet's, and nobody opens a second one.
async fn noted(home: &Home, row: &Row, pull: Pull) -> Result<Pull, PullError> {
    home.store
        .as_firing(row.id, row.epoch)
        .set_pull(pull.number, &pull.url)
        .await?;
    Ok(pull)
}

//! What takes a merge back: the commit of the base that it made, the one that undoes that, and the branch of
//! that one.

use carson_config::Repo;
use carson_core::untrusted;
use carson_forge::{Fate, Pull};
use carson_git::{Offered, Oid, TakenBack};
use carson_home::Home;
use carson_store::{Firing as Row, Judged};

use crate::ended_pulls::PullError;

/// How the branches begin that take something back.
pub(crate) const BRANCHES: &str = "carson/revert-";

/// Letters of a title.
const SHOWN: usize = 100;

/// The commit of the base that the merge made.
pub(crate) async fn landed(
    home: &Home,
    repo: &Repo,
    (fate, head): (&Fate, &str),
) -> Result<Option<Oid>, PullError> {
    if let Some(landed) = &fate.landed {
        return Ok(landed.parse().ok());
    }
    let Ok(pushed) = head.parse::<Oid>() else {
        return Ok(None);
    };
    let mirror = home.mirror(repo);
    mirror.refresh().await?;
    let offered = Offered {
        pushed: &pushed,
        branch: &fate.head,
        base: &fate.base,
    };
    Ok(mirror.landed(offered).await?.by)
}

/// The commit that takes a merge back. The row has it before the remote: who dies in between pushes the same.
pub(crate) async fn commit(
    home: &Home,
    repo: &Repo,
    (row, landed, pull): (&Row, &Oid, &Pull),
) -> Result<TakenBack, PullError> {
    let made = row.pushed_sha.as_deref();
    if let Some(made) = made.and_then(|made| made.parse().ok()) {
        return Ok(TakenBack::By(made));
    }
    let mirror = home.mirror(repo);
    mirror.refresh().await?;
    let base = mirror.resolve(&pull.base).await?;
    let title = untrusted::one_line(&pull.title, SHOWN);
    let message = format!(
        "Revert \"{title}\"\n\nThis reverts commit {landed}.\n\nCarson-Firing: {}\nCarson-Role: {}\n",
        row.id, row.role
    );
    let taken_back = mirror.take_back(landed, &base, &message).await?;
    if let TakenBack::By(commit) = &taken_back {
        home.store
            .as_firing(row.id, row.epoch)
            .set_judged(Judged::Pushed, commit.as_str())
            .await?;
    }
    Ok(taken_back)
}

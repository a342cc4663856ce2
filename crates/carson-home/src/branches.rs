//! The branches of a repository, for a forge that holds none.

use carson_forge::{
    Answer, Branches, ChangedFile, Committed, Compared, FileStatus, ForgeError, Mergeability,
};
use carson_git::{Changed, GitError, Mirror, Oid, Sides};
use chrono::DateTime;

/// As the remote has them, by our own clone of it.
#[derive(Clone, Debug)]
pub(crate) struct MirrorBranches(pub Mirror);

impl MirrorBranches {
    async fn look(&self, head: &str, base: &str) -> Result<Option<Compared>, GitError> {
        let Self(mirror) = self;
        mirror.refresh().await?;
        let both = (mirror.fetched(head).await?, mirror.fetched(base).await?);
        let (Some(head), Some(base)) = both else {
            return Ok(None);
        };
        let sides = Sides { head, base };
        let mergeability = match mirror.conflicts(&sides).await? {
            true => Mergeability::Conflicts,
            false => Mergeability::Clean,
        };
        let files = mirror.changed(&sides).await?;
        let commits = mirror.commits(&sides).await?;
        Ok(Some(Compared {
            sha: sides.head.to_string(),
            mergeability,
            files: files.into_iter().map(file).collect(),
            commits: commits.into_iter().map(committed).collect(),
        }))
    }
}

fn committed((commit, at): (Oid, i64)) -> Committed {
    Committed {
        sha: commit.to_string(),
        // What no calendar has is long ago.
        at: DateTime::from_timestamp(at, 0).unwrap_or_default(),
    }
}

fn file(changed: Changed) -> ChangedFile {
    ChangedFile {
        path: changed.path,
        status: match (changed.is_new, changed.is_gone) {
            (true, _) => FileStatus::Added,
            (_, true) => FileStatus::Removed,
            _ => FileStatus::Modified,
        },
        additions: changed.additions,
        deletions: changed.deletions,
    }
}

impl Branches for MirrorBranches {
    fn compare<'a>(&'a self, head: &'a str, base: &'a str) -> Answer<'a, Option<Compared>> {
        Box::pin(async move {
            let looked = self.look(head, base).await;
            looked.map_err(|error| ForgeError::Unavailable {
                detail: error.to_string(),
            })
        })
    }
}

//! A commit of Carson's own, on top of work that is finished: what follows from the work and no session writes.
//!
//! What was judged stays as it is, below it. The commit is made of what it stands on alone, so that whoever
//! concludes the firing once more makes the same one.

use carson_core::untrusted::one_line;

use crate::durable;
use crate::error::GitError;
use crate::file_at::AtPath;
use crate::git::parse;
use crate::oid::Oid;
use crate::scratch::Scratch;
use crate::worktree::Worktree;

/// The latest time that git writes in a commit.
const LATEST: i64 = 4_102_444_800;
/// Letters of a path in an error.
const PATH_LETTERS: usize = 100;

/// What it changes: one file.
#[derive(Clone, Copy, Debug)]
pub struct OwnCommit<'c> {
    /// Its path; the work has a regular file there.
    pub file: &'c str,
    /// The bytes that it has then.
    pub content: &'c [u8],
    /// What the commit says.
    pub message: &'c str,
    /// Whose it is: name and address.
    pub who: (&'c str, &'c str),
}

impl Worktree {
    /// Makes it on top of the work; asked again, it is the same one.
    ///
    /// # Errors
    /// When the work has no such file, or git fails.
    pub async fn with_own_commit(&self, tip: &Oid, own: &OwnCommit<'_>) -> Result<Oid, GitError> {
        if let Some(done) = self.own_commit(tip).await? {
            return Ok(done);
        }
        let at = self.mirror.at_paths(tip, vec![own.file.to_owned()]).await?;
        if at != [AtPath::File] {
            let path = one_line(own.file, PATH_LETTERS);
            return Err(GitError::Failed {
                verb: "commit".into(),
                detail: format!("the work has no file {path}"),
            });
        }
        let tree = self.tree_with(tip, own).await?;
        let seconds = self.kept.bare.read({
            let tip = tip.git2();
            move |repo| Ok(repo.find_commit(tip)?.committer().when().seconds())
        });
        let date = format!("@{} +0000", seconds.await?.clamp(0, LATEST));
        let (name, email) = own.who;
        let mut commit = self.kept.bare.git("commit-tree").arg(tree.as_str());
        for who in ["AUTHOR", "COMMITTER"] {
            commit = commit
                .env(&format!("GIT_{who}_NAME"), name)
                .env(&format!("GIT_{who}_EMAIL"), email)
                .env(&format!("GIT_{who}_DATE"), &date);
        }
        let commit = commit.args(["-p", tip.as_str(), "-F", "-"]);
        let made = commit.stdin(own.message.as_bytes().to_vec()).text().await?;
        let made = parse(made.trim())?;
        let name = self.own_ref(tip);
        self.kept.bare.move_ref(&name, &made, None).await?;
        durable::name(&self.kept.path().join(&name), self.kept.path())?;
        Ok(made)
    }

    /// The tree of the work with this file in it, made in an index of our own.
    async fn tree_with(&self, tip: &Oid, own: &OwnCommit<'_>) -> Result<Oid, GitError> {
        let bare = &self.kept.bare;
        let blob = bare.git("hash-object").args(["-w", "--stdin"]);
        let blob = blob.stdin(own.content.to_vec()).text().await?;
        let mode = self.kept.bare.git("ls-tree");
        let mode = mode.args(["--format=%(objectmode)", tip.as_str(), "--", own.file]);
        let (blob, mode) = (parse(blob.trim())?, mode.text().await?);
        let index = Scratch::name(self.kept.path(), "index")?;
        let git = |verb: &str| {
            let index = index.path().as_os_str().to_owned();
            bare.git(verb).env("GIT_INDEX_FILE", index)
        };
        git("read-tree").arg(tip.as_str()).text().await?;
        let entry = format!("{} {blob}\t{}\0", mode.trim(), own.file);
        let put = git("update-index").args(["-z", "--index-info"]);
        put.stdin(entry.into_bytes()).text().await?;
        parse(git("write-tree").text().await?.trim())
    }

    /// What was made on top of a commit.
    pub(crate) async fn own_commit(&self, on: &Oid) -> Result<Option<Oid>, GitError> {
        self.kept.bare.ref_target(&self.own_ref(on)).await
    }

    pub(crate) fn own_ref(&self, on: &Oid) -> String {
        format!("refs/carson/own/{}/{on}", self.name())
    }

    /// What leaves in the place of a commit: with Carson's own on top, and signed, where there are such.
    pub(crate) async fn leaves_as(&self, commit: &Oid) -> Result<Oid, GitError> {
        let on_top = self.own_commit(commit).await?;
        let on_top = on_top.unwrap_or_else(|| commit.clone());
        let signed = self.signed_copy(&on_top).await?;
        Ok(signed.unwrap_or(on_top))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Salvaged;
    use crate::fixture::{World, git};

    const WHO: (&str, &str) = ("Acme Agent", "agent@acme.example");

    fn own(content: &[u8]) -> OwnCommit<'_> {
        OwnCommit {
            file: "docs/plan b.json",
            content,
            message: "Story S-1 passes\n\nFiring: x\n",
            who: WHO,
        }
    }

    #[tokio::test]
    async fn one_file_is_another_on_top_of_the_work_and_that_leaves() {
        let world = World::new().await;
        world.upstream("main", "docs/plan b.json", "{\"a\":1}\r\n");
        world.mirror.refresh().await.unwrap();
        let tree = world.worktree("one").await;
        tree.put("a", "1");
        let tip = tree.commit_seen("Work").await;

        let made = tree
            .with_own_commit(&tip, &own(b"{\"a\":2}\r\n"))
            .await
            .unwrap();

        let store = world.kept();
        let said = |args: &[&str]| git(store.path(), args.iter().copied());
        let range = format!("{tip}..{made}");
        let log = said(&["log", "--format=%an <%ae> %cn %s", &range]);
        assert_eq!(
            log,
            "Acme Agent <agent@acme.example> Acme Agent Story S-1 passes"
        );
        let changed = said(&["diff", "--name-status", tip.as_str(), made.as_str()]);
        assert_eq!(changed, "M\tdocs/plan b.json");
        let content = world.show(&made, "docs/plan b.json").unwrap();
        assert_eq!(content, b"{\"a\":2}\r\n");
        // Asked again it is the same, also where the note of it is gone.
        let again = tree
            .with_own_commit(&tip, &own(b"{\"a\":2}\r\n"))
            .await
            .unwrap();
        said(&["update-ref", "-d", &tree.own_ref(&tip)]);
        let anew = tree
            .with_own_commit(&tip, &own(b"{\"a\":2}\r\n"))
            .await
            .unwrap();
        assert!(again == made && anew == made);
        // The push saves the work below it, and its bench may go.
        store.push(&tree.branch, &made, &[]).await.unwrap();
        assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
        tree.remove().await.unwrap();
        assert!(!world.has_ref(&tree.own_ref(&tip)) && !world.has_ref(&tree.branch_ref()));
    }

    #[tokio::test]
    async fn there_is_a_regular_file_or_nothing_is_made() {
        let world = World::new().await;
        let tree = world.worktree("one").await;
        std::fs::create_dir(tree.path.join("docs")).unwrap();
        std::os::unix::fs::symlink("../README.md", tree.path.join("docs/plan b.json")).unwrap();
        let tip = tree.commit_seen("A link").await;
        let refused = tree.with_own_commit(&tip, &own(b"{}")).await;
        assert!(refused.is_err() && !world.has_ref(&tree.own_ref(&tip)));
    }
}

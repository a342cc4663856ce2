//! What the session did with its repository comes into the mirror.
//!
//! Names are read as text ([`Foreign`]), objects pass the [`Quarantine`], and only this firing's
//! own branch moves. What the session did to other refs, to configuration and hooks stays behind
//! and goes with the bench; the commits that only those refs led to are kept when it is removed.

use std::path::{Path, PathBuf};

use git2::OdbLookupFlags;
use tracing::warn;

use crate::durable;
use crate::error::GitError;
use crate::foreign::{Foreign, Memory};
use crate::index::Index;
use crate::mirror::Mirror;
use crate::oid::Oid;
use crate::plain::Within;
use crate::quarantine::Quarantine;
use crate::worktree::Worktree;

/// Objects that are tried one by one when they cannot come in together.
const SINGLY: usize = 50;

/// What there was, as far as it came in.
#[derive(Default)]
pub(crate) struct Look {
    /// Where `HEAD` stands.
    pub head: Option<Oid>,
    /// Everything that a ref or a log of the session's repository names.
    pub remembered: Vec<Oid>,
    /// A copy of the session's index; the mirror has all that it names.
    pub index: Option<Index>,
    /// What the session's index has, when it cannot be used itself.
    pub listed: Vec<PathBuf>,
    /// The tree of the index; `None` without one, and during a conflict.
    pub staged: Option<Oid>,
    /// What could not come in, and why. The directory must stay then.
    pub trouble: Vec<String>,
}

/// What the session's repository says, before anything is believed.
struct Said {
    branch: Option<Oid>,
    branch_log: Vec<Oid>,
    head: Option<Oid>,
    memory: Memory,
    index: Option<PathBuf>,
}

impl Worktree {
    /// The firing's own repository, seen from this worktree.
    pub(crate) fn own(&self) -> Option<Foreign> {
        let (bench, name) = (self.path.parent()?, self.path.file_name()?);
        let own = self.repository();
        // Benches made before there was such a repository hang on the mirror itself.
        let (common, root) = match own.symlink_metadata() {
            Ok(_) => (own.as_path(), bench),
            Err(_) => (self.mirror.path(), self.mirror.path()),
        };
        let within = Within::of(root)?;
        let common = within.dir(common)?;
        let git = common.join("worktrees").join(name);
        within.dir(&git)?;
        Some(Foreign {
            git,
            common,
            within,
        })
    }

    /// Takes into the mirror what the session's repository has, and this firing's branch with it.
    pub(crate) async fn look(&self) -> Result<Look, GitError> {
        let Some(own) = self.own_or_rest() else {
            return Ok(Look::default());
        };
        let said = self.said(own.clone()).await?;
        let mut look = Look {
            head: said.head.clone(),
            remembered: said.memory.logged.clone(),
            ..Look::default()
        };
        look.remembered.extend(said.memory.refs.values().cloned());
        if said.memory.cut {
            let much = "the session's repository has more refs than are read";
            look.trouble.push(much.to_owned());
        }
        let quarantine = Quarantine::of(&self.mirror, vec![own]).await?;
        let tree = self
            .stage(&quarantine, said.index.as_deref(), &mut look)
            .await?;
        let first = [&said.branch, &said.head, &tree];
        let first: Vec<Oid> = first.into_iter().flatten().cloned().collect();
        let failed = self.release(&quarantine, &first).await?;
        look.trouble.extend(failed);
        // What the session let go of is worth less: it is kept as far as it is whole.
        let rest = self.release(&quarantine, &look.remembered).await?;
        for trouble in rest {
            warn!(worktree = %self.path.display(), %trouble, "an object did not come in");
        }
        if let Some(tree) = &tree
            && !self.mirror.has(tree).await?
        {
            look.discard_index().await;
        }
        if let Err(error) = self.follow(&said).await {
            let why = format!(
                "branch {} cannot follow the session's: {error}",
                self.branch
            );
            look.trouble.push(why);
        }
        Ok(look)
    }

    /// The repository also when the session removed its part that belongs to the worktree.
    fn own_or_rest(&self) -> Option<Foreign> {
        self.own().or_else(|| {
            let within = Within::of(self.path.parent()?)?;
            let common = within.dir(&self.repository())?;
            Some(Foreign {
                git: common.clone(),
                common,
                within,
            })
        })
    }

    async fn said(&self, own: Foreign) -> Result<Said, GitError> {
        let branch = self.branch_ref();
        let read = move || {
            let is_whole = own.git != own.common;
            Said {
                branch: own.target(&branch),
                branch_log: own.log(&branch),
                head: own.head().filter(|_| is_whole),
                memory: own.memory(),
                index: own.within.file(&own.git.join("index")),
            }
        };
        tokio::task::spawn_blocking(read)
            .await
            .map_err(|panic| GitError::Failed {
                verb: "read".into(),
                detail: panic.to_string(),
            })
    }

    /// Copies the index and writes its tree in the quarantine, where it is judged like the rest.
    async fn stage(
        &self,
        quarantine: &Quarantine,
        index: Option<&Path>,
        look: &mut Look,
    ) -> Result<Option<Oid>, GitError> {
        let Some(index) = index else { return Ok(None) };
        let Some(copy) = Index::copy_of(&self.mirror, index)? else {
            return Ok(None);
        };
        let mut tree = copy.tree_if_clean(quarantine, look.head.as_ref()).await;
        if tree.is_none() {
            tree = copy.write_tree_in(quarantine).await.ok();
        }
        look.staged.clone_from(&tree);
        if tree.is_none() && copy.drop_unmerged().await? {
            tree = copy.write_tree_in(quarantine).await.ok();
        }
        look.index = Some(copy);
        if tree.is_none() {
            let lost = look.discard_index().await;
            if lost {
                look.trouble.push("something staged cannot be read".into());
            }
        }
        Ok(tree)
    }

    /// Those of the objects that the mirror lacks come in, together or else one by one. What does
    /// not is told.
    async fn release(&self, from: &Quarantine, wanted: &[Oid]) -> Result<Vec<String>, GitError> {
        let lacking = self.mirror.lacking(wanted.to_vec()).await?;
        if lacking.is_empty() {
            return Ok(Vec::new());
        }
        let all: Vec<_> = lacking.iter().map(|oid| (oid.clone(), None)).collect();
        let Err(error) = from.release(&all, &self.base).await else {
            return Ok(Vec::new());
        };
        if let [(one, _)] = all.as_slice() {
            return Ok(vec![format!("{one} cannot be taken over: {error}")]);
        }
        let mut trouble = Vec::new();
        for one in all.iter().take(SINGLY) {
            if let Err(error) = from.release(std::slice::from_ref(one), &self.base).await {
                trouble.push(format!("{} cannot be taken over: {error}", one.0));
            }
        }
        if all.len() > SINGLY {
            trouble.push(format!("{} more were not tried", all.len() - SINGLY));
        }
        Ok(trouble)
    }

    /// Moves the firing's branch in the mirror to where the session's repository has it. A ref
    /// remembers what was seen there: Carson's own snapshots on top of it are not taken back.
    async fn follow(&self, said: &Said) -> Result<(), GitError> {
        let (Some(wanted), held) = (&said.branch, self.branch_tip().await?) else {
            return Ok(());
        };
        let seen_name = self.seen_ref();
        let seen = self.mirror.ref_target(&seen_name).await?;
        // The first look finds it where the firing began.
        let seen = seen.unwrap_or_else(|| self.base.clone());
        if seen == *wanted || held.as_ref() == Some(wanted) {
            return Ok(());
        }
        let (mut to, mut update) = (wanted.clone(), format!("update {seen_name} {wanted}\n"));
        if !self.mirror.has_commit(wanted).await? {
            // The newest commit that the branch was at and that is whole.
            let Some(last) = self.newest_whole(said).await? else {
                return Ok(());
            };
            if let Some(held) = &held
                && self.mirror.descends(held, &last).await?
            {
                return Ok(());
            }
            (to, update) = (last, String::new());
        }
        let from = held.as_ref().map_or(Oid::NONE, Oid::as_str);
        update.push_str(&format!("update {} {to} {from}\n", self.branch_ref()));
        // What Carson put on top of the branch is not on it any more.
        if let Some(held) = held.filter(|held| *held != seen)
            && !self.mirror.descends(&to, &held).await?
        {
            let kept = format!("refs/carson/abandoned/{}/{held}", self.name());
            update.push_str(&format!("update {kept} {held}\n"));
        }
        let git = self
            .mirror
            .git("update-ref")
            .args(["--no-deref", "--stdin"]);
        git.stdin(update.into_bytes()).text().await?;
        // The outcome that is written next rests on it, and the bench may not survive a power cut.
        durable::name(
            &self.mirror.path().join(self.branch_ref()),
            self.mirror.path(),
        )
    }

    async fn newest_whole(&self, said: &Said) -> Result<Option<Oid>, GitError> {
        for oid in &said.branch_log {
            if self.mirror.has_commit(oid).await? {
                return Ok(Some(oid.clone()));
            }
        }
        Ok(None)
    }

    /// What the branch was in the session's repository when Carson looked last.
    pub(crate) fn seen_ref(&self) -> String {
        format!("refs/carson/seen/{}", self.name())
    }
}

impl Look {
    /// The index is not used as it is; whether it could be read at all.
    async fn discard_index(&mut self) -> bool {
        self.staged = None;
        let Some(index) = self.index.take() else {
            return false;
        };
        match index.list().await {
            Ok(listed) => {
                self.listed = listed.files;
                true
            }
            Err(_) => false,
        }
    }
}

impl Mirror {
    /// Whether the mirror has this object.
    pub(crate) async fn has(&self, oid: &Oid) -> Result<bool, GitError> {
        Ok(self.lacking(vec![oid.clone()]).await?.is_empty())
    }

    /// Those of the objects that the mirror does not have, each once.
    pub(crate) async fn lacking(&self, oids: Vec<Oid>) -> Result<Vec<Oid>, GitError> {
        if oids.is_empty() {
            return Ok(oids);
        }
        self.read(move |repo| {
            let odb = repo.odb()?;
            let mut seen = std::collections::HashSet::new();
            let mut lacking = oids;
            lacking.retain(|oid| {
                seen.insert(oid.clone()) && !odb.exists_ext(oid.git2(), OdbLookupFlags::NO_REFRESH)
            });
            Ok(lacking)
        })
        .await
    }
}

#[cfg(test)]
mod tests;

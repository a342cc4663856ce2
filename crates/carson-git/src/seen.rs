//! What a session did comes into the store, and is known.
//!
//! One look asks the inspector everything at once ([`Look`]); what came in lies in packs that are taken
//! over, and only this firing's own branch moves. What the session did to other refs, to
//! configuration and hooks stays behind and goes with the bench.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::inspector::{Bounds, Desk, InspectError};
use nix::sys::statvfs::statvfs;

use crate::error::{GitError, io};
use crate::inspect::look::{Depth, Found, Look};
use crate::inspect::open_up::OpenUp;
use crate::oid::Oid;
use crate::private::{HOME, TEMPORARY};
use crate::scratch::ScratchDir;
use crate::worktree::Worktree;
use crate::{Change, ChangedTest, Drift, Shown};

/// How much is looked at, and how long: the first is enough to hash some gigabytes of untracked files.
/// Whoever can make a look fail must not keep the rest of the work from coming in.
const DEPTHS: [(Depth, Duration); 3] = [
    (Depth::Whole, Duration::from_secs(60)),
    (Depth::Commits, Duration::from_secs(20)),
    (Depth::Files, Duration::from_secs(20)),
];
/// How long another question may take.
const WITHIN: Duration = Duration::from_secs(90);
/// Memory of whoever looks: the largest object is read as a whole.
const MEMORY_MB: u64 = 1536;
/// The largest pack.
const PACK_MB: u64 = 5 * 1024;
/// MiB of a disk that a look leaves.
const LEFT_MB: u64 = 8;
/// MiB of the largest file that a look may write, below which its disk is as good as full.
const FULL_MB: u64 = 64;
/// Bytes of an answer: a diff of a megabyte, and lists.
const ANSWER: usize = 16 << 20;
/// Bytes of what a push would show that are written out to be searched, unless more are wanted.
const OUTGOING: u64 = 512 << 20;

/// What Carson measured of a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeFacts {
    /// Whether the directory is there.
    pub exists: bool,
    /// Commits on the branch since the base.
    pub commits: u32,
    /// Something is left that only the worktree has: staged, unstaged or untracked changes that
    /// are not ignored, or commits of a repository inside it.
    pub dirty: bool,
    /// HEAD stands on commits that the branch does not have.
    pub head_strayed: bool,
    /// Branches with commits of the session's that its work does not have.
    pub beside: Vec<String>,
    /// Why the newest of the session's commits could not be taken over: what was is older work.
    pub untaken: Option<String>,
    /// What the session left and Carson cannot take over, and why.
    pub trouble: Vec<String>,
}

/// A worktree as it was when Carson looked, after the last session in it.
#[derive(Debug)]
pub struct Seen {
    pub(crate) worktree: Worktree,
    pub(crate) found: Found,
    pub(crate) tip: Oid,
    /// The commit of HEAD, when neither the branch nor its history has it.
    pub(crate) stray: Option<Oid>,
    /// Commits of repositories inside that no ref keeps yet.
    pub(crate) unsaved: Vec<(String, Oid)>,
    /// The trees of all commits of the work.
    trees: HashSet<Oid>,
    facts: TreeFacts,
    dir: Option<ScratchDir>,
}

impl Worktree {
    /// Inspects: takes into the store what the session's repository and files have, and this firing's
    /// branch with it. `show` asks for the diff, too.
    ///
    /// # Errors
    /// When the inspector has no answer, or the store cannot be written: then nothing is known, and
    /// nothing was lost.
    pub async fn inspect(&self, show: bool) -> Result<Seen, GitError> {
        self.kept.make()?;
        let Some(bench) = self.path.parent().filter(|bench| bench.is_dir()) else {
            return self.seen(Found::default(), None).await;
        };
        if self.is_unready() {
            let nothing = Found {
                exists: self.path.is_dir(),
                ..Found::default()
            };
            return self.seen(nothing, None).await;
        }
        self.look(bench, show).await
    }

    /// Takes over earlier work that was joined with the base here: the commit with which sessions begin.
    ///
    /// # Errors
    /// As [`inspect`](Self::inspect).
    pub async fn inspect_joined(&self) -> Result<Oid, GitError> {
        let bench = self.path.parent().unwrap_or(&self.path);
        Ok(self.look(bench, false).await?.tip)
    }

    async fn look(&self, bench: &Path, show: bool) -> Result<Seen, GitError> {
        let dir = ScratchDir::new(self.mirror.path(), "look")?;
        let mut found = self.found(bench, &dir, show).await?;
        if found.unreadable > 0 && self.open_up(bench, &dir).await? > 0 {
            found = self.found(bench, &dir, show).await?;
        }
        let packs = dir.path().join("out/work.git/objects/pack");
        for name in &found.packs {
            self.kept.adopt(&packs, name)?;
        }
        if !found.packs.is_empty() {
            self.mirror.hold_base(&self.base).await?;
        }
        self.seen(found, Some(dir)).await
    }

    /// The answer to as much as can be looked at.
    async fn found(&self, bench: &Path, dir: &ScratchDir, show: bool) -> Result<Found, GitError> {
        let mut failed = None;
        for (depth, within) in DEPTHS {
            let error = match self.ask(bench, dir, show, depth, within).await {
                Ok(mut found) => {
                    found.trouble.extend(full(&found, dir.path()));
                    found.trouble.extend(failed.as_ref().map(|why| {
                        let left = match depth {
                            Depth::Files => "its commits",
                            _ => "what lies beside its commits",
                        };
                        format!("{left} could not be looked at: {why}")
                    }));
                    return Ok(found);
                }
                Err(error @ GitError::Unseen { .. }) => error,
                Err(other) => return Err(other),
            };
            failed.get_or_insert(error);
        }
        Err(failed.unwrap_or(GitError::Failed {
            verb: "look".into(),
            detail: "nothing was asked".into(),
        }))
    }

    async fn ask(
        &self,
        bench: &Path,
        dir: &ScratchDir,
        show: bool,
        depth: Depth,
        within: Duration,
    ) -> Result<Found, GitError> {
        let (question, desk) = self.question(bench, dir, show, depth)?;
        let bounds = Bounds {
            wall_clock: within,
            file_size_mb: pack_mb(dir.path()),
            ..bounds()
        };
        let asked = self.mirror.inspector.ask(&question, &desk, &bounds).await;
        asked.map_err(|error| self.unseen(error))
    }

    /// What is asked of a bench, and what whoever answers may see.
    pub(crate) fn question(
        &self,
        bench: &Path,
        dir: &ScratchDir,
        show: bool,
        depth: Depth,
    ) -> Result<(Look, Desk), GitError> {
        let out = dir.path().join("out");
        let fresh = std::fs::remove_dir_all(&out).or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        let made = fresh.and_then(|()| std::fs::create_dir(&out));
        made.map_err(|source| io(&out, source))?;
        let (began, objects) = (self.began(), self.mirror.path().join("objects"));
        // Without its own directory nothing can be put together; the commits are still there.
        let is_there = self
            .path
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir());
        let layered = self.layered()?.filter(|_| is_there);
        let overlay = layered.as_ref().map(|layered| layered.overlay.read_only());
        let tree = overlay.as_ref().map_or(&self.path, |overlay| &overlay.at);
        let index = layered.as_ref().map_or(began.index, |on| on.index.clone());
        let below = overlay.iter().flat_map(|overlay| overlay.lower.clone());
        let mut read = vec![
            tree.clone(),
            self.repository(),
            began.dir,
            objects.clone(),
            index.clone(),
        ];
        read.extend(below);
        let beside = self.beside(bench, tree);
        read.extend(beside.iter().map(|(_, at)| at.clone()));
        let question = Look {
            bench: bench.to_owned(),
            tree: tree.clone(),
            name: self.name(),
            layers: overlay.clone(),
            beside,
            repository: self.repository(),
            branch: self.branch_ref(),
            base: self.base.clone(),
            objects,
            index,
            residue: began.residue,
            refs: began.refs,
            out: out.clone(),
            outgoing: OUTGOING,
            show,
            depth,
        };
        let desk = Desk {
            own: dir.path().to_owned(),
            programs: crate::git::program().into_iter().collect(),
            read,
            write: vec![out],
            overlays: overlay.into_iter().collect(),
        };
        Ok((question, desk))
    }

    /// Where sessions can have made worktrees beside the first, which they see at `tree`, and where that lies; nothing
    /// where its repository has no other.
    fn beside(&self, bench: &Path, tree: &Path) -> Vec<(PathBuf, PathBuf)> {
        let all = std::fs::read_dir(self.repository().join("worktrees"));
        if all.map_or(0, |all| all.take(2).count()) < 2 {
            return Vec::new();
        }
        let [temporary, home] = [TEMPORARY, HOME].map(|name| bench.join(name));
        let seen = tree.with_file_name(HOME);
        let places = [
            (temporary.clone(), temporary),
            (seen, home.clone()),
            (home.clone(), home),
        ];
        places.into_iter().filter(|(_, at)| at.is_dir()).collect()
    }

    pub(crate) fn unseen(&self, error: InspectError) -> GitError {
        GitError::Unseen {
            path: self.path.clone(),
            source: error,
        }
    }

    async fn open_up(&self, bench: &Path, dir: &ScratchDir) -> Result<u64, GitError> {
        let layered = self.layered()?.map(|layered| layered.overlay);
        let tree = layered.as_ref().map_or(&self.path, |overlay| &overlay.at);
        let beside = self.beside(bench, tree).into_iter().map(|(_, at)| at);
        let below: Vec<PathBuf> = [tree.clone(), self.repository()]
            .into_iter()
            .chain(beside)
            .collect();
        let desk = Desk {
            own: dir.path().to_owned(),
            write: below.clone(),
            overlays: layered.clone().into_iter().collect(),
            ..Desk::default()
        };
        // A link in the directory's place leads to somebody else's files.
        if self
            .path
            .symlink_metadata()
            .is_ok_and(|found| found.is_symlink())
        {
            return Ok(0);
        }
        debug_assert!(self.path.starts_with(bench));
        let asked = self
            .mirror
            .inspector
            .ask(&OpenUp { below }, &desk, &bounds())
            .await;
        asked.map_err(|error| self.unseen(error))
    }

    async fn seen(&self, found: Found, dir: Option<ScratchDir>) -> Result<Seen, GitError> {
        let mut found = found;
        // What the branch has is older work then.
        let cannot = |found: &mut Found, error: GitError| {
            let branch = &self.branch;
            let why = format!("branch {branch} cannot follow the session's: {error}");
            found.untaken.get_or_insert_with(|| why.clone());
            found.trouble.push(why);
        };
        let following = self.following(&found).await.unwrap_or_else(|error| {
            cannot(&mut found, error);
            None
        });
        let tip = match (&following, &found.branch) {
            (Some(following), _) => following.to.clone(),
            (None, Some(_)) => self.tip_or_base().await?,
            (None, None) => self.tip().await?,
        };
        let follow = async {
            match &following {
                Some(following) => self.follow(following).await,
                None => Ok(()),
            }
        };
        // The commits are here: they are read while the branch is moved.
        let (followed, seen) = tokio::join!(follow, self.seen_at(tip, found, dir));
        let mut seen = seen?;
        if let Err(error) = followed {
            cannot(&mut seen.found, error);
            let tip = self.tip_or_base().await?;
            return self.seen_at(tip, seen.found, seen.dir).await;
        }
        Ok(seen)
    }

    async fn tip_or_base(&self) -> Result<Oid, GitError> {
        Ok(self
            .branch_tip()
            .await?
            .unwrap_or_else(|| self.base.clone()))
    }

    /// What is known, where the branch ends there.
    async fn seen_at(
        &self,
        tip: Oid,
        found: Found,
        dir: Option<ScratchDir>,
    ) -> Result<Seen, GitError> {
        let mut seen = Seen {
            stray: self.stray(&tip, &found).await?,
            unsaved: self.unsaved(&found).await?,
            trees: HashSet::new(),
            worktree: self.clone(),
            facts: TreeFacts::default(),
            found,
            tip,
            dir,
        };
        seen.trees = seen.committed_trees().await?;
        seen.facts = seen.measure().await?;
        Ok(seen)
    }

    /// The commit of HEAD, when neither the branch nor its history has it.
    async fn stray(&self, tip: &Oid, found: &Found) -> Result<Option<Oid>, GitError> {
        let Some(head) = &found.head else {
            return Ok(None);
        };
        let known = self.kept.bare.descends(tip, head).await?;
        Ok((!known).then(|| head.clone()))
    }

    async fn unsaved(&self, found: &Found) -> Result<Vec<(String, Oid)>, GitError> {
        let mut unsaved: Vec<(String, Oid)> = Vec::new();
        for (dir, oid) in &found.inner {
            let known = unsaved.iter().any(|(_, known)| known == oid);
            let kept = self.kept.bare.ref_target(&self.nested_ref(oid)).await?;
            if !known && kept.is_none() {
                unsaved.push((dir.clone(), oid.clone()));
            }
        }
        Ok(unsaved)
    }

    /// Named after the commit, so nothing kept is ever written over.
    pub(crate) fn nested_ref(&self, oid: &Oid) -> String {
        format!("refs/carson/nested/{}/{oid}", self.name())
    }
}

impl Seen {
    /// The worktree.
    #[must_use]
    pub fn worktree(&self) -> &Worktree {
        &self.worktree
    }

    /// What was measured.
    #[must_use]
    pub fn facts(&self) -> &TreeFacts {
        &self.facts
    }

    /// The branch's newest commit; the base when it never had another.
    #[must_use]
    pub fn tip(&self) -> &Oid {
        &self.tip
    }

    /// What the commits bring.
    #[must_use]
    pub fn committed(&self) -> &Change {
        &self.found.committed
    }

    /// What lies in the worktree beside its commits.
    #[must_use]
    pub fn left(&self) -> &Change {
        &self.found.left
    }

    /// Files that are kept under another name, because git refuses theirs.
    #[must_use]
    pub fn renamed(&self) -> &[String] {
        &self.found.renamed
    }

    /// What of the files only ignore rules of the session's own hide, in words; `None` without any.
    #[must_use]
    pub fn hidden(&self) -> Option<String> {
        let hidden = &self.found.hidden;
        let more = match hidden.files.saturating_sub(hidden.told.len() as u64) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let left = match hidden.left {
            0 => String::new(),
            1 => ", of which 1 was too much to be kept".to_owned(),
            left => format!(", of which {left} were too much to be kept"),
        };
        let told = hidden.told.join(", ");
        (hidden.files > 0).then(|| format!("{told}{more}{left}"))
    }

    /// The diff of the commits, when it was asked for and there are not too many paths in it.
    #[must_use]
    pub fn shown(&self) -> Option<&Shown> {
        self.found.shown.as_ref()
    }

    /// Whether the work is nothing: no commit, or ones that together change nothing, as far as the diff is known. The diff is
    /// of the session's own commits: a snapshot that Carson put on top of them, and is at again, brings what it was made for.
    #[must_use]
    pub fn brings_nothing(&self) -> bool {
        let is_sessions = self
            .found
            .newest
            .as_ref()
            .is_none_or(|own| *own == self.tip);
        self.facts.commits == 0 || is_sessions && self.shown().is_some_and(Shown::is_empty)
    }

    /// Lock files that the commits forgot; known when the diff is.
    #[must_use]
    pub fn drift(&self) -> &[Drift] {
        &self.found.drift
    }

    /// Tests that the commits add or alter, and files that these may need; known when the diff is.
    #[must_use]
    pub fn tests(&self) -> &[ChangedTest] {
        &self.found.tests
    }

    /// Bytes that a checkout of the branch writes beside those of the base.
    #[must_use]
    pub fn spread(&self) -> u64 {
        self.found.spread
    }

    /// The file in which everything stands that a push would show
    /// ([`next_brought`](crate::next_brought)); none without a bench.
    #[must_use]
    pub fn outgoing(&self) -> Option<PathBuf> {
        Some(self.dir.as_ref()?.path().join("out/outgoing"))
    }

    /// A directory of our own that goes with this value; none without a bench.
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_ref().map(ScratchDir::path)
    }

    /// The files of the packs that came in.
    pub(crate) fn packs(&self) -> Vec<PathBuf> {
        let objects = self.worktree.kept.path().join("objects/pack");
        let file =
            |name: &String| ["pack", "idx"].map(|end| objects.join(name).with_extension(end));
        self.found.packs.iter().flat_map(file).collect()
    }

    /// How many commits of the work are not in the history of this one, which it may stand on.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub async fn commits_since(&self, begin: &Oid) -> Result<u32, GitError> {
        if self.tip == *begin {
            return Ok(0);
        }
        let (tip, begin) = (self.tip.git2(), begin.git2());
        let bare = &self.worktree.kept.bare;
        let ahead = bare.read(move |repo| repo.graph_ahead_behind(tip, begin));
        Ok(u32::try_from(ahead.await?.0).unwrap_or(u32::MAX))
    }

    async fn measure(&self) -> Result<TreeFacts, GitError> {
        let commits = self.commits_since(&self.worktree.base).await?;
        Ok(TreeFacts {
            exists: self.found.exists,
            commits,
            head_strayed: self.stray.is_some(),
            untaken: self.found.untaken.clone(),
            trouble: self.found.trouble.clone(),
            beside: (self.found.beside.iter())
                .map(|(name, _)| name.clone())
                .collect(),
            dirty: self.is_dirty().await?,
        })
    }

    async fn is_dirty(&self) -> Result<bool, GitError> {
        if !self.unsaved.is_empty() || !self.found.trouble.is_empty() {
            return Ok(true);
        }
        if let Some(hidden) = &self.found.hidden.tree
            && !self.holds_trees(&self.tip, vec![hidden.clone()]).await?
        {
            return Ok(true);
        }
        let Some(files) = &self.found.files else {
            return Ok(self.staged_apart().is_some());
        };
        // HEAD may stand before the end of the work.
        let is_committed = self.trees.contains(files) || *files == self.ground().await?;
        Ok(self.staged_apart().is_some() || !is_committed)
    }

    /// The tree of the newest commit.
    pub(crate) async fn ground(&self) -> Result<Oid, GitError> {
        let newest = self.stray.as_ref().unwrap_or(&self.tip);
        self.worktree.kept.bare.tree_of(newest).await
    }

    /// What is staged and neither in a commit nor in the files.
    pub(crate) fn staged_apart(&self) -> Option<&Oid> {
        let staged = self.found.staged.as_ref();
        staged.filter(|tree| !self.trees.contains(tree) && Some(*tree) != self.found.files.as_ref())
    }

    async fn committed_trees(&self) -> Result<HashSet<Oid>, GitError> {
        let base = self.worktree.base.git2();
        let tips = [Some(self.tip.git2()), self.stray.as_ref().map(Oid::git2)];
        let trees = move |repo: &git2::Repository| {
            let mut walk = repo.revwalk()?;
            for tip in tips.into_iter().flatten() {
                walk.push(tip)?;
            }
            walk.hide(base)?;
            let tree = |oid| Ok(repo.find_commit(oid)?.tree_id().into());
            let mut trees: HashSet<Oid> = walk
                .map(|oid| tree(oid?))
                .collect::<Result<_, git2::Error>>()?;
            trees.insert(tree(base)?);
            Ok(trees)
        };
        self.worktree.kept.bare.read(trees).await
    }
}

/// MiB of the largest file that a look writes on this disk: a file is written once for itself and once in a pack, and what
/// follows it needs room, too.
fn pack_mb(place: &Path) -> u64 {
    let free = statvfs(place).map_or(u64::MAX, |disk| {
        (disk.blocks_available() * disk.fragment_size()) >> 20
    });
    PACK_MB.min(free.saturating_sub(LEFT_MB) / 2).max(1)
}

/// What a look that met trouble may have met: those who refuse to write seldom say why.
fn full(found: &Found, place: &Path) -> Option<String> {
    let most = pack_mb(place);
    let is_full = !found.trouble.is_empty() && most < FULL_MB;
    is_full.then(|| format!("the disk of {} is full or nearly so", place.display()))
}

pub(crate) fn bounds() -> Bounds {
    Bounds {
        wall_clock: WITHIN,
        memory_mb: MEMORY_MB,
        file_size_mb: PACK_MB,
        answer: ANSWER,
    }
}

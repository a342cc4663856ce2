//! A firing's bench: worktree, private home and temp, hook settings; and the clean rooms in it, where
//! its work is judged. What its sessions see of the environment is in `environment.rs`, what they reach in `sandboxed_run.rs`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use carson_config::{Role, Workspaces};
use carson_core::FiringId;
use carson_core::declared::Outbox;
use carson_engine::Access;
use carson_git::{GitError, Layered, config_value};
use carson_proc::sandbox::{Overlay, Upper};

use carson_home::Home;

use crate::private_dir::private_dir;
use crate::spread_dir::spread;
use crate::stand::Stand;

/// The variable by which everything that a firing started can be found again.
pub const MARKER: &str = "CARSON_FIRING";

/// Why a bench stays that somebody locked.
pub const LOCKED: &str = "it is locked: remove the file `locked` in it";

/// Where what is downloaded beside the operator's lies in a desk.
pub(crate) const CACHES: &str = "caches";

/// The directories of one firing, or of a clean room in it.
#[derive(Clone, Debug)]
pub struct Bench {
    /// Everything below goes with the bench.
    pub root: PathBuf,
    name: String,
    /// Where worktree and repository lie.
    work: PathBuf,
    /// Where home and temporary directories lie.
    desk: PathBuf,
    /// What its trees stand on; without it they have all of their files.
    stand: Option<Stand>,
    /// Whether these are clones.
    cloned: bool,
}

impl Bench {
    /// The bench of a firing; nothing is created.
    #[must_use]
    pub fn of(home: &Home, id: FiringId) -> Self {
        let root = home.fleet.layout.bench(&id);
        Self {
            name: format!("tree-{}", id.short()),
            work: root.clone(),
            desk: root.clone(),
            stand: None,
            cloned: false,
            root,
        }
    }

    /// Where a setup makes what others will stand on: a worktree and a home in `dir`, which become a
    /// layer.
    #[must_use]
    pub fn for_setup(&self, dir: &Path, stand: Stand) -> Self {
        Self {
            name: carson_git::LAYER_TREE.to_owned(),
            work: dir.to_owned(),
            desk: dir.to_owned(),
            // Nothing of the base may be in it, as a directory that was renamed would: so it is copied.
            stand: Some(Stand {
                renames: false,
                ..stand
            }),
            cloned: false,
            root: self.root.clone(),
        }
    }

    /// The same on layers.
    #[must_use]
    pub fn on(self, stand: Option<Stand>) -> Self {
        Self { stand, ..self }
    }

    /// The same with files that are clones, or are not.
    #[must_use]
    pub fn cloned(self, cloned: bool) -> Self {
        Self { cloned, ..self }
    }

    /// What its worktree is made of.
    #[must_use]
    pub fn kind(&self) -> Workspaces {
        match (&self.stand, self.cloned) {
            (Some(_), _) => Workspaces::Layers,
            (None, true) => Workspaces::Clone,
            (None, false) => Workspaces::Copy,
        }
    }

    /// A clean room of it: a worktree, a repository, a home and temporary directories that nobody
    /// has worked in.
    /// Without what a setup left when that has to be made anew.
    pub fn room(&self, number: usize, with_setup: bool) -> Self {
        let room = self.rooms().join(number.to_string());
        let stand = self.stand.clone();
        Self {
            stand: match with_setup {
                true => stand,
                false => stand.map(Stand::without_setup),
            },
            work: room.clone(),
            desk: room,
            ..self.clone()
        }
    }

    /// The same worktree with a home and temporary directories that nobody has worked in.
    pub fn fresh_desk(&self, number: usize) -> Self {
        Self {
            desk: self.rooms().join(number.to_string()),
            ..self.clone()
        }
    }

    /// The clean rooms.
    pub fn rooms(&self) -> PathBuf {
        self.root.join("rooms")
    }

    /// The worktree on the disk: all of it, or what differs from what is below. Git keeps its notes
    /// under this last name, so no two benches share one.
    #[must_use]
    pub fn tree(&self) -> PathBuf {
        self.work.join(&self.name)
    }

    /// The worktree as sessions see it.
    #[must_use]
    pub fn seen_tree(&self) -> PathBuf {
        let seen = self.stand.as_ref().map(|stand| stand.seen_tree.clone());
        seen.unwrap_or_else(|| self.tree())
    }

    /// What the worktree is put together of; `None` for a copy.
    #[must_use]
    pub fn layered(&self) -> Option<Layered> {
        let stand = self.stand.as_ref()?;
        let included = Some(self.included()).filter(|dir| dir.is_dir());
        Some(Layered {
            overlay: Overlay {
                at: stand.seen_tree.clone(),
                lower: included.into_iter().chain(stand.all_trees()).collect(),
                upper: Some(Upper {
                    dir: self.tree(),
                    work: self.work.join("tree.work"),
                }),
                marks: stand.marks,
                renames: stand.renames,
            },
            index: stand.index.clone(),
        })
    }

    /// Whether it stands on layers.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.stand.is_some()
    }

    /// Where what is included lies, below what its session writes.
    pub(crate) fn included(&self) -> PathBuf {
        self.work.join("include")
    }

    /// Whether the repository has something at a path of the worktree, where that stands on layers.
    pub(crate) fn is_of_the_base(&self, path: &Path) -> bool {
        let mut trees = self.stand.iter().flat_map(|stand| &stand.trees);
        trees.any(|tree| tree.join(path).symlink_metadata().is_ok())
    }

    /// Whether what it stands on has something at a path of the worktree.
    pub(crate) fn is_below(&self, path: &Path) -> bool {
        let mut trees = self.stand.iter().flat_map(Stand::all_trees);
        trees.any(|tree| tree.join(path).symlink_metadata().is_ok())
    }

    /// Whether the worktree may hold skills of the repository's, where CLIs look for them by themselves, or the home
    /// those of its setup or of an earlier session.
    #[must_use]
    pub fn may_hold_skills(&self) -> bool {
        let setup = self.stand.iter().filter_map(|stand| stand.setup.as_ref());
        let homes = setup.map(|left| left.home.clone()).chain([self.home()]);
        let mut dirs = homes.chain([self.tree()]);
        let names = [".agents", ".codex"];
        let holds = |dir: PathBuf| {
            let mut names = names.iter();
            names.any(|name| dir.join(name).symlink_metadata().is_ok())
        };
        dirs.any(holds) || names.iter().any(|name| self.is_below(Path::new(name)))
    }

    /// Whether the repository has a file or link where a path of the worktree has a directory.
    pub(crate) fn has_file_above(&self, path: &Path) -> bool {
        let trees: Vec<&PathBuf> = self.stand.iter().flat_map(|stand| &stand.trees).collect();
        let is_file = |dir: &Path| {
            let found = trees
                .iter()
                .find_map(|tree| tree.join(dir).symlink_metadata().ok());
            found.is_some_and(|found| !found.is_dir())
        };
        path.ancestors().skip(1).any(is_file)
    }

    /// Everything that is put together where sessions may do this in the worktree.
    #[must_use]
    pub fn overlays(&self, access: Access) -> Vec<Overlay> {
        let tree = self.layered().map(|layered| match access {
            Access::Write => layered.overlay,
            Access::Read => layered.overlay.read_only(),
        });
        let home = self.layered_home();
        tree.into_iter().chain(home).chain(self.caches()).collect()
    }

    /// The operator's downloads in the home, each below what the setup downloaded and a directory of the bench's
    /// own.
    fn caches(&self) -> Vec<Overlay> {
        let Some(stand) = &self.stand else {
            return Vec::new();
        };
        let overlay = |(at, (place, lower)): (usize, &(&str, PathBuf))| {
            let own = self.desk.join(CACHES).join(at.to_string());
            let left = stand.setup.iter().map(|left| left.home.join(place));
            let left = left.filter(|left| left.is_dir());
            Overlay {
                at: self.seen_home().join(place),
                lower: left.chain([lower.clone()]).collect(),
                upper: Some(Upper {
                    dir: own.join("new"),
                    work: own.join("work"),
                }),
                marks: stand.marks,
                renames: true,
            }
        };
        stand.caches.iter().enumerate().map(overlay).collect()
    }

    /// Brings what was downloaded beside the operator's into the home, where the next layer has it.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn keep_downloads(&self) -> std::io::Result<()> {
        let places = self.stand.iter().flat_map(|stand| &stand.caches);
        for (cache, (place, _)) in self.caches().into_iter().zip(places) {
            let Some(new) = cache.upper.map(|upper| upper.dir) else {
                continue;
            };
            // The place in the home is an empty directory, on which another one is mounted.
            match std::fs::rename(&new, self.home().join(place)) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                done => done?,
            }
        }
        Ok(())
    }

    fn layered_home(&self) -> Option<Overlay> {
        let stand = self.stand.as_ref()?;
        Some(Overlay {
            at: stand.seen_home.clone()?,
            lower: stand.setup.iter().map(|left| left.home.clone()).collect(),
            upper: Some(Upper {
                dir: self.home(),
                work: self.desk.join("home.work"),
            }),
            marks: stand.marks,
            renames: stand.renames,
        })
    }

    /// The repository of which [`tree`](Self::tree) is a worktree.
    #[must_use]
    pub fn repository(&self) -> PathBuf {
        self.work.join(carson_git::REPOSITORY)
    }

    /// Whether something may lie in it that is not saved: the worktree, or commits in its
    /// repository when the session removed the worktree.
    pub fn may_hold_work(&self) -> bool {
        // A judge stands in an empty directory, without any repository.
        let is_empty =
            |path: &Path| std::fs::read_dir(path).is_ok_and(|mut all| all.next().is_none());
        let held = [self.tree(), self.repository()];
        let holds = |path: &PathBuf| match path.symlink_metadata() {
            Ok(_) => !is_empty(path),
            // Nobody was let in who could have looked.
            Err(error) => error.kind() == ErrorKind::PermissionDenied,
        };
        held.iter().any(holds)
    }

    /// Whether somebody wants it to stay, whatever becomes of its firing.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.root.join("locked").exists()
    }

    /// Removes it with everything that a session left in it.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    pub async fn remove(&self, home: &Home) -> Result<(), GitError> {
        self.remove_dir(home, &self.root).await
    }

    /// The same once `first` went well, which always comes to its end; meanwhile who removes it gets ready. What
    /// `first` says, and whether the bench is gone.
    ///
    /// # Errors
    /// That of `first`: then nothing is removed.
    pub async fn remove_after<T, E>(
        &self,
        home: &Home,
        first: impl Future<Output = Result<T, E>>,
    ) -> Result<(T, Result<(), GitError>), E> {
        let near = home.fleet.layout.mirrors().join("bench.git");
        carson_git::remove_tree_after(first, &home.inspector, &near, &self.root).await
    }

    /// The same with several at once; what became of each.
    pub async fn remove_all(home: &Home, benches: &[Self]) -> Vec<Result<(), GitError>> {
        let near = home.fleet.layout.mirrors().join("bench.git");
        let roots: Vec<PathBuf> = benches.iter().map(|bench| bench.root.clone()).collect();
        carson_git::remove_trees(&home.inspector, &near, &roots).await
    }

    /// The same with one of its directories.
    pub async fn remove_dir(&self, home: &Home, dir: &Path) -> Result<(), GitError> {
        let near = home.fleet.layout.mirrors().join("bench.git");
        carson_git::remove_tree(&home.inspector, &near, dir).await
    }

    /// `HOME` of the sessions on the disk.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.desk.join(carson_git::HOME)
    }

    /// `HOME` as sessions see it.
    #[must_use]
    pub fn seen_home(&self) -> PathBuf {
        let layered = self.layered_home();
        layered.map_or_else(|| self.home(), |overlay| overlay.at)
    }

    /// `TMPDIR` of the sessions.
    #[must_use]
    pub fn temp(&self) -> PathBuf {
        self.desk.join(carson_git::TEMPORARY)
    }

    /// What its sessions had beside their work, which goes first: their home and temporary files. Where git knows a second
    /// worktree that may lie there, with work in it, these are not.
    #[must_use]
    pub fn cached(&self) -> Vec<PathBuf> {
        match knows_a_second_worktree(&self.repository()) {
            true => Vec::new(),
            false => vec![self.temp(), self.home()],
        }
    }

    /// Where its execute sessions write what Carson is to do on the forge.
    #[must_use]
    pub fn outbox(&self) -> PathBuf {
        self.temp().join("outbox.json")
    }

    /// The form of that, for sessions; nobody else reads it.
    fn outbox_schema(&self) -> PathBuf {
        self.temp().join("outbox.schema.json")
    }

    /// Where its execute sessions propose what later ones should know.
    #[must_use]
    pub fn lessons(&self) -> PathBuf {
        self.temp().join("lessons.json")
    }

    /// `XDG_RUNTIME_DIR` of the sessions: short, because sockets live there.
    #[must_use]
    pub fn runtime(&self) -> PathBuf {
        self.desk.join("run")
    }

    /// Where sessions have their copies of what they sign in with: a directory for each variable.
    #[must_use]
    pub fn sign_in(&self) -> PathBuf {
        self.desk.join("sign-in")
    }

    /// Those of earlier sessions; no session sees them.
    pub fn old_sign_ins(&self) -> PathBuf {
        self.desk.join("old-sign-ins")
    }

    /// The profiles of its runs, and the levels that they reached; no session sees it.
    #[must_use]
    pub fn sandbox(&self) -> PathBuf {
        self.root.join("sandbox")
    }

    /// The settings file that puts the hook before every tool call.
    #[must_use]
    pub fn hook_settings(&self) -> PathBuf {
        self.root.join("hook.json")
    }

    /// Where the hook writes what it blocked.
    #[must_use]
    pub fn hook_events(&self) -> PathBuf {
        self.root.join("hook-events.jsonl")
    }

    /// Creates the directories, readable by their owner only, and the identity that commits carry.
    ///
    /// # Errors
    /// Whatever the file system says.
    pub fn create(&self, role: &Role) -> std::io::Result<()> {
        // Those before this one may have gone only a moment ago.
        for beside in [&self.root, &self.work].map(|dir| dir.parent()) {
            let Some(beside) = beside else { continue };
            if !beside.exists() {
                private_dir(beside)?;
            }
            spread(beside);
        }
        for dir in [
            &self.root,
            &self.work,
            &self.home(),
            &self.temp(),
            &self.runtime(),
            &self.sign_in(),
        ] {
            private_dir(dir)?;
        }
        if let Some(upper) = self.layered_home().and_then(|overlay| overlay.upper) {
            private_dir(&upper.work)?;
        }
        for upper in self.caches().into_iter().filter_map(|cache| cache.upper) {
            private_dir(&upper.dir)?;
            private_dir(&upper.work)?;
        }
        for (place, _) in self.stand.iter().flat_map(|stand| &stand.caches) {
            private_dir(&self.home().join(place))?;
        }
        if !role.grant.is_empty() {
            std::fs::write(self.outbox_schema(), Outbox::schema().to_string())?;
        }
        let (name, email) = role.git_identity();
        let identity = format!(
            "[user]\n\tname = {}\n\temail = {}\n\
             [init]\n\tdefaultBranch = main\n[commit]\n\tgpgSign = false\n",
            config_value(&name),
            config_value(email)
        );
        std::fs::write(self.home().join(".gitconfig"), identity)
    }
}

/// Whether git knows more worktrees of a bench's repository than the first.
fn knows_a_second_worktree(repository: &Path) -> bool {
    let worktrees = std::fs::read_dir(repository.join("worktrees"));
    worktrees.is_ok_and(|all| all.take(2).count() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_in_which_a_second_worktree_may_lie_is_no_cache() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!knows_a_second_worktree(dir.path()));
        for (name, knows) in [("tree-1", false), ("side", true)] {
            std::fs::create_dir_all(dir.path().join("worktrees").join(name)).unwrap();
            assert_eq!(knows_a_second_worktree(dir.path()), knows, "{name}");
        }
    }
}

//! Everything that Carson wants to know about a bench, in one question.

use std::collections::BTreeSet;
use std::path::PathBuf;

use carson_proc::inspector::Question;
use git2::Sort;

use super::bounds::{OLDER, REMEMBERED, REPOSITORIES, TROUBLE, TROUBLE_LETTERS};
use super::changed_tests::changed_tests;
use super::changes::{Changes, spread};
use super::diff::show;
use super::drift::drifts;
use super::export;
use super::files::{self, Base, Files, Ground};
use super::found::PRIMARY;
pub(crate) use super::found::{Depth, Found, Look};
use super::gather::{Gathered, new_commits};
use super::git_dir::{GitDir, Memory};
use super::lower::Lower;
use super::nested_repos;
use super::objects::Objects;
use super::residue::{self, Residue};
use super::safe_read::Within;
use super::second_worktrees::Uncommitted;
use super::staged::Staged;
use super::submodules::Submodules;
use crate::oid::Oid;

impl Question for Look {
    const NAME: &'static str = "look";
    type Answer = Found;

    fn answer(self) -> Result<Found, String> {
        let places = [&self.bench, &self.tree];
        let within = Within::of(places).ok_or("the bench is gone")?;
        let mut objects = Objects::make(&self.out, &self.objects, &self.refs)?;
        let said = Said::of(&self, &within);
        if let Some(own) = &said.own {
            objects.borrow(own)?;
        }
        Looking {
            ask: &self,
            within: &within,
            objects: &objects,
            said: &said,
            uncommitted: Vec::new(),
            found: Found::default(),
        }
        .everything()
    }
}

/// What the session's repository says, before anything is believed.
struct Said {
    own: Option<GitDir>,
    branch: Option<Oid>,
    branch_log: Vec<Oid>,
    head: Option<Oid>,
    /// The branch that `HEAD` is on, by its full name.
    on: Option<String>,
    memory: Memory,
    index: Option<PathBuf>,
}

impl Said {
    fn of(ask: &Look, within: &Within) -> Self {
        let own = own(ask, within).filter(|_| ask.depth != Depth::Files);
        let with = |read: fn(&GitDir, &str) -> Option<Oid>, name| {
            own.as_ref().and_then(|own| read(own, name))
        };
        let branch = with(GitDir::target, &ask.branch);
        let is_whole = own.as_ref().is_some_and(|own| own.git != own.common);
        let head = with(|own, _| own.head(), "").filter(|_| is_whole);
        let on = own.as_ref().and_then(GitDir::branch_of_head);
        let log = own.as_ref().map(|own| own.log(&ask.branch));
        let index = own
            .as_ref()
            .and_then(|own| own.within.file(&own.git.join("index")));
        Self {
            branch,
            head,
            on,
            branch_log: log.unwrap_or_default(),
            memory: own.as_ref().map(GitDir::memory).unwrap_or_default(),
            index,
            own,
        }
    }
}

/// The firing's own repository, seen from its worktree; without the part that belongs to that when the
/// session removed it.
fn own(ask: &Look, within: &Within) -> Option<GitDir> {
    let common = within.dir(&ask.repository)?;
    let git = common.join("worktrees").join(&ask.name);
    let git = within.dir(&git).filter(|git| git.starts_with(&common));
    Some(GitDir {
        git: git.unwrap_or_else(|| common.clone()),
        common,
        within: within.clone(),
    })
}

struct Looking<'l> {
    ask: &'l Look,
    within: &'l Within,
    objects: &'l Objects,
    said: &'l Said,
    /// What lies in no commit of the session's, each as one.
    uncommitted: Vec<Oid>,
    found: Found,
}

impl Looking<'_> {
    fn everything(mut self) -> Result<Found, String> {
        let base = self.ask.base.git2();
        let tree = self.ask.tree.symlink_metadata();
        self.found.exists = tree.is_ok_and(|found| found.is_dir());
        if self.said.memory.cut {
            self.add_trouble("the session's repository has more refs than are read".to_owned());
        }
        let packs = self.objects.trouble.iter();
        packs.for_each(|why| self.add_trouble(why.clone()));
        match self.ask.depth {
            Depth::Commits => {
                let mut gathered = Gathered::new(self.objects, base);
                self.commits(&mut gathered);
                self.work(&mut gathered);
                self.export(gathered.all())?;
            }
            Depth::Whole | Depth::Files => self.with_files(base)?,
        }
        self.describe_changes(base)?;
        self.found.trouble.truncate(TROUBLE);
        Ok(self.found)
    }

    fn with_files(&mut self, base: git2::Oid) -> Result<(), String> {
        let head = self.said.head.as_ref().or(self.said.branch.as_ref());
        let head = head.map_or(base, Oid::git2);
        let mut staged = Staged::read(self.objects, self.said.index.as_deref(), head);
        let let_go = staged.let_go(self.objects, base);
        let files = self.files(&staged, let_go)?;
        // Behind the files: an object that is gone may have been made again of one of them.
        let tree = staged.tree(self.objects).unwrap_or_else(|why| {
            self.add_trouble(format!("something staged cannot be read: {why}"));
            None
        });
        let mut gathered = Gathered::new(self.objects, base);
        self.commits(&mut gathered);
        self.work(&mut gathered);
        self.trees(&mut gathered, tree, &files);
        self.second_worktrees();
        // What a broken object keeps from being found is not found: worth less, and said above.
        let _ = self.remember(&mut gathered);
        self.export(gathered.all())?;
        if self.ask.depth == Depth::Whole {
            self.inner(&files.repositories)?;
        }
        Ok(())
    }

    /// The newest commit, or where `HEAD` stands, does not come in.
    fn untaken(&mut self, oid: &Oid, why: &str) {
        let why = format!("{oid} cannot be taken over: {why}");
        self.found.untaken.get_or_insert_with(|| why.clone());
        self.add_trouble(why);
    }

    fn add_trouble(&mut self, why: String) {
        if self.found.trouble.len() < TROUBLE {
            self.found
                .trouble
                .push(why.chars().take(TROUBLE_LETTERS).collect());
        }
    }

    fn files(&mut self, staged: &Staged, let_go: Vec<Vec<u8>>) -> Result<Files, String> {
        if !self.found.exists {
            return Ok(Files::default());
        }
        let base = Base::read(&self.ask.index, &self.ask.tree)?;
        let mut submodules = Submodules::new(self.within, &self.ask.out, &self.ask.objects);
        let ground = Ground {
            objects: self.objects,
            base,
            residue: Residue::read(&self.ask.residue, &self.ask.tree),
            lower: self.ask.layers.as_ref().and_then(Lower::of),
            staged,
            let_go,
            submodules: &mut submodules,
        };
        let mut files = files::take(&self.ask.tree, ground)?;
        files.repositories.extend(self.stranger());
        for trouble in std::mem::take(&mut files.trouble) {
            self.add_trouble(format!("something in it cannot be taken up: {trouble}"));
        }
        self.found.renamed = files.renamed.iter().take(TROUBLE).cloned().collect();
        self.found.unreadable = files.unreadable;
        self.found.hidden = std::mem::take(&mut files.hidden);
        Ok(files)
    }

    /// The worktree itself, when its `.git` is not the file that git put there.
    fn stranger(&self) -> Option<PathBuf> {
        let git = self.ask.tree.join(".git");
        git.symlink_metadata().ok()?;
        let found = GitDir::at(&self.ask.tree, self.within);
        let own = self.said.own.as_ref();
        let ours = found.is_some_and(|found| own.is_some_and(|own| own.git == found.git));
        (!ours).then(|| self.ask.tree.clone())
    }

    /// The branch as far as it is whole, and `HEAD`.
    fn commits(&mut self, gathered: &mut Gathered<'_>) {
        self.found.branch.clone_from(&self.said.branch);
        let said: Vec<Oid> = self
            .said
            .branch
            .iter()
            .chain(&self.said.branch_log)
            .cloned()
            .collect();
        for (at, oid) in said.iter().take(REMEMBERED).enumerate() {
            match gathered.commit(oid.git2()) {
                Ok(()) => {
                    self.found.newest = Some(oid.clone());
                    break;
                }
                Err(why) if at == 0 => self.untaken(oid, &why),
                Err(_) => {}
            }
        }
        let Some(head) = &self.said.head else { return };
        match gathered.commit(head.git2()) {
            Ok(()) => self.found.head = Some(head.clone()),
            Err(why) => self.untaken(head, &why),
        }
    }

    fn trees(&mut self, gathered: &mut Gathered<'_>, staged: Option<git2::Oid>, files: &Files) {
        let beside = self.objects.commit(self.ask.base.git2());
        let beside = beside.ok().map(|base| base.tree_id());
        if let Some(tree) = staged {
            match gathered.tree(tree, beside) {
                Ok(()) => self.found.staged = Some(tree.into()),
                // Names of objects that are not there: nothing of it can be saved.
                Err(why) => {
                    self.add_trouble(format!("something staged cannot be taken over: {why}"));
                }
            }
        }
        if let Some(tree) = files.tree {
            match gathered.tree(tree, beside) {
                Ok(()) => self.found.files = Some(tree.into()),
                Err(why) => self.add_trouble(format!("the files cannot be taken over: {why}")),
            }
        }
        let hidden = self.found.hidden.tree.take();
        if let Some(tree) = hidden {
            match gathered.tree(tree.git2(), beside) {
                Ok(()) => self.found.hidden.tree = Some(tree),
                Err(why) => self.add_trouble(format!("hidden files cannot be taken over: {why}")),
            }
        }
    }

    fn second_worktrees(&mut self) {
        if let Some(own) = &self.said.own
            && !self.ask.beside.is_empty()
        {
            let left = Uncommitted::of(self.ask, self.within, self.objects, own);
            left.trouble
                .into_iter()
                .for_each(|why| self.add_trouble(why));
            self.uncommitted = left.commits;
            self.found.unreadable += left.unreadable;
        }
    }

    /// What only refs and logs of the session still name. That is worth less: it is kept as far as
    /// it is whole.
    fn remember(&mut self, gathered: &mut Gathered<'_>) -> Result<(), git2::Error> {
        let repo = &self.objects.repo;
        let known: BTreeSet<git2::Oid> = repo
            .references()?
            .filter_map(|one| one.ok()?.target())
            .collect();
        let refs = self.said.memory.refs.values();
        let logged = self.said.memory.logged.iter().chain(&self.uncommitted);
        let all = logged.chain(refs).map(Oid::git2);
        let base = self.ask.base.git2();
        let mut walk = repo.revwalk()?;
        walk.set_sorting(Sort::TOPOLOGICAL)?;
        let mut pushed = BTreeSet::new();
        for oid in all.filter(|oid| *oid != base && !known.contains(oid)) {
            let commit = repo
                .find_object(oid, None)
                .and_then(|found| found.peel_to_commit());
            if pushed.len() <= REMEMBERED
                && let Ok(commit) = commit
                && pushed.insert(commit.id())
            {
                walk.push(commit.id())?;
            }
        }
        if pushed.is_empty() {
            return Ok(());
        }
        if pushed.len() > REMEMBERED {
            self.add_trouble(format!("it has let go of more than {REMEMBERED} commits"));
        }
        for hidden in [
            Some(&self.ask.base),
            self.found.newest.as_ref(),
            self.found.head.as_ref(),
        ] {
            if let Some(oid) = hidden.filter(|oid| repo.find_commit(oid.git2()).is_ok()) {
                walk.hide(oid.git2())?;
            }
        }
        walk.hide_glob("refs/remotes/origin/*")?;
        // Children come first, so one that is known already is no tip.
        let mut below = BTreeSet::new();
        for oid in walk.take(super::bounds::COMMITS) {
            let Ok(oid) = oid else { break };
            if !below.contains(&oid) && gathered.commit(oid).is_ok() {
                self.found.remembered.push(oid.into());
            }
            below.extend(
                repo.find_commit(oid)
                    .iter()
                    .flat_map(git2::Commit::parent_ids),
            );
        }
        Ok(())
    }

    /// Packs everything together; where something in it is not what its name says, each commit and
    /// tree by itself, so that the rest comes in.
    fn export(&mut self, all: &[git2::Oid]) -> Result<(), String> {
        match export::pack(self.objects, all) {
            Ok(pack) => self.found.packs.extend(pack),
            Err(_) => self.one_by_one()?,
        }
        Ok(())
    }

    fn one_by_one(&mut self) -> Result<(), String> {
        let mut good = Vec::new();
        for pick in PRIMARY {
            let Some(tip) = pick(&mut self.found).take() else {
                continue;
            };
            match self.alone(tip.git2()) {
                Ok((tip, objects)) => {
                    good.extend(objects);
                    *pick(&mut self.found) = Some(tip.into());
                }
                Err(why) => {
                    // Not the files, which are a tree.
                    if self.objects.commit(tip.git2()).is_ok() {
                        self.untaken(&tip, &why);
                    } else {
                        self.add_trouble(format!("{tip} cannot be taken over: {why}"));
                    }
                }
            }
        }
        if self.found.newest.is_none() {
            // What came before one that does not come in may.
            let mut older = self.said.branch_log.iter().take(OLDER);
            let first = older.find_map(|oid| {
                let objects = self.commits_alone(&[oid.git2()]).ok()?;
                Some((oid.clone(), objects))
            });
            if let Some((oid, objects)) = first {
                good.extend(objects);
                self.found.newest = Some(oid);
            }
        }
        for (name, oid) in std::mem::take(&mut self.found.beside) {
            match self.commits_alone(&[oid.git2()]) {
                Ok(objects) => {
                    good.extend(objects);
                    self.found.beside.push((name, oid));
                }
                Err(why) => self.add_trouble(format!("{oid} cannot be taken over: {why}")),
            }
        }
        let remembered = std::mem::take(&mut self.found.remembered);
        let tips: Vec<git2::Oid> = remembered.iter().map(Oid::git2).collect();
        match self.commits_alone(&tips) {
            Ok(objects) => {
                good.extend(objects);
                self.found.remembered = remembered;
            }
            Err(why) => {
                self.add_trouble(format!("what it has let go of cannot be taken over: {why}"));
            }
        }
        good.sort_unstable();
        good.dedup();
        self.found.packs.extend(export::pack(self.objects, &good)?);
        Ok(())
    }

    /// One commit or tree with what it leads to. Where git refuses what some files of its own say,
    /// the tree is one in which these have other names.
    fn alone(&mut self, tip: git2::Oid) -> Result<(git2::Oid, Vec<git2::Oid>), String> {
        let repo = &self.objects.repo;
        if repo.find_tree(tip).is_err() {
            return Ok((tip, self.commits_alone(&[tip])?));
        }
        let base = self.objects.commit(self.ask.base.git2()).ok();
        let beside = base.map(|base| base.tree_id());
        let pack = |tip: git2::Oid| {
            let mut alone = Gathered::new(self.objects, self.ask.base.git2());
            alone.tree(tip, beside)?;
            export::pack(self.objects, alone.all())?;
            Ok::<_, String>(alone.all().to_vec())
        };
        let why = match pack(tip) {
            Ok(objects) => return Ok((tip, objects)),
            Err(why) => why,
        };
        let (tame, renamed) =
            export::without_git_files(self.objects, tip, beside).map_err(|_| why.clone())?;
        let objects = pack(tame).map_err(|_| why)?;
        self.found.renamed.extend(renamed);
        self.found.renamed.truncate(TROUBLE);
        Ok((tame, objects))
    }

    fn commits_alone(&self, tips: &[git2::Oid]) -> Result<Vec<git2::Oid>, String> {
        let mut alone = Gathered::new(self.objects, self.ask.base.git2());
        tips.iter().try_for_each(|tip| alone.commit(*tip))?;
        export::pack(self.objects, alone.all())?;
        Ok(alone.all().to_vec())
    }

    /// Commits of repositories inside; they come in packs of their own.
    fn inner(&mut self, repositories: &[PathBuf]) -> Result<(), String> {
        let common = self.said.own.as_ref().map(|own| own.common.as_path());
        let places = (self.ask.out.as_path(), self.ask.objects.as_path());
        let modules = self
            .said
            .own
            .iter()
            .flat_map(|own| own.modules(REPOSITORIES));
        let of_setup = residue::commits(&self.ask.residue);
        let repositories: Vec<PathBuf> = repositories.iter().cloned().chain(modules).collect();
        for batch in nested_repos::batches(&repositories, self.within, common, places) {
            let batch = batch?;
            let packs = batch.objects.trouble.iter().cloned();
            let trouble = batch.trouble.into_iter().chain(packs);
            trouble.for_each(|why| self.add_trouble(why));
            let mut gathered = Gathered::new(&batch.objects, self.ask.base.git2());
            let mut own = Vec::new();
            let own_commits = batch.own.into_iter();
            for (dir, oid) in own_commits.filter(|(_, oid)| !of_setup.contains(oid)) {
                match gathered.commit(oid) {
                    Ok(()) => own.push((dir.display().to_string(), Oid::from(oid))),
                    Err(why) => {
                        self.add_trouble(format!(
                            "{} has commits of its own: {why}",
                            dir.display()
                        ));
                    }
                }
            }
            match export::pack(&batch.objects, gathered.all()) {
                Ok(pack) => {
                    self.found.packs.extend(pack);
                    self.found.inner.extend(own);
                }
                Err(why) => {
                    self.add_trouble(format!("commits of repositories inside stay there: {why}"));
                }
            }
        }
        self.found.packs.sort_unstable();
        self.found.packs.dedup();
        Ok(())
    }

    /// Commits that `HEAD` has and the branch has not: a snapshot joins them.
    fn strayed(
        &self,
        head: git2::Oid,
        tip: git2::Oid,
        base: git2::Oid,
    ) -> Result<Vec<git2::Oid>, String> {
        if head == tip {
            return Ok(Vec::new());
        }
        let on_branch = new_commits(self.objects, tip, base)?;
        let on_branch: BTreeSet<git2::Oid> = on_branch.into_iter().collect();
        let mut stray = new_commits(self.objects, head, base)?;
        stray.retain(|oid| !on_branch.contains(oid));
        Ok(stray)
    }

    /// What the work brings.
    fn describe_changes(&mut self, base: git2::Oid) -> Result<(), String> {
        let tip = self.found.newest.as_ref().map_or(base, Oid::git2);
        let mut changes = Changes::to(
            self.objects,
            &self.ask.out.join("outgoing"),
            self.ask.outgoing,
        )?;
        self.found.committed = changes.commits(tip, base);
        let tree = |oid| self.objects.commit(oid).map(|commit| commit.tree_id());
        let head = self.found.head.as_ref().map_or(tip, Oid::git2);
        let left: Vec<git2::Oid> = self
            .found
            .staged
            .iter()
            .chain(&self.found.files)
            .map(Oid::git2)
            .collect();
        let stray = self.strayed(head, tip, base)?;
        self.found.left = changes.left(&stray, &left, tree(head)?);
        changes.finish()?;
        let (old, new) = (tree(base)?, tree(tip)?);
        self.found.spread = spread(self.objects, old, new).unwrap_or(u64::MAX);
        if self.ask.show {
            self.found.shown = show(self.objects, old, new).ok();
            self.found.drift = drifts(self.objects, old, new);
            self.found.tests = changed_tests(self.objects, old, new);
        }
        Ok(())
    }
}

mod tips;

#[cfg(test)]
mod tests;

//! Where the session left its commits.

use std::collections::HashSet;

use carson_core::untrusted::one_line;

use super::Looking;
use crate::inspect::bounds::{BRANCHES, REMEMBERED};
use crate::inspect::gather::Gathered;
use crate::inspect::git_dir::GitDir;
use crate::inspect::work::{Tip, Tips, choose};
use crate::oid::Oid;

/// Where branches lie.
const HEADS: &str = "refs/heads/";
/// What stands for the branch of a `HEAD` that is on none.
const DETACHED: &str = "HEAD (detached)";
/// Letters of a branch's name that are told.
const LETTERS: usize = 80;

impl Looking<'_> {
    /// Which of the session's commits are the work, and which are not in it.
    pub(super) fn work(&mut self, gathered: &mut Gathered<'_>) {
        let base = self.ask.base.git2();
        let tips = self.tips(gathered, base);
        let chosen = choose(self.objects, base, &tips);
        let elsewhere = chosen
            .work
            .filter(|work| tips.branch.as_ref().is_none_or(|tip| tip.oid != *work));
        if let Some(work) = elsewhere {
            self.found.branch = Some(work.into());
            self.found.newest = Some(work.into());
        }
        let beside = chosen.beside.into_iter();
        self.found.beside = beside.map(|(name, oid)| (name, oid.into())).collect();
    }

    /// Every branch of the session's with commits of its own, as far as they are whole. Where there is none, it is what it
    /// committed on no branch before it came back: beside other work that may have been a trial.
    fn tips(&self, gathered: &mut Gathered<'_>, base: git2::Oid) -> Tips {
        let mut tip = |name: &str, oid: git2::Oid| {
            gathered.commit(oid).ok()?;
            let mut tip = Tip::new(self.objects, base, short(name), oid)?;
            let log = self.said.own.iter().flat_map(|own| own.log(name));
            tip.log = log.map(|oid| oid.git2()).collect();
            Some(tip)
        };
        let at_branch = self.found.newest.as_ref().map(Oid::git2);
        let branch = at_branch.and_then(|oid| tip(&self.ask.branch, oid));
        let on = self.said.on.as_deref();
        let at_head = self.found.head.as_ref().map(Oid::git2);
        let head = at_head.filter(|_| on != Some(self.ask.branch.as_str()));
        let head = head.and_then(|oid| tip(on.unwrap_or(DETACHED), oid));
        let refs = self.said.memory.refs.iter();
        let mut others: Vec<(&String, git2::Oid)> = refs
            .filter(|(name, _)| name.starts_with(HEADS))
            .filter(|(name, _)| **name != self.ask.branch && Some(name.as_str()) != on)
            .map(|(name, oid)| (name, oid.git2()))
            .collect();
        others.sort_unstable();
        let mut seen: HashSet<git2::Oid> = [Some(base), at_branch, at_head]
            .into_iter()
            .flatten()
            .collect();
        others.retain(|(_, oid)| seen.insert(*oid));
        let others = others.into_iter().take(REMEMBERED);
        let others = others.filter_map(|(name, oid)| tip(name, oid));
        // One more than are compared: there are too many then.
        let mut others: Vec<Tip> = others.take(BRANCHES + 1).collect();
        if branch.is_none() && head.is_none() && others.is_empty() {
            let left = self.said.own.iter().flat_map(GitDir::left_on_no_branch);
            let mut left = left.take(REMEMBERED);
            others.extend(left.find_map(|oid| tip(DETACHED, oid.git2())));
        }
        Tips {
            others,
            branch,
            head,
        }
    }
}

/// The short name of a branch; the session chose it.
fn short(name: &str) -> String {
    one_line(name.strip_prefix(HEADS).unwrap_or(name), LETTERS)
}

//! Which commits are the work: those since the base, wherever the session made them.
//!
//! A session is given a branch, and makes one of its own, leaves `HEAD` detached, or renames what it
//! got. The work is the commit that has all others in its history. One that another has copied
//! (cherry-picked, rebased, squashed) or moved away from (amended) is in that one, too. Where no commit
//! has them all, one of them is the work, and the rest is named.

use std::collections::HashSet;

use git2::Oid;

use super::bounds::{BRANCHES, COPIES};
use super::gather::new_commits;
use super::objects::Objects;
use super::tree_diff::changed;

/// A commit that the base does not have, by the name under which the session left it.
pub(super) struct Tip {
    pub name: String,
    pub oid: Oid,
    /// Where that branch stood before.
    pub log: HashSet<Oid>,
    /// What it has and the base has not, parents first.
    new: Vec<Oid>,
}

impl Tip {
    /// `None` when the base, or what else the remote has, leads to it.
    pub(super) fn new(objects: &Objects, base: Oid, name: String, oid: Oid) -> Option<Self> {
        let new = new_commits(objects, oid, base).ok()?;
        (!new.is_empty()).then(|| Self {
            name,
            oid,
            log: HashSet::new(),
            new,
        })
    }
}

/// Where the session left its commits.
#[derive(Default)]
pub(super) struct Tips {
    /// Where `HEAD` stands, when that is not the firing's branch.
    pub head: Option<Tip>,
    /// The firing's branch.
    pub branch: Option<Tip>,
    /// Branches of the session's own.
    pub others: Vec<Tip>,
}

/// The commit that is the work, when there is one, and what it does not have.
pub(super) struct Chosen {
    pub work: Option<Oid>,
    pub beside: Vec<(String, Oid)>,
}

/// Chooses among the tips.
pub(super) fn choose(objects: &Objects, base: Oid, tips: &Tips) -> Chosen {
    let all: Vec<&Tip> = [&tips.head, &tips.branch]
        .into_iter()
        .flatten()
        .chain(tips.others.iter().take(BRANCHES))
        .collect();
    let unseen = tips.others.iter().skip(BRANCHES);
    let lacks = |work: &Tip| -> Vec<(String, Oid)> {
        let lacks = all.iter().copied();
        let lacks = lacks.filter(|tip| !holds(objects, work, tip));
        lacks.chain(unseen.clone()).map(named).collect()
    };
    let begun = |tip: &&&Tip| descends(objects, tip.oid, base);
    for tip in all.iter().filter(begun) {
        if lacks(tip).is_empty() {
            return Chosen {
                work: Some(tip.oid),
                beside: Vec::new(),
            };
        }
    }
    let goes_on = |head: &&Tip| {
        let branch = tips.branch.as_ref();
        begun(&head) && branch.is_none_or(|branch| holds(objects, head, branch))
    };
    let head = tips.head.as_ref();
    let work = head
        .filter(goes_on)
        .or(tips.branch.as_ref())
        .or_else(|| all.iter().find(begun).copied());
    match work {
        Some(work) => Chosen {
            work: Some(work.oid),
            beside: lacks(work),
        },
        None => Chosen {
            work: None,
            beside: all.iter().copied().chain(unseen).map(named).collect(),
        },
    }
}

fn named(tip: &Tip) -> (String, Oid) {
    (tip.name.clone(), tip.oid)
}

/// Whether nothing of `tip` is missing in `work`.
fn holds(objects: &Objects, work: &Tip, tip: &Tip) -> bool {
    descends(objects, work.oid, tip.oid)
        || work.log.contains(&tip.oid)
        || copied(objects, work, tip).unwrap_or(false)
}

fn descends(objects: &Objects, tip: Oid, from: Oid) -> bool {
    tip == from || (objects.repo.graph_descendant_of(tip, from)).unwrap_or(false)
}

/// Whether a commit of the work has everything as `tip` made it.
fn copied(objects: &Objects, work: &Tip, tip: &Tip) -> Result<bool, String> {
    let begun = objects.repo.merge_base(work.oid, tip.oid);
    let begun = begun.map_err(|error| error.message().to_owned())?;
    let tree = |oid| objects.commit(oid).map(|commit| commit.tree_id());
    let made = changed(objects, tree(tip.oid)?, &[tree(begun)?])?;
    let has = |oid: &Oid| -> Result<bool, String> {
        let tree = objects.tree(tree(*oid)?)?;
        let same = made.iter().filter(|one| !one.is_dir()).all(|one| {
            let here = tree.get_path(&crate::paths::path_of(&one.path)).ok();
            here.map(|here| (here.id(), here.filemode())) == one.new
        });
        Ok(same)
    };
    let mut newest = work.new.iter().rev().take(COPIES);
    newest.try_fold(false, |found, oid| Ok(found || has(oid)?))
}

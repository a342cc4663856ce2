//! What a commit changes, held against a story: where the work is a commit and no tree that lies there.

use std::path::{Path, PathBuf};

use super::judge::{Allowed, Violation, leads_out};
use crate::tree::TreePath;

/// One path that a commit changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Its path from the top.
    pub path: String,
    /// The base has nothing there.
    pub is_new: bool,
    /// What the commit has there.
    pub now: Leaf,
}

/// What a commit has at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// Nothing.
    Gone,
    /// A regular file.
    File,
    /// A link, and where it leads.
    Link(Vec<u8>),
    /// A commit of another repository.
    Repository,
}

impl Allowed {
    /// What of a commit's changes it may not have made; `plan` is the plan's own file.
    #[must_use]
    pub fn strays(&self, plan: &str, touched: &[Touched]) -> Vec<Violation> {
        touched
            .iter()
            .filter_map(|one| self.stray(plan, one))
            .collect()
    }

    fn stray(&self, plan: &str, one: &Touched) -> Option<Violation> {
        // On some file systems both are one file.
        if one.path.eq_ignore_ascii_case(plan) {
            return Some(Violation::Plan);
        }
        let path = match TreePath::new(one.path.clone()) {
            Ok(path) => path,
            Err(why) => return Some(Violation::Unseen(one.path.clone(), why)),
        };
        let word = match (&one.now, one.is_new) {
            (Leaf::Gone, _) => "deleted",
            (Leaf::Repository, _) => "a repository inside",
            (_, true) => "added",
            (_, false) => "changed",
        };
        let is_own = path
            .parts()
            .next()
            .is_some_and(|part| part.eq_ignore_ascii_case(b".carson"));
        if is_own || one.now == Leaf::Repository || !self.covers(&path) {
            return Some(Violation::Outside(path, word));
        }
        match &one.now {
            Leaf::Link(to) if leads_out(&path, to) => Some(Violation::LeadsOut(path)),
            _ => None,
        }
    }

    /// The files that must be created, and that a commit with these changes did not make or change.
    #[must_use]
    pub fn missing(&self, touched: &[Touched]) -> Vec<PathBuf> {
        let is_made = |path: &Path| {
            let mut all = touched.iter();
            all.any(|one| Path::new(&one.path) == path && one.now == Leaf::File)
        };
        let missing = self.created().filter(|path| !is_made(path));
        missing.map(Path::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stories::native::written::{Mode, Status, Story};

    fn allowed(mode: Mode) -> Allowed {
        Allowed::of(&Story {
            id: "S-1".into(),
            priority: 1,
            title: "t".into(),
            prompt: "p".into(),
            mode,
            scope: vec!["src/".into(), "plan.json".into(), ".carson/".into()],
            acceptance: vec!["Created audit/S-1.md".into()],
            promise: None,
            status: Status::Open,
            attempts: 0,
        })
        .unwrap()
    }

    fn touched(path: &str, is_new: bool, now: Leaf) -> Touched {
        Touched {
            path: path.to_owned(),
            is_new,
            now,
        }
    }

    #[test]
    fn each_kind_of_change_outside_is_named() {
        let fix = allowed(Mode::Fix);
        let link = |to: &str| Leaf::Link(to.into());
        for (one, right) in [
            (touched("src/a", false, Leaf::File), None),
            (touched("src/a", false, Leaf::Gone), None),
            (touched("audit/S-1.md", true, Leaf::File), None),
            (touched("src/a/l", true, link("../b")), None),
            (
                touched("src/l", true, link("../../etc")),
                Some("src/l is a link that leads out of the tree"),
            ),
            (
                touched("src/l", true, link("/etc")),
                Some("src/l is a link that leads out of the tree"),
            ),
            (
                touched("keep", false, Leaf::File),
                Some("keep (changed) is outside of its scope"),
            ),
            (
                touched("keep", true, Leaf::File),
                Some("keep (added) is outside of its scope"),
            ),
            (
                touched("keep", false, Leaf::Gone),
                Some("keep (deleted) is outside of its scope"),
            ),
            (
                touched("src/sub", true, Leaf::Repository),
                Some("src/sub (a repository inside) is outside of its scope"),
            ),
            (
                touched("plan.json", false, Leaf::File),
                Some("the plan was changed"),
            ),
            (
                touched("PLAN.json", true, Leaf::File),
                Some("the plan was changed"),
            ),
            (
                touched(".carson/x", true, Leaf::File),
                Some(".carson/x (added) is outside of its scope"),
            ),
        ] {
            let said = fix.strays("plan.json", std::slice::from_ref(&one));
            let said = said.first().map(ToString::to_string);
            assert_eq!(said.as_deref(), right, "{one:?}");
        }
        let audit = allowed(Mode::Audit);
        let report = touched("audit/S-1.md", true, Leaf::File);
        assert!(audit.strays("plan.json", &[report]).is_empty());
        let source = touched("src/a", false, Leaf::File);
        assert_eq!(audit.strays("plan.json", &[source]).len(), 1);
    }

    #[test]
    fn a_report_is_a_regular_file_that_the_work_made_or_changed() {
        let story = allowed(Mode::Fix);
        let missing = |now: Leaf| story.missing(&[touched("audit/S-1.md", true, now)]);
        assert!(missing(Leaf::File).is_empty());
        for now in [Leaf::Gone, Leaf::Link("x".into()), Leaf::Repository] {
            assert_eq!(missing(now), [Path::new("audit/S-1.md")]);
        }
        assert_eq!(story.missing(&[]).len(), 1);
    }
}

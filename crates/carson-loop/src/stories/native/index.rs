//! What an attempt did to the index, held against what it may: what is staged is what a person's next commit has.

use std::collections::BTreeMap;

use super::error::StoriesError;
use super::judge::{Allowed, Violation};
use super::repo::Repo;
use crate::tree::TreePath;

/// Its entries, by path from the top of the work tree and stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index(BTreeMap<(TreePath, String), Staged>);

/// What it says of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Staged {
    /// The mode and the object.
    what: String,
    /// Git is told not to look at the file: `assume-unchanged`, `skip-worktree`.
    is_hidden: bool,
}

impl Index {
    /// That of a repository.
    ///
    /// # Errors
    /// When git fails.
    pub async fn of(repo: &Repo) -> Result<Self, StoriesError> {
        Ok(Self::read(&repo.staged().await?))
    }

    /// `H 100644 OBJECT STAGE\tPATH`, as git-ls-files(1) has it: a small letter is of a file that is assumed to be unchanged,
    /// an `S` of one that is skipped.
    fn read(said: &[u8]) -> Self {
        let lines = said.split(|byte| *byte == 0);
        let entry = |line: &[u8]| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let path = TreePath::new(&line[tab + 1..]).ok()?;
            let (tag, rest) = str::from_utf8(&line[..tab]).ok()?.split_once(' ')?;
            let (what, stage) = rest.rsplit_once(' ')?;
            let is_hidden = tag.starts_with(|c: char| c.is_lowercase() || c == 'S');
            let staged = Staged {
                what: what.to_owned(),
                is_hidden,
            };
            Some(((path, stage.to_owned()), staged))
        };
        Self(lines.filter_map(entry).collect())
    }

    /// What of the way from this one to another may not be. The plan may be staged as we wrote it.
    ///
    /// # Errors
    /// When git fails.
    pub async fn violations(
        &self,
        after: &Self,
        repo: &Repo,
        allowed: &Allowed,
        plan: Option<(&TreePath, &[u8])>,
    ) -> Result<Vec<Violation>, StoriesError> {
        let ours = match plan {
            Some((path, bytes)) => Some((path, repo.blob(bytes).await?)),
            None => None,
        };
        let is_ours = |path: &TreePath, staged: Option<&Staged>| {
            let staged = staged.filter(|staged| !staged.is_hidden);
            let what = staged.and_then(|staged| staged.what.split_once(' '));
            let is_plain = |mode: &str| matches!(mode, "100644" | "100755");
            ours.as_ref().is_some_and(|(plan, blob)| {
                *plan == path && what.is_some_and(|(mode, object)| is_plain(mode) && object == blob)
            })
        };
        let mut keys: Vec<_> = self.0.keys().chain(after.0.keys()).collect();
        keys.sort();
        keys.dedup();
        let mut found = Vec::new();
        for key in keys {
            let (old, new) = (self.0.get(key), after.0.get(key));
            let Some(path) = repo.in_tree(&key.0).filter(|_| old != new) else {
                found
                    .extend((old != new).then(|| Violation::Staged(key.0.clone(), word(old, new))));
                continue;
            };
            let was_hidden = old.is_some_and(|old| old.is_hidden);
            let is_plan = plan.is_some_and(|(plan, _)| *plan == path);
            let may = !is_plan && allowed.covers(&path) && path.parts().next() != Some(b".carson");
            if new.is_some_and(|new| new.is_hidden) && !was_hidden {
                found.push(Violation::Hidden(path));
            } else if !may && !is_ours(&path, new) {
                found.push(Violation::Staged(path, word(old, new)));
            }
        }
        found.dedup();
        Ok(found)
    }
}

fn word(old: Option<&Staged>, new: Option<&Staged>) -> &'static str {
    match (old, new) {
        (None, _) => "added",
        (_, None) => "taken out",
        _ => "changed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_its_marks() {
        let said = b"H 100644 aa 0\tplain\0h 100644 bb 0\tassumed\0S 100755 cc 0\tski\tpped\0s 100644 dd 0\tboth\0M 100644 ee 2\tmerged\0";
        let index = Index::read(said);
        let hidden: Vec<String> = index
            .0
            .iter()
            .filter(|(_, staged)| staged.is_hidden)
            .map(|((path, _), _)| path.to_string())
            .collect();
        assert_eq!(hidden.len(), 3, "{hidden:?}");
        let merged = (TreePath::new("merged").unwrap(), "2".to_owned());
        assert_eq!(index.0[&merged].what, "100644 ee");
    }
}

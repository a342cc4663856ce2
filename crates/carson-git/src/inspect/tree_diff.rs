//! Which paths of a tree differ from those of others.

use git2::{ObjectType, Oid, Tree};

use super::bounds::{CHANGED, DEPTH, PATHS};
use super::objects::Objects;

/// What is at a path: object and mode.
pub(super) type At = (Oid, i32);

/// One path that differs.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    pub path: Vec<u8>,
    /// What is there now; `None` when it went.
    pub new: Option<At>,
    /// What was there, in the first of the others that had something.
    pub old: Option<At>,
}

impl Changed {
    /// Whether it is a directory: told only where nothing was before.
    pub(super) fn is_dir(&self) -> bool {
        self.new.is_some_and(|(_, mode)| mode == 0o040_000)
    }
}

/// Every path whose content equals that of none of `olds`, and, with one of these, what went.
/// Stops with an error when there are too many: trees in trees make many paths out of few objects.
pub(super) fn changed(objects: &Objects, new: Oid, olds: &[Oid]) -> Result<Vec<Changed>, String> {
    let mut walk = Walk {
        objects,
        found: Vec::new(),
        seen: 0,
        paths: 0,
    };
    let olds: Vec<Option<Oid>> = olds.iter().copied().map(Some).collect();
    walk.tree(Some(new), &olds, &[], 0)?;
    Ok(walk.found)
}

struct Walk<'o> {
    objects: &'o Objects,
    found: Vec<Changed>,
    seen: usize,
    /// Bytes of their paths.
    paths: usize,
}

impl Walk<'_> {
    fn tree(
        &mut self,
        new: Option<Oid>,
        olds: &[Option<Oid>],
        above: &[u8],
        depth: usize,
    ) -> Result<(), String> {
        if new.is_some() && olds.contains(&new) {
            return Ok(());
        }
        if depth > DEPTH {
            return Err(format!("directories lie deeper than {DEPTH}"));
        }
        let objects = self.objects;
        let find = |oid: &Option<Oid>| oid.map(|oid| objects.tree(oid)).transpose();
        let new = find(&new)?;
        let olds = olds.iter().map(find).collect::<Result<Vec<_>, String>>()?;
        for entry in new.iter().flat_map(Tree::iter) {
            let name = entry.name_bytes();
            let were: Vec<Option<At>> = olds.iter().map(|old| at(old.as_ref(), name)).collect();
            let is: At = (entry.id(), entry.filemode());
            if were.contains(&Some(is)) {
                continue;
            }
            let path = join(above, name);
            let old = were.iter().flatten().next().copied();
            if entry.kind() == Some(ObjectType::Tree) {
                if old.is_none() {
                    self.add(path.clone(), Some(is), None)?;
                }
                let below: Vec<_> = were.iter().map(|was| was.and_then(tree_of)).collect();
                self.tree(Some(entry.id()), &below, &path, depth + 1)?;
            } else {
                if let Some(was) = were.first().copied().flatten().and_then(tree_of) {
                    self.tree(None, &[Some(was)], &path, depth + 1)?;
                }
                let old = old.filter(|old| tree_of(*old).is_none());
                self.add(path, Some(is), old)?;
            }
        }
        // What went from one of several was said when that one was made.
        let [Some(old)] = olds.as_slice() else {
            return Ok(());
        };
        for entry in old {
            let name = entry.name_bytes();
            let stays = at(new.as_ref(), name);
            let (was, path) = ((entry.id(), entry.filemode()), join(above, name));
            match (stays, tree_of(was)) {
                (None, Some(tree)) => self.tree(None, &[Some(tree)], &path, depth + 1)?,
                (None, None) => self.add(path, None, Some(was))?,
                (Some(is), None) if tree_of(is).is_some() => self.add(path, None, Some(was))?,
                _ => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, path: Vec<u8>, new: Option<At>, old: Option<At>) -> Result<(), String> {
        self.seen += 1;
        self.paths += path.len();
        if self.paths > PATHS {
            return Err("the paths that were changed are too long".to_owned());
        }
        if self.seen > CHANGED {
            return Err(format!("more than {CHANGED} paths were changed"));
        }
        self.found.push(Changed { path, new, old });
        Ok(())
    }
}

fn at(tree: Option<&Tree<'_>>, name: &[u8]) -> Option<At> {
    let entry = tree?.get_name_bytes(name)?;
    Some((entry.id(), entry.filemode()))
}

fn tree_of((oid, mode): At) -> Option<Oid> {
    (mode == 0o040_000).then_some(oid)
}

fn join(above: &[u8], name: &[u8]) -> Vec<u8> {
    match above {
        [] => name.to_vec(),
        above => [above, b"/", name].concat(),
    }
}

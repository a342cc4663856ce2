//! Where a path leads, in words and, where allowed, on the disk.

use std::path::{Path, PathBuf};

use crate::context::{Context, Sight};
use crate::glob;
use crate::marks::{self, ANY, DEEP, STAR};

/// Where a path lies, seen from the firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The worktree itself, or everything in it.
    Root,
    /// The worktree's own `.git`.
    Git,
    /// Something in the worktree.
    Inside,
    /// The firing's private temp.
    Temp,
    /// Anywhere else.
    Outside,
    /// It cannot be told.
    Unknown,
}

/// Longest path the kernel takes in one piece.
const MAX_PATH: usize = 4096;

/// The absolute, normalised path of `text` seen from `cwd`. `None` when it depends on something
/// unknown (a path that starts with a mark, or a `..` that climbs over one) or is longer than a path
/// can be.
pub fn absolute(text: &str, cwd: &str) -> Option<String> {
    let joined = if text.starts_with('/') {
        text.to_owned()
    } else {
        format!("{cwd}/{text}")
    };
    if !joined.starts_with('/') || joined.len() > MAX_PATH {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                let over = parts.pop().unwrap_or_default();
                if marks::unknown(over) || over.contains(DEEP) {
                    return None;
                }
            }
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// Where a normalised path lies by its letters.
pub fn place(path: &str, ctx: &Context) -> Place {
    let roots = [(&ctx.tmp, false), (&ctx.worktree, true)];
    for (root, is_worktree) in roots {
        if root.is_empty() {
            continue;
        }
        match path.strip_prefix(root.as_str()) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') || root == "/" => {
                let rest = rest.trim_start_matches('/');
                return if is_worktree {
                    in_worktree(rest)
                } else {
                    in_temp(rest)
                };
            }
            _ => {}
        }
    }
    let depends = |root: &String| !root.is_empty() && may_be_under(path, root);
    let unsure = depends(&ctx.tmp) || depends(&ctx.worktree);
    if unsure {
        Place::Unknown
    } else {
        Place::Outside
    }
}

/// Whether a path with unknown parts may still turn out to lie in `root`.
fn may_be_under(path: &str, root: &str) -> bool {
    let Some(at) = path.find(marks::is_unknown) else {
        return false;
    };
    root.starts_with(&path[..at])
}

fn in_temp(rest: &str) -> Place {
    if rest.starts_with(ANY) {
        Place::Unknown
    } else {
        Place::Temp
    }
}

/// A path below the worktree, without the worktree's own name.
fn in_worktree(rest: &str) -> Place {
    let mut parts = rest.split('/');
    let first = parts.next().unwrap_or_default();
    let (last, more) = (
        rest.rsplit('/').next().unwrap_or_default(),
        parts.next().is_some(),
    );
    let everything = |part: &str| part.chars().all(|c| c == STAR || c == DEEP);
    if everything(first) && !more {
        return Place::Root;
    }
    if first == ".git" || (!more && glob::overlap_name(first, ".git") && !marks::unknown(first)) {
        return Place::Git;
    }
    // `find . -name .git`: any depth, so also the worktree's own.
    if more
        && last == ".git"
        && rest
            .split('/')
            .rev()
            .skip(1)
            .all(|p| p == marks::only(DEEP))
    {
        return Place::Git;
    }
    // Below a literal directory an unknown name is taken to be a name, not a `../..`.
    if first.chars().next().is_some_and(marks::is_unknown) {
        Place::Unknown
    } else {
        Place::Inside
    }
}

/// Where a normalised path leads once the symbolic links on the disk are followed. `whole` follows
/// the last name too, as a trailing slash does; otherwise a link itself is what is meant.
pub fn place_on_disk(path: &str, whole: bool, ctx: &Context) -> Place {
    let by_letters = place(path, ctx);
    if ctx.sight == Sight::CallOnly || by_letters == Place::Unknown {
        return by_letters;
    }
    let Some(real) = follow(path, whole) else {
        return by_letters;
    };
    let real_ctx = Context {
        worktree: canonical(&ctx.worktree),
        tmp: canonical(&ctx.tmp),
        ..Context::default()
    };
    place(&real, &real_ctx)
}

/// The path with the links of its known part resolved.
fn follow(path: &str, whole: bool) -> Option<String> {
    let parts: Vec<&str> = path.split('/').collect();
    let known = parts.iter().take_while(|part| marks::exact(part)).count();
    let keep = if known == parts.len() && !whole {
        known - 1
    } else {
        known
    };
    let base = parts[..keep].join("/");
    let rest = parts[keep..].join("/");
    let real = resolve_existing(Path::new(&format!("{base}/")))?;
    absolute(&format!("{real}/{rest}"), "/")
}

/// Canonicalises the longest part of the path that exists.
fn resolve_existing(path: &Path) -> Option<String> {
    let mut missing = PathBuf::new();
    let mut at = path.to_path_buf();
    for _ in 0..64 {
        if let Ok(real) = at.canonicalize() {
            return real.join(&missing).to_str().map(str::to_owned);
        }
        let name = at.file_name()?.to_owned();
        let tail = std::mem::take(&mut missing);
        missing = if tail.as_os_str().is_empty() {
            name.into()
        } else {
            Path::new(&name).join(tail)
        };
        at = at.parent()?.to_path_buf();
    }
    None
}

/// The path with its links resolved, when the disk may be looked at and it exists.
pub fn canonical(path: &str) -> String {
    let real = Path::new(path).canonicalize().ok();
    real.and_then(|p| p.to_str().map(str::to_owned))
        .unwrap_or_else(|| path.to_owned())
}

/// The last component.
pub fn name(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default()
}

/// The path without its last component, as `dirname` prints it.
pub fn parent(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((dir, _)) => dir.to_owned(),
        None => ".".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::live_globs as live;

    fn at(text: &str) -> Place {
        let mut ctx = Context::new("/home/u/wt");
        ctx.tmp = "/home/u/tmp7".to_owned();
        let text = live(&text.replace('$', &marks::only(ANY)));
        absolute(&text, "/home/u/wt").map_or(Place::Unknown, |path| place(&path, &ctx))
    }

    #[test]
    fn places_by_letters() {
        for (text, place) in [
            ("target", Place::Inside),
            ("./a/../b", Place::Inside),
            ("*.o", Place::Inside),
            ("*/target", Place::Inside),
            ("build/*", Place::Inside),
            ("build/$", Place::Inside),
            ("build$", Place::Inside),
            ("", Place::Root),
            (".", Place::Root),
            ("*", Place::Root),
            ("a/..", Place::Root),
            ("/home/u/wt", Place::Root),
            (".git", Place::Git),
            (".git/hooks", Place::Git),
            (".*", Place::Git),
            (".g*", Place::Git),
            ("..", Place::Outside),
            ("../x", Place::Outside),
            ("/", Place::Outside),
            ("/home/u/wt2", Place::Outside),
            ("/home/u/tmp7/x", Place::Temp),
            ("/home/u/tmp77/x", Place::Outside),
            ("/usr/$", Place::Outside),
            ("$", Place::Unknown),
            ("$/x", Place::Unknown),
            ("/$", Place::Unknown),
            ("/home/u/$/x", Place::Unknown),
            ("build/$/../../..", Place::Unknown),
        ] {
            assert_eq!(at(text), place, "{text}");
        }
    }

    #[test]
    fn links_are_followed_only_where_the_shell_follows_them() {
        let dir = std::env::temp_dir().join(format!("carson-hook-path-{}", std::process::id()));
        let wt = dir.join("wt");
        std::fs::create_dir_all(wt.join("real")).unwrap();
        let _ = std::os::unix::fs::symlink("/usr", wt.join("link"));
        let _ = std::os::unix::fs::symlink(wt.join("real"), wt.join("near"));
        let mut ctx = Context::new(wt.to_str().unwrap());
        ctx.sight = Sight::Disk;
        let look = |rest: &str, whole| {
            let path = absolute(rest, &ctx.worktree).unwrap();
            place_on_disk(&path, whole, &ctx)
        };
        assert_eq!(look("link", false), Place::Inside);
        assert_eq!(look("link", true), Place::Outside);
        assert_eq!(look("link/share", false), Place::Outside);
        assert_eq!(look(&live("link/*"), false), Place::Outside);
        assert_eq!(look("near/x", false), Place::Inside);
        assert_eq!(look("absent/x", true), Place::Inside);
        std::fs::remove_dir_all(&dir).unwrap();
    }
}

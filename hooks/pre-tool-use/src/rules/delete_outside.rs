//! `delete-outside`: what is deleted by force or whole trees lies inside the worktree.
//!
//! Refused: recursive or forced deletion, truncation or overwriting whose target is, or may be,
//! outside the worktree and the firing's private temp; the worktree itself (also as `*`) and its
//! `.git`; any `rm` or `rmdir` of what is certainly outside. Allowed: everything inside, a link itself
//! (not what it leads to), lock files of a killed git, `rm` and `rm -f` of single files under the
//! system's temporary directories.
//!
//! Default: a target that cannot be told is outside. Two exceptions: an unknown name right below a
//! known directory inside (`target/$NAME`) is taken to be a name, and a plain `rm` of a file nobody
//! can name (`rm "$f"`) is allowed.

use crate::context::Sight;
use crate::decision::Rule;
use crate::git::GitLine;
use crate::marks;
use crate::path::{self, Place};
use crate::walk::View;
use crate::walk::options::{self, Arg, Spec};
use crate::words::Words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "delete-outside",
    reason: "what lies outside the worktree belongs to someone else and cannot be brought back",
    instead: "Delete only paths inside your worktree, written out; use $TMPDIR for scratch files",
    default: "a target that cannot be told is taken to be outside",
};

/// Files that swallow or pass on what is written to them.
const SINKS: Words = Words("/dev/null /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/full");

/// Judges one command.
pub fn check(view: &View<'_>) -> Option<String> {
    let args = view.exec.args();
    let name = view.exec.name();
    match name {
        "rm" | "grm" | "unlink" | "rmdir" => check_rm(view),
        "cargo" | "ansible" | "gio" | "kioclient" | "btrfs" | "zfs" => moves::check_others(view),
        "rimraf" | "del-cli" | "trash" | "trash-put" | "remove_tree" | "find -delete" | "shred"
        | "srm" | "wipe" | "rmtrash" | "gomi" | "rip" | "gvfs-trash" | "safe-rm" | "scrub"
        | "recycle" => judge_all(
            name,
            &options::operands(
                args,
                Spec {
                    short: "ns",
                    long: Words("iterations size"),
                },
            ),
            view,
        ),
        ":>" => judge_all("truncating", &options::operands(args, options::PLAIN), view),
        "truncate" => {
            let spec = Spec {
                short: "sr",
                long: Words("size reference"),
            };
            judge_all(name, &options::operands(args, spec), view)
        }
        "dd" => args
            .iter()
            .find_map(|arg| judge("dd", arg.strip_prefix("of=")?, view)),
        "mv" => moves::check_mv(args, view),
        "zip" => moves::check_zip(args, view),
        "7z" | "7za" | "7zz" if args.iter().any(|arg| arg == "-sdel") => {
            let operands = options::operands(args, options::PLAIN);
            judge_all("7z -sdel", operands.get(2..).unwrap_or_default(), view)
        }
        "rclone" => moves::check_rclone(args, view),
        "install" => moves::check_emptied(args, view),
        "cp" => moves::check_emptied(args, view),
        "rsync" => moves::check_rsync(args, view),
        "git" => check_git(view),
        "tar" | "gtar" | "bsdtar" if args.iter().any(|arg| arg == "--remove-files") => {
            let spec = Spec {
                short: "fCTX",
                long: Words("file directory exclude"),
            };
            let dir = options::read(args, spec)
                .into_iter()
                .find_map(|arg| match arg {
                    Arg::Short('C', value) | Arg::Long("directory", value) => value,
                    _ => None,
                });
            let operands = options::operands(args, spec);
            let below = |target: &&str| match dir {
                Some(dir) => format!("{dir}/{target}"),
                None => (*target).to_owned(),
            };
            let targets: Vec<String> = operands.iter().map(below).collect();
            let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
            judge_all("tar --remove-files", &targets, view)
        }
        "wipefs" | "blkdiscard" => judge_all(name, &options::operands(args, options::PLAIN), view),
        _ if name == "mkfs" || name.starts_with("mkfs.") => {
            args.last().and_then(|device| judge(name, device, view))
        }
        _ => None,
    }
}

fn check_rm(view: &View<'_>) -> Option<String> {
    let read = options::read(view.exec.args(), options::PLAIN);
    let tree = view.exec.name() != "rmdir";
    let recursive = read.iter().any(|arg| match arg {
        Arg::Short(c, _) => tree && matches!(c, 'r' | 'R'),
        Arg::Long(name, _) => options::means(name, "recursive", 1),
        Arg::Operand(_) => false,
    });
    let forced = read.iter().any(|arg| match arg {
        Arg::Short(c, _) => *c == 'f',
        Arg::Long(name, _) => options::means(name, "force", 1),
        Arg::Operand(_) => false,
    });
    read.iter().find_map(|arg| match arg {
        // A git that was killed leaves its lock behind; removing that is repair.
        Arg::Operand(target)
            if !recursive
                && target.ends_with(".lock")
                && target.contains(".git/")
                && stays_in(target, view) =>
        {
            None
        }
        Arg::Operand(target) if !recursive && is_temporary(target, view) => None,
        Arg::Operand(target) if !recursive && !forced && !is_outside(target, view) => None,
        Arg::Operand(target) => judge(view.exec.name(), target, view),
        _ => None,
    })
}

/// Directories that anyone may write into and nobody keeps things in.
const TEMPORARY: Words =
    Words("/tmp/ /var/tmp/ /dev/shm/ /private/tmp/ /private/var/tmp/ /var/folders/");

/// Whether a target is certainly something in a temporary directory, and not a whole tree of it.
fn is_temporary(target: &str, view: &View<'_>) -> bool {
    let temporary = |path: Option<String>| {
        let Some(path) = path.filter(|path| !marks::unknown(path) && !path.contains(marks::DEEP))
        else {
            return false;
        };
        let below = |path: &str| TEMPORARY.iter().any(|dir| path.starts_with(dir));
        let behind = view.world.follow(&path, false);
        let real = match view.ctx.sight {
            Sight::Disk => format!("{}/x", path::canonical(&path::parent(&path))),
            Sight::CallOnly => path.clone(),
        };
        below(&path) && below(&real) && behind.is_none_or(|path| below(&path))
    };
    view.paths(target).into_iter().all(temporary)
}

/// Whether a target is certainly outside.
fn is_outside(target: &str, view: &View<'_>) -> bool {
    let outside = |path: Option<String>| {
        path.is_some_and(|path| place_of(&path, false, view) == Place::Outside)
    };
    view.paths(target).into_iter().any(outside)
}

fn stays_in(target: &str, view: &View<'_>) -> bool {
    let in_git = |p: Option<String>| {
        p.is_some_and(|p| {
            matches!(
                path::place(&p, view.ctx),
                Place::Git | Place::Inside | Place::Temp
            )
        })
    };
    marks::exact(target) && view.paths(target).into_iter().all(in_git)
}

fn judge_all(verb: &str, targets: &[&str], view: &View<'_>) -> Option<String> {
    targets.iter().find_map(|target| judge(verb, target, view))
}

/// Judges one target seen from every directory the command may run in.
fn judge(verb: &str, target: &str, view: &View<'_>) -> Option<String> {
    if target.is_empty() || SINKS.has(target) || target.starts_with("/dev/fd/") {
        return None;
    }
    let whole = target.ends_with('/') || target.ends_with("/.");
    let shown = marks::show_short(target, 120);
    for path in view.paths(target) {
        let place = path
            .as_ref()
            .map_or(Place::Unknown, |path| place_of(path, whole, view));
        let why = match place {
            Place::Inside | Place::Temp => continue,
            Place::Root => "is the whole worktree",
            Place::Git => "is the worktree's .git",
            Place::Outside => "is outside the worktree",
            Place::Unknown => "may be outside the worktree",
        };
        let full = path
            .map(|path| marks::show_short(&path, 120))
            .filter(|path| *path != shown);
        let full = full.map_or(String::new(), |path| format!(" ({path})"));
        return Some(format!("{verb} would delete {shown}{full}, which {why}"));
    }
    None
}

fn place_of(path: &str, whole: bool, view: &View<'_>) -> Place {
    let here = path::place_on_disk(path, whole, view.ctx);
    match view.world.follow(path, whole) {
        Some(target) if matches!(here, Place::Inside | Place::Temp) => path::absolute(&target, "/")
            .map_or(Place::Unknown, |p| path::place_on_disk(&p, whole, view.ctx)),
        _ => here,
    }
}

/// `git clean` elsewhere, and removing another worktree by force.
fn check_git(view: &View<'_>) -> Option<String> {
    let line = view.git_line();
    match line.sub.as_str() {
        "clean" => check_clean(&line, view),
        "rm" if !line.has(Words("--cached -n --dry-run")) => check_git_rm(&line, view),
        "worktree"
            if line.args.first().is_some_and(|verb| verb == "remove")
                && line.has(Words("-f --force -ff")) =>
        {
            judge_all(
                "git worktree remove",
                &options::operands(&line.args[1..], options::PLAIN),
                view,
            )
        }
        _ => None,
    }
}

/// `git -C DIR rm`: of another repository.
fn check_git_rm(line: &GitLine, view: &View<'_>) -> Option<String> {
    let targets = options::operands(&line.args, options::PLAIN);
    for dir in line.directories(view.state) {
        for target in &targets {
            let path = path::absolute(target, &dir)?;
            if path::place_on_disk(&path, false, view.ctx) == Place::Outside {
                let shown = marks::show_short(&path, 120);
                return Some(format!(
                    "git rm would delete {shown}, which is outside the worktree"
                ));
            }
        }
    }
    None
}

fn check_clean(line: &GitLine, view: &View<'_>) -> Option<String> {
    let spec = Spec {
        short: "e",
        long: Words("exclude"),
    };
    let read = options::read(&line.args, spec);
    let forced = read.iter().any(|arg| match arg {
        Arg::Short(c, _) => *c == 'f',
        Arg::Long(name, _) => options::means(name, "force", 1),
        Arg::Operand(_) => false,
    });
    let dry = read
        .iter()
        .any(|arg| matches!(arg, Arg::Short('n', _) | Arg::Long("dry-run", _)));
    let required = line.setting("clean.requireforce");
    let forced = forced || required.is_some_and(|value| value == "false");
    if !forced || dry {
        return None;
    }
    let mut targets: Vec<&str> = options::operands(&line.args, spec);
    if targets.is_empty() {
        targets.push(".");
    }
    for dir in line.directories(view.state) {
        for target in &targets {
            let path = path::absolute(target, &dir);
            let place = path.map_or(Place::Unknown, |path| {
                path::place_on_disk(&path, true, view.ctx)
            });
            if matches!(place, Place::Outside | Place::Unknown) {
                return Some(format!(
                    "git clean would delete files in {}, outside the worktree",
                    marks::show(&dir)
                ));
            }
        }
    }
    None
}

mod moves;

#[cfg(test)]
pub(super) mod cases;

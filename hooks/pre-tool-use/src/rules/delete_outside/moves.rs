//! Commands that move, pack or copy, and so delete what was there.

use crate::marks;
use crate::path::{self, Place};
use crate::walk::View;
use crate::walk::options::{self, Arg, Spec};
use crate::words::Words;

use super::{judge, judge_all, place_of};

/// `mv FILE /dev/null`: as root it replaces the device, else it deletes the file.
/// Moving the repository, or the whole worktree, away is the same as deleting it.
pub(super) fn check_mv(args: &[String], view: &View<'_>) -> Option<String> {
    let targets = options::operands(
        args,
        Spec {
            short: "tS",
            long: Words("target-directory suffix"),
        },
    );
    let sources = targets.get(..targets.len().saturating_sub(1));
    let whole = |path: Option<String>| {
        path.is_some_and(|path| matches!(place_of(&path, false, view), Place::Root | Place::Git))
    };
    let moved = sources.unwrap_or_default().iter().find(|source| {
        marks::exact(source) && is_repository(source) && view.paths(source).into_iter().any(whole)
    });
    if let Some(source) = moved {
        let shown = marks::show_short(source, 80);
        return Some(format!(
            "mv would take away {shown}, the worktree or its .git"
        ));
    }
    targets
        .iter()
        .skip(1)
        .any(|target| *target == "/dev/null")
        .then(|| "mv to /dev/null destroys the file or the device".to_owned())
}

/// Not a file in it: `mv .git/hooks` has a rule of its own.
fn is_repository(source: &str) -> bool {
    let name = path::name(source);
    name == ".git" || !source.contains(".git")
}

/// `zip -m` deletes what it has packed.
pub(super) fn check_zip(args: &[String], view: &View<'_>) -> Option<String> {
    let spec = Spec {
        short: "bntPxi",
        long: Words(""),
    };
    let moves = options::read(args, spec)
        .iter()
        .any(|arg| matches!(arg, Arg::Short('m', _) | Arg::Long("move", _)));
    let operands = options::operands(args, spec);
    let sources = operands.get(1..).filter(|_| moves)?;
    judge_all("zip -m", sources, view)
}

/// `rclone` verbs that delete where they point, or what they have moved.
pub(super) fn check_rclone(args: &[String], view: &View<'_>) -> Option<String> {
    let operands = options::operands(args, options::PLAIN);
    let dry = args.iter().any(|arg| arg == "-n" || arg == "--dry-run");
    let target = match operands.as_slice() {
        _ if dry => return None,
        [
            "purge" | "delete" | "deletefile" | "rmdir" | "rmdirs" | "move" | "moveto",
            target,
            ..,
        ] => target,
        ["sync", _, target, ..] => target,
        _ => return None,
    };
    let remote = target
        .split('/')
        .next()
        .is_some_and(|head| head.contains(':'));
    if remote {
        let shown = marks::show_short(target, 80);
        return Some(format!(
            "rclone {} would delete what is in {shown}",
            operands[0]
        ));
    }
    judge("rclone", target, view)
}

/// `cp /dev/null FILE` empties it.
pub(super) fn check_emptied(args: &[String], view: &View<'_>) -> Option<String> {
    let spec = Spec {
        short: "tSmgo",
        long: Words("mode owner group"),
    };
    match options::operands(args, spec).as_slice() {
        ["/dev/null", targets @ ..] => judge_all("copying /dev/null", targets, view),
        _ => None,
    }
}

pub(super) fn check_rsync(args: &[String], view: &View<'_>) -> Option<String> {
    let spec = Spec {
        short: "efT",
        long: Words(
            "rsh exclude include filter exclude-from include-from files-from rsync-path temp-dir",
        ),
    };
    let read = options::read(args, spec);
    let deletes = |arg: &Arg<'_>| matches!(arg, Arg::Long(name, _) if name.starts_with("del") && *name != "delete-excluded-not");
    let dry = |arg: &Arg<'_>| matches!(arg, Arg::Short('n', _) | Arg::Long("dry-run", _));
    if read.iter().any(dry) {
        return None;
    }
    if read
        .iter()
        .any(|arg| matches!(arg, Arg::Long("remove-source-files", _)))
    {
        let operands = options::operands(args, spec);
        let sources = &operands[..operands.len().saturating_sub(1)];
        return judge_all("rsync --remove-source-files", sources, view);
    }
    if !read.iter().any(deletes) {
        return None;
    }
    let target = read.iter().rev().find_map(|arg| match arg {
        Arg::Operand(text) => Some(*text),
        _ => None,
    })?;
    let remote = target
        .split('/')
        .next()
        .is_some_and(|head| head.contains(':'));
    if remote {
        return Some(format!(
            "rsync --delete would delete files on {}",
            marks::show_short(target, 80)
        ));
    }
    judge(
        "rsync --delete",
        &format!("{}/", target.trim_end_matches('/')),
        view,
    )
}

/// Programs with another purpose that delete when told so.
pub(super) fn check_others(view: &View<'_>) -> Option<String> {
    let (name, args) = (view.exec.name(), view.exec.args());
    let plain: Vec<&str> = args.iter().map(String::as_str).collect();
    match (name, plain.as_slice()) {
        ("gio", ["trash" | "remove", targets @ ..])
        | ("kioclient", ["remove" | "move", targets @ ..]) => {
            let targets: Vec<&str> = targets
                .iter()
                .filter(|target| !target.starts_with('-'))
                .map(|target| target.trim_start_matches("file://"))
                .collect();
            judge_all(name, &targets, view)
        }
        ("btrfs", ["subvolume", "delete", targets @ ..]) => judge_all(name, targets, view),
        ("zfs", ["destroy", ..]) => Some("zfs destroy deletes a file system".to_owned()),
        ("cargo", ["clean", rest @ ..]) => {
            let value = |option: &str| {
                let at = rest.iter().position(|arg| *arg == option)?;
                rest.get(at + 1).copied()
            };
            let manifest = value("--manifest-path").map(path::parent);
            let target = manifest.map(|dir| format!("{dir}/target"));
            let target = target.or_else(|| value("--target-dir").map(str::to_owned))?;
            judge("cargo clean", &target, view)
        }
        ("ansible", _) => {
            let task = plain.iter().find(|arg| arg.contains("state=absent"))?;
            let file = task.split_whitespace().find_map(|pair| {
                let (key, value) = pair.split_once('=')?;
                matches!(key, "path" | "dest" | "name").then_some(value)
            })?;
            judge("ansible", file, view)
        }
        _ => None,
    }
}

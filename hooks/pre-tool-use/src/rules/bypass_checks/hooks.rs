//! Installed hooks: removed, moved away, made not executable, or written over with one that checks
//! nothing.

use crate::context::Context;
use crate::marks;
use crate::path::{self, Place};
use crate::rules::protected::protected;
use crate::walk::View;
use crate::walk::options::{self, Spec};
use crate::words::Words;

/// Directories that hold a repository's hooks.
const DIRECTORIES: Words = Words("/.git/hooks /.husky /.githooks /.git-hooks");

/// Commands that remove, move away or empty the files they name, or make them not executable.
const REMOVERS: Words =
    Words("rm mv chmod unlink truncate :> remove_tree rimraf del-cli trash trash-put shred");

/// Where the branches of a repository are kept.
const HEADS: &str = "/.git/refs/heads/";
/// Where its settings are.
const CONFIG: &str = "/.git/config";

/// Other files with settings of git, and a hook manager's own.
const SETTINGS: Words = Words("/.gitconfig /.config/git/config /config.worktree /etc/gitconfig");
const MANAGERS: Words = Words("/husky/init.sh /.huskyrc /.husky/_/husky.sh /.lefthookrc");

/// Whether the file holds settings of git.
fn is_setting(path: &str) -> bool {
    path.ends_with(CONFIG) || SETTINGS.iter().any(|end| path.ends_with(end))
}

/// Whether the file is read by a hook manager before each hook.
fn is_manager(path: &str) -> bool {
    MANAGERS.iter().any(|end| path.ends_with(end))
}

/// Judges one command.
pub(super) fn check(view: &View<'_>) -> Option<String> {
    let name = view.exec.name();
    match name {
        _ if REMOVERS.has(name) || name == "find -delete" => check_files(view),
        "cp" | "ln" | "install" => check_emptied(view),
        ">|" => check_written(view),
        "sed" | "gsed" | "perl" => check_edited(view),
        "git" => {
            let line = view.git_line();
            let removes = matches!(line.sub.as_str(), "rm" | "mv") && !line.has(Words("--cached"));
            let file = line
                .args
                .iter()
                .find(|file| removes && names_hook(file, view))?;
            Some(switched_off(&format!("git {}", line.sub), file))
        }
        _ => None,
    }
}

/// Whether writing to this path is of interest: the walker asks before it shows a write.
pub fn may_be_hook(path: &str) -> bool {
    DIRECTORIES.any_in(path) || path.contains(HEADS) || is_setting(path) || is_manager(path)
}

fn check_files(view: &View<'_>) -> Option<String> {
    let args = view.exec.args();
    let name = view.exec.name();
    if name == "chmod" && !args.iter().any(|mode| takes_execution(mode)) {
        return None;
    }
    let mut files: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    if name == "mv" {
        files.pop();
    }
    let file = files.into_iter().find(|file| names_hook(file, view))?;
    Some(switched_off(name, file))
}

fn switched_off(what: &str, file: &str) -> String {
    let shown = marks::show_short(file, 80);
    format!("{what} would switch off the check {shown}")
}

/// Whether a mode of `chmod` takes the right to execute away.
fn takes_execution(mode: &str) -> bool {
    let octal = u32::from_str_radix(mode, 8).is_ok_and(|bits| bits & 0o111 == 0);
    let symbolic = mode.chars().all(|c| "ugoa+-=rwxXst,".contains(c));
    let set = mode
        .split_once('=')
        .is_some_and(|(_, bits)| !bits.contains('x'));
    octal || (symbolic && (mode.contains("-x") || mode.contains("-rwx") || set))
}

/// `cp /bin/true HOOK`, `ln -sf /dev/null HOOK`: a hook that checks nothing.
fn check_emptied(view: &View<'_>) -> Option<String> {
    let operands = options::operands(
        view.exec.args(),
        Spec {
            short: "tSmgo",
            long: Words("mode owner"),
        },
    );
    let empty = |file: &&str| matches!(*file, "/dev/null" | "/bin/true" | "/usr/bin/true");
    let file = operands.iter().find(|file| names_hook(file, view))?;
    let emptied = operands.iter().any(empty);
    emptied.then(|| switched_off(view.exec.name(), file))
}

/// A hook written anew, with what is written as the input.
fn check_written(view: &View<'_>) -> Option<String> {
    let file = view.exec.args().first()?;
    let text = view.exec.stdin.to_ascii_lowercase();
    let paths: Vec<String> = view.paths(file).into_iter().flatten().collect();
    let plain = text.replace([' ', '\t'], "");
    let setting = paths.iter().any(|path| is_setting(path))
        && (plain.contains("hookspath") || plain.contains("gpgsign=false"));
    let off = Words("husky=0 lefthook=0 exit0 husky_skip_hooks=1");
    let setting = setting || paths.iter().any(|path| is_manager(path)) && off.any_in(&plain);
    if setting || paths.iter().any(|path| is_branch(path, view)) {
        return Some(switched_off("writing to", file));
    }
    let nothing =
        checks_nothing(&view.exec.stdin) && paths.iter().any(|path| is_hook(path, view.ctx));
    nothing.then(|| switched_off("writing over it", file))
}

/// Whether a hook's text succeeds whatever it is asked.
pub(super) fn checks_nothing(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.all(|line| line.is_empty() || line.starts_with('#') || line == "set -e" || passes(line))
}

/// Whether a line lets everything pass.
pub(super) fn passes(line: &str) -> bool {
    matches!(line.trim(), "exit 0" | "exit" | "true" | ":" | "exit 0;")
}

/// `sed -i '1a exit 0' HOOK`, `perl -pi -e …`.
fn check_edited(view: &View<'_>) -> Option<String> {
    let args = view.exec.args();
    let in_place = args.iter().any(|arg| {
        arg.starts_with("-i") || arg.starts_with("-pi") || arg.starts_with("--in-place")
    });
    let leaves = args.iter().any(|arg| arg.contains("exit 0") || arg == "d");
    let setting = args
        .iter()
        .any(|arg| arg.to_ascii_lowercase().contains("hookspath"));
    if let Some(file) = args.last().filter(|file| is_setting(&format!("/{file}")))
        && in_place
        && setting
    {
        return Some(switched_off("an edit", file));
    }
    if !in_place || !leaves {
        return None;
    }
    let file = args.iter().rev().find(|file| names_hook(file, view))?;
    Some(switched_off("an edit in place", file))
}

fn names_hook(file: &str, view: &View<'_>) -> bool {
    let paths = view.paths(file);
    paths
        .into_iter()
        .flatten()
        .any(|path| is_hook(&path, view.ctx) || is_branch(&path, view))
}

/// Whether the file is a protected branch of a repository.
fn is_branch(path: &str, view: &View<'_>) -> bool {
    let name = path.split_once(HEADS).map(|(_, name)| name);
    name.is_some_and(|name| protected(name, view).is_some())
        && path::place(path, view.ctx) != Place::Temp
}

/// Whether the file is a hook of a repository that counts.
pub(super) fn is_hook(path: &str, ctx: &Context) -> bool {
    let hook = DIRECTORIES.iter().any(|dir| {
        let rest = path.split_once(dir).map(|(_, rest)| rest);
        rest.is_some_and(|rest| {
            rest.is_empty() || (rest.starts_with('/') && !rest.ends_with(".sample"))
        })
    });
    hook && path::place(path, ctx) != Place::Temp
}

/// Whether what is appended to the file matters as well.
pub fn is_read_as_a_whole(path: &str) -> bool {
    is_setting(path) || is_manager(path)
}

//! Where a `git push` goes.

use crate::git::{self, GitLine, Repository};
use crate::marks;
use crate::path::{self, Place};
use crate::walk::View;
use crate::walk::options::{self, Arg, Spec};
use crate::words::Words;

use super::protected::protected;

const PUSH: Spec = Spec {
    short: "o",
    long: Words("repo push-option receive-pack exec"),
};

/// A push in its parts.
#[derive(Default)]
struct Push<'a> {
    remote: Option<&'a str>,
    refs: Vec<&'a str>,
    forced: bool,
    deletes: bool,
    tags: bool,
    harmless: bool,
    everything: Option<&'static str>,
}

/// Judges a `git` command line.
pub(super) fn check(view: &View<'_>) -> Option<String> {
    let line = view.git_line();
    match line.sub.as_str() {
        "push" | "send-pack" | "http-push" => check_push(&line, view),
        "subtree" => check_subtree(&line, view),
        "svn" if line.has(Words("dcommit")) => {
            Some("git svn dcommit writes to the remote".to_owned())
        }
        "p4" if line.has(Words("submit")) => Some("git p4 submit writes to the remote".to_owned()),
        _ => None,
    }
}

/// `gh-pages -b BRANCH`: pushes a directory as a branch.
pub(super) fn check_pages(view: &View<'_>) -> Option<String> {
    let spec = Spec {
        short: "bdmrostegux",
        long: Words("branch dist message repo remote dest tag"),
    };
    let branch = options::read(view.exec.args(), spec)
        .into_iter()
        .find_map(|arg| match arg {
            Arg::Short('b', value) | Arg::Long("branch", value) => value,
            _ => None,
        })?;
    refused(branch, "change", view)
}

fn check_subtree(line: &GitLine, view: &View<'_>) -> Option<String> {
    let operands = options::operands(
        &line.args,
        Spec {
            short: "P",
            long: Words("prefix"),
        },
    );
    match operands.as_slice() {
        ["push", _, branch, ..] => check_ref(branch, false, line, view),
        _ => None,
    }
}

fn check_push(line: &GitLine, view: &View<'_>) -> Option<String> {
    let push = read(&line.args);
    if push.harmless || is_scratch(line, push.remote, view) {
        return None;
    }
    if push.forced {
        return Some(forced("git push"));
    }
    if let Some(option) = push.everything {
        return Some(format!(
            "git push {option} reaches every branch, protected ones too"
        ));
    }
    if push.refs.is_empty() {
        return if push.tags {
            None
        } else {
            check_bare(line, push.remote, view)
        };
    }
    let mut refs = push.refs.iter();
    while let Some(name) = refs.next() {
        if *name == "tag" {
            refs.next();
        } else if let Some(what) = check_ref(name, push.deletes, line, view) {
            return Some(what);
        }
    }
    None
}

fn read(args: &[String]) -> Push<'_> {
    let mut push = Push::default();
    let mut operands = Vec::new();
    let mut repo = None;
    for arg in options::read(args, PUSH) {
        match arg {
            Arg::Operand(text) => operands.push(text),
            Arg::Short('f', _) => push.forced = true,
            Arg::Short('d', _) => push.deletes = true,
            Arg::Short('n' | 'h', _) => push.harmless = true,
            Arg::Long("repo", value) => repo = value,
            Arg::Long(name, _) => long(name, &mut push),
            Arg::Short(..) => {}
        }
    }
    push.remote = repo.or(operands.first().copied());
    push.refs = operands.split_off(operands.len().min(1));
    push
}

/// A long option, abbreviated or not.
fn long(name: &str, push: &mut Push<'_>) {
    let means = |full, least| options::means(name, full, least);
    push.forced |= means("force", 4) || name == "force-with-lease" || means("force-with-lease", 7);
    push.deletes |= means("delete", 2);
    push.harmless |= means("dry-run", 2) || name == "help";
    push.tags |= name == "tags";
    let everything = [("all", 2), ("branches", 1), ("mirror", 1), ("prune", 3)];
    let found = everything
        .into_iter()
        .find(|(full, least)| means(full, *least));
    if let Some((full, _)) = found {
        push.everything = Some(match full {
            "all" => "--all",
            "branches" => "--branches",
            "mirror" => "--mirror",
            _ => "--prune",
        });
    }
}

/// A session never has a reason to force: its own branch, too, is pushed by Carson.
fn forced(what: &str) -> String {
    format!(
        "{what} would overwrite history on the remote (force), and no session needs that: Carson \
         pushes the firing's branch itself, also after its history was changed"
    )
}

/// One refspec.
fn check_ref(spec: &str, deletes: bool, line: &GitLine, view: &View<'_>) -> Option<String> {
    if spec.starts_with('^') {
        return None;
    }
    if spec.starts_with('+') {
        return Some(forced(&format!("the refspec {}", marks::show(spec))));
    }
    let (source, target) = match spec.split_once(':') {
        Some((source, target)) => (Some(source), target),
        None => (None, spec),
    };
    if source == Some("") && target.is_empty() {
        return Some("the refspec : pushes every matching branch".to_owned());
    }
    // `HEAD:` pushes to the branch of the same name.
    let target = if target.is_empty() {
        source.unwrap_or_default()
    } else {
        target
    };
    let names = match target {
        "HEAD" | "@" => git::current_branches(line, view.world, view.state, view.ctx),
        name => vec![name.to_owned()],
    };
    let verb = if deletes || source == Some("") {
        "delete"
    } else {
        "change"
    };
    names.iter().find_map(|name| refused(name, verb, view))
}

fn refused(name: &str, verb: &str, view: &View<'_>) -> Option<String> {
    let pattern = protected(name, view)?;
    let shown = marks::show(name);
    Some(if marks::exact(name) && !name.contains('*') {
        format!("git push would {verb} the protected branch {shown}")
    } else {
        format!("git push may {verb} a protected branch: {shown} can be {pattern}")
    })
}

/// A push without refspecs: the current branch, its upstream, or what the settings say.
fn check_bare(line: &GitLine, remote: Option<&str>, view: &View<'_>) -> Option<String> {
    let repository = Repository::of(line, view.state, view.ctx);
    let setting = |key: &str| {
        line.setting(key)
            .or_else(|| view.world.git_setting(key).map(str::to_owned))
            .or_else(|| repository.as_ref()?.setting(key))
    };
    let remote = remote.unwrap_or("origin");
    if setting(&format!("remote.{remote}.mirror")).is_some_and(|value| value != "false") {
        return Some(format!("the remote {remote} is set to mirror"));
    }
    let key = format!("remote.{remote}.push");
    let mut configured = repository.as_ref().map(|r| r.all(&key)).unwrap_or_default();
    configured.extend(line.setting(&key));
    configured.extend(view.world.git_setting(&key).map(str::to_owned));
    for spec in configured {
        if let Some(what) = check_ref(&spec, false, line, view) {
            return Some(what);
        }
    }
    let mode = setting("push.default").unwrap_or_default();
    if mode == "matching" {
        return Some("push.default = matching pushes every matching branch".to_owned());
    }
    for branch in git::current_branches(line, view.world, view.state, view.ctx) {
        let upstream = setting(&format!("branch.{branch}.merge")).or_else(|| setting("upstream"));
        let follows = matches!(mode.as_str(), "upstream" | "tracking");
        let target = upstream.filter(|_| follows).unwrap_or(branch);
        // Detached: git itself refuses a bare push.
        if target.is_empty() {
            continue;
        }
        if let Some(what) = refused(&target, "change", view) {
            return Some(what);
        }
    }
    None
}

/// Whether the push goes into a repository of the firing's own making: its path lies in the private
/// temp, or deeper in the worktree than the worktree itself.
fn is_scratch(line: &GitLine, remote: Option<&str>, view: &View<'_>) -> bool {
    let own = |dir: &str, url: &str| {
        let url = url.strip_prefix("file://").unwrap_or(url);
        let local = url.starts_with(['/', '.']) || url.starts_with(marks::is_mark);
        let path = path::absolute(url, dir).filter(|_| local);
        path.is_some_and(|p| matches!(path::place(&p, view.ctx), Place::Temp | Place::Inside))
    };
    let name = remote.unwrap_or("origin");
    let dirs = line.directories(view.state);
    !dirs.is_empty()
        && dirs.iter().all(|dir| {
            if own(dir, name) {
                return true;
            }
            let top = git::top_level(dir, view.ctx);
            if top == view.ctx.worktree || !dir.starts_with('/') {
                return false;
            }
            let key = format!("remote.{name}.url");
            let written = view.world.git_setting(&key).map(str::to_owned);
            let url = written.or_else(|| Repository::find(dir, view.ctx)?.setting(&key));
            url.is_some_and(|url| own(&top, &url))
        })
}

//! `bypass-checks`: hooks and signatures stay on, pushed history stays as it is.
//!
//! Refused: `--no-verify` and `commit -n`, `--no-gpg-sign`, settings and variables that switch hooks
//! or signing off (on the command line, in the environment, or written with `git config`), removing,
//! moving away or emptying installed hooks (`.git/hooks`, `.husky`, `.githooks`), and rewriting pushed history (`filter-branch`, `filter-repo`, `update-ref` of a
//! protected ref, `reflog expire --expire=now`). Allowed: all of it in a scratch repository in the
//! firing's private temp, where there is nothing to bypass; reading such settings; the same words as
//! data.
//!
//! Default: a setting whose name cannot be told is allowed, a ref that cannot be told is protected.

use crate::decision::Rule;
use crate::git::GitLine;
use crate::marks;
use crate::path::{self, Place};
use crate::walk::View;
use crate::walk::options::{self, Arg, Spec};
use crate::words::Words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "bypass-checks",
    reason: "hooks, signatures and pushed history are checks the fleet relies on",
    instead: "Run the command without the bypass and fix what the check reports; if a check is wrong, say so and end with [BLOCKED]",
    default: "a ref that cannot be told is taken to be protected; an unknown setting is allowed",
};

/// Subcommands that run hooks or sign.
const WRITES: Words =
    Words("commit merge push rebase am cherry-pick revert tag pull checkout switch");

/// Switches of hook managers: the variable and the values that switch hooks off.
const SWITCHES: [(&str, Words); 8] = [
    ("HUSKY", Words("0 false")),
    ("HUSKY_SKIP_HOOKS", Words("1 true")),
    ("LEFTHOOK", Words("0 false")),
    ("LEFTHOOK_EXCLUDE", Words("")),
    ("OVERCOMMIT_DISABLE", Words("1 true")),
    ("SKIP", Words("")),
    ("SKIP_SIMPLE_GIT_HOOKS", Words("1 true")),
    ("SKIP_HOOKS", Words("1 true")),
];

/// Whether a variable of this name can switch a check off.
pub fn is_switch(name: &str) -> bool {
    SWITCHES.iter().any(|(switch, _)| *switch == name) || name.starts_with("GIT_")
}

/// Programs in front of git, and their options that leave the hooks out.
const FRONTENDS: Words = Words(
    "gt sl spr ghstack gs av cz git-cz czg oco aicommits standard-version lerna git-town stg jj hub \
     commit-and-tag-version tig yadm git-spice",
);
const SKIPS: Words = Words("--no-verify --no-hooks --skip-hooks --no-commit-hooks");

/// Short options of `git commit` that take a value.
const COMMIT: Spec = Spec {
    short: "mFCctu?S?",
    long: Words(
        "message file author date reuse-message reedit-message template fixup squash trailer \
         cleanup",
    ),
};
const OTHERS: Spec = Spec {
    short: "msXo",
    long: Words("message strategy strategy-option onto push-option"),
};

/// Judges one command.
pub fn check(view: &View<'_>) -> Option<String> {
    let args = view.exec.args();
    match view.exec.name() {
        "git" => check_git(view),
        name if FRONTENDS.has(name) && args.iter().any(|arg| SKIPS.has(arg)) => {
            Some(format!("{name} without the hooks"))
        }
        "bfg" => Some("bfg rewrites pushed history".to_owned()),
        "pre-commit" | "lefthook" | "husky"
            if args.first().is_some_and(|arg| arg == "uninstall") =>
        {
            Some(format!(
                "{} uninstall removes the repository's hooks",
                view.exec.name()
            ))
        }
        "overcommit" if args.iter().any(|arg| arg == "--uninstall") => {
            Some("overcommit --uninstall removes the repository's hooks".to_owned())
        }
        name if name.starts_with("python")
            && args.iter().any(|arg| arg == "pre_commit")
            && args.iter().any(|arg| arg == "uninstall") =>
        {
            Some("pre_commit uninstall removes the repository's hooks".to_owned())
        }
        _ => hooks::check(view),
    }
}

fn check_git(view: &View<'_>) -> Option<String> {
    let line = view.git_line();
    if in_scratch(&line, view) {
        return None;
    }
    bypassing_setting(&line)
        .or_else(|| bypassing_variable(&line, view))
        .or_else(|| bypassing_option(&line))
        .or_else(|| written_setting(&line, view))
        .or_else(|| refs::rewritten_history(&line, view))
        .or_else(|| hooks::check(view))
}

/// Whether the command works in a repository in the private temp.
fn in_scratch(line: &GitLine, view: &View<'_>) -> bool {
    let dirs = line.directories(view.state);
    let temp = |dir: &String| dir.starts_with('/') && path::place(dir, view.ctx) == Place::Temp;
    !dirs.is_empty() && dirs.iter().all(temp)
}

/// Whether a setting with this value switches a check off.
fn bypasses(key: &str, value: &str) -> bool {
    let off = matches!(
        value.trim().to_ascii_lowercase().as_str(),
        "false" | "no" | "off" | "0" | ""
    );
    match key {
        "core.hookspath" | "gpg.program" | "gpg.ssh.program" => true,
        "gc.reflogexpire" | "gc.reflogexpireunreachable" => matches!(value, "now" | "all" | "0"),
        "commit.gpgsign" | "tag.gpgsign" | "push.gpgsign" | "tag.forcesignannotated" => {
            off || marks::unknown(value)
        }
        _ => false,
    }
}

fn bypassing_setting(line: &GitLine) -> Option<String> {
    let (key, value) = line
        .settings
        .iter()
        .find(|(key, value)| key == "include.path" || bypasses(key, value))?;
    Some(format!(
        "git -c {key}={} switches a check off",
        marks::show_short(value, 60)
    ))
}

fn bypassing_variable(line: &GitLine, view: &View<'_>) -> Option<String> {
    if !WRITES.has(line.sub.as_str()) {
        return None;
    }
    for (name, off) in SWITCHES {
        let value = view.env(name).filter(|value| !value.is_empty());
        if value.is_some_and(|value| off.0.is_empty() || off.has(&value)) {
            return Some(format!("{name} switches the hooks off"));
        }
    }
    for name in [
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG",
    ] {
        if view.env(name).is_some() {
            return Some(format!("{name} replaces the settings git works with"));
        }
    }
    view.env("GIT_CONFIG_COUNT")?;
    (0..32).find_map(|index| {
        let key = view
            .env(&format!("GIT_CONFIG_KEY_{index}"))?
            .to_ascii_lowercase();
        let value = view
            .env(&format!("GIT_CONFIG_VALUE_{index}"))
            .unwrap_or_default();
        let off = bypasses(&key, &value) || marks::unknown(&key);
        off.then(|| {
            format!(
                "GIT_CONFIG_KEY_{index}={} switches a check off",
                marks::show(&key)
            )
        })
    })
}

fn bypassing_option(line: &GitLine) -> Option<String> {
    let sub = line.sub.as_str();
    if !WRITES.has(sub) {
        return None;
    }
    let spec = if sub == "commit" { COMMIT } else { OTHERS };
    options::read(&line.args, spec)
        .into_iter()
        .find_map(|arg| match arg {
            Arg::Short('n', _) if sub == "commit" || sub == "am" => {
                Some(format!("git {sub} -n skips the hooks"))
            }
            Arg::Long(name, _) if options::means(name, "no-verify", 7) => {
                Some(format!("git {sub} --no-verify skips the hooks"))
            }
            Arg::Long(name, _) if options::means(name, "no-gpg-sign", 4) => {
                Some(format!("git {sub} --no-gpg-sign leaves out the signature"))
            }
            Arg::Long("no-sign", _) if sub == "tag" => {
                Some("git tag --no-sign leaves out the signature".to_owned())
            }
            Arg::Long("no-signed", _) if sub == "push" => {
                Some("git push --no-signed leaves out the signature".to_owned())
            }
            _ => None,
        })
}

/// `git config` that switches a check off for good.
fn written_setting(line: &GitLine, view: &View<'_>) -> Option<String> {
    if line.sub != "config" || line.has(Words("--get --get-all --list -l --get-regexp")) {
        return None;
    }
    let operands = options::operands(
        &line.args,
        Spec {
            short: "f",
            long: Words("file type"),
        },
    );
    let lower: Vec<String> = operands
        .iter()
        .map(|word| word.to_ascii_lowercase())
        .collect();
    let section = |word: &String| matches!(word.as_str(), "core" | "commit" | "tag" | "gpg");
    let whole = line.has(Words("--remove-section"))
        || lower.first().is_some_and(|verb| verb == "remove-section");
    if whole && let Some(section) = lower.iter().find(|word| section(word)) {
        return Some(format!("git config would remove the section {section}"));
    }
    let removes =
        line.has(Words("--unset --unset-all")) || lower.first().is_some_and(|verb| verb == "unset");
    let key = lower.iter().find(|word| word.contains('.'))?;
    if removes {
        let kept = matches!(
            key.as_str(),
            "core.hookspath" | "commit.gpgsign" | "tag.gpgsign"
        );
        return kept.then(|| format!("git config --unset {key} switches a check off"));
    }
    let at = lower.iter().position(|word| word == key)?;
    let value = operands.get(at + 1)?;
    if !bypasses(key, value) || (key == "core.hookspath" && is_hook_directory(value, view)) {
        return None;
    }
    Some(format!(
        "git config {key} {} switches a check off",
        marks::show_short(value, 60)
    ))
}

/// A repository may keep its hooks in a directory of its own: pointing git there switches them on.
fn is_hook_directory(value: &str, view: &View<'_>) -> bool {
    let usual = [
        ".husky",
        ".husky/_",
        ".githooks",
        ".git-hooks",
        "githooks",
        "hooks",
        ".hooks",
        "scripts/hooks",
        "tools/hooks",
        ".git/hooks",
    ];
    let inside = |p: Option<String>| {
        p.is_some_and(|p| matches!(path::place(&p, view.ctx), Place::Inside | Place::Git))
    };
    let value = value.trim_start_matches("./").trim_end_matches('/');
    view.paths(value).into_iter().all(inside)
        && usual
            .iter()
            .any(|dir| value == *dir || value.ends_with(&format!("/{dir}")))
}

mod hooks;
mod refs;
mod tools;

pub use tools::check_tool;

pub use hooks::{is_read_as_a_whole, may_be_hook};

#[cfg(test)]
pub(super) mod cases;

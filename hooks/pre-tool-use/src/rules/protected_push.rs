//! `protected-push`: nothing may change, delete or force a protected branch of a remote.
//!
//! Refused: a push whose destination is, or may be, a protected branch; deleting one; forcing or
//! mirroring anything, the firing's own branch too (Carson pushes, never the session); merging a pull
//! request; deleting a repository; the same through a forge's API or an MCP server's tools. Allowed: pushing any other branch or a tag, deleting any other branch, `--dry-run`, and any
//! push into a scratch repository that lies in the firing's private temp or deeper in the worktree.
//!
//! Default: a destination that cannot be told (`git push origin "$X"`) is taken to be protected.

use crate::decision::Rule;
use crate::walk::View;

use super::{forge, push};

/// The rule.
pub const RULE: Rule = Rule {
    id: "protected-push",
    reason: "a protected branch changes only through a reviewed pull request",
    instead: "Commit on your own branch; it is pushed and turned into a pull request for you",
    default: "a push whose destination cannot be told is taken to reach a protected branch",
};

/// Judges one command.
pub fn check(view: &View<'_>) -> Option<String> {
    match view.exec.name() {
        "git" => push::check(view),
        "gh" | "glab" | "tea" | "hub" => forge::check(view),
        "curl" | "wget" | "http" | "https" | "xh" => forge::check_request(view),
        "az" => {
            let args = view.exec.args();
            let has = |word: &str| args.iter().any(|arg| arg == word);
            (has("repos") && has("pr") && has("update") && has("completed")).then(|| {
                "az repos pr update --status completed merges into the base branch".to_owned()
            })
        }
        "gh-pages" | "angular-cli-ghpages" | "push-dir" => push::check_pages(view),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod cases;

//! Commands that rewrite what others have, or move a protected branch in the local repository.

use crate::git::GitLine;
use crate::marks;
use crate::rules::protected::protected;
use crate::walk::View;
use crate::walk::options::{self, Arg, Spec};
use crate::words::Words;

use super::OTHERS;

/// Options of `git branch` that take a value.
const BRANCH: Spec = Spec {
    short: "u",
    long: Words("set-upstream-to"),
};

/// Whether an option is given, by its letter or by its name or an abbreviation.
fn has(line: &GitLine, short: char, long: &str) -> bool {
    let read = options::read(&line.args, BRANCH);
    read.iter().any(|arg| match arg {
        Arg::Short(c, _) => *c == short,
        Arg::Long(name, _) => options::means(name, long, 3),
        Arg::Operand(_) => false,
    })
}

/// What the command would do to history that others have, or to a protected branch here.
pub(super) fn rewritten_history(line: &GitLine, view: &View<'_>) -> Option<String> {
    match line.sub.as_str() {
        "filter-branch" | "filter-repo" => {
            Some(format!("git {} rewrites pushed history", line.sub))
        }
        "update-ref" => {
            let operands = options::operands(
                &line.args,
                Spec {
                    short: "m",
                    long: Words(""),
                },
            );
            let given: Vec<&str> = if line.has(Words("--stdin")) {
                view.exec.stdin.split_whitespace().collect()
            } else {
                operands.first().copied().into_iter().collect()
            };
            let name = given.into_iter().find(|name| {
                name.starts_with("refs/") && protected(name, view).is_some()
                    || name.starts_with(marks::is_unknown)
            })?;
            Some(format!(
                "git update-ref moves the protected ref {}",
                marks::show(name)
            ))
        }
        "branch" => {
            let has = |short: char, long: &str| has(line, short, long);
            let forced = has('f', "force");
            let deletes = has('D', "-") || (forced && has('d', "delete"));
            let moves = has('m', "move") || has('M', "-");
            let operands = options::operands(&line.args, BRANCH);
            let moved = match operands.as_slice() {
                all if deletes => all,
                [.., last] if has('M', "-") && operands.len() == 1 => std::slice::from_ref(last),
                all if has('M', "-") => all,
                [first, _, ..] if moves => std::slice::from_ref(first),
                [.., last] if has('C', "-") => std::slice::from_ref(last),
                [first, ..] if forced => std::slice::from_ref(first),
                _ => &[],
            };
            let name = moved.iter().find(|name| protected(name, view).is_some())?;
            Some(format!(
                "git branch would move or delete the protected branch {}",
                marks::show(name)
            ))
        }
        "checkout" | "switch" => {
            let name = line.args.windows(2).find_map(|pair| {
                matches!(pair[0].as_str(), "-B" | "-C" | "--force-create").then_some(&pair[1])
            })?;
            protected(name, view)?;
            Some(format!(
                "git {} would move the protected branch {}",
                line.sub,
                marks::show(name)
            ))
        }
        "fetch" => {
            let forced = has(line, 'f', "force");
            let moved = |spec: &&&str| match spec.trim_start_matches('+').split_once(':') {
                Some((_, to)) => (forced || spec.starts_with('+')) && protected(to, view).is_some(),
                None => false,
            };
            let operands = options::operands(&line.args, OTHERS);
            let spec = operands.iter().find(moved)?;
            Some(format!(
                "git fetch {} would move a protected branch",
                marks::show(spec)
            ))
        }
        "reflog" if line.has(Words("expire")) => {
            let now = |arg: &String| {
                let value = arg
                    .strip_prefix("--expire=")
                    .or_else(|| arg.strip_prefix("--expire-unreachable="));
                value.is_some_and(|value| matches!(value, "now" | "all" | "0"))
            };
            let apart = line.args.windows(2).any(|pair| {
                matches!(pair[0].as_str(), "--expire" | "--expire-unreachable")
                    && matches!(pair[1].as_str(), "now" | "all" | "0")
            });
            let found = apart || line.args.iter().any(now);
            found.then(|| "git reflog expire throws away the way back".to_owned())
        }
        _ => None,
    }
}

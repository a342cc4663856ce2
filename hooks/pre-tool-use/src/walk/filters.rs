//! What filters pass on, and what lists names.

use crate::marks::{self, ANY, DEEP, DOWNLOAD, OPAQUE, SECRET, STAR};
use crate::rules::credential_read::is_secret_variable;
use crate::words::Words;

use super::Exec;
use super::options::{self, Spec};

/// Whether a text is nothing but names below a directory: a field of it is such a name.
pub(super) fn only_names(text: &str) -> bool {
    let below = |c: char| matches!(c, STAR | DEEP | '/' | '.' | '\n');
    !text.is_empty() && text.chars().all(below)
}

/// `jq -n 'env.GITHUB_TOKEN'`.
pub(super) fn names_variable(program: &str) -> bool {
    let words = program.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    let mut words = words.skip_while(|word| !matches!(*word, "env" | "ENV"));
    words.any(is_secret_variable)
}

/// `sed 's/^/rm -rf /'`: words in front of each line.
pub(super) fn prefixed(exec: &Exec) -> Option<String> {
    let script = exec.args().iter().find_map(|arg| arg.strip_prefix("s"))?;
    let sign = script.chars().next().filter(|c| !c.is_alphanumeric())?;
    let rest = script[sign.len_utf8()..]
        .strip_prefix('^')?
        .strip_prefix(sign)?;
    let words = rest.split(sign).next()?;
    let lines = exec.stdin.lines().map(|line| format!("{words}{line}"));
    (!exec.stdin.is_empty()).then(|| lines.collect::<Vec<_>>().join("\n"))
}

/// A command that prints a changed form of its input.
pub(super) fn filtered(exec: &Exec) -> String {
    if matches!(exec.name(), "cut" | "tr") && only_names(&exec.stdin) {
        return exec.stdin.clone();
    }
    let from_args = exec.args().iter().any(|arg| arg.contains(DOWNLOAD));
    let mark = if exec.stdin.contains(DOWNLOAD) || from_args {
        DOWNLOAD
    } else if exec.stdin.contains(OPAQUE) {
        OPAQUE
    } else if exec.stdin.contains(SECRET) {
        SECRET
    } else {
        ANY
    };
    marks::only(mark)
}

/// `grep` passes lines on, or prints names below the directories it searched.
pub(super) fn grep(exec: &Exec) -> String {
    let lists = |arg: &String| {
        arg.starts_with("--files")
            || (arg.starts_with('-') && !arg.starts_with("--") && arg.contains(['l', 'L']))
    };
    if exec.args().iter().any(lists) {
        let spec = Spec {
            short: "eABCmgtf",
            long: Words("include exclude exclude-dir glob type"),
        };
        let operands = options::operands(exec.args(), spec);
        let roots = operands
            .get(1..)
            .filter(|roots| !roots.is_empty())
            .unwrap_or(&["."]);
        let names: Vec<_> = roots
            .iter()
            .map(|root| format!("{root}/{STAR}/{DEEP}"))
            .collect();
        return names.join("\n");
    }
    if exec.stdin.is_empty() {
        return marks::only(ANY);
    }
    if let Some(names) = named(exec) {
        return names;
    }
    // `env | grep -i token`.
    let lower = |arg: &String| arg.to_ascii_lowercase();
    let credential =
        |arg: String| Words("token secret passw api_key apikey credential").any_in(&arg);
    let quiet = exec
        .args()
        .iter()
        .any(|arg| arg.starts_with("-q") || arg == "-c" || arg == "-v");
    if exec.stdin.contains(ENVIRONMENT) && !quiet && exec.args().iter().map(lower).any(credential) {
        return marks::only(SECRET);
    }
    exec.stdin.clone()
}

/// `ls -A | grep '^\.env$'`: of names that nobody knows, the one that is asked for.
fn named(exec: &Exec) -> Option<String> {
    if !only_names(&exec.stdin) || exec.args().iter().any(|arg| arg.starts_with("-v")) {
        return None;
    }
    let pattern = exec.args().iter().find(|arg| !arg.starts_with('-'))?;
    let name = pattern.strip_prefix(['^', '/']).unwrap_or(pattern);
    let name = name.strip_suffix('$').unwrap_or(name).replace("\\.", ".");
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    let (starts, ends) = (pattern.starts_with(['^', '/']), pattern.ends_with('$'));
    let known = name.starts_with('.') && name.len() > 2 && name.chars().all(plain);
    (known && (starts || ends)).then(|| if ends { name } else { format!("{name}{STAR}") })
}

/// What `env` prints, so that it is known again.
pub(super) const ENVIRONMENT: &str = "SHELL=/bin/bash";

/// `ls`: names, or with `-d` the paths themselves.
pub(super) fn ls(args: &[String]) -> String {
    let operands = options::operands(args, options::PLAIN);
    let paths = args
        .iter()
        .any(|arg| arg.starts_with('-') && !arg.starts_with("--") && arg.contains('d'));
    let globs = !operands.is_empty() && operands.iter().all(|operand| !marks::exact(operand));
    if paths || globs {
        operands.join("\n")
    } else {
        marks::only(STAR)
    }
}

//! Changing a protected branch, or removing a repository, through a forge's own commands and API.

use crate::marks;
use crate::walk::View;
use crate::walk::options::{self, Arg, Spec};
use crate::words::Words;

use super::protected::protected;

/// `gh` options that take a value; enough to find the command words and the fields of `api`.
const GH: Spec = Spec {
    short: "RXfFHqtbBjp",
    long: Words(
        "repo method field raw-field header jq template hostname input body subject \
         match-head-commit author-email preview cache",
    ),
};

const CURL: Spec = Spec {
    short: "XdHuFToAbcem",
    long: Words("request data data-raw data-binary json header user form url output"),
};

/// GraphQL mutations that write a branch.
const MUTATIONS: Words = Words(
    "mergePullRequest mergeBranch enablePullRequestAutoMerge enqueuePullRequest updateRef \
     deleteRef createCommitOnBranch deleteBranchProtectionRule updateBranchProtectionRule",
);

/// Judges `gh`, `glab`, `tea` and `hub`.
pub(super) fn check(view: &View<'_>) -> Option<String> {
    let args = view.exec.args();
    let asks = |arg: &String| matches!(arg.as_str(), "--help" | "-h" | "--disable-auto");
    if args.iter().any(asks) {
        return None;
    }
    let words = options::operands(args, GH);
    let name = view.exec.name();
    match words.as_slice() {
        ["pr" | "mr" | "pulls", "merge" | "m" | "accept", ..] => Some(format!(
            "{name} {} {} merges into the base branch",
            words[0], words[1]
        )),
        ["repo" | "repos" | "project", "delete" | "rm", ..] => {
            Some(format!("{name} repo delete removes the repository"))
        }
        ["repo", "sync", ..] if args.iter().any(|arg| arg == "--force") => {
            Some("gh repo sync --force overwrites the branch".to_owned())
        }
        ["api", ..] => check_api(view),
        _ => None,
    }
}

fn check_api(view: &View<'_>) -> Option<String> {
    let mut method = None;
    let mut fields = Vec::new();
    let mut words = Vec::new();
    for arg in options::read(view.exec.args(), GH) {
        match arg {
            Arg::Short('X', value) | Arg::Long("method", value) => method = value,
            Arg::Short('f' | 'F', Some(value))
            | Arg::Long("field" | "raw-field" | "input", Some(value)) => fields.push(value),
            Arg::Operand(word) => words.push(word),
            _ => {}
        }
    }
    let method = method.unwrap_or(if fields.is_empty() { "GET" } else { "POST" });
    request(method, words.get(1)?, &fields, view)
}

/// Judges a request made with a general HTTP client, when it goes to a forge's API.
pub(super) fn check_request(view: &View<'_>) -> Option<String> {
    let args = view.exec.args();
    let url = args
        .iter()
        .find(|arg| arg.contains("://api.") || arg.contains("/api/v"))?;
    let mut method = None;
    let mut fields = Vec::new();
    for arg in options::read(args, CURL) {
        match arg {
            Arg::Short('X', value) | Arg::Long("request" | "method", value) => method = value,
            Arg::Short('d' | 'F' | 'T', Some(value))
            | Arg::Long(
                "data" | "data-raw" | "data-binary" | "json" | "form" | "post-data" | "body-data",
                Some(value),
            ) => {
                fields.push(value);
            }
            Arg::Operand(word @ ("PUT" | "POST" | "PATCH" | "DELETE")) => method = Some(word),
            _ => {}
        }
    }
    let method = method.unwrap_or(if fields.is_empty() { "GET" } else { "POST" });
    let (_, path) = url.split_once("://")?;
    request(method, path.split_once('/')?.1, &fields, view)
}

/// Judges one API request.
fn request(method: &str, path: &str, fields: &[&str], view: &View<'_>) -> Option<String> {
    let method = method.to_ascii_uppercase();
    let path = path
        .trim_start_matches("https://api.github.com")
        .trim_matches('/');
    let path = path.split('?').next().unwrap_or_default();
    let path = ["api/v1/", "api/v3/", "api/v4/"]
        .iter()
        .find_map(|p| path.strip_prefix(p))
        .unwrap_or(path);
    if path == "graphql" || path.ends_with("/graphql") {
        let named = MUTATIONS
            .iter()
            .find(|m| fields.iter().any(|field| field.contains(*m)))?;
        return Some(format!("the GraphQL mutation {named} writes a branch"));
    }
    if matches!(method.as_str(), "GET" | "HEAD") {
        return None;
    }
    let parts: Vec<&str> = path.split('/').collect();
    let shown = marks::show_short(path, 80);
    let inside = match parts.as_slice() {
        ["repos", _, _] | ["projects", _] if method == "DELETE" => {
            return Some(format!("{method} {shown} deletes the repository"));
        }
        ["repos", _, _, inside @ ..] | ["projects", _, inside @ ..] => inside,
        _ => return None,
    };
    let guarded = |name: &str, verb: &str| {
        protected(name, view).map(|_| format!("{method} {shown} {verb} a protected branch"))
    };
    match inside {
        [.., "merge" | "merges"] => Some(format!("{method} {shown} merges")),
        ["git", "refs", ..] if fields.iter().any(|field| is_forced(field)) => {
            Some(format!("{method} {shown} overwrites history (force)"))
        }
        ["rulesets", ..] => Some(format!("{method} {shown} changes what protects branches")),
        ["git", "refs", rest @ ..] if !rest.is_empty() => {
            guarded(&format!("refs/{}", rest.join("/")), "writes")
        }
        ["git", "refs"] => {
            let name = fields.iter().find_map(|field| field.strip_prefix("ref="))?;
            guarded(name, "makes")
        }
        ["repository", "branches", name] if method == "DELETE" => {
            guarded(&name.replace("%2F", "/").replace("%2f", "/"), "deletes")
        }
        ["protected_branches", ..] => {
            Some(format!("{method} {shown} changes what protects branches"))
        }
        ["branches", name] if method == "DELETE" => guarded(name, "deletes"),
        ["branches", name, "protection" | "rename", ..] => guarded(name, "changes"),
        ["contents", _, ..] => contents(&method, &shown, fields, view),
        _ => None,
    }
}

/// Whether a field, or a member of a body, asks for a forced update.
fn is_forced(field: &str) -> bool {
    let plain = field.replace([' ', '"'], "");
    plain.contains("force=true") || plain.contains("force:true")
}

/// Writing a file commits to the branch it names, or to the default branch.
fn contents(method: &str, shown: &str, fields: &[&str], view: &View<'_>) -> Option<String> {
    let branch = fields
        .iter()
        .find_map(|field| field.strip_prefix("branch="));
    let json = fields.iter().any(|field| field.contains("\"branch\""));
    match branch {
        Some(name) => {
            protected(name, view).map(|_| format!("{method} {shown} commits to a protected branch"))
        }
        None if json => None,
        None => Some(format!("{method} {shown} commits to the default branch")),
    }
}

//! Families of variables that no pattern passes: they carry secrets, code, or a door.

use std::fmt;

/// Whether a role's `pass` lets a variable through: a name does, whatever it is; a beginning does
/// unless the name is of a family that carries secrets or code.
#[must_use]
pub fn passes(patterns: &[String], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| match pattern.strip_suffix('*') {
            Some(start) => name.starts_with(start) && family(name).is_none(),
            None => pattern == name,
        })
}

/// Why variables of a family never pass by a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// They carry credentials, or say where some are.
    Secret,
    /// They make programs load code, or change what programs do.
    Code,
    /// They lead to the operator's own session: agents, desktops, message buses.
    Door,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Secret => "it may carry a secret",
            Self::Code => "it can make programs run other code",
            Self::Door => "it leads into your own session",
        })
    }
}

/// Beginnings of names that carry credentials. They are those of LIMITS "Env" and of the clouds'
/// own documentation.
const SECRET_STARTS: &[&str] = &[
    "AWS_",
    "GOOGLE_",
    "GCP_",
    "GCLOUD_",
    "CLOUDSDK_",
    "AZURE_",
    "ARM_",
    "GH_",
    "GITHUB_",
    "GITLAB_",
    "CI_JOB_",
    "SLACK_",
    "CARGO_REGISTR",
    "DOCKER_",
    "KUBE",
    "VAULT_",
    "PG",
    "OPENAI_",
    "ANTHROPIC_",
    "CLAUDE_",
    "GEMINI_",
    "CODEX_",
];

/// Parts of names that do.
const SECRET_PARTS: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "CONNECTION_STRING",
    "DATABASE_URL",
    "COOKIE",
    "APIKEY",
];

/// Ends of names that do.
const SECRET_ENDS: &[&str] = &["_KEY", "_KEYS", "_PASS", "_PAT", "_DSN", "_AUTH", "_JWT"];

/// Beginnings of names that bring code.
const CODE_STARTS: &[&str] = &[
    "LD_",
    "DYLD_",
    "GIT_",
    "BASH_FUNC_",
    "PYTHON",
    "PERL",
    "RUBY",
    "NODE_",
    "JAVA_TOOL_",
    "_JAVA_",
    "JDK_JAVA_",
    "LESS",
    "MALLOC_",
];

/// Names that do.
const CODE: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "PROMPT_COMMAND",
    "PS4",
    "IFS",
    "CDPATH",
    "SHELLOPTS",
    "BASHOPTS",
    "GLIBC_TUNABLES",
    "GCONV_PATH",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
];

/// Ends of names that do: cargo's `CARGO_TARGET_…_RUNNER`, and its kind.
const CODE_ENDS: &[&str] = &["_RUNNER", "_LINKER", "_WRAPPER", "_PRELOAD"];

/// Beginnings of names that lead elsewhere.
const DOOR_STARTS: &[&str] = &["SSH_", "GPG_", "DBUS_", "XDG_", "WAYLAND_", "SUDO_", "TMUX"];

/// Names that do.
const DOORS: &[&str] = &[
    "DISPLAY",
    "XAUTHORITY",
    "KRB5CCNAME",
    "KRB5_CONFIG",
    "NETRC",
    "HOME",
];

/// The family of a variable, if it belongs to one. The case of letters does not matter.
#[must_use]
pub fn family(name: &str) -> Option<Family> {
    let name = name.to_ascii_uppercase();
    let starts = |list: &[&str]| list.iter().any(|start| name.starts_with(start));
    let ends = |list: &[&str]| list.iter().any(|end| name.ends_with(end));
    if starts(SECRET_STARTS)
        || ends(SECRET_ENDS)
        || SECRET_PARTS.iter().any(|part| name.contains(part))
    {
        Some(Family::Secret)
    } else if starts(CODE_STARTS) || ends(CODE_ENDS) || CODE.contains(&name.as_str()) {
        Some(Family::Code)
    } else if starts(DOOR_STARTS) || DOORS.contains(&name.as_str()) {
        Some(Family::Door)
    } else {
        None
    }
}

/// What is wrong with an entry of `pass`, if anything is.
pub(crate) fn wrong_pattern(pattern: &str) -> Option<&'static str> {
    let start = pattern.strip_suffix('*').unwrap_or(pattern);
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if start.is_empty() || !start.chars().all(named) {
        return Some("is neither a name nor a beginning with a * behind it");
    }
    if pattern.ends_with('*') && start.len() < 3 {
        return Some("is too short a beginning");
    }
    if start.starts_with("CARSON_") {
        return Some("is Carson's own");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(list: &[&str]) -> Vec<String> {
        list.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn no_pattern_passes_a_secret_or_code() {
        let all: Vec<String> = ('A'..='Z')
            .chain('a'..='z')
            .flat_map(|c| [format!("{c}*"), format!("_{c}*")])
            .collect();
        for name in [
            "AWS_ACCESS_KEY_ID",
            "AWS_PROFILE",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "AZURE_CLIENT_SECRET",
            "ARM_CLIENT_ID",
            "GH_TOKEN",
            "GITHUB_TOKEN",
            "GITLAB_X",
            "SLACK_BOT_TOKEN",
            "NPM_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "CARGO_REGISTRIES_X_TOKEN",
            "DOCKER_HOST",
            "KUBECONFIG",
            "VAULT_ADDR",
            "SSH_AUTH_SOCK",
            "SSH_AGENT_PID",
            "GPG_AGENT_INFO",
            "DATABASE_URL",
            "PGPASSWORD",
            "PGHOST",
            "X_PASSWORD",
            "X_KEY",
            "X_CREDENTIALS",
            "X_CONNECTION_STRING",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "LD_PRELOAD",
            "LD_LIBRARY_PATH",
            "DYLD_INSERT_LIBRARIES",
            "GIT_SSH_COMMAND",
            "GIT_DIR",
            "NODE_OPTIONS",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "BASH_ENV",
            "ENV",
            "PROMPT_COMMAND",
            "PERL5OPT",
            "RUBYOPT",
            "CARGO_TARGET_X_RUNNER",
            "RUSTC_WRAPPER",
            "github_token",
            "my_secret_thing",
            "DBUS_SESSION_BUS_ADDRESS",
            "XDG_RUNTIME_DIR",
        ] {
            assert!(family(name).is_some(), "{name} is in no family");
            assert!(!passes(&all, name), "{name} passes by a pattern");
            assert!(
                passes(&patterns(&[name]), name),
                "{name} does not pass by its name"
            );
        }
    }

    #[test]
    fn harmless_names_pass_by_a_pattern_that_covers_them() {
        let some = patterns(&["CARGO_*", "MAKEFLAGS"]);
        for name in ["CARGO_INCREMENTAL", "CARGO_BUILD_JOBS", "MAKEFLAGS"] {
            assert!(passes(&some, name), "{name}");
        }
        for name in ["MAKEFLAGS_TOO", "RUSTFLAGS", "CARGO_REGISTRY_TOKEN"] {
            assert!(!passes(&some, name), "{name}");
        }
    }

    #[test]
    fn entries_that_cannot_be_meant_are_found() {
        for wrong in [
            "",
            "*",
            "A*",
            "A=B",
            "*_TOKEN",
            "A*B",
            "CARSON_HOME",
            "CARSON_*",
            "a b",
        ] {
            assert!(wrong_pattern(wrong).is_some(), "{wrong:?}");
        }
        for right in ["CARGO_*", "GH_TOKEN", "RUSTFLAGS"] {
            assert_eq!(wrong_pattern(right), None);
        }
    }
}

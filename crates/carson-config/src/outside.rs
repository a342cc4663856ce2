//! What lies outside of Carson: repositories, accounts, the forge and the chat. What was written
//! becomes what is meant.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carson_core::{AccountName, EngineKind, RepoName};
use carson_redact::rule_names;

use crate::check::Check;
use crate::fleet::{
    Account, AllowedSecret, ForgeKind, GitHub, Repo, Slack, SlackAuth, TokenSource,
};
use crate::keys::parse_share;
use crate::provider;
use crate::raw::{AccountSection, GitHubSection, RepoSection, SlackSection};
use crate::secret::read_secret;

/// Where relative paths and `~` lead.
pub(crate) struct Paths<'a> {
    pub home: &'a Path,
    pub user: Option<&'a Path>,
}

impl Paths<'_> {
    pub(crate) fn expand(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.user) {
            (Some(rest), Some(user)) => user.join(rest),
            _ if text == "~" => self.user.unwrap_or(Path::new("~")).to_owned(),
            _ => self.home.join(text),
        }
    }

    /// A value that may be a path: only `~` is expanded.
    pub(crate) fn tilde(&self, text: &str) -> String {
        let leads_home = text == "~" || text.starts_with("~/");
        if leads_home {
            self.expand(text).to_string_lossy().into_owned()
        } else {
            text.to_owned()
        }
    }
}

const URL: &str = "url = \"git@host:owner/name.git\" or a path";

/// The few rules of git-check-ref-format that people break.
fn is_branch(name: &str) -> bool {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    !(name.is_empty()
        || name.starts_with(['-', '/', '.'])
        || name.contains("..")
        || name.contains(odd))
}

pub(crate) fn repos(
    raw: BTreeMap<String, RepoSection>,
    has_github: &bool,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> BTreeMap<RepoName, Repo> {
    let mut repos = BTreeMap::new();
    for (name, section) in raw {
        let at = format!("repos.{name}");
        let Some(name) = check.name::<RepoName>(&at, &name) else {
            continue;
        };
        if section.url.trim().is_empty() {
            check.problem(&at, "url is missing", URL);
        }
        let slug = section.slug.unwrap_or_default();
        let forge = if section.forge == "github" {
            let parts: Vec<&str> = slug.split('/').collect();
            if parts.len() != 2 || parts.iter().any(|part| part.is_empty()) {
                check.problem(
                    &at,
                    format!("slug {slug:?} is not owner/name"),
                    "slug = \"acme/widget\"",
                );
            }
            if !has_github {
                let hint = "[github] with token_file or token_command";
                check.problem(&at, "forge \"github\" needs a [github] section", hint);
            }
            ForgeKind::GitHub { slug }
        } else {
            ForgeKind::Local
        };
        if section.url.starts_with('-') {
            let key = format!("{at}.url");
            check.problem(
                &key,
                format!("{:?} is an option, not an address", section.url),
                URL,
            );
        }
        if !is_branch(&section.base) {
            let key = format!("{at}.base");
            check.problem(
                &key,
                format!("{:?} is not a branch", section.base),
                "base = \"main\"",
            );
        }
        let mut protected = section.protected;
        if !protected.contains(&section.base) {
            protected.push(section.base.clone());
        }
        let allow_secrets = allowed_secrets(&at, &section.allow_secrets, check);
        let url = paths.tilde(&section.url);
        repos.insert(
            name.clone(),
            Repo {
                name,
                url,
                forge,
                base: section.base,
                protected,
                allow_secrets,
                allow_ci: section.allow_ci,
                allow_unshown: section.allow_unshown,
            },
        );
    }
    repos
}

/// `RULE:FILE`. A value that Carson itself holds is no false alarm, whatever file it is in.
fn allowed_secrets(at: &str, written: &[String], check: &mut Check<'_>) -> Vec<AllowedSecret> {
    let mut allowed = Vec::new();
    for text in written {
        let key = format!("{at}.allow_secrets");
        let (rule, files) = text.split_once(':').unwrap_or((text, ""));
        if files.is_empty() || !rule_names().contains(&rule) {
            let problem = format!("{text:?} is not RULE:FILE with a known rule");
            let hint = format!("one of {}: \"jwt:tests/*\"", rule_names().join(", "));
            check.problem(&key, problem, &hint);
            continue;
        }
        allowed.push(AllowedSecret {
            rule: rule.to_owned(),
            files: files.to_owned(),
        });
    }
    allowed
}

pub(crate) fn accounts(
    raw: BTreeMap<String, AccountSection>,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> BTreeMap<AccountName, Account> {
    let mut accounts = BTreeMap::new();
    for (name, section) in raw {
        let at = format!("accounts.{name}");
        let Some(name) = check.name::<AccountName>(&at, &name) else {
            continue;
        };
        let engine = match section.engine.as_str() {
            "claude" => EngineKind::Claude,
            "command" => EngineKind::Command,
            "rehearsal" => EngineKind::Rehearsal,
            _ => {
                check.problem(&at, "engine is missing", "engine = \"claude\"");
                continue;
            }
        };
        if engine == EngineKind::Command && section.binary.is_none() {
            check.problem(
                &at,
                "engine \"command\" needs a binary",
                "binary = \"my-agent\"",
            );
        }
        if engine != EngineKind::Command && section.limits.is_some() {
            let key = format!("{at}.limits");
            let problem = "only a program of engine \"command\" needs it";
            check.problem(&key, problem, "leave it out");
        }
        if engine == EngineKind::Rehearsal && section.script.is_none() {
            check.problem(
                &at,
                "engine \"rehearsal\" needs a script",
                "script = \"play.toml\"",
            );
        }
        let key = provider::key(&at, engine, &section, paths, check);
        let default = (engine == EngineKind::Claude).then(|| PathBuf::from("claude"));
        let binary = section
            .binary
            .map(|binary| PathBuf::from(paths.tilde(&binary)));
        let env = section
            .env
            .into_iter()
            .map(|(name, value)| (name, paths.tilde(&value)));
        let account = Account {
            name: name.clone(),
            engine,
            binary: binary.or(default),
            args: section.args,
            env: env.collect(),
            model: section.model,
            script: section.script.map(|script| paths.expand(&script)),
            key,
            limits: section.limits,
            warn_at: parse_share(&section.warn_at).unwrap_or(1.0),
            reserve: parse_share(&section.reserve).unwrap_or(0.0),
        };
        accounts.insert(name, account);
    }
    accounts
}

pub(crate) fn github(
    section: GitHubSection,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> Option<GitHub> {
    let token = match (section.token_file, section.token_command) {
        (Some(file), None) => {
            let path = paths.expand(&file);
            secret(&path, "github.token_file", check);
            TokenSource::File(path)
        }
        (None, Some(argv)) if !argv.is_empty() => TokenSource::Command(argv),
        _ => {
            let hint =
                "token_file = \"github.token\" or token_command = [\"gh\", \"auth\", \"token\"]";
            check.problem(
                "github",
                "it needs token_file or token_command, one of them",
                hint,
            );
            return None;
        }
    };
    Some(GitHub {
        api_base: section.api_base,
        token,
    })
}

pub(crate) fn slack(
    section: SlackSection,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> Option<Slack> {
    let auth = match (section.token_file, section.webhook_file) {
        (Some(file), None) => {
            let path = paths.expand(&file);
            secret(&path, "slack.token_file", check);
            SlackAuth::Token(path)
        }
        (None, Some(file)) => {
            let path = paths.expand(&file);
            secret(&path, "slack.webhook_file", check);
            SlackAuth::Webhook(path)
        }
        _ => {
            check.problem(
                "slack",
                "it needs token_file or webhook_file, one of them",
                "token_file = \"slack.token\", a file with a bot token",
            );
            return None;
        }
    };
    Some(Slack {
        api_base: section.api_base,
        channel: section.channel,
        auth,
    })
}

pub(crate) fn secret(path: &Path, key: &str, check: &mut Check<'_>) {
    if let Err(error) = read_secret(path) {
        check.problem(key, error.to_string(), "");
    }
}

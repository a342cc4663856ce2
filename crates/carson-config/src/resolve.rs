//! What was written becomes what is meant; what crosses files is checked here.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carson_core::admission::Overlap;
use carson_core::cadence::{Cadence, CatchUp};
use carson_core::limits::Limits;
use carson_core::{AccountName, HostName, RepoName, Stage};
use chrono_tz::Tz;

use crate::duration::parse_duration;
use crate::finding::Finding;
use crate::fleet::{
    Account, EngineKind, Fleet, ForgeKind, GitHub, Promise, Repo, Role, Slack, SlackAuth,
    TokenSource, Tools, WorkSource,
};
use crate::home::Home;
use crate::keys::{Document, nearest};
use crate::load::{LoadOptions, ReadRole};
use crate::raw::{
    AccountSection, GitHubSection, LimitsSection, RepoSection, Settings, SlackSection,
};
use crate::secret::read_secret;

/// Collects findings about one file.
struct Check<'a> {
    file: &'a Path,
    document: &'a Document,
    findings: &'a mut Vec<Finding>,
}

impl Check<'_> {
    fn problem(&mut self, key: &str, problem: impl Into<String>, hint: &str) {
        let line = self.document.line(key);
        let finding = Finding::new(self.file, line, key, problem.into());
        self.findings.push(if hint.is_empty() {
            finding
        } else {
            finding.hint(hint)
        });
    }

    fn name<T: std::str::FromStr<Err: std::fmt::Display>>(
        &mut self,
        key: &str,
        name: &str,
    ) -> Option<T> {
        match name.parse() {
            Ok(name) => Some(name),
            Err(error) => {
                self.problem(key, format!("{error}"), "");
                None
            }
        }
    }
}

/// The whole fleet. What could not be read is left out; there is a finding for it then.
pub(crate) fn fleet(
    options: &LoadOptions,
    home: Home,
    document: &Document,
    raw: Settings,
    read: Vec<ReadRole>,
    findings: &mut Vec<Finding>,
) -> Fleet {
    let file = home.settings();
    let mut check = Check {
        file: &file,
        document,
        findings,
    };
    let paths = Paths {
        home: &home.root,
        user: options.user_home.as_deref(),
    };
    let repos = repos(raw.repos, &raw.github.is_some(), &paths, &mut check);
    let accounts = accounts(raw.accounts, &paths, &mut check);
    let github = raw
        .github
        .and_then(|section| github(section, &paths, &mut check));
    let slack = raw
        .slack
        .and_then(|section| slack(section, &paths, &mut check));
    let host = match &raw.fleet.host {
        Some(host) => check.name("fleet.host", host),
        None => None,
    };
    let mut fleet = Fleet {
        name: raw.fleet.name,
        zone: raw.fleet.zone.parse().unwrap_or(Tz::UTC),
        host: host.unwrap_or_else(|| HostName::from_machine(&options.machine)),
        max_firings: raw.fleet.max_firings,
        repos,
        accounts,
        roles: BTreeMap::new(),
        github,
        slack,
        database: database(raw.database.url, &home),
        home,
    };
    for role in read {
        let (name, role) = resolve_role(role, &fleet, findings);
        fleet.roles.insert(name, role);
    }
    fleet
}

/// Where relative paths and `~` lead.
struct Paths<'a> {
    home: &'a Path,
    user: Option<&'a Path>,
}

impl Paths<'_> {
    fn expand(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), self.user) {
            (Some(rest), Some(user)) => user.join(rest),
            _ if text == "~" => self.user.unwrap_or(Path::new("~")).to_owned(),
            _ => self.home.join(text),
        }
    }

    /// A value that may be a path: only `~` is expanded.
    fn tilde(&self, text: &str) -> String {
        let leads_home = text == "~" || text.starts_with("~/");
        if leads_home {
            self.expand(text).to_string_lossy().into_owned()
        } else {
            text.to_owned()
        }
    }
}

fn database(url: Option<String>, home: &Home) -> String {
    let in_home = |path: &str| format!("sqlite:{}", home.root.join(path).display());
    match url {
        None => in_home("state/carson.db"),
        Some(url) => match url.strip_prefix("sqlite:") {
            Some(path) => in_home(path.trim_start_matches("//")),
            None => url,
        },
    }
}

fn repos(
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
            check.problem(
                &at,
                "url is missing",
                "url = \"git@host:owner/name.git\" or a path",
            );
        }
        let slug = section.slug.unwrap_or_default();
        let forge = if section.forge == "github" {
            let parts: Vec<&str> = slug.split('/').collect();
            if parts.len() != 2 || parts.iter().any(|part| part.is_empty()) {
                check.problem(&at, format!("slug {slug:?} is not owner/name"), "");
            }
            if !has_github {
                check.problem(&at, "forge \"github\" needs a [github] section", "");
            }
            ForgeKind::GitHub { slug }
        } else {
            ForgeKind::Local
        };
        if section.base.is_empty() || section.base.starts_with('-') {
            let key = format!("{at}.base");
            check.problem(&key, format!("{:?} is not a branch", section.base), "");
        }
        let mut protected = section.protected;
        protected.push(section.base.clone());
        let url = paths.tilde(&section.url);
        repos.insert(
            name.clone(),
            Repo {
                name,
                url,
                forge,
                base: section.base,
                protected,
            },
        );
    }
    repos
}

fn accounts(
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
        if engine == EngineKind::Rehearsal && section.script.is_none() {
            check.problem(
                &at,
                "engine \"rehearsal\" needs a script",
                "script = \"play.toml\"",
            );
        }
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
        };
        accounts.insert(name, account);
    }
    accounts
}

fn github(section: GitHubSection, paths: &Paths<'_>, check: &mut Check<'_>) -> Option<GitHub> {
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

fn slack(section: SlackSection, paths: &Paths<'_>, check: &mut Check<'_>) -> Option<Slack> {
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
                "",
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

fn secret(path: &Path, key: &str, check: &mut Check<'_>) {
    if let Err(error) = read_secret(path) {
        check.problem(key, error.to_string(), "");
    }
}

fn resolve_role(
    read: ReadRole,
    fleet: &Fleet,
    findings: &mut Vec<Finding>,
) -> (carson_core::RoleName, Role) {
    let ReadRole {
        name,
        file,
        document,
        raw,
        prompts,
    } = read;
    let mut check = Check {
        file: &file,
        document: &document,
        findings,
    };
    let zone = raw
        .zone
        .as_ref()
        .and_then(|zone| zone.parse().ok())
        .unwrap_or(fleet.zone);
    let span = |text: &str| parse_duration(text).unwrap_or_default();
    let repos = known_names(
        "repos",
        &raw.repos,
        fleet.repos.keys().map(RepoName::as_str),
        &mut check,
    );
    let accounts = fleet.accounts.keys().map(AccountName::as_str);
    let engines = known_names("engines", &raw.engines, accounts, &mut check);
    if raw.engines.is_empty() {
        check.problem(
            "engines",
            "a role needs at least one account",
            "engines = [\"claude\"]",
        );
    }
    let cadence = cadence(&raw.cadence, zone, &mut check);
    let catch_up = if raw.catch_up == "none" {
        CatchUp::None
    } else {
        CatchUp::One
    };
    let promise = raw.promise.map(|promise| {
        if promise.run.trim().is_empty() {
            check.problem("promise.run", "it is missing", "run = \"cargo test\"");
        }
        Promise {
            timeout: span(&promise.timeout),
            run: promise.run,
        }
    });
    let role = Role {
        title: raw.title.unwrap_or_else(|| name.to_string()),
        enabled: raw.enabled,
        repos,
        cadence: cadence
            .catching_up(catch_up, span(&raw.max_late))
            .splayed(span(&raw.splay), name.as_str()),
        cadence_lines: raw.cadence,
        overlap: if raw.overlap == "queue-one" {
            Overlap::QueueOne
        } else {
            Overlap::Skip
        },
        work: match raw.work.from.as_str() {
            "none" => WorkSource::None,
            _ => WorkSource::Issues {
                label: raw.work.label,
            },
        },
        engines,
        stages: stages(&raw.stages, &mut check),
        limits: limits(raw.limits),
        tools: Tools {
            read: raw.tools.read,
            write: raw.tools.write,
        },
        promise,
        identity: raw.identity.env,
        prompts,
        name: name.clone(),
    };
    (name, role)
}

/// Names that must stand in the settings.
fn known_names<'a, T: std::str::FromStr>(
    key: &str,
    wanted: &[String],
    known: impl Iterator<Item = &'a str>,
    check: &mut Check<'_>,
) -> Vec<T> {
    let known: Vec<&str> = known.collect();
    let mut names = Vec::new();
    for name in wanted {
        match name.parse() {
            Ok(parsed) if known.contains(&name.as_str()) => names.push(parsed),
            _ => {
                let hint = match nearest(name, &known) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("known: {}", known.join(", ")),
                };
                check.problem(key, format!("carson.toml has no {name:?}"), &hint);
            }
        }
    }
    names
}

fn cadence(lines: &[String], zone: Tz, check: &mut Check<'_>) -> Cadence {
    match Cadence::parse(lines, zone) {
        Ok(cadence) => cadence,
        Err(error) => {
            let hint = "five fields: minute hour day month weekday, such as \"*/20 * * * *\"";
            check.problem("cadence", error.to_string(), hint);
            Cadence::parse::<&str>(&[], zone).unwrap_or_else(|_| unreachable!("no line, no error"))
        }
    }
}

fn stages(wanted: &[String], check: &mut Check<'_>) -> Vec<Stage> {
    let mut stages = Vec::new();
    for name in wanted {
        match name.parse::<Stage>() {
            Ok(stage) if Stage::CHOSEN.contains(&stage) => stages.push(stage),
            _ => {
                let known: Vec<&str> = Stage::CHOSEN.iter().map(|stage| stage.as_str()).collect();
                let hint = format!("stages: {}", known.join(", "));
                check.problem(
                    "stages",
                    format!("{name:?} is not a stage to choose"),
                    &hint,
                );
            }
        }
    }
    for (stage, needs) in [
        (Stage::Review, Stage::Plan),
        (Stage::Verify, Stage::Execute),
        (Stage::DiffReview, Stage::Execute),
    ] {
        if stages.contains(&stage) && !stages.contains(&needs) {
            check.problem("stages", format!("{stage} needs {needs}"), "");
        }
    }
    stages.sort();
    stages.dedup();
    stages
}

fn limits(raw: LimitsSection) -> Limits {
    let base = Limits::default();
    let span = |text: Option<String>, default| {
        text.and_then(|text| parse_duration(&text).ok())
            .unwrap_or(default)
    };
    Limits {
        max_turns: raw.max_turns.unwrap_or(base.max_turns),
        max_turns_read: raw.max_turns_read.unwrap_or(base.max_turns_read),
        wall_clock: span(raw.wall_clock, base.wall_clock),
        silence: span(raw.silence, base.silence),
        max_attempts: raw.max_attempts.unwrap_or(base.max_attempts),
        max_revisions: raw.max_revisions.unwrap_or(base.max_revisions),
        max_firings_per_day: raw.max_firings_per_day.unwrap_or(base.max_firings_per_day),
        max_cost_usd: raw.max_cost_usd.or(base.max_cost_usd),
        max_output_mb: raw.max_output_mb.unwrap_or(base.max_output_mb),
        max_open_prs: raw.max_open_prs.unwrap_or(base.max_open_prs),
        fail_streak: raw.fail_streak.unwrap_or(base.fail_streak),
        max_rejections: raw.max_rejections.unwrap_or(base.max_rejections),
        max_work_attempts: raw.max_work_attempts.unwrap_or(base.max_work_attempts),
    }
}

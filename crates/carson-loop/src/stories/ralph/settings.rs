//! What a run of ralph-loop is told: 27 variables and its flags.
//!
//! A flag is stronger than a variable, a variable than the PRD, the PRD than the default. An empty variable is
//! none, as in a shell's `${NAME:-default}`.

mod switches;

use std::collections::BTreeMap;
use std::path::PathBuf;

use thiserror::Error;

use switches::{SWITCHES, Switch};

/// The variables that are read, by their names.
pub type Variables = BTreeMap<String, String>;

/// Every variable that is read.
#[cfg(test)]
pub fn variable_names() -> Vec<&'static str> {
    const OTHERS: [&str; 14] = [
        "MODE",
        "RALPH_TOOL",
        "RALPH_REPO_ROOT",
        "RALPH_MODEL",
        "CODEX_MODEL",
        "RALPH_REASONING_EFFORT",
        "CODEX_REASONING_EFFORT",
        "CODEX_TIMEOUT_SECONDS",
        "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
        "RALPH_MAX_ATTEMPTS_PER_STORY",
        "RALPH_SKIP_AFTER_FAILURES",
        "RALPH_STALE_LOCK_NO_PID_SECONDS",
        "RALPH_FIXING_STATE_METHOD",
        "RALPH_VERBOSITY",
    ];
    let switches = SWITCHES.iter().map(|switch| switch.variable);
    switches.chain(OTHERS).collect()
}

/// What a story may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// It only looks.
    Audit,
    /// It only looks, and runs checks.
    Linting,
    /// It changes what its scope covers.
    Fixing,
}

/// How changes are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateMethod {
    /// By git, unless it ignores something.
    Auto,
    /// By a walk over all files.
    Full,
    /// By git, or not at all.
    Git,
}

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbosity {
    /// The usual.
    Normal,
    /// Errors and what a program reads.
    Quiet,
    /// More.
    Verbose,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Run stories.
    Run,
    /// Look whether the PRD is right.
    Validate,
    /// List what is open.
    List,
    /// Say how it is called.
    Help,
}

/// What flags and variables say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What is to be done.
    pub ask: Ask,
    /// The mode, unless the PRD is to say it.
    pub mode: Option<Mode>,
    /// How many stories, where it was said.
    pub max_stories: Option<u64>,
    /// Where the repository is, where it was said.
    pub repo_root: Option<PathBuf>,
    /// The model, unless the PRD is to say it.
    pub model: Option<String>,
    /// How hard it thinks, unless the PRD is to say it.
    pub effort: Option<String>,
    /// Seconds of one call; 0 is no bound.
    pub timeout_seconds: u64,
    /// What Codex is told of who calls it.
    pub originator: String,
    /// Calls for one story.
    pub max_attempts: u64,
    /// Failed runs after which a story is skipped; 0 is never.
    pub skip_after: u64,
    /// Seconds after which a lock without an owner is nobody's.
    pub stale_lock_seconds: u64,
    /// How changes are seen.
    pub state_method: StateMethod,
    /// How much is said.
    pub verbosity: Verbosity,
    /// The model may search.
    pub search: bool,
    /// What was printed is kept even of calls that went well.
    pub capture_output: bool,
    /// A report of a run that may search names its sources.
    pub require_references: bool,
    /// The model is asked a known question first.
    pub model_preflight: bool,
    /// State is put away when the project changes.
    pub auto_archive: bool,
    /// A fix leaves an entry in `learnings.md`.
    pub require_learning: bool,
    /// Variables with secrets are looked for.
    pub security_preflight: bool,
    /// And end the run.
    pub fail_on_risk: bool,
    /// The branch is the one that the PRD names.
    pub sync_branch: bool,
    /// `progress.log.md` gets an entry.
    pub append_progress: bool,
    /// `AGENTS.md` gets the latest learning.
    pub sync_agents: bool,
    /// A report stands under `report_dir`.
    pub strict_report_dir: bool,
    /// `progress.txt` is kept up to date.
    pub refresh_progress: bool,
}

/// What was typed or set cannot be meant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct BadSetting(pub String);

impl Settings {
    /// Reads words and variables.
    ///
    /// # Errors
    /// The first that cannot be meant.
    pub fn read(words: &[String], variables: &Variables) -> Result<Self, BadSetting> {
        let mut raw = Raw::of(variables);
        raw.take(words)?;
        raw.checked(variables)
    }
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Audit, Self::Linting, Self::Fixing];

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Audit => "audit",
            Self::Linting => "linting",
            Self::Fixing => "fixing",
        }
    }

    /// The mode of a word.
    ///
    /// # Errors
    /// When no mode has it.
    pub fn of(word: &str) -> Result<Self, BadSetting> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == word);
        found.ok_or_else(|| BadSetting("MODE must be one of: audit | linting | fixing".into()))
    }
}

impl StateMethod {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Full => "full",
            Self::Git => "git",
        }
    }
}

/// Values as they were said; flags have replaced variables.
struct Raw {
    ask: Ask,
    max_stories: Option<u64>,
    switches: Vec<(&'static Switch, String)>,
    mode: String,
    tool: String,
    model: String,
    effort: String,
    timeout: String,
    verbosity: String,
}

/// What a variable says; nothing of an empty one.
fn said<'v>(variables: &'v Variables, name: &str) -> Option<&'v str> {
    let value = variables.get(name).map(String::as_str);
    value.filter(|value| !value.is_empty())
}

impl Raw {
    fn of(variables: &Variables) -> Self {
        let or = |name: &str, default: &str| said(variables, name).unwrap_or(default).to_owned();
        let first = |names: [&str; 2]| names.iter().find_map(|name| said(variables, name));
        let first = |names| first(names).unwrap_or_default().to_owned();
        let switches = SWITCHES.iter();
        let switches = switches.map(|switch| (switch, or(switch.variable, switch.default)));
        Self {
            ask: Ask::Run,
            max_stories: None,
            switches: switches.collect(),
            mode: or("MODE", ""),
            tool: or("RALPH_TOOL", "codex"),
            model: first(["RALPH_MODEL", "CODEX_MODEL"]),
            effort: first(["RALPH_REASONING_EFFORT", "CODEX_REASONING_EFFORT"]),
            timeout: or("CODEX_TIMEOUT_SECONDS", "900"),
            verbosity: or("RALPH_VERBOSITY", "normal"),
        }
    }

    fn take(&mut self, words: &[String]) -> Result<(), BadSetting> {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let value = words.next().cloned();
                value.ok_or_else(|| BadSetting(format!("{word} requires a value")))
            };
            match word.as_str() {
                "--mode" => self.mode = value()?,
                "--tool" => self.tool = value()?,
                "--model" => self.model = value()?,
                "--reasoning-effort" => self.effort = value()?,
                "--timeout-seconds" => self.timeout = value()?,
                "-q" | "--quiet" => "quiet".clone_into(&mut self.verbosity),
                "-v" | "--verbose" => "verbose".clone_into(&mut self.verbosity),
                "--validate-prd" => self.ask = Ask::Validate,
                "--list-stories" => self.ask = Ask::List,
                "-h" | "--help" => {
                    // Nothing that stands behind it matters.
                    self.ask = Ask::Help;
                    return Ok(());
                }
                other => self.other(other)?,
            }
        }
        Ok(())
    }

    fn other(&mut self, word: &str) -> Result<(), BadSetting> {
        if let Some(tool) = word.strip_prefix("--tool=") {
            tool.clone_into(&mut self.tool);
            return Ok(());
        }
        for (switch, value) in &mut self.switches {
            if let Some(on) = switch.flag_says(word) {
                *value = on.to_string();
                return Ok(());
            }
        }
        let Some(count) = whole(word) else {
            return Err(BadSetting(format!("Unknown argument: {word}")));
        };
        if self.max_stories.replace(count).is_some() {
            return Err(BadSetting(
                "Only one positional N argument is allowed".into(),
            ));
        }
        Ok(())
    }

    fn checked(self, variables: &Variables) -> Result<Settings, BadSetting> {
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let or = |name: &str, default| said(variables, name).unwrap_or(default).to_owned();
        let count = |name: &str, default, what: &str| {
            let found = whole(&or(name, default));
            found.ok_or_else(|| BadSetting(format!("{name} must be {what}")))
        };
        let any = "a non-negative integer";
        let mode = some(self.mode).map(|mode| Mode::of(&mode)).transpose()?;
        if !["codex", "codex-cli"].contains(&self.tool.as_str()) && self.ask != Ask::Help {
            return Err(BadSetting(format!(
                "Tool must be one of: codex (got: {})",
                self.tool
            )));
        }
        let timeout = whole(&self.timeout);
        let timeout_seconds =
            timeout.ok_or_else(|| BadSetting(format!("CODEX_TIMEOUT_SECONDS must be {any}")))?;
        let max_attempts = count("RALPH_MAX_ATTEMPTS_PER_STORY", "1", "an integer >= 1")?;
        if max_attempts == 0 {
            return Err(BadSetting(
                "RALPH_MAX_ATTEMPTS_PER_STORY must be an integer >= 1".into(),
            ));
        }
        let state_method = match or("RALPH_FIXING_STATE_METHOD", "auto").as_str() {
            "auto" => StateMethod::Auto,
            "full" => StateMethod::Full,
            "git" => StateMethod::Git,
            _ => {
                return Err(BadSetting(
                    "RALPH_FIXING_STATE_METHOD must be auto|full|git".into(),
                ));
            }
        };
        let mut settings = Settings {
            ask: self.ask,
            mode,
            max_stories: self.max_stories,
            repo_root: said(variables, "RALPH_REPO_ROOT").map(PathBuf::from),
            model: some(self.model),
            effort: some(self.effort),
            timeout_seconds,
            originator: or("CODEX_INTERNAL_ORIGINATOR_OVERRIDE", "codex_cli_rs"),
            max_attempts,
            skip_after: count("RALPH_SKIP_AFTER_FAILURES", "0", any)?,
            stale_lock_seconds: count("RALPH_STALE_LOCK_NO_PID_SECONDS", "30", any)?,
            state_method,
            verbosity: match self.verbosity.as_str() {
                "quiet" => Verbosity::Quiet,
                "verbose" => Verbosity::Verbose,
                _ => Verbosity::Normal,
            },
            search: false,
            capture_output: false,
            require_references: false,
            model_preflight: false,
            auto_archive: false,
            require_learning: false,
            security_preflight: false,
            fail_on_risk: false,
            sync_branch: false,
            append_progress: false,
            sync_agents: false,
            strict_report_dir: false,
            refresh_progress: false,
        };
        for (switch, value) in self.switches {
            *(switch.field)(&mut settings) = match value.as_str() {
                "true" => true,
                "false" => false,
                _ => {
                    return Err(BadSetting(format!(
                        "{} must be true|false",
                        switch.variable
                    )));
                }
            };
        }
        Ok(settings)
    }
}

/// A number of digits alone. One that is larger than any counts as the largest.
fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;

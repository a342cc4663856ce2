//! How a service is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use carson_proc::{Command, Limits, capture};
use serde::Serialize;

use super::manager::{ANSWER, READY, Services};
use super::target::{Kind, Target, UNIT};
use super::written::Written;
use crate::error::CommandError;

const PROPERTIES: &str =
    "--property=LoadState,ActiveState,SubState,UnitFileState,MainPID,Result,NRestarts,StatusText";

/// How a service is.
#[derive(Debug, Serialize)]
pub struct State {
    /// Its file.
    pub file: PathBuf,
    /// Whose that is.
    pub written: Written,
    /// Whether it starts with the machine, or with its user's session; in the manager's words.
    pub enabled: String,
    /// Whether it is up, in the manager's words.
    pub active: String,
    /// The same more exactly.
    pub sub: String,
    /// The daemon's process.
    pub pid: Option<u32>,
    /// How its last run ended.
    pub result: String,
    /// How often it was started again.
    pub restarts: u32,
    /// What the daemon says of itself.
    pub says: String,
    /// The version that runs, where that can be found out.
    pub running_version: Option<String>,
    /// The version of this program.
    pub installed_version: &'static str,
    /// Whether the program was replaced since it was started.
    pub replaced: bool,
    /// Whether it runs while its user is not signed in.
    pub lingers: bool,
}

/// Asks the manager, and the process.
///
/// # Errors
/// When the manager does not answer.
pub async fn look(target: &Target, services: &Services, uid: u32) -> Result<State, CommandError> {
    let told = match &target.kind {
        Kind::Launchd { domain } => {
            let named = format!("{domain}/{}", target.name());
            let done = services.ask(&["print", &named], ANSWER).await?;
            of_launchd(&done.stdout.text())
        }
        Kind::Own | Kind::Machine(_) => {
            let text = services.must(&["show", UNIT, PROPERTIES], ANSWER).await?;
            properties(&text, '=')
        }
    };
    let value = |name: &str| told.get(name).cloned().unwrap_or_default();
    let pid = value("MainPID").parse().ok().filter(|pid| *pid > 0);
    let exe = pid.map(|pid: u32| PathBuf::from(format!("/proc/{pid}/exe")));
    let leads = exe.as_ref().and_then(|exe| exe.read_link().ok());
    let replaced = leads.is_some_and(|path| path.to_string_lossy().ends_with(" (deleted)"));
    Ok(State {
        file: target.file.clone(),
        written: Written::of(&target.file)?,
        enabled: value("UnitFileState"),
        active: value("ActiveState"),
        sub: value("SubState"),
        pid,
        result: value("Result"),
        restarts: value("NRestarts").parse().unwrap_or(0),
        says: value("StatusText"),
        running_version: match exe {
            Some(exe) => version_of(exe, uid).await,
            None => None,
        },
        installed_version: env!("CARGO_PKG_VERSION"),
        replaced,
        lingers: target.lingers("/".as_ref()),
    })
}

/// `Name=value`, one a line.
fn properties(text: &str, between: char) -> BTreeMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(between));
    pairs
        .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        .collect()
}

/// What launchd says, in systemd's words.
fn of_launchd(text: &str) -> BTreeMap<String, String> {
    let told = properties(text, '=');
    let value = |name: &str| told.get(name).cloned().unwrap_or_default();
    let active = match value("state").as_str() {
        "running" => "active",
        _ => "inactive",
    };
    let loaded = if text.is_empty() { "" } else { "enabled" };
    [
        ("ActiveState", active.to_owned()),
        ("SubState", value("state")),
        ("UnitFileState", loaded.to_owned()),
        ("MainPID", value("pid")),
        ("Result", value("last exit code")),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The version of a running program, by its own word: its file may be another one by now. Root runs no program of
/// somebody else's.
async fn version_of(exe: PathBuf, uid: u32) -> Option<String> {
    if uid == 0 {
        return None;
    }
    let command = Command::new(exe, "/").arg("--version");
    let done = capture(&command, &Limits::within(Duration::from_secs(5))).await;
    let said = done.ok().filter(carson_proc::Finished::success)?;
    let said = said.stdout.text();
    Some(said.trim().strip_prefix("carson ")?.to_owned())
}

/// Waits until launchd says that it runs.
///
/// # Errors
/// When it does not within a bounded time.
pub async fn until_launchd_runs(
    services: &Services,
    domain: &str,
    label: &str,
) -> Result<(), CommandError> {
    let named = format!("{domain}/{label}");
    let runs = async {
        loop {
            let done = services.ask(&["print", &named], ANSWER).await?;
            if of_launchd(&done.stdout.text())["ActiveState"] == "active" {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    match tokio::time::timeout(READY, runs).await {
        Ok(done) => done,
        Err(_) => Err(
            CommandError::failed("launchd has the service, and it does not run")
                .hint("~/Library/Logs/carson.log says why"),
        ),
    }
}

impl State {
    /// Whether the daemon runs.
    pub fn runs(&self) -> bool {
        self.active == "active" || self.active == "reloading"
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let file = self.file.display();
        let whose = match self.written {
            Written::Missing => format!("there is no {file}: `carson service install` writes it"),
            Written::Ours => format!("{file}, as Carson wrote it"),
            Written::Edited => format!("{file}, edited by somebody"),
        };
        let mut lines = vec![format!("unit     {whose}")];
        let mut state = format!("state    {} ({})", self.active, self.sub);
        if !self.enabled.is_empty() {
            state.push_str(&format!(", {}", self.enabled));
        }
        if !["", "success"].contains(&self.result.as_str()) && !self.runs() {
            state.push_str(&format!("; its last run ended by {}", self.result));
        }
        lines.push(state);
        if let Some(pid) = self.pid {
            let again = match self.restarts {
                0 => String::new(),
                times => format!(", started again {times} times"),
            };
            lines.push(format!("process  {pid}{again}"));
            let runs = self.running_version.as_deref().unwrap_or("an unknown one");
            lines.push(format!(
                "version  {runs} runs, {} is installed",
                self.installed_version
            ));
        }
        let other = self.running_version.as_deref();
        let other = other.is_some_and(|version| version != self.installed_version);
        if self.runs() && (self.replaced || other) {
            lines.push(
                "         the program was replaced: `systemctl restart carson` (with --user for one of your own) \
                 starts the new one; firings go on"
                    .to_owned(),
            );
        }
        if !self.says.is_empty() {
            lines.push(format!("says     {}", self.says));
        }
        lines
    }
}

//! The engines that Carson knows, and what of them is on this machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use carson_config::Account;
use carson_core::{AccountName, EngineKind, Program};
use carson_engine::{DATED, Engine};
use carson_home::{Home, engines};
use carson_proc::{own_path, own_program};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Which engines are there, in which version, and whose?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct List {}

/// An engine that Carson knows.
#[derive(Debug, Serialize)]
pub struct EngineLine {
    /// Its word in the settings.
    pub engine: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its programs: what the accounts name, and what its own name finds.
    pub programs: Vec<ProgramLine>,
}

/// A program of an engine.
#[derive(Debug, Serialize)]
pub struct ProgramLine {
    /// As it is named: a path, or a name on `PATH`.
    pub named: String,
    /// Where it is.
    pub path: Option<PathBuf>,
    /// Its version, as it says.
    pub version: Option<String>,
    /// With which versions Carson was measured, where it knows the program.
    pub measured: Option<Measured>,
    /// What is wrong with it; that a program is missing which no account names is nothing wrong.
    pub problem: Option<String>,
    /// What would mend that.
    pub remedy: Option<String>,
    /// The accounts that use it.
    pub accounts: Vec<AccountName>,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The oldest version; newer ones are taken.
    pub oldest: String,
    /// On which day.
    pub dated: &'static str,
}

impl Ask for List {
    const NAME: &'static str = "engine list";
    const WHAT: &'static str = "List the engines: program, version, and whose accounts use it";
    const WHO: Who = Who::Anyone;
    type Answer = Vec<EngineLine>;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let begun: Vec<_> = EngineKind::all()
            .map(|kind| (kind, begin(home, kind)))
            .collect();
        let mut lines = Vec::new();
        for (kind, asked) in begun {
            let mut programs = Vec::new();
            for one in asked {
                programs.push(one.end().await);
            }
            let facts = kind.facts();
            lines.push(EngineLine {
                engine: facts.name,
                title: facts.title,
                programs,
            });
        }
        Ok(lines)
    }
}

/// A program that is asked for its version; all of them at once, since a script takes a second or two.
struct Asked {
    line: ProgramLine,
    said: Option<tokio::task::JoinHandle<Result<String, (String, &'static str)>>>,
}

impl Asked {
    async fn end(self) -> ProgramLine {
        let Self { mut line, said } = self;
        let Some(said) = said else { return line };
        match said.await {
            Ok(Ok(version)) => line.version = Some(version),
            Ok(Err((problem, remedy))) => {
                line.problem = Some(problem);
                line.remedy = Some(remedy.to_owned());
            }
            Err(_) => line.problem = Some("it could not be asked for its version".to_owned()),
        }
        line
    }
}

/// Each program of an engine once.
fn begin(home: &Home, kind: EngineKind) -> Vec<Asked> {
    // By what is named, and whose words it speaks.
    let mut users: BTreeMap<(Option<PathBuf>, Option<String>), Vec<&Account>> = BTreeMap::new();
    if let Program::Cli(name) = kind.facts().program {
        users.insert((Some(name.into()), None), Vec::new());
    }
    if kind.facts().program == Program::Own {
        users.insert((None, None), Vec::new());
    }
    let all = home.fleet.accounts.values();
    for account in all.filter(|account| account.engine == kind) {
        let key = (account.binary.clone(), account.speaks.clone());
        users.entry(key).or_default().push(account);
    }
    let programs = users.into_iter();
    programs
        .map(|((binary, speaks), users)| {
            let engine = |path| Engine {
                kind,
                limits: speaks.as_deref().and_then(carson_engine::cli),
                ..engines::engine_at(path, Account::nobodys())
            };
            asked(home, binary.as_deref(), &users, engine)
        })
        .collect()
}

fn asked(
    home: &Home,
    binary: Option<&Path>,
    users: &[&Account],
    engine: impl Fn(PathBuf) -> Engine,
) -> Asked {
    let path = match binary {
        Some(binary) => own_program(binary, home.path()),
        // Carson's own player of scripts.
        None => Some(home.program.clone()),
    };
    let named = binary.unwrap_or(Path::new("carson")).display().to_string();
    let engine = engine(path.clone().unwrap_or_default());
    let oldest = engine.oldest();
    let mut line = ProgramLine {
        named,
        version: None,
        measured: oldest.map(|oldest| Measured {
            oldest: oldest.to_string(),
            dated: DATED,
        }),
        problem: None,
        remedy: None,
        accounts: users.iter().map(|account| account.name.clone()).collect(),
        path,
    };
    if binary.is_none() {
        line.version = Some(env!("CARGO_PKG_VERSION").to_owned());
        return Asked { line, said: None };
    }
    if line.path.is_none() {
        if let Some(account) = users.first() {
            line.problem = Some(format!("{} is not installed", line.named));
            let mend = format!("install it, or set accounts.{}.binary", account.name);
            line.remedy = Some(mend);
        }
        return Asked { line, said: None };
    }
    // What a program of the operator's own answers to `--version`, nobody knows.
    let said = oldest.map(|_| {
        tokio::spawn(version(
            engine,
            home.fleet.layout.root.clone(),
            path_of(home),
        ))
    });
    Asked { line, said }
}

async fn version(
    engine: Engine,
    cwd: PathBuf,
    env: Vec<(OsString, OsString)>,
) -> Result<String, (String, &'static str)> {
    let told = |error: &carson_engine::NotReady| (error.to_string(), error.hint());
    let found = engine
        .version(&cwd, &env)
        .await
        .map_err(|error| told(&error))?;
    match engine.is_new_enough(found) {
        Ok(()) => Ok(found.to_string()),
        Err(error) => Err(told(&error)),
    }
}

/// What a script needs to find its interpreter.
fn path_of(home: &Home) -> Vec<(OsString, OsString)> {
    let path = own_path(home.path().unwrap_or_default());
    vec![("PATH".into(), path)]
}

//! From a command line to a run, and from its end to what is printed.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;

use carson_proc::Cancel;
use carson_redact::Redactor;
use thiserror::Error;
use tokio::signal::unix::{SignalKind, signal};

use crate::agent::{self, Parts};
use crate::approve::Approval;
use crate::args::Args;
use crate::bounds::Bounds;
use crate::chat::endpoint::{Endpoint, Reached};
use crate::context::Conversation;
use crate::events::{Event, PROTOCOL, Watch};
use crate::gate::Gate;
use crate::key::{Key, KeyError};
use crate::mcp::config::{Config, ConfigError};
use crate::mcp::{Servers, StartError as McpError};
use crate::message::Message;
use crate::model::ToolSpec;
use crate::named_files::NamedFiles;
use crate::outcome::{End, Stop};
use crate::place::Place;
use crate::progress::Progress;
use crate::prompt::Task;
use crate::repositories;
use crate::say::say;
use crate::shell::{Shell, Until};
use crate::toolbox::Toolbox;
use crate::tools::Tools;
use crate::walls::{Asked, Walls, environment};

/// Longest task, in bytes.
const TASK_MAX: u64 = 1024 * 1024;

/// A run that was not begun.
#[derive(Debug, Error)]
pub enum StartError {
    /// The directory is none.
    #[error("--workdir {path:?}: {source}")]
    Workdir {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The key is not to be had.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// There is nothing to do.
    #[error("the task is empty")]
    NoTask,
    /// There is too much to do for this context.
    #[error(
        "the task and the tools do not fit into a context of {0} tokens; make it shorter, give fewer --tools or more --context-tokens"
    )]
    TaskTooLong(usize),
    /// The endpoint's address is none.
    #[error("--base-url: {0}")]
    BaseUrl(&'static str),
    /// No client can be made.
    #[error("no HTTP client can be made: {0}")]
    Client(#[from] reqwest::Error),
    /// This machine has no walls.
    #[error(
        "this machine cannot put walls around commands: {0}; where others stand already, or you want none, say --no-walls"
    )]
    Walls(String),
    /// The file of the MCP servers.
    #[error(transparent)]
    McpFile(#[from] ConfigError),
    /// An MCP server.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// A path of `--read` or `--write` is none.
    #[error("{flag} {path:?}: {source}")]
    Path {
        /// The flag that names it.
        flag: &'static str,
        /// It.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something of the system's.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Runs what a command line asks for, and answers with the exit code.
///
/// # Errors
/// When the run cannot begin.
pub async fn start(args: &Args) -> Result<u8, StartError> {
    let cancel = interrupted()?;
    let place = Place::new(&args.workdir).map_err(|source| StartError::Workdir {
        path: args.workdir.clone(),
        source,
    })?;
    let task = Task {
        task: task(&args.task)?,
        until: args.until.clone(),
    };
    let base = base_url(args)?;
    let key = Key::of(
        args.api_key_env.as_deref(),
        args.api_key_file.as_deref(),
        &place,
        &commands_reach(args)?,
    )?;
    keep_to_ourselves(&key);
    let redactor = Redactor::new(key.value.clone());
    let out = args.json.then(|| Box::new(io::stdout()) as Box<dyn Write>);
    let mut progress = Progress::new(redactor.clone(), Box::new(io::stderr()), out);
    let endpoint = Endpoint::new(
        Reached {
            base,
            model: args.model.clone(),
            key: key.value.clone(),
            silence: args.silence,
            text_tools: args.text_tools,
            redactor: redactor.clone(),
        },
        progress.clone(),
    )?;
    let shell = shell(args, &place, &key, &redactor).await?;
    let bounds = args.bounds();
    let known = Known::of(args, &place);
    let began = tokio::select! {
        tools = tools(args, place.clone(), &key, shell.clone()) => Ok(tools?),
        () = cancel.cancelled() => Err(Stop::Interrupted),
        () = tokio::time::sleep(bounds.wall_clock) => Err(Stop::WallClock),
    };
    let mut tools = match began {
        Ok(tools) => tools,
        Err(stop) => {
            let end = End::before_it_began(stop, args.until.is_some());
            return Ok(say(&end, args.json, &redactor, &mut progress));
        }
    };
    let begun = conversation(&task, tools.specs(), &bounds);
    let Some(conversation) = begun else {
        tools.servers.end().await;
        return Err(StartError::TaskTooLong(bounds.context_tokens));
    };
    progress.see(&Event::Session {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION"),
        session_id: &session_id()?,
        model: &args.model,
        tools: tools
            .specs()
            .iter()
            .map(|spec| spec.name.as_str())
            .collect(),
        until: args.until.as_deref(),
        walls: shell.walls.is_some(),
        bounds: &bounds,
    });
    for missed in tools.servers.missed() {
        progress.see(&Event::Notice {
            text: &missed.to_string(),
        });
    }
    let line = args.until.clone();
    let parts = Parts {
        model: endpoint,
        toolbox: &mut tools,
        check: line.map(|line| Until { line, shell }),
        watch: progress.clone(),
        cancel,
    };
    let end = agent::run(parts, conversation, bounds).await;
    tools.servers.end().await;
    for text in known.told_since(args, &place) {
        progress.see(&Event::Notice { text: &text });
    }
    Ok(say(&end, args.json, &redactor, &mut progress))
}

/// What is looked at before and after a run: the model may write it, and it may run what it wrote.
struct Known {
    /// Where Carson's own walls stand around a run, Carson looks after repositories.
    repositories: Option<repositories::Below>,
    named: NamedFiles,
}

impl Known {
    fn of(args: &Args, place: &Place) -> Self {
        Self {
            repositories: (!args.no_walls).then(|| repositories::below(place.root())),
            named: NamedFiles::of(args.until.as_deref().unwrap_or_default(), place),
        }
    }

    fn told_since(&self, args: &Args, place: &Place) -> Vec<String> {
        let now = Self::of(args, place);
        let new = self.repositories.as_ref().zip(now.repositories.as_ref());
        let new = new.and_then(|(before, now)| now.told_since(before, place.root()));
        let named = now.named.told_since(&self.named);
        new.into_iter().chain(named).collect()
    }
}

/// Nobody but root reads the memory and the first environment of a process that cannot be dumped.
fn keep_to_ourselves(key: &Key) {
    #[cfg(target_os = "linux")]
    if key.value.is_some() {
        // Where the kernel will not, it is as it was.
        let _ = nix::sys::prctl::set_dumpable(false);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = key;
}

fn conversation(task: &Task, specs: &[ToolSpec], bounds: &Bounds) -> Option<Conversation> {
    let described = serde_json::to_string(specs).map_or(0, |text| text.chars().count());
    let head = vec![
        Message::System(task.system()),
        Message::User(task.task.clone()),
    ];
    Conversation::begin(head, described, bounds.context_tokens)
}

fn task(said: &str) -> Result<String, StartError> {
    let mut text = said.to_owned();
    if said == "-" {
        text.clear();
        io::stdin()
            .lock()
            .take(TASK_MAX)
            .read_to_string(&mut text)?;
    }
    match text.trim() {
        "" => Err(StartError::NoTask),
        task => Ok(task.to_owned()),
    }
}

fn base_url(args: &Args) -> Result<url::Url, StartError> {
    let url = &args.base_url;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(StartError::BaseUrl("it begins with http:// or https://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(StartError::BaseUrl(
            "a key does not stand in an address; use --api-key-file",
        ));
    }
    Ok(url.clone())
}

async fn shell(
    args: &Args,
    place: &Place,
    key: &Key,
    redactor: &Redactor,
) -> Result<Shell, StartError> {
    let user = std::env::var_os("HOME").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let walls = if args.no_walls {
        None
    } else {
        let asked = Asked {
            network: args.network,
            read: absolute("--read", &args.read)?,
            write: absolute("--write", &args.write)?,
            git: args.git,
        };
        let walls = Walls::new(place, &asked, user.as_deref(), &path)?;
        walls.stand(place).await.map_err(StartError::Walls)?;
        Some(walls)
    };
    let env = match &walls {
        Some(walls) => environment(walls, &args.pass, user.as_deref()),
        None => std::env::vars_os().collect(),
    };
    Ok(Shell {
        place: place.clone(),
        env: env
            .into_iter()
            .filter(|(name, value)| !key.is_in(name, value))
            .collect(),
        walls,
        longest: args.command_time,
        redactor: redactor.clone(),
    })
}

fn absolute(flag: &'static str, paths: &[PathBuf]) -> Result<Vec<PathBuf>, StartError> {
    let real = |path: &PathBuf| {
        path.canonicalize().map_err(|source| StartError::Path {
            flag,
            path: path.clone(),
            source,
        })
    };
    paths.iter().map(real).collect()
}

/// What commands are given beside the directory.
fn commands_reach(args: &Args) -> Result<Vec<PathBuf>, StartError> {
    let mut paths = absolute("--read", &args.read)?;
    paths.extend(absolute("--write", &args.write)?);
    Ok(paths)
}

async fn tools(args: &Args, place: Place, key: &Key, shell: Shell) -> Result<Tools, StartError> {
    let vars = std::env::vars_os().filter_map(|(name, value)| {
        let (name, value) = (name.into_string().ok()?, value.into_string().ok()?);
        (Some(&name) != key.variable.as_ref()).then_some((name, value))
    });
    let gate = Gate::new(&place, vars.collect::<BTreeMap<_, _>>());
    let servers = match &args.mcp {
        Some(file) => Servers::start(&Config::read(file)?, &shell).await?,
        None => Servers::default(),
    };
    let somebody = io::stdin().is_terminal() && io::stderr().is_terminal();
    let approval = match somebody && !args.yes && !args.json {
        true => Approval::Terminal,
        false => Approval::Nobody,
    };
    Ok(Tools::new(
        place,
        gate,
        shell,
        approval,
        servers,
        &args.tools,
    ))
}

/// What a signal cancels.
fn interrupted() -> io::Result<Cancel> {
    let cancel = Cancel::new();
    for kind in [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ] {
        let mut signals = signal(kind)?;
        let cancel = cancel.clone();
        tokio::spawn(async move {
            signals.recv().await;
            cancel.cancel();
        });
    }
    Ok(cancel)
}

fn session_id() -> io::Result<String> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}

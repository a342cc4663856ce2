//! `carson mcp`

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use carson_config::McpGrant;
use carson_home::{Home, secrets};
use carson_loop::caller::Caller;
use carson_loop::place::{Found, Layout, Place};
use carson_mcp::{Opening, Refused, Roots, Standing, stdio};
use carson_redact::Redactor;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::app::App;
use crate::args::Mcp;
use crate::error::CommandError;
use crate::{log, print};

const BY_HAND: &str = "carson mcp speaks the Model Context Protocol on standard input and output: a client starts it, as after \
     `claude mcp add carson -- carson mcp` (docs/MCP.md); Ctrl-D ends it";

pub async fn run(app: &App, args: Mcp) -> Result<u8, CommandError> {
    // Before anything is answered: from then on it ends as it should.
    let told = Signals::listen()?;
    let _unwaited = log::wait_for_nobody()?;
    if std::io::stdin().is_terminal() {
        print::error(BY_HAND);
    }
    let mut roots = Vec::new();
    for root in args.roots {
        let found = root.canonicalize().ok().filter(|dir| dir.is_dir());
        let found = found.ok_or_else(|| {
            CommandError::usage(format!(
                "--root {}: there is no such directory",
                root.display()
            ))
        })?;
        roots.push(found);
    }
    // What a promise leaves behind is handed to us, and ends with it.
    carson_proc::become_subreaper()?;
    print::redactor().learn(secrets::of_environment(app.environ()));
    let standing = Arc::new(OfTerminal {
        app: app.clone(),
        program: std::env::current_exe()?,
        grants: args.grant,
        roots: Roots {
            here: Some(here()?),
            below: roots,
        },
    });
    let served = stdio::serve(standing, std::io::stdin(), std::io::stdout(), told.wait()).await;
    served.map_err(|error| {
        CommandError::caused_by(&error).hint("docs/MCP.md says how clients are told of it")
    })?;
    Ok(0)
}

/// Where we were started: the tree of the nearest loop upward, as `carson loop` means it.
fn here() -> Result<PathBuf, CommandError> {
    let here = std::env::current_dir()?;
    Ok(match Place::find(&here, Layout::Native) {
        Ok(Found::Loop(place) | Found::AlpfConfig(place)) => place.root().to_owned(),
        // A broken one is told by who works with it.
        Ok(Found::Nothing) | Err(_) => here,
    })
}

/// Signals by which somebody wants this process to end.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Until one comes, or has come.
    async fn wait(mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}

/// What was typed, and the home as it is at each call.
struct OfTerminal {
    app: App,
    program: PathBuf,
    grants: Vec<McpGrant>,
    roots: Roots,
}

impl OfTerminal {
    async fn open(&self) -> Result<Home, Refused> {
        let settings = self.app.layout.settings();
        // Looking for a fleet makes none.
        if !settings.exists() {
            return Err(Refused::NoFleet {
                why: format!("there is no fleet here: {} is missing", settings.display()),
                hints: vec![
                    "`carson init` makes one; --home or CARSON_HOME names another place".to_owned(),
                    "tools of loops need none".to_owned(),
                ],
            });
        }
        let home = self.app.home_in_any_case().await;
        home.map_err(|error| Refused::NoFleet {
            why: error.message,
            hints: error.hints,
        })
    }
}

impl Standing for OfTerminal {
    fn fleet(&self) -> Opening<'_> {
        Box::pin(self.open())
    }

    fn grants(&self) -> Vec<McpGrant> {
        self.grants.clone()
    }

    fn roots(&self) -> Roots {
        self.roots.clone()
    }

    fn caller(&self) -> Caller {
        let env = self.app.environ().iter().cloned();
        Caller::new(env, self.program.clone(), print::redactor())
    }

    fn redactor(&self) -> Redactor {
        print::redactor()
    }
}

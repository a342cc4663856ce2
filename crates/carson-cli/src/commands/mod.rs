//! One file per command.

mod agent;
mod agreement;
mod approve;
mod backup;
mod block;
mod breaker;
mod brief;
mod config;
mod cost;
mod daemon;
mod demo;
mod doctor;
mod engine;
mod events;
mod fire;
mod firings;
mod forge;
mod forge_changes;
mod home_files;
pub mod hook;
mod hosts;
mod init;
mod labels;
mod logs;
mod looping;
mod man;
mod mcp;
mod memory;
mod metrics;
mod new_role;
mod outcomes;
mod page;
mod pause;
mod proposal_files;
mod proposed_check;
mod proposed_setup;
mod prune;
mod pull_reviews;
mod questions;
mod queue;
mod rehearsal;
mod repository_files;
mod retry;
mod role_text;
mod roles;
mod sandbox;
mod service;
mod show;
mod status;
mod stop;
mod stories;
mod undo;
mod usage;
mod why;
mod workspaces;

use carson_operator::events::Events;
use carson_operator::outcomes::Outcomes;
use clap::CommandFactory;

use crate::app::App;
use crate::args::agent::Agent;
use crate::args::{Args, Command, FiringAction};
use crate::error::CommandError;
use crate::log;

/// Runs a command; the exit code of one that did what it was asked.
pub fn run(args: Args) -> Result<u8, CommandError> {
    match args.command {
        // An agent CLI of its own: no runtime, no home, one thread.
        Command::Rehearsal { script } => return rehearsal::run(&script),
        Command::Hook { action } => return hook::run(&action, args.json),
        // It needs no home either.
        Command::Loop(action) => return looping::run(&action, args.json),
        // While there is one thread.
        Command::Sandbox(action) => return sandbox::run(&action, args.json),
        // Works on a tree of files, without a home.
        Command::Stories(action) => return stories::run(action, args.json),
        Command::Version => {
            let version = env!("CARGO_PKG_VERSION");
            let text = format!("carson {version}");
            crate::print::done(args.json, &text, &serde_json::json!({ "version": version }));
            return Ok(0);
        }
        Command::Man { command, into } => return man::run(&command, into.as_deref()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Args::command(), "carson", &mut script);
            crate::print::raw(String::from_utf8_lossy(&script).trim_end());
            return Ok(0);
        }
        _ => {}
    }
    // Every TLS client needs a provider, chosen once.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let app = App::new(args.home, args.json)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(dispatch(&app, args.command))
}

async fn dispatch(app: &App, command: Command) -> Result<u8, CommandError> {
    let level = match command {
        Command::Daemon(_) | Command::Firing { .. } | Command::Page { serve: true } => "info",
        _ => "error",
    };
    log::start(level, app.json);
    match command {
        Command::Init(args) => init::run(app, &args).await,
        Command::Agent(Agent::New(args)) => agent::new(app, &args).await,
        Command::Demo(args) => demo::run(app, &args).await,
        Command::Daemon(args) => daemon::run(app, &args).await,
        Command::Service(action) => service::run(app, action).await,
        Command::Fire(args) => fire::run(app, args).await,
        Command::Firing {
            action: FiringAction::Run { id, settings, at },
        } => {
            fire::wait_for(at);
            fire::run_claimed(app, &id, settings).await
        }
        Command::Stop { firing } => stop::run(app, firing).await,
        Command::Retry { issue, repo } => retry::run(app, issue, repo.repo).await,
        Command::Approve { issue, repo } => approve::run(app, issue, repo.repo).await,
        Command::Undo(args) => undo::run(app, args).await,
        Command::Asked(asked) => questions::run(app, asked).await,
        Command::Status { jobs, watch: false } => status::run(app, jobs).await,
        Command::Status { jobs, watch: true } => status::watch(app, jobs).await,
        Command::Why { what } => why::run(app, what).await,
        Command::Roles { action } => roles::run(app, action).await,
        Command::Firings(args) => firings::run(app, args).await,
        Command::Show(args) => show::run(app, args).await,
        Command::Events { since, kind, limit } => {
            events::run(app, Events { since, kind, limit }).await
        }
        Command::Brief { since } => brief::run(app, since).await,
        Command::Cost { since } => cost::run(app, since).await,
        Command::Usage { since } => usage::run(app, since).await,
        Command::Engine(action) => engine::run(app, action).await,
        Command::Outcomes { since, by } => outcomes::run(app, Outcomes { since, by }).await,
        Command::Metrics { since } => metrics::run(app, since).await,
        Command::Logs {
            id: Some(id),
            follow: true,
            ..
        } => logs::follow(app, id).await,
        Command::Logs {
            id,
            since,
            transcripts,
            ..
        } => logs::run(app, id, since, transcripts).await,
        Command::Issue { action } => forge::issue(app, action).await,
        Command::Pr { action } => forge::pr(app, action).await,
        Command::Memory { action } => memory::run(app, action).await,
        Command::Breaker { action } => breaker::run(app, action).await,
        Command::Block { action } => block::run(app, action).await,
        Command::Labels { action } => labels::run(app, action).await,
        Command::Queue { role } => queue::run(app, role).await,
        Command::Page { serve: false } => page::run(app).await,
        Command::Page { serve: true } => page::serve(app).await,
        Command::Pause(args) => pause::pause(app, args).await,
        Command::Resume(scope) => pause::resume(app, scope).await,
        Command::Prune {
            discard: Some(firing),
            ..
        } => prune::discard(app, firing).await,
        Command::Prune { dry_run, .. } => prune::run(app, dry_run).await,
        Command::Mcp(args) => mcp::run(app, args).await,
        Command::Doctor => doctor::run(app).await,
        Command::Hosts { action } => hosts::run(app, action).await,
        Command::Workspaces { action } => workspaces::run(app, action.as_ref()).await,
        Command::Backup { action } => backup::run(app, &action).await,
        Command::Config { action } => config::run(app, action).await,
        Command::Rehearsal { .. }
        | Command::Hook { .. }
        | Command::Sandbox(_)
        | Command::Loop(_)
        | Command::Stories(_)
        | Command::Version
        | Command::Man { .. }
        | Command::Completions { .. } => Ok(0),
    }
}

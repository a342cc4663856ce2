//! `carson agent new`

use std::io::IsTerminal;

use carson_config::{RoleKind, ShippedRole, shipped_roles};

use super::new_role::NewRole;
use crate::app::App;
use crate::args::agent::New;
use crate::error::CommandError;
use crate::print;

/// The shipped role that runs a command and keeps nothing.
const RUNS: &str = "smoke";

pub async fn new(app: &App, args: &New) -> Result<u8, CommandError> {
    let may_ask = !args.yes && !app.json && std::io::stdin().is_terminal();
    wanted(args, may_ask)?.add(app).await
}

/// What the flags say, and what was answered in their place.
fn wanted(args: &New, may_ask: bool) -> Result<NewRole, CommandError> {
    let like = args.like.as_deref().unwrap_or(args.name.as_str());
    let mut role = NewRole {
        name: args.name.clone(),
        like: ShippedRole::named(like),
        title: args.title.clone(),
        repo: args.repo.clone(),
        account: args.engine.clone(),
        cadence: args.cadence.clone(),
        task: args.task.clone(),
        run: args.run.clone(),
    };
    if role.like.is_none() && role.run.is_some() {
        role.like = ShippedRole::named(RUNS);
    }
    let is_said = role.like.is_some() || role.task.is_some();
    let is_empty = |text: &Option<String>| text.as_ref().is_some_and(|text| text.trim().is_empty());
    if is_empty(&role.task) {
        return Err(CommandError::usage("--task says nothing")
            .hint("it is what an agent is told at every slot"));
    }
    if is_said {
        fitting(&role)?;
        return Ok(role.called(args));
    }
    if !may_ask {
        let names: Vec<&str> = shipped_roles().iter().map(|role| role.name).collect();
        return Err(CommandError::usage(format!("what is {} for?", args.name))
            .hint("--task \"TEXT\" gives it a task of its own, for an agent")
            .hint("--run \"COMMAND\" lets it run a command, without one")
            .hint(format!("--like ROLE makes it one of: {}", names.join(", "))));
    }
    Ok(answered(role)?.called(args))
}

/// What was said must be what it becomes.
fn fitting(role: &NewRole) -> Result<(), CommandError> {
    let Some(like) = role.like else { return Ok(()) };
    let refused = |flag: &str, why: &str| {
        let said = format!("--{flag} is nothing for {}: {why}", role.name);
        Err(CommandError::usage(said).hint("choose another name, or leave the flag out"))
    };
    if role.task.is_some() {
        let why = format!("it is like {}, whose work comes from elsewhere", like.name);
        return refused("task", &why);
    }
    if role.run.is_some() && !like.kind.needs_a_command() {
        return refused("run", &format!("it is like {}, which runs none", like.name));
    }
    if role.account.is_some() && !like.kind.has_sessions() {
        return refused("engine", "it asks no model");
    }
    Ok(())
}

impl NewRole {
    /// Its name is its title, where it is not what came with Carson under that name.
    fn called(mut self, args: &New) -> Self {
        let is_itself = self
            .like
            .is_some_and(|role| role.name == args.name.as_str());
        if self.title.is_none() && !is_itself {
            self.title = Some(args.name.to_string());
        }
        self
    }
}

/// At a terminal.
fn answered(mut role: NewRole) -> Result<NewRole, CommandError> {
    let names: Vec<&str> = shipped_roles().iter().map(|role| role.name).collect();
    print::line(&format!(
        "What is it for? Enter for a task of its own, or one of: {}",
        names.join(", ")
    ));
    let like = answer()?;
    role.like = match like.as_str() {
        "" => None,
        name => Some(ShippedRole::named(name).ok_or_else(|| {
            CommandError::usage(format!("no role {name:?} comes with Carson"))
                .hint(format!("they are: {}", names.join(", ")))
        })?),
    };
    match role.like.map(|role| role.kind) {
        None => {
            print::line("What is it to do, at every slot?");
            role.task = Some(needed("--task")?);
        }
        Some(RoleKind::Tester) => {
            print::line("What does it run? It prints an lcov report of the tests' coverage:");
            role.run = Some(needed("--run")?);
        }
        Some(kind) if kind.needs_a_command() => {
            print::line("What does it run? Exit code 0 is well:");
            role.run = Some(needed("--run")?);
        }
        Some(_) => {}
    }
    if role.cadence.is_empty() {
        print::line("When? Minute, hour, day, month, weekday (Enter for what is usual):");
        role.cadence
            .extend(Some(answer()?).filter(|line| !line.is_empty()));
    }
    Ok(role)
}

fn needed(flag: &str) -> Result<String, CommandError> {
    match answer()? {
        said if said.is_empty() => Err(CommandError::usage(format!("{flag} is missing"))),
        said => Ok(said),
    }
}

fn answer() -> Result<String, CommandError> {
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

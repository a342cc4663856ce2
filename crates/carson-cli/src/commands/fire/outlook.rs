//! `carson fire --dry-run`: what would be done, in a few lines; the rest on demand.

use std::path::PathBuf;

use carson_core::Stage;
use carson_core::admission::Spent;
use carson_core::text::counted;
use carson_firing::dry_run::{self, Outlook, Told};
use carson_firing::{Step, Steps};
use carson_home::Home;
use carson_operator::names;

use super::live;
use super::work_for::makes_work;
use crate::app::App;
use crate::error::CommandError;
use crate::print;

/// Lines of a prompt that are shown without `--all`.
const LINES: usize = 8;

/// Steps that say, on standard error, what takes its time: what runs in the workspace that is looked in.
pub fn passing() -> Steps {
    let (steps, mut passing) = Steps::watched();
    tokio::spawn(async move {
        while let Some(step) = passing.recv().await {
            match step {
                Step::Setup { repo, log } => {
                    let log = live::output_in(log.as_deref());
                    print::error(&format!("the setup of {repo} runs{log}"));
                }
                Step::Check(run) => {
                    print::error(&format!("the check runs on the untouched base: {run}"));
                }
                _ => {}
            }
        }
    });
    steps
}

pub fn print(app: &App, home: &Home, outlook: &Outlook, all: bool) -> Result<u8, CommandError> {
    if app.json {
        print::json(outlook);
        return Ok(0);
    }
    print::line(&format!("{}: {}", outlook.role, outlook.admission));
    if outlook.asks_models {
        let account = outlook.account.as_deref().unwrap_or("none is free");
        print::line(&format!("account: {account}"));
    } else {
        print::line("it asks no model");
    }
    let work = outlook.work.as_ref();
    let work = work.map(|work| format!("{} {} {}", work.repo, work.reference, work.title));
    let work = work.unwrap_or_else(|| "none is ready".to_owned());
    match &outlook.command {
        Some(command) => print::line(&format!("it runs: {command}")),
        None => print::line(&format!("work: {work}")),
    }
    let role = names::role(&home.fleet, &outlook.role)?;
    if outlook.work.is_none() && outlook.command.is_none() && outlook.handed_over.is_empty() {
        makes_work(app, role)
            .into_iter()
            .for_each(|makes| print::line(&format!("  {makes}")));
    }
    // Where nothing else is left, the first line has said it.
    for one in outlook
        .handed_over
        .iter()
        .filter(|_| outlook.work.is_some())
    {
        let (repo, number, why) = (&one.repo, one.number, &one.why);
        print::warning(&format!(
            "before it, {repo} #{number} would be given to people: {why}"
        ));
    }
    for warning in &outlook.warnings {
        print::warning(&format!("warning: {warning}"));
    }
    if let Some(decided) = &outlook.decided {
        print::line(&format!(
            "without a session it would: {}",
            decided.join(", ")
        ));
    }
    if !outlook.asks_models {
        return Ok(0);
    }
    let stages: Vec<&str> = outlook.stages.iter().map(|stage| stage.as_str()).collect();
    print::line(&format!("stages: {}", stages.join(" → ")));
    match &outlook.check {
        Some(check) => print::line(&format!("check: {check}")),
        None if outlook.stages.contains(&Stage::Verify) => print::warning(
            "check: none: no command says whether work is done; [promise] in the role names one",
        ),
        None => {}
    }
    print::line(&format!("tools: {}", outlook.tools.write.join(", ")));
    print::line(&at_most(outlook));
    if let Some(mean) = outlook.price.mean_usd {
        let firings = counted(outlook.price.firings, "firing");
        let each = Spent {
            usd: mean,
            estimated: outlook.price.estimated,
        };
        print::line(&format!("so far: {each} each, the last {firings}"));
    }
    let given = super::super::roles::given(role);
    given.iter().for_each(|line| print::line(line));
    print::line(&super::super::roles::egress(role));
    if let Some(sign_in) = &outlook.sign_in {
        print::line(&format!("signs in: {sign_in}"));
    }
    workspace(&outlook.workspace, outlook.was_in_bench);
    if let Some(told) = &outlook.prompt {
        prompt(told, all);
    }
    if all {
        everything(outlook);
    } else {
        print::line("the whole prompt, the sandbox and the environment: add --all");
    }
    Ok(0)
}

fn at_most(outlook: &Outlook) -> String {
    let money = outlook.max_cost_usd;
    let money = money.map_or("no bound on its cost".to_owned(), |max| {
        format!("${max:.2}")
    });
    format!(
        "at most: {}, {}, {money}",
        counted(outlook.worst_case.sessions, "session"),
        counted(outlook.worst_case.turns, "turn")
    )
}

fn prompt(told: &Told, all: bool) {
    print::line(&format!("prompt of the {} session:", told.stage));
    let lines: Vec<&str> = told.text.trim_end().lines().collect();
    let shown = if all { lines.len() } else { LINES };
    for line in lines.iter().take(shown) {
        print::line(&format!("  {line}"));
    }
    let more = lines.len().saturating_sub(shown);
    if more > 0 {
        print::line(&format!("  … {more} more lines"));
    }
}

fn everything(outlook: &Outlook) {
    print::line(&format!(
        "tools of sessions that read: {}",
        outlook.tools.read.join(", ")
    ));
    outlook.sandbox.iter().for_each(walls);
    print::line("environment of a session, and nothing else:");
    for variable in &outlook.environment {
        let dry_run::Shown { name, value, from } = variable;
        print::line(&format!("  {name}={value}    # {from}"));
    }
}

fn workspace(workspace: &dry_run::Workspace, is_asked: bool) {
    let because = workspace.because.iter().map(|why| format!(": {why}"));
    let because: String = because.collect();
    print::line(&format!("workspace: {}{because}", workspace.kind));
    for line in &workspace.setup {
        print::line(&format!("  setup  {line}"));
    }
    if !workspace.setup.is_empty() && !is_asked {
        print::line(
            "  (the setup was not run: that takes work that is ready and a role that may fire)",
        );
    }
}

fn walls(walls: &dry_run::Walls) {
    let list = |what: &str, paths: &[PathBuf]| {
        let mut paths: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        paths.sort();
        paths
            .iter()
            .for_each(|path| print::line(&format!("  {what} {path}")));
    };
    print::line(&format!("sandbox of an execute session: {}", walls.asked));
    print::line("  reads  the system's own places");
    list("reads ", &walls.read);
    list("writes", &walls.write);
    list("closed", &walls.hidden);
    print::line("what this machine can do:");
    for line in walls.level.to_string().lines() {
        print::line(&format!("  {line}"));
    }
}

//! `carson engine`

use carson_checks::Health;
use carson_core::AccountName;
use carson_core::text::{ago, counted, instant};
use carson_operator::Ask;
use carson_operator::engines::{
    AccountLine, EngineLine, List, OutageState, Place, ProgramLine, RouteSet, Set, Status, Uses,
    Word,
};
use carson_operator::windows::WindowLine;
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::args::engine::{Engine, Set as SetArgs};
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: Engine) -> Result<u8, CommandError> {
    match action {
        Engine::List => list(app).await,
        Engine::Status => status(app).await,
        Engine::Set(args) => set(app, args).await,
    }
}

async fn list(app: &App) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let engines = List {}.answer(&home).await?;
    if app.json {
        print::json(&engines);
        return Ok(0);
    }
    let rows = engines.iter().flat_map(rows_of);
    let header = ["ENGINE", "PROGRAM", "VERSION", "MEASURED", "ACCOUNTS"];
    print::table(&header, rows.collect());
    for program in engines.iter().flat_map(|engine| &engine.programs) {
        if let Some(problem) = &program.problem {
            print::warning(&format!("{}: {problem}", whose(program)));
            hint(program.remedy.as_deref());
        }
    }
    Ok(0)
}

/// One row for each program; an engine that starts what an account names has none without one.
fn rows_of(engine: &EngineLine) -> Vec<Vec<String>> {
    if engine.programs.is_empty() {
        let row = [engine.engine, "what an account names", "–", "–", "–"];
        return vec![row.map(str::to_owned).into()];
    }
    let row = |program: &ProgramLine| {
        let accounts: Vec<&str> = program.accounts.iter().map(AccountName::as_str).collect();
        vec![
            engine.engine.to_owned(),
            match &program.path {
                Some(path) => path.display().to_string(),
                None => format!("{} (not found)", program.named),
            },
            match (&program.version, &program.problem, &program.path) {
                (Some(version), ..) => version.clone(),
                (None, Some(_), Some(_)) => "see below".to_owned(),
                (None, ..) => "–".to_owned(),
            },
            match &program.measured {
                Some(measured) => format!("{} and newer ({})", measured.oldest, measured.dated),
                None => "–".to_owned(),
            },
            match accounts.is_empty() {
                true => "–".to_owned(),
                false => accounts.join(", "),
            },
        ]
    };
    engine.programs.iter().map(row).collect()
}

/// Whose program it is.
fn whose(program: &ProgramLine) -> String {
    let accounts: Vec<&str> = program.accounts.iter().map(AccountName::as_str).collect();
    match accounts.is_empty() {
        true => "no account".to_owned(),
        false => accounts.join(", "),
    }
}

fn hint(remedy: Option<&str>) {
    if let Some(remedy) = remedy {
        print::line(&format!("  hint: {remedy}"));
    }
}

async fn status(app: &App) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let accounts = Status {}.answer(&home).await?;
    if app.json {
        print::json(&accounts);
        return Ok(0);
    }
    if accounts.is_empty() {
        print::line("there is no account: write one into carson.toml (docs/CONFIG.md)");
    }
    let (now, carson) = (home.clock.now(), app.called());
    for account in &accounts {
        show(account, now, &carson);
    }
    Ok(0)
}

fn show(account: &AccountLine, now: DateTime<Utc>, carson: &str) {
    let model = account.model.as_ref();
    let model = model.map_or(String::new(), |model| format!(", {model}"));
    print::line(&format!("{}: {}{model}", account.account, account.title));
    word(Some(&account.program).filter(|word| word.health != Health::Ok));
    word(account.sign_in.as_ref());
    for block in &account.blocks {
        let until = block.until.map_or("it is cleared".to_owned(), instant);
        let kind = block
            .kind
            .map_or(String::new(), |kind| format!(" ({kind})"));
        print::alarm(&format!("  BLOCKED{kind} until {until}: {}", block.reason));
    }
    if let Some(outage) = account.outage {
        let says = match outage {
            OutageState::Waits => "its provider is down; when the block is over one session asks",
            OutageState::IsAsked => "its provider was down; a session asks now whether it is back",
            OutageState::MayBeAsked => {
                "its provider was down; the next session asks whether it is back"
            }
        };
        print::warning(&format!("  {says}"));
    }
    if !account.blocks.is_empty() {
        print::line(&format!(
            "  hint: {carson} why ROLE says what ends that for a role"
        ));
    }
    for window in &account.windows {
        print::line(&format!("  {}", window_line(window, now)));
    }
    let today = &account.today;
    if today.sessions > 0 {
        let untold = match today.untold {
            0 => String::new(),
            some => format!("; the cost of {} is not known", counted(some, "session")),
        };
        let sessions = counted(today.sessions, "session");
        print::line(&format!("  today: {} in {sessions}{untold}", today.spent));
    }
    match account.used_by.is_empty() {
        true => print::line("  no role uses it"),
        false => print::line(&format!("  used by {}", places(&account.used_by))),
    }
}

fn word(word: Option<&Word>) {
    let Some(word) = word else { return };
    match word.health {
        Health::Ok => print::line(&format!("  {}", word.found)),
        Health::Warning => print::warning(&format!("  {}", word.found)),
        Health::Error => print::alarm(&format!("  {}", word.found)),
    }
    if let Some(remedy) = &word.remedy {
        print::line(&format!("  hint: {remedy}"));
    }
}

/// A usage window in one line.
fn window_line(window: &WindowLine, now: DateTime<Utc>) -> String {
    let WindowLine {
        window: name,
        utilization,
        told_at,
        resets_at,
        stands,
    } = window;
    let used = utilization * 100.0;
    let told = ago(now - *told_at);
    let resets = resets_at.map_or(String::new(), |at| match at > now {
        true => format!(", starts again {}", instant(at)),
        false => format!(", started again {}", instant(at)),
    });
    let old = if *stands {
        ""
    } else {
        "; nobody goes by that any more"
    };
    format!("{name}: {used:.0} % used as told {told}{resets}{old}")
}

/// `implementer (plan, review as no. 2, execute in 10 % of its firings); fixer (execute)`.
fn places(all: &[Place]) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut rest = all;
    while let Some(first) = rest.first() {
        let count = rest
            .iter()
            .take_while(|place| place.role == first.role)
            .count();
        let (own, others) = rest.split_at(count);
        rest = others;
        let stages: Vec<String> = own.iter().map(place).collect();
        let disabled = if first.enabled {
            ""
        } else {
            ", which is disabled"
        };
        said.push(format!("{} ({}){disabled}", first.role, stages.join(", ")));
    }
    said.join("; ")
}

fn place(place: &Place) -> String {
    let order = match place.order {
        Some(order) if order > 1 => format!(" as no. {order}"),
        _ => String::new(),
    };
    let share = place.share;
    let share = share.map_or(String::new(), |share| {
        format!(" in {:.0} % of its firings", share * 100.0)
    });
    format!("{}{order}{share}", place.stage)
}

async fn set(app: &App, args: SetArgs) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let SetArgs {
        role,
        accounts,
        stage,
        model,
        effort,
        reset,
    } = args;
    let ask = Set {
        role,
        accounts,
        stage,
        model,
        effort,
        reset,
    };
    let done = ask.answer(&home).await?;
    if app.json {
        print::sorted_json(&done);
        return Ok(0);
    }
    said(&done);
    Ok(0)
}

fn said(done: &RouteSet) {
    let stage = done
        .stage
        .map_or(String::new(), |stage| format!(" in {stage}"));
    let (before, now) = (uses(&done.before), uses(&done.now));
    if !done.changed {
        print::line(&format!(
            "{}{stage} uses {now} already: {} is as it was",
            done.role, done.file
        ));
        return;
    }
    print::line(&format!(
        "{}{stage} uses {now} (before: {before})",
        done.role
    ));
    print::line(&format!(
        "written to {}: a running daemon takes it by itself, and firings that run go on as they began",
        done.file
    ));
    for warning in &done.warnings {
        print::warning(&warning.to_string());
    }
}

fn uses(uses: &Uses) -> String {
    let accounts: Vec<&str> = uses.accounts.iter().map(AccountName::as_str).collect();
    let mut words = vec![match accounts.is_empty() {
        true => "what the role does".to_owned(),
        false => accounts.join(", "),
    }];
    words.extend(uses.model.as_ref().map(|model| format!("model {model}")));
    words.extend(
        uses.effort
            .as_ref()
            .map(|effort| format!("effort {effort}")),
    );
    words.join(", ")
}

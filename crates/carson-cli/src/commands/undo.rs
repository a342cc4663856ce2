//! `carson undo`

use carson_operator::Ask;
use carson_operator::undo::{Undo, Undone, UndoneFiring, Way};
use carson_store::UndoState;

use super::agreement::Wanted;
use crate::app::App;
use crate::args;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, args: args::Undo) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let ask = |yes| Undo {
        firing: args.firing.clone(),
        since: args.since.clone(),
        yes,
    };
    if !args.yes {
        let looked = ask(false).answer(&home).await?;
        if app.json {
            print::sorted_json(&looked);
            return Ok(code(&looked));
        }
        show(&looked);
        if args.dry_run || !is_anything_owed(&looked) {
            return Ok(code(&looked));
        }
        // As with a merge: a person says yes to it, or `--yes` does.
        Wanted("take it back without a question").ask("take this back?")?;
    }
    let done = ask(true).answer(&home).await?;
    if app.json {
        print::sorted_json(&done);
    } else {
        show(&done);
    }
    Ok(code(&done))
}

/// What failed, or cannot be done before a firing ends, is no success.
fn code(all: &Undone) -> u8 {
    let failed = |one: &UndoneFiring| one.trouble.is_some() || all.yes && is_unfinished(one);
    u8::from(!all.running.is_empty() || all.firings.iter().any(failed))
}

fn is_unfinished(one: &UndoneFiring) -> bool {
    one.ways.iter().any(|way| !way.state.is_over())
}

fn is_anything_owed(all: &Undone) -> bool {
    all.firings.iter().any(|one| one.count(UndoState::Owed) > 0)
}

fn show(all: &Undone) {
    for one in &all.running {
        let id = one.id.short();
        let end = &one.command;
        print::warning(&format!(
            "firing {id} of {} still runs: `carson {end}` ends it, then this can be said again",
            one.role
        ));
    }
    for one in &all.firings {
        firing(one, all.yes);
    }
    if all.firings.is_empty() && all.running.is_empty() {
        print::line("no firing began since then");
    }
    if all.yes && all.firings.iter().any(is_unfinished) {
        print::warning("what failed or waits is tried again by the same command");
    }
}

fn firing(one: &UndoneFiring, yes: bool) {
    let outcome = one.outcome.map(|outcome| outcome.to_string());
    let mut head = format!(
        "firing {} · {} · {}",
        one.id.short(),
        one.role,
        outcome.unwrap_or_default()
    );
    if let Some(title) = &one.title {
        head.push_str(&format!(" · {title}"));
    }
    if one.already {
        head.push_str(" · was taken back before");
    }
    print::line(&head);
    if let Some(trouble) = &one.trouble {
        print::alarm(&format!("  cannot be taken back now: {trouble}"));
    } else if one.ways.is_empty() {
        print::line("  nothing to take back");
    }
    for way in &one.ways {
        line(way, yes);
    }
}

fn line(way: &Way, yes: bool) {
    let said = way.said.as_deref();
    let because = said.map(|said| format!(": {said}")).unwrap_or_default();
    let text = &way.text;
    match (way.state, yes) {
        (UndoState::Done, _) => print::line(&format!("  done    {text}{because}")),
        (UndoState::Left, _) => print::warning(&format!("  left    {text}{because}")),
        (UndoState::Waits, _) => print::warning(&format!("  waits   {text}{because}")),
        (UndoState::Owed, true) => print::alarm(&format!("  failed  {text}{because}")),
        (UndoState::Owed, false) => print::line(&format!("  to do   {text}{because}")),
    }
}

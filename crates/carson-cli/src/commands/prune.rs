//! `carson prune`

use carson_core::text::counted;
use carson_firing::prune::{Action, Discarded};
use carson_home::Home;
use carson_operator::Ask;
use carson_operator::prune::{Discard, Prune, Tidied};

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, dry_run: bool) -> Result<u8, CommandError> {
    let home = app.home().await?;
    let tidied = Prune { dry_run }.answer(&home).await?;
    if app.json {
        print::sorted_json(&tidied);
    } else {
        show(&home, &tidied);
    }
    match tidied.claims_error {
        Some(error) => Err(error.into()),
        None => Ok(0),
    }
}

fn show(home: &Home, tidied: &Tidied) {
    for one in &tidied.concluded {
        let id = one.id.short();
        print::line(&match &one.settled {
            Some(settled) => format!("{id}: {}: {}", settled.outcome, settled.reason),
            None => {
                format!(
                    "{id}: its process is gone: it would be concluded, and what it has of work saved"
                )
            }
        });
    }
    for one in &tidied.caught_up {
        let effects = counted(one.effects, "effect");
        let id = one.id.short();
        print::line(&format!(
            "{id}: {effects} that it owed the forge carried out"
        ));
    }
    for one in &tidied.benches {
        let bench = home.fleet.layout.shown(&one.path);
        let done = match &one.action {
            Action::Removed if tidied.dry_run => "would be removed".to_owned(),
            Action::Removed => "removed".to_owned(),
            Action::Salvaged(kept) if tidied.dry_run => format!("work would be kept under {kept}"),
            Action::Salvaged(kept) => format!("work kept under {kept}"),
            Action::Kept(why) => format!("stays: {why}"),
        };
        print::line(&format!("{bench}: {done}"));
    }
    if tidied.reconciled > 0 {
        let changes = counted(tidied.reconciled, "change");
        print::line(&format!(
            "{changes} on the forge: dead claims released, pull requests and issues brought up to date \
             with their branches"
        ));
    }
    let did = tidied.concluded.len() + tidied.caught_up.len() + tidied.benches.len();
    if did == 0 && tidied.reconciled == 0 {
        print::line("nothing to prune");
    }
}

/// `carson prune --discard FIRING`
pub async fn discard(app: &App, firing: String) -> Result<u8, CommandError> {
    let home = app.home().await?;
    let gone = Discard { firing }.answer(&home).await?;
    let text = match &gone.bench {
        Discarded::Not(why) | Discarded::Missing(why) => format!("it stays: {why}"),
        Discarded::Gone { kept, lost } => {
            let kept = match kept {
                Ok(None) => "everything that could be read was safe before".to_owned(),
                Ok(Some(kept)) => format!("what could be read of it is kept under {kept}"),
                Err(why) => format!("nothing of it could be kept: {why}"),
            };
            let lost = match lost.as_slice() {
                [] => String::new(),
                lost => format!("; lost: {}", lost.join("; ")),
            };
            format!("discarded; {kept}{lost}")
        }
    };
    print::done(app.json, &text, &gone);
    Ok(0)
}

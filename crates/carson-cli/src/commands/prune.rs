//! `carson prune`

use carson_firing::prune::{Action, Discarded, Plan};
use carson_firing::{claims, prune, recover};
use serde_json::json;

use super::firings;
use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, dry_run: bool) -> Result<u8, CommandError> {
    let house = app.house().await?;
    let concluded = if dry_run {
        Vec::new()
    } else {
        recover::pass(&house).await?
    };
    // Claims that cannot be looked at are no reason to let benches lie.
    let swept = match dry_run {
        true => Ok(0),
        false => claims::sweep(&house).await,
    };
    let pruned = prune::pass(&house, &Plan::by_hand(dry_run))
        .await
        .map_err(|error| CommandError::caused_by(&error))?
        .benches;
    if app.json {
        let concluded: Vec<_> = concluded.iter().map(|ended| ended.id).collect();
        print::json(&json!({"concluded": concluded, "benches": pruned, "dry_run": dry_run}));
        swept?;
        return Ok(0);
    }
    for ended in &concluded {
        let (id, settled) = (ended.id.short(), &ended.settled);
        print::line(&format!("{id}: {}: {}", settled.outcome, settled.reason));
    }
    for one in &pruned {
        let bench = house.fleet.home.shown(&one.path);
        match &one.action {
            Action::Removed if dry_run => print::line(&format!("{bench}: would be removed")),
            Action::Removed => print::line(&format!("{bench}: removed")),
            Action::Salvaged(kept) if dry_run => {
                print::line(&format!("{bench}: work would be kept under {kept}"));
            }
            Action::Salvaged(kept) => print::line(&format!("{bench}: work kept under {kept}")),
            Action::Kept(why) => print::line(&format!("{bench}: stays: {why}")),
        }
    }
    if concluded.is_empty() && pruned.is_empty() {
        print::line("nothing to prune");
    }
    swept?;
    Ok(0)
}

/// `carson prune --discard FIRING`
pub async fn discard(app: &App, firing: &str) -> Result<u8, CommandError> {
    let house = app.house().await?;
    // A bench may be older than every row.
    let id = match firing.parse() {
        Ok(id) => id,
        Err(_) => firings::find(&house.store, firing).await?.id,
    };
    let done = prune::discard(&house, id).await;
    let done = done.map_err(|error| CommandError::caused_by(&error))?;
    if app.json {
        print::json(&json!({"firing": id, "bench": done}));
    }
    let said = match &done {
        Discarded::Not(why) => return Err(CommandError::failed(format!("it stays: {why}"))),
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
    if !app.json {
        print::line(&said);
    }
    Ok(0)
}

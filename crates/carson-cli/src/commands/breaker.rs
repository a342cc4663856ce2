//! `carson breaker`

use carson_core::text::instant;
use carson_operator::Ask;
use carson_operator::breaker::{List, Reset};
use carson_store::BreakerRow;

use crate::app::App;
use crate::args::BreakerAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: BreakerAction) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    match action {
        BreakerAction::List => {
            let breakers = List {}.answer(&home).await?;
            let now = home.clock.now();
            let row = |row: &BreakerRow| {
                let role = home.fleet.roles.get(&row.role);
                let cooldown = role.and_then(|role| role.limits.cooldown);
                let state = match row.breaker.half_opens_at(cooldown) {
                    Some(at) if now >= at => "half-open: the next firing tries".to_owned(),
                    Some(at) => format!("open; one firing may try from {}", instant(at)),
                    None if row.breaker.is_open() => "open".to_owned(),
                    None => "closed".to_owned(),
                };
                vec![
                    row.role.to_string(),
                    state,
                    row.breaker.streak.to_string(),
                    row.breaker.reason.clone().unwrap_or_default(),
                ]
            };
            let header = ["ROLE", "BREAKER", "STREAK", "REASON"];
            print::list(app.json, &breakers, "every breaker is closed", &header, row);
        }
        BreakerAction::Reset { role } => {
            let done = Reset { role }.answer(&home).await?;
            let what = match done.reset {
                true => "reset",
                false => "had nothing to reset",
            };
            print::done(app.json, &format!("breaker of {} {what}", done.role), &done);
        }
    }
    Ok(0)
}

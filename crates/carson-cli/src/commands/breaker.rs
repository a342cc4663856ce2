//! `carson breaker`

use serde_json::json;

use crate::app::{self, App};
use crate::args::BreakerAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: BreakerAction) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let now = house.clock.now();
    match action {
        BreakerAction::List => {
            let breakers = house.store.breakers().await?;
            if app.json {
                print::json(&breakers);
                return Ok(0);
            }
            if breakers.is_empty() {
                print::line("every breaker is closed");
                return Ok(0);
            }
            let rows = breakers.iter().map(|row| {
                let role = house.fleet.roles.get(&row.role);
                let cooldown = role.and_then(|role| role.limits.cooldown);
                let state = match row.breaker.half_opens_at(cooldown) {
                    Some(at) if now >= at => "half-open: the next firing tries".to_owned(),
                    Some(at) => format!("open; one firing may try from {}", print::time(at)),
                    None if row.breaker.is_open() => "open".to_owned(),
                    None => "closed".to_owned(),
                };
                let why = row.breaker.reason.clone().unwrap_or_default();
                vec![
                    row.role.to_string(),
                    state,
                    row.breaker.streak.to_string(),
                    why,
                ]
            });
            print::table(&["ROLE", "BREAKER", "STREAK", "REASON"], rows.collect());
        }
        BreakerAction::Reset { role } => {
            let role = app::role(&house.fleet, &role)?;
            let reset = house.store.reset_breaker(&role.name).await?;
            let data = json!({"by": "operator"});
            house
                .store
                .event("breaker.reset", Some(&role.name), None, &data, now)
                .await?;
            let what = if reset {
                "reset"
            } else {
                "had nothing to reset"
            };
            let value = json!({"role": role.name, "reset": reset});
            print::done(
                app.json,
                &format!("breaker of {} {what}", role.name),
                &value,
            );
        }
    }
    Ok(0)
}

//! `carson pause` and `carson resume`

use carson_config::Fleet;
use carson_core::AccountName;
use carson_store::PauseScope;
use serde_json::json;

use crate::app::{self, App, unknown};
use crate::args::{Pause, Scope};
use crate::error::CommandError;
use crate::print;

pub async fn pause(app: &App, args: &Pause) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let scope = scope(&house.fleet, &args.scope)?;
    let now = house.clock.now();
    let until = super::block::span(args.r#for.as_deref())?.map(|span| now + span);
    house
        .store
        .set_pause(&scope, &args.reason, until, "operator", now)
        .await?;
    let text = match until {
        Some(until) => format!(
            "{scope} is paused until {}; firings that run go on",
            print::time(until)
        ),
        None => format!("{scope} is paused; firings that run go on"),
    };
    let value = json!({"scope": scope.to_string(), "paused": true, "until": until});
    print::done(app.json, &text, &value);
    Ok(0)
}

pub async fn resume(app: &App, scope_args: &Scope) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let scope = scope(&house.fleet, scope_args)?;
    let resumed = house.store.resume(&scope).await?;
    let what = if resumed { "goes on" } else { "was not paused" };
    let value = json!({"scope": scope.to_string(), "paused": false, "resumed": resumed});
    print::done(app.json, &format!("{scope} {what}"), &value);
    Ok(0)
}

fn scope(fleet: &Fleet, args: &Scope) -> Result<PauseScope, CommandError> {
    if let Some(name) = &args.role {
        return Ok(PauseScope::Role(app::role(fleet, name)?.name.clone()));
    }
    if let Some(name) = &args.repo {
        return Ok(PauseScope::Repo(app::repo(fleet, Some(name))?.name.clone()));
    }
    let Some(name) = &args.account else {
        return Ok(PauseScope::Fleet);
    };
    let known: Vec<&str> = fleet.accounts.keys().map(AccountName::as_str).collect();
    match name.parse::<AccountName>() {
        Ok(account) if fleet.accounts.contains_key(&account) => Ok(PauseScope::Account(account)),
        _ => Err(unknown("account", name, &known)),
    }
}

//! `carson pause` and `carson resume`

use carson_core::text::instant;
use carson_operator::{Ask, pause};

use crate::app::App;
use crate::args::{Pause, Scope};
use crate::error::CommandError;
use crate::print;

pub async fn pause(app: &App, args: Pause) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let Scope {
        role,
        repo,
        account,
    } = args.scope;
    let ask = pause::Pause {
        role,
        repo,
        account,
        reason: args.reason,
        r#for: args.r#for,
    };
    let done = ask.answer(&home).await?;
    let until = done.until.map(|until| format!(" until {}", instant(until)));
    let (scope, until) = (&done.scope, until.unwrap_or_default());
    let mut text = format!("{scope} is paused{until}; firings that run go on");
    if let Some(before) = &done.instead_of {
        text = format!("{text}\n{}", before.told());
    }
    print::done(app.json, &text, &done);
    Ok(0)
}

pub async fn resume(app: &App, scope: Scope) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let Scope {
        role,
        repo,
        account,
    } = scope;
    let ask = pause::Resume {
        role,
        repo,
        account,
    };
    let done = ask.answer(&home).await?;
    let what = match done.resumed {
        true => "goes on",
        false => "was not paused",
    };
    print::done(app.json, &format!("{} {what}", done.scope), &done);
    Ok(0)
}

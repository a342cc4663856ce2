//! `carson block`

use carson_config::parse_duration;
use carson_core::admission::Block;
use carson_core::{AccountName, BlockKind};
use carson_store::BlockSetter;
use chrono::TimeDelta;
use serde_json::json;

use crate::app::{App, unknown};
use crate::args::BlockAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: BlockAction) -> Result<u8, CommandError> {
    let house = app.house_in_any_case().await?;
    let now = house.clock.now();
    let account = |name: &str| {
        let parsed = name.parse::<AccountName>().ok();
        let known: Vec<&str> = house
            .fleet
            .accounts
            .keys()
            .map(AccountName::as_str)
            .collect();
        parsed
            .filter(|name| house.fleet.accounts.contains_key(name))
            .ok_or_else(|| unknown("account", name, &known))
    };
    match action {
        BlockAction::List => {
            let mut blocks = house.store.block_rows().await?;
            blocks.retain(|row| row.until.is_none_or(|until| now < until));
            if app.json {
                print::json(&blocks);
                return Ok(0);
            }
            if blocks.is_empty() {
                print::line("no account is blocked");
                return Ok(0);
            }
            let rows = blocks.into_iter().map(|row| {
                let until = row.until.map_or("it is cleared".to_owned(), print::time);
                vec![row.account.to_string(), until, row.reason]
            });
            print::table(&["ACCOUNT", "UNTIL", "REASON"], rows.collect());
        }
        BlockAction::Set {
            account: name,
            r#for,
            reason,
        } => {
            let account = account(&name)?;
            let until = span(r#for.as_deref())?.map(|span| now + span);
            let block = Block {
                account,
                until,
                reason,
                kind: Some(BlockKind::Operator),
            };
            let by = BlockSetter::Operator;
            house.store.set_block(&block, by, now).await?;
            let text = match until {
                Some(until) => format!("account {name} is blocked until {}", print::time(until)),
                None => format!("account {name} is blocked until it is cleared"),
            };
            let value = json!({"account": name, "blocked": true, "until": until});
            print::done(app.json, &text, &value);
        }
        BlockAction::Clear { account: name } => {
            let cleared = house.store.clear_block(&account(&name)?, now).await?;
            let what = if cleared {
                "is free"
            } else {
                "was not blocked"
            };
            let value = json!({"account": name, "blocked": false, "cleared": cleared});
            print::done(app.json, &format!("account {name} {what}"), &value);
        }
    }
    Ok(0)
}

/// `--for 2h`
pub fn span(text: Option<&str>) -> Result<Option<TimeDelta>, CommandError> {
    let Some(text) = text else { return Ok(None) };
    let span = parse_duration(text).map_err(|why| CommandError::usage(format!("--for: {why}")))?;
    if span.is_zero() {
        return Err(
            CommandError::usage(format!("--for {text} would end at once"))
                .hint("write 45m, 2h or 3d"),
        );
    }
    let span = TimeDelta::from_std(span);
    span.map(Some)
        .map_err(|_| CommandError::usage("--for: that is too long"))
}

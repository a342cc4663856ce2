//! `carson block`

use carson_core::text::instant;
use carson_operator::Ask;
use carson_operator::block::{Clear, List, Set};
use carson_store::BlockRow;

use crate::app::App;
use crate::args::BlockAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: BlockAction) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    match action {
        BlockAction::List => {
            let blocks = List {}.answer(&home).await?;
            let header = ["ACCOUNT", "UNTIL", "REASON"];
            print::list(app.json, &blocks, "no account is blocked", &header, row);
        }
        BlockAction::Set {
            account,
            r#for,
            reason,
        } => {
            let set = Set {
                account,
                r#for,
                reason,
            };
            let done = set.answer(&home).await?;
            let until = done.until.map_or("it is cleared".to_owned(), instant);
            let text = format!("account {} is blocked until {until}", done.account);
            print::done(app.json, &text, &done);
        }
        BlockAction::Clear { account } => {
            let done = Clear { account }.answer(&home).await?;
            let what = match done.cleared {
                true => "is free",
                false => "was not blocked",
            };
            print::done(app.json, &format!("account {} {what}", done.account), &done);
        }
    }
    Ok(0)
}

fn row(row: &BlockRow) -> Vec<String> {
    let until = row.until.map_or("it is cleared".to_owned(), instant);
    vec![row.account.to_string(), until, row.reason.clone()]
}

//! `carson events`

use carson_core::text::instant;
use carson_operator::Ask;
use carson_operator::events::Events;
use carson_store::EventRow;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, asked: Events) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let all = asked.answer(&home).await?;
    let header = ["AT", "EVENT", "OF", "WHAT"];
    print::list(app.json, &all, "nothing was written down", &header, row);
    Ok(0)
}

fn row(event: &EventRow) -> Vec<String> {
    let of = match (&event.role, event.firing) {
        (Some(role), Some(firing)) => format!("{role} {}", firing.short()),
        (Some(role), None) => role.clone(),
        (None, Some(firing)) => firing.short(),
        (None, None) => "fleet".to_owned(),
    };
    let what = event.data.to_string();
    vec![instant(event.at), event.kind.clone(), of, what]
}

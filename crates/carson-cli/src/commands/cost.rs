//! `carson cost`

use carson_core::admission::Spent;
use carson_core::text::{counted, instant};
use carson_operator::Ask;
use carson_operator::cost::{Cost, Sum};

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, since: Option<String>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let costs = Cost { since }.answer(&home).await?;
    if app.json {
        print::json(&costs);
        return Ok(0);
    }
    if let Some(since) = costs.since {
        print::line(&format!("since {}", instant(since)));
    }
    let mut rows: Vec<_> = costs.roles.iter().collect();
    rows.sort_by(|(_, a), (_, b)| b.cost_usd.total_cmp(&a.cost_usd));
    let named = rows.into_iter().map(|(role, sum)| row(role.as_str(), sum));
    let rows: Vec<_> = named.chain([row("all", &costs.all)]).collect();
    print::table(
        &["ROLE", "FIRINGS", "OK", "TURNS", "TOKENS", "COST", "EACH"],
        rows,
    );
    if costs.all.unknown > 0 {
        let firings = counted(costs.all.unknown, "firing");
        print::line(&format!(
            "the cost of {firings} is not known and not counted"
        ));
    }
    Ok(0)
}

fn row(name: &str, sum: &Sum) -> Vec<String> {
    let known = sum.firings - sum.unknown;
    let dollars = |of: u64| match known {
        0 => "unknown".to_owned(),
        _ => Spent {
            usd: sum.cost_usd / of as f64,
            estimated: sum.estimated,
        }
        .to_string(),
    };
    vec![
        name.to_owned(),
        sum.firings.to_string(),
        sum.ok.to_string(),
        sum.turns.to_string(),
        sum.tokens.to_string(),
        dollars(1),
        dollars(known),
    ]
}

//! `carson outcomes`

use carson_core::admission::Spent;
use carson_core::text::{counted, instant};
use carson_operator::Ask;
use carson_operator::outcomes::{By, Ledger, MOST, Outcomes, Sum};

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, ask: Outcomes) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let ledger = ask.answer(&home).await?;
    if app.json {
        print::json(&ledger);
        return Ok(0);
    }
    if !ledger.pulls.is_empty() {
        table(&ledger);
    }
    notes(&ledger).iter().for_each(|note| print::warning(note));
    print::line(&summary(&ledger));
    Ok(0)
}

fn table(ledger: &Ledger) {
    let by = match ledger.by {
        By::Role => "ROLE",
        By::Engine => "ENGINE",
        By::Prompt => "PROMPTS",
    };
    let header = [
        by,
        "PRS",
        "UNTOUCHED",
        "CHANGED",
        "REVERTED",
        "CLOSED",
        "PENDING",
        "HOURS",
        "COST",
    ];
    let groups = ledger.groups.iter();
    let named = groups.map(|group| row(&group.name, &group.sum));
    print::table(&header, named.chain([row("all", &ledger.all)]).collect());
}

fn row(name: &str, sum: &Sum) -> Vec<String> {
    let hours = sum.hours_to_merge.map(|hours| format!("{hours:.1}"));
    vec![
        name.to_owned(),
        sum.pulls.to_string(),
        sum.untouched.to_string(),
        sum.changed.to_string(),
        sum.reverted.to_string(),
        sum.closed.to_string(),
        sum.pending.to_string(),
        hours.unwrap_or_else(|| "-".to_owned()),
        cost(sum),
    ]
}

fn cost(sum: &Sum) -> String {
    let estimated = sum.cost_estimated;
    match sum.cost_per_merged {
        Some(usd) => Spent { usd, estimated }.to_string(),
        None if sum.cost_unknown > 0 => "unknown".to_owned(),
        None => "-".to_owned(),
    }
}

/// What the numbers do not say.
fn notes(ledger: &Ledger) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |count: u64, says: &str| {
        if count > 0 {
            notes.push(format!("{} {says}", counted(count, "pull request")));
        }
    };
    let all = &ledger.all;
    note(
        all.merged,
        "merged: nobody can say any more whether people changed it first",
    );
    note(
        all.cost_unknown,
        "merged whose cost is not known and not counted",
    );
    note(
        ledger.left_out,
        &format!("left out: only the newest {MOST} are looked at"),
    );
    notes.extend(ledger.untold.iter().map(|untold| {
        let numbers = untold.pulls.iter().map(|number| format!("#{number}"));
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        format!(
            "not all is known of {numbers} in {}: {}",
            untold.repo, untold.why
        )
    }));
    notes
}

fn summary(ledger: &Ledger) -> String {
    let all = &ledger.all;
    let since = instant(ledger.since);
    if all.pulls == 0 {
        return format!("no firing since {since} opened a pull request");
    }
    let stand = match all.stand() {
        0 => "none merged that stands".to_owned(),
        count => format!(
            "{count} merged and stand, {} of them untouched",
            all.untouched
        ),
    };
    let pulls = counted(all.pulls, "pull request");
    let mut line = format!("{pulls} since {since}: {stand}");
    for (count, says) in [
        (all.reverted, "taken back within 14 days"),
        (all.closed, "closed without merging"),
        (all.pending, "still open"),
        (all.untold, "not known"),
    ] {
        if count > 0 {
            line.push_str(&format!("; {count} {says}"));
        }
    }
    line
}

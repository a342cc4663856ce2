//! `carson usage`

use carson_core::RoleName;
use carson_core::admission::Spent;
use carson_core::forecast::{Case, Ended, Forecast, RoleForecast, Sum};
use carson_core::text::{ago, counted, instant};
use carson_operator::Ask;
use carson_operator::usage::{All, Seen, Usage};
use carson_store::UsedBy;

use crate::app::App;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, since: String) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    let seen = Usage { since }.answer(&home).await?;
    if app.json {
        print::json(&seen);
        return Ok(0);
    }
    windows(&seen);
    print::line("");
    spent(&seen);
    print::line("");
    night(&seen);
    Ok(0)
}

fn windows(seen: &Seen) {
    let told = seen.accounts.iter().filter(|one| !one.windows.is_empty());
    let rows: Vec<Vec<String>> = told
        .flat_map(|one| one.windows.iter().map(move |window| (one, window)))
        .map(|(one, window)| {
            let again = window.resets_at.map_or("unknown".to_owned(), instant);
            vec![
                one.account.to_string(),
                window.window.clone(),
                format!("{:.0} %", window.utilization * 100.0),
                ago(seen.now - window.told_at),
                match window.stands {
                    true => again,
                    false => format!("{again} (no longer gone by)"),
                },
            ]
        })
        .collect();
    if !rows.is_empty() {
        print::table(&["ACCOUNT", "WINDOW", "USED", "TOLD", "STARTS AGAIN"], rows);
    }
    let untold = seen.accounts.iter().filter(|one| one.windows.is_empty());
    let untold: Vec<&str> = untold.map(|one| one.account.as_str()).collect();
    if !untold.is_empty() {
        print::line(&format!(
            "no usage window was told of: {}",
            untold.join(", ")
        ));
    }
}

fn spent(seen: &Seen) {
    print::line(&format!("since {}", instant(seen.since)));
    if seen.used.is_empty() {
        print::line("no session ran");
        return;
    }
    let mut rows: Vec<Vec<String>> = seen.used.iter().map(row).collect();
    let All {
        sessions,
        turns,
        tokens,
        untold,
        ..
    } = seen.all;
    rows.push(vec![
        "all".to_owned(),
        String::new(),
        String::new(),
        sessions.to_string(),
        turns.to_string(),
        tokens.to_string(),
        money(&seen.all),
    ]);
    let header = [
        "ROLE", "ACCOUNT", "FIRINGS", "SESSIONS", "TURNS", "TOKENS", "COST",
    ];
    print::table(&header, rows);
    if untold > 0 {
        let sessions = counted(untold, "session");
        print::line(&format!(
            "the cost of {sessions} is not known and not counted"
        ));
    }
}

fn row(row: &UsedBy) -> Vec<String> {
    let used = &row.used;
    vec![
        row.role.to_string(),
        used.account.to_string(),
        row.firings.to_string(),
        used.sessions.to_string(),
        used.turns.to_string(),
        used.tokens.to_string(),
        used.cost_usd.map_or("unknown".to_owned(), |usd| {
            let estimated = used.cost_estimated;
            Spent { usd, estimated }.to_string()
        }),
    ]
}

fn money(all: &All) -> String {
    match all.untold == all.sessions {
        true => "unknown".to_owned(),
        false => Spent {
            usd: all.cost_usd,
            estimated: all.cost_estimated,
        }
        .to_string(),
    }
}

fn night(seen: &Seen) {
    let night = &seen.night;
    print::line(&format!("the night, until {}", instant(night.until)));
    if !seen.daemon_runs {
        print::line("no daemon runs: what follows needs one (`carson daemon`)");
    }
    let due: Vec<&RoleForecast> = night.roles.iter().filter(|role| role.slots > 0).collect();
    if due.is_empty() {
        print::line("no role is due until then");
        return;
    }
    let rows = due.iter().map(|role| {
        vec![
            role.role.to_string(),
            role.slots.to_string(),
            role.expected.firings.to_string(),
            each(role),
            sum(&role.expected, true, "unknown"),
            sum(&role.worst, false, "no bound"),
        ]
    });
    let header = ["ROLE", "DUE", "FIRINGS", "EACH", "EXPECTED", "AT WORST"];
    print::table(&header, rows.collect());
    for role in &due {
        if let Some(stopped) = &role.stopped {
            let until = stopped
                .until
                .map_or(String::new(), |at| format!(" until {}", instant(at)));
            print::warning(&format!(
                "{} does not fire{until}: {}",
                role.role, stopped.why
            ));
        }
        if let Some(too_little) = &role.too_little {
            print::line(&format!(
                "{}: nothing can be expected: {too_little}",
                role.role
            ));
        }
    }
    sums(night);
}

fn each(role: &RoleForecast) -> String {
    role.expected
        .each_usd
        .map_or("unknown".to_owned(), |usd| about(usd, true))
}

fn sum(sum: &Sum, estimated: bool, none: &str) -> String {
    sum.usd.map_or(none.to_owned(), |usd| about(usd, estimated))
}

/// What is only expected is as good as an estimate.
fn about(usd: f64, estimated: bool) -> String {
    Spent { usd, estimated }.to_string()
}

fn sums(night: &Forecast) {
    let without = |case: &Case, why: &str| match case.without.as_slice() {
        [] => String::new(),
        roles => {
            let roles: Vec<&str> = roles.iter().map(RoleName::as_str).collect();
            format!(", without {} ({why})", roles.join(", "))
        }
    };
    let (expected, worst) = (&night.expected, &night.worst);
    print::line(&format!(
        "expected: {}{}",
        about(expected.usd, true),
        without(expected, "too little is known")
    ));
    print::line(&format!(
        "at worst: {}{}",
        about(worst.usd, false),
        without(worst, "nothing bounds it: limits.max_cost_usd, or a budget")
    ));
    for end in &expected.ends {
        print::warning(&ended(end, "is used up"));
    }
    for end in &night.windows {
        print::warning(&format!(
            "window {} of {} is used up about {}: {} is cut first",
            end.window,
            end.account,
            instant(end.at),
            end.cuts
        ));
    }
    if expected.ends.is_empty() && night.windows.is_empty() {
        print::line(
            "expected: no budget and no usage window ends before the night does, as far as that is known",
        );
    }
    let likely = |end: &&Ended| !expected.ends.iter().any(|one| is_same(one, end));
    for end in worst.ends.iter().filter(likely) {
        print::line(&ended(end, "would at worst be used up"));
    }
}

/// Of two that end for the same budget, at whatever time.
fn is_same(one: &Ended, other: &Ended) -> bool {
    one.budget.key == other.budget.key && one.of == other.of
}

fn ended(end: &Ended, how: &str) -> String {
    let of = end
        .of
        .as_ref()
        .map_or(String::new(), |role| format!(" ({role})"));
    format!(
        "${:.2} for {}{of} {how} about {}: {} is cut first",
        end.budget.max,
        end.budget.what,
        instant(end.at),
        end.cuts
    )
}

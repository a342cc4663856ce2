//! How firings ended, what they cost, and what became of their pull requests.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use carson_operator::Ask;
use carson_operator::outcomes::{Ledger, Outcomes, Sum};
use carson_operator::tally::{self, Tally};
use carson_operator::usage::Usage;
use serde::Deserialize;

use super::rows::Link;
use crate::chart::Bars;
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::mark::{Badge, MARKS};
use crate::text::{line, link, usd};

/// The spans that can be chosen.
const SPANS: [&str; 4] = ["7d", "14d", "30d", "90d"];

#[derive(Deserialize)]
pub(crate) struct Asked {
    since: Option<String>,
    /// Whether forges and git are asked too, which takes a while.
    pulls: Option<String>,
}

#[derive(Template)]
#[template(path = "outcomes.html")]
struct Page {
    frame: Frame,
    since: &'static str,
    spans: Vec<(&'static str, bool)>,
    ends: Bars,
    money: Bars,
    counts: Vec<(Badge, u32)>,
    used: Vec<[String; 5]>,
    all: String,
    windows: Vec<(String, String)>,
    ledger: Option<Shown>,
}

/// What became of pull requests.
struct Shown {
    groups: Vec<[String; 7]>,
    pulls: Vec<(Option<Link>, String, String)>,
    untold: Vec<String>,
    left_out: u64,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Query(asked): Query<Asked>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let since = asked.since.as_deref().unwrap_or(tally::SINCE);
    let Some(since) = SPANS.into_iter().find(|span| *span == since) else {
        return Err(Fault::asked(format!(
            "since is one of {}",
            SPANS.join(", ")
        )));
    };
    let tally = Tally {
        since: since.to_owned(),
    };
    let usage = Usage {
        since: since.to_owned(),
    };
    let (tallied, usage) = tokio::try_join!(tally.answer(&home), usage.answer(&home))?;
    let ledger = match asked.pulls.is_some() {
        true => {
            let ask = Outcomes {
                since: since.to_owned(),
                by: "role".to_owned(),
            };
            Some(ask.answer(&home).await?)
        }
        false => None,
    };
    let frame = Frame::of((&desk, &home), &signed, ("/outcomes", "Outcomes and cost"));
    let counts = MARKS.iter().filter_map(|(mark, word)| {
        let all = tallied.days.iter().flat_map(|day| &day.ends);
        let own: Vec<_> = all
            .filter(|(outcome, _)| crate::mark::mark(Some(**outcome)) == *mark)
            .collect();
        let badge = Badge::of_outcome(Some(*own.first()?.0), (*word).to_owned());
        Some((badge, own.iter().map(|(_, count)| **count).sum()))
    });
    let used = usage.used.iter().map(|row| {
        let cost = row
            .used
            .cost_usd
            .map_or("—".to_owned(), |cost| usd(cost, row.used.cost_estimated));
        [
            row.role.to_string(),
            row.used.account.to_string(),
            row.firings.to_string(),
            row.used.tokens.to_string(),
            cost,
        ]
    });
    let windows = usage.accounts.iter().flat_map(|account| {
        account
            .windows
            .iter()
            .filter(|window| window.stands)
            .map(|window| {
                let share = format!("{:.0} % used", window.utilization * 100.0);
                (format!("{} {}", account.account, window.window), share)
            })
    });
    let page = Page {
        since,
        spans: SPANS.map(|span| (span, span == since)).into(),
        ends: Bars::ends(&tallied.days),
        money: Bars::money(&tallied.days),
        counts: counts.collect(),
        used: used.collect(),
        all: usd(usage.all.cost_usd, usage.all.cost_estimated),
        windows: windows.collect(),
        ledger: ledger.map(|ledger| shown(&ledger)),
        frame,
    };
    whole(&home, &page)
}

fn shown(ledger: &Ledger) -> Shown {
    let group = |name: &str, sum: &Sum| {
        let hours = sum
            .hours_to_merge
            .map_or("—".to_owned(), |hours| format!("{hours:.1} h"));
        let cost = sum
            .cost_per_merged
            .map_or("—".to_owned(), |cost| usd(cost, sum.cost_estimated));
        [
            name.to_owned(),
            sum.pulls.to_string(),
            sum.stand().to_string(),
            sum.closed.to_string(),
            sum.pending.to_string(),
            hours,
            cost,
        ]
    };
    let groups = ledger.groups.iter().map(|one| group(&one.name, &one.sum));
    let pulls = ledger.pulls.iter().map(|pull| {
        let to = pull.url.as_deref().and_then(link);
        let text = format!("{}#{}", pull.repo, pull.number);
        let end = serde_json::to_value(pull.end).unwrap_or_default();
        let end = end.as_str().unwrap_or("nobody told").to_owned();
        let title = line(pull.title.as_deref().unwrap_or_default());
        match to {
            Some(to) => (Some(Link { to, text }), title, end),
            None => (None, format!("{text} {title}"), end),
        }
    });
    Shown {
        groups: groups.chain([group("all", &ledger.all)]).collect(),
        pulls: pulls.collect(),
        untold: ledger
            .untold
            .iter()
            .map(|one| format!("{}: {}", one.repo, one.why))
            .collect(),
        left_out: ledger.left_out,
    }
}

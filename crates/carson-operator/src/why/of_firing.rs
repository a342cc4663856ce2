//! What one firing went through, in order.

use carson_core::stops::Change;
use carson_core::text::{counted, instant};
use carson_core::untrusted::one_line;
use carson_home::Home;
use carson_store::{EventRow, Firing};
use serde::Serialize;

use super::ended;
use crate::firings::state;
use crate::papers;
use crate::refusal::Refusal;

/// The chain of facts that led to a firing and through it.
#[derive(Debug, Serialize)]
pub struct OfFiring {
    /// Its row.
    pub firing: Firing,
    /// The facts, in order.
    pub chain: Vec<String>,
    /// What would let the next one go further.
    pub change: Option<Change>,
}

pub(super) async fn reasons_of_firing(home: &Home, row: Firing) -> Result<OfFiring, Refusal> {
    let stages = home.store.stages(row.id).await?;
    let blocked = home.store.blocked_calls(row.id).await?;
    let mut chain = vec![match row.slot {
        Some(slot) => format!("slot {} of {} was due", instant(slot), row.role),
        None => format!("an operator fired {}", row.role),
    }];
    let events = home.store.events_of(row.id).await?;
    for forced in events.iter().filter(|event| event.kind == "firing.forced") {
        let over = forced.data["over"].as_array().into_iter().flatten();
        let over: Vec<&str> = over.filter_map(|one| one.as_str()).collect();
        let over = match over.is_empty() {
            true => "nothing that stood".to_owned(),
            false => over.join("; "),
        };
        let reason = forced.data["reason"].as_str().unwrap_or_default();
        chain.push(format!("by force, over {over}: {}", one_line(reason, 300)));
    }
    if row.missed > 0 {
        let slots = counted(row.missed, "slot");
        chain.push(format!("it stands for {slots} before it"));
    }
    let claimed = instant(row.claimed_at);
    chain.push(format!("{} claimed it at {claimed}", row.host));
    if let Some(by) = row.carrier.as_ref().filter(|by| **by != row.host) {
        chain.push(format!(
            "{} was taken for dead, and {by} took the firing over",
            row.host
        ));
    }
    chain.extend(events.iter().filter_map(kept_after_all));
    if let Some(account) = &row.account {
        chain.push(format!("account {account} was the first that was free"));
    }
    if let (Some(repo), Some(work)) = (&row.repo, row.work) {
        let title = row.title.as_deref().unwrap_or_default();
        chain.push(format!("it took {} of {repo}: {title}", work.reference()));
    }
    let walked: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    if !walked.is_empty() {
        chain.push(format!("it went through {}", walked.join(", ")));
    }
    if let Some(sentinel) = &row.sentinel {
        chain.push(format!("its last session ended with {sentinel}"));
    }
    if !blocked.is_empty() {
        let calls = u64::try_from(blocked.len()).unwrap_or(u64::MAX);
        chain.push(format!("the hook stopped {}", counted(calls, "call")));
    }
    let why = row.reason.as_deref().unwrap_or("it has not ended");
    chain.push(format!("{}: {why}", state(&row)));
    let dir = home.fleet.layout.transcripts(&row.id);
    let printed = papers::newest(&dir, papers::CHECKED);
    Ok(OfFiring {
        change: ended::change(&row, printed.as_deref()),
        chain,
        firing: row,
    })
}

/// Where the work of a firing is whose host was taken for dead, and came back.
fn kept_after_all(event: &EventRow) -> Option<String> {
    let known = |key: &str| event.data[key].as_str().map(str::to_owned);
    let place = match event.kind.as_str() {
        "firing.fenced" => known("branch").or_else(|| known("kept"))?,
        _ => return None,
    };
    Some(format!(
        "that host came back: what the firing had made there is on {place}"
    ))
}

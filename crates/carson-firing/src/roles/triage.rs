//! New issues get a label that says how urgent they are, and people hear what they lack.

use carson_core::Effect;
use carson_core::Outcome;
use carson_core::settle::Goal;
use carson_core::work::WorkKey;
use carson_forge::{Issue, PRIORITIES, is_reserved};
use carson_store::Firing as Row;
use chrono::{DateTime, TimeDelta, Utc};

use super::candidates::{Candidate, Candidates};
use super::kind::{Closing, Kind, Look, Looking};
use super::take;
use crate::review_queue::QueueError;

const LOOK: Look = |looking| Box::pin(look(looking));

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(take::pick(ctx, rec, LOOK)),
    look: Some(LOOK),
    goal: |_| Goal::Effects,
    effects,
};

/// How long a judgement stands: the issue may carry no label of it.
const REMEMBERED: TimeDelta = TimeDelta::days(7);

/// What its session asked for.
pub(super) fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    match closing.settled.outcome {
        Outcome::Ok => closing.facts.declared.effects.clone(),
        _ => Vec::new(),
    }
}

/// The oldest issue that nobody has judged.
async fn look(looking: Looking<'_>) -> Result<Candidates, QueueError> {
    let Looking {
        home,
        role,
        repo,
        forge,
        wanted,
        ..
    } = looking;
    let mut issues = forge.issues(role.work.label()).await?.found;
    let me = forge.me().await?;
    issues.retain(|issue| match wanted {
        Some(number) => issue.number == number,
        // What the fleet filed is what it means already.
        None => {
            is_new(issue)
                && !issue.is_made_by(me)
                && role.work.labels.iter().all(|label| issue.has(label))
        }
    });
    issues.sort_by_key(|issue| issue.number);
    let mut found = Candidates::default();
    for issue in issues {
        let key = WorkKey::Issue(issue.number);
        let rows = home.store.firings_of(&repo.name, key).await?;
        let own: Vec<&Row> = rows.iter().filter(|row| row.role == role.name).collect();
        match stands(&own, role.limits.max_work_attempts, home.clock.now()) {
            Some(why) if wanted.is_none() => found.hold(key, why),
            _ => {
                found.ready = Some(candidate(issue));
                break;
            }
        }
    }
    Ok(found)
}

/// Whether nobody has said how urgent it is, or taken it up.
fn is_new(issue: &Issue) -> bool {
    let judged = PRIORITIES.iter().any(|label| issue.has(label));
    let taken = issue.labels.iter().any(|label| is_reserved(label));
    !judged && !taken && issue.assignees.is_empty()
}

/// Why it is not judged again.
fn stands(own: &[&Row], most: u32, now: DateTime<Utc>) -> Option<String> {
    let lately = own.iter().filter(|row| {
        let ended = row.ended_at.unwrap_or(row.claimed_at);
        now - ended < REMEMBERED
    });
    let mut failed = 0;
    for row in lately {
        match row.outcome {
            Some(Outcome::Ok | Outcome::Silent) => {
                return Some("it was judged within the last 7 days".to_owned());
            }
            Some(outcome) if outcome.blames_the_work() => failed += 1,
            _ => {}
        }
    }
    (failed >= most).then(|| format!("{failed} firings could not judge it"))
}

fn candidate(issue: Issue) -> Candidate {
    let labels = match issue.labels.is_empty() {
        true => "none".to_owned(),
        false => issue.labels.join(", "),
    };
    Candidate {
        key: WorkKey::Issue(issue.number),
        title: issue.title,
        body: format!("{}\n\nIts labels: {labels}", issue.body),
        url: issue.url,
        shown: None,
        findings: None,
        decided: None,
        story: None,
    }
}

//! The pull requests themselves, as the rows of their firings tell them.

use carson_core::RepoName;
use carson_core::pull_end::PullEnd;
use carson_core::work::WorkKey;
use carson_home::Home;
use carson_store::{Firing, PullEndRow, StoreError};
use chrono::{DateTime, Utc};

use super::pull::PullOutcome;

/// A pull request that a firing opened.
pub(super) struct Opened {
    pub repo: RepoName,
    pub number: u64,
    /// The firing that pushed to it last.
    pub last: Firing,
    /// Whose work it is: who went on with the work itself last, not who mended the pull request.
    pub author: Firing,
}

/// The newest that were opened by firings since then, at most so many, and how many older ones are left
/// out.
pub(super) async fn since(
    home: &Home,
    since: DateTime<Utc>,
    most: usize,
) -> Result<(Vec<Opened>, u64), StoreError> {
    let mut rows = home.store.firings_that_opened(since).await?;
    let left_out = rows.len().saturating_sub(most);
    rows.truncate(most);
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let Some((repo, number)) = row.repo.clone().zip(row.pr_number) else {
            continue;
        };
        let mut pushed = home.store.firings_of_pull(&repo, number).await?;
        pushed.retain(|row| row.pushed_sha.is_some());
        let mends = |row: &&Firing| matches!(row.work, Some(WorkKey::Pull(_)));
        let author = pushed.iter().rfind(|row| !mends(row)).cloned();
        all.push(Opened {
            repo,
            number,
            author: author.unwrap_or_else(|| row.clone()),
            last: pushed.pop().unwrap_or(row),
        });
    }
    Ok((all, u64::try_from(left_out).unwrap_or(u64::MAX)))
}

/// What became of one of them, and what it cost.
pub(super) async fn outcome(
    home: &Home,
    one: &Opened,
    end: Option<&PullEndRow>,
) -> Result<PullOutcome, StoreError> {
    let until = end.and_then(|end| end.ended_at);
    let rows = firings(home, one, until).await?;
    let costs = rows.iter().map(|row| row.cost_usd);
    let row = &one.author;
    Ok(PullOutcome {
        repo: one.repo.clone(),
        number: one.number,
        url: row.pr_url.clone(),
        title: row.title.clone(),
        role: row.role.clone(),
        engine: row.engine.clone(),
        account: row.account.clone(),
        prompt_version: row.prompt_version.clone(),
        second_try: row.second_try,
        end: end.map(|end| end.end),
        opened_at: end.map(|end| end.opened_at),
        ended_at: until,
        hours_to_merge: end.and_then(hours_to_merge),
        firings: u64::try_from(rows.len()).unwrap_or(u64::MAX),
        cost_usd: costs.sum(),
        cost_estimated: rows.iter().any(|row| row.cost_estimated),
    })
}

/// The firings of its work that had a session: all attempts, in whichever pull request, and who reviewed
/// or mended it. What a role does without an issue is another piece of work each time.
async fn firings(
    home: &Home,
    one: &Opened,
    until: Option<DateTime<Utc>>,
) -> Result<Vec<Firing>, StoreError> {
    let store = &home.store;
    let mut rows = match one.author.work {
        Some(work) if work != WorkKey::None => store.firings_of(&one.repo, work).await?,
        _ => store.firings_of_pull(&one.repo, one.number).await?,
    };
    let judged = WorkKey::Pull(one.number);
    rows.extend(store.firings_of(&one.repo, judged).await?);
    // What was done on the issue after that is another pull request's.
    rows.retain(|row| row.sessions > 0 && until.is_none_or(|until| row.claimed_at <= until));
    Ok(rows)
}

fn hours_to_merge(end: &PullEndRow) -> Option<f64> {
    let was_merged = end.end.stands() || end.end == PullEnd::Reverted;
    let took = end.ended_at.filter(|_| was_merged)? - end.opened_at;
    Some(took.num_seconds().max(0) as f64 / 3_600.0)
}

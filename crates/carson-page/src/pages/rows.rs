//! Rows that several pages have.

use carson_core::RepoName;
use carson_core::stops::{Change, Part};
use carson_core::work::WorkKey;
use carson_operator::firings::reason;
use carson_store::Firing;

use crate::mark::Badge;
use crate::text::{Zone, cost, line, link, span};

/// A firing in a table.
pub(crate) struct FiringRow {
    pub(crate) id: String,
    pub(crate) short: String,
    pub(crate) role: String,
    pub(crate) badge: Badge,
    pub(crate) what: String,
    pub(crate) why: String,
    pub(crate) at: String,
    pub(crate) took: String,
    pub(crate) cost: String,
    pub(crate) pull: Option<Link>,
    pub(crate) runs: bool,
}

/// Somewhere else.
pub(crate) struct Link {
    pub(crate) to: String,
    pub(crate) text: String,
}

impl FiringRow {
    pub(crate) fn of(zone: &Zone, row: &Firing) -> Self {
        let ended = row.ended_at.unwrap_or(zone.now);
        Self {
            id: row.id.to_string(),
            short: row.id.short(),
            role: row.role.to_string(),
            badge: Badge::of(row),
            what: what(row),
            why: line(reason(row)),
            at: zone.at(row.claimed_at),
            took: span(ended - row.claimed_at),
            cost: cost(row),
            pull: pull(row),
            runs: row.ended_at.is_none(),
        }
    }
}

/// What it works on.
pub(crate) fn what(row: &Firing) -> String {
    work((row.repo.as_ref(), row.work), row.title.as_deref())
}

/// A piece of work, as far as it is known.
pub(crate) fn work(
    (repo, work): (Option<&RepoName>, Option<WorkKey>),
    title: Option<&str>,
) -> String {
    let title = title.map(line).unwrap_or_default();
    match (repo, work) {
        (Some(repo), Some(work)) => format!("{} of {repo} {title}", work.reference()),
        (Some(repo), None) => format!("{repo} {title}"),
        _ => title,
    }
}

/// Its pull request, where a person finds it.
pub(crate) fn pull(row: &Firing) -> Option<Link> {
    let (number, url) = (row.pr_number?, row.pr_url.as_deref()?);
    Some(Link {
        to: link(url)?,
        text: format!("#{number}"),
    })
}

/// What would change something, in one line; commands are typed.
pub(crate) fn change(change: &Change) -> String {
    let part = |part: &Part| match part {
        Part::Text(words) => words.clone(),
        Part::Command(typed) => format!("`carson {typed}`"),
        Part::Setting { key, value, file } => match value {
            Some(value) => format!("{key} = {value} in {file}"),
            None => format!("{key} in {file}"),
        },
    };
    change.parts().iter().map(part).collect()
}

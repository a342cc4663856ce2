//! What the crew did, in the words of its rows and of the forge.

use carson_config::RoleKind;
use carson_core::work::WorkKey;
use carson_core::{Effect, Outcome, Sentinel};
use carson_home::Home;
use carson_store::{EffectRow, EffectState, Filter, Firing, StoreError};
use serde::Serialize;

use super::crew;
use crate::print;

/// What was done of the planned issue.
#[derive(Debug, Default, Serialize)]
pub struct Story {
    /// The issue.
    pub planned: u64,
    /// The issues that were filed for it.
    pub filed: Vec<u64>,
    /// Those of them that are done.
    pub done: Vec<u64>,
    /// Who did what, in this order.
    pub deeds: Vec<Deed>,
}

/// One thing that somebody did.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Deed {
    /// The role, or `you`.
    pub who: String,
    /// What, for people.
    pub did: String,
}

/// The firings of the crew that took work and ended, in the order of their ends.
async fn ended(home: &Home) -> Result<Vec<Firing>, StoreError> {
    let filter = Filter {
        role: None,
        since: None,
        skipped: false,
        outcome: None,
        limit: 1_000,
    };
    let mut rows = home.store.firings(&filter).await?;
    rows.retain(|row| is_of_crew(row) && row.work.is_some() && row.outcome.is_some());
    rows.sort_by_key(|row| row.ended_at);
    Ok(rows)
}

/// Whether a firing is one of the crew's.
pub fn is_of_crew(row: &Firing) -> bool {
    let repo = row.repo.as_ref();
    repo.is_some_and(|repo| repo.as_str() == crew::REPO)
}

impl Story {
    /// As far as it has gone.
    pub async fn of(home: &Home) -> Result<Self, StoreError> {
        let mut story = Self {
            planned: crew::PLANNED,
            ..Self::default()
        };
        let rows = ended(home).await?;
        for row in &rows {
            let effects = home.store.effects(row.id).await?;
            let filed = filed(&effects);
            let kind = home.fleet.roles.get(&row.role).map(|role| role.kind);
            story.add(row.role.as_str(), deed(kind, row, &effects, &rows));
            if !filed.is_empty() {
                story.add("you", crew::approval(&filed));
            }
            story.filed.extend(filed);
        }
        for issue in &story.filed {
            if crew::is_done(home, *issue).await {
                story.done.push(*issue);
            }
        }
        Ok(story)
    }

    /// Whether nothing is left to do.
    pub fn is_over(&self) -> bool {
        !self.filed.is_empty() && self.filed.len() == self.done.len()
    }

    /// Tells it.
    pub fn print(&self) {
        let repo = crew::REPO;
        print::line(&format!("\nWhat the crew did, in the repository {repo}:\n"));
        for Deed { who, did } in &self.deeds {
            print::line(&format!("  {who:<12} {did}"));
        }
        print::line(&format!("\n  {}", self.end()));
    }

    fn end(&self) -> String {
        let (planned, done) = (self.planned, crew::numbered(&self.done));
        match self.is_over() {
            true => format!(
                "Done: {done}. `carson prune` closes #{planned}, or the daemon within the hour."
            ),
            false => "It is not all done: --seconds gives it more time.".to_owned(),
        }
    }

    fn add(&mut self, who: &str, did: String) {
        let who = who.to_owned();
        self.deeds.push(Deed { who, did });
    }
}

/// What a firing did.
fn deed(kind: Option<RoleKind>, row: &Firing, effects: &[EffectRow], crew: &[Firing]) -> String {
    let on = row.work.map(WorkKey::reference).unwrap_or_default();
    let title = row.title.as_deref().unwrap_or_default();
    let reason = row.reason.as_deref().unwrap_or_default();
    let pull = row.pr_number.unwrap_or_default();
    match (kind, row.outcome) {
        (Some(RoleKind::Planner), Some(Outcome::Ok)) => {
            let parts = proposed(effects).join(" and ");
            format!("planned {on} {title:?}: {parts}")
        }
        (Some(RoleKind::Implementer), Some(Outcome::Ok)) => {
            format!("opened pull request #{pull} for {on} {title:?}: {reason}")
        }
        (Some(RoleKind::Reviewer), Some(Outcome::Ok)) => verdict(&on, row),
        (Some(RoleKind::Fixer), Some(Outcome::Ok)) => format!("mended {on}: {}", said(row)),
        (Some(RoleKind::Merger), Some(Outcome::Ok)) => {
            let of = issue_of(row.work, crew);
            of.map_or_else(
                || format!("merged {on}"),
                |of| format!("merged {on} for {of}"),
            )
        }
        (_, outcome) => {
            let outcome = outcome.map(|outcome| outcome.to_string());
            format!("{on}: {} ({reason})", outcome.unwrap_or_default())
        }
    }
}

/// The titles of the issues that a plan asks for.
fn proposed(effects: &[EffectRow]) -> Vec<String> {
    let all = effects.iter().filter_map(|row| match &row.effect {
        Effect::FileIssue { title, .. } => Some(format!("{:?}", title.as_str())),
        _ => None,
    });
    all.collect()
}

/// The numbers of those that the forge has.
fn filed(effects: &[EffectRow]) -> Vec<u64> {
    let all = effects.iter().filter(|row| {
        matches!(row.effect, Effect::FileIssue { .. }) && row.state == EffectState::Done
    });
    let said = all.filter_map(|row| row.said.as_deref()?.strip_prefix('#'));
    said.filter_map(|number| number.parse().ok()).collect()
}

/// What a review says: the verdict, and its text.
fn verdict(on: &str, row: &Firing) -> String {
    let declared = row.facts.as_ref().map(|facts| &facts.declared.effects[..]);
    let mut declared = declared.unwrap_or_default().iter();
    let found = declared.find_map(|effect| match effect {
        Effect::Review { ship, body, .. } => Some((*ship, body.as_str().trim())),
        _ => None,
    });
    match found {
        Some((true, body)) => format!("said yes to {on}: {body}"),
        Some((false, body)) => format!("said no to {on}: {body}"),
        None => format!("reviewed {on}"),
    }
}

/// What the session of a firing said last.
fn said(row: &Firing) -> &str {
    match row.facts.as_ref().and_then(|facts| facts.sentinel.as_ref()) {
        Some(Sentinel::Ok(said)) => said,
        _ => row.reason.as_deref().unwrap_or_default(),
    }
}

/// The issue of which a pull request is.
fn issue_of(pull: Option<WorkKey>, crew: &[Firing]) -> Option<String> {
    let pull = pull?.number();
    let mut rows = crew.iter().filter(|row| row.pr_number == pull);
    let issue = rows.find_map(|row| row.work.filter(|work| matches!(work, WorkKey::Issue(_))));
    issue.map(WorkKey::reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_when_all_that_was_filed_is_done() {
        let mut story = Story {
            planned: 1,
            ..Story::default()
        };
        let unfinished = "It is not all done: --seconds gives it more time.";
        assert_eq!(story.end(), unfinished, "nothing was filed");
        story.filed = vec![2, 3];
        story.done = vec![3];
        assert_eq!(story.end(), unfinished);
        story.done = vec![2, 3];
        assert_eq!(
            story.end(),
            "Done: #2 and #3. `carson prune` closes #1, or the daemon within the hour."
        );
    }
}

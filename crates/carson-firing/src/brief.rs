//! What the fleet did since some time, for its owner: of the rows alone, so that it is told also when no
//! forge answers.

use std::collections::BTreeMap;

use carson_core::text::{counted, instant};
use carson_core::work::WorkKey;
use carson_core::{Effect, Outcome, RoleName};
use carson_home::Home;
use carson_store::{EffectRow, EffectState, Filter, Firing as Row, StoreError};
use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::forge_text::one_line;

/// Firings that are looked at, the newest.
const ROWS: u32 = 2_000;
/// Lines of one section.
const LINES: usize = 10;

/// What the fleet did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Brief {
    /// Since when.
    pub since: DateTime<Utc>,
    /// Until when.
    pub until: DateTime<Utc>,
    /// What waits for a person.
    pub needs_you: Vec<String>,
    /// Pull requests that are ready to be read.
    pub ready: Vec<String>,
    /// What was merged.
    pub merged: Vec<String>,
    /// What ended otherwise, by role.
    pub unfinished: Vec<String>,
    /// The sums.
    pub sums: Sums,
}

/// How much it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sums {
    /// Firings that did something.
    pub firings: u64,
    /// Firings that found nothing to do.
    pub silent: u64,
    /// Slots that were skipped.
    pub skipped: u64,
    /// Issues that were filed.
    pub filed: u64,
    /// Reviews that were given.
    pub reviews: u64,
    /// Money, as far as it is known.
    pub cost_usd: f64,
}

impl Brief {
    /// What happened since then, and what waits now.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn since(home: &Home, since: DateTime<Utc>) -> Result<Self, StoreError> {
        let filter = Filter {
            role: None,
            since: Some(since),
            skipped: true,
            limit: ROWS,
        };
        let rows = home.store.firings(&filter).await?;
        let mut brief = Self {
            since,
            until: home.clock.now(),
            needs_you: waiting(home).await?,
            ready: Vec::new(),
            merged: Vec::new(),
            unfinished: Vec::new(),
            sums: Sums::default(),
        };
        let mut bad: BTreeMap<&RoleName, Vec<&Row>> = BTreeMap::new();
        // The oldest first.
        for row in rows.iter().rev() {
            let Some(outcome) = row.outcome else { continue };
            brief.sums.cost_usd += row.cost_usd.unwrap_or_default();
            match outcome {
                Outcome::Skipped => brief.sums.skipped += 1,
                Outcome::Silent => brief.sums.silent += 1,
                Outcome::Ok | Outcome::AlreadyDone => {
                    brief.add(row, &home.store.effects(row.id).await?);
                }
                Outcome::Blocked => {
                    brief.sums.firings += 1;
                    let why = one_line(row.reason.as_deref().unwrap_or_default());
                    brief.needs_you.push(format!("{}: {why}", of(row)));
                }
                _ => {
                    brief.sums.firings += 1;
                    bad.entry(&row.role).or_default().push(row);
                }
            }
        }
        brief.unfinished = bad
            .iter()
            .filter_map(|(role, rows)| ends(role, rows))
            .collect();
        Ok(brief)
    }

    fn add(&mut self, row: &Row, effects: &[EffectRow]) {
        self.sums.firings += 1;
        for one in effects.iter().filter(|one| one.state == EffectState::Done) {
            match &one.effect {
                Effect::OpenPull { draft: false, .. } | Effect::JoinPull { .. } => {
                    let number = row.pr_number.unwrap_or_default();
                    let line = format!("pull request #{number}, {}", of(row));
                    self.ready.push(line);
                }
                Effect::MergePull { pull, .. } => {
                    let title = one_line(row.title.as_deref().unwrap_or_default());
                    let repo = row.repo.as_ref().map_or("", |repo| repo.as_str());
                    self.merged
                        .push(format!("pull request #{pull} of {repo}, {title:?}"));
                }
                Effect::FileIssue { .. } => self.sums.filed += 1,
                Effect::Review { .. } => self.sums.reviews += 1,
                Effect::HandOver { number, .. } => {
                    self.needs_you
                        .push(format!("#{number} was given to people ({})", row.role));
                }
                _ => {}
            }
        }
    }

    /// Whether nothing happened, and nothing waits.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.sums.firings == 0 && self.needs_you.is_empty()
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let sections = [
            ("Needs you:", &self.needs_you),
            ("Ready to read:", &self.ready),
            ("Merged:", &self.merged),
            ("Not finished:", &self.unfinished),
        ];
        let mut text = String::new();
        for (title, lines) in sections {
            if lines.is_empty() {
                continue;
            }
            text.push_str(title);
            for line in lines.iter().take(LINES) {
                text.push_str(&format!("\n• {line}"));
            }
            if lines.len() > LINES {
                text.push_str(&format!("\n• and {} more", lines.len() - LINES));
            }
            text.push_str("\n\n");
        }
        text.push_str(&format!(
            "Since {}: {}",
            instant(self.since),
            self.sums.words()
        ));
        text
    }
}

impl Sums {
    /// In one line.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = vec![counted(self.firings, "firing")];
        let more = [
            (self.filed, "new issue"),
            (self.reviews, "review"),
            (self.skipped, "skipped slot"),
        ];
        let more = more.into_iter().filter(|(count, _)| *count > 0);
        words.extend(more.map(|(count, noun)| counted(count, noun)));
        if self.silent > 0 {
            words.push(format!("{} found nothing to do", self.silent));
        }
        if self.cost_usd > 0.0 {
            words.push(format!("{:.2} USD", self.cost_usd));
        }
        words.join(", ")
    }
}

/// Whose work it was.
fn of(row: &Row) -> String {
    let repo = row.repo.as_ref().map_or("", |repo| repo.as_str());
    let title = one_line(row.title.as_deref().unwrap_or_default());
    match row.work {
        Some(WorkKey::Issue(number)) => format!("{} on {repo}#{number} {title:?}", row.role),
        Some(WorkKey::Pull(number)) => {
            format!("{} on pull request #{number} of {repo} {title:?}", row.role)
        }
        _ => format!("{} in {repo}", row.role),
    }
}

/// How often, and how the last one.
fn ends(role: &RoleName, rows: &[&Row]) -> Option<String> {
    let last = rows.last()?;
    let outcome = last.outcome?;
    let why = one_line(last.reason.as_deref().unwrap_or_default());
    let count = match rows.len() {
        1 => String::new(),
        all => format!("{all} firings, the last one "),
    };
    Some(format!(
        "{role}: {count}{outcome}: {why} (carson show {})",
        last.id.short()
    ))
}

/// What stands now and that only a person ends.
async fn waiting(home: &Home) -> Result<Vec<String>, StoreError> {
    let mut lines = Vec::new();
    for repo in home.fleet.repos.values() {
        for row in home.store.owing_in(&repo.name).await? {
            for one in home.store.effects(row.id).await? {
                let (Effect::AwaitApproval { issue, .. }, EffectState::Owed) =
                    (&one.effect, one.state)
                else {
                    continue;
                };
                lines.push(format!(
                    "a plan waits for you on #{issue} of {0} (carson approve {issue} --repo {0})",
                    repo.name
                ));
            }
        }
    }
    for row in home.store.breakers().await? {
        if row.breaker.is_open() {
            lines.push(format!(
                "the breaker of {0} is open (carson breaker reset {0})",
                row.role
            ));
        }
    }
    for block in home.store.blocks().await? {
        if block.until.is_none() {
            let account = &block.account;
            lines.push(format!(
                "account {account} is blocked until you clear it (carson block clear {account})"
            ));
        }
    }
    Ok(lines)
}

//! What the fleet did since some time, and what waits for its owner: by the rows, and by what the forges say of
//! it now. What no forge answers is told as the rows have it.

use std::collections::BTreeMap;

use carson_config::Repo;
use carson_core::admission::Spent;
use carson_core::text::{counted, instant};
use carson_core::{Effect, Outcome, RepoName};
use carson_forge::PullState;
use carson_home::Home;
use carson_store::{EffectRow, EffectState, Firing as Row, StoreError};
use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::forge_text::one_line;
use crate::needs_person::{Needs, of};
use crate::standing::NO_DAEMON;

/// Firings that did something, the newest of which are looked at.
const ROWS: u32 = 5_000;
/// Lines of one section.
const LINES: usize = 10;
/// Pull requests whose end is asked for.
const ASKED: usize = 30;

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
    /// What ended otherwise and was not done since, by piece of work.
    pub unfinished: Vec<String>,
    /// The sums.
    pub sums: Sums,
}

/// How much it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sums {
    /// Firings that did something.
    pub firings: u32,
    /// Firings that found nothing to do.
    pub silent: u32,
    /// Slots that were skipped.
    pub skipped: u32,
    /// Issues that were filed.
    pub filed: u32,
    /// Reviews that were given.
    pub reviews: u32,
    /// Money, as far as it is known.
    pub cost_usd: f64,
    /// Whether part of it was priced from tokens.
    pub cost_estimated: bool,
}

impl Brief {
    /// What happened since then, and what waits now.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn since(home: &Home, since: DateTime<Utc>) -> Result<Self, StoreError> {
        let rows = home.store.busy_since(since, ROWS).await?;
        let (silent, skipped, spent) = home.store.quiet_since(since).await?;
        let mut brief = Self {
            since,
            until: home.clock.now(),
            needs_you: Vec::new(),
            ready: Vec::new(),
            merged: Vec::new(),
            unfinished: Vec::new(),
            sums: Sums {
                silent,
                skipped,
                cost_usd: spent.usd,
                cost_estimated: spent.estimated,
                ..Sums::default()
            },
        };
        let mut pulls = BTreeMap::new();
        let mut pieces: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
        // The oldest first.
        for row in rows.iter().rev() {
            let Some(outcome) = row.outcome else { continue };
            brief.sums.firings += 1;
            if is_done(outcome) {
                brief.add(row, &home.store.effects(row.id).await?, &mut pulls);
            }
            let piece = (&row.role, &row.repo, row.work);
            pieces.entry(piece).or_default().push(row);
        }
        let newest = |outcome: Outcome| {
            let all = pieces.values().filter_map(|rows| rows.last().copied());
            all.filter(move |row| row.outcome == Some(outcome))
        };
        let blocked: Vec<&Row> = newest(Outcome::Blocked).collect();
        let needs = Needs::now(home, &blocked).await?;
        pulls.retain(|place, _| !needs.pulls.contains(place));
        brief.needs_you = needs.lines;
        brief.ends(home, pulls).await;
        brief.unfinished = pieces.values().filter_map(|rows| ends(rows)).collect();
        Ok(brief)
    }

    /// What became of pull requests that were opened, joined or merged; of the newest first.
    async fn ends(&mut self, home: &Home, pulls: Pulls) {
        let older = pulls.len().saturating_sub(ASKED);
        for ((name, number), what) in pulls.into_iter().rev().take(ASKED) {
            let state = match home.fleet.repos.get(&name) {
                Some(repo) => state(home, repo, number).await,
                None => None,
            };
            let line = format!("pull request #{number} of {name}, {what}");
            match state {
                Some(PullState::Merged) => self.merged.push(line),
                Some(PullState::Closed) => {}
                Some(PullState::Open) | None => self.ready.push(line),
            }
        }
        if older > 0 {
            let older = u64::try_from(older).unwrap_or(u64::MAX);
            let told = counted(older, "older pull request");
            self.ready
                .push(format!("{told}, which nobody looked at (carson outcomes)"));
        }
    }

    fn add(&mut self, row: &Row, effects: &[EffectRow], pulls: &mut Pulls) {
        for one in effects.iter().filter(|one| one.state == EffectState::Done) {
            match &one.effect {
                Effect::OpenPull { draft: false, .. } | Effect::JoinPull { .. } => {
                    note(pulls, row, row.pr_number.unwrap_or_default());
                }
                Effect::MergePull { pull, .. } => note(pulls, row, *pull),
                Effect::FileIssue { .. } => self.sums.filed += 1,
                Effect::Review { .. } => self.sums.reviews += 1,
                _ => {}
            }
        }
    }

    /// Whether nothing happened, and nothing waits. Who tells it without a daemon, by hand, knows that
    /// there is none.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let mut waits = self.needs_you.iter();
        self.sums.firings == 0 && waits.all(|line| line == NO_DAEMON)
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
            let spent = Spent {
                usd: self.cost_usd,
                estimated: self.cost_estimated,
            };
            words.push(spent.to_string());
        }
        words.join(", ")
    }
}

/// Pull requests by their place, and what each is about.
type Pulls = BTreeMap<(RepoName, u64), String>;

fn note(pulls: &mut Pulls, row: &Row, number: u64) {
    let Some(repo) = row.repo.clone() else { return };
    let title = one_line(row.title.as_deref().unwrap_or_default());
    pulls.entry((repo, number)).or_insert(format!("{title:?}"));
}

/// Where a pull request stands; nobody knows when its forge does not answer.
async fn state(home: &Home, repo: &Repo, number: u64) -> Option<PullState> {
    let forge = home.forge(repo).await.ok()?;
    Some(forge.pull(number).await.ok()?.state)
}

/// Whether nothing is left of it.
fn is_done(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Ok | Outcome::AlreadyDone)
}

/// One piece of work that did not come to its end, and is in nobody's hands: how often it was tried since it
/// last did, and how the last one ended.
fn ends(rows: &[&Row]) -> Option<String> {
    let last = rows.last()?;
    let outcome = last.outcome?;
    if is_done(outcome) || outcome == Outcome::Blocked {
        return None;
    }
    let tried = rows.iter().rev().map_while(|row| row.outcome);
    let tried = tried.take_while(|outcome| !is_done(*outcome)).count();
    let count = match tried {
        1 => String::new(),
        all => format!("{all} firings, the last one "),
    };
    let draft = last.pr_number.map(|number| format!("; draft #{number}"));
    Some(format!(
        "{}: {count}{outcome}: {}{} (carson show {})",
        of(last),
        one_line(last.reason.as_deref().unwrap_or_default()),
        draft.unwrap_or_default(),
        last.id.short()
    ))
}

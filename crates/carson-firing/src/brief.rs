//! What the fleet did since some time, and what waits for its owner: by the rows, and by what the forges say of
//! it now. What no forge answers is told as the rows have it.

use std::collections::{BTreeMap, BTreeSet};

use carson_config::{Repo, RoleKind};
use carson_core::admission::Spent;
use carson_core::text::{counted, instant};
use carson_core::work::WorkKey;
use carson_core::{Effect, Outcome, RepoName, RoleName};
use carson_forge::{Forge, NEEDS_HUMAN, PullState};
use carson_home::Home;
use carson_store::{EffectRow, EffectState, Firing as Row, StoreError};
use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::forge_text::one_line;
use crate::review_queue::FLEET;
use crate::roles::command::topic;

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
    /// What ended otherwise, by role.
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
            needs_you: waiting(home).await?,
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
        let mut bad: BTreeMap<&RoleName, Vec<&Row>> = BTreeMap::new();
        // The oldest first.
        for row in rows.iter().rev() {
            let Some(outcome) = row.outcome else { continue };
            match outcome {
                Outcome::Ok | Outcome::AlreadyDone => {
                    brief.add(row, &home.store.effects(row.id).await?, &mut pulls);
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
        brief.ends(home, pulls).await;
        brief.unfinished = bad
            .iter()
            .filter_map(|(role, rows)| ends(role, rows))
            .collect();
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
        self.sums.firings += 1;
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
    for repo in home.fleet.repos.values() {
        if let Ok(forge) = home.forge(repo).await {
            lines.extend(given(home, repo, &forge).await);
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

/// What the forge says is for people now: what a command found, issues that the fleet gave up, and pull requests
/// that it may not mend any more.
async fn given(home: &Home, repo: &Repo, forge: &Forge) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut lines = Vec::new();
    let name = &repo.name;
    for role in home.fleet.roles.values() {
        if role.kind != RoleKind::Command || !role.repos.contains(name) {
            continue;
        }
        if let Ok(Some(issue)) = forge.open_issue_about(&topic(&role.name)).await {
            seen.insert(issue.number);
            let title = one_line(&issue.title);
            lines.push(format!("{name}#{} {title:?}", issue.number));
        }
    }
    let issues = forge.issues(Some(NEEDS_HUMAN)).await;
    for issue in issues.map(|all| all.found).unwrap_or_default() {
        if seen.insert(issue.number) {
            let title = one_line(&issue.title);
            let line = format!("{name}#{} {title:?} carries {NEEDS_HUMAN}", issue.number);
            lines.push(line);
        }
    }
    for pull in forge.open_pulls_of(FLEET).await.unwrap_or_default() {
        let is_given = pull.labels.iter().any(|label| label == NEEDS_HUMAN);
        if is_given && seen.insert(pull.number) {
            let title = one_line(&pull.title);
            lines.push(format!(
                "pull request #{} of {name} {title:?} carries {NEEDS_HUMAN}",
                pull.number
            ));
        }
    }
    lines
}

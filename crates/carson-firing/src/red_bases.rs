//! Merges of the fleet that turned their base red.
//!
//! What a merger merged is looked at for a day: once the checks of the commit that it made have ended, and some
//! failed that did not fail on the commit before, that is told once, on the pull request and in the chat. Where
//! the repository asks for it, a pull request takes the merge back, without a model. The row of the firing that
//! merged says that it opened that one: so it is the fleet's, there once, and none for a pull request that takes
//! something back itself. Nothing is noted of a merge that is well: it is asked about until its day is over.

use carson_config::Repo;
use carson_core::outcome::Severity;
use carson_core::{Effect, Event, Page, untrusted};
use carson_forge::{CheckRun, Conclusion, Forge, NewPull, Pull};
use carson_git::{Oid, TakenBack};
use carson_home::{Home, Word};
use carson_store::{EffectState, Firing as Row, StoreError};
use chrono::{DateTime, TimeDelta, Utc};
use tracing::{info, warn};

use crate::ended_pulls::PullError;
use crate::roles::pulls::or_none;
use crate::turn::Turns;
use crate::way_back::{BRANCHES, commit, landed};

/// How long after its firing began a merge is looked at.
const FOR: TimeDelta = TimeDelta::hours(24);
/// Merges that one pass looks at, the newest first.
const MOST: usize = 20;
/// How long a check may take that has not ended; then the others are judged.
const PATIENCE: TimeDelta = TimeDelta::hours(2);
/// Checks that are named.
const NAMED: usize = 10;
/// Letters of the name of one.
const SHOWN: usize = 100;

/// Looks at every merge of this host's firings; how many were told or taken back now.
///
/// # Errors
/// When the store does not answer. A forge or a remote that does not is logged.
pub async fn sweep(home: &Home) -> Result<u32, StoreError> {
    let Some(_turn) = Turns::Merges.soon(home).await else {
        return Ok(0);
    };
    let (host, since) = (&home.fleet.host, home.clock.now() - FOR);
    let merged = home.store.firings_that_merged(host, since).await?;
    let mut done = 0;
    for row in merged.into_iter().take(MOST) {
        match look(home, &row).await {
            Ok(anything) => done += u32::from(anything),
            Err(PullError::Store(error)) => return Err(error),
            Err(error) => {
                warn!(firing.id = %row.id, %error, "what it merged cannot be looked at");
            }
        }
    }
    Ok(done)
}

/// Whether anything was told or taken back now.
async fn look(home: &Home, row: &Row) -> Result<bool, PullError> {
    let name = row.repo.as_ref();
    let Some(repo) = name.and_then(|name| home.fleet.repos.get(name)) else {
        return Ok(false);
    };
    let is_told = is_told(home, row).await?;
    if is_told && (!repo.revert || row.pr_number.is_some()) {
        return Ok(false);
    }
    let Some((number, head)) = merged_by(home, row).await? else {
        return Ok(false);
    };
    let forge = home.forge(repo).await?;
    let fate = forge.fate(number).await?;
    let Some(landed) = landed(home, repo, (&fate, &head)).await? else {
        return Ok(false);
    };
    let merge = MergeDone {
        home,
        row,
        repo,
        forge: &forge,
        landed,
        at: fate.ended_at.unwrap_or(row.claimed_at),
    };
    let red = merge.turned_red().await?;
    if red.is_empty() {
        return Ok(false);
    }
    let pull = forge.pull(number).await?;
    if !is_told {
        merge.tell(&pull, &red).await?;
    }
    let is_back = repo.revert && merge.revert(&pull, &red).await?;
    Ok(!is_told || is_back)
}

async fn is_told(home: &Home, row: &Row) -> Result<bool, StoreError> {
    let events = home.store.events_of(row.id).await?;
    let kind = |event: &carson_store::EventRow| event.kind == "base.turned-red";
    Ok(events.iter().any(kind))
}

/// The pull request that a firing merged, and the commit of it that was meant.
async fn merged_by(home: &Home, row: &Row) -> Result<Option<(u64, String)>, StoreError> {
    let effects = home.store.effects(row.id).await?;
    let mut done = effects
        .into_iter()
        .filter(|one| one.state == EffectState::Done);
    Ok(done.find_map(|one| match one.effect {
        Effect::MergePull { pull, head } => Some((pull, head)),
        _ => None,
    }))
}

/// A merge, and the commit that it made.
struct MergeDone<'a> {
    home: &'a Home,
    row: &'a Row,
    repo: &'a Repo,
    forge: &'a Forge,
    landed: Oid,
    at: DateTime<Utc>,
}

impl MergeDone<'_> {
    /// The checks that failed on its commit and not on the one before; none while some have not ended.
    async fn turned_red(&self) -> Result<Vec<CheckRun>, PullError> {
        let mut red = self.checks(&self.landed).await?;
        let is_late = self.home.clock.now() - self.at >= PATIENCE;
        if !is_late && red.iter().any(runs) {
            return Ok(Vec::new());
        }
        red.retain(is_red);
        if red.is_empty() {
            return Ok(red);
        }
        let mirror = self.home.mirror(self.repo);
        mirror.refresh().await?;
        if let Some(before) = mirror.commit_before(&self.landed).await? {
            let before = self.checks(&before).await?;
            if !is_late && before.iter().any(runs) {
                return Ok(Vec::new());
            }
            red.retain(|one| !before.iter().any(|was| was.name == one.name && is_red(was)));
        }
        Ok(red)
    }

    async fn checks(&self, commit: &Oid) -> Result<Vec<CheckRun>, PullError> {
        Ok(or_none(self.forge.checks(commit.as_str()).await)?)
    }

    /// In this order, each of which is there once: who dies in between goes on with the next.
    async fn tell(&self, pull: &Pull, red: &[CheckRun]) -> Result<(), PullError> {
        let (home, row, checks) = (self.home, self.row, names(red));
        let said = Page::from("This merge turned ")
            .names(&pull.base)
            .says(" red. Of its commit ")
            .names(&self.landed)
            .says(" these checks failed, which did not fail on the commit before it: ")
            .quotes(&checks);
        let key = format!("{}-red", row.id);
        let forge = self.forge;
        forge.comment_once(pull.number, &key, said.as_str()).await?;
        let title = format!("#{} turned {} red", pull.number, pull.base);
        let next = match self.repo.revert {
            true => "A pull request that takes it back follows, where that can be made.".to_owned(),
            false => format!("Mend it, or take {} back.", self.landed),
        };
        let text = format!("{}\nFailed: {checks}\n{next}", pull.url);
        let word = Word {
            severity: Severity::Error,
            title: &title,
            text: &text,
            role: Some(&row.role),
        };
        home.file_word_once(&word, row.id).await?;
        let event = Event::BaseTurnedRed {
            repo: self.repo.name.clone(),
            pull: pull.number,
            checks,
        };
        let now = home.clock.now();
        home.store.event_once(&event, row.id, now, None).await?;
        info!(firing.id = %row.id, pull.number = pull.number, "a merge turned its base red");
        Ok(())
    }

    /// Opens the pull request that takes it back; whether it was opened now.
    async fn revert(&self, pull: &Pull, red: &[CheckRun]) -> Result<bool, PullError> {
        let (home, row, forge) = (self.home, self.row, self.forge);
        if row.pr_number.is_some() || pull.head.starts_with(BRANCHES) {
            return Ok(false);
        }
        let Some(commit) = self.commit(pull, red).await? else {
            return Ok(false);
        };
        let branch = format!("{BRANCHES}{}", pull.number);
        let kept = home.mirror(self.repo).kept();
        kept.push(&branch, &commit, &self.repo.protected).await?;
        let new = NewPull {
            title: Page::from("Revert \"").title(&pull.title).says("\""),
            body: self.body(pull, red),
            head: branch,
            base: pull.base.clone(),
            draft: false,
            labels: Vec::new(),
        };
        // People may have closed or merged it since: they are not asked twice.
        let opened = match forge.pull_by_head(&new.head).await? {
            Some(known) => known,
            None => forge.create_pull(&new).await?,
        };
        home.store
            .as_firing(row.id, row.epoch)
            .set_pull(opened.number, &opened.url)
            .await?;
        info!(firing.id = %row.id, pull.number = opened.number, "a merge is to be taken back");
        Ok(true)
    }

    /// The commit that takes it back, unless nobody needs one.
    async fn commit(&self, pull: &Pull, red: &[CheckRun]) -> Result<Option<Oid>, PullError> {
        if self.row.pushed_sha.is_none() {
            let base = self.home.mirror(self.repo).resolve(&pull.base).await?;
            if self.is_mended(red, &base).await? {
                return Ok(None);
            }
        }
        match commit(self.home, self.repo, (self.row, &self.landed, pull)).await? {
            TakenBack::By(commit) => Ok(Some(commit)),
            TakenBack::Already => Ok(None),
            TakenBack::Conflicts => {
                let said = Page::from(
                    "This cannot be taken back by itself: what came into the base since changed the same \
                     lines. It needs a person.",
                );
                let key = format!("{}-not-back", self.row.id);
                let forge = self.forge;
                forge.comment_once(pull.number, &key, said.as_str()).await?;
                Ok(None)
            }
        }
    }

    /// Whether the base passes by now what failed on its commit.
    async fn is_mended(&self, red: &[CheckRun], base: &Oid) -> Result<bool, PullError> {
        if *base == self.landed {
            return Ok(false);
        }
        let now = self.checks(base).await?;
        let passes = |one: &CheckRun| {
            let passed = Some(Conclusion::Passed);
            now.iter()
                .any(|is| is.name == one.name && is.conclusion == passed)
        };
        Ok(red.iter().all(passes))
    }

    fn body(&self, pull: &Pull, red: &[CheckRun]) -> Page {
        Page::from("Reverts #")
            .names(pull.number)
            .says("\n\nThis reverts commit ")
            .names(&self.landed)
            .says(".\n\nThat merge turned ")
            .names(&pull.base)
            .says(" red. Checks that failed on its commit, and not on the one before: ")
            .quotes(&names(red))
            .says("\n\n- role: ")
            .names(&self.row.role)
            .says("\n- firing: ")
            .names(self.row.id)
            .says("\n\nNo model wrote it, and no check was run on it here.\n")
    }
}

fn runs(check: &CheckRun) -> bool {
    check.conclusion.is_none()
}

/// One that somebody ended, or that waits for a person, says nothing of the commit.
fn is_red(check: &CheckRun) -> bool {
    matches!(
        check.conclusion,
        Some(Conclusion::Failed | Conclusion::TimedOut)
    )
}

/// As programs of the repository call themselves.
fn names(red: &[CheckRun]) -> String {
    let first = red.iter().take(NAMED);
    let mut all: Vec<String> = first
        .map(|one| untrusted::one_line(&one.name, SHOWN))
        .collect();
    if let Some(more) = red.len().checked_sub(NAMED).filter(|more| *more > 0) {
        all.push(format!("{more} more"));
    }
    all.join(", ")
}

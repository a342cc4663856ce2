//! How each pull request ended: what is noted in the store, else what its forge says, once; of what was
//! merged the rest is git's, read in our own clone of the repository.

use std::collections::{BTreeMap, BTreeSet};

use carson_config::Repo;
use carson_core::RepoName;
use carson_core::pull_end::{PullEnd, TakenBackAs};
use carson_forge::{Fate, PullState};
use carson_git::{GitError, Mirror, Offered, Oid, Worded};
use carson_home::Home;
use carson_store::{PullEndRow, StoreError};
use chrono::DateTime;

use super::Untold;
use super::opened::Opened;

/// What could be found out, and what not.
#[derive(Default)]
pub(super) struct Told {
    pub ends: BTreeMap<(RepoName, u64), PullEndRow>,
    pub untold: Vec<Untold>,
}

/// What the forge said of a pull request, and is not noted yet.
struct Fresh<'o> {
    opened: &'o Opened,
    fate: Fate,
}

/// Finds out how these pull requests ended. What ended for good is noted, and never asked again.
///
/// # Errors
/// When the store does not answer. A forge or a remote that does not is told.
pub(super) async fn find(home: &Home, opened: &[Opened]) -> Result<Told, StoreError> {
    let mut repos: BTreeMap<&RepoName, Vec<&Opened>> = BTreeMap::new();
    for one in opened {
        repos.entry(&one.repo).or_default().push(one);
    }
    let mut told = Told::default();
    for (name, pulls) in repos {
        of_repo(home, name, pulls, &mut told).await?;
    }
    Ok(told)
}

async fn of_repo(
    home: &Home,
    name: &RepoName,
    pulls: Vec<&Opened>,
    told: &mut Told,
) -> Result<(), StoreError> {
    let (mut rows, mut to_ask) = (Vec::new(), Vec::new());
    for one in pulls {
        match home.store.pull_end(name, one.number).await? {
            Some(row) => rows.push(row),
            None => to_ask.push(one),
        }
    }
    if let Some(repo) = home.fleet.repos.get(name) {
        let fresh = ask(home, repo, &to_ask, told).await;
        look(home, repo, (&mut rows, fresh), told).await?;
    } else if !to_ask.is_empty() {
        let why = "there is no such repository in the settings any more";
        told.misses(name, &to_ask, why.to_owned());
    }
    told.ends.extend(
        rows.into_iter()
            .map(|row| ((name.clone(), row.number), row)),
    );
    Ok(())
}

/// Asks the forge of each, the newest first. One that does not answer is not asked again.
async fn ask<'o>(
    home: &Home,
    repo: &Repo,
    pulls: &[&'o Opened],
    told: &mut Told,
) -> Vec<Fresh<'o>> {
    let mut fresh = Vec::new();
    if pulls.is_empty() {
        return fresh;
    }
    let forge = match home.forge(repo).await {
        Ok(forge) => forge,
        Err(error) => {
            told.misses(&repo.name, pulls, error.to_string());
            return fresh;
        }
    };
    for (at, opened) in pulls.iter().enumerate() {
        match forge.fate(opened.number).await {
            Ok(fate) => fresh.push(Fresh { opened, fate }),
            Err(error) if error.is_of_one() => {
                told.misses(&repo.name, &[opened], error.to_string());
            }
            Err(error) => {
                told.misses(&repo.name, &pulls[at..], error.to_string());
                break;
            }
        }
    }
    fresh
}

/// Adds what is fresh, and looks in the base for what takes back one that was merged lately.
async fn look(
    home: &Home,
    repo: &Repo,
    (rows, fresh): (&mut Vec<PullEndRow>, Vec<Fresh<'_>>),
    told: &mut Told,
) -> Result<(), StoreError> {
    let is_merged = |one: &Fresh<'_>| one.fate.state == PullState::Merged;
    let (merged, others): (Vec<_>, Vec<_>) = fresh.into_iter().partition(is_merged);
    let mut watched: Vec<PullEndRow> = rows.extract_if(.., |row| !row.is_for_good()).collect();
    let known: BTreeSet<u64> = watched.iter().map(|row| row.number).collect();
    watched.extend(merged.iter().map(Fresh::row));
    for row in others.iter().map(Fresh::row) {
        if row.end == PullEnd::Closed {
            home.store.note_pull_end(&row).await?;
        }
        rows.push(row);
    }
    if watched.is_empty() {
        return Ok(());
    }
    let looked = in_the_base(&home.mirror(repo), repo, (&mut watched, &merged)).await;
    if let Err(error) = looked {
        let why =
            format!("its repository, which says what was taken back, cannot be read: {error}");
        told.untold.push(Untold {
            repo: repo.name.clone(),
            pulls: watched.iter().map(|row| row.number).collect(),
            why,
        });
    } else {
        let now = home.clock.now();
        for row in &mut watched {
            row.looked_at = now;
            if !known.contains(&row.number) || row.is_for_good() {
                home.store.note_pull_end(row).await?;
            }
        }
    }
    rows.append(&mut watched);
    Ok(())
}

/// What git knows of merges: as what each came into its base, and what takes it back there.
async fn in_the_base(
    mirror: &Mirror,
    repo: &Repo,
    (rows, fresh): (&mut Vec<PullEndRow>, &[Fresh<'_>]),
) -> Result<(), GitError> {
    mirror.refresh().await?;
    for one in fresh {
        if let Some(row) = rows.iter_mut().find(|row| row.number == one.opened.number) {
            one.landed(mirror, row).await?;
        }
    }
    let bases: BTreeSet<String> = rows.iter().map(|row| row.base.clone()).collect();
    for base in bases {
        let own = rows.iter_mut().filter(|row| row.base == base);
        let mut own: Vec<&mut PullEndRow> = own.collect();
        let since = own.iter().map(|row| row.opened_at.timestamp()).min();
        let said = mirror.taking_back(&base, since.unwrap_or_default()).await?;
        for row in &mut own {
            take_back(row, &repo.slug, &said);
        }
    }
    Ok(())
}

fn take_back(row: &mut PullEndRow, slug: &str, said: &[Worded]) {
    let taken_back_as = TakenBackAs {
        number: row.number,
        slug,
        commits: [row.landed.as_deref(), row.offered.as_deref()],
        merged_at: row.ended_at,
    };
    let takes_back = |one: &Worded| {
        let made_at = DateTime::from_timestamp(one.made_at, 0);
        made_at.is_some_and(|at| taken_back_as.says(&one.message, at))
    };
    if said.iter().any(takes_back) {
        row.end = PullEnd::Reverted;
    }
}

impl Told {
    fn misses(&mut self, repo: &RepoName, pulls: &[&Opened], why: String) {
        self.untold.push(Untold {
            repo: repo.clone(),
            pulls: pulls.iter().map(|one| one.number).collect(),
            why,
        });
    }
}

impl Fresh<'_> {
    fn pushed(&self) -> Option<&str> {
        self.opened.last.pushed_sha.as_deref()
    }

    /// As the forge alone tells it.
    fn row(&self) -> PullEndRow {
        let fate = &self.fate;
        PullEndRow {
            repo: self.opened.repo.clone(),
            number: self.opened.number,
            end: match fate.state {
                PullState::Open => PullEnd::Pending,
                PullState::Closed => PullEnd::Closed,
                PullState::Merged => PullEnd::of_merge(fate.offered.as_deref(), self.pushed()),
            },
            base: fate.base.clone(),
            opened_at: fate.opened_at,
            ended_at: fate.ended_at,
            offered: fate.offered.clone(),
            landed: fate.landed.clone(),
            looked_at: fate.opened_at,
        }
    }

    /// What the forge did not tell of a merge, because the branches are git's alone.
    async fn landed(&self, mirror: &Mirror, row: &mut PullEndRow) -> Result<(), GitError> {
        let pushed = self.pushed().and_then(|sha| sha.parse::<Oid>().ok());
        let Some(pushed) = pushed.filter(|_| row.offered.is_none()) else {
            return Ok(());
        };
        let landed = mirror.landed(Offered {
            pushed: &pushed,
            branch: &self.fate.head,
            base: &self.fate.base,
        });
        let landed = landed.await?;
        row.offered = landed.offered.map(String::from);
        row.landed = landed.by.map(String::from);
        row.end = PullEnd::of_merge(row.offered.as_deref(), self.pushed());
        Ok(())
    }
}

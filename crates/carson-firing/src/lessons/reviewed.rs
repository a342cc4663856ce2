//! What reviewers say again and again of the fleet's pull requests becomes a candidate, once.

use std::collections::BTreeSet;

use carson_config::Repo;
use carson_core::lesson::{LessonId, LessonSource};
use carson_forge::{Forge, ForgeError};
use carson_home::Home;
use carson_memory::reviewed::{Remark, WITHIN, plain, reviewed};
use carson_memory::similar::{Likeness, likeness};
use carson_store::{LessonFilter, StoreError};
use tracing::warn;

use super::harvested::{ROWS, write_down};
use crate::roles::pulls::or_none;

/// Pull requests that one look reads, the newest: two questions of the forge each.
const PULLS: usize = 20;
/// Earlier candidates that a new one is held against, the newest.
const EARLIER: u32 = 500;

/// Writes down what is said of pull request after pull request, and is not there yet.
///
/// # Errors
/// When the store does not answer. A forge that does not is logged.
pub(super) async fn review(home: &Home) -> Result<Vec<LessonId>, StoreError> {
    let now = home.clock.now();
    let rows = home.store.busy_since(now - WITHIN, ROWS).await?;
    let mut pulls = BTreeSet::new();
    for row in rows {
        if let (Some(repo), Some(number)) = (row.repo, row.pr_number)
            && pulls.len() < PULLS
        {
            pulls.insert((repo, number));
        }
    }
    let mut remarks = Vec::new();
    for (name, repo) in &home.fleet.repos {
        let own = pulls.iter().filter(|(of, _)| of == name);
        let numbers: Vec<u64> = own.map(|(_, number)| *number).collect();
        // On a single one nothing comes again.
        if numbers.len() < 2 {
            continue;
        }
        match said(home, repo, &numbers).await {
            Ok(found) => remarks.extend(found),
            Err(why) => warn!(repo = %name, why, "what reviewers say there cannot be read"),
        }
    }
    let earlier = LessonFilter {
        source: Some(LessonSource::Review),
        ..LessonFilter::all(now, EARLIER)
    };
    let earlier = home.store.lessons(&earlier).await?;
    let mut made = Vec::new();
    for candidate in reviewed(&remarks, now) {
        let is_known = earlier.iter().any(|row| {
            row.lesson.repo == candidate.repo
                && likeness(&row.lesson.text, &candidate.text) == Likeness::Same
        });
        if !is_known {
            made.extend(write_down(home, candidate).await?);
        }
    }
    Ok(made)
}

async fn said(home: &Home, repo: &Repo, numbers: &[u64]) -> Result<Vec<Remark>, String> {
    let forge = home.forge(repo).await.map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for number in numbers {
        match remarks(&forge, repo, *number).await {
            Ok(found) => all.extend(found),
            // One that is not there, or cannot be read, keeps no other from being read.
            Err(error) if error.is_of_one() => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(all)
}

/// What people whom the repository trusts said of a pull request; what the fleet itself said is none of it.
pub(super) async fn remarks(
    forge: &Forge,
    repo: &Repo,
    number: u64,
) -> Result<Vec<Remark>, ForgeError> {
    let me = forge.me().await?.to_owned();
    let counts = |author: &str, association| {
        !author.eq_ignore_ascii_case(&me) && repo.trust.has(author, association)
    };
    let mut found = Vec::new();
    for thread in or_none(forge.review_threads(number).await)? {
        let own = thread.comments.into_iter();
        let own = own.filter(|one| counts(&one.author, one.association));
        found.extend(own.map(|one| (one.created_at, one.body)));
    }
    for review in or_none(forge.reviews(number).await)? {
        if let Some(at) = review.submitted_at
            && counts(&review.author, review.association)
        {
            found.push((at, review.body));
        }
    }
    let remark = |(at, text)| Remark {
        repo: repo.name.clone(),
        at,
        pull: number,
        text,
    };
    Ok(found.into_iter().map(remark).collect())
}

/// The same as text, for whoever looks whether a claim stands there.
pub(super) async fn as_text(forge: &Forge, repo: &Repo, number: u64) -> Result<String, ForgeError> {
    let said = remarks(forge, repo, number).await?;
    let said: Vec<String> = said.iter().map(|one| plain(&one.text)).collect();
    Ok(carson_memory::reviewed::claim(&repo.name, &said.join("\n")))
}

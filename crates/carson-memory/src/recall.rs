//! What is worth telling of a task: found by words and, where there is an embedder, by meaning.
//!
//! One call, one answer: whatever is wrong with the embedder or its vectors, what words find is the answer, and it says
//! why it is no more than that. Equal input has equal output.

mod by_words;
mod explained;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use carson_store::{LessonRow, Store, StoreError, Times};

use crate::fuse::{Ranking, fuse};
use crate::scopes::{Place, holds};
use crate::similar::{Likeness, likeness};
use crate::vectors::{Embedder, Vectors};
use crate::words;

pub use by_words::lessons_with;
pub use explained::{Left, Way};

/// How many are asked for unless somebody says otherwise.
pub const LIMIT: usize = 3;
/// How well one must fit, from 0 to 1.
pub const THRESHOLD: f64 = 0.25;
/// How many of each way of finding are looked at.
const POOL: usize = 60;
/// Words of a task that are looked for: the most telling ones.
const WORDS: usize = 24;
/// The cosine that says nothing, and the one that says everything.
const COSINES: (f64, f64) = (0.25, 0.75);

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The task.
    pub text: String,
    /// Where somebody works on it; lessons of every scope without.
    pub place: Option<Place>,
    /// Of when, by what was known when.
    pub times: Times,
    /// How many at most.
    pub limit: usize,
    /// How well they must fit.
    pub threshold: f64,
    /// Whether what was found and is not told is wanted too, and why it is not.
    pub explain: bool,
}

/// A lesson that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Match {
    /// It.
    pub row: LessonRow,
    /// How well it fits, by the better of the ways that found it.
    pub score: f64,
    /// Its place and fit among those that words found.
    pub by_words: Option<Way>,
    /// Its place and fit among those that are near in meaning.
    pub by_meaning: Option<Way>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The lessons, the best first.
    pub matches: Vec<Match>,
    /// Whether meaning had a say.
    pub fused: bool,
    /// Why it had none, where it should have.
    pub fell_back: Option<String>,
    /// What was found and is not told, and why; where that was wanted.
    pub left: Vec<Left>,
}

/// What knows the meaning of texts.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    embedder: Option<Embedder>,
    vectors: Vectors,
}

impl Meaning {
    /// With this embedder, and what the process keeps of its vectors.
    #[must_use]
    pub fn of(embedder: Option<Embedder>, vectors: Vectors) -> Self {
        Self { embedder, vectors }
    }

    /// The lessons that are near, or why nobody can say; `None` where there is no embedder.
    async fn near(&self, store: &Store, text: &str) -> Option<Result<Vec<(i64, f64)>, String>> {
        let embedder = self.embedder.as_ref()?;
        Some(self.nearest(embedder, store, text).await)
    }

    async fn nearest(
        &self,
        embedder: &Embedder,
        store: &Store,
        text: &str,
    ) -> Result<Vec<(i64, f64)>, String> {
        let said = |error: StoreError| error.to_string();
        let texts = [text];
        let query = embedder.embed(&texts).await;
        let query = query.map_err(|error| error.to_string())?;
        let query = query.into_iter().next().unwrap_or_default();
        let model = embedder.model();
        let mut index = self.vectors.of(model).await;
        let covered = store.is_covered(model, &mut index.covered).await;
        if !covered.map_err(said)? {
            let (believed, indexed) = store.vector_coverage(model).await.map_err(said)?;
            return Err(format!(
                "{indexed} of {believed} lessons are indexed: carson memory reindex"
            ));
        }
        let near = store.nearest(model, &query, POOL, &mut index.covered);
        if let Some(near) = near.await {
            return Ok(near);
        }
        index.read_on(store).await.map_err(said)?;
        let (given, kept) = (query.len(), index.dimensions());
        if !index.is_empty() && given != kept {
            return Err(format!(
                "the embedder's vectors have {given} numbers, and those that are kept {kept}: \
                 carson memory reindex makes them anew"
            ));
        }
        Ok(index.nearest(&query, POOL))
    }
}

/// Finds what is worth telling.
///
/// # Errors
/// When the database does not answer.
pub async fn recall(
    store: &Store,
    meaning: &Meaning,
    wanted: &Wanted,
) -> Result<Answer, StoreError> {
    let query = telling(&wanted.text);
    // Neither waits for the other.
    let (by_words, near) = tokio::join!(
        by_words::ranking(store, &query, wanted.times, POOL),
        meaning.near(store, &wanted.text)
    );
    let by_words = by_words?;
    let (by_meaning, fell_back) = match near {
        None => (None, None),
        Some(Err(why)) => (None, Some(why)),
        Some(Ok(near)) => {
            let near = near.into_iter().map(|(seq, cosine)| (seq, fit(cosine)));
            (Some(near.collect::<Ranking<i64>>()), None)
        }
    };
    let fused = by_meaning.is_some();
    let mut ranked = match &by_meaning {
        Some(near) => fuse(&by_words, near),
        None => by_words.clone(),
    };
    if !wanted.explain {
        ranked.retain(|(_, score)| *score >= wanted.threshold);
    }
    // A vector may be of what is not believed any more: then it has no row.
    let seqs: Vec<i64> = ranked.iter().map(|(seq, _)| *seq).collect();
    let rows = store.lessons_by_seq(&seqs, wanted.times).await?;
    let rows: BTreeMap<i64, LessonRow> = rows.into_iter().map(|row| (row.seq, row)).collect();
    let ways = (by_words, by_meaning.unwrap_or_default());
    let (matches, left) = chosen(ranked, &rows, &ways, wanted);
    Ok(Answer {
        matches,
        fused,
        fell_back,
        left: if wanted.explain { left } else { Vec::new() },
    })
}

/// The most telling words of a task, each once; the same for the same task.
#[must_use]
pub fn telling(text: &str) -> Vec<String> {
    let mut all: Vec<String> = words::set(text).into_iter().collect();
    all.sort_by(|a, b| words::weight(b).total_cmp(&words::weight(a)).then(a.cmp(b)));
    all.truncate(WORDS);
    all
}

/// What a cosine says, from 0 to 1.
fn fit(cosine: f64) -> f64 {
    let (nothing, everything) = COSINES;
    ((cosine - nothing) / (everything - nothing)).clamp(0.0, 1.0)
}

type Ways = (Ranking<i64>, Ranking<i64>);

/// The first that hold there, fit well enough, and say something that none before them says.
fn chosen(
    ranked: Ranking<i64>,
    rows: &BTreeMap<i64, LessonRow>,
    ways: &Ways,
    wanted: &Wanted,
) -> (Vec<Match>, Vec<Left>) {
    let mut matches: Vec<Match> = Vec::new();
    let mut left = Vec::new();
    for (seq, score) in ranked {
        let Some(row) = rows.get(&seq) else { continue };
        let lesson = &row.lesson;
        let there = wanted.place.as_ref();
        let why = if there.is_some_and(|place| !holds(&lesson.scope, lesson.repo.as_ref(), place)) {
            Some(format!("it holds for {}", lesson.scope))
        } else if score < wanted.threshold {
            Some(format!(
                "it fits by {:.2}, less than {:.2}",
                below(score),
                wanted.threshold
            ))
        } else if matches.len() == wanted.limit {
            Some(format!("{} come before it", wanted.limit))
        } else {
            let same = matches.iter().find(|one| says_the_same(one, row));
            same.map(|same| format!("lesson {} says the same", same.row.lesson.id.short()))
        };
        match why {
            // What does not fit at all was not found, it was only looked at.
            Some(_) if below(score) <= 0.0 => {}
            Some(why) => left.push(Left {
                id: lesson.id,
                score,
                why,
            }),
            None => matches.push(Match {
                row: row.clone(),
                score,
                by_words: Way::of(&ways.0, seq),
                by_meaning: Way::of(&ways.1, seq),
            }),
        }
    }
    (matches, left)
}

/// A score that misses a bar, rounded so that it is seen to: 0.249 is 0.24.
pub(crate) fn below(score: f64) -> f64 {
    (score * 100.0).floor() / 100.0
}

fn says_the_same(one: &Match, other: &LessonRow) -> bool {
    likeness(&one.row.lesson.text, &other.lesson.text) == Likeness::Same
}

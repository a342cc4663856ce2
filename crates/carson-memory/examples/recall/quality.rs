//! Whether the right one is found, by four ways.

use std::path::Path;
use std::time::{Duration, Instant};

use carson_core::lesson::{Evidence, LessonState, Scope};
use carson_memory::candidate::Candidate;
use carson_memory::recall::{Answer, Match, Meaning, Wanted, Way, recall, telling};
use carson_memory::vectors::{Embedder, Vectors, reindex};
use carson_redact::Redactor;
use carson_store::{Change, Store, Times, Valid};
use chrono::{DateTime, Utc};

use crate::dictionaries::{Dictionaries, Query};

/// What its vectors are kept under.
pub const MODEL: &str = "all-MiniLM-L6-v2";
/// How far down is looked.
const DEPTH: usize = 60;
/// Those that count as found.
const FIRST: usize = 5;

/// When all of it was believed.
pub fn then() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000)
}

/// Writes a lesson down that is believed.
///
/// # Errors
/// When the database does not answer.
pub async fn believe(store: &Store, text: &str, redactor: &Redactor) -> anyhow::Result<()> {
    let note = Evidence::Note("a dictionary".to_owned());
    let candidate = Candidate::of_operator(text, Scope::Fleet, vec![note]);
    let (lesson, first) = candidate.recorded(redactor, then());
    let promoted = Change {
        n: 2,
        state: LessonState::Promoted,
        valid: Some(Valid {
            from: then(),
            to: None,
        }),
        ..first.clone()
    };
    store.record_lesson(&lesson, &[first, promoted]).await?;
    Ok(())
}

/// What asks for it.
pub fn wanted(text: &str, limit: usize) -> Wanted {
    Wanted {
        text: text.to_owned(),
        place: None,
        times: Times::now(then()),
        limit,
        threshold: 0.0,
        explain: false,
    }
}

/// The sums of a way over some queries.
#[derive(Clone, Copy, Default)]
struct Sums {
    asked: u32,
    found: u32,
    reciprocal: f64,
}

impl Sums {
    fn add(&mut self, rank: Option<usize>) {
        self.asked += 1;
        if let Some(rank) = rank.filter(|rank| *rank <= DEPTH) {
            self.found += u32::from(rank <= FIRST);
            self.reciprocal += 1.0 / f64::from(u32::try_from(rank).unwrap_or(u32::MAX));
        }
    }

    fn shown(self) -> String {
        let asked = f64::from(self.asked.max(1));
        let recall = f64::from(self.found) * 100.0 / asked;
        format!("{recall:.1} / {:.3}", self.reciprocal / asked)
    }
}

/// Measures and prints.
///
/// # Errors
/// When the database or the embedder does not answer.
pub async fn measure(from: &Dictionaries, url: &str, dir: &Path) -> anyhow::Result<()> {
    let store = Store::open(&format!("sqlite:{}/quality.db", dir.display())).await?;
    let redactor = Redactor::default();
    for text in &from.passages {
        believe(&store, text, &redactor).await?;
    }
    let embedder = Embedder::new(url, MODEL, None)?.patient(Duration::from_secs(60));
    let began = Instant::now();
    let made = reindex(&store, &embedder, u64::MAX).await?;
    anyhow::ensure!(made.stopped.is_none(), "the embedder: {:?}", made.stopped);
    let rate = made.made as f64 / began.elapsed().as_secs_f64();
    let meaning = Meaning::of(Some(embedder), Vectors::default());
    // By half of the set, sort of query, and way.
    let mut sums = [[[Sums::default(); 4]; 2]; 2];
    for (n, query) in from.queries.iter().enumerate() {
        let answer = recall(&store, &meaning, &wanted(&query.text, 2 * DEPTH)).await?;
        anyhow::ensure!(answer.fused, "not fused: {:?}", answer.fell_back);
        let ranks = ranks(from, query, &answer);
        // Sorts alternate: pairs of queries go to the halves in turn.
        let sums = &mut sums[n / 2 % 2][usize::from(query.paraphrased)];
        for (sum, rank) in sums.iter_mut().zip(ranks) {
            sum.add(rank);
        }
        if let Some(file) = std::env::var_os("CARSON_BENCH_RANKS") {
            dump(Path::new(&file), from, query, &answer)?;
        }
    }
    for (half, sorts) in ["tuned on", "reported"].iter().zip(sums) {
        for (sort, ways) in ["near", "paraphrased"].iter().zip(sorts) {
            let shown = ways.map(Sums::shown);
            println!(
                "| {half}: {} {sort} | {} |",
                ways[0].asked,
                shown.join(" | ")
            );
        }
    }
    println!("vectors made by the embedder: {rate:.0} lessons/s");
    Ok(())
}

/// The place of the answer by `LIKE`, by words, by meaning, and by both.
fn ranks(from: &Dictionaries, query: &Query, answer: &Answer) -> [Option<usize>; 4] {
    let right = &from.passages[query.answer];
    let at = answer
        .matches
        .iter()
        .position(|one| one.row.lesson.text == *right);
    let of = |way: fn(&Match) -> Option<Way>| {
        let way = way(&answer.matches[at?])?;
        Some(way.rank)
    };
    [
        like(from, query),
        of(|one| one.by_words),
        of(|one| one.by_meaning),
        at.map(|at| at + 1),
    ]
}

/// What `ORDER BY (text LIKE '%word%') + ... DESC` of the telling words gives.
fn like(from: &Dictionaries, query: &Query) -> Option<usize> {
    let words = telling(&query.text);
    let fit = |text: &String| {
        let text = text.to_lowercase();
        words.iter().filter(|word| text.contains(*word)).count()
    };
    let own = fit(&from.passages[query.answer]);
    let before = from.passages.iter().enumerate().filter(|(place, text)| {
        let fit = fit(text);
        fit > own || (fit == own && *place < query.answer)
    });
    (own > 0).then(|| before.count() + 1)
}

/// For tuning: what each way said of each lesson that it found.
fn dump(file: &Path, from: &Dictionaries, query: &Query, answer: &Answer) -> anyhow::Result<()> {
    use std::io::Write as _;
    let way = |way: Option<Way>| way.map(|way| (way.rank, way.fit));
    let right = &from.passages[query.answer];
    let all: Vec<_> = answer
        .matches
        .iter()
        .map(|one| {
            let is_right = one.row.lesson.text == *right;
            (
                one.row.seq,
                way(one.by_words),
                way(one.by_meaning),
                is_right,
            )
        })
        .collect();
    let line = serde_json::json!({"paraphrased": query.paraphrased, "found": all});
    let mut out = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)?;
    writeln!(out, "{line}")?;
    Ok(())
}

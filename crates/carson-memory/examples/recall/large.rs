//! A memory of 100,000 lessons: how soon they are there, found, and in how much memory.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use carson_memory::recall::{Meaning, THRESHOLD, Wanted, recall};
use carson_memory::vectors::{Embedder, Vectors};
use carson_redact::Redactor;
use carson_store::{NewVector, Store};

use crate::dictionaries::Dictionaries;
use crate::instant::{self, Directions};
use crate::quality::{MODEL, believe, wanted};

/// Vectors that are kept at once.
const BATCH: usize = 1_000;
/// As many as a session is told.
const LIMIT: usize = 3;

/// Fills an empty database: glosses as lessons, and for each a vector of any direction. A scan takes as long whatever
/// they say.
///
/// # Errors
/// When the database does not answer.
pub async fn fill(from: &Dictionaries, database: &str, count: usize) -> anyhow::Result<()> {
    let store = Store::open(database).await?;
    let redactor = Redactor::default();
    anyhow::ensure!(
        from.glosses.len() >= count,
        "only {} glosses",
        from.glosses.len()
    );
    let began = Instant::now();
    for gloss in &from.glosses[..count] {
        let short = &gloss[..gloss.floor_char_boundary(600)];
        believe(&store, short, &redactor).await?;
    }
    let lessons = count as f64 / began.elapsed().as_secs_f64();
    let began = Instant::now();
    let mut directions = Directions::from(1);
    for from in (1..=count).step_by(BATCH) {
        let rows = (from..from + BATCH).take_while(|seq| *seq <= count);
        let rows: Vec<NewVector> = rows
            .map(|seq| {
                let one = directions.quantised();
                Ok(NewVector {
                    lesson: i64::try_from(seq)?,
                    scale: f64::from(one.scale),
                    vector: one.bytes(),
                })
            })
            .collect::<anyhow::Result<_>>()?;
        store.keep_vectors(MODEL, &rows).await?;
    }
    let vectors = count as f64 / began.elapsed().as_secs_f64();
    println!("| {count} lessons written down | {lessons:.0} lessons/s, {vectors:.0} vectors/s | |");
    store.close().await;
    Ok(())
}

/// Puts all vectors into the server's own index.
///
/// # Errors
/// When the database does not answer, or has no such index.
pub async fn index(database: &str) -> anyhow::Result<()> {
    let store = Store::open(database).await?;
    let began = Instant::now();
    let put = store.fill_near(MODEL, u64::MAX).await?;
    let put = put.context("the server has no pgvector")?;
    let rate = put as f64 / began.elapsed().as_secs_f64();
    println!("| {put} vectors put into the HNSW index | {rate:.0} vectors/s | |");
    store.close().await;
    Ok(())
}

/// Asks it, by words and by both.
///
/// # Errors
/// When the database does not answer, or not with both.
pub async fn ask(from: &Dictionaries, database: &str) -> anyhow::Result<()> {
    // What is to be held is said of SQLite.
    let to_hold = |target| {
        if database.starts_with("sqlite:") {
            target
        } else {
            ""
        }
    };
    let store = Store::open(database).await?;
    let before = resident()?;
    let words = Meaning::default();
    let by_words = times(from, &store, &words).await?;
    let embedder = Embedder::new(&instant::serve()?, MODEL, None)?;
    let embedder = embedder.patient(Duration::from_secs(10));
    let mut alone = Vec::new();
    for query in &from.queries {
        let began = Instant::now();
        embedder.embed(&[&query.text]).await?;
        alone.push(began.elapsed());
    }
    let meaning = Meaning::of(Some(embedder), Vectors::default());
    let began = Instant::now();
    let first = recall(&store, &meaning, &wanted("the first", LIMIT)).await?;
    anyhow::ensure!(first.fused, "not fused: {:?}", first.fell_back);
    let loaded = began.elapsed();
    let fused = times(from, &store, &meaning).await?;
    let grown = resident()?.saturating_sub(before) / 1024;
    println!(
        "| by words | {} | {} |",
        shown(by_words),
        to_hold("p50 <= 5 ms")
    );
    println!("| by both | {} | |", shown(fused.clone()));
    println!(
        "| of which the answer of an embedder that does nothing | {} | |",
        shown(alone.clone())
    );
    let own = median(fused).saturating_sub(median(alone));
    println!(
        "| by both without it | p50 {:.1} ms | {} |",
        milliseconds(own),
        to_hold("p50 <= 15 ms")
    );
    println!(
        "| the first one by both | {:.0} ms | |",
        milliseconds(loaded)
    );
    println!(
        "| memory grows by | {grown} MB | {} |",
        to_hold("<= 150 MB")
    );
    Ok(())
}

async fn times(
    from: &Dictionaries,
    store: &Store,
    meaning: &Meaning,
) -> anyhow::Result<Vec<Duration>> {
    let mut all = Vec::new();
    for query in &from.queries {
        let wanted = Wanted {
            threshold: THRESHOLD,
            ..wanted(&query.text, LIMIT)
        };
        let began = Instant::now();
        recall(store, meaning, &wanted).await?;
        all.push(began.elapsed());
    }
    Ok(all)
}

fn shown(mut all: Vec<Duration>) -> String {
    all.sort_unstable();
    let at = |share: usize| milliseconds(all[(all.len() - 1) * share / 100]);
    format!("p50 {:.1} ms, p99 {:.1} ms", at(50), at(99))
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Kilobytes of memory that this process has.
fn resident() -> anyhow::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let size = line.context("no VmRSS")?.trim().trim_end_matches(" kB");
    Ok(size.trim().parse()?)
}

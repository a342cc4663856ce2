//! What a firing is told of what the fleet learned, before it plans.

use std::collections::BTreeMap;
use std::time::Duration;

use carson_config::read_secret;
use carson_core::Event;
use carson_core::RepoName;
use carson_home::Home;
use carson_memory::block::{Told, block};
use carson_memory::canon::canon;
use carson_memory::holdout::is_held_out;
use carson_memory::recall::{Answer, Meaning, Wanted, recall};
use carson_memory::scopes::{Place, paths_in};
use carson_memory::vectors::{Embedder, Near, forget_other_lengths, reindex};
use carson_store::{Recall, Recalled, StoreError, Times};
use serde::Serialize;
use tracing::warn;

use super::evidence::{Look, file_pieces};
use super::held::hold;
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::prompt::fence;

/// Characters of a task that are searched with.
const TASK: usize = 8_000;
/// How long the embedder has for a batch of lessons.
const PATIENCE: Duration = Duration::from_secs(60);
/// Matches beyond those that are told, in case some of them are contradicted.
const SPARE: usize = 3;

/// How far the making of vectors came.
#[derive(Debug, Serialize)]
pub struct Indexed {
    /// Vectors that were made.
    pub made: u64,
    /// Lessons that are or were believed.
    pub lessons: u64,
    /// Those of them that have a vector now.
    pub indexed: u64,
    /// How the nearest are found.
    pub near: Near,
    /// Why it stopped before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

/// The part of the prompts that tells lessons; empty where there is none. Whatever goes wrong, the firing goes on.
pub(crate) async fn told(ctx: &Ctx<'_>, placed: &Placed<'_, '_>) -> String {
    let memory = &ctx.home.fleet.memory;
    if !memory.recall || memory.killed || ctx.is_only_asked || !ctx.role.kind.has_sessions() {
        return String::new();
    }
    match found(ctx, placed).await {
        Ok(text) => text,
        Err(error) => {
            warn!(firing.id = %ctx.id, %error, "no lessons: the store does not answer");
            String::new()
        }
    }
}

async fn found(ctx: &Ctx<'_>, placed: &Placed<'_, '_>) -> Result<String, StoreError> {
    let memory = &ctx.home.fleet.memory;
    let work = &placed.taken.work;
    let text: String = format!("{}\n{}", work.title, work.body)
        .chars()
        .take(TASK)
        .collect();
    let wanted = Wanted {
        place: Some(Place {
            repo: Some(placed.taken.repo.name.clone()),
            role: Some(ctx.role.name.clone()),
            paths: paths_in(&text),
        }),
        text,
        times: Times::now(ctx.now()),
        limit: memory.limit + SPARE,
        threshold: memory.threshold,
        explain: false,
    };
    let meaning = Meaning::of(embedder(ctx.home), ctx.home.vectors.clone());
    let answer = recall(ctx.store(), &meaning, &wanted).await?;
    if let Some(why) = &answer.fell_back {
        let why = ctx.redacted(why);
        ctx.event(&Event::MemoryByWords { why }).await;
    }
    let mode = if answer.fused { "fused" } else { "words" };
    let told = sure(ctx, answer).await?;
    let shown = block(told, memory.tokens, fence);
    let Some((text, kept)) = shown else {
        return Ok(String::new());
    };
    // Only who would be told something can be compared with who was.
    let off = is_held_out(ctx.id, memory.holdout);
    let text = if off { String::new() } else { text };
    note(ctx, (off, mode), &text, &kept).await?;
    Ok(text)
}

/// What may be told, each as what; what the code contradicts is held.
async fn sure(ctx: &Ctx<'_>, answer: Answer) -> Result<Vec<Told>, StoreError> {
    let mut looks: BTreeMap<Option<RepoName>, Look<'_>> = BTreeMap::new();
    let mut told = Vec::new();
    for one in answer.matches {
        if told.len() == ctx.home.fleet.memory.limit {
            break;
        }
        let repo = one.row.lesson.repo.clone();
        if !looks.contains_key(&repo) {
            let look = Look::at(ctx.home, repo.as_ref()).await;
            looks.insert(repo.clone(), look);
        }
        let evidence = ctx.store().lesson_evidence(one.row.seq).await?;
        let Some(look) = looks.get(&repo) else {
            continue;
        };
        let pieces = file_pieces(look, &evidence).await;
        match canon(one.row.now.confidence, &pieces) {
            Ok(canon) => told.push(Told {
                id: one.row.lesson.id,
                text: one.row.lesson.text.clone(),
                severity: one.row.lesson.severity,
                canon,
                evidence,
                score: one.score,
            }),
            Err(why) => {
                if let Some(event) = hold(ctx.home, &one.row, &why).await? {
                    ctx.event(&event).await;
                }
            }
        }
    }
    Ok(told)
}

async fn note(
    ctx: &Ctx<'_>,
    (off, mode): (bool, &str),
    text: &str,
    kept: &[Told],
) -> Result<(), StoreError> {
    let recalled = |one: &Told| Recalled {
        lesson: one.id,
        score: one.score,
        canon: one.canon.to_string(),
    };
    let told = Recall {
        firing: ctx.id,
        at: ctx.now(),
        off,
        mode: mode.to_owned(),
        block: text.to_owned(),
        lessons: kept.iter().map(recalled).collect(),
    };
    ctx.as_firing().note_recall(&told).await?;
    let lessons = kept.iter().map(|one| one.id).collect();
    ctx.event(&Event::MemoryRecalled { lessons, off }).await;
    Ok(())
}

/// What makes vectors, where the settings name it and it can be used.
#[must_use]
pub fn embedder(home: &Home) -> Option<Embedder> {
    let at = home.fleet.memory.embedder.as_ref()?;
    let key = match &at.key_file {
        None => None,
        Some(file) => match read_secret(file) {
            Ok(key) => {
                home.redactor.learn([key.clone()]);
                Some(key)
            }
            Err(error) => {
                warn!(%error, "the embedder's key cannot be read");
                return None;
            }
        },
    };
    Embedder::new(&at.url, &at.model, key).ok()
}

/// Makes vectors of what is believed and has none, so many at most; `None` where there is no embedder. A batch may
/// take its time: nobody waits for it as a firing does.
///
/// # Errors
/// When the store does not answer.
///
/// `anew` looks first whether the model makes vectors of another length by now, and forgets those that it made before.
pub async fn index(home: &Home, most: u64, anew: bool) -> Result<Option<Indexed>, StoreError> {
    let Some(embedder) = embedder(home) else {
        return Ok(None);
    };
    let embedder = embedder.patient(PATIENCE);
    if anew && let Ok(forgotten @ 1..) = forget_other_lengths(&home.store, &embedder).await? {
        warn!(
            forgotten,
            model = embedder.model(),
            "vectors of another length are made anew"
        );
    }
    let done = reindex(&home.store, &embedder, most).await?;
    let (lessons, indexed) = home.store.vector_coverage(embedder.model()).await?;
    let stopped = done
        .stopped
        .map(|error| home.redactor.redact(&error.to_string()).into_owned());
    Ok(Some(Indexed {
        made: done.made,
        lessons,
        indexed,
        near: done.near,
        stopped,
    }))
}

//! Vectors of lessons that have none of the present model: a job that can stop anywhere and goes on where it stopped.

use carson_store::{Store, StoreError, VectorRow};

use super::embedder::{EmbedError, Embedder};
use super::quantised::Quantised;

/// Texts that are sent at once.
const BATCH: u32 = 32;

/// How far it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindexed {
    /// Vectors that were made.
    pub made: u64,
    /// Why it stopped before its end.
    pub stopped: Option<EmbedError>,
}

/// Makes vectors until there are no lessons without one, the embedder does not answer, or so many were made.
///
/// # Errors
/// When the database does not answer.
pub async fn reindex(
    store: &Store,
    embedder: &Embedder,
    most: u64,
) -> Result<Reindexed, StoreError> {
    let mut made = 0;
    while made < most {
        let todo = store
            .lessons_without_vector(embedder.model(), BATCH)
            .await?;
        if todo.is_empty() {
            break;
        }
        let texts: Vec<&str> = todo.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = match embedder.embed(&texts).await {
            Ok(vectors) => vectors,
            Err(error) => {
                let stopped = Some(error);
                return Ok(Reindexed { made, stopped });
            }
        };
        let rows = todo.iter().zip(&vectors).map(|((lesson, _), vector)| {
            let one = Quantised::of(vector);
            VectorRow {
                lesson: *lesson,
                scale: f64::from(one.scale),
                vector: one.bytes(),
            }
        });
        let rows: Vec<VectorRow> = rows.collect();
        store.keep_vectors(embedder.model(), &rows).await?;
        made += u64::try_from(rows.len()).unwrap_or(0);
    }
    let stopped = None;
    Ok(Reindexed { made, stopped })
}

//! Finding lessons by what they mean: vectors of a model behind an endpoint, and a scan over them.

mod embedder;
mod index;
mod quantised;
mod reindex;

pub use embedder::{EmbedError, Embedder};
pub use index::Vectors;
pub use quantised::Quantised;
pub use reindex::{Near, Reindexed, forget_other_lengths, reindex};

//! Why something was found, or is not told.

use carson_core::lesson::LessonId;

use crate::fuse::Ranking;

/// A place in a ranking, and how well it fits there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    /// From 1.
    pub rank: usize,
    /// From 0 to 1.
    pub fit: f64,
}

impl Way {
    pub(super) fn of(ranking: &Ranking<i64>, seq: i64) -> Option<Self> {
        let at = ranking.iter().position(|(item, _)| *item == seq)?;
        Some(Self {
            rank: at + 1,
            fit: ranking[at].1,
        })
    }
}

/// Something that was found and is not told.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// Which.
    pub id: LessonId,
    /// How well it fits.
    pub score: f64,
    /// Why not.
    pub why: String,
}

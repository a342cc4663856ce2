//! What a pass over the benches is told, and what it did.

use std::path::PathBuf;
use std::time::Duration;

use carson_core::FiringId;
use serde::Serialize;

/// What pruning did, or would do, with one bench.
#[derive(Clone, Debug, Serialize)]
pub struct Pruned {
    /// The bench.
    pub path: PathBuf,
    /// The firing it belonged to, when its name tells.
    pub firing: Option<FiringId>,
    /// What happened.
    pub action: Action,
}

/// One of the three things that can happen to a bench.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "did", content = "detail")]
pub enum Action {
    /// Everything in it was safe already.
    Removed,
    /// Work was found and is under this ref now.
    Salvaged(String),
    /// It stays, and why.
    Kept(String),
}

/// How a pass goes about it.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Only say what would be done.
    pub dry_run: bool,
    /// A bench that changed more recently is left for later: somebody may look into it.
    pub youth: Duration,
    /// No further bench is begun after this long: the next pass goes on.
    pub within: Duration,
    /// Benches that could not be let go are looked at ever less often.
    pub patient: bool,
}

impl Plan {
    /// What an operator asks for: everything, now.
    #[must_use]
    pub fn by_hand(dry_run: bool) -> Self {
        Self {
            dry_run,
            youth: Duration::ZERO,
            within: Duration::MAX,
            patient: false,
        }
    }
}

/// A pass: what it did, and whether it came to the end.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    /// The benches that it looked at, but for those in use.
    pub benches: Vec<Pruned>,
    /// Benches that it had no time for.
    pub left: usize,
}

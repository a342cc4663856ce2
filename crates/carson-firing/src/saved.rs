//! What salvage could do with a session's work.

use carson_forge::Pull;

/// What salvage did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Saved {
    pub pull: Option<Pull>,
    pub kept_ref: Option<String>,
    /// What went wrong on the way, for the report.
    pub trouble: Vec<String>,
    /// Why a person must look before anything of it leaves.
    pub held: Option<String>,
}

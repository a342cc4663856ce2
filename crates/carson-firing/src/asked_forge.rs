//! Steps in which the forge is asked, and what their errors say of it.

use carson_forge::ForgeError;
use carson_home::halt::Hinted;

/// An error of such a step.
pub(crate) trait AskedForge: Hinted {
    /// Whether it only cannot be asked now.
    fn is_away(&self) -> bool;
}

impl AskedForge for ForgeError {
    fn is_away(&self) -> bool {
        Self::is_away(self)
    }
}

//! What a verb of a forge gives back.

use std::pin::Pin;

use crate::error::ForgeError;

/// An answer on its way.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ForgeError>> + Send + 'a>>;

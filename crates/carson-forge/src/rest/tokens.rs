//! Where a client has its token from.

use std::fmt::Debug;

use secrecy::SecretString;

use crate::answer::Answer;

/// One token, or one after the other.
pub(crate) trait Tokens: Debug + Send + Sync {
    /// The one that is valid now.
    fn token(&self) -> Answer<'_, SecretString>;

    /// The one that was sent last; `None` before that.
    fn current(&self) -> Option<SecretString>;

    /// The forge does not accept it.
    fn refused(&self) {}
}

/// One that stays as it is.
#[derive(Debug)]
pub(crate) struct Fixed(pub SecretString);

impl Tokens for Fixed {
    fn token(&self) -> Answer<'_, SecretString> {
        Box::pin(async move { Ok(self.0.clone()) })
    }

    fn current(&self) -> Option<SecretString> {
        Some(self.0.clone())
    }
}

//! What a forge's client tells the house while it works.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use secrecy::SecretString;

/// Who is told. Firings are processes of their own: what one of them learned must reach the others.
pub trait Keeper: Debug + Send + Sync {
    /// A secret was handed to us, and must appear nowhere.
    fn learn(&self, secret: &SecretString);

    /// The forge accepts nothing for so long, from nobody with this token.
    fn limited<'a>(
        &'a self,
        wait: Duration,
        why: &'a str,
    ) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

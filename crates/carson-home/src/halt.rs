//! What an error of a layer below means for a firing.

use carson_core::settle::Halt;

use crate::home::ForgeOpenError;

/// Turns an error of a layer below into the halt it means for the firing.
pub trait OrBroken<T> {
    /// `what` says which step broke.
    fn or_broken(self, what: &str) -> Result<T, Halt>;
}

impl<T, E: Hinted> OrBroken<T> for Result<T, E> {
    fn or_broken(self, what: &str) -> Result<T, Halt> {
        self.map_err(|error| Halt::Broken(format!("{what}: {}", describe_error(&error))))
    }
}

/// An error that knows what the operator can do.
pub trait Hinted: std::error::Error {
    /// One sentence without its full stop.
    fn hint(&self) -> &str;
}

macro_rules! hinted {
    ($($error:ty),+) => {
        $(impl Hinted for $error {
            fn hint(&self) -> &str {
                self.hint()
            }
        })+
    };
}

hinted!(
    carson_forge::ForgeError,
    carson_git::GitError,
    carson_proc::SpawnError,
    carson_store::StoreError,
    ForgeOpenError
);

impl Hinted for std::io::Error {
    fn hint(&self) -> &str {
        "check that CARSON_HOME is writable and its disk not full"
    }
}

/// What happened, why, and what to do.
pub fn describe_error(error: &impl Hinted) -> String {
    format!("{}; {}", with_causes(error), error.hint())
}

/// What happened, and why, in a line: a cause that an error has told of already is not told again.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}

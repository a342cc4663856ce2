//! The yes of a person, where a command changes what somebody else may stand on.

use std::io::{IsTerminal, stdin};

use crate::error::CommandError;
use crate::print;

/// How `--yes` is called for: what it does, as the rest of "add --yes to".
#[derive(Clone, Copy, Debug)]
pub struct Wanted(pub &'static str);

impl Wanted {
    /// # Errors
    /// When nobody can be asked.
    pub fn of_a_person(self) -> Result<(), CommandError> {
        if stdin().is_terminal() {
            return Ok(());
        }
        let said = "nothing was done: it wants a yes, and nobody is here to give it";
        Err(CommandError::usage(said).hint(format!("add --yes to {}", self.0)))
    }

    /// Asks one question. Whatever is no yes is a no.
    ///
    /// # Errors
    /// When nobody can be asked, or the answer is no.
    pub fn ask(self, question: &str) -> Result<(), CommandError> {
        self.of_a_person()?;
        print::line(&format!("{question} [y/N]"));
        let mut answer = String::new();
        stdin().read_line(&mut answer)?;
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(CommandError::failed("nothing was done")),
        }
    }
}

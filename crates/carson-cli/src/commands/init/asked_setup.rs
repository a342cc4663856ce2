//! The questions about what makes workspaces ready to work in.

use carson_core::untrusted::one_line;

use crate::commands::proposed_setup::Proposal;
use crate::error::CommandError;
use crate::print;

/// Letters of a list that a question has.
const SHOWN: usize = 200;

/// What of a proposal holds from the beginning; the rest stands behind a `#`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Agreed {
    /// Its setup.
    pub setup: bool,
    /// Its list of files.
    pub include: bool,
}

/// What the operator wants of it at a terminal.
pub fn agreed(found: &Proposal) -> Result<Agreed, CommandError> {
    let setup = format!(
        "Run `{}` (by {}) in the sandbox, so that workspaces are ready to work in?",
        found.shown(),
        found.by
    );
    let files = one_line(&found.include.join(", "), SHOWN);
    let include =
        format!("Put {files} of your checkout into every workspace (by .worktreeinclude)?");
    Ok(Agreed {
        setup: !found.setup.is_empty() && is_wanted(&setup, "setup")?,
        include: !found.include.is_empty() && is_wanted(&include, "list")?,
    })
}

fn is_wanted(question: &str, what: &str) -> Result<bool, CommandError> {
    print::line(&format!(
        "{question} (Enter for yes; \"no\" leaves it in the settings, behind a #)"
    ));
    loop {
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        match answer.trim().to_lowercase().as_str() {
            "" | "y" | "yes" => return Ok(true),
            "n" | "no" | "none" => return Ok(false),
            _ => print::warning(&format!(
                "yes or no? Another {what} goes into the settings afterwards"
            )),
        }
    }
}

//! Who is told what happens: the person at standard error, or a program at standard output.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

use carson_core::untrusted::one_line;
use carson_redact::Redactor;

use crate::events::{Event, Watch};
use crate::toolbox::Went;

/// Most characters of one line that people read.
const LINE: usize = 160;

/// Tells both; clones are one.
#[derive(Clone)]
pub struct Progress(Rc<Told>);

struct Told {
    redactor: Redactor,
    /// Where events go as lines of JSON.
    json: Option<RefCell<Box<dyn Write>>>,
    /// Why a line of JSON was not written.
    lost: RefCell<Option<io::Error>>,
    /// Where lines for people go.
    people: RefCell<Box<dyn Write>>,
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Progress").finish_non_exhaustive()
    }
}

impl Progress {
    /// Tells people, and a program if there is one; nobody sees what the redactor knows.
    #[must_use]
    pub fn new(redactor: Redactor, people: Box<dyn Write>, json: Option<Box<dyn Write>>) -> Self {
        Self(Rc::new(Told {
            redactor,
            json: json.map(RefCell::new),
            lost: RefCell::default(),
            people: RefCell::new(people),
        }))
    }

    /// Why the program at standard output did not get everything.
    pub fn lost(&self) -> Option<io::Error> {
        self.0.lost.take()
    }

    /// A line for people. Where nobody listens any more, the run goes on.
    pub fn line(&self, text: &str) {
        let text = self.0.redactor.redact(text);
        let _ = writeln!(self.0.people.borrow_mut(), "{text}");
    }
}

impl Watch for Progress {
    fn see(&mut self, event: &Event<'_>) {
        if let Some(line) = for_people(event, &self.0.redactor) {
            self.line(&line);
        }
        let Some(json) = &self.0.json else { return };
        // A string that has a secret in it is redacted as it is written: what goes becomes plain words.
        let Ok(line) = serde_json::to_string(event) else {
            return;
        };
        let line = self.0.redactor.redact(&line);
        let mut out = json.borrow_mut();
        if let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) {
            self.0.lost.borrow_mut().get_or_insert(error);
        }
    }
}

/// What people read of it; the program says the end itself.
fn for_people(event: &Event<'_>, redactor: &Redactor) -> Option<String> {
    // What is cut first may leave a part of a secret.
    let short = |text: &str| one_line(&redactor.redact(text), LINE);
    Some(match event {
        Event::Session { model, walls, .. } => {
            let walls = if *walls {
                ""
            } else {
                ", without walls of its own"
            };
            format!("carson-agent: {}{walls}", short(model))
        }
        Event::Text { text, .. } => format!("  {}", short(text)),
        Event::ToolCall {
            tool, arguments, ..
        } => format!("• {} {}", short(tool), short(&arguments.to_string())),
        Event::ToolResult {
            went,
            cached,
            output,
            ..
        } => {
            let mark = match (went, cached) {
                (_, true) => "known",
                (Went::Well, _) => "ok",
                (Went::Failed | Went::Wrong, _) => "error",
                (Went::Refused, _) => "refused",
            };
            format!("  {mark}: {}", short(output))
        }
        Event::Check {
            iteration,
            passed: true,
            ..
        } => format!("✓ check after iteration {iteration}: passed"),
        Event::Check {
            iteration, ended, ..
        } => format!("✗ check after iteration {iteration}: {ended}"),
        Event::Notice { text } => format!("! {}", short(text)),
        Event::Usage { .. } | Event::End { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;

    #[test]
    fn no_part_of_a_secret_is_left_where_a_line_is_cut() {
        let secret = "zk-Jq8vT2mNw5RxLc7PbD9fHsYt4Ga6Ke3U";
        let redactor = Redactor::new([SecretString::from(secret)]);
        for before in LINE - secret.len()..LINE {
            let text = "x".repeat(before) + " " + secret;
            let line = for_people(&Event::Notice { text: &text }, &redactor).unwrap();
            assert!(!line.contains("zk-J"), "{line}");
        }
    }
}

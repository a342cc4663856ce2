//! The hook before every call: the same that agent CLIs ask, in this process.
//!
//! A call is told to it as an event of the hook's protocol, under the names that its rules know. It
//! answers on a thread of its own, because a walk through a long command line needs a deep stack and
//! may take long: who gives no answer refuses, unless whoever started the firing said otherwise.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use carson_hook::{Context, Exit, Failure, main_with};
use serde_json::{Value, json};

use crate::place::Place;

/// The longest that is waited for an answer.
const LONGEST: Duration = Duration::from_secs(2);
/// What a walk needs.
const STACK: usize = 8 * 1024 * 1024;

/// Who may refuse a call.
#[derive(Clone, Debug)]
pub struct Gate {
    context: Arc<Context>,
    cwd: String,
}

impl Gate {
    /// The hook for a directory, with the variables that commands see. Inside a firing they say what
    /// is protected; else the hook's own defaults hold, and what it cannot judge is refused.
    #[must_use]
    pub fn new(place: &Place, vars: BTreeMap<String, String>) -> Self {
        let in_a_firing = vars.contains_key("CARSON_WORKTREE");
        let mut context = Context::from_vars(vars);
        let cwd = place.root().to_string_lossy().into_owned();
        if !in_a_firing {
            context.worktree.clone_from(&cwd);
            context.failure = Failure::Closed;
        }
        Self {
            context: Arc::new(context),
            cwd,
        }
    }

    /// Whether a call may be made; `Err` says why not, for the model.
    ///
    /// # Errors
    /// When the hook refuses it.
    pub fn ask(&self, tool: &str, input: &Value) -> Result<(), String> {
        let event = json!({
            "hook_event_name": "PreToolUse",
            "tool_name": tool,
            "tool_input": input,
            "cwd": self.cwd,
        })
        .to_string();
        let context = Arc::clone(&self.context);
        let (sender, answer) = channel();
        let asking = move || {
            let mut said = Vec::new();
            let exit = main_with(&mut event.as_bytes(), &context, &mut said);
            let _ = sender.send((exit, said));
        };
        let thread = std::thread::Builder::new().stack_size(STACK).spawn(asking);
        let answer = thread.ok().and_then(|_| answer.recv_timeout(LONGEST).ok());
        match answer {
            Some((Exit::Allow, _)) => Ok(()),
            Some((Exit::Block, said)) => Err(String::from_utf8_lossy(&said).trim().to_owned()),
            None if self.context.failure == Failure::Open => Ok(()),
            None => Err("carson: the hook gave no answer".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hooks_rules_hold_for_our_tools() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path()).unwrap();
        let vars = BTreeMap::from([("HOME".to_owned(), "/home/me".to_owned())]);
        let gate = Gate::new(&place, vars);
        let bash = |line: &str| gate.ask("Bash", &json!({ "command": line }));
        assert_eq!(bash("cargo test"), Ok(()));
        let refused = bash("git push --force origin main").unwrap_err();
        assert!(refused.contains("blocked by rule"), "{refused}");
        assert!(bash("rm -rf ~/").is_err());
        assert!(
            gate.ask("Read", &json!({ "file_path": "/home/me/.ssh/id_rsa" }))
                .is_err()
        );
        assert_eq!(
            gate.ask("Read", &json!({ "file_path": place.root().join("a") })),
            Ok(())
        );
    }
}

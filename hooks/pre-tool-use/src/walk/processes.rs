//! Processes beside the shell, and what a shell does when it ends: subshells, coprocesses, traps,
//! streams that `exec` has turned elsewhere.

use std::rc::Rc;

use crate::marks;
use crate::shell::COPROCESS;
use crate::shell::syntax::Node;

use super::redirect::Streams;
use super::{Exec, State, Walker, append};

/// Most traps of one shell that are walked.
const MAX_TRAPS: usize = 16;

impl Walker<'_> {
    /// Walks a node in a process of its own, with its traps at the end.
    pub(super) fn process(&mut self, node: &Node, state: &State, stdin: &str) -> String {
        let mut child = state.clone();
        child.traps = Rc::default();
        let mut out = self.node(node, &mut child, stdin);
        let last = self.traps(&mut child);
        append(&mut out, &last);
        out
    }

    /// Walks code in a shell of its own.
    pub(super) fn code_aside(&mut self, code: &str, state: &State, stdin: &str) -> String {
        let mut child = state.clone();
        child.traps = Rc::default();
        let out = self.code_of(code, &mut child, stdin);
        self.traps(&mut child);
        out
    }

    /// Walks the traps of a shell that ends: only then is known what their variables hold.
    pub(super) fn traps(&mut self, state: &mut State) -> String {
        let mut out = String::new();
        let traps = std::mem::take(&mut state.traps);
        for code in traps.iter().take(MAX_TRAPS) {
            state.left = false;
            append(&mut out, &self.code(code, state, ""));
        }
        out
    }

    /// What is printed at last, or written to a file, shows a credential's variable.
    pub(super) fn shown(&mut self, text: &str, state: &State) {
        if text.contains(marks::SECRET) {
            let exec = Exec::of(vec!["print-variable".to_owned()]);
            self.judge_command(&exec, state);
        }
    }

    /// `trap CODE SIGNAL`. The coarse pass cuts shells to pieces and sees no end of one.
    pub(super) fn trap(&mut self, code: &str, state: &mut State) {
        if self.coarse {
            self.code_aside(code, state, "");
        } else if !state.traps.iter().any(|known| known == code) {
            Rc::make_mut(&mut state.traps).push(code.to_owned());
        }
    }

    /// `coproc`: what it prints is read from its descriptor; what is written there, it reads.
    pub(super) fn coprocess(&mut self, body: &Rc<Node>, state: &State, stdin: &str) -> String {
        let printed = self.process(body, state, stdin);
        let path = format!("/dev/fd/{COPROCESS}");
        self.world.files.insert(path.clone(), printed);
        self.sinks.insert(path, Rc::clone(body));
        String::new()
    }

    /// `exec < file > file`: the streams of the shell from here on.
    pub(super) fn turn_streams(streams: &Streams, state: &mut State) {
        if streams.fed {
            state.input = Some(streams.stdin.as_str().into());
        }
        if !streams.sinks.is_empty() {
            let files = streams.sinks.iter().map(|(file, _)| file.clone());
            state.outputs = files.collect();
        }
    }

    /// What is left of a text that is printed after such an `exec`.
    pub(super) fn through_outputs(&mut self, printed: String, state: &mut State) -> String {
        if state.outputs.is_empty() || printed.is_empty() {
            return printed;
        }
        let streams = Streams {
            sinks: state
                .outputs
                .iter()
                .map(|file| (file.clone(), true))
                .collect(),
            ..Streams::default()
        };
        self.deliver(printed, &streams, state)
    }
}

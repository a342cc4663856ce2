//! Redirections: where a command's input comes from and its output goes.

use crate::marks::{self, ANY, DOWNLOAD};
use crate::shell::syntax::{Node, Redirect, RedirectKind};

use super::{Exec, State, Walker};

/// The streams of a command.
#[derive(Default)]
pub(super) struct Streams {
    pub(super) stdin: String,
    /// Whether the input was redirected at all.
    pub(super) fed: bool,
    /// Files that get the output, and whether it is appended.
    pub(super) sinks: Vec<(String, bool)>,
}

impl Walker<'_> {
    /// Evaluates redirections; reading a file is shown to the rules as the command `<`.
    pub(super) fn streams(&mut self, all: &[Redirect], state: &mut State, stdin: &str) -> Streams {
        let mut streams = Streams {
            stdin: stdin.to_owned(),
            ..Streams::default()
        };
        for redirect in all {
            if self.done() {
                break;
            }
            self.stream(redirect, state, &mut streams);
        }
        streams
    }

    fn stream(&mut self, redirect: &Redirect, state: &mut State, streams: &mut Streams) {
        let to_input = redirect.fd.is_none_or(|fd| fd == 0);
        let to_output = redirect.fd.is_none_or(|fd| fd == 1);
        match redirect.kind {
            RedirectKind::HereDoc => {
                let body = redirect.body.as_ref().and_then(|body| body.get());
                let text = body.map(|word| self.texts(word, state).join("\n"));
                if to_input {
                    streams.stdin = text.unwrap_or_default();
                    streams.fed = true;
                }
            }
            RedirectKind::HereString => {
                streams.stdin = self.texts(&redirect.target, state).join("\n");
                streams.fed = true;
            }
            RedirectKind::Read | RedirectKind::ReadWrite => {
                for file in self.fields(&redirect.target, state) {
                    let text = self.read_file(&file, state);
                    if to_input {
                        streams.stdin = text;
                        streams.fed = true;
                    }
                }
            }
            RedirectKind::Write | RedirectKind::Append => {
                let append = redirect.kind == RedirectKind::Append;
                for file in self.fields(&redirect.target, state) {
                    if to_output {
                        streams.sinks.push((file, append));
                    }
                }
            }
            RedirectKind::Duplicate => {}
        }
    }

    /// What a file holds that a redirection opens for reading.
    fn read_file(&mut self, file: &str, state: &mut State) -> String {
        if file.starts_with("/dev/tcp/") {
            return marks::only(DOWNLOAD);
        }
        let open = Exec::of(vec!["<".to_owned(), file.to_owned()]);
        self.judge_command(&open, state);
        self.content(file, state)
            .unwrap_or_else(|| marks::only(ANY))
    }

    /// Sends what was printed to the files it is redirected to; returns what is left for the pipe.
    pub(super) fn deliver(&mut self, out: String, streams: &Streams, state: &mut State) -> String {
        if streams.sinks.is_empty() {
            return out;
        }
        let mut left = String::new();
        for (file, append) in &streams.sinks {
            if matches!(file.as_str(), "/dev/stdout" | "/dev/stderr" | "/dev/tty") {
                left.clone_from(&out);
            } else {
                self.write_file(file, &out, *append, state);
            }
        }
        left
    }

    /// A compound command with redirections.
    pub(super) fn redirected(
        &mut self,
        body: &Node,
        redirects: &[Redirect],
        state: &mut State,
        stdin: &str,
    ) -> String {
        let streams = self.streams(redirects, state, stdin);
        let out = self.node(body, state, &streams.stdin);
        self.deliver(out, &streams, state)
    }
}

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
        let to_output = redirect.fd.is_none_or(|fd| fd == 1);
        match redirect.kind {
            RedirectKind::HereDoc => {
                let body = redirect.body.as_ref().and_then(|body| body.get());
                let text = body.map(|word| self.texts(word, state).join("\n"));
                self.feed(redirect.fd, text.unwrap_or_default(), streams);
            }
            RedirectKind::HereString => {
                let text = self.texts(&redirect.target, state).join("\n");
                self.feed(redirect.fd, text, streams);
            }
            RedirectKind::Read | RedirectKind::ReadWrite => {
                for file in self.fields(&redirect.target, state) {
                    let text = self.read_file(&file, state);
                    self.feed(redirect.fd, text, streams);
                }
            }
            RedirectKind::Write | RedirectKind::Append => {
                let append = redirect.kind == RedirectKind::Append;
                for file in self.fields(&redirect.target, state) {
                    if file.starts_with("/dev/tcp/") || file.starts_with("/dev/udp/") {
                        self.read_file(&file, state);
                    }
                    let kept = format!("/dev/fd/{file}");
                    let file = if self.sinks.contains_key(&kept) {
                        kept
                    } else {
                        file
                    };
                    if to_output {
                        streams.sinks.push((file, append));
                    }
                }
            }
            RedirectKind::Duplicate => {
                for fd in self.texts(&redirect.target, state) {
                    let path = format!("/dev/fd/{fd}");
                    if to_output && self.sinks.contains_key(&path) {
                        streams.sinks.push((path, true));
                    }
                    let kept = self.world.files.get(&format!("/dev/fd/{fd}"));
                    let to_input = redirect.fd.is_none_or(|fd| fd == 0);
                    if let Some(text) = kept.cloned().filter(|_| to_input) {
                        self.feed(None, text, streams);
                    }
                }
            }
        }
    }

    /// Gives a text to the descriptor it is for; those of higher numbers are kept as files.
    fn feed(&mut self, fd: Option<u32>, text: String, streams: &mut Streams) {
        match fd {
            None | Some(0) => {
                streams.stdin = text;
                streams.fed = true;
            }
            Some(fd) => {
                self.world.files.insert(format!("/dev/fd/{fd}"), text);
            }
        }
    }

    /// What a file holds that a redirection opens for reading.
    fn read_file(&mut self, file: &str, state: &mut State) -> String {
        let open = Exec::of(vec!["<".to_owned(), file.to_owned()]);
        self.judge_command(&open, state);
        if file.starts_with("/dev/tcp/") {
            return marks::only(DOWNLOAD);
        }
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

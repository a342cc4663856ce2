//! The coarse pass: what is left to judge when the work budget has ended, or a text is nested too
//! deep to be read.
//!
//! The text is cut where a command can begin, loops and branches are read as plain lists, and each
//! piece is walked by itself with a small budget of its own and the state of the pieces before it. A
//! piece that ends even that budget is judged by its raw words ([`raw_words`]). Every piece comes to
//! all five rules this way, in time that grows with the text and no faster.

use crate::words::Words;
use std::collections::BTreeSet;

use crate::decision::Block;
use crate::marks::DOWNLOAD;
use crate::rules;
use crate::shell;

use super::pieces::{Pieces, flattened, regions};
use super::{Exec, State, Walker, World, append, wrappers};

/// Units of work for one piece, on top of one for four bytes.
const PIECE_FUEL: usize = 600;
/// Commands that one piece may run.
const PIECE_COMMANDS: usize = 60;
/// Units of work for all pieces, on top of one for sixteen bytes. Beyond them raw words decide.
pub(super) const WHOLE_FUEL: usize = 200_000;
/// Pieces that are judged by their raw words, about a tenth of a second's work; as many again when
/// they name one of [`SUSPECTS`]. Beyond them the text is let be.
pub(super) const RAW_PIECES: usize = 10_000;
/// Most texts that are kept for the coarse pass beside the command line itself.
const MAX_UNREAD: usize = 64;

/// Words in front of a command that are no command themselves.
const KEYWORDS: Words = Words("if then elif else fi while until do done { } !");

/// What is looked for first when raw words alone are too many.
const SUSPECTS: Words = Words(
    "git gh glab rm unlink shred find dd truncate rsync mv cat head tail less grep sed awk cp scp tar \
     printenv curl wget sh bash zsh dash python3 python node perl ruby",
);

/// What came of a walk.
pub struct Verdict {
    /// The first block.
    pub block: Option<Block>,
    /// The trail in words, when one was kept.
    pub trail: Vec<String>,
    /// Whether some of the text was judged by the coarse pass.
    pub coarse: bool,
    /// Whether even that had too much to do.
    pub unjudged: bool,
}

impl Walker<'_> {
    /// Walks a command line that starts in `cwd` and returns the first block. What could not be
    /// walked for lack of work or because of its depth is judged by the coarse pass.
    pub fn judge(mut self, command: &str, cwd: &str) -> Verdict {
        let mut shell = State::new(cwd);
        let printed = self.code(command, &mut shell, "");
        self.shown(&printed, &shell);
        let printed = self.traps(&mut shell);
        self.shown(&printed, &shell);
        let ended = self.fuel == 0;
        self.catch_up();
        if ended && !self.done() {
            self.world = World::default();
            self.sinks.clear();
            self.coarse(command, &State::new(cwd));
            self.catch_up();
        }
        self.verdict()
    }

    /// As [`Walker::judge`], with the coarse pass alone: for when the time is over.
    pub fn judge_coarsely(mut self, command: &str, cwd: &str) -> Verdict {
        self.coarse(command, &State::new(cwd));
        self.catch_up();
        self.verdict()
    }

    /// Judges what was kept, which may keep more.
    fn catch_up(&mut self) {
        while let Some((text, state)) = self.unread.get(self.caught_up).cloned() {
            self.caught_up += 1;
            if self.done() {
                return;
            }
            self.coarse(&text, &state);
        }
    }

    fn verdict(self) -> Verdict {
        Verdict {
            block: self.found,
            trail: self.trail.unwrap_or_default(),
            coarse: self.coarse,
            unjudged: self.unjudged,
        }
    }

    /// Keeps for the coarse pass what is not read. A loop may come here again and again, so it costs
    /// fuel; without any left the coarse pass sees the whole command line.
    pub(super) fn leave(&mut self, text: &str, state: Option<&State>) {
        if self.coarse {
            self.fuel = 0;
        } else {
            self.keep(text, state);
        }
    }

    /// As [`Walker::leave`], also while the coarse pass runs: each text is kept once.
    pub(super) fn keep(&mut self, text: &str, state: Option<&State>) {
        if self.unread.len() >= MAX_UNREAD {
            self.fuel = 0;
        } else if self.spend(1 + text.len() / 16)
            && self.unread.iter().all(|(known, _)| known != text)
        {
            let state = state.map_or_else(|| State::new(&self.ctx.worktree), State::clone);
            self.unread.push((text.to_owned(), state));
        }
    }

    /// Judges a text piece by piece.
    fn coarse(&mut self, text: &str, state: &State) {
        self.coarse = true;
        self.note(|| "the work budget ended; each piece by itself:".to_owned());
        self.layer(text, &mut state.clone(), 0);
    }

    fn layer(&mut self, text: &str, state: &mut State, layers: usize) {
        let mut seen = BTreeSet::new();
        // Each open subshell: the state before it, and what it prints.
        let mut scopes: Vec<(State, String)> = Vec::new();
        let mut flow = String::new();
        for piece in Pieces::of(text) {
            if self.done() {
                return;
            }
            match piece.opens {
                Some(true) => scopes.push((state.clone(), String::new())),
                Some(false) => {
                    if let Some((before, printed)) = scopes.pop() {
                        (*state, flow) = (before, printed);
                    }
                }
                None => {}
            }
            let code = without_keywords(piece.text);
            // Padding is mostly the same command again.
            let alone = !piece.piped && !piece.pipes && !code.is_empty();
            if alone && code.len() < 64 && !seen.insert((code, state.cwd.clone())) {
                continue;
            }
            // Nothing between `)` and `|`: what the subshell printed flows on.
            if !code.is_empty() {
                let input = std::mem::take(&mut flow);
                flow = self.piece(code, state, &input);
                if self.fuel == 0 && !self.done() {
                    self.too_long(code, state, &input, layers);
                }
            }
            if !piece.pipes {
                let printed = std::mem::take(&mut flow);
                if let Some((_, all)) = scopes.last_mut().filter(|_| !printed.is_empty()) {
                    append(all, &printed);
                }
            }
        }
    }

    /// Walks one piece; returns what it prints.
    fn piece(&mut self, code: &str, state: &mut State, stdin: &str) -> String {
        let fuel = (PIECE_FUEL + code.len() / 4).min(self.coarse_fuel);
        self.fuel = fuel;
        self.commands = PIECE_COMMANDS;
        self.calls = 0;
        if fuel == 0 {
            return String::new();
        }
        let tree = shell::parse(code, 0);
        let out = self.node(&tree, state, stdin);
        state.left = false;
        self.coarse_fuel = self.coarse_fuel.saturating_sub(fuel - self.fuel + 4);
        out
    }

    /// A piece beyond its budget: the code in its quotes and substitutions is cut open in turn, and
    /// in the end its own words are judged as they are.
    fn too_long(&mut self, code: &str, state: &mut State, stdin: &str, layers: usize) {
        let inside = match layers {
            _ if self.coarse_fuel == 0 => Vec::new(),
            0 | 1 => regions(code),
            2 => vec![flattened(code)],
            _ => Vec::new(),
        };
        if inside.is_empty() {
            self.raw(code, state, stdin);
        }
        for text in inside {
            self.layer(&text, &mut state.clone(), layers + 1);
        }
    }

    /// Judges the raw words of a piece.
    fn raw(&mut self, code: &str, state: &State, stdin: &str) {
        let suspect = |word: &str| SUSPECTS.has(crate::path::name(word));
        let suspected = code.split_whitespace().take(4).any(suspect);
        let left = if suspected {
            &mut self.raw_suspects
        } else {
            &mut self.raw_others
        };
        if *left == 0 {
            self.unjudged |= suspected;
            return;
        }
        *left -= 1;
        let exec = Exec {
            argv: raw_words(code),
            env: Vec::new(),
            stdin: stdin.to_owned(),
        };
        let name = exec.name();
        if name.is_empty() {
            return;
        }
        if super::runs_code(name) && stdin.contains(DOWNLOAD) {
            self.block(rules::pipe_to_shell::downloaded("shell code"));
        }
        self.judge_command(&exec, state);
    }
}

/// The words of a piece without quotes, wrappers and what stands before a command.
fn raw_words(code: &str) -> Vec<String> {
    let plain = code.replace(['\'', '"', '\\', '(', ')', '`'], " ");
    let mut words: Vec<String> = plain.split_whitespace().map(str::to_owned).collect();
    let before = |word: &String| {
        let name = crate::path::name(word);
        KEYWORDS.has(word.as_str())
            || wrappers::is_wrapper(name)
            || super::launch::SHELLS.has(name)
            || matches!(name, "eval" | "xargs" | "env" | "sudo" | "$")
            || wrappers::assignment(word).is_some()
            || word.starts_with('-')
            || word.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    let skip = words.iter().take_while(|word| before(word)).count();
    words.drain(..skip.min(words.len()));
    words
}

/// The text after the words that only hold commands together.
fn without_keywords(text: &str) -> &str {
    let mut rest = text.trim();
    loop {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        if !KEYWORDS.has(&rest[..end]) {
            return rest;
        }
        rest = rest[end..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Context;

    #[test]
    fn a_million_pieces_are_a_bounded_work() {
        let ctx = Context::new("/home/dev/wt");
        let numbered = |piece: &str| -> String {
            let pieces = (0..150_000).map(|n| piece.replace('#', &n.to_string()));
            pieces.collect()
        };
        for text in [
            "a|".repeat(500_000),
            numbered("a#|"),
            numbered("./a#;"),
            numbered("rm b/#;"),
        ] {
            let mut walker = Walker::new(&ctx, text.len());
            walker.coarse(&text, &State::new("/home/dev/wt"));
            // A walked piece costs at least five units.
            let most = (WHOLE_FUEL + text.len() / 16) / 5 + 2 * RAW_PIECES;
            assert!(walker.judged > 1_000, "{} judged", walker.judged);
            assert!(walker.judged <= most, "{} judged", walker.judged);
        }
    }

    #[test]
    fn what_a_rule_may_refuse_is_found_behind_too_many_pieces() {
        let ctx = Context::new("/home/dev/wt");
        for command in [
            "rm -rf /opt",
            "git push -f origin main",
            "sudo cat ~/.ssh/id_rsa",
        ] {
            let text = "a|".repeat(500_000) + "a;" + command;
            let verdict = Walker::new(&ctx, text.len()).judge_coarsely(&text, "/home/dev/wt");
            assert!(verdict.block.is_some(), "{command}");
        }
    }
}

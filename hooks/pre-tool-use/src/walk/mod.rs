//! A walk through a command line that does everything but run it.
//!
//! The walker keeps what the shell would keep (directory, variables, functions, aliases) and what
//! the line does to the disk (files, links, branches, git settings), expands every word to the
//! texts it may become, takes wrappers off (`sudo`, `xargs`, `bash -c`, …), and shows each command
//! that would really run to the rules. It also guesses what commands print, because that is what
//! flows into pipes, `$(…)` and `xargs`.
//!
//! Branches are walked one after the other and their states joined: a variable that may be either
//! of two texts stands for both. Work is bounded by [`Walker::fuel`] and the number
//! of commands; text that is nested too deep, or left when the fuel is out, is judged by the
//! `coarse` pass.
//!
//! Reading order: [`state`], [`exec`], this file, `expand` (words to texts), `simple` (one simple
//! command), `wrappers`, `launch` (shells, `eval`, interpreters), `embedded` and `sed` (code in what is
//! no shell), `builtins`, `output`.

mod brace;
mod builtins;
mod carriers;
mod coarse;
mod code;
mod container;
mod copies;
mod embedded;
mod exec;
mod expand;
mod files;
mod filters;
mod find;
mod launch;
mod loops;
mod manifests;
pub(crate) mod options;
mod output;
mod params;
mod pieces;
mod powershell;
mod printing;
mod processes;
mod redirect;
pub(crate) mod sed;
mod simple;
mod state;
mod stores;
mod wrappers;
mod xargs;

pub use coarse::Verdict;
pub use exec::{Exec, View};
pub(crate) use output::DOWNLOADERS;
pub use state::{State, World};

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::context::Context;
use crate::decision::Block;
use crate::marks::{self, ANY};
use crate::shell;
use crate::shell::syntax::{Link, Node};

/// Work allowed on top of one unit for four bytes of input.
const SPARE_FUEL: usize = 20_000;
/// Most commands that are walked; at 50 microseconds each the answer comes before the watchdog.
const MAX_COMMANDS: usize = 5_000;
/// Deepest nesting of calls: functions, `eval`, `bash -c`, aliases.
pub const MAX_CALLS: usize = 40;

/// The walker. See the module's documentation.
pub struct Walker<'c> {
    pub(crate) ctx: &'c Context,
    pub(crate) world: World,
    /// Units of work left.
    fuel: usize,
    /// Commands left.
    commands: usize,
    calls: usize,
    found: Option<Block>,
    /// The command runs in a container that shares nothing and is thrown away: what it downloads may
    /// run.
    contained: bool,
    /// The coarse pass has begun.
    coarse: bool,
    /// Texts that were nested too deep, with the state they would have met.
    unread: Vec<(String, State)>,
    /// How many of them are judged.
    caught_up: usize,
    /// Work left for the coarse pass.
    coarse_fuel: usize,
    /// Pieces left that are judged by raw words: those that name a command to suspect, and others.
    raw_suspects: usize,
    raw_others: usize,
    /// One of the first kind came after that.
    unjudged: bool,
    /// Commands shown to the rules.
    #[cfg(test)]
    judged: usize,
    /// The trail for `explain`, when wanted.
    trail: Option<Vec<String>>,
    /// `>( … )` of this line: what is written to the path flows into the commands.
    sinks: BTreeMap<String, Rc<Node>>,
}

impl<'c> Walker<'c> {
    /// A walker for an input of `size` bytes.
    pub fn new(ctx: &'c Context, size: usize) -> Self {
        Self {
            ctx,
            world: World::default(),
            fuel: size / 4 + SPARE_FUEL,
            commands: MAX_COMMANDS,
            calls: 0,
            found: None,
            contained: false,
            coarse: false,
            unread: Vec::new(),
            caught_up: 0,
            coarse_fuel: coarse::WHOLE_FUEL + size / 16,
            raw_suspects: coarse::RAW_PIECES,
            raw_others: coarse::RAW_PIECES,
            unjudged: false,
            #[cfg(test)]
            judged: 0,
            trail: None,
            sinks: BTreeMap::new(),
        }
    }

    /// Keeps a trail in words.
    pub fn with_trail(mut self) -> Self {
        self.trail = Some(Vec::new());
        self
    }

    /// Adds a line to the trail.
    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if let Some(trail) = self.trail.as_mut().filter(|trail| trail.len() < 200) {
            trail.push(line());
        }
    }

    pub(crate) fn block(&mut self, block: Option<Block>) {
        let thrown_away =
            |block: &Block| self.contained && block.rule.id == crate::rules::pipe_to_shell::RULE.id;
        if self.found.is_none() {
            self.found = block.filter(|block| !thrown_away(block));
        }
    }

    /// Whether nothing more needs to be looked at.
    fn done(&self) -> bool {
        self.found.is_some()
    }

    /// Spends fuel; false when there is none left.
    pub(crate) fn spend(&mut self, units: usize) -> bool {
        self.fuel = self.fuel.saturating_sub(units);
        self.fuel > 0
    }

    /// Counts a command; the last one takes the rest of the fuel.
    fn spend_command(&mut self) -> bool {
        self.commands = self.commands.saturating_sub(1);
        if self.commands == 0 {
            self.fuel = 0;
        }
        self.fuel > 0
    }

    /// Spends fuel for copying a text; false when there is none left.
    pub(crate) fn spend_copy(&mut self, bytes: usize) -> bool {
        self.spend(bytes / 32)
    }

    /// Runs `body` one call deeper; too deep, the text is judged by its words.
    pub(crate) fn deeper<T: Default>(
        &mut self,
        text: &str,
        body: impl FnOnce(&mut Self) -> T,
    ) -> T {
        if self.calls >= MAX_CALLS || !self.spend(1) {
            self.leave(text, None);
            return T::default();
        }
        self.calls += 1;
        let result = body(self);
        self.calls -= 1;
        result
    }

    /// Walks shell code and returns what it prints.
    pub(crate) fn code(&mut self, code: &str, state: &mut State, stdin: &str) -> String {
        if !self.spend(code.len() / 16 + 1) {
            self.leave(code, Some(state));
            return String::new();
        }
        self.deeper(code, |walker| {
            let tree = shell::parse(code, 0);
            walker.node(&tree, state, stdin)
        })
    }

    /// Walks a node and returns what it prints.
    pub(crate) fn node(&mut self, node: &Node, state: &mut State, stdin: &str) -> String {
        if self.done() || state.left || !self.spend(1) {
            return String::new();
        }
        match node {
            Node::Simple(simple) => self.simple(simple, state, stdin),
            Node::Pipeline(stages) => self.pipeline(stages, state, stdin),
            Node::Chain(chain) => self.chain(chain, state, stdin),
            Node::Subshell(body) | Node::Background(body) => self.process(body, state, stdin),
            Node::Coprocess(body) => self.coprocess(body, state, stdin),
            Node::Choice(arms, otherwise) => self.choice(arms, otherwise.as_deref(), state, stdin),
            Node::Repeat(test, body) => self.repeat(test, body, state, stdin),
            Node::Each(name, words, body) => self.each(name, words.as_deref(), body, state, stdin),
            Node::Case(subject, arms) => {
                self.fields(subject, state);
                let bodies = arms.iter().map(|(_, body)| body);
                self.either(bodies, state.clone(), state, stdin)
            }
            Node::Function(name, body) => {
                state.define(name, Rc::clone(body));
                String::new()
            }
            Node::Arithmetic(word) => {
                self.fields(word, state);
                String::new()
            }
            Node::Redirected(body, redirects) => self.redirected(body, redirects, state, stdin),
            Node::Unread(text) => {
                self.leave(text, Some(state));
                marks::only(ANY)
            }
        }
    }

    fn pipeline(&mut self, stages: &[Node], state: &mut State, stdin: &str) -> String {
        let mut flow = stdin.to_owned();
        let mut inside = state.clone();
        inside.outputs.clear();
        for (at, stage) in stages.iter().enumerate() {
            let last = at + 1 == stages.len();
            flow = self.process(stage, if last { state } else { &inside }, &flow);
        }
        flow
    }

    fn chain(&mut self, chain: &[(Link, Node)], state: &mut State, stdin: &str) -> String {
        let mut out = String::new();
        let mut before = state.cwd.clone();
        for (index, (link, node)) in chain.iter().enumerate() {
            if self.done() {
                break;
            }
            let next_is_or = chain
                .get(index + 1)
                .is_some_and(|(link, _)| *link == Link::Or);
            if next_is_or && *link != Link::Or {
                before.clone_from(&state.cwd);
            }
            let printed = match link {
                Link::Always if state.left => break,
                Link::Always => self.node(node, state, stdin),
                Link::And => self.and(node, state, stdin),
                Link::Or => self.or(node, &before, state, stdin),
            };
            let left = self.through_outputs(printed, state);
            append(&mut out, &left);
        }
        marks::bounded(out)
    }

    /// The right side of `&&`: the left is taken to have succeeded, but what the right side
    /// assigns may also not have happened.
    fn and(&mut self, node: &Node, state: &mut State, stdin: &str) -> String {
        let before = state.clone();
        let out = self.node(node, state, stdin);
        if state.left && !before.left {
            *state = before;
        } else {
            state.merge_vars(&before);
        }
        out
    }

    /// The right side of `||`: the left is taken to have failed only for this command, which so runs
    /// in the directory that was there before it.
    fn or(&mut self, node: &Node, before: &[String], state: &mut State, stdin: &str) -> String {
        let mut other = state.clone();
        other.left = false;
        other.cwd = before.to_vec();
        let out = self.node(node, &mut other, stdin);
        state.merge(other);
        out
    }

    fn choice(
        &mut self,
        arms: &[(Node, Node)],
        otherwise: Option<&Node>,
        state: &mut State,
        stdin: &str,
    ) -> String {
        let mut out = String::new();
        let mut ends: Option<State> = None;
        for (test, body) in arms {
            append(&mut out, &self.node(test, state, stdin));
            let mut taken = state.clone();
            append(&mut out, &self.node(body, &mut taken, stdin));
            join(&mut ends, taken);
        }
        let mut last = state.clone();
        if let Some(body) = otherwise {
            append(&mut out, &self.node(body, &mut last, stdin));
        }
        join(&mut ends, last);
        *state = ends.unwrap_or_else(|| state.clone());
        out
    }

    fn either<'n>(
        &mut self,
        bodies: impl Iterator<Item = &'n Node>,
        before: State,
        state: &mut State,
        stdin: &str,
    ) -> String {
        let mut out = String::new();
        for body in bodies {
            let mut taken = before.clone();
            append(&mut out, &self.node(body, &mut taken, stdin));
            state.merge(taken);
        }
        out
    }
}

/// Whether a command is a shell or an interpreter.
pub(crate) fn runs_code(name: &str) -> bool {
    launch::SHELLS.has(name) || code::Language::of(name).is_some()
}

/// Appends what a further command prints.
pub(crate) fn append(out: &mut String, printed: &str) {
    if printed.is_empty() || out.len() > marks::MAX_TEXT {
        return;
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(printed);
}

fn join(ends: &mut Option<State>, state: State) {
    match ends {
        Some(end) => end.merge(state),
        None => *ends = Some(state),
    }
}

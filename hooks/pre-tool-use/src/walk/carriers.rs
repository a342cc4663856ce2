//! Commands with another purpose that run commands on the way: `git`, `tar`, `cmake`, `tmux`, editors.

use crate::call::quote;
use crate::git::GitLine;

use super::options::{self, Spec};
use super::{Exec, State, Walker};
use crate::words::Words;

impl Walker<'_> {
    /// `git` subcommands, aliases and settings that run commands.
    pub(super) fn git(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let line = GitLine::read(exec.args());
        for code in line.commands(&exec.env) {
            self.code_of(&code, &mut state.clone(), "");
        }
        if let Some(words) = line.inner_command() {
            let inside = exec.with(words);
            return Some(self.deeper("git", |walker| walker.exec(inside, &mut state.clone())));
        }
        let alias = self.git_alias(&line, state)?;
        self.note(|| format!("git alias {}:", line.sub));
        let rest: Vec<_> = line
            .args
            .iter()
            .map(|arg| super::simple::requote(arg))
            .collect();
        let code = match alias.strip_prefix('!') {
            Some(shell) => format!("{shell} {}", rest.join(" ")),
            None => {
                let global: Vec<_> = line.global.iter().map(|arg| quote(arg)).collect();
                format!("git {} {alias} {}", global.join(" "), rest.join(" "))
            }
        };
        Some(self.code_of(&code, &mut state.clone(), &exec.stdin))
    }

    fn git_alias(&self, line: &GitLine, state: &State) -> Option<String> {
        let key = format!("alias.{}", line.sub.to_ascii_lowercase());
        if line.sub.is_empty() || crate::git::is_builtin(&line.sub) {
            return None;
        }
        line.setting(&key)
            .or_else(|| self.world.git_setting(&key).map(str::to_owned))
            .or_else(|| crate::git::Repository::of(line, state, self.ctx)?.setting(&key))
    }

    /// `tar` options that are commands.
    pub(super) fn tar(&mut self, exec: &Exec, state: &State) -> Option<String> {
        let flags = [
            "--checkpoint-action=exec=",
            "--to-command=",
            "--use-compress-program=",
        ];
        let after = exec.args().windows(2).filter(|pair| pair[0] == "-I");
        for pair in after {
            self.code_of(&pair[1], &mut state.clone(), "");
        }
        for arg in exec.args() {
            if let Some(code) = flags.iter().find_map(|flag| arg.strip_prefix(flag)) {
                self.code_of(code, &mut state.clone(), "");
            }
        }
        None
    }

    /// `cmake -E rm`, `cmake -E env`: the same commands under another name.
    pub(super) fn cmake(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let args = exec.args();
        if args.first().is_none_or(|arg| arg != "-E") {
            return None;
        }
        let mut argv = args[1..].to_vec();
        match argv.first_mut() {
            Some(verb) if verb == "remove_directory" => "rimraf".clone_into(verb),
            Some(verb) if verb == "remove" => "rm".clone_into(verb),
            Some(verb) if verb == "rm" || verb == "env" => {}
            _ => return None,
        }
        Some(self.deeper("cmake", |walker| walker.exec(exec.with(argv), state)))
    }
}

/// What `tmux` runs in a shell, or types into one.
pub(super) fn tmux_commands(args: &[String]) -> Vec<String> {
    let spec = Spec {
        short: "bcefFnsStxyLT",
        long: Words(""),
    };
    let operands = options::operands(args, spec);
    let Some((verb, rest)) = operands.split_first() else {
        return Vec::new();
    };
    let runs = [
        "new", "neww", "splitw", "split", "respawn", "run", "send", "if", "pipe", "popup",
    ];
    if !runs.iter().any(|start| verb.starts_with(start)) {
        return Vec::new();
    }
    let mut out = vec![rest.join(" ")];
    out.extend(
        rest.iter()
            .filter(|word| word.contains(' '))
            .map(|w| (*w).to_owned()),
    );
    out
}

/// `vim -c '!cmd'` and `ed <<< '!cmd'`.
pub(super) fn editor_commands(exec: &Exec) -> Vec<String> {
    let lines = exec
        .args()
        .iter()
        .map(String::as_str)
        .chain(exec.stdin.lines());
    lines
        .filter_map(|line| {
            let line = line.trim_start_matches(['+', ':', ' ']);
            let called = || {
                let (_, text) = line.split_once("system(")?.1.split_once(['"', '\''])?;
                Some(text.trim_end_matches(['"', '\'', ')']))
            };
            line.strip_prefix('!').or_else(called).map(str::to_owned)
        })
        .collect()
}

//! Commands with another purpose that run commands on the way: `git`, `tar`, `cmake`, `tmux`, editors.

use crate::call::quote;
use crate::git::GitLine;
use crate::marks::{self, DOWNLOAD, STAR};

use super::options::{self, Spec};
use super::{Exec, State, Walker};
use crate::words::Words;

impl Walker<'_> {
    /// `git` subcommands, aliases and settings that run commands.
    pub(super) fn git(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let line = GitLine::read(exec.args());
        for code in line.commands(&exec.env) {
            self.code_aside(&code, state, "");
        }
        if let Some(words) = line.inner_command() {
            let inside = exec.with(words);
            return Some(self.deeper("git", |walker| walker.exec(inside, &mut state.clone())));
        }
        let alias = self.git_alias(&line, exec, state)?;
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
        Some(self.code_aside(&code, state, &exec.stdin))
    }

    fn git_alias(&self, line: &GitLine, exec: &Exec, state: &State) -> Option<String> {
        let key = format!("alias.{}", line.sub.to_ascii_lowercase());
        if line.sub.is_empty() || crate::git::is_builtin(&line.sub) {
            return None;
        }
        let from_environment = || {
            let value = |name: String| {
                let given = exec.env.iter().rev().find(|(key, _)| *key == name);
                let exported = || state.var(&name).filter(|var| var.exported);
                given
                    .map(|(_, value)| value.clone())
                    .or_else(|| exported()?.values.first().cloned())
            };
            (0..8).find_map(|at| {
                let found = value(format!("GIT_CONFIG_KEY_{at}"))?.to_ascii_lowercase() == key;
                found.then(|| value(format!("GIT_CONFIG_VALUE_{at}")))?
            })
        };
        line.setting(&key)
            .or_else(from_environment)
            .or_else(|| self.world.git_setting(&key).map(str::to_owned))
            .or_else(|| crate::git::Repository::of(line, state, self.ctx)?.setting(&key))
    }

    /// What is unpacked out of a download is one.
    pub(super) fn unpacked_download(&mut self, exec: &Exec, state: &State) {
        let fed = exec.stdin.contains(DOWNLOAD);
        let named = exec.args().iter().any(|file| {
            let text = self.content(file, state);
            text.is_some_and(|text| text.contains(DOWNLOAD))
        });
        let first = exec.args().first().map_or("", String::as_str);
        let unpacks = match exec.name() {
            "tar" | "gtar" | "bsdtar" => {
                first.contains('x') || exec.args().iter().any(|a| a == "-x")
            }
            _ => true,
        };
        if !unpacks || !(fed || named) {
            return;
        }
        let dirs = ["-C", "-d", "--directory"];
        let into = exec
            .args()
            .windows(2)
            .find(|pair| dirs.contains(&pair[0].as_str()));
        let dir = into.map_or(".", |pair| pair[1].as_str());
        if let Some(dir) = self.certain_path(dir, state) {
            let files = &mut self.world.files;
            files.insert(format!("{dir}/{STAR}"), marks::only(DOWNLOAD));
        }
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
            self.code_aside(&pair[1], state, "");
        }
        for arg in exec.args() {
            if let Some(code) = flags.iter().find_map(|flag| arg.strip_prefix(flag)) {
                self.code_aside(code, state, "");
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
            let deleted = || {
                let (_, text) = line.split_once("delete(")?;
                Some(format!("rm -rf {}", text.split([',', ')']).next()?))
            };
            let code = line.strip_prefix('!').or_else(called).map(str::to_owned);
            code.or_else(deleted)
        })
        .collect()
}

/// What `jj git push` and `sl push` push.
pub(super) fn pushed_by(exec: &Exec) -> Vec<String> {
    let args = exec.args();
    if !args.iter().any(|arg| arg == "push") {
        return Vec::new();
    }
    if args.iter().any(|arg| arg == "--all" || arg == "--tracked") {
        return vec!["--all".to_owned()];
    }
    let flags = Words("-b --bookmark --branch --to -B");
    super::embedded::values(args, flags)
        .into_iter()
        .map(|name| name.trim_start_matches("exact:").to_owned())
        .collect()
}

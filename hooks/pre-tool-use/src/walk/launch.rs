//! Commands that run code: shells, `eval`, `source`, interpreters, scripts this line wrote, remote
//! shells.

use std::rc::Rc;

use crate::marks::{self, ANY, DOWNLOAD, OPAQUE};
use crate::rules::pipe_to_shell;
use crate::words::Words;

use super::carriers::{editor_commands, tmux_commands};
use super::code::Language;
use super::filters::only_names;
use super::options::{self, Arg, Spec};
use super::{Exec, State, Walker};

/// Names of shells.
pub(crate) const SHELLS: Words = Words("sh bash dash zsh ksh ash mksh fish rbash csh tcsh yash");

/// `ssh` options that take a value.
const SSH: Spec = Spec {
    short: "BbcDEeFIiJLlmOopQRSWw",
    long: Words(""),
};

impl Walker<'_> {
    /// Follows a command into the code it runs; `None` when it runs none that is known.
    pub(super) fn launch(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let name = exec.name();
        self.embedded(exec, state);
        if SHELLS.has(name) {
            self.startup(exec, state);
            return Some(self.shell(exec, state));
        }
        if let Some(language) = Language::of(name) {
            return self.interpreter(language, exec, state);
        }
        match name {
            "eval" => Some(self.code_of(&exec.args().join(" "), state, &exec.stdin)),
            "source" | "." => {
                let file = exec.args().first()?;
                let text = if is_stdin(file) {
                    exec.stdin.clone()
                } else {
                    self.content(file, state)?
                };
                Some(self.code_of(&text, state, &exec.stdin))
            }
            "trap" => {
                let code = exec.args().iter().find(|arg| !arg.starts_with('-'))?;
                self.trap(code, state);
                Some(String::new())
            }
            "ssh" | "mosh" => self.remote(exec, state),
            "su" | "runuser" | "at" | "batch" => Some(self.code_aside(&exec.stdin, state, "")),
            "tmux" => {
                for code in tmux_commands(exec.args()) {
                    self.code_aside(&code, state, "");
                }
                Some(String::new())
            }
            "rails" | "manage.py" | "artisan" | "wp" | "drush" | "mix" | "python" => {
                self.console(exec, state);
                None
            }
            "cmd" | "cmd.exe" => {
                let code = exec
                    .args()
                    .iter()
                    .position(|arg| arg.eq_ignore_ascii_case("/c"))?;
                let code = exec.args()[code + 1..].join(" ");
                self.powershell(&code, state, &exec.stdin);
                Some(String::new())
            }
            "jj" | "sl" => {
                for branch in super::carriers::pushed_by(exec) {
                    let argv = ["git", "push", "origin", &branch].map(str::to_owned);
                    self.judge_command(&Exec::of(argv.to_vec()), state);
                }
                None
            }
            "vim" | "vi" | "nvim" | "ex" | "ed" => {
                for code in editor_commands(exec) {
                    self.code_aside(&code, state, "");
                }
                None
            }
            "watch" | "hyperfine" | "concurrently" => Some(self.watched(exec, state)),
            "xargs" | "gxargs" => Some(self.xargs(exec, state)),
            "parallel" => Some(self.parallel(exec, state)),
            "find" | "gfind" => Some(self.find(exec, state)),
            "fd" | "fdfind" => self.fd(exec, state),
            "jq" | "yq" | "gojq" => {
                self.script_change(exec);
                None
            }
            "npm" | "pnpm" => {
                self.package_change(exec);
                None
            }
            "git" => self.git(exec, state),
            "tar" | "gtar" | "bsdtar" => {
                self.unpacked_download(exec, state);
                self.tar(exec, state)
            }
            "unzip" | "7z" | "bsdcpio" | "cpio" => {
                self.unpacked_download(exec, state);
                None
            }
            "cmake" => self.cmake(exec, state),
            _ if super::container::RUNTIMES.has(name) => self.container(exec, state),
            _ if exec.argv[0].contains('/') => self.script(&exec.argv[0], exec, state),
            name if self.on_path(name, exec, state).is_some() => {
                let file = self.on_path(name, exec, state)?;
                self.script(&file, exec, state)
            }
            name if self.world.installed.iter().any(|it| it == name) => {
                self.block(pipe_to_shell::downloaded("a program"));
                None
            }
            _ => None,
        }
    }

    /// Walks code unless it came from the network or was decoded from something unreadable.
    pub(super) fn code_of(&mut self, code: &str, state: &mut State, stdin: &str) -> String {
        if code.contains(DOWNLOAD) {
            self.block(pipe_to_shell::downloaded("shell code"));
        } else if code.contains(OPAQUE) {
            self.block(pipe_to_shell::decoded());
        }
        if self.done() {
            String::new()
        } else {
            self.code(code, state, stdin)
        }
    }

    fn shell(&mut self, exec: &Exec, state: &State) -> String {
        let (code_flag, stdin_flag, operands) = shell_args(exec.args());
        if only_parses(exec.args()) {
            return String::new();
        }
        let mut child = state.clone();
        child.left = false;
        child.traps = Rc::default();
        child.outputs.clear();
        for (name, value) in &exec.env {
            child.set(name, vec![value.clone()], true);
        }
        let first = operands.first().cloned();
        if code_flag {
            child.program = operands.get(1).cloned().unwrap_or_else(|| "sh".to_owned());
            child.positional = operands.get(2..).unwrap_or_default().to_vec();
            let out = self.code_of(&first.unwrap_or_default(), &mut child, &exec.stdin);
            self.traps(&mut child);
            return out;
        }
        let out = match first.filter(|file| !stdin_flag && !is_stdin(file)) {
            Some(file) => {
                child.positional = operands[1..].to_vec();
                let text = self.content(&file, state).unwrap_or_default();
                self.code_of(&text, &mut child, &exec.stdin)
            }
            None => {
                child.positional = operands;
                self.code_of(&exec.stdin, &mut child, "")
            }
        };
        self.traps(&mut child);
        out
    }

    /// A program given by its path: a script this line wrote or downloaded.
    fn script(&mut self, file: &str, exec: &Exec, state: &State) -> Option<String> {
        let text = self.content(file, state)?;
        let first = text.lines().next().unwrap_or_default();
        let program = first
            .strip_prefix("#!")
            .and_then(|line| line.split_whitespace().last());
        let language = program.map(crate::path::name).and_then(Language::of);
        let mut child = state.clone();
        child.positional = exec.args().to_vec();
        Some(match language {
            Some(language) => self.foreign(language, &text, &mut child, &exec.stdin),
            None => self.code_of(&text, &mut child, &exec.stdin),
        })
    }

    /// A file this line wrote in a directory that it also put on `PATH`.
    fn on_path(&self, name: &str, exec: &Exec, state: &State) -> Option<String> {
        if self.world.files.is_empty() {
            return None;
        }
        let inline = exec.env.iter().rev().find(|(key, _)| key == "PATH");
        let value = match inline {
            Some((_, value)) => value.clone(),
            None => state.var("PATH")?.values.first()?.clone(),
        };
        let files = value.split(':').map(|dir| format!("{dir}/{name}"));
        let written = |file: &String| {
            let path = self.certain_path(file, state);
            path.is_some_and(|path| self.world.files.contains_key(&path))
        };
        files.into_iter().find(written)
    }

    /// Code of another language, unless it was downloaded.
    pub(super) fn foreign(
        &mut self,
        language: Language,
        code: &str,
        state: &mut State,
        stdin: &str,
    ) -> String {
        if code.contains(DOWNLOAD) {
            self.block(pipe_to_shell::downloaded(language.name()));
        } else if code.contains(OPAQUE) {
            self.block(pipe_to_shell::decoded());
        }
        if language == Language::PowerShell && !self.done() {
            // Its plain commands read as a shell's.
            self.powershell(code, state, stdin);
        }
        let fetched = if self.done() {
            false
        } else {
            self.scan(language, code, state, stdin)
        };
        if language == Language::Awk && !code.contains('"') && only_names(stdin) {
            return stdin.to_owned();
        }
        if language == Language::Awk && !stdin.contains(DOWNLOAD) {
            let printed = super::code::printed(code, stdin);
            if !printed.is_empty() {
                return printed;
            }
        }
        marks::only(if fetched || stdin.contains(DOWNLOAD) {
            DOWNLOAD
        } else {
            ANY
        })
    }

    fn interpreter(
        &mut self,
        language: Language,
        exec: &Exec,
        state: &mut State,
    ) -> Option<String> {
        self.console(exec, state);
        let given = language.arguments(exec.args());
        let mut child = state.clone();
        child.positional = given.rest;
        let piped = given.code.as_deref() == Some("-");
        if let Some(code) = given.code.filter(|_| !piped) {
            return Some(self.foreign(language, &code, &mut child, &exec.stdin));
        }
        if given.other {
            return None;
        }
        let text = match given.file.as_deref() {
            None => exec.stdin.clone(),
            Some(file) if is_stdin(file) => exec.stdin.clone(),
            Some(file) => self.content(file, state)?,
        };
        Some(self.foreign(language, &text, &mut child, &exec.stdin))
    }

    /// Code for the console of a framework: `php artisan tinker --execute=CODE`, `rails runner CODE`.
    fn console(&mut self, exec: &Exec, state: &State) {
        let args = exec.args();
        let at = |word: &str| args.iter().position(|arg| arg == word);
        let after = |word: &str| args.get(at(word)? + 1).cloned();
        let option = |name: &str| {
            let attached = args
                .iter()
                .find_map(|arg| arg.strip_prefix(name)?.strip_prefix('='));
            attached.map(str::to_owned).or_else(|| after(name))
        };
        let found = if at("tinker").is_some() {
            option("--execute").map(|code| (Language::Php, code))
        } else if exec.name() == "wp" || exec.name() == "drush" {
            after("eval")
                .or_else(|| after("ev"))
                .map(|code| (Language::Php, code))
        } else if exec.name() == "mix" {
            after("-e").map(|code| (Language::Elixir, code))
        } else if at("shell").is_some() {
            option("-c")
                .or_else(|| option("--command"))
                .map(|code| (Language::Python, code))
        } else {
            let code = after("runner").or_else(|| after("r"));
            code.filter(|_| exec.name() == "rails")
                .map(|code| (Language::Ruby, code))
        };
        if let Some((language, code)) = found {
            self.foreign(language, &code, &mut state.clone(), "");
        }
    }

    /// `ssh HOST COMMAND`: another machine, so no directory there is the worktree.
    fn remote(&mut self, exec: &Exec, state: &State) -> Option<String> {
        let args = exec.args();
        let host = options::first_operand(args, SSH);
        let command = args.get(host + 1..)?;
        let mut there = State::new(&marks::only(ANY));
        there.positional = state.positional.clone();
        let code = if command.is_empty() {
            exec.stdin.clone()
        } else {
            command.join(" ")
        };
        self.code_aside(&code, &there, &exec.stdin);
        // What another machine prints is as unseen as a download.
        Some(marks::only(DOWNLOAD))
    }

    /// `watch` and `hyperfine` hand their words to a shell.
    fn watched(&mut self, exec: &Exec, state: &State) -> String {
        let spec = Spec {
            short: "nNwrmMpScPDiLuk",
            long: Words("interval warmup runs prepare"),
        };
        let args = exec.args();
        if exec.name() == "watch" {
            let at = options::first_operand(
                args,
                Spec {
                    short: "nq",
                    long: Words("interval"),
                },
            );
            let code = args.get(at..).unwrap_or_default().join(" ");
            return self.code_aside(&code, state, &exec.stdin);
        }
        for command in options::operands(args, spec) {
            self.code_aside(command, state, "");
        }
        marks::only(ANY)
    }
}

/// Whether a file name stands for the standard input.
pub(super) fn is_stdin(file: &str) -> bool {
    matches!(
        file,
        "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "/proc/$$/fd/0"
    )
}

/// Whether the shell only looks whether it can read the code: `-n`, `-o noexec`.
fn only_parses(args: &[String]) -> bool {
    let given = &args[..options::first_operand(args, SHELL_OPTIONS).min(args.len())];
    options::read(given, SHELL_OPTIONS).iter().any(|arg| {
        matches!(arg, Arg::Short('n', _) | Arg::Long("no-execute", _))
            || matches!(arg, Arg::Short('o', Some("noexec")))
    })
}

const SHELL_OPTIONS: Spec = Spec {
    short: "oO",
    long: Words("rcfile init-file"),
};

/// Whether `-c` and `-s` are given, and the operands.
fn shell_args(args: &[String]) -> (bool, bool, Vec<String>) {
    let (mut code, mut stdin) = (false, false);
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        let Some(cluster) = arg.strip_prefix(['-', '+']).filter(|rest| !rest.is_empty()) else {
            break;
        };
        at += 1;
        if let Some(long) = cluster.strip_prefix('-') {
            if long.is_empty() {
                break;
            }
            at += usize::from(matches!(long, "rcfile" | "init-file"));
            code |= long == "command";
            continue;
        }
        code |= cluster.contains('c');
        stdin |= cluster.contains('s');
        at += usize::from(cluster.ends_with(['o', 'O']));
    }
    let from = at.min(args.len());
    let dash = args.get(from).is_some_and(|arg| arg == "-");
    (code, stdin, args[from + usize::from(dash)..].to_vec())
}

//! Shell code in the options and the input of commands that are no shells: `sed 's/…/…/e'`,
//! `make --eval`, `sqlite3 '.shell …'`, a crontab.
//!
//! Each finds its own spelling and nothing more. What a command's own language can do beside that
//! (`gdb`'s Python) is not followed: those are not ways a model takes by mistake.

use crate::words::Words;

use super::{Exec, State, Walker, sed};

/// Variables that programs run as a command line.
const VARIABLES: Words = Words("PAGER MANPAGER LESSOPEN EDITOR VISUAL BROWSER");

/// Variables that name code which a program loads at its start.
const LOADING: Words = Words(
    "NODE_OPTIONS RUBYOPT PERL5OPT LD_PRELOAD PYTHONSTARTUP JAVA_TOOL_OPTIONS DYLD_INSERT_LIBRARIES \
     PYTHONPATH",
);

impl Walker<'_> {
    /// Walks the shell code that a command carries.
    pub(super) fn embedded(&mut self, exec: &Exec, state: &State) {
        let variables = exec.env.iter();
        let mut code: Vec<String> = variables
            .filter(|(name, _)| VARIABLES.has(name.as_str()))
            .map(|(_, value)| value.clone())
            .collect();
        code.extend(commands(exec));
        for (_, value) in exec.env.iter().filter(|(name, _)| LOADING.has(name)) {
            for word in value.split([' ', '=', ':']) {
                let file = word.trim_start_matches("-r").trim_start_matches("file://");
                let text = self.content(file, state);
                if text.is_some_and(|text| text.contains(crate::marks::DOWNLOAD)) {
                    self.block(crate::rules::pipe_to_shell::downloaded("a module"));
                }
            }
        }
        code.extend(self.scripts(exec, state));
        for code in code {
            self.code_aside(&code, state, &exec.stdin);
        }
    }

    /// What a shell runs by itself, because of these variables, when it starts.
    pub(super) fn startup(&mut self, exec: &Exec, state: &State) {
        let value = |name: &str| {
            let inline = exec.env.iter().rev().find(|(key, _)| key == name);
            let exported = || state.var(name).filter(|var| var.exported);
            inline
                .map(|(_, value)| value.clone())
                .or_else(|| exported()?.values.first().cloned())
        };
        if let Some(text) = value("PS4") {
            self.trace_prompt(&text, state);
        }
        if let Some(code) = value("PROMPT_COMMAND") {
            self.code_aside(&code, state, "");
        }
        // Only an interactive `sh` reads `ENV`, which is many a program's own variable too.
        let interactive = exec.args().iter().any(|arg| arg == "-i");
        let files = [value("BASH_ENV"), value("ENV").filter(|_| interactive)];
        let own = values(exec.args(), Words("--rcfile --init-file"));
        let own = own.into_iter().map(str::to_owned);
        for file in files.into_iter().flatten().chain(own) {
            let source = Exec::of(vec![".".to_owned(), file]);
            self.deeper("", |walker| walker.exec(source, &mut state.clone()));
        }
    }

    /// `PS4` is expanded before every command that `set -x` shows.
    pub(super) fn trace_prompt(&mut self, value: &str, state: &State) {
        if value.contains(['$', '`']) {
            let code = format!(": \"{}\"", value.replace('"', "\\\""));
            self.code_aside(&code, state, "");
        }
    }
}

fn commands(exec: &Exec) -> Vec<String> {
    let args = exec.args();
    match exec.name() {
        "sed" | "gsed" => sed::commands(args, &exec.stdin),
        "make" | "gmake" => {
            let shells = args.iter().filter_map(|arg| arg.strip_prefix("SHELL="));
            let files = values(args, Words("--eval -E")).into_iter();
            shells
                .map(str::to_owned)
                .chain(files.flat_map(super::manifests::recipes))
                .collect()
        }
        "rsync" => values(args, Words("-e --rsh"))
            .into_iter()
            .map(str::to_owned)
            .collect(),
        "ssh" | "scp" | "sftp" => {
            let option = |arg: &String| Some(arg.split_once("ProxyCommand=")?.1.to_owned());
            args.iter().filter_map(option).collect()
        }
        "man" => values(args, Words("-P --pager"))
            .into_iter()
            .map(str::to_owned)
            .collect(),
        "less" | "more" => after_sign(args.iter().map(String::as_str), Words("+!")),
        "gdb" | "lldb" => after_sign(values(args, Words("-ex -o")), Words("shell !")),
        "sqlite3" => after_sign(lines(exec), Words(".shell .system")),
        "psql" | "mysql" | "mariadb" => {
            let parts = lines(exec).filter_map(|line| Some(line.split_once("\\!")?.1.to_owned()));
            parts.collect()
        }
        "m4" => lines(exec)
            .filter_map(|line| Some(line.split_once("syscmd(")?.1.split(')').next()?.to_owned()))
            .collect(),
        "crontab" => exec.stdin.lines().filter_map(of_schedule).collect(),
        _ => Vec::new(),
    }
}

/// Every argument and every line of the input.
fn lines(exec: &Exec) -> impl Iterator<Item = &str> {
    let args = exec.args().iter().flat_map(|arg| arg.lines());
    args.chain(exec.stdin.lines())
}

/// What follows one of the signs, a `!` or a whole word, at the start.
fn after_sign<'t>(texts: impl IntoIterator<Item = &'t str>, signs: Words) -> Vec<String> {
    let after = |text: &str| {
        let text = text.trim_start();
        let rest = signs.iter().find_map(|sign| {
            let whole = |rest: &&str| sign.ends_with('!') || rest.starts_with(' ');
            text.strip_prefix(sign).filter(whole)
        })?;
        Some(rest.to_owned())
    };
    texts.into_iter().filter_map(after).collect()
}

/// The values of these options, attached or in the next word.
pub(super) fn values(args: &[String], options: Words) -> Vec<&str> {
    let mut out = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        for option in options.iter() {
            match arg.strip_prefix(option) {
                Some("") => out.extend(args.get(at + 1).map(String::as_str)),
                Some(rest) => out.extend(rest.strip_prefix('=')),
                None => {}
            }
        }
    }
    out
}

/// The command of a line of a crontab.
pub(super) fn of_schedule(line: &str) -> Option<String> {
    let line = line.trim();
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let timed = line.starts_with(|c: char| c == '@' || c == '*' || c.is_ascii_digit());
    let mut rest = line;
    for _ in 0..fields {
        rest = rest.split_once([' ', '\t'])?.1.trim_start();
    }
    timed.then(|| rest.to_owned())
}

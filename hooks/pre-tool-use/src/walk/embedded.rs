//! Shell code in the options and the input of commands that are no shells: `sed 's/…/…/e'`,
//! `make --eval`, `sqlite3 '.shell …'`, a crontab.
//!
//! Each finds its own spelling and nothing more. What a command's own language can do beside that
//! (`emacs --eval`, `gdb`'s Python) is not followed: those are not ways a model takes by mistake.

use crate::json::Json;
use crate::words::Words;

use super::launch::is_stdin;
use super::{Exec, State, Walker, sed};

/// Variables that programs run as a command line.
const VARIABLES: Words = Words("PAGER MANPAGER LESSOPEN EDITOR VISUAL BROWSER");

impl Walker<'_> {
    /// Walks the shell code that a command carries.
    pub(super) fn embedded(&mut self, exec: &Exec, state: &State) {
        let variables = exec.env.iter();
        let mut code: Vec<String> = variables
            .filter(|(name, _)| VARIABLES.has(name.as_str()))
            .map(|(_, value)| value.clone())
            .collect();
        code.extend(commands(exec));
        code.extend(self.scripts(exec, state));
        for code in code {
            self.code_of(&code, &mut state.clone(), &exec.stdin);
        }
    }

    /// The commands in the makefile, or the `package.json`, that this line wrote.
    fn scripts(&mut self, exec: &Exec, state: &State) -> Vec<String> {
        match exec.name() {
            "make" | "gmake" | "just" => {
                let mut files = values(exec.args(), Words("-f --file --makefile --justfile"));
                if files.is_empty() {
                    files.extend(["Makefile", "makefile", "GNUmakefile", "justfile"]);
                }
                let mut code = Vec::new();
                for file in files {
                    let text = if is_stdin(file) {
                        Some(exec.stdin.clone())
                    } else {
                        self.content(file, state)
                    };
                    code.extend(text.map(|text| recipes(&text)).unwrap_or_default());
                }
                code
            }
            "npm" | "pnpm" | "yarn" | "bun" => {
                let text = self.content("package.json", state);
                text.map(|text| package_scripts(&text, exec.args()))
                    .unwrap_or_default()
            }
            _ => Vec::new(),
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
            self.code_of(&code, &mut state.clone(), "");
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
            self.code_of(&code, &mut state.clone(), "");
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
                .chain(files.flat_map(recipes))
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
        "expect" | "tclsh" => {
            let statements = lines(exec).flat_map(|line| line.split([';', '[', ']']));
            after_sign(statements, Words("spawn system exec"))
        }
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
fn values(args: &[String], options: Words) -> Vec<&str> {
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

/// The scripts of a `package.json` that the words name, and those that run by themselves around them.
fn package_scripts(text: &str, words: &[String]) -> Vec<String> {
    let Ok(json) = Json::parse(text) else {
        return Vec::new();
    };
    let Some(Json::Map(scripts)) = json.get("scripts") else {
        return Vec::new();
    };
    let installs = ["install", "i", "ci", "add"];
    let named = |name: &str| {
        let base = ["pre", "post"]
            .iter()
            .find_map(|part| name.strip_prefix(part));
        words.iter().any(|word| {
            *word == name
                || base == Some(word.as_str())
                || (installs.contains(&word.as_str())
                    && Words("preinstall install postinstall prepare").has(name))
        })
    };
    let run = scripts.iter().filter(|(name, _)| named(name));
    run.filter_map(|(_, code)| code.text().map(str::to_owned))
        .collect()
}

/// The commands in a piece of a makefile: `target:; command`, a line after a tab, `$(shell …)`.
fn recipes(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let indented = line
            .strip_prefix('\t')
            .or_else(|| line.strip_prefix("    "));
        let recipe = indented.or_else(|| {
            let (_, recipe) = line.split_once(':')?.1.split_once(';')?;
            Some(recipe)
        });
        out.extend(recipe.map(|code| code.trim_start_matches(['@', '-', '+']).replace("$$", "$")));
        let calls = line.split("$(shell ").skip(1);
        out.extend(calls.map(|call| call.trim_end_matches(')').to_owned()));
    }
    out
}

/// The command of a line of a crontab.
fn of_schedule(line: &str) -> Option<String> {
    let line = line.trim();
    let fields = if line.starts_with('@') { 1 } else { 5 };
    let timed = line.starts_with(|c: char| c == '@' || c == '*' || c.is_ascii_digit());
    let mut rest = line;
    for _ in 0..fields {
        rest = rest.split_once([' ', '\t'])?.1.trim_start();
    }
    timed.then(|| rest.to_owned())
}

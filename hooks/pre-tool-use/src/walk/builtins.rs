//! Builtins that change what the shell carries along.

use crate::marks::{self, ANY};
use crate::rules::credential_read::is_secret_variable;
use crate::words::Words;

use super::options::{self, Spec};
use super::wrappers::assignment;
use super::{Exec, State, Walker};

impl Walker<'_> {
    /// Runs a builtin; `None` when the command is none of those.
    pub(super) fn builtin(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let args = exec.args();
        match exec.name() {
            "cd" | "chdir" => {
                self.cd(args, state);
                self.cd_path(exec, state);
            }
            "pushd" => {
                state.push_cwd();
                self.cd(args, state);
            }
            "popd" => {
                let back = state.stack.pop().unwrap_or_else(|| vec![marks::only(ANY)]);
                state.enter(back);
            }
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                let shows = args.iter().any(|arg| arg == "-p");
                if shows && args.iter().any(|arg| is_secret_variable(arg)) {
                    return Some(marks::only(marks::SECRET));
                }
                declare(exec, state);
                for prompt in args.iter().filter_map(|arg| arg.strip_prefix("PS4=")) {
                    self.trace_prompt(prompt, state);
                }
            }
            "unset" => args.iter().for_each(|name| state.unset(name)),
            "set" => set_positional(args, state),
            "shift" => {
                if !state.positional.is_empty() {
                    state.positional.remove(0);
                }
            }
            "read" => read(exec, state),
            "mapfile" | "readarray" => mapfile(args, &exec.stdin, state),
            "alias" => {
                for (name, text) in args.iter().filter_map(|arg| arg.split_once('=')) {
                    state.set_alias(name, text);
                }
            }
            "exit" | "return" | "break" | "continue" | "logout" => state.left = true,
            "hash" => {
                if let [flag, program, name] = args
                    && flag == "-p"
                {
                    state.set_alias(name, program);
                }
            }
            "getopts" => {
                if let Some(name) = args.get(1) {
                    state.set(name, vec![marks::only(ANY)], false);
                    state.set("OPTARG", vec![marks::only(ANY)], false);
                }
            }
            ":" | "true" | "false" | "unalias" | "let" | "wait" | "ulimit" | "umask" | "shopt"
            | "[" | "test" | "[[" | "bg" | "fg" | "disown" | "enable" => {}
            _ => return None,
        }
        Some(String::new())
    }

    fn cd(&mut self, args: &[String], state: &mut State) {
        let operands = options::operands(args, options::PLAIN);
        let cwd = match operands.first() {
            None => vec![self.home()],
            Some(&"-") => state.old_cwd.clone(),
            Some(_) => {
                let texts = operands.iter().flat_map(|dir| self.paths_of(dir, state));
                texts.map(|path| self.through_links(path)).collect()
            }
        };
        state.enter(cwd);
    }

    /// With `CDPATH` a name may lead somewhere else.
    fn cd_path(&self, exec: &Exec, state: &mut State) {
        let inline = exec.env.iter().rev().find(|(key, _)| key == "CDPATH");
        let set = || state.var("CDPATH")?.values.first().cloned();
        let Some(value) = inline.map(|(_, value)| value.clone()).or_else(set) else {
            return;
        };
        let operands = options::operands(exec.args(), options::PLAIN);
        let name = operands
            .first()
            .filter(|name| !name.starts_with(['/', '.', '-']));
        let Some(name) = name else { return };
        for dir in value
            .split(':')
            .filter(|dir| !dir.is_empty() && *dir != ".")
        {
            let from = Self::from_old(state);
            for path in self.paths_of(&format!("{dir}/{name}"), &from) {
                if !state.cwd.contains(&path) {
                    state.cwd.push(path);
                }
            }
        }
    }

    /// The state as it was before the directory was entered.
    fn from_old(state: &State) -> State {
        let mut old = state.clone();
        old.cwd.clone_from(&state.old_cwd);
        old
    }

    /// The directory behind a link this line made.
    fn through_links(&self, path: String) -> String {
        self.world.follow(&path, true).unwrap_or(path)
    }
}

fn declare(exec: &Exec, state: &mut State) {
    let exported = exec.name() == "export" || exec.args().iter().any(|arg| arg == "-x");
    for arg in exec.args().iter().filter(|arg| !arg.starts_with('-')) {
        match assignment(arg) {
            Some((name, value)) => state.set(&name, vec![value], exported),
            None if exported => state.export(arg),
            None => {}
        }
    }
}

/// `set -- a b`: other options change nothing that matters here.
fn set_positional(args: &[String], state: &mut State) {
    let exports = |arg: &String| {
        arg == "allexport" || (arg.starts_with('-') && !arg.starts_with("--") && arg.contains('a'))
    };
    if args.iter().take_while(|arg| *arg != "--").any(exports) {
        state.exports_all = true;
    }
    if let Some(at) = args.iter().position(|arg| arg == "--") {
        state.positional = args[at + 1..].to_vec();
    } else if args.first().is_some_and(|arg| !arg.starts_with(['-', '+'])) {
        state.positional = args.to_vec();
    }
}

/// `read x y`: each variable may hold a line or a word of the input.
fn read(exec: &Exec, state: &mut State) {
    let (args, stdin) = (exec.args(), exec.stdin.as_str());
    let given = exec.env.iter().rev().find(|(name, _)| name == "IFS");
    let blanks = given.map_or_else(|| state.blanks(), |(_, value)| value.clone());
    let spec = Spec {
        short: "adinNptu",
        long: Words(""),
    };
    let names = options::operands(args, spec);
    let line = stdin.lines().next().unwrap_or_default();
    let value = if stdin.is_empty() {
        marks::only(ANY)
    } else {
        line.trim().to_owned()
    };
    let many = names.len() > 1;
    for name in if names.is_empty() {
        vec!["REPLY"]
    } else {
        names
    } {
        let words = || words_of(&value, &blanks);
        let values = if state.reads_all {
            stdin.lines().map(|line| line.trim().to_owned()).collect()
        } else if many {
            words()
        } else {
            vec![value.clone()]
        };
        state.set(name, values, false);
    }
    for pair in args
        .windows(2)
        .filter(|pair| pair[0] == "-a" || pair[0] == "-ra")
    {
        state.set(&pair[1], words_of(&value, &blanks), false);
    }
}

/// A text split at `IFS`.
fn words_of(text: &str, blanks: &str) -> Vec<String> {
    let words = text.split(|c: char| blanks.contains(c));
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn mapfile(args: &[String], stdin: &str, state: &mut State) {
    let spec = Spec {
        short: "dnOsuCc",
        long: Words(""),
    };
    let name = options::operands(args, spec)
        .first()
        .copied()
        .unwrap_or("MAPFILE");
    let lines: Vec<String> = stdin.lines().map(str::to_owned).collect();
    let values = if lines.is_empty() {
        vec![marks::only(ANY)]
    } else {
        lines
    };
    state.set(name, values, false);
}

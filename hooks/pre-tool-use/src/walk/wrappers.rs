//! Commands that run the command given to them.

use crate::marks::{self, ANY};
use crate::words::Words;

use super::options::{self, Arg, Spec};
use super::simple::requote;
use super::{Exec, State, Walker};

mod table;

pub(super) use table::is_wrapper;
use table::{ENTERING, code_option, inner};

/// Wrappers that put secrets, or a file of them, into the environment of the command.
const INJECTING: Words =
    Words("dotenv dotenvx infisical doppler aws-vault chamber envchain sops op");

impl Walker<'_> {
    /// Takes one wrapper off and runs what is inside. `None` when the command is no wrapper.
    pub(super) fn unwrap(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let name = exec.name().to_owned();
        if name == "env" {
            return self.env(exec, state);
        }
        if INJECTING.has(&name) {
            // What it reads itself is of interest too.
            self.judge_command(exec, state);
        }
        if let Some(code) = code_option(&name, exec.args()) {
            let mut there = state.clone();
            let login = |arg: &String| matches!(arg.as_str(), "-" | "-l" | "--login");
            if name == "su" && exec.args().iter().any(login) {
                there.cwd = vec![marks::only(ANY)];
            }
            return Some(self.code_aside(&code, &there, &exec.stdin));
        }
        let at = inner(&name, exec.args())?;
        if name == "command" && exec.args()[..at].iter().any(|a| a == "-v" || a == "-V") {
            return Some(format!(
                "/usr/bin/{}",
                exec.args().get(at).map_or("", String::as_str)
            ));
        }
        let rest = exec.args().get(at..).unwrap_or_default();
        if rest.is_empty() {
            return self.bare_wrapper(&name, exec, state);
        }
        let mut inside = exec.with(Vec::new());
        let mut words = rest.iter();
        let mut argv = Vec::new();
        // sudo and doas take assignments too.
        for word in words.by_ref() {
            let assigns = matches!(
                name.as_str(),
                "sudo" | "doas" | "cross-env" | "cross-env-shell"
            );
            match assignment(word).filter(|_| assigns) {
                Some(pair) => inside.env.push(pair),
                None => {
                    argv.push(word.clone());
                    break;
                }
            }
        }
        argv.extend(words.cloned());
        inside.argv = argv;
        let mut elsewhere = state.clone();
        self.change_directory(&name, &exec.args()[..at], &mut elsewhere);
        let here = if elsewhere.cwd == state.cwd {
            &mut *state
        } else {
            &mut elsewhere
        };
        let out = self.deeper(&rest.join(" "), |walker| walker.exec(inside, here));
        if name == "exec" {
            state.left = true;
        }
        Some(out)
    }

    /// `sudo -s` and `su` without a command are a shell.
    fn bare_wrapper(&mut self, name: &str, exec: &Exec, state: &mut State) -> Option<String> {
        let shell =
            |arg: &String| matches!(arg.as_str(), "-s" | "-i" | "--shell" | "--login" | "-si");
        if name != "sudo" && name != "doas" && name != "exec" {
            return None;
        }
        if !exec.args().iter().any(shell) {
            return None;
        }
        Some(self.exec(exec.with(vec!["sh".to_owned()]), state))
    }

    /// `env [-i] [-u NAME] [-C DIR] [-S TEXT] [NAME=VALUE]… [COMMAND]`.
    fn env(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let spec = Spec {
            short: "uCSaP",
            long: Words("unset chdir split-string argv0"),
        };
        let args = exec.args();
        let mut inside = exec.with(Vec::new());
        let mut child = state.clone();
        let (given, mut at) = options::leading(args, spec);
        self.change_directory("env", &args[..at], &mut child);
        for arg in given {
            if let Arg::Short('S', Some(text)) | Arg::Long("split-string", Some(text)) = arg {
                let rest: Vec<_> = args[at..].iter().map(|word| requote(word)).collect();
                let code = format!("env {text} {}", rest.join(" "));
                return Some(self.code(&code, &mut child, &exec.stdin));
            }
        }
        at += usize::from(args.get(at).is_some_and(|arg| arg == "-"));
        while let Some(pair) = args.get(at).and_then(|arg| assignment(arg)) {
            inside.env.push(pair);
            at += 1;
        }
        let rest = args.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return Some(format!("{}\n{ANY}", super::filters::ENVIRONMENT));
        }
        inside.argv = rest.to_vec();
        Some(self.deeper(&rest.join(" "), |walker| walker.exec(inside, &mut child)))
    }

    /// The directory that a wrapper's own options enter first.
    fn change_directory(&self, name: &str, options: &[String], state: &mut State) {
        let Some(flags) = ENTERING.of(name).next() else {
            return;
        };
        for (at, arg) in options.iter().enumerate() {
            let dir = flags.iter().find_map(|flag| match arg.strip_prefix(flag)? {
                "" => options.get(at + 1).map(String::as_str),
                rest if flag.starts_with("--") => rest.strip_prefix('='),
                rest => Some(rest),
            });
            if let Some(dir) = dir {
                state.cwd = self.paths_of(dir, state);
            }
        }
    }

    /// The absolute paths a word may name; unknown ones as a mark.
    pub(crate) fn paths_of(&self, text: &str, state: &State) -> Vec<String> {
        let path = |cwd: &String| state.absolute(text, cwd);
        let unknown = || marks::only(ANY);
        state
            .cwd
            .iter()
            .map(|cwd| path(cwd).unwrap_or_else(unknown))
            .collect()
    }
}

/// `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let letters = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let fits = !name.is_empty()
        && name.chars().all(letters)
        && !name.starts_with(|c: char| c.is_ascii_digit());
    fits.then(|| (name.to_owned(), value.to_owned()))
}

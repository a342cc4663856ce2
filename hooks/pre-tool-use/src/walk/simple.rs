//! One simple command: assignments, expansion, redirections, then what it runs.

use std::rc::Rc;

use crate::marks::{self, ANY, DOWNLOAD};
use crate::rules;
use crate::shell::syntax::{Assign, Node, Simple};

use super::redirect::Streams;
use super::{Exec, State, View, Walker};

/// An assignment with its values.
struct Given {
    name: String,
    values: Vec<String>,
}

impl Walker<'_> {
    pub(super) fn simple(&mut self, simple: &Simple, state: &mut State, stdin: &str) -> String {
        let pieces = simple.words.len() + 2 * simple.assigns.len() + 4 * simple.redirects.len();
        if !self.spend_command() || !self.spend(1 + pieces) {
            return String::new();
        }
        let kept = state.input.clone().filter(|_| stdin.is_empty());
        let stdin = kept.as_deref().unwrap_or(stdin);
        state.fed_download = self.spend_copy(stdin.len()) && stdin.contains(DOWNLOAD);
        let mut given = Vec::new();
        for assign in &simple.assigns {
            given.push(self.given(assign, state));
        }
        let argv = self.all_fields(&simple.words, state);
        let streams = self.streams(&simple.redirects, state, stdin);
        if self.done() {
            return String::new();
        }
        let Some(first) = argv.first() else {
            return self.nameless(given, streams, state);
        };
        if let [only] = argv.as_slice()
            && only == "exec"
        {
            Self::turn_streams(&streams, state);
            return String::new();
        }
        let declares = matches!(
            first.as_str(),
            "export" | "declare" | "local" | "readonly" | "typeset"
        );
        let mut env = Vec::new();
        let refers = declares && argv.iter().any(|arg| arg == "-n");
        for Given { name, values } in given {
            if refers {
                // A name for another variable.
                let other = values.first().and_then(|other| self.lookup(other, state));
                let unknown = || vec![marks::only(ANY)];
                state.set(&name, other.unwrap_or_else(unknown), false);
            } else if declares {
                state.set(
                    &name,
                    values,
                    first == "export" || argv.iter().any(|a| a == "-x"),
                );
            } else {
                env.extend(values.into_iter().map(|value| (name.clone(), value)));
            }
        }
        self.truncation(&argv, &streams, state);
        let exec = Exec {
            argv,
            env,
            stdin: streams.stdin.clone(),
        };
        let out = self.exec(exec, state);
        self.deliver(out, &streams, state)
    }

    fn given(&mut self, assign: &Assign, state: &mut State) -> Given {
        let mut values = Vec::new();
        for word in &assign.values {
            let more = if assign.array {
                self.fields(word, state)
            } else {
                self.texts(word, state)
            };
            values.extend(more);
        }
        if assign.append {
            let old = self.lookup(&assign.name, state).unwrap_or_default();
            values = appended(old, values, assign.array);
        }
        Given {
            name: assign.name.clone(),
            values,
        }
    }

    /// A command without a name: it assigns, truncates, or (in `$(<file)`) prints its input.
    fn nameless(&mut self, given: Vec<Given>, streams: Streams, state: &mut State) -> String {
        self.truncation(&[], &streams, state);
        let assigns = !given.is_empty();
        for Given { name, values } in given {
            if name == "PS4" {
                for value in &values {
                    self.trace_prompt(value, state);
                }
            }
            state.set(&name, values, false);
        }
        if assigns || !streams.fed {
            return self.deliver(String::new(), &streams, state);
        }
        self.deliver(streams.stdin.clone(), &streams, state)
    }

    /// `> file`, `: > file` and `cat /dev/null > file` empty a file; shown to the rules as `:>`.
    fn truncation(&mut self, argv: &[String], streams: &Streams, state: &mut State) {
        let words: Vec<&str> = argv.iter().map(String::as_str).collect();
        if !matches!(
            words[..],
            [] | [":"] | ["true"] | ["echo", "-n"] | ["printf", ""] | ["cat", "/dev/null"]
        ) {
            return;
        }
        for (file, _) in streams.sinks.iter().filter(|(_, append)| !append) {
            let argv = vec![":>".to_owned(), file.clone()];
            self.judge_command(&Exec::of(argv), state);
        }
    }

    /// Shows a command to the rules.
    pub(crate) fn judge_command(&mut self, exec: &Exec, state: &State) {
        let view = View {
            ctx: self.ctx,
            world: &self.world,
            state,
            exec,
        };
        let block = rules::judge(&view);
        #[cfg(test)]
        {
            self.judged += 1;
        }
        let place = view.place_name();
        self.note(|| {
            let quoted = |word: &String| crate::call::quote(&marks::show(word));
            let words: Vec<_> = exec.argv.iter().map(quoted).collect();
            let verdict = block
                .as_ref()
                .map_or(String::new(), |b| format!("  <- {}", b.rule.id));
            marks::show_short(&format!("{}  (in {place}){verdict}", words.join(" ")), 400)
        });
        self.block(block);
    }

    /// Runs an expanded command and returns what it prints.
    pub(crate) fn exec(&mut self, mut exec: Exec, state: &mut State) -> String {
        let copied = exec.stdin.len() + exec.argv.iter().map(String::len).sum::<usize>();
        // The rules look at each argument from each directory the command may run in.
        let places: usize = state.cwd.iter().map(String::len).sum();
        let looks = (1 + exec.argv.len()) * places;
        if self.done() || !self.spend(1 + exec.argv.len()) || !self.spend_copy(copied + looks) {
            return String::new();
        }
        // `$SUDO rm …` with an unset variable runs what follows.
        while exec.argv.len() > 1
            && exec.argv[0].chars().all(marks::is_mark)
            && !exec.argv[0].contains(DOWNLOAD)
        {
            exec.argv.remove(0);
        }
        // So does `rm$X …`.
        if let Some(first) = exec.argv.first_mut()
            && first.ends_with(ANY)
            && !first.contains('/')
        {
            first.retain(|c| c != ANY);
        }
        let Some(first) = exec.argv.first().cloned() else {
            return String::new();
        };
        if first.contains(DOWNLOAD) {
            self.block(rules::pipe_to_shell::downloaded("a command line"));
            return String::new();
        }
        if first.contains('/')
            && let Some(program) = self.program_behind(&first, state)
        {
            exec.argv[0] = program;
        }
        if let Some(body) = state.function(&first) {
            return self.call_function(&first, &body, &exec, state);
        }
        if let Some(text) = state.alias(&first).map(str::to_owned) {
            return self.call_alias(&first, &text, &exec, state);
        }
        if let Some(out) = self.cmdlet(&exec, state) {
            return out;
        }
        if let Some(out) = self.unwrap(&exec, state) {
            return out;
        }
        separate_git(&mut exec);
        self.judge_command(&exec, state);
        if self.done() {
            return String::new();
        }
        self.launch(&exec, state)
            .or_else(|| self.builtin(&exec, state))
            .unwrap_or_else(|| self.output(&exec, state))
    }

    fn call_function(
        &mut self,
        name: &str,
        body: &Rc<Node>,
        exec: &Exec,
        state: &mut State,
    ) -> String {
        let words: Vec<_> = exec.argv.iter().map(|word| requote(word)).collect();
        let text = words.join(" ");
        if self.calls >= super::MAX_CALLS {
            // With the state, which has the functions that this one calls.
            self.keep(&text, Some(state));
            return String::new();
        }
        let outer = std::mem::replace(&mut state.positional, exec.args().to_vec());
        let out = self.deeper(&text, |walker| {
            walker.note(|| format!("function {name}:"));
            walker.node(body, state, &exec.stdin)
        });
        state.positional = outer;
        state.left = false;
        out
    }

    fn call_alias(&mut self, name: &str, text: &str, exec: &Exec, state: &mut State) -> String {
        let args: Vec<_> = exec.args().iter().map(|arg| requote(arg)).collect();
        let code = format!("{text} {}", args.join(" "));
        self.note(|| format!("alias {name}:"));
        self.code(&code, &mut state.without_alias(name), &exec.stdin)
    }
}

/// `git-push` and `hub push` are `git push`.
fn separate_git(exec: &mut Exec) {
    let name = exec.name().to_owned();
    let verb = name
        .strip_prefix("git-")
        .filter(|verb| crate::git::is_builtin(verb) || *verb == "filter-repo");
    if let Some(verb) = verb {
        exec.argv.splice(..1, ["git".to_owned(), verb.to_owned()]);
    } else if name == "hub" {
        exec.argv[0] = "git".to_owned();
    }
}

/// A word quoted for a shell, with its marks left alone: inside quotes they keep their meaning.
pub(crate) fn requote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn appended(old: Vec<String>, new: Vec<String>, array: bool) -> Vec<String> {
    if array {
        return old.into_iter().chain(new).collect();
    }
    let old = if old.is_empty() {
        vec![String::new()]
    } else {
        old
    };
    let pairs = old
        .iter()
        .flat_map(|a| new.iter().map(move |b| marks::bounded(format!("{a}{b}"))));
    pairs.collect()
}

//! What code runs: commands of the system, and texts as code of its own language.

use crate::marks::DOWNLOAD;
use crate::rules::pipe_to_shell;
use crate::words::Words;

use super::super::{Exec, State, Walker};
use super::calls::Call;
use super::literals::OPEN;
use super::value::{self, is_name};
use super::{Language, MAX_CODE, Piece, calls, setting};

/// Calls that hand a text, or a list of words, to the operating system.
const SHELL_CALLS: Words = Words(
    "local sudo system system2 popen popen2 popen2e popen3 pipeline run call check_call check_output Popen getoutput \
     getstatusoutput exec execSync spawn spawnSync execFile execFileSync shell_exec passthru \
     proc_open pcntl_exec execute execvp execlp execv execve execvpe execl execle spawnlp spawnvp \
     spawnl spawnv posix_spawn posix_spawnp Command CommandContext capture2 capture3 backquote \
     create_subprocess_shell create_subprocess_exec ProcessBuilder sh execa execaSync execaCommand \
     execaCommandSync shell-command shell-command-to-string call-process call-process-shell-command \
     start-process shell-out run-program subprocess_exec startfile command quick_sh execvP exec_cmd \
     forkExec process syscall :os.cmd os:cmd cmd System.shell shell callCommand rawSystem readProcess \
     callProcess spawnProcess Start-Process",
);

/// Of those, the ones whose arguments are words even without a list.
const WORD_CALLS: Words = Words(
    "spawn system2 spawnSync execFile execFileSync execvp execlp execv execl execve execvpe execle spawnlp \
     spawnvp spawnl spawnv posix_spawn posix_spawnp Command CommandContext create_subprocess_exec \
     ProcessBuilder execa execaSync call-process start-process run-program cmd pcntl_exec capture2 \
     capture3 popen2e rawSystem readProcess callProcess spawnProcess forkExec Start-Process run",
);

/// Short names that are calls only in some languages.
const SOME: Words = Words("local sudo cmd shell sh command process shell-out run syscall pipeline");

/// Calls that run a text as code of their own language.
fn eval_calls(language: Language) -> Words {
    Words(match language {
        Language::Python => "exec eval",
        Language::JavaScript => "eval Function runInThisContext runInNewContext",
        Language::Ruby => "eval instance_eval class_eval module_eval",
        Language::Php => "eval assert create_function",
        Language::Lua => "load loadstring dostring",
        Language::PowerShell => "iex Invoke-Expression",
        Language::Julia => "include_string eval Meta.parse",
        Language::Elixir => "eval_string eval",
        _ => "eval",
    })
}

/// Calls that run a file of their own language, also one from the network.
fn includes(language: Language) -> Words {
    Words(match language {
        Language::R => "source devtools::source_url source_url",
        Language::Julia => "include",
        Language::Php => "include include_once require require_once",
        Language::JavaScript => "import importScripts",
        Language::Lua => "dofile",
        _ => "",
    })
}

/// Calls that run a text and nothing else.
const STRICT: Words = Words("eval_string eval loadstring include_string runInThisContext");

/// Whether the words of an `exec` call start with the program and then its own name.
fn names_itself(words: &[String]) -> bool {
    matches!(words, [program, name, _, ..] if crate::path::name(program) == crate::path::name(name))
}

/// Whether calls of this name run something in this language.
fn is_call(name: &str, language: Language) -> bool {
    match language {
        _ if !SOME.has(name) => true,
        Language::Python => matches!(name, "run" | "sh" | "cmd" | "shell" | "local" | "sudo"),
        Language::JavaScript => matches!(name, "sh" | "command" | "run"),
        Language::Ruby => matches!(name, "sh" | "pipeline"),
        Language::Elixir => name == "cmd" || name == "shell",
        Language::Julia => name == "pipeline",
        Language::Lisp => matches!(name, "sh" | "process" | "shell-out"),
        _ => false,
    }
}

impl Walker<'_> {
    pub(super) fn scan_shell(&mut self, piece: Piece<'_>, state: &State) {
        self.scan_backticks(piece, state);
        let skeleton = &piece.source.skeleton;
        self.note_scripts(piece);
        // `from plumbum.cmd import git`, `from sh import git`.
        if piece.language == Language::Python && skeleton.contains("import git") {
            let listed = skeleton
                .split("git[")
                .skip(1)
                .filter_map(|rest| rest.split(']').next());
            let called = calls::of(skeleton, "git").map(|call| call.args);
            for args in listed.chain(called) {
                let argv = std::iter::once("git".to_owned()).chain(piece.values.words(args));
                let exec = Exec::of(argv.collect());
                self.deeper("git", |walker| walker.exec(exec, &mut state.clone()));
            }
        }
        for name in SHELL_CALLS
            .iter()
            .chain(["do shell script", "Command::new"])
        {
            if !is_call(name, piece.language) || !skeleton.contains(name) {
                continue;
            }
            let mut called = vec![name];
            called.extend(aliases(skeleton, name));
            for (at, alias) in called.into_iter().enumerate() {
                for call in calls::of(skeleton, alias) {
                    if self.done() {
                        return;
                    }
                    // An alias counts where it is called plainly.
                    if at == 0 || !call.before.ends_with('.') {
                        self.run_call(name, call, piece, state);
                    }
                }
            }
        }
    }

    /// `package.scripts.NAME = 'COMMAND'`.
    fn note_scripts(&mut self, piece: Piece<'_>) {
        for rest in piece.source.skeleton.split("scripts.").skip(1) {
            let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
            if let Some(value) = rest[end..].trim_start().strip_prefix('=') {
                let value = value.split([';', '\n']).next().unwrap_or_default();
                let code = piece.values.expression(value);
                self.world.scripts.push((rest[..end].to_owned(), code));
            }
        }
    }

    /// Commands in backticks, and those that a pipe leads to or from.
    fn scan_backticks(&mut self, piece: Piece<'_>, state: &State) {
        let text = |literal| piece.values.literal(literal, 0);
        let literals = &piece.source.literals;
        let mut code: Vec<String> = literals.iter().filter(|it| it.shell).map(text).collect();
        match piece.language {
            Language::Awk => {
                let piped = piece.source.beside_pipes().map(text);
                code.extend(piped.map(|text| text.trim().to_owned()));
            }
            Language::Perl | Language::Ruby => {
                let piped = |text: String| {
                    let text = text.trim();
                    let code = text.strip_suffix('|').or_else(|| text.strip_prefix('|'))?;
                    Some(code.to_owned())
                };
                code.extend(literals.iter().map(text).filter_map(piped));
            }
            _ => {}
        }
        for code in code {
            self.code_aside(&code, state, piece.stdin);
        }
    }

    /// One call that runs something.
    fn run_call(&mut self, name: &str, call: Call<'_>, piece: Piece<'_>, state: &State) {
        let args = call.args;
        let mut words = piece.values.words(args);
        let others = listed_words(args, piece);
        if !others.is_empty() {
            words.truncate(1);
            words.extend(others);
        }
        words.extend(builder_words(call.after, piece));
        if name == "CommandContext" && !words.is_empty() {
            words.remove(0);
        }
        if name.starts_with("exec") && names_itself(&words) {
            words.remove(0);
        }
        // What follows a program without its words is an option, an environment, a callback.
        while words.len() > 1 && words.last().is_some_and(String::is_empty) {
            words.pop();
        }
        // Perl's and Ruby's `system "a", "b"` takes words; elsewhere a second argument is an option.
        let words_follow = matches!(
            piece.language,
            Language::Perl | Language::Ruby | Language::Lisp
        );
        let listed = args.trim_start().starts_with(['[', '(', '*', '{']) || args.contains("[");
        let named =
            listed_variable(args, piece) || builder_words(call.after, piece).next().is_some();
        let listed = listed || words_follow || named || WORD_CALLS.has(name);
        // A function of the code's own that passes its words on.
        let own = name == "sh" && piece.language == Language::Python;
        let list = (listed || own) && words.len() > 1 && !words[0].contains(' ');
        let mut state = setting::of_call(args, piece, state, self);
        let input = input_of(args, piece);
        if list {
            let mut exec = Exec::of(words);
            exec.stdin = input.unwrap_or_default();
            self.deeper(args, |walker| walker.exec(exec, &mut state));
        } else if let Some(code) = words.first() {
            self.code_of(code, &mut state, input.as_deref().unwrap_or(piece.stdin));
        }
    }

    /// Downloaded text run by `exec`, `eval` and their like.
    pub(super) fn scan_eval(&mut self, piece: Piece<'_>) {
        let skeleton = &piece.source.skeleton;
        let mut runs = piece.calls(eval_calls(piece.language));
        let mut downloaded = runs.any(|args| piece.values.text(args).contains(DOWNLOAD));
        let remote = |args: &str| {
            let text = piece.values.text(args);
            let first = text.trim_start();
            text.contains(DOWNLOAD) || first.starts_with("http://") || first.starts_with("https://")
        };
        downloaded |= piece.calls(includes(piece.language)).any(remote);
        if value::fetches(skeleton) {
            let unknown = |args: &str| piece.values.text(args).chars().all(crate::marks::is_mark);
            let script = piece.language == Language::JavaScript;
            let runs = piece.calls(Words("eval runInThisContext runInNewContext"));
            downloaded |= script
                && runs
                    .into_iter()
                    .any(|args| !args.is_empty() && unknown(args));
            downloaded |= piece
                .calls(Words("run_path exec_module execfile"))
                .next()
                .is_some();
            let shell = |text: &str| super::super::launch::SHELLS.has(crate::path::name(text));
            let fed = skeleton.contains(".pipe(") && skeleton.contains(".stdin");
            downloaded |= fed && piece.source.literals.iter().any(|it| shell(&it.text));
        }
        // What a command of the network printed is a variable here.
        let client = |text: &str| super::super::DOWNLOADERS.has(text);
        if piece.source.literals.iter().any(|it| client(&it.text)) {
            downloaded |= piece.calls(STRICT).next().is_some();
        }
        let piped = skeleton.contains("then(eval)") && value::fetches(skeleton);
        let shell = piece.language == Language::PowerShell
            && value::fetches(skeleton)
            && ["iex", "invoke-expression", "scriptblock]::create"]
                .iter()
                .any(|w| skeleton.to_ascii_lowercase().contains(w));
        if downloaded || piped || shell {
            self.block(pipe_to_shell::downloaded(piece.language.name()));
        }
    }

    /// A text that the code itself runs as code: `exec('…')`.
    pub(super) fn scan_inner(&mut self, piece: Piece<'_>, state: &mut State) {
        for args in piece.calls(eval_calls(piece.language)) {
            let code = piece.values.text(args);
            if self.done() || !code.contains(['(', ' ']) || code.len() > MAX_CODE {
                continue;
            }
            self.deeper(&code, |walker| {
                walker.scan(piece.language, &code, state, piece.stdin);
            });
        }
    }
}

/// What is fed to a call: `run(['sh'], input=text)`.
fn input_of(args: &str, piece: Piece<'_>) -> Option<String> {
    // `Popen(['sh'], stdin=other.stdout)`.
    if let Some((_, other)) = args.split_once("stdin=") {
        let name = other.split('.').next().unwrap_or_default();
        let fed = piece.values.words(name).iter().any(|word| {
            word.contains(DOWNLOAD)
                || word.split('/').any(|it| {
                    super::super::DOWNLOADERS.has(it.trim_start_matches(crate::marks::is_mark))
                })
        });
        return fed.then(|| DOWNLOAD.to_string());
    }
    let value = ["input=", "input:", "stdin_data:"]
        .iter()
        .find_map(|key| args.split_once(key))?
        .1;
    let end = value.find([',', '}']).unwrap_or(value.len());
    Some(piece.values.expression(&value[..end]))
}

/// The words in `Command("git", {args: ["push"]})`.
fn listed_words(args: &str, piece: Piece<'_>) -> Vec<String> {
    let list = ["args:", "args=", "arguments:"]
        .iter()
        .find_map(|key| args.split_once(key))
        .and_then(|(_, rest)| rest.trim_start().strip_prefix('['));
    let list = list.map(|list| list.split(']').next().unwrap_or_default());
    list.map_or(Vec::new(), |list| piece.values.words(list))
}

/// Whether the first argument is a variable that holds a list.
fn listed_variable(args: &str, piece: Piece<'_>) -> bool {
    let first = args.split(',').next().unwrap_or_default().trim();
    let plain = !first.is_empty() && first.chars().all(is_name);
    plain && piece.values.words(first).len() > 1
}

/// The words that a builder adds: `Command::new("git").arg("push").args(["a", "b"])`.
fn builder_words<'p>(after: &'p str, piece: Piece<'p>) -> impl Iterator<Item = String> + use<'p> {
    let mut rest = after.trim_start();
    std::iter::from_fn(move || {
        let call = rest.strip_prefix('.')?.trim_start();
        let name = call.split('(').next().unwrap_or_default();
        let args = call.get(name.len() + 1..)?;
        let end = args.find(')').unwrap_or(args.len());
        rest = args.get(end + 1..).unwrap_or_default().trim_start();
        let takes = matches!(name, "arg" | "args");
        let words = if takes {
            piece.values.words(args[..end].trim_start_matches('&'))
        } else {
            Vec::new()
        };
        Some(words)
    })
    .flatten()
}

/// Other names that the code gives a call: `import run as r`, `{execSync: x}`, `x = os.system`.
fn aliases<'s>(skeleton: &'s str, name: &str) -> Vec<&'s str> {
    let word = |text: &'s str| {
        let end = text.find(|c| !is_name(c)).unwrap_or(text.len());
        let word = &text[..end];
        (!word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit())).then_some(word)
    };
    let mut out = Vec::new();
    for (at, _) in skeleton.match_indices(name).take(16) {
        let after = &skeleton[at + name.len()..];
        let renamed = after
            .strip_prefix(" as ")
            .or_else(|| after.strip_prefix(": "))
            .or_else(|| after.strip_prefix(':'));
        out.extend(renamed.and_then(word));
        let ends = after.is_empty() || after.starts_with([';', '\n', ',']);
        let line = skeleton[..at]
            .rsplit([';', '\n'])
            .next()
            .unwrap_or_default();
        if let Some((left, right)) = line.split_once('=').filter(|_| ends)
            && !right.contains(['(', OPEN])
        {
            out.extend(left.split_whitespace().last().and_then(word));
        }
    }
    out.retain(|alias| *alias != name);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_of_a_call() {
        assert_eq!(aliases("from os import system as s\ns(x)", "system"), ["s"]);
        assert_eq!(aliases("const {execSync: x} = r; x(y)", "execSync"), ["x"]);
        assert_eq!(aliases("s = os.system; s(y)", "system"), ["s"]);
        assert!(aliases("x = os.system(y)", "system").is_empty());
    }
}

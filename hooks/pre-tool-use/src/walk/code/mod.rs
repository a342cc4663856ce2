//! A small look at code of other languages, as it stands in `python -c`, `perl -e`, `node -e` or a
//! here-document.
//!
//! It is no parser of those languages. It separates string literals from the rest, finds calls by
//! name, and evaluates their arguments as far as literals, simple variables and path joins go. What
//! it finds becomes ordinary commands for the walker and the rules: a shell call its command, a
//! removed tree `remove_tree PATH`, a literal path near a reading call `< PATH`.

mod calls;
mod language;
mod literals;
mod value;

pub use language::Language;

use crate::marks::{self, DEEP, DOWNLOAD, STAR};
use crate::rules::pipe_to_shell;
use crate::words::Words;

use super::{Exec, State, Walker};
use literals::Source;

/// Longest code that is looked at in one go; longer code is looked at part by part.
const MAX_CODE: usize = 64 * 1024;

/// Calls that hand a text, or a list of words, to the operating system.
const SHELL_CALLS: Words = Words(
    "system popen popen2 popen3 run call check_call check_output Popen getoutput \
     getstatusoutput exec execSync spawn spawnSync execFile execFileSync shell_exec passthru \
     proc_open execute execvp execlp execv execl Command capture2 capture3 \
     create_subprocess_shell create_subprocess_exec",
);

/// Of those, the ones whose arguments are words even without a list.
const WORD_CALLS: Words =
    Words("spawn spawnSync execFile execFileSync execvp execlp Command create_subprocess_exec");

/// Calls that run a text as code of their own language.
fn eval_calls(language: Language) -> Words {
    Words(match language {
        Language::Python => "exec eval",
        Language::JavaScript => "eval Function runInThisContext runInNewContext",
        Language::Ruby => "eval instance_eval class_eval module_eval",
        Language::Php => "eval assert create_function",
        Language::Lua => "load loadstring dostring",
        Language::PowerShell => "iex Invoke-Expression",
        Language::Perl | Language::R | Language::Awk | Language::AppleScript => "eval",
    })
}

/// Calls that remove a whole tree.
const TREE_CALLS: Words = Words(
    "rmtree rm_rf rm_r remove_entry_secure remove_entry remove_tree removeSync emptyDirSync \
     emptyDir rimraf rimrafSync deltree remove_dir_all remove_dir deleteAsync deleteSync",
);

/// Calls that remove a tree when told to be recursive.
const RECURSIVE_CALLS: Words = Words("rmSync rmdirSync rm rmdir Remove-Item remove");

/// Calls that remove one file.
const REMOVALS: Words = Words("unlink remove unlinkSync rmSync delete");

/// The same, told apart from the methods of lists that are called so too.
const SINGLE: Words = Words("os.remove os.unlink unlink unlinkSync File.delete File.unlink");

/// Calls that move a file, and that write one.
const MOVES: Words = Words("os.rename os.replace shutil.move renameSync File.rename");
const WRITES: Words = Words("writeFileSync");

/// Calls that list what is in a directory.
const LISTINGS: Words =
    Words("walk glob iglob rglob iterdir listdir scandir readdirSync opendir find");

/// Calls that open the file they are given.
const OPENS: Words = Words(
    "open read readFile readFileSync createReadStream readlines Path slurp file_get_contents load \
     dotenv_values fileinput.input linecache.getlines Bun.file io.lines",
);

/// Signs that the code opens files.
const READS: Words = Words(
    "open read Path load slurp File fs. get_contents copy parse < Get-Content createReadStream \
     source",
);

/// Whether a literal is the address, or the host, of a metadata service.
fn is_address(text: &str) -> bool {
    use crate::rules::credential_read::{is_metadata, is_metadata_host};
    (text.contains("://") && is_metadata(text)) || is_metadata_host(text)
}

/// Whether the words of an `exec` call start with the program and then its own name.
fn names_itself(words: &[String]) -> bool {
    matches!(words, [program, name, _, ..] if crate::path::name(program) == crate::path::name(name))
}

/// The code in parts of at most [`MAX_CODE`] bytes that end with a line where one ends.
fn parts(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let most = rest.floor_char_boundary(MAX_CODE);
        let end = if most == rest.len() {
            most
        } else {
            rest[..most].rfind('\n').map_or(most, |at| at + 1)
        };
        let (part, after) = rest.split_at(end.max(1));
        rest = after;
        Some(part)
    })
}

impl Walker<'_> {
    /// Looks at code of another language; true when it fetches something from the network.
    pub(super) fn scan(
        &mut self,
        language: Language,
        code: &str,
        state: &mut State,
        stdin: &str,
    ) -> bool {
        self.note(|| format!("{} code:", language.name()));
        let tmp = if self.ctx.tmp.is_empty() {
            "/tmp"
        } else {
            &self.ctx.tmp
        };
        let tmp = tmp.to_owned();
        let mut fetches = false;
        for part in parts(code) {
            if self.done() || !self.spend(part.len() / 64) {
                break;
            }
            fetches |= self.scan_part(language, part, state, stdin, &tmp);
        }
        fetches
    }

    fn scan_part(
        &mut self,
        language: Language,
        code: &str,
        state: &mut State,
        stdin: &str,
        tmp: &str,
    ) -> bool {
        let source = Source::read(language, code);
        let values = value::Values::new(&source, language, tmp, stdin);
        self.scan_shell(language, &source, &values, state, stdin);
        self.scan_eval(language, &source, &values);
        self.scan_inner(language, &source, &values, state, stdin);
        self.scan_trees(&source, &values, state);
        self.scan_files(&source, &values, state);
        self.scan_listings(&source, &values, state);
        self.scan_reads(&source, state);
        self.scan_opens(&source, &values, state);
        value::fetches(&source.skeleton)
    }

    fn scan_shell(
        &mut self,
        language: Language,
        source: &Source,
        values: &value::Values<'_>,
        state: &mut State,
        stdin: &str,
    ) {
        // Perl's and Ruby's `system "a", "b"` takes words; elsewhere a second argument is an option.
        let words_follow = matches!(language, Language::Perl | Language::Ruby);
        for code in source
            .shell_literals()
            .into_iter()
            .chain(source.piped_literals(language))
        {
            self.code_of(&code, &mut state.clone(), stdin);
        }
        for name in SHELL_CALLS.iter().chain(["do shell script"]) {
            for args in calls::of(&source.skeleton, name) {
                if self.done() {
                    return;
                }
                let mut words = values.words(args);
                if name.starts_with("exec") && names_itself(&words) {
                    words.remove(0);
                }
                let listed = args.trim_start().starts_with(['[', '(']);
                let listed = listed || words_follow || WORD_CALLS.has(name);
                let list = listed && words.len() > 1;
                if list {
                    let exec = Exec::of(words);
                    self.deeper(args, |walker| walker.exec(exec, &mut state.clone()));
                } else if let Some(code) = words.first() {
                    self.code_of(code, &mut state.clone(), stdin);
                }
            }
        }
    }

    /// Downloaded text run by `exec`, `eval` and their like.
    fn scan_eval(&mut self, language: Language, source: &Source, values: &value::Values<'_>) {
        let mut runs = eval_calls(language)
            .iter()
            .flat_map(|name| calls::of(&source.skeleton, name));
        let downloaded = runs.any(|args| values.text(args).contains(DOWNLOAD));
        let piped = source.skeleton.contains("then(eval)") && value::fetches(&source.skeleton);
        let shell = language == Language::PowerShell
            && value::fetches(&source.skeleton)
            && ["iex", "invoke-expression"]
                .iter()
                .any(|w| source.skeleton.to_ascii_lowercase().contains(w));
        if downloaded || piped || shell {
            self.block(pipe_to_shell::downloaded(language.name()));
        }
    }

    /// A text that the code itself runs as code: `exec('…')`.
    fn scan_inner(
        &mut self,
        language: Language,
        source: &Source,
        values: &value::Values<'_>,
        state: &mut State,
        stdin: &str,
    ) {
        for name in eval_calls(language).iter() {
            for args in calls::of(&source.skeleton, name) {
                let code = values.text(args);
                if self.done() || !code.contains(['(', ' ']) || code.len() > MAX_CODE {
                    continue;
                }
                self.deeper(&code, |walker| {
                    walker.scan(language, &code, state, stdin);
                });
            }
        }
    }

    /// Paths put together from pieces: `open('.e' + 'nv')`.
    fn scan_opens(&mut self, source: &Source, values: &value::Values<'_>, state: &State) {
        for name in OPENS.iter() {
            for args in calls::of(&source.skeleton, name) {
                if self.done() || !self.spend(1) {
                    return;
                }
                for word in values.words(args) {
                    if marks::exact(&word) && word.len() < 512 {
                        self.judge_command(&Exec::of(vec!["<".to_owned(), word]), state);
                    }
                }
            }
        }
    }

    fn scan_trees(&mut self, source: &Source, values: &value::Values<'_>, state: &State) {
        let always = TREE_CALLS.iter().map(|name| (name, ""));
        let when_told = RECURSIVE_CALLS.iter().map(|name| (name, "ecurse"));
        let recursive = RECURSIVE_CALLS.iter().map(|name| (name, "ecursive"));
        let globbed = std::iter::once(("unlink", "glob"));
        for (name, needs) in always.chain(when_told).chain(recursive).chain(globbed) {
            for args in calls::of(&source.skeleton, name).filter(|args| args.contains(needs)) {
                // `Remove-Item build -Recurse` is judged as a shell reads it.
                if name == "Remove-Item" && !args.contains(['$', '(', '\\', ':', literals::OPEN]) {
                    continue;
                }
                let targets = values.words(args);
                let target = targets.first().cloned().unwrap_or_default();
                let target = match target.strip_prefix('~') {
                    Some(rest) => format!("{}{rest}", self.home()),
                    None => target,
                };
                let argv = vec!["remove_tree".to_owned(), marks::live_globs(&target)];
                self.judge_command(&Exec::of(argv), state);
            }
        }
    }

    /// Single files that are removed, moved or written, where the names are known.
    fn scan_files(&mut self, source: &Source, values: &value::Values<'_>, state: &State) {
        for (calls, verb) in [(SINGLE, "rm"), (MOVES, "mv"), (WRITES, ">|")] {
            for args in calls
                .iter()
                .flat_map(|name| calls::of(&source.skeleton, name))
            {
                let mut words = values.words(args);
                words.truncate(1 + usize::from(verb != "rm"));
                if self.done() || !self.spend(1) || !words.iter().all(|word| marks::exact(word)) {
                    return;
                }
                let text = if verb == ">|" { words.pop() } else { None };
                let mut exec = Exec::of(vec![verb.to_owned()]);
                exec.argv.append(&mut words);
                exec.stdin = text.unwrap_or_default();
                self.judge_command(&exec, state);
            }
        }
    }

    /// Files removed one by one below a directory that the code lists: a removed tree.
    fn scan_listings(&mut self, source: &Source, values: &value::Values<'_>, state: &State) {
        let names = |list: Words| {
            list.iter()
                .any(|name| calls::of(&source.skeleton, name).next().is_some())
        };
        if !names(REMOVALS) || !names(LISTINGS) {
            return;
        }
        for name in LISTINGS.iter().chain(["Path"]) {
            for args in calls::of(&source.skeleton, name) {
                let root = values.words(args).first().cloned().unwrap_or_default();
                if !root.starts_with(['/', '~', '.']) {
                    continue;
                }
                let root = match root.strip_prefix('~') {
                    Some(rest) => format!("{}{rest}", self.home()),
                    None => root,
                };
                let root = root.trim_end_matches(['*', '/']);
                let argv = vec!["remove_tree".to_owned(), format!("{root}/{STAR}/{DEEP}")];
                self.judge_command(&Exec::of(argv), state);
            }
        }
    }

    fn scan_reads(&mut self, source: &Source, state: &State) {
        let reads = READS.any_in(&source.skeleton);
        let connects = value::fetches(&source.skeleton)
            || Words("socket connect Connection Net").any_in(&source.skeleton)
            || source
                .literals
                .iter()
                .any(|it| Words("http https net").has(&it.text));
        for literal in &source.literals {
            if !self.spend(1) {
                return;
            }
            let host = connects && is_address(&literal.text);
            if !host && !reads {
                continue;
            }
            let command = if host { "curl" } else { "<" };
            let argv = vec![command.to_owned(), literal.text.clone()];
            self.judge_command(&Exec::of(argv), state);
        }
    }
}

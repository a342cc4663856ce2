//! `find` and `fd`: what they find, delete and run.

use crate::marks::{self, DEEP, STAR};
use crate::words::Words;

use super::options::{self, Spec};
use super::{Exec, State, Walker};

/// A `find` command line.
struct Search {
    /// What `{}` stands for, per root.
    found: Vec<String>,
    deletes: bool,
    commands: Vec<Command>,
}

/// A command that is run on what is found.
#[derive(Default)]
struct Command {
    words: Vec<String>,
    /// Whether it gets everything at once (`+`), not one thing at a time (`;`).
    at_once: bool,
}

impl Command {
    /// What each of its runs is given. `git -C {} commit` of two directories in one run would be
    /// another command.
    fn given<'f>(&self, found: &'f [String]) -> std::slice::Chunks<'f, String> {
        found.chunks(if self.at_once { found.len().max(1) } else { 1 })
    }
}

impl Walker<'_> {
    pub(super) fn find(&mut self, exec: &Exec, state: &mut State) -> String {
        let search = Search::read(exec.args());
        if search.deletes {
            let argv = std::iter::once("find -delete".to_owned()).chain(search.found.clone());
            self.judge_command(&exec.with(argv.collect()), state);
        }
        let mut out = String::new();
        for command in &search.commands {
            let text = command.words.join(" ");
            for found in command.given(&search.found) {
                let argv = with_found(&command.words, found);
                let printed = self.deeper(&text, |walker| walker.exec(exec.with(argv), state));
                super::append(&mut out, &printed);
            }
        }
        if search.commands.is_empty() {
            search.found.join("\n")
        } else {
            out
        }
    }

    /// `fd PATTERN [PATH…] [-x CMD | -X CMD]`.
    pub(super) fn fd(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let args = exec.args();
        let runs = |arg: &String| matches!(arg.as_str(), "-x" | "-X" | "--exec" | "--exec-batch");
        let split = args.iter().position(runs).unwrap_or(args.len());
        let spec = Spec {
            short: "edEtSc",
            long: Words("extension max-depth exclude type"),
        };
        let operands = options::operands(&args[..split], spec);
        let roots = operands
            .get(1..)
            .filter(|roots| !roots.is_empty())
            .unwrap_or(&["."]);
        let found: Vec<_> = roots
            .iter()
            .map(|root| format!("{root}/{STAR}/{DEEP}"))
            .collect();
        if let Some(command) = args.get(split + 1..).filter(|command| !command.is_empty()) {
            let mut command = Command {
                words: command.to_vec(),
                at_once: matches!(args[split].as_str(), "-X" | "--exec-batch"),
            };
            if !command.words.iter().any(|word| word.contains("{}")) {
                command.words.push("{}".to_owned());
            }
            for found in command.given(&found) {
                let argv = with_found(&command.words, found);
                self.deeper(&command.words.join(" "), |walker| {
                    walker.exec(exec.with(argv), state)
                });
            }
        }
        Some(found.join("\n"))
    }
}

/// The command with what was found in place of `{}`. A plain `rm` run for each file of a tree is a
/// recursive deletion, so it is shown to the rules as a forced one.
fn with_found(command: &[String], found: &[String]) -> Vec<String> {
    let mut argv = Vec::new();
    for word in command {
        if word.contains("{}") {
            argv.extend(found.iter().map(|path| word.replace("{}", path)));
        } else {
            argv.push(word.clone());
        }
    }
    let name = argv.first().map_or("", |name| crate::path::name(name));
    if matches!(name, "rm" | "unlink") {
        argv.splice(..1, ["rm".to_owned(), "-f".to_owned()]);
    }
    argv
}

impl Search {
    fn read(args: &[String]) -> Self {
        let starts =
            |arg: &&String| arg.starts_with('-') || matches!(arg.as_str(), "(" | "!" | ")");
        let mut globals = 0;
        while let Some(arg) = args.get(globals) {
            globals += match arg.as_str() {
                "-H" | "-L" | "-P" | "--" => 1,
                "-D" => 2,
                level if level.starts_with("-O") => 1,
                _ => break,
            };
        }
        let args = args.get(globals..).unwrap_or_default();
        let split = args
            .iter()
            .position(|arg| starts(&arg))
            .unwrap_or(args.len());
        let mut roots = args[..split].to_vec();
        if roots.is_empty() {
            roots.push(".".to_owned());
        }
        let (expression, commands) = parts(&args[split..]);
        let found = roots
            .iter()
            .flat_map(|root| found(root, &expression))
            .collect();
        let deletes = expression.iter().any(|arg| arg == "-delete");
        Self {
            found,
            deletes,
            commands,
        }
    }
}

/// Primaries that are followed by a value.
const VALUED: Words = Words(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype \
     -size -user -group -uid -gid -perm -links -inum -samefile -mtime -mmin -atime -amin -ctime \
     -cmin -used -fstype -maxdepth -mindepth -printf -fprint -fprint0 -regextype",
);

/// The expression without the commands in it, and those commands. A value that looks like a primary
/// is written so that it does not.
fn parts(args: &[String]) -> (Vec<String>, Vec<Command>) {
    let (mut expression, mut commands) = (Vec::new(), Vec::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        expression.push(arg.clone());
        if matches!(arg.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let mut command = Command::default();
            for word in rest.by_ref() {
                command.at_once = word == "+" && command.words.last().is_some_and(|w| w == "{}");
                if word == ";" || command.at_once {
                    break;
                }
                command.words.push(word.clone());
            }
            commands.push(command);
        } else if VALUED.has(arg.as_str()) || arg.starts_with("-newer") {
            let value = rest.next().map_or("", String::as_str);
            let shy = value.starts_with('-') && value.contains(|c: char| c.is_ascii_alphabetic());
            expression.push(if shy {
                format!("./{value}")
            } else {
                value.to_owned()
            });
        }
    }
    (expression, commands)
}

/// What a search below `root` can find: names when it asks for names, something below it when any
/// other test narrows it, else everything and the root itself.
fn found(root: &str, expression: &[String]) -> Vec<String> {
    let tests = last_alternative(expression);
    let names: Vec<String> = names(tests);
    if !names.is_empty() {
        // To `find`, unlike to a shell, `*.env` also names `.env`.
        let hidden = |name: &String| {
            let rest = name.strip_prefix(STAR)?;
            rest.starts_with('.').then(|| rest.to_owned())
        };
        let hidden: Vec<String> = names.iter().filter_map(hidden).collect();
        let all = names.iter().chain(&hidden);
        return all.map(|name| format!("{root}/{DEEP}/{name}")).collect();
    }
    if narrowed(tests) {
        return vec![format!("{root}/{STAR}/{DEEP}")];
    }
    vec![root.to_owned(), format!("{root}/{DEEP}")]
}

/// The part of the expression that leads to the action: after the last `-o` outside parentheses.
/// `find . -name a -o -delete` deletes what is *not* called `a`.
fn last_alternative(expression: &[String]) -> &[String] {
    let mut open = 0usize;
    let mut from = 0;
    for (at, arg) in expression.iter().enumerate() {
        match arg.as_str() {
            "(" => open += 1,
            ")" => open = open.saturating_sub(1),
            "-o" | "-or" if open == 0 => from = at + 1,
            _ => {}
        }
    }
    let acts =
        |arg: &String| arg == "-delete" || arg.starts_with("-exec") || arg.starts_with("-print");
    if expression[from..].iter().any(acts) {
        &expression[from..]
    } else {
        expression
    }
}

/// The patterns of positive name tests.
fn names(tests: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    for (at, arg) in tests.iter().enumerate() {
        if !matches!(arg.as_str(), "-name" | "-iname") || negated(tests, at) {
            continue;
        }
        let name = tests
            .get(at + 1)
            .map(|name| marks::live_globs(name))
            .unwrap_or_default();
        if name.chars().any(|c| c != STAR) {
            out.push(name);
        }
    }
    out
}

fn negated(tests: &[String], at: usize) -> bool {
    at > 0 && matches!(tests[at - 1].as_str(), "!" | "-not")
}

/// Whether a positive test other than the type limits what is found.
fn narrowed(tests: &[String]) -> bool {
    let narrows = |arg: &str| {
        matches!(
            arg,
            "-path"
                | "-ipath"
                | "-wholename"
                | "-regex"
                | "-iregex"
                | "-empty"
                | "-size"
                | "-user"
                | "-group"
                | "-perm"
                | "-links"
                | "-inum"
                | "-samefile"
                | "-lname"
                | "-xtype"
        ) || [
            "-newer", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin",
        ]
        .iter()
        .any(|time| arg.starts_with(time))
    };
    let prunes = tests.iter().any(|arg| arg == "-prune");
    let positive = |(at, arg): (usize, &String)| narrows(arg) && !negated(tests, at);
    !prunes && tests.iter().enumerate().any(positive)
}

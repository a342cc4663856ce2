//! Files of commands that a program runs by itself, when this line wrote them: makefiles, the scripts
//! of a `package.json`, task files, programs that are compiled and run.

use crate::json::Json;
use crate::marks;
use crate::words::{Rows, Words};

use super::code::Language;
use super::embedded::values;
use super::launch::is_stdin;
use super::{Exec, State, Walker};

/// Programs, how their files are read, and the files' usual names.
const RUNNERS: Rows = Rows::new(
    "\
make recipes Makefile makefile GNUmakefile
gmake recipes Makefile makefile GNUmakefile
just recipes justfile Justfile .justfile
task keys Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml
go-task keys Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml
npm scripts package.json
pnpm scripts package.json
yarn scripts package.json
bun scripts package.json
composer scripts composer.json
deno tasks deno.json deno.jsonc
rake ruby Rakefile rakefile Rakefile.rb
inv python tasks.py
invoke python tasks.py
fab python fabfile.py
nox python noxfile.py
pytest python conftest.py
pip python setup.py
foreman keys Procfile
honcho keys Procfile
overmind keys Procfile
ninja keys build.ninja
tox recipes tox.ini
mise keys mise.toml .mise.toml
poe keys pyproject.toml
pdm keys pyproject.toml
hatch keys pyproject.toml
pre-commit keys .pre-commit-config.yaml
lefthook keys lefthook.yml
ansible-playbook keys
act keys
direnv shell .envrc
gulp javascript gulpfile.js
grunt javascript Gruntfile.js
jest javascript
vitest javascript
mocha javascript
cargo program src/main.rs build.rs src/lib.rs
go program main.go main_test.go
gcc program
cc program
clang program
g++ program
clang++ program
tcc program
rustc program
rust-script program
javac program
java program
kotlinc program
kotlin program
scala program
scala-cli program
groovy program
swift program
swiftc program
dotnet program Program.cs
csc program
runghc program
runhaskell program
ghc program
ocaml program
nim program
crystal program
zig program
dart program
v program
gradle program build.gradle build.gradle.kts
gradlew program build.gradle build.gradle.kts
crontab crontab",
);

/// Options that name the file.
const FILES: Words = Words(
    "-I --init-script -b -f --file --makefile --justfile -t --taskfile --rakefile -c --configfile --search-root",
);

/// Options that name the directory of it.
const DIRECTORIES: Words =
    Words("-C --directory -d --dir --working-directory --prefix --cwd --chdir --manifest-dir");

/// Keys in front of commands.
const KEYS: Words = Words(
    "cmd cmds command commands run sh shell script scripts entry exec bash web worker release \
     ansible.builtin.shell ansible.builtin.command",
);

impl Walker<'_> {
    /// The shell code in the files that this line wrote and the command runs; their other code is
    /// looked at here.
    pub(super) fn scripts(&mut self, exec: &Exec, state: &State) -> Vec<String> {
        let mut out = Vec::new();
        let Some(row) = RUNNERS.of(exec.name()).next() else {
            return out;
        };
        let mut row = row.iter();
        let kind = row.next().unwrap_or_default();
        let named = values(exec.args(), FILES);
        let dirs = values(exec.args(), DIRECTORIES);
        let mut files: Vec<String> = named.into_iter().map(str::to_owned).collect();
        for dir in dirs.into_iter().chain(["."]) {
            files.extend(row.clone().map(|name| format!("{dir}/{name}")));
        }
        let named = |arg: &&String| arg.contains('.') || *arg == "-";
        files.extend(exec.args().iter().filter(named).cloned());
        if kind == "scripts" {
            let scripts = self.world.scripts.iter();
            let asked = scripts.filter(|(name, _)| is_named(name, exec.args()));
            out.extend(asked.map(|(_, code)| code.clone()));
        }
        if self.world.files.is_empty() && exec.stdin.is_empty() {
            return out;
        }
        for file in files {
            let text = if is_stdin(&file) {
                Some(exec.stdin.clone())
            } else {
                self.content(&file, state)
            };
            let Some(text) = text else { continue };
            if !text.contains(marks::DOWNLOAD) {
                out.extend(self.commands_in(kind, &text, exec, state));
            } else if Words("recipes keys ruby python shell").has(kind)
                && row.clone().any(|name| crate::path::name(&file) == name)
                && self.is_written(&file, state)
            {
                self.block(crate::rules::pipe_to_shell::downloaded(
                    "commands of its own",
                ));
            }
        }
        if kind == "program" && exec.args().iter().any(|arg| arg == "." || arg == "./...") {
            self.sources_here(state);
        }
        out
    }

    fn commands_in(&mut self, kind: &str, text: &str, exec: &Exec, state: &State) -> Vec<String> {
        let language = match kind {
            "recipes" => return recipes(text),
            "keys" => return vec![keyed(text)],
            "scripts" | "tasks" => return package_scripts(text, kind, exec.args()),
            "shell" => return vec![text.to_owned()],
            "crontab" => {
                return text
                    .lines()
                    .filter_map(super::embedded::of_schedule)
                    .collect();
            }
            "ruby" => Language::Ruby,
            "python" => Language::Python,
            "javascript" => Language::JavaScript,
            _ => Language::Compiled,
        };
        self.foreign(language, text, &mut state.clone(), &exec.stdin);
        Vec::new()
    }

    /// `go run .`: every source that this line wrote.
    fn sources_here(&mut self, state: &State) {
        let sources = self.world.files.iter();
        let sources = sources.filter(|(name, _)| name.ends_with(".go") || name.ends_with(".rs"));
        let texts: Vec<String> = sources.map(|(_, text)| text.clone()).collect();
        for text in texts {
            self.foreign(Language::Compiled, &text, &mut state.clone(), "");
        }
    }

    /// `jq '.scripts.NAME = "COMMAND"'`.
    pub(super) fn script_change(&mut self, exec: &Exec) {
        for program in exec.args() {
            for rest in program.split(".scripts.").skip(1) {
                let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_-".contains(c)));
                let (name, rest) = rest.split_at(end.unwrap_or(rest.len()));
                let value = rest.trim_start().strip_prefix('=').map(str::trim_start);
                if let Some(text) = value.and_then(|value| value.strip_prefix('"')) {
                    let code = text.split('"').next().unwrap_or_default();
                    self.world.scripts.push((name.to_owned(), code.to_owned()));
                }
            }
        }
    }

    /// `npm pkg set scripts.NAME=COMMAND`.
    pub(super) fn package_change(&mut self, exec: &Exec) {
        let args = exec.args();
        let verb = |at: usize| args.get(at).map(String::as_str);
        match (verb(0), verb(1)) {
            (Some("pkg"), Some("set")) => {
                for (key, code) in args.iter().filter_map(|arg| arg.split_once('=')) {
                    if let Some(name) = key.strip_prefix("scripts.") {
                        let code = code.trim_matches('"').to_owned();
                        self.world.scripts.push((name.to_owned(), code));
                    }
                }
            }
            (Some("set-script"), Some(name)) => {
                let code = args.get(2).cloned().unwrap_or_default();
                self.world.scripts.push((name.to_owned(), code));
            }
            _ => {}
        }
    }
}

/// Whether a script of this name runs when the words are given: it is one of them, stands around one, or
/// belongs to an installation.
fn is_named(name: &str, words: &[String]) -> bool {
    let base = ["pre", "post"]
        .iter()
        .find_map(|part| name.strip_prefix(part));
    let installs = Words("install i ci add");
    let around = Words("preinstall install postinstall prepare prepublish preprepare");
    words.iter().any(|word| {
        *word == name
            || base == Some(word.as_str())
            || (installs.has(word) && around.has(name))
            || (word == "t" && name == "test")
            || (word == "pack" || word == "publish") && name.starts_with("pre")
    })
}

/// The scripts of a `package.json` that the words name.
fn package_scripts(text: &str, member: &str, words: &[String]) -> Vec<String> {
    let Ok(json) = Json::parse(text) else {
        return Vec::new();
    };
    let Some(Json::Map(scripts)) = json.get(member) else {
        return Vec::new();
    };
    let run = scripts.iter().filter(|(name, _)| is_named(name, words));
    run.filter_map(|(_, code)| code.text().map(str::to_owned))
        .collect()
}

/// The commands in a piece of a makefile: `target:; command`, a line after a tab, `$(shell …)`.
pub(super) fn recipes(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let indented = line.strip_prefix(['\t', ' ']).map(str::trim_start);
        let recipe = indented.or_else(|| {
            let (_, recipe) = line.split_once(':')?.1.split_once(';')?;
            Some(recipe)
        });
        out.extend(recipe.map(|code| code.trim_start_matches(['@', '-', '+']).replace("$$", "$")));
        // What is included is read, and a makefile prints it when it is none.
        let prints = text.contains("echo") || text.contains("printf");
        let included = line.trim_start_matches('-').strip_prefix("include ");
        let included = included.filter(|_| prints);
        out.extend(included.map(|file| format!("cat {file}")));
        let calls = ["$(shell ", "!= "]
            .iter()
            .filter_map(|sign| line.split_once(sign));
        out.extend(calls.map(|(_, call)| call.trim_end_matches(')').to_owned()));
    }
    out
}

/// The commands in a file of keys and values: what stands after a key that names a command, after the
/// dash of a list, or on a line of its own.
fn keyed(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let item = line.trim().trim_start_matches("- ").trim();
        let code = match item.split_once([':', '=']) {
            Some((key, value)) if KEYS.has(key.trim().trim_matches('"')) => value,
            Some((key, value)) if is_key(key) && text.contains('=') && item.contains(" = \"") => {
                value
            }
            Some((key, rest)) if is_key(key) && (rest.is_empty() || rest.starts_with(' ')) => {
                continue;
            }
            _ => item,
        };
        let code = code.trim().trim_matches(['"', '\'', '[', ']']);
        out.push_str(code.trim_start_matches(['|', '>']));
        out.push('\n');
    }
    out
}

fn is_key(text: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || "_-. \"'".contains(c);
    !text.trim().contains(' ') && text.chars().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_behind_keys() {
        let text = "tasks:\n  x:\n    desc: a b\n    cmds:\n      - git push\n      - cmd: rm x\n    run: |\n      ls -l a:b";
        let lines = keyed(text);
        let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines, ["git push", "rm x", "ls -l a:b"]);
    }

    #[test]
    fn recipes_of_makefiles() {
        assert_eq!(recipes("all:\n\t@a $$x\nb: c; d"), ["a $x", " d"]);
    }
}

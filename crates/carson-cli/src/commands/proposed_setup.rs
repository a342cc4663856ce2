//! What would make a checkout of a repository ready to work in: as it tells other agents, as its CI does
//! it, or by its lock files.

mod ci;

use carson_config::Toolchain;
use carson_core::text::shell_word;
use serde_json::Value;

use super::repository_files::RepositoryFiles;

/// What is proposed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// Lines for `sh`, each of which is a step.
    pub setup: Vec<String>,
    /// The file that says so.
    pub by: String,
    /// What such files say besides that asks for root, which no session has; each behind its file.
    pub for_root: Vec<String>,
    /// Files that would say so and cannot be read, each with what is wrong in it.
    pub unread: Vec<String>,
    /// Programs that the repository has files for, which say what its work needs.
    pub toolchains: Vec<Toolchain>,
    /// Files that git ignores and workspaces need.
    pub include: Vec<String>,
    /// What the list of those names besides that is no file here.
    pub no_files: Vec<String>,
}

/// A lock file, and what installs what it locks.
const LOCKS: [(&str, &[&str]); 12] = [
    ("package-lock.json", &["npm ci"]),
    ("pnpm-lock.yaml", &["pnpm install --frozen-lockfile"]),
    ("yarn.lock", &["yarn install --frozen-lockfile"]),
    ("bun.lock", &["bun install --frozen-lockfile"]),
    ("uv.lock", &["uv sync --frozen"]),
    ("poetry.lock", &["poetry install --no-interaction"]),
    (
        "requirements.txt",
        &[
            "python3 -m venv .venv",
            ".venv/bin/pip install -r requirements.txt",
        ],
    ),
    ("Cargo.lock", &["cargo test --locked --no-run"]),
    ("go.sum", &["go mod download", "go vet ./..."]),
    ("Gemfile.lock", &["bundle install"]),
    ("composer.lock", &["composer install --no-interaction"]),
    ("mix.lock", &["mix deps.get"]),
];

/// The list of files that tools which make worktrees copy into them.
const INCLUDE: &str = ".worktreeinclude";

/// What a file tells agents to do first, or what is wrong in it.
type Steps = Result<Option<Vec<String>>, String>;

/// A file that tells agents what to do first, and how it is read.
type Told = (&'static str, fn(&str) -> Steps);

const TOLD: [Told; 4] = [
    (".codex/environments/environment.toml", codex),
    (".cursor/environment.json", cursor),
    (".devcontainer/devcontainer.json", devcontainer),
    (".devcontainer.json", devcontainer),
];

/// The files that are looked at.
pub fn files() -> impl Iterator<Item = &'static str> {
    let locks = LOCKS.iter().map(|(lock, _)| *lock);
    let told = TOLD.iter().map(|(place, _)| *place);
    // That of asdf is one of mise's.
    let toolchains = [Toolchain::Mise, Toolchain::Direnv];
    let toolchains = toolchains.into_iter().flat_map(Toolchain::files).copied();
    told.chain(ci::WORKFLOWS).chain(locks).chain(toolchains)
}

/// Looks at a repository.
pub fn proposed(files: &RepositoryFiles) -> Proposal {
    let (include, no_files) = included(files);
    let mut proposal = Proposal {
        toolchains: toolchains(files),
        include,
        no_files,
        ..Proposal::default()
    };
    let said = proposal.declared(files).unwrap_or_else(|| locked(files));
    (proposal.setup, proposal.by) = said;
    proposal
}

/// Those that have a file here. asdf's is read by mise, too, and is its where it has one of its own besides.
fn toolchains(files: &RepositoryFiles) -> Vec<Toolchain> {
    let has = |one: Toolchain, but: &[&str]| {
        let mut own = one.files().iter().filter(|file| !but.contains(file));
        own.any(|file| files.has(file))
    };
    let mise = has(Toolchain::Mise, Toolchain::Asdf.files());
    let all = [
        (Toolchain::Mise, mise),
        (Toolchain::Asdf, !mise && has(Toolchain::Asdf, &[])),
        (Toolchain::Direnv, has(Toolchain::Direnv, &[])),
    ];
    let there = all.into_iter().filter(|(_, is_there)| *is_there);
    there.map(|(one, _)| one).collect()
}

impl Proposal {
    /// What the repository tells agents, or has its CI do.
    fn declared(&mut self, files: &RepositoryFiles) -> Option<(Vec<String>, String)> {
        let workflows = ci::WORKFLOWS.map(|place| (place, workflow as fn(&str) -> _));
        TOLD.into_iter().chain(workflows).find_map(|(place, read)| {
            let steps = match read(&files.text(place)?) {
                Ok(steps) => steps?.into_iter(),
                Err(why) => {
                    self.unread.push(format!("{place}: {why}"));
                    return None;
                }
            };
            let (root, steps): (Vec<_>, Vec<_>) = steps.partition(|step| asks_for_root(step));
            let root = root.iter().map(|step| format!("{place}: {step}"));
            self.for_root.extend(root);
            (!steps.is_empty()).then(|| (steps, place.to_owned()))
        })
    }
}

/// Nobody has more rights in a sandbox, so such a line would fail.
fn asks_for_root(line: &str) -> bool {
    let words = line.split(|letter: char| !letter.is_alphanumeric() && !"-_".contains(letter));
    words
        .into_iter()
        .any(|word| ["sudo", "doas"].contains(&word))
}

fn codex(text: &str) -> Steps {
    let value: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        format!("{} at line {line}", error.message())
    })?;
    let script = value.get("setup").and_then(|setup| setup.get("script"));
    Ok(script.and_then(toml::Value::as_str).map(steps))
}

fn cursor(text: &str) -> Steps {
    Ok(json(text)?["install"].as_str().map(steps))
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// A workflow has much else in it, and whoever runs it says what is wrong there.
fn workflow(text: &str) -> Steps {
    Ok(ci::installs(text))
}

fn devcontainer(text: &str) -> Steps {
    let value = json(&without_comments(text))?;
    // In the order in which they run when one is made.
    let steps = [
        "onCreateCommand",
        "updateContentCommand",
        "postCreateCommand",
    ];
    let said = steps.iter().filter_map(|step| command(&value[*step]));
    Ok(Some(said.flatten().collect()))
}

/// Each of these commands begins in the repository's directory, wherever the one before it went.
fn where_it_began(command: Vec<String>) -> Vec<String> {
    let mut words = command.iter().flat_map(|step| step.split_whitespace());
    match words.any(|word| word == "cd") {
        true => vec![format!("(\n{}\n)", command.join("\n"))],
        false => command,
    }
}

/// A text, a list of words, or several of them by name.
fn command(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(where_it_began(steps(text))),
        // No shell reads these.
        Value::Array(words) => {
            let words = words.iter().map(|word| word.as_str().map(shell_word));
            Some(vec![words.collect::<Option<Vec<String>>>()?.join(" ")])
        }
        Value::Object(named) => Some(named.values().filter_map(command).flatten().collect()),
        _ => None,
    }
}

/// A script as steps: its lines where each of them stands alone, else the whole of it as it is.
fn steps(script: &str) -> Vec<String> {
    let lines = lines(script);
    let whole = script.trim_matches(['\r', '\n']).trim_end();
    match lines.iter().all(|line| stands_alone(line)) {
        true => lines,
        false => vec![whole.to_owned()],
    }
}

/// Words of what lies on several lines.
const PARTS: [&str; 14] = [
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function",
];

/// Whether a line is a whole command for sure, whatever stands before and behind it.
fn stands_alone(line: &str) -> bool {
    let even = |mark: char| line.matches(mark).count().is_multiple_of(2);
    let closed = |[open, close]: [char; 2]| {
        line.matches(open).count() == line.matches(close).count() && !line.starts_with(close)
    };
    let apart = |letter: char| letter.is_whitespace() || ";()&|".contains(letter);
    !line.ends_with(['\\', '&', '|'])
        && !line.contains("<<")
        && ['"', '\'', '`'].into_iter().all(even)
        && [['(', ')'], ['{', '}']].into_iter().all(closed)
        && !line.split(apart).any(|word| PARTS.contains(&word))
}

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim);
    let said = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    said.map(str::to_owned).collect()
}

/// Without `// …` and commas before an end, outside of texts.
fn without_comments(text: &str) -> String {
    let (mut plain, mut in_text) = (String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if in_text => {
                plain.push(letter);
                plain.extend(letters.next());
                continue;
            }
            '"' => in_text = !in_text,
            '/' if !in_text && letters.peek() == Some(&'/') => {
                while letters.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            '}' | ']' if !in_text => {
                let end = plain.trim_end().len();
                if plain[..end].ends_with(',') {
                    plain.truncate(end - 1);
                }
            }
            _ => {}
        }
        plain.push(letter);
    }
    plain
}

fn locked(files: &RepositoryFiles) -> (Vec<String>, String) {
    let there = LOCKS.iter().filter(|(lock, _)| files.has(lock));
    let (mut setup, mut by) = (Vec::new(), Vec::new());
    for (lock, lines) in there {
        setup.extend(lines.iter().map(|line| (*line).to_owned()));
        by.push(*lock);
    }
    (setup, by.join(", "))
}

/// The files of the list, and what else it names: it may have patterns, and directories.
fn included(files: &RepositoryFiles) -> (Vec<String>, Vec<String>) {
    let Some(dir) = files.checkout() else {
        return Default::default();
    };
    let text = files.text(INCLUDE).unwrap_or_default();
    let named = lines(&text).into_iter();
    named.partition(|file| dir.join(file).is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn of(files: &[(&str, &str)]) -> Proposal {
        let dir = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        proposed(&RepositoryFiles::Checkout(dir.path().to_owned()))
    }

    #[test]
    fn what_a_repository_tells_agents_comes_before_its_lock_files() {
        let lock = ("package-lock.json", "{}");
        assert_eq!(of(&[lock]).setup, ["npm ci"]);
        assert_eq!(of(&[lock]).by, "package-lock.json");
        let codex = "version = 1\n[setup]\nscript = '''\n# first\nnpm ci\nnpm run gen\n'''\n";
        let found = of(&[lock, (".codex/environments/environment.toml", codex)]);
        assert_eq!(found.setup, ["npm ci", "npm run gen"]);
        let cursor = "{\"install\": \"pnpm i\", \"terminals\": []}";
        assert_eq!(
            of(&[(".cursor/environment.json", cursor)]).setup,
            ["pnpm i"]
        );
        let dev = "{\n  // what runs first\n  \"image\": \"x//y\",\n  \"postCreateCommand\": [\"make\", \"deps\"],\n}\n";
        let found = of(&[lock, (".devcontainer/devcontainer.json", dev)]);
        assert_eq!(
            (found.setup, found.by.as_str()),
            (
                vec!["make deps".to_owned()],
                ".devcontainer/devcontainer.json"
            )
        );
        // One that cannot be read says nothing, and is told.
        let found = of(&[lock, (".cursor/environment.json", "{")]);
        assert_eq!(found.setup, ["npm ci"]);
        let why = "EOF while parsing an object at line 1 column 1";
        assert_eq!(found.unread, [format!(".cursor/environment.json: {why}")]);
        let broken = "[setup]\nscript = npm\n";
        let found = of(&[(".codex/environments/environment.toml", broken)]);
        let [told] = found.unread.as_slice() else {
            panic!("{found:?}")
        };
        assert!(told.ends_with("at line 2"), "{told}");
        assert_eq!(of(&[]), Proposal::default());
    }

    #[test]
    fn all_steps_of_a_container_are_taken_but_those_of_root() {
        let dev = r#"{"onCreateCommand": "sudo apt-get update\nnpm ci",
            "updateContentCommand": {"python": "pip install -r dev.txt", "root": "env A=1 sudo make"},
            "postCreateCommand": ["make", "pseudo-sudoku"]}"#;
        let found = of(&[(".devcontainer.json", dev)]);
        let wanted = ["npm ci", "pip install -r dev.txt", "make pseudo-sudoku"];
        assert_eq!(found.setup, wanted);
        let left = ["sudo apt-get update", "env A=1 sudo make"];
        assert_eq!(
            found.for_root,
            left.map(|line| format!(".devcontainer.json: {line}"))
        );
        // One with nothing else says nothing.
        let root = r#"{"postCreateCommand": "sudo make install"}"#;
        let lock = ("package-lock.json", "{}");
        assert_eq!(of(&[(".devcontainer.json", root), lock]).setup, ["npm ci"]);
    }

    #[test]
    fn no_command_of_a_container_begins_where_another_went() {
        let dev = r#"{"onCreateCommand": "cd web && npm ci",
            "postCreateCommand": {"a": "cd api\nmake deps", "b": "make"}}"#;
        let found = of(&[(".devcontainer.json", dev)]);
        let wanted = ["(\ncd web && npm ci\n)", "(\ncd api\nmake deps\n)", "make"];
        assert_eq!(found.setup, wanted);
    }

    #[test]
    fn a_script_whose_lines_need_one_another_stays_whole() {
        let script = |script: &str| {
            let text = format!("[setup]\nscript = {script:?}\n");
            of(&[(".codex/environments/environment.toml", &text)])
        };
        for whole in [
            "if ! test -e x; then\n  make x\nfi\nnpm ci",
            "npm install \\\n  --omit=dev",
            "npm ci &&\n  npm run build",
            "cat > a.ini <<END\n[a]\n  indented = 1\n\nEND\nnpm ci",
            "for x in a b; do\n  make $x\ndone",
            "say='a\nb'",
            "f() {\n  npm ci\n}\nf",
        ] {
            assert_eq!(script(whole).setup, [whole], "{whole}");
        }
        let apart = "set -e\n\n# first\n  npm ci && npm run gen\nPATH=$HOME/bin:$PATH\necho \"it's\" 'done.'\n";
        // An odd mark may go on in the next line.
        assert_eq!(script(apart).setup, [apart.trim_end()]);
        let apart = apart.replace("it's", "it is");
        let wanted = [
            "set -e",
            "npm ci && npm run gen",
            "PATH=$HOME/bin:$PATH",
            "echo \"it is\" 'done.'",
        ];
        assert_eq!(script(&apart).setup, wanted);
        // Nothing is cut out of the middle: it goes whole, and is told.
        let rooted = script("if ! command -v jq; then\n  sudo apt-get install jq\nfi\nnpm ci");
        assert_eq!(rooted.setup, Vec::<String>::new());
        assert_eq!(rooted.for_root.len(), 1, "{rooted:?}");
        assert!(
            rooted.for_root[0].starts_with(".codex/environments/environment.toml: if ! command")
        );
    }

    #[test]
    fn words_that_no_shell_reads_stay_words() {
        let dev = r#"{"postCreateCommand": ["npm", "ci", "--x", "a b; c"]}"#;
        let found = of(&[(".devcontainer.json", dev)]);
        assert_eq!(found.setup, ["npm ci --x 'a b; c'"]);
    }

    #[test]
    fn what_ci_installs_comes_before_lock_files_and_after_what_agents_are_told() {
        let ci = (
            ".github/workflows/ci.yml",
            "jobs:\n  x:\n    steps:\n      - run: npm ci --omit=optional\n",
        );
        let lock = ("package-lock.json", "{}");
        let found = of(&[ci, lock]);
        assert_eq!(found.setup, ["npm ci --omit=optional"]);
        assert_eq!(found.by, ".github/workflows/ci.yml");
        let cursor = (".cursor/environment.json", r#"{"install": "make deps"}"#);
        assert_eq!(of(&[ci, lock, cursor]).setup, ["make deps"]);
        // A workflow that installs nothing says nothing.
        let ci = (".github/workflows/ci.yml", "jobs: {}\n");
        assert_eq!(of(&[ci, lock]).setup, ["npm ci"]);
    }

    #[test]
    fn toolchains_are_those_whose_files_are_there() {
        let toolchains = |files: &[&str]| {
            let files: Vec<(&str, &str)> = files.iter().map(|file| (*file, "")).collect();
            of(&files).toolchains
        };
        assert_eq!(toolchains(&[]), []);
        assert_eq!(toolchains(&[".tool-versions"]), [Toolchain::Asdf]);
        assert_eq!(toolchains(&["mise.toml"]), [Toolchain::Mise]);
        let both = [Toolchain::Mise, Toolchain::Direnv];
        assert_eq!(
            toolchains(&[".envrc", ".mise.toml", ".tool-versions"]),
            both
        );
    }

    #[test]
    fn files_to_include_are_those_that_are_there() {
        let found = of(&[
            (".worktreeinclude", "# local\n.env.test\nmissing\n*.pem\n"),
            (".env.test", "A=1\n"),
        ]);
        assert_eq!(found.include, [".env.test"]);
        assert_eq!(found.no_files, ["missing", "*.pem"]);
    }
}

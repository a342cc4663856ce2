//! Files by which a repository tells the tools of other agents how to get ready.

use carson_core::text::{matches, shell_word};
use serde_json::Value;

use super::ci;
use super::script::{steps, where_it_began};
use crate::commands::repository_files::RepositoryFiles;

/// What such a file says.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Its steps, as they stand there.
    pub(super) steps: Vec<String>,
    /// Keys that have them.
    pub(super) taken: Vec<String>,
    /// The other keys.
    pub(super) besides: Vec<String>,
    /// What the tool calls the directory in which they begin.
    pub(super) worktree: Vec<String>,
}

/// How one is read, or what is wrong in it.
type Read = fn(&str) -> Result<Said, String>;

/// Each file, the one that is asked first in front; `*` stands for a part of its name.
const TOLD: [(&str, Read); 10] = [
    (".codex/environments/environment.toml", codex),
    (".codex/environments/*.toml", codex),
    (".cursor/environment.json", cursor),
    (".cursor/worktrees.json", cursor_worktrees),
    (".devcontainer/devcontainer.json", devcontainer),
    (".devcontainer.json", devcontainer),
    (".devcontainer/*/devcontainer.json", devcontainer),
    ("conductor.json", conductor),
    (".github/workflows/copilot-setup-steps.yml", workflow),
    (".github/workflows/copilot-setup-steps.yaml", workflow),
];

/// Keys that say nothing about what work needs.
const NAMES: [&str; 4] = ["$schema", "name", "version", "customizations"];

/// The files that are looked at; what ends in `/` stands for all below it.
pub(super) fn files() -> impl Iterator<Item = &'static str> {
    let places = TOLD.iter().map(|(place, _)| *place);
    places.map(|place| place.split_once('*').map_or(place, |(dir, _)| dir))
}

/// Those that are there, with what each says.
pub(super) fn told(files: &RepositoryFiles) -> Vec<(String, Result<Said, String>)> {
    let mut all: Vec<(String, Result<Said, String>)> = Vec::new();
    for (place, read) in TOLD {
        for file in places(files, place) {
            if let Some(text) = files.text(&file)
                && all.iter().all(|(known, _)| *known != file)
            {
                all.push((file, read(&text)));
            }
        }
    }
    all
}

/// The files of such a name. One that nobody would write without reason is none.
fn places(files: &RepositoryFiles, place: &str) -> Vec<String> {
    let Some((dir, _)) = place.split_once('*') else {
        return vec![place.to_owned()];
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
    let is_one = |file: &String| {
        matches(place, file)
            && file.matches('/').count() == place.matches('/').count()
            && file.chars().all(is_plain)
    };
    files.below(dir).into_iter().filter(is_one).collect()
}

/// Steps from one key; the names of the others.
fn said(keys: Vec<String>, key: &str, steps: Option<Vec<String>>) -> Said {
    let is_taken = |one: &String| one == key && steps.is_some();
    let keys = keys
        .into_iter()
        .filter(|one| !NAMES.contains(&one.as_str()));
    let (taken, besides) = keys.partition(is_taken);
    Said {
        steps: steps.unwrap_or_default(),
        taken,
        besides,
        worktree: Vec::new(),
    }
}

fn codex(text: &str) -> Result<Said, String> {
    let value: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error
            .span()
            .map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        format!("{} at line {line}", error.message())
    })?;
    let script = value.get("setup").and_then(|setup| setup.get("script"));
    let steps = script.and_then(toml::Value::as_str).map(steps);
    let worktree = ["${CODEX_WORKTREE_PATH}", "$CODEX_WORKTREE_PATH"];
    Ok(Said {
        worktree: worktree.map(str::to_owned).to_vec(),
        ..said(value.keys().cloned().collect(), "setup", steps)
    })
}

fn cursor(text: &str) -> Result<Said, String> {
    let value = json(text)?;
    let steps = value["install"].as_str().map(steps);
    Ok(Said {
        worktree: vec!["/workspace".to_owned()],
        ..said(keys(&value), "install", steps)
    })
}

/// A list of commands. The name of a script is none, which runs by its first line.
fn cursor_worktrees(text: &str) -> Result<Said, String> {
    let value = json(text)?;
    let mut all = ["setup-worktree-unix", "setup-worktree"].into_iter();
    let Some(key) = all.find(|key| value[*key].is_array()) else {
        return Ok(said(keys(&value), "", None));
    };
    let commands = value[key].as_array().into_iter().flatten();
    let commands = commands.filter_map(Value::as_str);
    let steps = commands.flat_map(|one| where_it_began(steps(one)));
    Ok(said(keys(&value), key, Some(steps.collect())))
}

fn conductor(text: &str) -> Result<Said, String> {
    let value = json(text)?;
    let steps = value["scripts"]["setup"].as_str().map(steps);
    let worktree = ["${CONDUCTOR_WORKSPACE_PATH}", "$CONDUCTOR_WORKSPACE_PATH"];
    Ok(Said {
        worktree: worktree.map(str::to_owned).to_vec(),
        ..said(keys(&value), "scripts", steps)
    })
}

/// A workflow has much else in it, and whoever runs it says what is wrong there.
fn workflow(text: &str) -> Result<Said, String> {
    Ok(said(vec!["steps".to_owned()], "steps", ci::installs(text)))
}

/// Steps in the order in which they run when a container is made.
const MADE: [&str; 3] = [
    "onCreateCommand",
    "updateContentCommand",
    "postCreateCommand",
];

fn devcontainer(text: &str) -> Result<Said, String> {
    let value = json(&without_comments(text))?;
    let keys = keys(&value).into_iter();
    let keys = keys.filter(|key| !NAMES.contains(&key.as_str()));
    let Some(worktree) = folder(&value, text) else {
        let besides = keys.collect();
        return Ok(Said {
            besides,
            ..Said::default()
        });
    };
    let steps = MADE.iter().filter_map(|step| command(&value[*step]));
    let (taken, besides) = keys
        .filter(|key| key != "workspaceFolder")
        .partition(|key| MADE.contains(&key.as_str()) && command(&value[key]).is_some());
    Ok(Said {
        steps: steps.flatten().collect(),
        taken,
        besides,
        worktree,
    })
}

/// Where such tools put what they clone.
const WORKSPACES: &str = "/workspaces/";

/// The names of the repository's directory in a container; `None` where its commands begin below that.
fn folder(value: &Value, text: &str) -> Option<Vec<String>> {
    let said = value["workspaceFolder"].as_str().unwrap_or_default();
    let said = said.trim_end_matches('/');
    let is_below = |below: &str| below.contains('/');
    if said.strip_prefix(WORKSPACES).is_some_and(is_below) {
        return None;
    }
    let mut names = vec![
        "${containerWorkspaceFolder}".to_owned(),
        "${localWorkspaceFolder}".to_owned(),
    ];
    names.extend((!said.is_empty()).then(|| said.to_owned()));
    // Without a word of it, it is named like the repository, which only its tool knows.
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let named = text.split_once(WORKSPACES).map(|(_, rest)| {
        let end = rest.find(|letter| !is_name(letter)).unwrap_or(rest.len());
        format!("{WORKSPACES}{}", &rest[..end])
    });
    names.extend(named.filter(|named| said.is_empty() && named != WORKSPACES));
    Some(names)
}

/// A text, a list of words, or several of them by name.
fn command(value: &Value) -> Option<Vec<String>> {
    match value {
        // Each of these begins in the repository's directory.
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

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn keys(value: &Value) -> Vec<String> {
    let keys = value.as_object().into_iter().flat_map(|all| all.keys());
    keys.cloned().collect()
}

/// Without `// …`, `/* … */` and commas before an end, outside of texts.
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
            '/' if !in_text && letters.next_if_eq(&'*').is_some() => {
                let mut before = ' ';
                while let Some(next) = letters.next()
                    && (before, next) != ('*', '/')
                {
                    before = next;
                }
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

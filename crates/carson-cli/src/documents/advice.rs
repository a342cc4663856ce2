//! What the program tells people to type, held against the command line's own definition.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};

use super::root;
use crate::args::Args;

/// Where stops and ended firings say what would change them: their commands stand there without `carson`.
const CHANGES: [&str; 3] = [
    "carson-core/src/stops",
    "carson-operator/src/why",
    "carson-operator/src/why.rs",
];

/// The sources below a path, each without its tests.
fn sources(path: &Path) -> Vec<(PathBuf, String)> {
    if path.is_dir() {
        let items = fs::read_dir(path).unwrap();
        return items
            .flat_map(|item| sources(&item.unwrap().path()))
            .collect();
    }
    let is_test = path.file_stem().is_some_and(|name| name == "tests");
    if is_test || path.extension().is_none_or(|kind| kind != "rs") || !path.is_file() {
        return Vec::new();
    }
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap().to_owned();
    vec![(path.to_owned(), text)]
}

/// The code of a source, without its comments.
fn code(source: &str) -> String {
    let lines = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n").replace("\\\"", "'")
}

/// The texts between quotation marks.
fn texts(code: &str) -> impl Iterator<Item = &str> {
    code.split('"').skip(1).step_by(2)
}

/// What is given as a command where `rest` begins: as it stands there, or as the last `let` of that name before it
/// has it.
fn given<'c>(code: &'c str, rest: &'c str) -> Vec<&'c str> {
    let bare = rest.trim_start().trim_start_matches("format!(");
    if bare.trim_start().starts_with('"') {
        return texts(bare).take(1).collect();
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let name = &rest[..end.unwrap_or(0)];
    let before = &code[..code.len() - rest.len()];
    let made = before.rsplit_once(&format!("let {name} = "));
    let made = made.and_then(|(_, made)| made.split_once(';'));
    made.map_or(Vec::new(), |(made, _)| texts(made).collect())
}

/// The words with a value in each place that takes one: `1` is a number and a name. What follows on a word without
/// a blank is more of the command, or nothing.
fn filled(text: &str) -> Vec<String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        if filled.ends_with(' ') {
            filled.push('1');
        }
        rest = after.split_once('}').map_or("", |(_, rest)| rest);
    }
    filled.push_str(rest);
    let words = filled.replace("'What is to be done'", "What");
    words.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_command_that_why_names_can_be_typed() {
    let args = Args::command();
    let (mut seen, mut wrong) = (0, Vec::new());
    let all = CHANGES.map(|path| sources(&root().join("crates").join(path)));
    for (path, source) in all.iter().flatten() {
        let code = code(source);
        for (at, found) in code.match_indices(".command(") {
            let rest = &code[at + found.len()..];
            // It asks for the one of the labels, which `what_is_told_of_labels_can_be_typed` has.
            if rest.starts_with(')') || rest.starts_with("stray.command()") {
                continue;
            }
            let typed = given(&code, rest);
            if typed.is_empty() {
                let line = rest.lines().next();
                wrong.push(format!("{}: what is {line:?}?", path.display()));
            }
            for text in typed {
                seen += 1;
                let typed = ["carson".to_owned()].into_iter().chain(filled(text));
                if let Err(error) = args.clone().try_get_matches_from(typed) {
                    wrong.push(format!("{}: {text}\n{error}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Each place that names a command has one.
    assert!(seen >= 30, "only {seen} commands were found");
}

#[test]
fn what_is_told_of_labels_can_be_typed() {
    let [(_, source)] =
        <[_; 1]>::try_from(sources(&root().join("crates/carson-checks/src/labels.rs"))).unwrap();
    let code = code(&source);
    let (_, made) = code.split_once("fn command(&self)").unwrap();
    let typed = texts(made).next().unwrap();
    let typed = ["carson".to_owned()].into_iter().chain(filled(typed));
    Args::command().try_get_matches_from(typed).unwrap();
}

/// The verbs of what stands between backquotes after `carson`, as far as they are words.
fn unknown_verb(args: &Command, typed: &str) -> Option<String> {
    let mut command = args;
    for word in typed.split_whitespace() {
        if !command.has_subcommands() || !word.starts_with(|c: char| c.is_ascii_lowercase()) {
            return None;
        }
        let word = word.split('{').next().unwrap_or_default();
        match command.find_subcommand(word) {
            Some(next) => command = next,
            None => return Some(word.to_owned()),
        }
    }
    None
}

#[test]
fn every_verb_that_is_told_to_people_exists() {
    let args = Args::command();
    assert_eq!(unknown_verb(&args, "pr merge {number}"), None);
    assert_eq!(unknown_verb(&args, "pr mend {number}"), Some("mend".into()));
    let (mut seen, mut wrong) = (0, Vec::new());
    for (path, source) in sources(&root().join("crates")) {
        for text in texts(&code(&source)) {
            for part in text.split("`carson ").skip(1) {
                // It goes on in the next line.
                let Some((typed, _)) = part.split_once('`') else {
                    continue;
                };
                seen += 1;
                if let Some(word) = unknown_verb(&args, typed) {
                    let path = path.display();
                    wrong.push(format!("{path}: `carson {typed}`: no {word:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 60, "only {seen} were found");
}

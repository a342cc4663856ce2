//! What `--help` says, of every command there is. The tree is walked through the binary's own
//! words, so a command that is added is seen without being listed here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use carson_tests::fleet::TestFleet;

/// Where `--help` lists things.
const HEADINGS: [&str; 4] = [
    "Commands:",
    "Arguments:",
    "Options:",
    "Options of every command:",
];

/// Every command, as the words after `carson`; the first is `carson` itself.
fn commands(fleet: &TestFleet) -> Vec<(Vec<String>, String)> {
    let mut todo: Vec<Vec<String>> = vec![Vec::new()];
    let mut found = Vec::new();
    while let Some(words) = todo.pop() {
        let help = help(fleet, &words);
        let below = section(&help, "Commands:");
        for (name, _) in entries(&below).into_iter().rev() {
            // `carson help CMD` is the same text again.
            if name != "help" {
                todo.push([&words[..], &[name]].concat());
            }
        }
        found.push((words, help));
        assert!(found.len() < 200, "the tree of commands has no end");
    }
    found
}

fn help(fleet: &TestFleet, words: &[String]) -> String {
    let mut args: Vec<&str> = words.iter().map(String::as_str).collect();
    args.push("--help");
    let ran = fleet.carson(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
    ran.stdout
}

/// The lines below a heading, up to the next blank line that ends the section.
fn section(help: &str, heading: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with(' '));
    lines.map(str::to_owned).collect()
}

/// Name and text of each entry: an entry begins where the indentation is smallest.
fn entries(lines: &[String]) -> Vec<(String, String)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in lines.iter().filter(|line| !line.trim().is_empty()) {
        let starts = indent(line) <= 6 && !line.trim_start().starts_with("- ");
        match entries.last_mut() {
            Some((_, text)) if !starts => text.push_str(line.trim()),
            _ => {
                let (name, text) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
                entries.push((name.trim().to_owned(), text.trim().to_owned()));
            }
        }
    }
    entries
}

#[test]
fn every_command_explains_itself() {
    let fleet = TestFleet::new();
    let mut all = String::new();
    for (words, help) in commands(&fleet) {
        let name = [&["carson".to_owned()][..], &words].concat().join(" ");
        let about = help.lines().next().unwrap_or_default();
        assert!(
            (10..=100).contains(&about.len()) && about.starts_with(char::is_uppercase),
            "{name}: {about:?} says not in one line what it is for"
        );
        for heading in HEADINGS {
            for (entry, text) in entries(&section(&help, heading)) {
                assert!(!text.is_empty(), "{name}: {entry} says nothing:\n{help}");
            }
        }
        all.push_str(&format!("{}\n$ {name} --help\n{help}\n", "-".repeat(72)));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn help_names_every_exit_code_once() {
    let fleet = TestFleet::new();
    let help = help(&fleet, &[]);
    let lines = section(&help, "Exit codes:");
    let codes: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let mut known: BTreeSet<u8> = carson_core::Outcome::ALL
        .iter()
        .map(|outcome| outcome.exit_code())
        .collect();
    known.extend([1, 2, 70]);
    let known: Vec<String> = known.iter().map(u8::to_string).collect();
    assert_eq!(codes, known, "{help}");
}

#[test]
fn the_documents_name_no_command_that_does_not_exist() {
    let fleet = TestFleet::new();
    let known: BTreeSet<Vec<String>> = commands(&fleet).into_iter().map(|one| one.0).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/ARCHITECTURE.md",
        "docs/CONFIG.md",
        "docs/FAQ.md",
        "docs/MIGRATING.md",
        "docs/OPERATIONS.md",
        "docs/QUICKSTART.md",
        "docs/SERVICE.md",
        "docs/forges.md",
    ] {
        let text = fs::read_to_string(root.join(file)).unwrap();
        let named = typed(&text);
        assert!(
            file != "README.md" || named.len() > 8,
            "the README was not understood: {named:?}"
        );
        for words in named {
            // The words up to the first that is no command; the first one must be one.
            let depth = (1..=words.len())
                .take_while(|upto| known.contains(&words[..*upto]))
                .count();
            let parent = known
                .iter()
                .any(|one| one.len() == depth + 1 && one[..depth] == words[..depth]);
            let complete =
                depth > 0 && (!parent || depth == words.len() || is_value(&words[depth]));
            assert!(complete, "{file} names `carson {}`", words.join(" "));
        }
    }
}

/// A word that cannot be meant as a command: an option, or in capitals, or an id.
fn is_value(word: &str) -> bool {
    !word.chars().all(|c| c.is_ascii_lowercase() || c == '-') || word.starts_with('-')
}

/// What a reader is told to type: `carson …` in code, in a line of a block or between backticks.
fn typed(text: &str) -> Vec<Vec<String>> {
    let mut code = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            code.push(line.split('#').next().unwrap_or_default().trim());
        } else {
            code.extend(line.split('`').skip(1).step_by(2));
        }
    }
    let commands = code
        .into_iter()
        .filter_map(|line| line.strip_prefix("carson "));
    commands
        .map(|rest| {
            rest.split_whitespace()
                .map(|word| word.trim_matches(['"', '\'', ',', '.']).to_owned())
                .collect()
        })
        .collect()
}

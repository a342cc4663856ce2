//! What people read, held against the program: commands can be typed as they stand there, lists are whole, tests
//! that are named exist, and recipes are settings without a finding.

mod advice;
mod commands;
mod operations;
mod promises;
mod recipes;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_owned()
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// What people read: name and text.
fn all() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned(), "CONTRIBUTING.md".to_owned()];
    for item in fs::read_dir(root().join("docs")).unwrap() {
        let name = item.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            names.push(format!("docs/{name}"));
        }
    }
    names.sort();
    names
        .into_iter()
        .map(|name| {
            let text = document(&name);
            (name, text)
        })
        .collect()
}

/// The fenced blocks of these languages, each with the number of its first line.
fn blocks<'t>(text: &'t str, languages: &[&str]) -> Vec<(usize, Vec<&'t str>)> {
    let mut found = Vec::new();
    let mut inside: Option<(usize, Vec<&str>)> = None;
    let mut other = false;
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut inside) {
            (Some(_), Some(_)) => found.extend(inside.take()),
            (Some(_), None) if other => other = false,
            (Some(language), None) if languages.contains(&language) => {
                inside = Some((at + 2, Vec::new()));
            }
            (Some(_), None) => other = true,
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    found
}

/// The first cells of a table's rows below a heading: what stands between backticks there.
fn listed(text: &str, heading: &str) -> Vec<String> {
    let (_, after) = text
        .split_once(&format!("\n{heading}\n"))
        .unwrap_or_else(|| panic!("there is no heading {heading:?}"));
    let section = after.split("\n## ").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap().to_owned())
        .collect()
}

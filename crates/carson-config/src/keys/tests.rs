//! docs/CONFIG.md is made of the schemas: its tables, and what is planned. The words around them
//! and the order of rows are its own. `CARSON_UPDATE=1` writes it anew.

use std::path::Path;

use toml_edit::ser::ValueSerializer;

use super::*;
use crate::document::Document;

const HEAD: &str = "| key | type | default | meaning | example |";
const PLANNED: &str = "Planned for ";

fn page() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CONFIG.md")
}

/// One row of a table.
struct Row {
    key: String,
    section: String,
    text: String,
}

/// The rows of one file, and its planned keys.
fn rows(schema: &Json) -> (Vec<Row>, String) {
    let (mut rows, mut planned) = (Vec::new(), Vec::new());
    each(schema, schema, "", &mut |key, kind, property| match kind {
        Kind::Section | Kind::Renamed { .. } => {}
        Kind::Planned => planned.push(format!("`{key}`")),
        kind => {
            let text = |name: &str| {
                property[name]
                    .as_str()
                    .unwrap_or_default()
                    .replace('\n', " ")
            };
            let meaning = text("description");
            assert!(meaning.len() > 10, "{key} needs a comment: {meaning:?}");
            let example = &property["examples"][0];
            assert!(!example.is_null(), "{key} needs an example");
            let section = key.rsplit_once('.').map_or("", |(section, _)| section);
            let key = key.replace('*', "NAME");
            let text = format!(
                "| `{key}` | {} | {} | {} | `{}` |",
                words(&kind),
                default(&property["default"]),
                meaning.trim_end_matches('.').replace('|', "\\|"),
                toml(example),
            );
            let section = section.replace('*', "NAME");
            rows.push(Row { key, section, text });
        }
    });
    planned.sort();
    (rows, planned.join(", "))
}

fn words(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".into(),
        Kind::Texts => "list of texts".into(),
        Kind::TextMap => "table of texts".into(),
        Kind::Bool | Kind::Switch => "true or false".into(),
        Kind::Count(least) => format!("number from {least}"),
        Kind::Amount => "amount above 0".into(),
        Kind::Form(form) => form.name.into(),
        Kind::OneOf { words, .. } => any_of(words),
        Kind::SomeOf(words) => format!("list of {}", any_of(words)),
        Kind::Section | Kind::Planned | Kind::Renamed { .. } => unreachable!("it has no row"),
    }
}

fn any_of(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word:?}`")).collect();
    words.join(" or ")
}

fn toml(value: &Json) -> String {
    serde::Serialize::serialize(value, ValueSerializer::new())
        .unwrap()
        .to_string()
}

/// `—` stands for none.
fn default(value: &Json) -> String {
    let nothing = [
        Json::Null,
        "".into(),
        serde_json::json!([]),
        serde_json::json!({}),
    ];
    if nothing.contains(value) {
        return "—".to_owned();
    }
    format!("`{}`", toml(value))
}

/// The page with its tables as they must be.
fn made(written: &str) -> String {
    let mut files = [
        ("carson.toml", schema::settings()),
        ("role.toml", schema::role()),
    ]
    .map(|(file, schema)| (file, rows(&schema)));
    let (mut file, mut section) = (0, String::new());
    let mut lines = written.lines().peekable();
    let mut page = String::new();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("# ") {
            file = files
                .iter()
                .position(|(file, _)| *file == name)
                .unwrap_or(0);
            section.clear();
        } else if let Some(name) = line.strip_prefix("## [") {
            section = name.trim_end_matches(']').to_owned();
        }
        let (name, (rows, planned)) = &mut files[file];
        if line == HEAD {
            let mut old = Vec::new();
            while let Some(row) = lines.next_if(|line| line.starts_with('|')) {
                old.extend(row.split('`').nth(1).map(str::to_owned));
            }
            // `work` has two keys, which stand among those of the role.
            let here = |row: &mut Row| row.section == section || old.contains(&row.key);
            let mut table: Vec<Row> = rows.extract_if(.., here).collect();
            let place = |row: &Row| old.iter().position(|key| *key == row.key);
            table.sort_by_key(|row| place(row).unwrap_or(usize::MAX));
            page.push_str(&format!("{HEAD}\n|---|---|---|---|---|\n"));
            table
                .iter()
                .for_each(|row| page.push_str(&format!("{}\n", row.text)));
        } else if line.starts_with(PLANNED) {
            page.push_str(&format!("{PLANNED}{name}, and not built yet: {planned}.\n"));
        } else {
            page.push_str(&format!("{line}\n"));
        }
    }
    for (_, (rows, _)) in files {
        let homeless: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
        let todo = "write a heading `## [section]`, what it is for, and below it the line";
        assert!(homeless.is_empty(), "{homeless:?}: {todo}\n{HEAD}");
    }
    page
}

#[test]
fn the_tables_of_the_page_are_those_of_the_schema() {
    let written = std::fs::read_to_string(page()).unwrap();
    let made = made(&written);
    if std::env::var_os("CARSON_UPDATE").is_some() {
        std::fs::write(page(), &made).unwrap();
    } else {
        assert!(
            written == made,
            "docs/CONFIG.md: run this test with CARSON_UPDATE=1"
        );
    }
}

#[test]
fn each_example_and_each_default_is_a_value_that_the_key_may_have() {
    for (keys, schema) in [(&*SETTINGS, schema::settings()), (&*ROLE, schema::role())] {
        each(&schema, &schema, "", &mut |key, kind, property| {
            if matches!(kind, Kind::Section | Kind::Planned | Kind::Renamed { .. }) {
                return;
            }
            let nothing = default(&property["default"]) == "—";
            let default = (!nothing).then_some(&property["default"]);
            for value in [Some(&property["examples"][0]), default]
                .into_iter()
                .flatten()
            {
                let text = format!("{} = {}\n", key.replace('*', "name"), toml(value));
                let mut findings = Vec::new();
                let file = Path::new("x.toml");
                let mut document = Document::parse(file, &text, &mut findings).unwrap();
                crate::shape::check(&mut document, file, keys, &mut findings);
                assert!(findings.is_empty(), "{text}{findings:?}");
            }
        });
    }
}

#[test]
fn every_name_that_a_prompt_may_have_is_described() {
    let text = std::fs::read_to_string(page()).unwrap();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("may name: "));
    let names = line.unwrap().trim_end_matches('.').split(", ");
    let names: Vec<&str> = names.map(|name| name.trim_matches('`')).collect();
    assert_eq!(names, crate::PROMPT_NAMES);
}

//! docs/CONFIG.md against the tables of keys, and against the defaults that hold.

use std::collections::BTreeMap;
use std::path::Path;

use carson_core::limits::Limits;
use serde_json::Value as Json;

use super::*;
use crate::document::Document;
use crate::raw::{
    AccountSection, GitHubSection, PromiseSection, RepoSection, RoleFile, Settings, SlackSection,
};
use crate::resolve::limits;

/// One line of a table in docs/CONFIG.md.
struct Row {
    kind: String,
    default: String,
    meaning: String,
    example: String,
}

/// The rows of one part, by key.
fn rows(part: &str) -> BTreeMap<String, Row> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CONFIG.md");
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().skip_while(|line| *line != format!("# {part}"));
    let lines = lines.skip(1).take_while(|line| !line.starts_with("# "));
    let mut rows = BTreeMap::new();
    for line in lines.filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [key, kind, default, meaning, example] = cells[..] else {
            panic!("not five cells: {line}");
        };
        let bare = |cell: &str| cell.trim_matches('`').to_owned();
        let row = Row {
            kind: kind.to_owned(),
            default: bare(default),
            meaning: meaning.to_owned(),
            example: bare(example),
        };
        let twice = rows.insert(bare(key).replace("NAME", "*"), row);
        assert!(twice.is_none(), "{key} stands there twice");
    }
    rows
}

fn planned(part: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CONFIG.md");
    let text = std::fs::read_to_string(file).unwrap();
    let opening = format!("Planned for {part}, and not built yet: ");
    let line = text.lines().find_map(|line| line.strip_prefix(&opening));
    let keys = line.unwrap().trim_end_matches('.').split(", ");
    let mut keys: Vec<String> = keys
        .map(|key| key.trim_matches('`').replace("NAME", "*"))
        .collect();
    keys.sort();
    keys
}

#[test]
fn every_name_that_a_prompt_may_have_is_described() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CONFIG.md");
    let text = std::fs::read_to_string(file).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("may name: "));
    let names = line.unwrap().trim_end_matches('.').split(", ");
    let names: Vec<&str> = names.map(|name| name.trim_matches('`')).collect();
    assert_eq!(names, crate::PROMPT_NAMES);
}

fn words(kind: Kind) -> String {
    match kind {
        Text => "text".into(),
        Texts => "list of texts".into(),
        TextMap => "table of texts".into(),
        Bool => "true or false".into(),
        Count(least) => format!("number from {least}"),
        Money => "amount above 0".into(),
        Share => "share".into(),
        Span => "duration".into(),
        SomeTime => "duration above 0".into(),
        Zone => "IANA zone".into(),
        TimeOfDay => "span of hours".into(),
        OneOf(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word:?}`")).collect();
            words.join(" or ")
        }
        Section | Planned => unreachable!("it has no row"),
    }
}

fn each_key_is_described(part: &str, table: &[(&'static str, Kind)]) {
    let rows = rows(part);
    let mut known: Vec<&str> = Vec::new();
    let mut later: Vec<&str> = Vec::new();
    for (key, kind) in table {
        match kind {
            Section => {}
            Planned => later.push(key),
            _ => {
                known.push(key);
                let row = rows.get(*key);
                let row = row.unwrap_or_else(|| panic!("docs/CONFIG.md has no row for {key}"));
                assert_eq!(row.kind, words(*kind), "the type of {key}");
                assert!(row.meaning.len() > 10, "{key}: {:?}", row.meaning);
                example(part, table, key, &row.example);
            }
        }
    }
    for key in rows.keys() {
        assert!(known.contains(&key.as_str()), "{key} is no key");
    }
    later.sort_unstable();
    assert_eq!(planned(part), later);
}

/// The example is a value that the key may have.
fn example(part: &str, table: &[(&'static str, Kind)], key: &str, example: &str) {
    let text = format!("{} = {example}\n", key.replace('*', "name"));
    let mut findings = Vec::new();
    let document = Document::parse(Path::new(part), &text, &mut findings).unwrap();
    document.check(Path::new(part), table, &mut findings);
    assert!(findings.is_empty(), "{text}{findings:?}");
}

#[test]
fn every_key_of_the_settings_is_described() {
    each_key_is_described("carson.toml", SETTINGS);
}

#[test]
fn every_key_of_a_role_is_described() {
    each_key_is_described("role.toml", ROLE);
}

/// `—` stands for "none"; then the value that holds without the key is empty or absent.
fn same(row: &Row, held: Option<&Json>) -> bool {
    let nothing = [Json::Null, Json::from(""), Json::Array(vec![])];
    match (row.default.as_str(), held) {
        ("—", None) => true,
        ("—", Some(held)) => nothing.contains(held) || *held == serde_json::json!({}),
        (written, Some(held)) => {
            let written: toml_edit::DocumentMut = format!("x = {written}").parse().unwrap();
            let written: Json = toml_edit::de::from_document(written).unwrap();
            written["x"] == *held
        }
        (_, None) => false,
    }
}

fn json(value: &impl serde::Serialize) -> Json {
    serde_json::to_value(value).unwrap()
}

#[test]
fn the_defaults_that_are_described_are_those_that_hold() {
    let mut settings = json(&Settings::default());
    settings["repos"]["*"] = json(&RepoSection::default());
    settings["accounts"]["*"] = json(&AccountSection::default());
    settings["github"] = json(&GitHubSection::default());
    settings["slack"] = json(&SlackSection::default());
    let mut role = json(&RoleFile::default());
    role["promise"] = json(&PromiseSection::default());
    for (part, held) in [("carson.toml", settings), ("role.toml", role)] {
        for (key, row) in rows(part) {
            if key.starts_with("limits.") {
                continue;
            }
            let pointer = format!("/{}", key.replace('.', "/"));
            let value = held.pointer(&pointer);
            assert!(same(&row, value), "{key}: {} is not {value:?}", row.default);
        }
    }
}

#[test]
fn the_limits_that_are_described_are_those_that_hold() {
    let mut file = String::from("[limits]\n");
    for (key, row) in rows("role.toml") {
        if let Some(name) = key.strip_prefix("limits.")
            && row.default != "—"
        {
            file.push_str(&format!("{name} = {}\n", row.default));
        }
    }
    let role: RoleFile = toml_edit::de::from_str(&file).unwrap();
    let set = role.limits;
    assert_eq!(limits(set), Limits::default());
    assert_eq!(file.lines().count(), 1 + 15, "{file}");
}

//! The table engine × case: each cell names the test that shows it, or the limit that docs/engines.md names there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use carson_core::EngineKind;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Table {
    /// The id of a case, and its row in the page.
    cases: Vec<(String, String)>,
    /// One object an engine: its name, and a cell for each case.
    engines: Vec<Map<String, Value>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cell {
    limit: Option<String>,
    shown: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn table() -> Table {
    let text = fs::read_to_string(root().join("tests/conformance.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

impl Table {
    fn names(&self) -> Vec<&str> {
        let names = self.engines.iter();
        names
            .map(|engine| engine["engine"].as_str().unwrap())
            .collect()
    }

    fn cell(engine: &Map<String, Value>, case: &str) -> Cell {
        let cell = engine
            .get(case)
            .unwrap_or_else(|| panic!("{case}: {engine:?}"));
        serde_json::from_value(cell.clone()).unwrap()
    }

    /// The rows of the page, as it should have them.
    fn page(&self) -> Vec<String> {
        let names: Vec<String> = self
            .names()
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let mut rows = vec![format!("| case | {} |", names.join(" | "))];
        rows.push(format!("|---|{}", "---|".repeat(names.len())));
        for (case, said) in &self.cases {
            let cells = self.engines.iter().map(|engine| {
                let limit = Self::cell(engine, case).limit;
                limit.map_or("pass".to_owned(), |limit| format!("*{limit}*"))
            });
            let cells: Vec<String> = cells.collect();
            rows.push(format!("| {said} | {} |", cells.join(" | ")));
        }
        rows
    }
}

#[test]
fn the_page_has_this_table_and_explains_each_limit() {
    let table = table();
    let page = fs::read_to_string(root().join("docs/engines.md")).unwrap();
    let wanted = table.page();
    let has = page
        .lines()
        .filter(|line| wanted.iter().any(|row| row == line));
    let has: Vec<&str> = has.collect();
    assert_eq!(
        has,
        wanted,
        "docs/engines.md should have:\n{}",
        wanted.join("\n")
    );
    let mut named = BTreeSet::new();
    for engine in &table.engines {
        for (case, _) in &table.cases {
            named.extend(Table::cell(engine, case).limit);
        }
    }
    let explained = page.lines().filter_map(|line| line.strip_prefix("- *"));
    let explained = explained.filter_map(|line| line.split_once("*:"));
    // What is bold is no limit's name.
    let explained = explained.filter(|(name, _)| !name.starts_with('*'));
    let explained: BTreeSet<String> = explained.map(|(name, _)| name.to_owned()).collect();
    assert_eq!(
        explained, named,
        "the limits that the page explains, and those of the table"
    );
}

#[test]
fn every_engine_that_asks_a_model_is_in_it_and_every_cell_is_shown() {
    let table = table();
    let asks = EngineKind::all().filter(|kind| !kind.facts().plays_script);
    let asks: BTreeSet<&str> = asks.map(|kind| kind.facts().name).collect();
    assert_eq!(table.names().into_iter().collect::<BTreeSet<_>>(), asks);
    let made: BTreeSet<String> = super::made().into_iter().collect();
    let mut used = BTreeSet::new();
    for engine in &table.engines {
        assert_eq!(engine.len(), table.cases.len() + 1, "{engine:?}");
        for (case, _) in &table.cases {
            let cell = Table::cell(engine, case);
            let name = &engine["engine"];
            assert!(
                cell.limit.is_some() || !cell.shown.is_empty(),
                "{name} {case}"
            );
            for test in cell.shown {
                let is_there = made.contains(&test) || is_written(&test);
                assert!(is_there, "{name} {case}: there is no test {test}");
                used.insert(test);
            }
        }
    }
    let idle: Vec<&String> = made.difference(&used).collect();
    assert!(idle.is_empty(), "no cell is shown by {idle:?}");
}

/// Whether a test of this name stands in the suite (`module::name`), or in a crate (`crate: name`).
fn is_written(test: &str) -> bool {
    let (places, name) = match test.split_once(": ") {
        Some((package, name)) => (vec![root().join("crates").join(package)], name),
        None => {
            let (module, name) = test.rsplit_once("::").unwrap();
            let file = format!("tests/tests/suite/{}.rs", module.replace("::", "/"));
            (vec![root().join(file)], name)
        }
    };
    let mut todo = places;
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            let items = fs::read_dir(path).unwrap();
            todo.extend(items.map(|item| item.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(path).unwrap_or_default();
            if text.contains(&format!("fn {name}()")) {
                return true;
            }
        }
    }
    false
}

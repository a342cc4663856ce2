//! `cargo xtask conformance`: the kit of docs/engines.md, and its table.

use std::collections::BTreeMap;
use std::fs;
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value};

use crate::agents::{self, Age};
use crate::interrupt::Interrupt;
use crate::runner::profile;
use crate::test;
use crate::workspace::{Cache, root};

/// Which test shows which cell; the suite holds it against the page.
const TABLE: &str = "tests/conformance.json";

/// One cell: the limit that the page names, and the tests that show it.
struct Cell {
    limit: Option<String>,
    shown: Vec<String>,
}

/// Rows (a case as the page says it) of cells, one an engine.
struct Table {
    engines: Vec<String>,
    rows: Vec<(String, Vec<Cell>)>,
}

/// Runs every test that shows a cell, the slow ones too, and prints the table; with the newest CLIs that Carson was
/// measured with, or with the oldest.
///
/// # Errors
/// When the table is not understood, or the tests cannot be run.
pub fn run(interrupt: &Interrupt, age: Age) -> anyhow::Result<ExitCode> {
    let text =
        fs::read_to_string(root().join(TABLE)).with_context(|| format!("reading {TABLE}"))?;
    let table = Table::of(&serde_json::from_str(&text)?)
        .with_context(|| format!("understanding {TABLE}"))?;
    let filter = table.filter();
    let mut args = vec!["-E", &filter, "--run-ignored", "all", "--no-fail-fast"];
    // Their patience is for a machine on which nothing else runs.
    args.extend([
        "--test-threads",
        "2",
        "-p",
        "carson-tests",
        "-p",
        "carson-config",
    ]);
    let env = match age {
        Age::Newest => Vec::new(),
        Age::Oldest => variables(interrupt)?,
    };
    let code = test::run(interrupt, &args, &env)?;
    table.print(&passed()?);
    Ok(code)
}

/// The variables by which the tests find the oldest CLIs.
fn variables(interrupt: &Interrupt) -> anyhow::Result<Vec<(&'static str, String)>> {
    let agents = agents::ensure(interrupt, &Cache::open()?, Age::Oldest)?;
    let variables = agents.variables();
    Ok(variables
        .map(|(name, path)| (name, path.display().to_string()))
        .collect())
}

impl Table {
    fn of(value: &Value) -> Option<Self> {
        let engines = value["engines"].as_array()?;
        let named = engines
            .iter()
            .map(|engine| Some(engine["engine"].as_str()?.to_owned()));
        let rows = value["cases"].as_array()?.iter().map(|case| {
            let cells = engines
                .iter()
                .map(|engine| cell(engine.get(case[0].as_str()?)?.as_object()?));
            Some((
                case[1].as_str()?.to_owned(),
                cells.collect::<Option<Vec<_>>>()?,
            ))
        });
        Some(Self {
            engines: named.collect::<Option<_>>()?,
            rows: rows.collect::<Option<_>>()?,
        })
    }

    /// What chooses the tests.
    fn filter(&self) -> String {
        let cells = self.rows.iter().flat_map(|(_, cells)| cells);
        let tests = cells.flat_map(|cell| &cell.shown).map(|test| bare(test));
        let mut tests: Vec<String> = tests.map(|test| format!("test(/(^|::){test}$/)")).collect();
        tests.sort();
        tests.dedup();
        tests.join(" + ")
    }

    fn print(&self, passed: &BTreeMap<String, bool>) {
        println!("\n| case | {} |", self.engines.join(" | "));
        println!("|---|{}", "---|".repeat(self.engines.len()));
        for (case, cells) in &self.rows {
            let cells: Vec<String> = cells.iter().map(|cell| cell.said(passed)).collect();
            println!("| {case} | {} |", cells.join(" | "));
        }
    }
}

fn cell(cell: &Map<String, Value>) -> Option<Cell> {
    let shown = cell.get("shown")?.as_array()?.iter();
    Some(Cell {
        limit: cell.get("limit").and_then(Value::as_str).map(str::to_owned),
        shown: shown
            .map(|test| Some(test.as_str()?.to_owned()))
            .collect::<Option<_>>()?,
    })
}

impl Cell {
    fn said(&self, passed: &BTreeMap<String, bool>) -> String {
        let went = self.shown.iter().map(|test| {
            let mut all = passed.iter();
            let name = bare(test);
            all.find(|(run, _)| *run == name || run.ends_with(&format!("::{name}")))
        });
        let failed = went
            .clone()
            .any(|went| went.is_some_and(|(_, passed)| !passed));
        let missing = went.clone().any(|went| went.is_none());
        match &self.limit {
            _ if failed => "**FAIL**".to_owned(),
            _ if missing => "**not run**".to_owned(),
            Some(limit) => format!("*{limit}*"),
            None => "pass".to_owned(),
        }
    }
}

/// A test without the crate that it is in.
fn bare(test: &str) -> &str {
    test.split_once(": ").map_or(test, |(_, name)| name)
}

/// How each test of the last run went.
fn passed() -> anyhow::Result<BTreeMap<String, bool>> {
    let profile = profile().last().unwrap_or(&"default");
    let file = root().join(format!("target/nextest/{profile}/junit.xml"));
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    let document = roxmltree::Document::parse(&text)?;
    let cases = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"));
    let mut passed = BTreeMap::new();
    for case in cases {
        let Some(name) = case.attribute("name") else {
            bail!("a test without a name in {}", file.display());
        };
        let bad = ["failure", "error"];
        let failed = case
            .children()
            .any(|node| bad.iter().any(|bad| node.has_tag_name(*bad)));
        passed.insert(name.to_owned(), !failed);
    }
    ensure!(!passed.is_empty(), "no test was run");
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_what_its_tests_and_its_limit_say() {
        let passed = BTreeMap::from([("a::b".to_owned(), true), ("a::c".to_owned(), false)]);
        let said = |limit: Option<&str>, shown: &[&str]| {
            let shown = shown.iter().map(|test| (*test).to_owned()).collect();
            let limit = limit.map(str::to_owned);
            Cell { limit, shown }.said(&passed)
        };
        assert_eq!(said(None, &["a::b"]), "pass");
        assert_eq!(said(Some("no-list"), &["carson-config: b"]), "*no-list*");
        assert_eq!(said(Some("no-list"), &[]), "*no-list*");
        assert_eq!(said(Some("no-list"), &["a::b", "a::c"]), "**FAIL**");
        assert_eq!(said(None, &["a::d"]), "**not run**");
    }

    #[test]
    fn the_table_is_understood() {
        let text = fs::read_to_string(root().join(TABLE)).unwrap();
        let table = Table::of(&serde_json::from_str(&text).unwrap()).unwrap();
        assert!(
            table
                .filter()
                .contains("test(/(^|::)conformance::claude::whole$/)")
        );
        assert!(
            table
                .rows
                .iter()
                .all(|(_, cells)| cells.len() == table.engines.len())
        );
    }
}

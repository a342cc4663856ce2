//! The only place that prints.
#![expect(clippy::print_stderr, reason = "the one place that prints")]

use std::io::Write;

use comfy_table::Table;
use comfy_table::presets::NOTHING;
use serde::Serialize;

/// A line. A reader that went away (`carson … | head`) is no error.
pub fn line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A line on standard error.
pub fn error(text: &str) {
    eprintln!("{text}");
}

/// A value as JSON.
pub fn json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => line(&text),
        Err(problem) => error(&format!("error: the answer is no JSON: {problem}")),
    }
}

/// A table without lines.
pub fn table(header: &[&str], rows: Vec<Vec<String>>) {
    let mut table = Table::new();
    table.load_style(NOTHING).set_header(header.to_vec());
    table.add_rows(rows);
    for row in table.lines() {
        line(row.trim_end());
    }
}

//! What is printed of plans.

use std::path::Path;

use carson_loop::stories::Finding;

use crate::error::CommandError;
use crate::print;

/// A table, or the same between tabs.
pub fn rows(header: &[&str], rows: Vec<Vec<String>>, tsv: bool) {
    if !tsv {
        return print::table(header, rows);
    }
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| cell.replace(['\t', '\n', '\r'], " "))
            .collect();
        print::line(&cells.join("\t"));
    }
}

/// What is wrong with a plan; 2 when something is.
pub fn findings(plan: &Path, findings: &[Finding], as_json: bool) -> Result<u8, CommandError> {
    if as_json {
        print::json(&findings);
    } else if findings.is_empty() {
        print::line(&format!("{} is right", plan.display()));
    }
    if findings.is_empty() {
        return Ok(0);
    }
    if !as_json {
        findings
            .iter()
            .for_each(|finding| print::line(&finding.to_string()));
    }
    Ok(2)
}

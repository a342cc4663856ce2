//! Reads a PRD from its file, by its rules and by those that a team added.

use std::fs;
use std::path::Path;

use super::contract::Contract;
use super::ended::Ended;
use super::place::Place;
use super::prd::Prd;
use crate::stories::finding::Finding;
use crate::stories::hygiene::hidden_letters;
use crate::stories::json::{Json, Pointer};

/// Bytes of a file that are read.
const LONGEST: u64 = 16 << 20;

/// The PRD of a run.
///
/// # Errors
/// When it is not there, or not right.
pub fn prd(place: &Place) -> Result<Prd, Ended> {
    let (path, policy) = (&place.prd, &place.policy);
    if !path.is_file() {
        return Err(Ended::Failed(format!(
            "Missing PRD file: {}",
            path.display()
        )));
    }
    if !policy.is_file() {
        return Err(Ended::Failed(format!(
            "Missing CODEX file: {}",
            policy.display()
        )));
    }
    let prd = of_file(path)?;
    match hidden(&prd.document) {
        hidden if hidden.is_empty() => Ok(prd),
        hidden => Err(Ended::Failed(format!(
            "PRD contains disallowed hidden/control/bidi characters (first paths): {}",
            hidden.join(" ")
        ))),
    }
}

/// The PRD in a file, whatever it hides.
///
/// # Errors
/// When it is not right.
pub fn of_file(path: &Path) -> Result<Prd, Ended> {
    let document = document(path).map_err(|finding| wrong(&[finding]))?;
    let contract = contract(&path.with_file_name("prd.schema.json"))?;
    Prd::read(document, &contract).map_err(|findings| wrong(&findings))
}

/// What is wrong with the PRD in a file.
///
/// # Errors
/// When its schema cannot be used.
pub fn findings(path: &Path) -> Result<Vec<Finding>, Ended> {
    let document = match document(path) {
        Ok(document) => document,
        Err(finding) => return Ok(vec![finding]),
    };
    let contract = contract(&path.with_file_name("prd.schema.json"))?;
    let mut findings = hidden_letters(&document);
    findings.extend(Prd::read(document, &contract).err().unwrap_or_default());
    Ok(findings)
}

/// What the file says, as JSON.
fn document(path: &Path) -> Result<Json, Finding> {
    let wrong = |message: String| Finding::new(&Pointer::root(), message);
    let found = fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if found.len() > LONGEST {
        return Err(wrong(format!("has more than {LONGEST} bytes")));
    }
    let text = fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Json::parse(&text).map_err(|error| wrong(format!("is no JSON: {error}")))
}

fn wrong(findings: &[Finding]) -> Ended {
    let lines: String = findings
        .iter()
        .map(|finding| format!("\n[ralph]   {finding}"))
        .collect();
    Ended::Failed(format!(
        "Invalid prd.json structure or story constraints{lines}"
    ))
}

/// The keys that the schema beside the PRD allows; ralph-loop's own where there is none.
fn contract(path: &Path) -> Result<Contract, Ended> {
    if !path.is_file() {
        return Ok(Contract::default());
    }
    let schema = document(path).ok();
    let contract = schema.and_then(|schema| Contract::of_schema(&schema));
    let unusable = || {
        wrong(&[Finding::new(
            &Pointer::root(),
            format!("{} says not which keys there may be", path.display()),
        )])
    };
    contract.ok_or_else(unusable)
}

/// The first texts that hold what ralph-loop does not allow, by its way to name them.
fn hidden(document: &Json) -> Vec<String> {
    const MOST: usize = 5;
    let name = |one: Finding| one.at.as_str().trim_start_matches('/').replace('/', ".");
    let found = hidden_letters(document).into_iter();
    found.take(MOST).map(name).collect()
}

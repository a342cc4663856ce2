//! docs/OPERATIONS.md says something of everything that Carson can say of itself.

use std::collections::BTreeSet;

use carson_core::stops::kinds;
use carson_core::{BlockKind, Outcome, event};

use super::{document, listed};

fn whole(heading: &str, known: impl Iterator<Item = String>) {
    let page = document("docs/OPERATIONS.md");
    let listed = listed(&page, heading);
    let said: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(
        said.len(),
        listed.len(),
        "{heading}: something stands there twice"
    );
    let known: BTreeSet<String> = known.collect();
    let missing: Vec<&String> = known.difference(&said).collect();
    let invented: Vec<&String> = said.difference(&known).collect();
    assert!(
        missing.is_empty() && invented.is_empty(),
        "docs/OPERATIONS.md, {heading}: lacks {missing:?}, and there is no {invented:?}"
    );
}

#[test]
fn every_outcome_is_explained() {
    let all = Outcome::ALL.iter();
    whole("## Outcomes", all.map(|one| one.as_str().to_owned()));
}

#[test]
fn every_stop_is_explained() {
    whole("## Stops", kinds().map(|kind| kind.as_str().to_owned()));
}

#[test]
fn every_block_is_explained() {
    let all = BlockKind::ALL.iter();
    whole("## Blocks", all.map(|one| one.as_str().to_owned()));
}

#[test]
fn every_event_is_explained() {
    let all = event::LIST.iter();
    whole("## Events", all.map(|one| one.kind.to_owned()));
}

#[test]
fn every_check_is_explained() {
    let all = carson_checks::LIST.iter();
    whole("## Checks", all.map(|one| one.id.to_owned()));
}

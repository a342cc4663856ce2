//! The rules: by what a credential is recognised, and where it ends.

use std::sync::LazyLock;

mod address;
mod assigned;
mod jwt;
pub(crate) mod pem;
mod rule;
mod table;
mod tail;

pub(crate) use rule::{Around, Verdict};

use rule::Rule;

/// Name of the rule for values that Carson holds itself.
pub const KNOWN: &str = "known";

/// One text of the automaton.
pub(crate) struct Anchor {
    pub text: &'static str,
    pub rule: &'static Rule,
}

pub(crate) static ANCHORS: LazyLock<Vec<Anchor>> = LazyLock::new(|| {
    let anchors = table::RULES.iter().flat_map(|rule| {
        let of = move |text: &&'static str| Anchor { text, rule };
        rule.anchors.iter().map(of)
    });
    anchors.collect()
});

/// The names of all rules but [`KNOWN`].
#[must_use]
pub fn rule_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = table::RULES.iter().map(|rule| rule.name).collect();
    names.dedup();
    names
}

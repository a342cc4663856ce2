//! The forges, each with its section of `carson.toml`.

use std::sync::Arc;

use carson_forge::{OPENERS, Spec};

use crate::check::Check;
use crate::listed::{self, Sections};
use crate::paths::Paths;

/// Every forge that the settings say enough of, in the order of the list.
pub(crate) fn forges(
    sections: &Sections,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> Vec<Arc<dyn Spec>> {
    let mut forges = Vec::new();
    for opener in OPENERS {
        let written = opener.section.as_ref();
        let written = written.filter(|kind| sections.contains_key(kind.name));
        forges.extend(match (written, opener.without_section) {
            (Some(kind), _) => listed::check(kind, sections, (paths, true), check),
            (None, without) => without.map(|without| without()),
        });
    }
    forges
}

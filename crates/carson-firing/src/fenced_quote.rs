//! What the sessions said, quoted for people as data.

use carson_core::{Page, Stage};

use crate::record::Record;

/// The last words of the stages that people judge a firing by; empty when none of them ran.
pub(crate) fn last_words(rec: &Record) -> Page {
    let said = &rec.tally().last_words;
    let mut page = Page::default();
    for (stage, title) in [
        (Stage::Review, "\nThe plan review said:\n\n"),
        (Stage::Execute, "\nThe last session said:\n\n"),
        (Stage::DiffReview, "\nThe diff review said:\n\n"),
    ] {
        // A plan review is history once the plan was executed.
        let history = stage == Stage::Review && said.contains_key(&Stage::Execute);
        if let Some(text) = said.get(&stage).filter(|_| !history) {
            page = page.says(title).quotes_all(text).says("\n");
        }
    }
    page
}

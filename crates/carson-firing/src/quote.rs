//! What the sessions said, quoted for people as data.

use carson_core::Stage;

use crate::firing::Firing;

/// Longest quotation, in bytes. The transcript holds the rest.
const QUOTE_MAX: usize = 6 * 1024;

/// The last words of the stages that people judge a firing by; empty when none of them ran.
pub(crate) fn last_words(firing: &Firing<'_>) -> String {
    let said = firing.tally().last_words;
    [
        (Stage::Review, "The plan review said"),
        (Stage::Execute, "The last session said"),
        (Stage::DiffReview, "The diff review said"),
    ]
    .into_iter()
    .filter_map(|(stage, title)| Some((title, said.get(&stage)?)))
    // A plan review is history once the plan was executed.
    .filter(|(title, _)| !(title.contains("plan") && said.contains_key(&Stage::Execute)))
    .map(|(title, text)| format!("\n{title}:\n\n{}\n", fenced(text)))
    .collect()
}

/// A code block that the text cannot close. Nothing inside it mentions a person, closes an issue or
/// passes for one of Carson's own marks.
fn fenced(text: &str) -> String {
    let mut text = text.trim();
    let cut = text.len() > QUOTE_MAX;
    if cut {
        text = &text[..text.floor_char_boundary(QUOTE_MAX)];
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    // A comment opener would hide what follows from people, and could forge a claim.
    let text = text.replace("<!--", "<! --");
    let more = if cut {
        "\n… the transcript has the rest …"
    } else {
        ""
    };
    format!("{fence}text\n{text}{more}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotation_cannot_be_left_from_inside() {
        let quoted = fenced("a\n```\n````x\n<!-- carson:claim -->");
        let (first, last) = (
            quoted.lines().next().unwrap(),
            quoted.lines().last().unwrap(),
        );
        assert_eq!((first, last), ("`````text", "`````"));
        assert!(!quoted.contains("<!--"));
    }

    #[test]
    fn a_quotation_is_bounded() {
        let quoted = fenced(&"ü".repeat(QUOTE_MAX));
        assert!(quoted.len() < QUOTE_MAX + 100, "{}", quoted.len());
        assert!(quoted.contains("the transcript has the rest"));
    }
}

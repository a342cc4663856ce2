//! Words in a commit's message by which a forge closes an issue once the commit is on the base.

/// GitHub's (docs: "Linking a pull request to an issue", November 2026); others have a part of these.
const WORDS: [&str; 12] = [
    "close",
    "closes",
    "closed",
    "closing",
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "resolve",
    "resolves",
    "resolved",
    "resolving",
];
/// So many are listed.
const LISTED: usize = 20;
/// Letters of one.
const LETTERS: usize = 200;

/// What the message would close, as it is written: `#12`, `acme/widget#12`, an address.
pub(super) fn closes(message: &str, found: &mut Vec<String>) {
    let is_end = |c: char| c.is_whitespace() || "()[]<>,;\"'`*_".contains(c);
    let mut after_word = false;
    for word in message.split(is_end).filter(|word| !word.is_empty()) {
        let plain = word.trim_end_matches(['.', ':', '!', '?']);
        if after_word && refers(plain) {
            if found.len() < LISTED && !found.iter().any(|one| one == plain) {
                found.push(plain.chars().take(LETTERS).collect());
            }
            continue;
        }
        // `Closes: #1`, `Closes : #1`, and `closes #1, #2` on forges that read lists.
        let is_word = WORDS.iter().any(|one| plain.eq_ignore_ascii_case(one));
        let goes_on = after_word
            && matches!(
                plain.to_ascii_lowercase().as_str(),
                "" | "and" | "issue" | "issues"
            );
        after_word = is_word || goes_on;
    }
}

/// Whether it names an issue.
fn refers(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let lower = word.to_ascii_lowercase();
    if let Some(number) = lower.strip_prefix("gh-") {
        return is_number(number);
    }
    if let Some((_, rest)) = lower.split_once("://") {
        let path: Vec<&str> = rest.split(['/', '#', '?']).collect();
        return path
            .windows(2)
            .any(|two| matches!(two[0], "issues" | "pull" | "pulls") && is_number(two[1]));
    }
    lower
        .rsplit_once('#')
        .is_some_and(|(_, number)| is_number(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(message: &str) -> Vec<String> {
        let mut found = Vec::new();
        closes(message, &mut found);
        found
    }

    #[test]
    fn what_a_forge_would_close_is_found() {
        for (message, closed) in [
            ("Fix it\n\nCloses #12.", vec!["#12"]),
            ("FIXES: acme/widget#7", vec!["acme/widget#7"]),
            (
                "resolved https://github.com/acme/widget/issues/3",
                vec!["https://github.com/acme/widget/issues/3"],
            ),
            ("closes #1, #2 and #3", vec!["#1", "#2", "#3"]),
            ("(fixes gh-4)", vec!["gh-4"]),
            ("**Closes** : #5", vec!["#5"]),
            ("Fix the counter of issue #5", vec![]),
            ("Prefix #5, see #6", vec![]),
            ("fix #x", vec![]),
        ] {
            assert_eq!(found(message), closed, "{message}");
        }
    }
}

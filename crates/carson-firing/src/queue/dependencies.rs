//! What an issue waits for: `Depends on: #12, acme/gears#7`.
//!
//! A line of the text names them, behind one of three words ([`WORDS`]). A bare word or a number
//! without its mark names nothing: what is no reference is text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What begins a line of references, in any case.
const WORDS: [&str; 3] = ["depends on:", "blocked by:", "requires:"];
/// References of one issue that are followed; a list that is longer is no list that people keep.
const MOST: usize = 20;
/// Longest name of an owner or a repository.
const NAME_MAX: usize = 100;

/// An issue, or a pull request, of this or another repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// `owner/name`; `None` for the repository that the text belongs to.
    pub repo: Option<String>,
    /// Its number there.
    pub number: u64,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let repo = self.repo.as_deref().unwrap_or_default();
        write!(f, "{repo}#{}", self.number)
    }
}

/// The references of an issue's text, each once, in their order; `own` is the repository's `owner/name`.
pub(super) fn references(body: &str, own: &str) -> Vec<Reference> {
    let mut found = Vec::new();
    for line in body.lines() {
        let line = line.trim().trim_start_matches(['-', '*', '>', ' ']);
        let line = line.replace("**", "");
        let listed = WORDS.iter().find_map(|word| after(&line, word));
        for part in listed
            .unwrap_or_default()
            .split(|c: char| c == ',' || c == ';' || c.is_whitespace())
        {
            let part = part.trim_matches(['(', ')', '.', '<', '>', '`']);
            let Some(mut reference) = reference(part) else {
                continue;
            };
            reference.repo = reference
                .repo
                .filter(|repo| !repo.eq_ignore_ascii_case(own));
            if !found.contains(&reference) && found.len() < MOST {
                found.push(reference);
            }
        }
    }
    found
}

/// What follows a word at the beginning of a line.
fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let begins = line.get(..word.len())?.eq_ignore_ascii_case(word);
    begins.then(|| &line[word.len()..])
}

/// `#12`, `owner/name#12`, or the address of an issue or a pull request.
fn reference(text: &str) -> Option<Reference> {
    if let Some(rest) = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))
    {
        let path = rest.split(['?', '#']).next()?;
        let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        let [_host, owner, name, "issues" | "pull", number] = parts[..] else {
            return None;
        };
        return named(&format!("{owner}/{name}"), number);
    }
    let (repo, number) = text.split_once('#')?;
    if repo.is_empty() {
        let number = number_of(number)?;
        return Some(Reference { repo: None, number });
    }
    named(repo, number)
}

fn named(repo: &str, number: &str) -> Option<Reference> {
    let (owner, name) = repo.split_once('/')?;
    let plain = |part: &str| {
        let letters = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty()
            && part.len() <= NAME_MAX
            && part.chars().all(letters)
            && !part.chars().all(|c| c == '.')
    };
    let number = number_of(number)?;
    (plain(owner) && plain(name)).then(|| Reference {
        repo: Some(repo.to_owned()),
        number,
    })
}

fn number_of(text: &str) -> Option<u64> {
    let digits = text.len() <= 15 && text.chars().all(|c| c.is_ascii_digit());
    let number = digits.then(|| text.parse().ok()).flatten()?;
    (number > 0).then_some(number)
}

/// Issues of one repository that wait for each other in a ring: each with those it waits for that wait
/// for it. Such a wait would never end, so it is none.
pub(super) fn rings(waits: &BTreeMap<u64, BTreeSet<u64>>) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut rings = BTreeMap::new();
    for (number, on) in waits {
        let back: BTreeSet<u64> = on
            .iter()
            .filter(|other| reaches(waits, **other, *number))
            .copied()
            .collect();
        if !back.is_empty() {
            rings.insert(*number, back);
        }
    }
    rings
}

/// Whether a chain of waits leads from one issue to another. Each is looked at once.
fn reaches(waits: &BTreeMap<u64, BTreeSet<u64>>, from: u64, to: u64) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![from];
    while let Some(at) = next.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            next.extend(waits.get(&at).into_iter().flatten());
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(body: &str) -> Vec<String> {
        let found = references(body, "acme/widget");
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn references_are_read_and_words_are_not() {
        let body = "Do it.\n\nDepends on: #12, acme/gears#7\n- **Blocked by:** https://github.com/acme/Widget/issues/3.\n\
                    REQUIRES: https://git.example/acme/x.y/pull/4/ (#5)\n";
        assert_eq!(
            found(body),
            ["#12", "acme/gears#7", "#3", "acme/x.y#4", "#5"]
        );
        for text in [
            "It depends on: #1",
            "Depends on #1",
            "Depends on: the parser, 12, issue 7, #, #0, #x, #-1, a/b/c#1, ../..#2, acme/..#3",
            "Requires: https://github.com/acme/widget/tree/1",
            "Depends on: #99999999999999999999",
            "Depends on: $(id)#1 a b/c d#2",
        ] {
            assert_eq!(found(text), [""; 0], "{text}");
        }
        let many: String = (1..100).map(|n| format!("#{n} ")).collect();
        assert_eq!(found(&format!("Requires: {many}")).len(), MOST);
    }

    fn waits(all: &[(u64, &[u64])]) -> BTreeMap<u64, BTreeSet<u64>> {
        let one = |(number, on): &(u64, &[u64])| (*number, on.iter().copied().collect());
        all.iter().map(one).collect()
    }

    #[test]
    fn only_what_leads_back_is_a_ring() {
        let found = rings(&waits(&[
            (1, &[2, 9]),
            (2, &[3]),
            (3, &[1]),
            (4, &[1]),
            (5, &[5]),
        ]));
        let expected = waits(&[(1, &[2]), (2, &[3]), (3, &[1]), (5, &[5])]);
        assert_eq!(found, expected);
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_what_is_found_reads_back(body in "\\PC{0,80}") {
            for reference in references(&format!("Depends on: {body}"), "acme/widget") {
                let line = format!("Requires: {reference}");
                prop_assert_eq!(references(&line, "acme/widget"), vec![reference]);
            }
        }

        #[test]
        fn without_its_rings_nothing_waits_for_itself(edges in prop::collection::vec((0u64..8, 0u64..8), 0..20)) {
            let mut all: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
            for (from, to) in edges {
                all.entry(from).or_default().insert(to);
            }
            for (number, back) in rings(&all) {
                if let Some(on) = all.get_mut(&number) {
                    on.retain(|other| !back.contains(other));
                }
            }
            prop_assert!(rings(&all).is_empty());
        }
    }
}

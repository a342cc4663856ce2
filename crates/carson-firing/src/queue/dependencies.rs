//! What an issue waits for: `Depends on: #12, acme/gears#7`.
//!
//! A line of the issue's text names them, behind one of three words ([`WORDS`]). A bare word or a number
//! without its mark names nothing: what is no reference is text.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use carson_core::RepoName;
use carson_core::untrusted::one_line;

/// What begins a line of references, in any case; then comes a colon.
const WORDS: [&str; 3] = ["depends on", "blocked by", "requires"];
/// References of one issue that are followed; a list that is longer is no list that people keep.
const MOST: usize = 20;
/// Longest name of an owner or a repository.
const NAME_MAX: usize = 100;
/// Letters that are shown of what no issue can be.
const SHOWN: usize = 60;

/// An issue, or a pull request, of this or another repository.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// `owner/name`, or the name that a repository has in the fleet; `None` for the repository that the text
    /// belongs to.
    pub repo: Option<String>,
    /// Its number there.
    pub number: u64,
}

impl Reference {
    /// One to an issue of a repository of the fleet, as a text in `here` names it. A forge without names of its
    /// own takes any owner before the repository's.
    pub(crate) fn to((repo, slug): (&RepoName, &str), number: u64, here: &RepoName) -> Self {
        let name = match slug {
            "" => format!("local/{repo}"),
            slug => slug.to_owned(),
        };
        Self {
            repo: (repo != here).then_some(name),
            number,
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Issue(reference) => reference.fmt(f),
            Self::Unreadable(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let repo = self.repo.as_deref().unwrap_or_default();
        write!(f, "{repo}#{}", self.number)
    }
}

/// What a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// An issue that there may be.
    Issue(Reference),
    /// Something of the same form that no issue can be: `#0`. Whoever wrote it meant one.
    Unreadable(String),
}

/// What an issue's text names, each once, in its order; `own` is the repository's `owner/name`. Code and
/// quotes are not what its author says.
pub(super) fn references(body: &str, own: &str) -> Vec<Named> {
    let mut found = Vec::new();
    let mut code = Code::default();
    for line in body.lines().map(str::trim) {
        if code.holds(line) || line.starts_with('>') {
            continue;
        }
        let listed = WORDS.iter().find_map(|word| after(line, word));
        let listed = without_links(listed.unwrap_or_default());
        for part in listed.split(|c: char| c == ',' || c == ';' || c.is_whitespace()) {
            let around = ['(', ')', '[', ']', '.', '<', '>', '`', '*', '_', '~'];
            let Some(named) = named(part.trim_matches(around), own) else {
                continue;
            };
            if !found.contains(&named) && found.len() < MOST {
                found.push(named);
            }
        }
    }
    found
}

/// Whether lines are code, between two fences.
#[derive(Default)]
struct Code {
    /// The fence that began it.
    fence: Option<(char, usize)>,
}

impl Code {
    /// Whether a line is a fence, or stands between two. Only the same fence, or a longer one, ends code.
    fn holds(&mut self, line: &str) -> bool {
        let mark = line.chars().next().filter(|c| ['`', '~'].contains(c));
        let of_fence = mark.map(|mark| (mark, line.chars().take_while(|c| *c == mark).count()));
        let of_fence = of_fence.filter(|(_, length)| *length >= 3);
        match (self.fence, of_fence) {
            (None, None) => false,
            (None, Some((mark, length))) => {
                // What has more of it behind is code within a line.
                let begins = mark == '~' || !line[length..].contains(mark);
                self.fence = begins.then_some((mark, length));
                begins
            }
            (Some((began, least)), ended) => {
                let ends = |(mark, length)| {
                    mark == began && length >= least && line.chars().all(|c| c == mark)
                };
                if ended.is_some_and(ends) {
                    self.fence = None;
                }
                true
            }
        }
    }
}

/// What follows a word and its colon at the beginning of a line: of a paragraph, a heading, a point of a list
/// or of a list of tasks.
fn after<'a>(line: &'a str, word: &str) -> Option<&'a str> {
    let mut rest = without_marker(line).trim_start_matches(EMPHASIS);
    for (at, part) in word.split(' ').enumerate() {
        let next = rest.trim_start();
        if at > 0 && next.len() == rest.len() {
            return None;
        }
        let begins = next.get(..part.len())?.eq_ignore_ascii_case(part);
        rest = begins.then(|| &next[part.len()..])?;
    }
    let around = |c: char| c.is_whitespace() || EMPHASIS.contains(&c);
    rest.trim_start_matches(around).strip_prefix(':')
}

/// What stands around words that are bold or italic.
const EMPHASIS: [char; 2] = ['*', '_'];

/// A line without what makes it a point of a list, a task or a heading.
fn without_marker(mut line: &str) -> &str {
    loop {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = match digits.len() < line.len() {
            true => digits.strip_prefix(['.', ')']),
            false => None,
        };
        let heading = line.trim_start_matches('#');
        let heading = Some(heading).filter(|rest| rest.len() < line.len());
        let marks = ["-", "*", "+", "[ ]", "[x]", "[X]"];
        let point = marks.iter().find_map(|mark| line.strip_prefix(mark));
        let rest = point.or(number).or(heading);
        match rest.filter(|rest| rest.starts_with(char::is_whitespace)) {
            Some(rest) => line = rest.trim_start(),
            None => return line,
        }
    }
}

/// A text in which each link `[text](address)` is its address where that names an issue, and else its text.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once('[') {
        let parts = link
            .split_once("](")
            .and_then(|(shown, tail)| Some((shown, tail.split_once(')')?)));
        let Some((shown, (address, tail))) = parts.filter(|(shown, _)| !shown.contains('[')) else {
            plain.push_str(before);
            plain.push('[');
            rest = link;
            continue;
        };
        // Behind the address there may be a title.
        let address = address.split_whitespace().next().unwrap_or_default();
        let meant = named(address, "").map_or(shown, |_| address);
        plain.push_str(&format!("{before} {meant} "));
        rest = tail;
    }
    plain + rest
}

/// `#12`, `owner/name#12`, `NAME#12`, or the address of an issue or a pull request.
fn named(text: &str, own: &str) -> Option<Named> {
    let (repo, number) = match address_of(text) {
        Some((repo, number)) => (Some(repo), number),
        None => {
            let (repo, number) = text.split_once('#')?;
            ((!repo.is_empty()).then(|| repo.to_owned()), number)
        }
    };
    let is_repo = repo.as_deref().is_none_or(is_repository);
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    if !is_repo || !is_number {
        return None;
    }
    Some(match number.parse() {
        Ok(number) if number > 0 => Named::Issue(Reference {
            repo: repo.filter(|repo| !repo.eq_ignore_ascii_case(own)),
            number,
        }),
        _ => Named::Unreadable(one_line(text, SHOWN)),
    })
}

/// The repository and the number in an address.
fn address_of(text: &str) -> Option<(String, &str)> {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"))?;
    let path = rest.split(['?', '#']).next()?;
    let parts: Vec<&str> = path.trim_end_matches('/').split('/').collect();
    let [_host, owner, name, "issues" | "pull", number] = parts[..] else {
        return None;
    };
    Some((format!("{owner}/{name}"), number))
}

fn is_repository(text: &str) -> bool {
    let plain = |part: &str| {
        let letters = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !part.is_empty()
            && part.len() <= NAME_MAX
            && part.chars().all(letters)
            && !part.chars().all(|c| c == '.')
    };
    match text.split_once('/') {
        Some((owner, name)) => plain(owner) && plain(name),
        None => plain(text),
    }
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
mod tests;

//! The search for secrets in what is to be pushed.
//!
//! Whoever reads a session's objects knows no secrets; whoever knows them, a second child, reads
//! nothing but the plain text that the first one wrote out
//! ([`next_brought`]). Neither can carry one to where the other's output goes.
//!
//! Searched is all that a push shows: of each commit the header (author, committer, signature,
//! whatever else it has) and the message, the path of each file, directory, link and submodule that
//! comes, also of an empty directory, the content of each file and the target of each link; and the
//! branch's name. Other branches and tags are not pushed. The work grows with the bytes alone.

use std::collections::HashSet;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use carson_core::text::matches;
use carson_core::untrusted;
use carson_git::{Brought, Part, UNCOMMITTED, next_brought};
use carson_proc::inspector::Question;
use carson_redact::{Finding, KNOWN, Pieces, Redactor, suspicious_words};
use serde::{Deserialize, Serialize};

/// Bytes of one file that are searched.
const FILE: u64 = 512 << 20;
/// Letters of a path that are told.
const PLACE_MAX: usize = 200;
/// Leaks that are counted.
const COUNTED: usize = 1_000;

/// What is asked.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Search {
    /// The file of everything that a push would show.
    pub outgoing: PathBuf,
    /// Names that are pushed with it: the branch.
    pub names: Vec<String>,
    /// Whether what is not committed yet would be pushed, too.
    pub uncommitted: bool,
    /// The values that must not leave, as [`Redactor::to_wire`] writes them.
    pub secrets: Vec<u8>,
    /// Names that never leave, in any case.
    pub scrub: Vec<String>,
    /// False alarms that the operator knows: a rule, and the files where it is one.
    pub allowed: Vec<(String, String)>,
}

/// The rule of names that never leave.
pub(crate) const SCRUBBED: &str = "scrub";

/// A secret in what was to be pushed. Its value is nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Leak {
    /// The rule that saw it.
    pub rule: String,
    /// The commit, short, or the word for what is in none.
    pub commit: String,
    /// `the file x`, `a file's name` or `the message`.
    pub place: String,
}

impl Leak {
    /// Where it is, for people.
    pub(crate) fn at(&self) -> String {
        match self.commit == UNCOMMITTED {
            true => format!("in {}, not committed", self.place),
            false => format!("in {} of commit {}", self.place, self.commit),
        }
    }
}

/// What a search found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Searched {
    pub leaks: Vec<Leak>,
    /// Words of high entropy, and where the first one is: not enough to stop anybody.
    pub suspicious: u32,
    pub first: Option<Leak>,
}

impl Question for Search {
    const NAME: &'static str = "search";
    type Answer = Searched;

    fn answer(self) -> Result<Searched, String> {
        let redactor = Redactor::from_wire(&self.secrets)?;
        let mut searching = Searching {
            ask: &self,
            redactor: &redactor,
            found: Searched::default(),
            commit: String::new(),
            before: HashSet::new(),
            pieces: redactor.pieces(),
            skipped: false,
        };
        for name in &self.names {
            searching.text(name.as_bytes(), "", || "the branch's name".to_owned());
        }
        let file = File::open(&self.outgoing).map_err(|error| error.to_string())?;
        let mut from = BufReader::new(file);
        while let Some(one) = next_brought(&mut from, FILE).map_err(|error| error.to_string())? {
            searching.search_record(&one);
            // It is the last part, and on a full disk only half of it was written down.
            if searching.skipped {
                break;
            }
        }
        searching.put_together();
        let mut found = searching.found;
        // A secret of ours is the worst of them, and never a false alarm.
        found.leaks.sort_by_key(|leak| leak.rule != KNOWN);
        Ok(found)
    }
}

struct Searching<'s> {
    ask: &'s Search,
    redactor: &'s Redactor,
    found: Searched,
    commit: String,
    /// What the commit takes away: what only moved is no news.
    before: HashSet<(&'static str, Vec<u8>)>,
    /// What of known values came in parts, all commits together.
    pieces: Pieces,
    skipped: bool,
}

impl Searching<'_> {
    fn search_record(&mut self, one: &Brought) {
        let name = String::from_utf8_lossy(&one.name).into_owned();
        match one.part {
            Part::Commit => {
                self.skipped = name == UNCOMMITTED && !self.ask.uncommitted;
                self.commit = name;
                self.before.clear();
            }
            _ if self.skipped => {}
            Part::Message => self.text(&one.text, "", || "the message".to_owned()),
            Part::Name => self.text(&one.name, "", || "a file's name".to_owned()),
            Part::Gone => {
                let found = self.redactor.find(&one.text);
                let value = |at: std::ops::Range<usize>| one.text[at].to_vec();
                self.before
                    .extend(found.into_iter().map(|found| (found.rule, value(found.at))));
            }
            Part::File => {
                let redactor = self.redactor.clone();
                let place = || {
                    format!(
                        "the file {}",
                        untrusted::one_line(&redactor.redact(&name), PLACE_MAX)
                    )
                };
                self.text(&one.text, &name, place);
            }
        }
    }

    fn text(&mut self, text: &[u8], file: &str, place: impl Fn() -> String) {
        let commit = self.short();
        let leak = |rule: &str| Leak {
            rule: rule.to_owned(),
            commit: commit.clone(),
            place: place(),
        };
        self.pieces.search_text(text);
        let findings = self.redactor.find(text);
        // One file with ten keys is one thing to look at.
        let mut told = HashSet::new();
        for finding in &findings {
            let known = finding.rule == KNOWN;
            if told.contains(finding.rule) || !known && self.is_excused(finding, text, file) {
                continue;
            }
            told.insert(finding.rule);
            if self.found.leaks.len() < COUNTED {
                self.found.leaks.push(leak(finding.rule));
            }
        }
        if holds_one(text, &self.ask.scrub) && self.found.leaks.len() < COUNTED {
            self.found.leaks.push(leak(SCRUBBED));
        }
        if findings.is_empty() && may_hold_words(file) {
            let words = suspicious_words(text);
            self.found.suspicious = self.found.suspicious.saturating_add(words);
            if words > 0 && self.found.first.is_none() {
                self.found.first = Some(leak("entropy"));
            }
        }
    }

    /// The commit for people.
    fn short(&self) -> String {
        match self.commit == UNCOMMITTED {
            true => self.commit.clone(),
            false => self.commit.chars().take(10).collect(),
        }
    }

    /// Whether it only moved, or the operator knows that it is none.
    fn is_excused(&self, finding: &Finding, text: &[u8], file: &str) -> bool {
        let value = text[finding.at.clone()].to_vec();
        let allowed = self.ask.allowed.iter();
        self.before.contains(&(finding.rule, value))
            || allowed
                .filter(|(rule, _)| rule == finding.rule)
                .any(|(_, files)| matches(files, file))
    }

    /// A value of which no place has all is told when it is there all the same.
    fn put_together(&mut self) {
        let whole = self.found.leaks.iter().any(|leak| leak.rule == KNOWN);
        if !whole && self.pieces.make_a_whole() {
            self.found.leaks.push(Leak {
                rule: KNOWN.to_owned(),
                commit: self.short(),
                place: "several places, a part in each, up to the last".to_owned(),
            });
        }
    }
}

/// Whether a text has one of these names, in any case.
fn holds_one(text: &[u8], names: &[String]) -> bool {
    if names.is_empty() {
        return false;
    }
    let text = String::from_utf8_lossy(text).to_lowercase();
    names.iter().any(|name| text.contains(&name.to_lowercase()))
}

/// Lock files and pictures are made of such words.
fn may_hold_words(file: &str) -> bool {
    const MADE: [&str; 9] = [
        ".lock",
        "-lock.json",
        "-lock.yaml",
        "go.sum",
        ".svg",
        ".map",
        ".min.js",
        ".snap",
        ".csv",
    ];
    !file.is_empty() && !MADE.iter().any(|ending| file.ends_with(ending))
}

#[cfg(test)]
mod tests;

//! How much of each file the tests run: reports as `lcov` writes them (geninfo(1), "FILES"), and what a
//! firing that writes tests has raised.
//!
//! A report is printed by the repository's own code, so nothing in it is believed but paths and numbers,
//! within bounds.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// Files that a report may name.
const FILES: usize = 50_000;
/// Lines that it may say something of, over all files.
const LINES: usize = 2_000_000;
/// Bytes of a path.
const PATH: usize = 1_024;
/// Stretches of lines that are told one by one.
const TOLD: usize = 60;

/// Lines of a file: those that tests can run, and those that they do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// Lines that a test runs.
    pub hit: u32,
    /// Lines that one can run.
    pub found: u32,
}

impl Covered {
    /// The share in percent, rounded down; all of it where there is nothing to run.
    #[must_use]
    pub fn percent(self) -> u32 {
        match self.found {
            0 => 100,
            found => u32::try_from(u64::from(self.hit) * 100 / u64::from(found)).unwrap_or(100),
        }
    }

    /// Whether the share is at least so many percent.
    #[must_use]
    pub fn is_enough(self, percent: u32) -> bool {
        u64::from(self.hit) * 100 >= u64::from(percent) * u64::from(self.found)
    }

    /// By the share alone.
    #[must_use]
    pub fn compare(self, other: Self) -> Ordering {
        let share = |one: Self| match one.found {
            0 => (1, 1),
            found => (u64::from(one.hit), u64::from(found)),
        };
        let ((hit, found), (others, all)) = (share(self), share(other));
        (hit * all).cmp(&(others * found))
    }
}

/// What a report says of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredFile {
    /// Its path in the repository.
    pub path: String,
    /// How much of it is run.
    pub covered: Covered,
    /// Stretches of lines in which no test runs any, in their order.
    pub missed: Vec<RangeInclusive<u32>>,
}

impl CoveredFile {
    /// The lines that no test runs, as people write them; as many as anybody reads.
    #[must_use]
    pub fn missed_lines(&self) -> String {
        let told = self.missed.iter().take(TOLD);
        let told = told.map(|lines| match (lines.start(), lines.end()) {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}-{last}"),
        });
        let mut told = told.collect::<Vec<_>>().join(", ");
        if self.missed.len() > TOLD {
            told.push_str(&format!(" and {} more", self.missed.len() - TOLD));
        }
        told
    }
}

/// What the records of one file say together: tests that were run apart have one each.
#[derive(Default)]
struct Record {
    lines: BTreeMap<u32, bool>,
    /// The sums, where it has no lines.
    sums: Covered,
}

/// Reads a report: its files within the repository, in the order of their paths. An absolute path counts
/// where it is below one of `roots`, where the repository lay when the report was made.
///
/// # Errors
/// When it says nothing of any file, or more than anybody can use.
pub fn read_lcov(text: &str, roots: &[&str]) -> Result<Vec<CoveredFile>, String> {
    let mut files: BTreeMap<String, Record> = BTreeMap::new();
    let (mut records, mut lines) = (0_usize, 0_usize);
    // `None` between records, and within one of a file that is not the repository's.
    let mut path: Option<String> = None;
    for line in text.lines() {
        let line = line.trim();
        if line == "end_of_record" {
            path = None;
            continue;
        }
        let Some((word, rest)) = line.split_once(':') else {
            continue;
        };
        if word == "SF" {
            records += 1;
            path = inside(rest, roots);
            if let Some(path) = &path {
                files.entry(path.clone()).or_default();
            }
            if files.len() > FILES {
                return Err(format!("the report names more than {FILES} files"));
            }
            continue;
        }
        let Some(file) = path.as_ref().and_then(|path| files.get_mut(path)) else {
            continue;
        };
        match word {
            "DA" => {
                let Some((number, is_hit)) = of_line(rest) else {
                    continue;
                };
                lines += 1;
                *file.lines.entry(number).or_default() |= is_hit;
            }
            "LH" => file.sums.hit = file.sums.hit.max(rest.trim().parse().unwrap_or(0)),
            "LF" => file.sums.found = file.sums.found.max(rest.trim().parse().unwrap_or(0)),
            _ => {}
        }
        if lines > LINES {
            return Err(format!("the report speaks of more than {LINES} lines"));
        }
    }
    if records == 0 {
        return Err("it holds no record of a file (SF:), as an lcov report has".to_owned());
    }
    Ok(files.into_iter().map(file_of).collect())
}

/// `LINE,COUNT`, and a checksum that is not looked at.
fn of_line(rest: &str) -> Option<(u32, bool)> {
    let mut fields = rest.split(',');
    let number = fields.next()?.trim().parse().ok()?;
    let count: f64 = fields.next()?.trim().parse().ok()?;
    Some((number, count > 0.0))
}

fn file_of((path, record): (String, Record)) -> CoveredFile {
    let Record { lines, sums } = record;
    if lines.is_empty() {
        let hit = sums.hit.min(sums.found);
        return CoveredFile {
            path,
            covered: Covered { hit, ..sums },
            missed: Vec::new(),
        };
    }
    let mut missed: Vec<RangeInclusive<u32>> = Vec::new();
    let (mut hit, mut found, mut goes_on) = (0, 0, false);
    for (line, is_hit) in lines {
        found += 1;
        hit += u32::from(is_hit);
        if !is_hit {
            match missed.last_mut().filter(|_| goes_on) {
                // Nothing that can be run lies between the two.
                Some(last) => *last = *last.start()..=line,
                None => missed.push(line..=line),
            }
        }
        goes_on = !is_hit;
    }
    CoveredFile {
        path,
        covered: Covered { hit, found },
        missed,
    }
}

/// A path in the repository, without detours; `None` where it leads elsewhere.
fn inside(path: &str, roots: &[&str]) -> Option<String> {
    let path = path.trim();
    let below = |root: &&str| {
        let root = root.trim_end_matches('/');
        path.strip_prefix(root)
            .filter(|_| !root.is_empty())?
            .strip_prefix('/')
    };
    let path = roots.iter().find_map(below).unwrap_or(path);
    if path.starts_with('/') || path.len() > PATH || path.contains(char::is_control) {
        return None;
    }
    let parts = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != ".");
    let parts: Vec<&str> = parts.collect();
    let leads_away = parts.is_empty() || parts.contains(&"..");
    (!leads_away).then(|| parts.join("/"))
}

/// What was measured once more, with the work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measured {
    /// Nobody asked.
    #[default]
    NotAsked,
    /// So much.
    Covered(Covered),
    /// It could not be, and why.
    Unable(String),
}

/// The file that a firing's tests are for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aimed {
    /// Its path.
    pub file: String,
    /// How much of it the tests ran before.
    pub before: Covered,
    /// And with the work.
    pub after: Measured,
}

impl Aimed {
    /// What it rose to.
    ///
    /// # Errors
    /// Why it did not, or nobody knows.
    pub fn risen(&self) -> Result<Covered, String> {
        let (file, before) = (&self.file, self.before);
        match &self.after {
            Measured::Covered(after) if after.compare(before).is_gt() => Ok(*after),
            Measured::Covered(after) => Err(format!(
                "the coverage of {file} did not rise: {} % before, {} % after",
                before.percent(),
                after.percent()
            )),
            Measured::Unable(why) => Err(format!(
                "the coverage of {file} could not be measured with the work: {why}"
            )),
            Measured::NotAsked => Err(format!(
                "the coverage of {file} was not measured with the work"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(text: &str) -> CoveredFile {
        let files = read_lcov(text, &["/room/tree"]).unwrap();
        assert_eq!(files.len(), 1, "{files:?}");
        files.into_iter().next().unwrap()
    }

    #[test]
    fn lines_count_and_records_of_one_file_are_put_together() {
        let text = "TN:a\nSF:src/a.rs\nFN:1,main\nDA:1,1\nDA:2,0\nDA:4,0\nDA:5,3,abc=\nDA:9,0\nLF:99\nLH:98\n\
                    end_of_record\nTN:b\nSF:./src//a.rs\r\nDA:9,0\nDA:2,12345678901234567890\nend_of_record\n";
        let file = one(text);
        assert_eq!(file.path, "src/a.rs");
        assert_eq!(file.covered, Covered { hit: 3, found: 5 });
        assert_eq!(file.covered.percent(), 60);
        assert_eq!(file.missed_lines(), "4, 9");
        // What lies between two lines that nobody runs cannot be run.
        let file = one("SF:a\nDA:1,0\nDA:7,0\nDA:8,1\nDA:9,0\nend_of_record\n");
        assert_eq!(file.missed_lines(), "1-7, 9");
    }

    #[test]
    fn sums_are_enough_and_are_never_more_than_all() {
        let file = one("SF:a\nLF:10\nLH:4\nend_of_record\nDA:1,1\n");
        assert_eq!(file.covered, Covered { hit: 4, found: 10 });
        let file = one("SF:a\nLF:10\nLH:40\n");
        assert_eq!(file.covered.percent(), 100);
    }

    #[test]
    fn a_path_counts_within_the_repository_alone() {
        for (path, is) in [
            ("src/a.rs", Some("src/a.rs")),
            ("/room/tree/src/a.rs", Some("src/a.rs")),
            ("/room/tree", None),
            ("/room/treetop/a.rs", None),
            ("/usr/include/a.h", None),
            ("../a.rs", None),
            ("src/../../a.rs", None),
            ("/room/tree/../a.rs", None),
            ("", None),
            ("./", None),
            ("a\u{0}b", None),
        ] {
            assert_eq!(inside(path, &["", "/room/tree/"]).as_deref(), is, "{path}");
        }
        // Its lines are nobody's, either.
        let files = read_lcov("SF:a\nDA:1,1\nSF:/etc/b\nDA:2,0\n", &[]).unwrap();
        assert_eq!(files[0].covered, Covered { hit: 1, found: 1 });
        assert_eq!(files.len(), 1);
    }

    #[test]
    fn what_is_no_report_is_said() {
        for text in ["", "ok\n12 tests passed\n", "TN:\nend_of_record\n"] {
            assert!(read_lcov(text, &[]).unwrap_err().contains("SF:"), "{text}");
        }
        let many: String = (0..=FILES).map(|n| format!("SF:{n}\n")).collect();
        assert!(read_lcov(&many, &[]).unwrap_err().contains("files"));
        let long = format!("SF:a\n{}", "DA:1,0\n".repeat(LINES + 1));
        assert!(read_lcov(&long, &[]).unwrap_err().contains("lines"));
    }

    #[test]
    fn shares_are_compared_and_not_their_percents() {
        let of = |hit, found| Covered { hit, found };
        assert!(of(1, 3).compare(of(2, 5)).is_lt());
        assert!(of(2, 6).compare(of(1, 3)).is_eq());
        assert!(of(401, 1_000).compare(of(400, 1_000)).is_gt());
        assert!(of(0, 0).compare(of(1, 2)).is_gt());
        assert!(of(9, 10).is_enough(90) && !of(899, 1_000).is_enough(90));
        assert!(of(0, 0).is_enough(100));
    }

    #[test]
    fn what_did_not_rise_says_so() {
        let aimed = |after| Aimed {
            file: "src/a.rs".into(),
            before: Covered { hit: 2, found: 5 },
            after,
        };
        let to = |hit| aimed(Measured::Covered(Covered { hit, found: 5 })).risen();
        assert_eq!(to(3), Ok(Covered { hit: 3, found: 5 }));
        assert_eq!(
            to(2).unwrap_err(),
            "the coverage of src/a.rs did not rise: 40 % before, 40 % after"
        );
        assert!(to(1).unwrap_err().ends_with("20 % after"));
        let unable = aimed(Measured::Unable("it broke".into())).risen();
        assert!(unable.unwrap_err().ends_with("with the work: it broke"));
        assert!(aimed(Measured::NotAsked).risen().is_err());
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "((SF|DA|LF|LH|TN|end_of_record)[:,]?[-0-9a-z./,é\\PC]{0,12}\n){0,40}") {
            if let Ok(files) = read_lcov(&text, &["/a"]) {
                for file in files {
                    prop_assert!(file.covered.hit <= file.covered.found);
                    prop_assert!(file.covered.percent() <= 100);
                    prop_assert!(!file.path.starts_with('/') && !file.path.split('/').any(|part| part == ".."));
                    prop_assert!(file.missed.windows(2).all(|two| two[0].end() < two[1].start()));
                }
            }
        }

        #[test]
        fn what_is_written_is_read(hits in proptest::collection::btree_map(1_u32..500, 0_u32..3, 1..60)) {
            let lines = hits.iter().map(|(line, count)| format!("DA:{line},{count}\n"));
            let file = one(&format!("SF:a\n{}end_of_record\n", lines.collect::<String>()));
            let hit = hits.values().filter(|count| **count > 0).count();
            prop_assert_eq!(file.covered.hit as usize, hit);
            prop_assert_eq!(file.covered.found as usize, hits.len());
            for (line, count) in &hits {
                let is_missed = file.missed.iter().any(|lines| lines.contains(line));
                prop_assert_eq!(is_missed, *count == 0);
            }
        }
    }
}

//! The files that the check's command line names. They are the model's to write, as all files of the
//! directory: who reads that the check passed is told which of those that were there are others by now.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read as _;

use crate::place::Place;

/// Most of a file that is compared.
const MOST: u64 = 4 * 1024 * 1024;

/// What they held, by the words that name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedFiles(BTreeMap<String, u64>);

impl NamedFiles {
    /// As they are now: each word of the line that can be a path of the directory.
    #[must_use]
    pub fn of(line: &str, place: &Place) -> Self {
        let between = |c: char| c.is_whitespace() || "\"'`;|&<>(){}=$".contains(c);
        let words = line.split(between).filter(|word| !word.is_empty());
        let named = words.filter_map(|word| Some((word.to_owned(), print(word, place)?)));
        Self(named.collect())
    }

    /// What is said when some are not what they were.
    #[must_use]
    pub fn told_since(&self, before: &Self) -> Option<String> {
        let before = before.0.iter();
        let others = before.filter(|(name, print)| self.0.get(*name) != Some(*print));
        let names: Vec<&str> = others.map(|(name, _)| name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "the run changed what the check itself names: {}; read that before you believe the check",
                names.join(", ")
            )
        })
    }
}

fn print(word: &str, place: &Place) -> Option<u64> {
    let file = place.open(&place.existing(word).ok()?).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_the_check_names_is_told_and_what_it_waits_for_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::new(dir.path()).unwrap();
        fs::write(dir.path().join("check.sh"), "exit 1").unwrap();
        fs::write(dir.path().join("other"), "x").unwrap();
        let look = || {
            NamedFiles::of(
                "sh -c \"./check.sh && test -f done\"; ls /etc/passwd",
                &place,
            )
        };
        let before = look();
        fs::write(dir.path().join("other"), "y").unwrap();
        assert_eq!(look().told_since(&before), None);
        fs::write(dir.path().join("check.sh"), "exit 0").unwrap();
        fs::write(dir.path().join("done"), "").unwrap();
        let told = look().told_since(&before).unwrap();
        assert!(told.contains("names: ./check.sh;"), "{told}");
    }
}

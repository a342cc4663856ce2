//! How often each story failed: `.runtime/.story-failures.tsv`.

use std::path::{Path, PathBuf};

use super::ended::Ended;
use crate::json_file::{Sync, write_bytes};
use crate::own_file;

/// Bytes of the counts that are read.
const LONGEST: u64 = 1 << 20;

/// The counts.
#[derive(Clone, Debug)]
pub struct Failures {
    path: PathBuf,
}

impl Failures {
    /// Those of a state directory.
    #[must_use]
    pub fn of(state: &Path) -> Self {
        let path = state.join(".story-failures.tsv");
        Self { path }
    }

    /// How often a story failed.
    #[must_use]
    pub fn count(&self, id: &str) -> u64 {
        let found = self.read().into_iter().find(|(story, _)| story == id);
        found.map_or(0, |(_, count)| count)
    }

    /// One more; how often it is now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&self, id: &str) -> Result<u64, Ended> {
        let count = self.count(id).saturating_add(1);
        self.set(id, count)?;
        Ok(count)
    }

    /// None any more; the file is there from then on, as ralph-loop has it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn clear(&self, id: &str) -> Result<(), Ended> {
        match self.count(id) {
            0 if self.path.exists() => Ok(()),
            _ => self.set(id, 0),
        }
    }

    fn set(&self, id: &str, count: u64) -> Result<(), Ended> {
        let mut all = self.read();
        all.retain(|(story, _)| story != id);
        all.extend((count > 0).then(|| (id.to_owned(), count)));
        let lines: String = all
            .iter()
            .map(|(story, count)| format!("{story}\t{count}\n"))
            .collect();
        let written = write_bytes(&self.path, lines.as_bytes(), Sync::Now);
        written.map_err(Ended::io("write the count of failures", &self.path))
    }

    fn read(&self) -> Vec<(String, u64)> {
        let text = own_file::read(&self.path, LONGEST).ok().flatten();
        let text = String::from_utf8(text.unwrap_or_default()).unwrap_or_default();
        let line = |line: &str| {
            let (story, count) = line.split_once('\t')?;
            Some((story.to_owned(), count.parse().ok()?))
        };
        text.lines().filter_map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn counts_stay_and_go() {
        let dir = tempfile::tempdir().unwrap();
        let failures = Failures::of(dir.path());
        assert_eq!((failures.count("A"), failures.add("A").unwrap()), (0, 1));
        assert_eq!(
            (failures.add("B").unwrap(), failures.add("A").unwrap()),
            (1, 2)
        );
        failures.clear("A").unwrap();
        assert_eq!((failures.count("A"), failures.count("B")), (0, 1));
        assert_eq!(fs::read_to_string(&failures.path).unwrap(), "B\t1\n");
    }
}

//! The file that a person writes, as it is read and changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::Clock;
use serde_json::Value;

use crate::config::{Changes, Config};
use crate::error::LoopError;
use crate::json_file::{self, FileError, Sync};
use crate::lock::{Lock, Owner};
use crate::place::{Layout, Place};

/// How long somebody else may take to change it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The configuration, and the bytes that it was read from.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    path: PathBuf,
    layout: Layout,
    bytes: Vec<u8>,
    /// What it says.
    pub config: Config,
}

impl ConfigFile {
    /// Reads that of a loop.
    ///
    /// # Errors
    /// When it is not there, or is not what it should be: with the line.
    pub fn open(place: &Place) -> Result<Self, LoopError> {
        Self::read(place.config(), place.layout())
    }

    /// Reads what ALPF was told.
    ///
    /// # Errors
    /// When it is not what it should be: with the line.
    pub fn of_alpf(place: &Place) -> Result<Self, LoopError> {
        Self::read(place.alpf_config(), Layout::Alpf)
    }

    fn read(path: PathBuf, layout: Layout) -> Result<Self, LoopError> {
        let bytes = json_file::bytes(&path)?;
        let config = parse(&path, layout, &bytes)?;
        Ok(Self {
            path,
            layout,
            bytes,
            config,
        })
    }

    /// Reads it again; which keys changed.
    ///
    /// # Errors
    /// When it is not what it should be any more: with the line.
    pub fn read_again(&mut self) -> Result<Vec<String>, LoopError> {
        let bytes = json_file::bytes(&self.path)?;
        if bytes == self.bytes {
            return Ok(Vec::new());
        }
        let config = parse(&self.path, self.layout, &bytes)?;
        let keys = config.differs(&self.config);
        (self.bytes, self.config) = (bytes, config);
        Ok(keys)
    }
}

/// Writes the first one of a loop.
///
/// # Errors
/// When there is one, or the disk says no.
pub fn create(place: &Place, config: &Config) -> Result<(), LoopError> {
    if place.config().symlink_metadata().is_ok() {
        return Err(LoopError::Exists { dir: place.dir() });
    }
    json_file::write(&place.config(), config, Sync::Now)?;
    Ok(())
}

/// Changes that of a loop; what it was, and what it is. One that is broken is left as it is.
///
/// # Errors
/// When it is broken, it would be, or the disk says no.
pub fn change(
    place: &Place,
    changes: &Changes,
    clock: &Clock,
) -> Result<(Config, Config), LoopError> {
    let owner = Owner::myself("carson loop update", clock.now());
    let _lock = Lock::wait(&place.edit_lock(), &owner, PATIENCE)?;
    let before = ConfigFile::open(place)?;
    let after = changes.to(&before.config).map_err(LoopError::Unfit)?;
    if after != before.config {
        // Keys that ALPF has and we do not know stay.
        let mut table: Value = json_file::parse(&before.path, &before.bytes)?;
        let new = serde_json::to_value(&after).unwrap_or_default();
        for key in after.differs(&before.config) {
            table[key.as_str()] = new[key.as_str()].clone();
        }
        json_file::write(&before.path, &table, Sync::Now)?;
    }
    Ok((before.config, after))
}

fn parse(path: &Path, layout: Layout, bytes: &[u8]) -> Result<Config, FileError> {
    let strict = json_file::parse(path, bytes);
    match (layout, strict) {
        (Layout::Alpf, Err(error)) => without_unknown(path, bytes).unwrap_or(Err(error)),
        (_, strict) => strict,
    }
}

/// ALPF may know keys that we do not; `None` where they are not what is wrong.
fn without_unknown(path: &Path, bytes: &[u8]) -> Option<Result<Config, FileError>> {
    let mut table: serde_json::Map<String, Value> = json_file::parse(path, bytes).ok()?;
    let usual = Config::new(
        crate::words::Words::Line("x".into()),
        crate::words::Words::Line("x".into()),
    );
    let known = serde_json::to_value(usual).ok()?;
    let count = table.len();
    table.retain(|key, _| known.get(key.as_str()).is_some());
    if table.len() == count {
        return None;
    }
    let text = serde_json::to_vec_pretty(&table).ok()?;
    Some(json_file::parse(path, &text))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::words::Words;

    #[test]
    fn keys_that_alpf_has_and_we_do_not_know_are_passed_over_and_stay() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::at(dir.path(), Layout::Alpf).unwrap();
        place.make().unwrap();
        let text = r#"{"promise": "npm test", "task": "fix", "max_attempts": 7, "checkpoint_mode": "git"}"#;
        fs::write(place.config(), text).unwrap();
        let config = ConfigFile::open(&place).unwrap().config;
        assert_eq!((config.max_attempts, config.timeout_seconds), (7, 300));
        let more = Changes {
            max_attempts: Some(9),
            ..Changes::default()
        };
        change(&place, &more, &Clock::system()).unwrap();
        let text = fs::read_to_string(place.config()).unwrap();
        assert!(
            text.contains("\"checkpoint_mode\": \"git\"") && text.contains("\"max_attempts\": 9"),
            "{text}"
        );
        assert!(!text.contains("stagnation_limit"), "{text}");
        // One of ours does not pass over anything.
        let place = Place::at(dir.path(), Layout::Native).unwrap();
        let error = ConfigFile::of_alpf(&place).unwrap().config.differs(&config);
        assert_eq!(error, ["max_attempts"]);
        place.make().unwrap();
        fs::copy(place.alpf_config(), place.config()).unwrap();
        let error = ConfigFile::open(&place).unwrap_err().to_string();
        assert!(error.contains("unknown field `checkpoint_mode`"), "{error}");
    }

    #[test]
    fn a_broken_one_is_never_written_over() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::at(dir.path(), Layout::Native).unwrap();
        place.make().unwrap();
        let config = Config::new(Words::line("x").unwrap(), Words::line("y").unwrap());
        create(&place, &config).unwrap();
        assert!(matches!(
            create(&place, &config),
            Err(LoopError::Exists { .. })
        ));
        let mut file = ConfigFile::open(&place).unwrap();
        assert!(file.read_again().unwrap().is_empty());
        let broken = "{\"promise\": \"x\",\n\"task\" \"y\"}";
        fs::write(place.config(), broken).unwrap();
        let more = Changes {
            max_attempts: Some(9),
            ..Changes::default()
        };
        for error in [
            file.read_again().unwrap_err(),
            change(&place, &more, &Clock::system()).unwrap_err(),
        ] {
            assert!(error.to_string().contains("config.json:2:"), "{error}");
        }
        assert_eq!(fs::read_to_string(place.config()).unwrap(), broken);
    }
}

//! The file that a person writes, as it is read and changed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::Clock;
use serde_json::{Map, Value};

use crate::config::{Changes, Config};
use crate::error::LoopError;
use crate::json_file::{self, FileError, Sync};
use crate::lock::{Lock, Owner};
use crate::place::{Layout, Place};
use crate::stories::Json;

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
    /// The settings of a directory: its own, else those of ALPF that stand there.
    ///
    /// # Errors
    /// When they are broken: with the line.
    pub(crate) fn of(place: &Place) -> Result<Config, LoopError> {
        match place.config().symlink_metadata() {
            Err(_) if place.alpf_config().is_file() => {
                Ok(Self::of_alpf(place, &Changes::default())?.config)
            }
            _ => Ok(Self::open(place)?.config),
        }
    }

    /// Reads that of a loop.
    ///
    /// # Errors
    /// When it is not there, or is not what it should be: with the line.
    pub fn open(place: &Place) -> Result<Self, LoopError> {
        Self::read(place.config(), place.layout())
    }

    /// Reads what ALPF was told, with what is said beside it.
    ///
    /// # Errors
    /// When it is not what it should be: with the line; or nobody says a promise and a task.
    pub fn of_alpf(place: &Place, changes: &Changes) -> Result<Self, LoopError> {
        let path = place.alpf_config();
        let bytes = json_file::bytes(&path)?;
        let config = parse_with(&path, Layout::Alpf, &bytes, changes)?;
        let layout = Layout::Alpf;
        Ok(Self {
            path,
            layout,
            bytes,
            config,
        })
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

/// Changes that of a loop: which keys differ, and what it is. One that is broken is left as it is, and in any other
/// each key stays where it stands.
///
/// # Errors
/// When it is broken, it would be, or the disk says no.
pub fn change(
    place: &Place,
    changes: &Changes,
    clock: &Clock,
) -> Result<(Vec<String>, Config), LoopError> {
    let owner = Owner::myself("carson loop update", clock.now());
    let _lock = Lock::wait(&place.edit_lock(), &owner, PATIENCE)?;
    let (path, layout) = (place.config(), place.layout());
    let bytes = json_file::bytes(&path)?;
    let (keys, after) = match parse(&path, layout, &bytes) {
        Ok(before) => {
            let after = changes.to(&before).map_err(LoopError::Unfit)?;
            (after.differs(&before), after)
        }
        // What it does not say may be what is said now.
        Err(LoopError::Unsaid { .. }) => {
            let after = parse_with(&path, layout, &bytes, changes)?;
            (keys_of(changes), after)
        }
        Err(error) => return Err(error),
    };
    if !keys.is_empty() {
        let mut text: Json = json_file::parse(&path, &bytes)?;
        let new = serde_json::to_value(&after).unwrap_or_default();
        for key in &keys {
            let value = Json::parse(&new[key.as_str()].to_string());
            if let (Some(table), Ok(value)) = (text.object_mut(), value) {
                table.set(key, value);
            }
        }
        let written = json_file::write_bytes(&path, text.pretty().as_bytes(), Sync::Now);
        written.map_err(FileError::io(&path))?;
    }
    Ok((keys, after))
}

fn parse(path: &Path, layout: Layout, bytes: &[u8]) -> Result<Config, LoopError> {
    parse_with(path, layout, bytes, &Changes::default())
}

/// ALPF may know keys that we do not, and need not say what is to be done: `changes` may.
fn parse_with(
    path: &Path,
    layout: Layout,
    bytes: &[u8],
    changes: &Changes,
) -> Result<Config, LoopError> {
    let strict = json_file::parse(path, bytes);
    let error = match (layout, strict) {
        (_, Ok(config)) => return changes.to(&config).map_err(LoopError::Unfit),
        (Layout::Native, Err(error)) => return Err(error.into()),
        (Layout::Alpf, Err(error)) => error,
    };
    let mut table: Map<String, Value> = json_file::parse(path, bytes)?;
    let known = serde_json::to_value(Changes::default()).unwrap_or_default();
    let all = table.len();
    table.retain(|key, _| known.get(key.as_str()).is_some());
    let is_theirs = table.len() < all;
    table.extend(said(changes));
    let what = match ["promise", "task"].map(|key| table.contains_key(key)) {
        [true, true] if is_theirs || !changes.is_empty() => {
            let text = serde_json::to_vec_pretty(&table).unwrap_or_default();
            return Ok(json_file::parse(path, &text)?);
        }
        [true, true] => return Err(error.into()),
        [false, false] => "promise and no task",
        [false, true] => "promise",
        [true, false] => "task",
    };
    let path = path.to_owned();
    Err(LoopError::Unsaid { path, what })
}

/// The keys that are said.
pub(crate) fn keys_of(changes: &Changes) -> Vec<String> {
    said(changes).into_iter().map(|(key, _)| key).collect()
}

/// The same, with their values.
fn said(changes: &Changes) -> Map<String, Value> {
    let Ok(Value::Object(mut keys)) = serde_json::to_value(changes) else {
        return Map::new();
    };
    keys.retain(|_, value| !value.is_null());
    keys
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
        let told = ConfigFile::of_alpf(&place, &Changes::default()).unwrap();
        assert_eq!(told.config.differs(&config), ["max_attempts"]);
        place.make().unwrap();
        fs::copy(place.alpf_config(), place.config()).unwrap();
        let error = ConfigFile::open(&place).unwrap_err().to_string();
        assert!(error.contains("unknown field `checkpoint_mode`"), "{error}");
    }

    #[test]
    fn bounds_without_a_promise_are_completed_and_no_key_moves() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::at(dir.path(), Layout::Alpf).unwrap();
        place.make().unwrap();
        let text = "{\n  \"timeout_seconds\": 30,\n  \"z\": 1,\n  \"max_attempts\": 7\n}\n";
        fs::write(place.config(), text).unwrap();
        let error = ConfigFile::open(&place).unwrap_err();
        assert!(
            matches!(&error, LoopError::Unsaid { what, .. } if *what == "promise and no task"),
            "{error}"
        );
        let line = |text: &str| Some(Words::line(text).unwrap());
        let promise = Changes {
            promise: line("npm test"),
            ..Changes::default()
        };
        let clock = Clock::system();
        let error = change(&place, &promise, &clock).unwrap_err();
        assert!(
            error.to_string().ends_with("config.json says no task"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(place.config()).unwrap(), text);
        let both = Changes {
            task: line("fix"),
            ..promise
        };
        let (keys, config) = change(&place, &both, &clock).unwrap();
        assert_eq!(keys, ["promise", "task"]);
        assert_eq!((config.max_attempts, config.timeout_seconds), (7, 30));
        let more = Changes {
            max_attempts: Some(9),
            ..Changes::default()
        };
        assert_eq!(change(&place, &more, &clock).unwrap().0, ["max_attempts"]);
        let right = "{\n  \"timeout_seconds\": 30,\n  \"z\": 1,\n  \"max_attempts\": 9,\n  \"promise\": \"npm test\",\n  \"task\": \"fix\"\n}\n";
        assert_eq!(fs::read_to_string(place.config()).unwrap(), right);
        // Carson's own says both, or is broken.
        let place = Place::at(dir.path(), Layout::Native).unwrap();
        place.make().unwrap();
        fs::write(place.config(), "{\"max_attempts\": 7}").unwrap();
        let error = change(&place, &both, &clock).unwrap_err().to_string();
        assert!(error.contains("missing field `promise`"), "{error}");
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

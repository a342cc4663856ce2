//! One file: TOML between two `+++` lines, then the text.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ForgeError;
use crate::words::{Listed, Unread};

const FENCE: &str = "+++\n";

/// A title that somebody typed over several lines may hold fences; more than these are a mistake.
const FENCES: usize = 16;

pub(crate) fn io(path: &Path, source: std::io::Error) -> ForgeError {
    ForgeError::Io {
        path: path.to_owned(),
        source,
    }
}

/// Reads a file whole. A pipe or a device is none: reading it would wait for whoever writes.
pub(crate) fn text(path: &Path) -> Result<String, ForgeError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => ForgeError::NotFound {
            what: path.to_string_lossy().into_owned(),
        },
        // The disk answers; it is this file that is not what it should be.
        ErrorKind::InvalidData | ErrorKind::PermissionDenied => ForgeError::File {
            path: path.to_owned(),
            problem: error.to_string(),
        },
        _ => io(path, error),
    };
    if !fs::metadata(path).map_err(failed)?.is_file() {
        return Err(ForgeError::File {
            path: path.to_owned(),
            problem: "this is no regular file".into(),
        });
    }
    let text = fs::read_to_string(path).map_err(failed)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    // As editors of other systems leave it: one that ends its first line so ends all of them so.
    Ok(match text.starts_with("+++\r\n") {
        true => text.replace("\r\n", "\n"),
        false => text.to_owned(),
    })
}

/// Whether a file begins with front matter.
pub(crate) fn has_head(path: &Path) -> Result<bool, ForgeError> {
    Ok(text(path)?.starts_with(FENCE))
}

/// Reads a file into its head and its text.
pub(crate) fn read<H: DeserializeOwned>(path: &Path) -> Result<(H, String), ForgeError> {
    let text = text(path)?;
    let bad = |problem: String| ForgeError::File {
        path: path.to_owned(),
        problem,
    };
    let rest = text.strip_prefix(FENCE);
    let rest = rest.ok_or_else(|| bad("line 1: +++ is missing".into()))?;
    // A title may hold a line of its own that reads +++; only the one that ends the TOML ends it.
    let mut problem = "the second +++ line is missing".to_owned();
    for (at, fence) in rest.match_indices("\n+++").take(FENCES) {
        let (head, body) = (&rest[..=at], &rest[at + fence.len()..]);
        let Some(body) = body.strip_prefix('\n').or(body.is_empty().then_some("")) else {
            continue;
        };
        // With a line in place of the fence, errors name the lines of the file.
        match toml::from_str(&format!("\n{head}")) {
            Ok(head) => return Ok((head, body.to_owned())),
            Err(error) => problem = error.to_string(),
        }
    }
    Err(bad(problem))
}

/// Writes a file whole or not at all.
pub(crate) fn write<H: Serialize>(path: &Path, head: &H, body: &str) -> Result<(), ForgeError> {
    let bad = |error: toml::ser::Error| ForgeError::File {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    let table = toml::Table::try_from(head).map_err(bad)?;
    let head: String = table.iter().map(line).collect();
    let text = format!("{FENCE}{head}{FENCE}{body}");
    let half = path.with_extension("half");
    let written = (|| {
        let mut file = fs::File::create(&half)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&half, path)?;
        // A new name is on the disk when its directory is.
        path.parent()
            .map_or(Ok(()), |dir| fs::File::open(dir)?.sync_all())
    })();
    written.map_err(|source| io(path, source))
}

/// Removes a file; one that is not there is no error.
pub(crate) fn remove(path: &Path) -> Result<(), ForgeError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io(path, error)),
        _ => Ok(()),
    }
}

/// One value on one line, whatever is in it: no line of a title may look like a fence. A string of
/// JSON is one of TOML too, but for a character that JSON does not escape.
fn line((key, value): (&String, &toml::Value)) -> String {
    let value = serde_json::json!(value).to_string();
    format!("{key} = {}\n", value.replace('\u{7f}', "\\u007f"))
}

/// The `0007.md` files of a directory, by their numbers.
pub(crate) fn numbered(dir: &Path) -> Result<Vec<(u64, PathBuf)>, ForgeError> {
    let mut found: Vec<(u64, PathBuf)> = markdown(dir)?
        .into_iter()
        .filter_map(|path| Some((number_of(&path)?, path)))
        .collect();
    found.sort();
    Ok(found)
}

/// The numbered files of a directory; one that is not what it should be is named, and the others
/// are there.
pub(crate) fn readable<T>(
    dir: &Path,
    read: fn(u64, &Path) -> Result<T, ForgeError>,
) -> Result<Listed<T>, ForgeError> {
    let mut listed = Listed::default();
    for (number, path) in numbered(dir)? {
        match read(number, &path) {
            Ok(one) => listed.found.push(one),
            Err(ForgeError::File { path, problem }) => listed.unread.push(Unread {
                place: path.to_string_lossy().into_owned(),
                why: problem,
            }),
            // Somebody removed it since it was listed.
            Err(ForgeError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(listed)
}

/// The Markdown files of a directory that have no number.
pub(crate) fn strays(dir: &Path) -> Result<Vec<PathBuf>, ForgeError> {
    let mut found = markdown(dir)?;
    found.retain(|path| number_of(path).is_none());
    found.sort();
    Ok(found)
}

/// Only the name that we would give says a number: `1.md` beside `0001.md` is another file.
fn number_of(path: &Path) -> Option<u64> {
    let name = path.file_stem()?.to_str()?;
    let number = name.parse().ok()?;
    (name == format!("{number:04}")).then_some(number)
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name.as_encoded_bytes().starts_with(b".")
}

/// The Markdown files of a directory; hidden ones are an editor's.
pub(crate) fn markdown(dir: &Path) -> Result<Vec<PathBuf>, ForgeError> {
    let items = match fs::read_dir(dir) {
        Ok(items) => items,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io(dir, error)),
    };
    let paths = items.filter_map(|item| Some(item.ok()?.path()));
    Ok(paths
        .filter(|path| path.extension().is_some_and(|end| end == "md") && !is_hidden(path))
        .collect())
}

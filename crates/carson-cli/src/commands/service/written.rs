//! The file that a service manager reads, and whose it is.
//!
//! Its last line has the digest of what stands above it: a file whose digest holds is as Carson wrote it, and may be
//! replaced or removed; any other one is somebody's work.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sha2::{Digest, Sha256};

/// Whose a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// There is none.
    Missing,
    /// Carson's.
    Ours,
    /// Somebody edited it, or wrote it.
    Edited,
}

/// How a line is a comment.
#[derive(Clone, Copy, Debug)]
pub enum Comment {
    /// Of a unit file.
    Hash,
    /// Of XML.
    Xml,
}

const MARK: &str = "Written by `carson service`; who edits it keeps it: sha256 ";

impl Written {
    /// Looks at a file.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(file: &Path) -> io::Result<Self> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::Missing),
            // Not even text.
            Err(error) if error.kind() == ErrorKind::InvalidData => return Ok(Self::Edited),
            Err(error) => return Err(error),
        };
        let Some((above, last)) = text.trim_end().rsplit_once('\n') else {
            return Ok(Self::Edited);
        };
        let above = format!("{above}\n");
        Ok(
            match last.contains(MARK) && last.contains(&digest(&above)) {
                true => Self::Ours,
                false => Self::Edited,
            },
        )
    }
}

fn digest(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A text with the line that says whose it is.
pub fn marked(text: &str, comment: Comment) -> String {
    let mark = format!("{MARK}{}", digest(text));
    match comment {
        Comment::Hash => format!("{text}# {mark}\n"),
        Comment::Xml => format!("{text}<!-- {mark} -->\n"),
    }
}

/// Writes a file whole, readable by everybody, in the place of what was there.
///
/// # Errors
/// When it cannot be written.
pub fn write(file: &Path, text: &str) -> io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir)?;
    let beside = dir.join(format!(".carson-{}", std::process::id()));
    let done = write_all(&beside, text).and_then(|()| fs::rename(&beside, file));
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

fn write_all(file: &Path, text: &str) -> io::Result<()> {
    let mut new = fs::File::create_new(file)?;
    new.write_all(text.as_bytes())?;
    new.set_permissions(fs::Permissions::from_mode(0o644))?;
    new.sync_all()
}

/// Puts somebody's file aside, beside where it was; its new place.
///
/// # Errors
/// When it cannot be moved.
pub fn keep_aside(file: &Path) -> io::Result<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let aside = |n: u32| file.with_file_name(format!("{name}.before-{n}"));
    let free = (1..).map(aside).find(|path| !path.exists());
    let free = free.unwrap_or_else(|| aside(0));
    fs::rename(file, &free)?;
    Ok(free)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_ours_until_somebody_edits_it() {
        let dir = tempfile::tempdir().unwrap();
        for (comment, text) in [
            (Comment::Hash, "[Unit]\nA=1\n"),
            (Comment::Xml, "<plist>\n</plist>\n"),
        ] {
            let file = dir.path().join("deep/carson.service");
            write(&file, &marked(text, comment)).unwrap();
            assert_eq!(Written::of(&file).unwrap(), Written::Ours);
            let mode = file.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!(mode, 0o644);
            let whole = fs::read_to_string(&file).unwrap();
            for edited in [
                whole.replace('1', "2").replace("</plist>", "</plist >"),
                format!("{whole}Nice=5\n"),
                text.to_owned(),
                String::new(),
                "x".to_owned(),
            ] {
                fs::write(&file, &edited).unwrap();
                assert_eq!(Written::of(&file).unwrap(), Written::Edited, "{edited}");
            }
            fs::write(&file, [0xff, b'\n']).unwrap();
            assert_eq!(Written::of(&file).unwrap(), Written::Edited);
            let first = keep_aside(&file).unwrap();
            assert_eq!(Written::of(&file).unwrap(), Written::Missing);
            fs::write(&file, "again").unwrap();
            let second = keep_aside(&file).unwrap();
            assert_ne!(first, second);
            assert_eq!(fs::read(&first).unwrap(), [0xff, b'\n']);
            fs::remove_dir_all(dir.path().join("deep")).unwrap();
        }
    }
}

//! Puts the state of runs away when a PRD becomes one of another project.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is put away, and why.
#[derive(Clone, Copy, Debug)]
pub struct Archive<'a> {
    /// The directory of the PRD.
    pub own: &'a Path,
    /// Where reports stand, from there.
    pub report_dir: &'a str,
    /// What it is called.
    pub label: &'a str,
    /// Why.
    pub reason: &'a str,
    /// When: `20260102T030405Z`, and as a time.
    pub stamp: (&'a str, &'a str),
}

impl Archive<'_> {
    /// Makes `archive/<time>-<label>/`; where it is.
    ///
    /// # Errors
    /// When it is there already, or what the disk says.
    pub fn make(&self) -> io::Result<PathBuf> {
        let (stamp, time) = self.stamp;
        let dir = self
            .own
            .join("archive")
            .join(format!("{stamp}-{}", slug(self.label)));
        fs::create_dir_all(self.own.join("archive"))?;
        fs::create_dir(&dir)?;
        let report_dir = self.report_dir;
        for name in ["prd.json", "progress.txt", "learnings.md", report_dir] {
            // A directory that holds the archive would be copied into itself.
            if !name.is_empty() && name != "." {
                copy(&self.own.join(name), &dir.join(name))?;
            }
        }
        let own = self.own.display();
        let meta = format!(
            "archived_at_utc={time}\nreason={}\nsource_root={own}\n",
            self.reason
        );
        fs::write(dir.join("archive.meta"), meta)?;
        Ok(dir)
    }
}

fn slug(label: &str) -> String {
    let words = label.to_ascii_lowercase();
    let words = words
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let slug = words.collect::<Vec<_>>().join("-");
    if slug.is_empty() {
        "run".to_owned()
    } else {
        slug
    }
}

/// A file, a link or a directory with what is in it; nothing of what is not there.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(from) else {
        return Ok(());
    };
    if let Some(dir) = to.parent() {
        fs::create_dir_all(dir)?;
    }
    if found.is_symlink() {
        return std::os::unix::fs::symlink(fs::read_link(from)?, to);
    }
    if found.is_file() {
        return fs::copy(from, to).map(|_| ());
    }
    if found.is_dir() {
        fs::create_dir_all(to)?;
        for item in fs::read_dir(from)? {
            let item = item?;
            copy(&item.path(), &to.join(item.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_copied() {
        let dir = tempfile::tempdir().unwrap();
        let own = dir.path();
        fs::create_dir_all(own.join("audit/sub")).unwrap();
        for name in ["prd.json", "learnings.md", "audit/sub/a.md", "other"] {
            fs::write(own.join(name), name).unwrap();
        }
        let archive = Archive {
            own,
            report_dir: "audit",
            label: "Old Project!",
            reason: "because",
            stamp: ("20260102T030405Z", "2026-01-02T03:04:05Z"),
        };
        let made = archive.make().unwrap();
        assert!(made.ends_with("archive/20260102T030405Z-old-project"));
        for name in ["prd.json", "learnings.md", "audit/sub/a.md"] {
            assert_eq!(fs::read_to_string(made.join(name)).unwrap(), name);
        }
        assert!(!made.join("progress.txt").exists() && !made.join("other").exists());
        let meta = fs::read_to_string(made.join("archive.meta")).unwrap();
        assert!(meta.contains("\nreason=because\n"), "{meta}");
        assert!(archive.make().is_err(), "it is there");
    }
}

//! What of a skill's folder sessions get: plain files, no links, so many and so large.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::private_dir::private_dir;

/// What a skill is known by.
pub const SKILL: &str = "SKILL.md";

/// Most files of one.
const FILES: usize = 200;
/// Most bytes of them together.
const BYTES: u64 = 2 << 20;
/// Most bytes of what describes it.
const TEXT: u64 = 64 << 10;
/// How deep its folders may lie.
const DEPTH: usize = 6;

/// The files of a skill.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SkillFiles {
    /// By their paths in the folder.
    pub files: Vec<PathBuf>,
    /// Links, pipes and the like, which are left out.
    pub left_out: usize,
}

impl SkillFiles {
    /// Those of a folder; words say why it is no skill.
    ///
    /// # Errors
    /// When it has no `SKILL.md` that is text, has too much in it, or cannot be read.
    pub fn of(dir: &Path) -> Result<Self, String> {
        let mut found = Walk::default();
        found.below(dir, Path::new(""), DEPTH)?;
        let text = open(&dir.join(SKILL)).map_err(|error| format!("its {SKILL}: {error}"))?;
        let mut bytes = Vec::new();
        let read = text.take(TEXT + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("its {SKILL}: {error}"))?;
        if bytes.len() as u64 > TEXT {
            return Err(format!("its {SKILL} is longer than {} KiB", TEXT >> 10));
        }
        if std::str::from_utf8(&bytes).is_err() {
            return Err(format!("its {SKILL} is no text"));
        }
        Ok(found.skill)
    }

    /// Copies them to a folder that is not there yet; what was a program stays one.
    ///
    /// # Errors
    /// What the file system says.
    pub fn copy(&self, from: &Path, to: &Path) -> io::Result<()> {
        private_dir(to)?;
        // Files may have grown since they were counted.
        let mut left = BYTES;
        for name in &self.files {
            let mut source = open(&from.join(name))?;
            let is_program = source.metadata()?.permissions().mode() & 0o100 != 0;
            let target = to.join(name);
            target.parent().map_or(Ok(()), private_dir)?;
            let mut copy = File::options()
                .write(true)
                .create_new(true)
                .mode(if is_program { 0o500 } else { 0o400 })
                .open(target)?;
            left -= io::copy(&mut (&mut source).take(left), &mut copy)?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Walk {
    skill: SkillFiles,
    bytes: u64,
}

impl Walk {
    fn below(&mut self, root: &Path, at: &Path, depth: usize) -> Result<(), String> {
        let dir = root.join(at);
        let failed = |error: io::Error| format!("{}: {error}", dir.display());
        let mut names: Vec<_> = std::fs::read_dir(&dir)
            .map_err(failed)?
            .take(FILES * 2)
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        names.sort_by_key(std::fs::DirEntry::file_name);
        for one in names {
            let path = at.join(one.file_name());
            let about = one.metadata().map_err(failed)?;
            if about.is_dir() {
                if depth == 0 {
                    return Err(format!("its folders lie deeper than {DEPTH}"));
                }
                self.below(root, &path, depth - 1)?;
            } else if about.is_file() {
                self.bytes += about.len();
                self.skill.files.push(path);
            } else {
                self.skill.left_out += 1;
            }
            if self.skill.files.len() + self.skill.left_out > FILES || self.bytes > BYTES {
                let most = BYTES >> 20;
                return Err(format!("it has more than {FILES} files, or {most} MiB"));
            }
        }
        Ok(())
    }
}

/// A plain file and nothing that stands for another one.
fn open(path: &Path) -> io::Result<File> {
    let file = File::options()
        .read(true)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no plain file")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn skill() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(SKILL), "Read guests.md first.\n").unwrap();
        dir
    }

    #[test]
    fn a_copy_has_plain_files_alone_and_nobody_writes_it() {
        let dir = skill();
        fs::create_dir_all(dir.path().join("bin/more")).unwrap();
        let program = dir.path().join("bin/more/look");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/etc/passwd", dir.path().join("users")).unwrap();
        symlink("/etc", dir.path().join("bin/etc")).unwrap();
        let found = SkillFiles::of(dir.path()).unwrap();
        assert_eq!(found.left_out, 2);
        let away = tempfile::tempdir().unwrap();
        let to = away.path().join("copy");
        found.copy(dir.path(), &to).unwrap();
        let mode = |name: &str| to.join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(SKILL), mode("bin/more/look")), (0o400, 0o500));
        assert!(!to.join("users").exists() && !to.join("bin/etc").exists());
    }

    #[test]
    fn what_is_no_skill_is_told() {
        let none = tempfile::tempdir().unwrap();
        assert!(SkillFiles::of(none.path()).unwrap_err().contains(SKILL));
        let linked = tempfile::tempdir().unwrap();
        symlink("/etc/hostname", linked.path().join(SKILL)).unwrap();
        assert!(SkillFiles::of(linked.path()).is_err());
        let long = skill();
        fs::write(long.path().join(SKILL), "x".repeat(70_000)).unwrap();
        assert!(SkillFiles::of(long.path()).unwrap_err().contains("64 KiB"));
        let binary = skill();
        fs::write(binary.path().join(SKILL), [0xff, 0xfe]).unwrap();
        assert!(
            SkillFiles::of(binary.path())
                .unwrap_err()
                .contains("no text")
        );
        let many = skill();
        for number in 0..201 {
            fs::write(many.path().join(format!("{number}")), "").unwrap();
        }
        assert!(
            SkillFiles::of(many.path())
                .unwrap_err()
                .contains("200 files")
        );
        let large = skill();
        fs::write(large.path().join("data"), vec![0; 3 << 20]).unwrap();
        assert!(SkillFiles::of(large.path()).unwrap_err().contains("2 MiB"));
        let deep = skill();
        fs::create_dir_all(deep.path().join("a/b/c/d/e/f/g")).unwrap();
        assert!(SkillFiles::of(deep.path()).unwrap_err().contains("deeper"));
    }
}

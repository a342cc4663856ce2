//! Lines of a file that somebody cites, and what became of the file since.

use std::path::Path;

use git2::{ErrorCode, ObjectType, Repository};

use crate::error::GitError;
use crate::mirror::Mirror;
use crate::oid::Oid;

/// Bytes of cited lines that are read.
const MOST: usize = 32 * 1024;

/// What stands where somebody points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cited {
    /// The lines, and what the base has of their file now.
    Lines {
        /// What they say.
        text: String,
        /// What became of the file.
        now: FileNow,
    },
    /// There is no such commit, or several begin so.
    NoCommit,
    /// The base does not have it in its history.
    Elsewhere,
    /// The commit has no such file of text.
    NoFile,
    /// The file ends before.
    NoLines {
        /// How many it has.
        has: usize,
    },
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileNow {
    /// It is as it was.
    Same,
    /// It says something else.
    Changed,
    /// It is gone.
    Gone,
}

impl Mirror {
    /// Lines of a file as a commit has them, from 1; all of them without a range. `commit` may be the beginning of its name.
    ///
    /// # Errors
    /// When the mirror cannot be read.
    pub async fn cited(
        &self,
        base: &Oid,
        commit: &str,
        path: &str,
        lines: Option<(u32, u32)>,
    ) -> Result<Cited, GitError> {
        let (base, commit, path) = (base.git2(), commit.to_owned(), path.to_owned());
        let cited = self.bare.read(move |repo| {
            let Some(commit) = named(repo, &commit)? else {
                return Ok(Cited::NoCommit);
            };
            if commit != base && !repo.graph_descendant_of(base, commit)? {
                return Ok(Cited::Elsewhere);
            }
            let Some(then) = blob(repo, commit, &path)? else {
                return Ok(Cited::NoFile);
            };
            let now = match blob(repo, base, &path)? {
                None => FileNow::Gone,
                Some(now) if now == then => FileNow::Same,
                Some(_) => FileNow::Changed,
            };
            let blob = repo.find_blob(then)?;
            Ok(match std::str::from_utf8(blob.content()) {
                Ok(text) => cut(text, lines, now),
                Err(_) => Cited::NoFile,
            })
        });
        cited.await
    }
}

/// The commit whose name begins so.
fn named(repo: &Repository, text: &str) -> Result<Option<git2::Oid>, git2::Error> {
    // Nothing but the beginning of a name: `HEAD~1` and names of refs are none.
    if !(7..=40).contains(&text.len()) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(None);
    }
    match repo.find_object_by_prefix(text, Some(ObjectType::Commit)) {
        Ok(object) => Ok(Some(object.id())),
        Err(error) if [ErrorCode::NotFound, ErrorCode::Ambiguous].contains(&error.code()) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn blob(
    repo: &Repository,
    commit: git2::Oid,
    path: &str,
) -> Result<Option<git2::Oid>, git2::Error> {
    let tree = repo.find_commit(commit)?.tree()?;
    match tree.get_path(Path::new(path)) {
        // A link is the name of another file.
        Ok(entry) if matches!(entry.filemode(), 0o100_644 | 0o100_755) => Ok(Some(entry.id())),
        Ok(_) => Ok(None),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn cut(text: &str, lines: Option<(u32, u32)>, now: FileNow) -> Cited {
    let all: Vec<&str> = text.lines().collect();
    let place = |line: u32| usize::try_from(line).unwrap_or(usize::MAX);
    let (first, last) = match lines {
        None => (1, all.len()),
        Some((first, last)) => (place(first), place(last)),
    };
    if first == 0 || first > all.len() || last > all.len() || last < first {
        return Cited::NoLines { has: all.len() };
    }
    let text = all[first - 1..last].join("\n");
    Cited::Lines {
        text: text[..text.floor_char_boundary(MOST)].to_owned(),
        now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{World, git, write};

    fn commit(world: &World, path: &str, text: &str) -> Oid {
        write(&world.seed().join(path), text);
        git(&world.seed(), ["add", "--all"]);
        git(&world.seed(), ["commit", "--quiet", "-m", "x"]);
        git(
            &world.seed(),
            ["push", "--quiet", "--force", "--all", "../origin.git"],
        );
        git(&world.seed(), ["rev-parse", "HEAD"]).parse().unwrap()
    }

    async fn cited(world: &World, base: &Oid, commit: &str, lines: Option<(u32, u32)>) -> Cited {
        world.mirror.refresh().await.unwrap();
        world
            .mirror
            .cited(base, commit, "a.txt", lines)
            .await
            .unwrap()
    }

    #[tokio::test]
    async fn cited_lines_are_those_of_their_commit_and_it_is_said_what_became_of_them() {
        let world = World::new().await;
        let first = commit(&world, "a.txt", "one\ntwo\nthree\n");
        let same = |text: &str, now| Cited::Lines {
            text: text.to_owned(),
            now,
        };
        let short = &first.as_str()[..8];
        assert_eq!(
            cited(&world, &first, short, Some((2, 3))).await,
            same("two\nthree", FileNow::Same)
        );
        assert_eq!(
            cited(&world, &first, short, None).await,
            same("one\ntwo\nthree", FileNow::Same)
        );
        for lines in [(3, 4), (0, 1), (9, 9), (3, 2)] {
            assert_eq!(
                cited(&world, &first, short, Some(lines)).await,
                Cited::NoLines { has: 3 }
            );
        }
        let second = commit(&world, "a.txt", "other\n");
        assert_eq!(
            cited(&world, &second, short, Some((1, 1))).await,
            same("one", FileNow::Changed)
        );
        git(&world.seed(), ["rm", "--quiet", "a.txt"]);
        let third = commit(&world, "b.txt", "b\n");
        assert_eq!(
            cited(&world, &third, short, Some((1, 1))).await,
            same("one", FileNow::Gone)
        );
        assert_eq!(
            cited(&world, &third, third.as_str(), None).await,
            Cited::NoFile
        );
        // What the base does not have in its history shows nothing, and no name but a commit's names one.
        assert_eq!(
            cited(&world, &first, second.as_str(), None).await,
            Cited::Elsewhere
        );
        for none in ["dead10cc", "HEAD", "main", "HEAD~1", "0a"] {
            assert_eq!(
                cited(&world, &third, none, None).await,
                Cited::NoCommit,
                "{none}"
            );
        }
    }
}

//! `Created PATH …`: the file that a story must leave.

use std::path::{Component, Path, PathBuf};

use thiserror::Error;

/// Why such a line names no file of the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BadPath {
    /// There is none.
    #[error("`Created` names no file: write `Created path/to/file`")]
    None,
    /// It is a directory.
    #[error("names a directory: name a file in it")]
    Dir,
    /// It leads elsewhere.
    #[error("leads out of the repository: paths are from its top, without `..`")]
    Outside,
    /// It is Carson's or git's.
    #[error("is git's or Carson's own: nothing there is a story's to create")]
    Kept,
}

/// The file that a line of acceptance says must be created, by its path from the top; `None` for a line that
/// says something else. In quotation marks it may hold spaces; without them, what ends a sentence is no part of it.
pub fn created(line: &str) -> Option<Result<PathBuf, BadPath>> {
    let rest = line.trim_start().strip_prefix("Created")?;
    if rest.chars().next().is_some_and(|c| !c.is_whitespace()) {
        return None;
    }
    Some(path(rest.trim_start()))
}

fn path(rest: &str) -> Result<PathBuf, BadPath> {
    let mark = rest.chars().next().filter(|c| "`'\"".contains(*c));
    let written = match mark {
        Some(mark) => rest[mark.len_utf8()..].split(mark).next(),
        None => rest.split_whitespace().next().map(sentence),
    };
    let written = written
        .filter(|path| !path.is_empty())
        .ok_or(BadPath::None)?;
    if written.ends_with('/') {
        return Err(BadPath::Dir);
    }
    let mut clean = PathBuf::new();
    for part in Path::new(written).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => clean.push(name),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(BadPath::Outside);
            }
        }
    }
    // On some file systems `.GIT` is `.git`.
    let is = |part: Component<'_>, own: &str| part.as_os_str().eq_ignore_ascii_case(own);
    match clean.components().next() {
        None => Err(BadPath::None),
        Some(first) if is(first, ".carson") => Err(BadPath::Kept),
        Some(_) if clean.components().any(|part| is(part, ".git")) => Err(BadPath::Kept),
        Some(_) => Ok(clean),
    }
}

/// A word without what ends a sentence, or a part of one. Dots that are a directory stay.
fn sentence(word: &str) -> &str {
    let bare = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    match bare.is_empty() || bare.ends_with('/') {
        true => word,
        false => bare,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table() {
        let path = |text: &str| Some(Ok(PathBuf::from(text)));
        for (line, right) in [
            ("Created docs/a.md", path("docs/a.md")),
            ("Created ./docs//a.md with findings", path("docs/a.md")),
            ("Created `docs/a b.md` with findings", path("docs/a b.md")),
            ("  Created\tx", path("x")),
            ("Created `x", path("x")),
            ("Created docs/a.md.", path("docs/a.md")),
            ("Created docs/a.md, which says hi", path("docs/a.md")),
            ("Created docs/a.tar.gz; it is packed", path("docs/a.tar.gz")),
            ("Created `docs/a.`.", path("docs/a.")),
            ("Created 'docs/a b.md'.", path("docs/a b.md")),
            ("Created \"docs/a b.md\", too", path("docs/a b.md")),
            ("Created docs/", Some(Err(BadPath::Dir))),
            ("Created `docs/`", Some(Err(BadPath::Dir))),
            ("Created docs/..", Some(Err(BadPath::Outside))),
            ("Created ..", Some(Err(BadPath::Outside))),
            ("Created", Some(Err(BadPath::None))),
            ("Created   ", Some(Err(BadPath::None))),
            ("Created `` x", Some(Err(BadPath::None))),
            ("Created .", Some(Err(BadPath::None))),
            ("Created /etc/passwd", Some(Err(BadPath::Outside))),
            ("Created a/../../x", Some(Err(BadPath::Outside))),
            ("Created a/../x", Some(Err(BadPath::Outside))),
            ("Created .git/hooks/pre-commit", Some(Err(BadPath::Kept))),
            ("Created .GIT/config", Some(Err(BadPath::Kept))),
            ("Created docs/sub/.git/x", Some(Err(BadPath::Kept))),
            ("Created .carson/x", Some(Err(BadPath::Kept))),
            ("Created .github/x", path(".github/x")),
            ("Createdx y", None),
            ("created x", None),
            ("The report is Created x", None),
        ] {
            assert_eq!(created(line), right, "{line:?}");
        }
    }
}

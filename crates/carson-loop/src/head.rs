//! Which commit HEAD names, read as text: no git runs.

use std::path::Path;

use crate::tree::{GitDir, read_plain};

/// Bytes of a ref.
const REF: u64 = 4 * 1024;
/// Bytes of all packed ones.
const PACKED: u64 = 256 << 20;
/// Refs that name each other.
const HOPS: usize = 5;

/// The commit that HEAD names; `None` for none, or where that is not written in plain files.
#[must_use]
pub fn head(git: &GitDir) -> Option<String> {
    let mut name = "HEAD".to_owned();
    for _ in 0..HOPS {
        let said = [&git.dir, &git.common]
            .into_iter()
            .find_map(|dir| text(&dir.join(&name)));
        let said = said.or_else(|| packed(&git.common, &name))?;
        match said.strip_prefix("ref: ") {
            Some(next) if is_plain(next) => name = next.to_owned(),
            Some(_) => return None,
            None => return is_commit(&said).then_some(said),
        }
    }
    None
}

fn text(file: &Path) -> Option<String> {
    let bytes = read_plain(file, REF).ok()??;
    Some(String::from_utf8(bytes).ok()?.trim().to_owned())
}

fn packed(dir: &Path, name: &str) -> Option<String> {
    let bytes = read_plain(&dir.join("packed-refs"), PACKED).ok()??;
    let mut lines = bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| str::from_utf8(line).ok());
    let found = lines.find_map(|line| {
        let (commit, known) = line.split_once(' ')?;
        (known == name).then(|| commit.to_owned())
    });
    found.filter(|commit| is_commit(commit))
}

fn is_plain(name: &str) -> bool {
    !name.split('/').any(|part| matches!(part, "" | "." | ".."))
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

//! Absolute paths that are elsewhere the next time.

use std::path::PathBuf;

/// What stands for the tree.
const TREE: &str = "<tree>";
/// What stands for a name in a temporary directory.
const TEMPORARY: &str = "<tmp>";

/// Places that say where something ran, not what it did.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Tops of the tree; of a path in it the rest is content.
    trees: Vec<String>,
    /// Temporary directories; of a path in one the first name is made up, and those below that have a digit. The name of a
    /// file below, with what kind of file it is, is content: `test_3.c`.
    temporary: Vec<String>,
}

impl Places {
    /// Of these; all are absolute.
    #[must_use]
    pub fn new(
        trees: impl IntoIterator<Item = PathBuf>,
        temporary: impl IntoIterator<Item = PathBuf>,
    ) -> Self {
        let texts = |paths: &mut dyn Iterator<Item = PathBuf>| {
            let texts = paths.filter_map(|path| {
                let text = path.to_str()?.trim_end_matches('/').to_owned();
                (text.len() > 1 && text.starts_with('/')).then_some(text)
            });
            let mut texts: Vec<String> = texts.collect();
            // The longest first: a tree may be in another one's place.
            texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
            texts.dedup();
            texts
        };
        Self {
            trees: texts(&mut trees.into_iter()),
            temporary: texts(&mut temporary.into_iter()),
        }
    }

    /// A line without them.
    pub(super) fn without(&self, line: &str) -> String {
        let mut out = String::with_capacity(line.len());
        let (mut rest, mut before) = (line, None);
        while let Some(c) = rest.chars().next() {
            if let Some((stands, behind)) = self.at(rest, before) {
                out.push_str(stands);
                before = rest[..rest.len() - behind.len()].chars().next_back();
                rest = behind;
                continue;
            }
            out.push(c);
            before = Some(c);
            rest = &rest[c.len_utf8()..];
        }
        out
    }

    /// What stands for the place that a text begins with, and what is behind it.
    fn at<'t>(&self, text: &'t str, before: Option<char>) -> Option<(&'static str, &'t str)> {
        // In the middle of a longer path it is another one.
        if !text.starts_with('/') || before.is_some_and(is_of_a_name) {
            return None;
        }
        let begins = |place: &&String| {
            let rest = text.strip_prefix(place.as_str());
            rest.is_some_and(|rest| !rest.starts_with(is_of_a_name))
        };
        let tree = self.trees.iter().find(begins);
        let temporary = self.temporary.iter().find(begins);
        let length = |place: Option<&String>| place.map_or(0, String::len);
        if length(tree) >= length(temporary) {
            return Some((TREE, &text[tree?.len()..]));
        }
        Some((TEMPORARY, behind_made_up(&text[temporary?.len()..])))
    }
}

/// Behind the names that were made up.
fn behind_made_up(mut rest: &str) -> &str {
    let mut is_first = true;
    while let Some(below) = rest.strip_prefix('/') {
        let end = below.find(|c| !is_of_a_name(c)).unwrap_or(below.len());
        let name = &below[..end];
        if name.is_empty() || !is_first && !name.contains(|c: char| c.is_ascii_digit()) {
            break;
        }
        let is_last = !below[end..].starts_with('/');
        if !is_first && is_last && is_of_a_kind(name) {
            break;
        }
        is_first = false;
        rest = &below[end..];
    }
    rest
}

/// Whether it is the name of a file of some kind: `test_3.c`, `a2.json`.
fn is_of_a_kind(name: &str) -> bool {
    let kind = name
        .trim_end_matches('.')
        .rsplit_once('.')
        .map(|(_, kind)| kind);
    kind.is_some_and(|kind| {
        (1..=4).contains(&kind.len()) && kind.bytes().all(|c| c.is_ascii_lowercase())
    })
}

fn is_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || "._-+@~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_goes_and_what_is_in_it_stays() {
        let places = Places::new(
            ["/tmp/x/work", "/srv/work/"].map(PathBuf::from),
            ["/tmp", "/var/tmp", "/"].map(PathBuf::from),
        );
        for (line, left) in [
            ("at /srv/work/src/a.rs:12:3", "at <tree>/src/a.rs:12:3"),
            ("(/tmp/x/work)", "(<tree>)"),
            ("/srv/works/a /srv/work-b", "/srv/works/a /srv/work-b"),
            ("/mnt/srv/work/a", "/mnt/srv/work/a"),
            ("file:///srv/work/a", "file://<tree>/a"),
            ("/tmp/tmp.Xa8/out.txt: no", "<tmp>/out.txt: no"),
            (
                "/tmp/pytest-of-me/pytest-12/test_x0/file.txt",
                "<tmp>/file.txt",
            ),
            ("/tmp/build/test_3.c:7: bad", "<tmp>/test_3.c:7: bad"),
            ("in /tmp/x1/run12/test_3.c.", "in <tmp>/test_3.c."),
            ("/tmp/x1/run12", "<tmp>"),
            ("/tmp/abc123.log:7: bad", "<tmp>:7: bad"),
            ("'/var/tmp/q'", "'<tmp>'"),
            ("/tmp /tmpx /", "<tmp> /tmpx /"),
        ] {
            assert_eq!(places.without(line), left);
        }
    }
}

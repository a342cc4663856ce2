//! The change as a reviewer reads it: nothing that is text is hidden, and what is not shown is
//! listed.

use std::fmt::Write as _;

use carson_core::untrusted::is_hidden;
use git2::{DiffOptions, ObjectType, Oid, Patch};
use serde::{Deserialize, Serialize};

use super::objects::Objects;
use super::tree_diff::{At, Changed, changed};
use crate::paths::path_of;

/// Bytes of a text that is shown; a longer one is listed.
const FILE: u64 = 1_000_000;
/// Bytes of the whole: room for one such text, however short its lines are.
const WHOLE: usize = 1_600_000;
/// Paths that are listed one by one.
const LISTED: usize = 500;
/// Bytes from which on a line is as much to read as two.
const LONG: usize = 400;
/// Bytes up to which a text that is not shown is counted.
const LOOKED_AT: u64 = 64_000_000;
/// Bytes in which git looks for a zero byte (`FIRST_FEW_BYTES` in its `xdiff-interface.c`).
const BEGINNING: usize = 8_000;
/// Share of characters, in a hundred, that no text has, above which a file is no text.
const ODD: usize = 25;
/// So many of them a small file may have all the same.
const FEW: usize = 16;

/// What a reviewer sees of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The diff. Control characters stand as their pictures (U+2400), others that nobody sees as
    /// their numbers, what is not UTF-8 as U+FFFD.
    pub text: String,
    /// What it does not show.
    pub unshown: Vec<Unshown>,
    /// How many more are not shown and not listed.
    pub more: u64,
    /// Lines that what is shown adds and takes away, but for those of lock files: a long one counts as several, and a
    /// file without any, such as an empty one, as one.
    #[serde(default)]
    pub lines: u64,
}

/// Something of a change that no reviewer saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unshown {
    /// Its path.
    pub path: String,
    /// Why: `no text, 20481 bytes`.
    pub why: String,
    /// How much there would be to read, counted as in [`Shown::lines`].
    #[serde(default)]
    pub lines: u64,
}

/// Shows what differs between two trees.
pub(super) fn show(objects: &Objects, old: Oid, new: Oid) -> Result<Shown, String> {
    let mut shown = Shown::default();
    let all = changed(objects, new, &[old])?;
    for one in all.iter().filter(|one| !one.is_dir()) {
        let told = match moved(&all, one) {
            Moved::From(path) => Ok((renamed(&path, &one.path), 1)),
            Moved::Away => continue,
            Moved::No => patch(objects, one)?,
        };
        match told {
            Ok((text, lines)) if shown.text.len() + text.len() <= WHOLE => {
                shown.text.push_str(&text);
                shown.lines += lines_of(one, lines);
            }
            Ok((_, lines)) => {
                let why = "beyond the part that is shown".to_owned();
                shown.leave_out(one, why, lines_of(one, lines));
            }
            Err(why) => {
                shown.leave_out(one, why, lines_of(one, unshown_lines(objects, one)));
            }
        }
    }
    Ok(shown)
}

impl Shown {
    /// Whether there is nothing in it: commits that change no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.unshown.is_empty() && self.more == 0
    }

    fn leave_out(&mut self, one: &Changed, why: String, lines: u64) {
        if self.unshown.len() == LISTED {
            self.more += 1;
            self.lines += lines;
            return;
        }
        let path = String::from_utf8_lossy(&one.path).into_owned();
        self.unshown.push(Unshown { path, why, lines });
    }
}

/// Whether a file only changed its place.
enum Moved {
    From(Vec<u8>),
    Away,
    No,
}

fn moved(all: &[Changed], one: &Changed) -> Moved {
    // Only few are told apart this way: it looks at all pairs.
    if all.len() > 2_000 {
        return Moved::No;
    }
    let alone = |at: At, new: bool| {
        let same = |other: &&Changed| match new {
            true => other.old.is_none() && other.new == Some(at),
            false => other.new.is_none() && other.old == Some(at),
        };
        let mut same = all.iter().filter(same);
        same.next().filter(|_| same.next().is_none())
    };
    match (one.old, one.new) {
        (None, Some(at)) if alone(at, true).is_some() => match alone(at, false) {
            Some(from) => Moved::From(from.path.clone()),
            None => Moved::No,
        },
        (Some(at), None) if alone(at, false).is_some() && alone(at, true).is_some() => Moved::Away,
        _ => Moved::No,
    }
}

fn renamed(from: &[u8], to: &[u8]) -> String {
    let (from, to) = (name(from), name(to));
    format!(
        "diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n"
    )
}

/// A path on one line.
fn name(path: &[u8]) -> String {
    pictures(&String::from_utf8_lossy(path)).replace('\n', "\u{240a}")
}

/// Files that programs write, and nobody reads line by line.
const LOCKS: [&str; 18] = [
    "Cargo.lock",
    "Gemfile.lock",
    "Pipfile.lock",
    "Podfile.lock",
    "bun.lock",
    "composer.lock",
    "deno.lock",
    "flake.lock",
    "go.sum",
    "go.work.sum",
    "mix.lock",
    "npm-shrinkwrap.json",
    "package-lock.json",
    "pnpm-lock.yaml",
    "poetry.lock",
    "pubspec.lock",
    "uv.lock",
    "yarn.lock",
];

/// How many of its lines people are to read.
fn lines_of(one: &Changed, lines: u64) -> u64 {
    let path = one.path.rsplit(|byte| *byte == b'/').next();
    let name = path.unwrap_or_default();
    let is_lock = LOCKS.iter().any(|lock| lock.as_bytes() == name);
    if is_lock { 0 } else { lines }
}

/// The patch of one file and how many lines it adds and takes away, or why there is none.
fn patch(objects: &Objects, one: &Changed) -> Result<Result<(String, u64), String>, String> {
    let (old, new) = (content(objects, one.old), content(objects, one.new));
    let (old, new) = match (old, new) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
    };
    let mut options = DiffOptions::new();
    options.force_text(true).indent_heuristic(true);
    let path = path_of(&one.path);
    let fail = |error: git2::Error| error.message().to_owned();
    let patch = Patch::from_buffers(
        old.as_bytes(),
        Some(&path),
        new.as_bytes(),
        Some(&path),
        Some(&mut options),
    );
    let mut patch = patch.map_err(fail)?;
    let body = patch.to_buf().map_err(fail)?;
    let body = String::from_utf8_lossy(&body).into_owned();
    // The first line, and the modes that libgit2 does not know of buffers.
    let path = name(&one.path);
    let mut text = format!("diff --git a/{path} b/{path}\n");
    let _ = match (one.old, one.new) {
        (None, Some((_, mode))) => writeln!(text, "new file mode {mode:o}"),
        (Some((_, mode)), None) => writeln!(text, "deleted file mode {mode:o}"),
        (Some((_, old)), Some((_, new))) if old != new => {
            writeln!(text, "old mode {old:o}\nnew mode {new:o}")
        }
        _ => Ok(()),
    };
    // Who reads sees at least that something happened to it.
    let mut lines = 1;
    if let Some(at) = body.find("\n@@ ") {
        lines = to_read(&body[at + 1..]);
        let side =
            |at: Option<At>, side| at.map_or("/dev/null".into(), |_| format!("{side}/{path}"));
        let (old, new) = (side(one.old, 'a'), side(one.new, 'b'));
        let _ = writeln!(text, "--- {old}\n+++ {new}");
        text.push_str(&body[at + 1..]);
    }
    Ok(Ok((text, lines)))
}

/// How much there is to read in a file of which no patch is made: of a large text the lines that it has now and
/// had not before, or the other way round; of a picture one.
fn unshown_lines(objects: &Objects, one: &Changed) -> u64 {
    let lines = |at: Option<At>| {
        let large = |at: At| {
            let (size, kind) = objects.header(at.0).ok()?;
            let may_be = kind == ObjectType::Blob && (FILE..LOOKED_AT).contains(&size);
            may_be.then(|| objects.content(at.0).ok()).flatten()
        };
        let content = at.and_then(large);
        content.map_or(0, |content| lines_of_text(&content))
    };
    lines(one.new).abs_diff(lines(one.old)).max(1)
}

/// Lines of what git takes for a text, a long one as several: one without a zero byte at its beginning.
fn lines_of_text(content: &[u8]) -> u64 {
    if content.iter().take(BEGINNING).any(|byte| *byte == 0) {
        return 0;
    }
    let lines = content.split(|byte| *byte == b'\n');
    lines.map(|line| line.len().div_ceil(LONG) as u64).sum()
}

/// Lines of hunks that add or take away, a long one as several.
fn to_read(hunks: &str) -> u64 {
    let lines = hunks.lines().filter(|line| line.starts_with(['+', '-']));
    let many = lines.map(|line| line.len().div_ceil(LONG).max(1) as u64);
    many.sum()
}

/// The text at a path; empty where nothing is.
pub(super) fn content(objects: &Objects, at: Option<At>) -> Result<String, String> {
    let Some((oid, mode)) = at else {
        return Ok(String::new());
    };
    if mode == 0o160_000 {
        return Ok(format!("Subproject commit {oid}\n"));
    }
    let fail = |error| format!("it cannot be read: {error}");
    let (size, kind) = objects.header(oid).map_err(fail)?;
    if kind != ObjectType::Blob || size > FILE {
        return Err(format!("larger than 1 MB, {size} bytes"));
    }
    let content = objects.content(oid).map_err(fail)?;
    text(&content).ok_or_else(|| format!("no text, {size} bytes"))
}

/// The bytes as text, when that is what most of them are.
fn text(bytes: &[u8]) -> Option<String> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        bytes => String::from_utf8_lossy(bytes).into_owned(),
    };
    let odd = text.chars().filter(|c| is_odd(*c)).count();
    (odd <= FEW || odd * 100 <= text.chars().count() * ODD).then(|| pictures(&text))
}

fn wide(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|two| unit([two[0], two[1]]));
    let units: Vec<u16> = units.collect();
    String::from_utf16_lossy(&units)
}

fn is_odd(c: char) -> bool {
    c == '\u{fffd}'
        || (c.is_ascii_control() && !matches!(c, '\n' | '\t' | '\r' | '\u{c}' | '\u{1b}'))
}

/// Control characters, and others that nobody sees or that reorder text, as something that can be
/// seen and that a terminal does not obey.
fn pictures(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            '\u{7f}' => shown.push('\u{2421}'),
            c if c.is_ascii_control() => {
                shown.extend(char::from_u32(0x2400 + u32::from(c)));
            }
            c if is_hidden(c) => {
                let _ = write!(shown, "<U+{:04X}>", u32::from(c));
            }
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_long_line_is_as_much_to_read_as_several() {
        let long = "x".repeat(LONG * 3);
        let hunks = format!("@@ -1 +1,3 @@ -not this\n same\n-old\n+\n+{long}\n\\ No newline\n");
        assert_eq!(to_read(&hunks), 1 + 1 + 4);
        assert_eq!(to_read(""), 0);
        assert_eq!(lines_of_text(format!("a\nb\n{long}").as_bytes()), 5);
        assert_eq!(lines_of_text(b"GIF\0\n\n"), 0);
    }

    #[test]
    fn a_control_character_hides_no_text() {
        let hidden = b"#!/bin/sh\n\0evil\n";
        assert_eq!(text(hidden).unwrap(), "#!/bin/sh\n\u{2400}evil\n");
        assert_eq!(
            text(b"caf\xe9 au lait, s'il vous plait\n").unwrap(),
            "caf\u{fffd} au lait, s'il vous plait\n"
        );
        let wide: Vec<u8> = [0xfe, 0xff]
            .into_iter()
            .chain("évil".encode_utf16().flat_map(u16::to_be_bytes))
            .collect();
        assert_eq!(text(&wide).unwrap(), "évil");
        let picture: Vec<u8> = (0..=255).cycle().take(4_000).collect();
        assert_eq!(text(&picture), None);
        assert_eq!(text(b"").unwrap(), "");
    }
}

//! What of the untracked files is work.
//!
//! A session may write ignore rules, and one `*` would hide all that it made. So the rules of the base
//! decide, and what the session's own rules hide beside them is hidden, not ignored: it is kept, and
//! named. What programs make again (`generated.rs`) is never work.

use std::collections::HashMap;
use std::path::Path;

use git2::Oid;

use super::generated;
use super::ignored::Rules;
use super::objects::Objects;

/// What becomes of an untracked file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is work.
    Taken,
    /// It is none.
    Ignored,
    /// Only a rule of the session's own keeps it out.
    Hidden,
}

/// The rules of the base, by the directory that has them.
pub(super) struct BaseRules<'o> {
    objects: &'o Objects,
    ignore: HashMap<Vec<u8>, Oid>,
    attributes: HashMap<Vec<u8>, Oid>,
}

impl<'o> BaseRules<'o> {
    /// None yet.
    pub(super) fn new(objects: &'o Objects) -> Self {
        Self {
            objects,
            ignore: HashMap::new(),
            attributes: HashMap::new(),
        }
    }

    /// Notes a file of the checkout, if it has rules.
    pub(super) fn note(&mut self, path: &[u8], oid: Oid) {
        let (dir, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&path[..at], &path[at + 1..]),
            None => (&path[..0], path),
        };
        let rules = match name {
            b".gitignore" => &mut self.ignore,
            b".gitattributes" => &mut self.attributes,
            _ => return,
        };
        rules.insert(dir.to_vec(), oid);
    }

    fn text(&self, of: &HashMap<Vec<u8>, Oid>, dir: &[u8]) -> Option<Vec<u8>> {
        self.objects.content(*of.get(dir)?).ok()
    }
}

/// All rules that hold in one directory.
#[derive(Clone, Default)]
pub(super) struct Sieve {
    now: Rules,
    base: Rules,
    generated: Rules,
    /// It belongs to a repository inside, whose rules are its own.
    foreign: bool,
}

impl Sieve {
    /// Those of a directory below: `dir` is its path from the top, `here` where it lies.
    pub(super) fn below(&self, dir: &[u8], here: &Path, base: &BaseRules<'_>) -> Self {
        let foreign = !dir.is_empty() && here.join(".git").symlink_metadata().is_ok();
        let ignore = base.text(&base.ignore, dir);
        let attributes = base.text(&base.attributes, dir);
        Self {
            now: self.now.below(dir, &here.join(".gitignore")),
            base: self.base.with(dir, ignore),
            generated: (self.generated)
                .with(dir, attributes.map(|text| generated::patterns(&text))),
            foreign: self.foreign || foreign,
        }
    }

    /// Judges a file in a directory that was judged as `above`.
    pub(super) fn file(&self, path: &[u8], above: Verdict) -> Verdict {
        let made = || generated::is_file(name(path)) || self.generated.ignore(path, false);
        self.judge(path, false, above, made)
    }

    /// Judges a directory that lies at `here`.
    pub(super) fn directory(&self, path: &[u8], here: &Path, above: Verdict) -> Verdict {
        let made = || {
            let is_named = || generated::is_output(name(path)) && self.now.is_named(path);
            generated::is_directory(name(path)) || generated::is_tagged(here) || is_named()
        };
        self.judge(path, true, above, made)
    }

    fn judge(&self, path: &[u8], is_dir: bool, above: Verdict, made: impl Fn() -> bool) -> Verdict {
        match above {
            Verdict::Ignored => Verdict::Ignored,
            _ if made() => Verdict::Ignored,
            Verdict::Taken if !self.now.ignore(path, is_dir) => Verdict::Taken,
            _ if self.foreign || self.base.ignore(path, is_dir) => Verdict::Ignored,
            _ => Verdict::Hidden,
        }
    }
}

fn name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

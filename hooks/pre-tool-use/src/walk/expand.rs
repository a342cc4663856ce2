//! Words become texts.

use std::rc::Rc;

use crate::marks::{self, ANY, DOWNLOAD, STAR};
use crate::shell::syntax::{Node, Part, Word};

use super::brace::{self, Atom};
use super::{State, Walker};

/// Most combinations kept for one word.
const MAX_BUILDS: usize = 64;

/// A word under construction: finished fields and the one being written.
#[derive(Clone, Default)]
struct Build {
    fields: Vec<String>,
    open: Option<String>,
}

impl Build {
    fn push(&mut self, text: &str) {
        self.open.get_or_insert_default().push_str(text);
    }

    /// Adds a value, split where there are blanks to split at.
    fn push_value(&mut self, text: &str, blanks: Option<&str>) {
        match blanks {
            Some(blanks) => self.push_split(text, blanks),
            None => self.push(text),
        }
    }

    /// Adds an unquoted value: blanks in it separate fields.
    fn push_split(&mut self, text: &str, blanks: &str) {
        let live = marks::live_globs(text);
        for (at, piece) in live.split(|c: char| blanks.contains(c)).enumerate() {
            if at > 0 {
                self.fields
                    .extend(self.open.take().filter(|field| !field.is_empty()));
            }
            if !piece.is_empty() {
                self.push(piece);
            }
        }
    }

    /// Bytes held.
    fn size(&self) -> usize {
        let open = self.open.as_ref().map_or(0, String::len);
        open + self.fields.iter().map(String::len).sum::<usize>()
    }

    fn finish(mut self) -> Vec<String> {
        self.fields.extend(self.open.take());
        self.fields
    }
}

impl Walker<'_> {
    /// The arguments that words become.
    pub(crate) fn all_fields(&mut self, words: &[Word], state: &mut State) -> Vec<String> {
        let mut out = Vec::new();
        for word in words {
            let fields = self.fields(word, state);
            if !self.spend(fields.len()) {
                break;
            }
            out.extend(fields);
        }
        out
    }

    /// The arguments that a word becomes. A variable with several possible values gives several.
    pub(crate) fn fields(&mut self, word: &Word, state: &mut State) -> Vec<String> {
        let mut out = Vec::new();
        for atoms in brace::expand(&word.parts) {
            for build in self.builds(&atoms, state, true) {
                for field in build.finish() {
                    if !out.contains(&field) || marks::exact(&field) {
                        out.push(marks::bounded(field));
                    }
                }
            }
        }
        out
    }

    /// The texts a word may become where nothing is split: values, here-strings, file names.
    pub(crate) fn texts(&mut self, word: &Word, state: &mut State) -> Vec<String> {
        let plain = word.parts.iter().map(|part| match part {
            Part::Bare(text) => Atom::Bare(text.clone()),
            other => Atom::Part(other),
        });
        let atoms: Vec<_> = plain.collect();
        let builds = self.builds(&atoms, state, false);
        builds
            .into_iter()
            .map(|build| marks::bounded(build.open.unwrap_or_default()))
            .collect()
    }

    fn builds(&mut self, atoms: &[Atom<'_>], state: &mut State, split: bool) -> Vec<Build> {
        let mut builds = vec![Build::default()];
        for (index, atom) in atoms.iter().enumerate() {
            if !self.spend_copy(8 * builds.len()) {
                return Vec::new();
            }
            match atom {
                Atom::Bare(text) => {
                    let text = self.tilde(text, index == 0, state);
                    let text = if split {
                        marks::live_globs(&text)
                    } else {
                        text
                    };
                    builds.iter_mut().for_each(|build| build.push(&text));
                }
                Atom::Part(Part::Quoted(text)) => {
                    builds.iter_mut().for_each(|build| build.push(text));
                }
                Atom::Part(part) => {
                    let (texts, quoted) = self.part(part, state);
                    let size: usize = texts.iter().map(String::len).sum();
                    let copied = if texts.len() > 1 || builds.len() > 1 {
                        builds.iter().map(Build::size).sum::<usize>() * texts.len()
                    } else {
                        0
                    };
                    if !self.spend_copy(copied + size * builds.len()) {
                        return Vec::new();
                    }
                    let blanks = (split && !quoted).then(|| state.blanks());
                    builds = combine(builds, &texts, blanks.as_deref());
                }
            }
        }
        builds
    }

    /// Replaces `~` at the start of a word, or after the `=` of `--option=~/x`.
    fn tilde(&self, text: &str, first: bool, state: &State) -> String {
        if let Some((head, tail)) = text.split_once("=~/") {
            return format!("{head}={}/{tail}", self.home());
        }
        let atom = Atom::Bare(text.to_owned());
        let Some(name) = brace::tilde(Some(&atom)).filter(|_| first) else {
            return text.to_owned();
        };
        let home = match name.as_str() {
            "" => self.home(),
            "+" => state.cwd.first().cloned().unwrap_or_default(),
            "-" => state.old_cwd.first().cloned().unwrap_or_default(),
            "root" => "/root".to_owned(),
            user => format!("/home/{user}"),
        };
        format!("{home}{}", &text[1 + name.len()..])
    }

    /// The home directory, or unknown.
    pub(crate) fn home(&self) -> String {
        if self.ctx.home.is_empty() {
            marks::only(ANY)
        } else {
            self.ctx.home.clone()
        }
    }

    /// The texts a part may become, and whether it is quoted.
    fn part(&mut self, part: &Part, state: &mut State) -> (Vec<String>, bool) {
        match part {
            Part::Bare(text) | Part::Quoted(text) => (vec![text.clone()], true),
            Part::Param(param) => (self.param(param, state), param.quoted),
            Part::Command { body, quoted } => (vec![self.capture(body, state)], *quoted),
            Part::Process { body, reads } => (vec![self.substituted(body, *reads, state)], true),
            Part::Sum(word) => {
                self.texts(word, state);
                (vec![marks::only(STAR)], true)
            }
            Part::Pattern => (vec![marks::only(STAR)], true),
        }
    }

    /// What the commands of `$( … )` print.
    pub(crate) fn capture(&mut self, body: &Node, state: &State) -> String {
        let input = if state.fed_download {
            marks::only(DOWNLOAD)
        } else {
            String::new()
        };
        let mut state = state.clone();
        state.outputs.clear();
        let printed = self.process(body, &state, &input);
        printed.trim_end_matches('\n').to_owned()
    }

    /// The path of `<( … )` or `>( … )`.
    fn substituted(&mut self, body: &Rc<Node>, reads: bool, state: &State) -> String {
        let printed = self.process(body, state, "");
        let path = format!(
            "/dev/fd/{}",
            1000 + self.world.files.len() + self.sinks.len()
        );
        if reads {
            self.world.files.insert(path.clone(), printed);
        } else {
            self.sinks.insert(path.clone(), Rc::clone(body));
        }
        path
    }
}

/// Every build followed by every text.
fn combine(mut builds: Vec<Build>, texts: &[String], blanks: Option<&str>) -> Vec<Build> {
    if let ([build], [text]) = (builds.as_mut_slice(), texts) {
        // The usual case grows in place: a copy for each part would cost the square of the word.
        build.push_value(text, blanks);
        return builds;
    }
    let mut out = Vec::new();
    for build in &builds {
        for text in texts {
            let mut next = build.clone();
            next.push_value(text, blanks);
            out.push(next);
        }
    }
    if texts.is_empty() {
        return builds;
    }
    if out.len() > MAX_BUILDS {
        let download = texts.iter().any(|text| text.contains(marks::DOWNLOAD));
        out.truncate(MAX_BUILDS);
        let rest = marks::only(if download { marks::DOWNLOAD } else { ANY });
        out.push(Build {
            fields: Vec::new(),
            open: Some(rest),
        });
    }
    out
}

//! The files a command line writes and then uses.

use std::rc::Rc;

use crate::marks;
use crate::path;

use super::launch::is_stdin;
use super::{Exec, State, Walker};

impl Walker<'_> {
    /// The absolute path of a word, when it is certain: known by its letters, or the one name that
    /// `mktemp` made.
    pub(crate) fn certain_path(&self, text: &str, state: &State) -> Option<String> {
        let cwd = state.cwd.first()?;
        let path = path::absolute(text, cwd)?;
        (!marks::unknown(&path) && !path.contains(marks::DEEP)).then_some(path)
    }

    /// What a file holds that this line wrote.
    pub(crate) fn content(&mut self, file: &str, state: &State) -> Option<String> {
        if file == "/dev/null" {
            return Some(String::new());
        }
        let find = |cwd: &String| {
            let path = path::absolute(file, cwd)?;
            let written = self.world.files.get(&path);
            let behind = || self.world.files.get(&self.world.follow(&path, true)?);
            written
                .or_else(behind)
                .or_else(|| self.globbed(&path))
                .cloned()
        };
        let text = state.cwd.iter().find_map(find)?;
        self.spend_copy(text.len()).then_some(text)
    }

    /// Whether this line wrote the file under its own name.
    pub(crate) fn is_written(&self, file: &str, state: &State) -> bool {
        let path = self.certain_path(file, state);
        path.is_some_and(|path| self.world.files.contains_key(&path))
    }

    /// A file that was written under a pattern.
    fn globbed(&self, path: &str) -> Option<&String> {
        let patterns = self.world.files.iter();
        let mut patterns = patterns.filter(|(name, _)| name.contains(marks::STAR));
        // What was there before is the repository's own.
        let there = || {
            self.ctx.sight == crate::Sight::Disk
                && marks::exact(path)
                && std::path::Path::new(path).exists()
        };
        patterns
            .find(|(name, _)| crate::glob::overlap(name, path))
            .filter(|_| !there())
            .map(|(_, text)| text)
    }

    /// Notes what a command writes into a file.
    pub(crate) fn write_file(&mut self, file: &str, text: &str, append: bool, state: &mut State) {
        let Some(path) = self.certain_path(file, state) else {
            self.write_somewhere(file, text, state);
            return;
        };
        if let Some(body) = self.sinks.get(&path).map(Rc::clone) {
            self.node(&body, &mut state.clone(), text);
            return;
        }
        if path == "/dev/null" {
            return;
        }
        // A tool's own file may need it; any other shows it to whoever reads it.
        if text.lines().count() < 3 && !crate::rules::is_secret_path(&path, self.ctx) {
            self.shown(text, state);
        }
        if text.contains(marks::DOWNLOAD) && path::parent(&path).ends_with("/bin") {
            let name = path::name(&path).to_owned();
            self.world.installed.push(name);
        }
        let judged = !append || crate::rules::bypass_checks::is_read_as_a_whole(&path);
        if judged && crate::rules::bypass_checks::may_be_hook(&path) {
            let mut write = Exec::of(vec![">|".to_owned(), file.to_owned()]);
            write.stdin = text.to_owned();
            self.judge_command(&write, state);
        }
        let old = self.world.files.get(&path).filter(|_| append);
        let mut whole = old.cloned().unwrap_or_default();
        super::append(&mut whole, text);
        self.world.files.insert(path, marks::bounded(whole));
    }

    /// A download whose directory nobody knows, but whose name is written out, is found again under
    /// the same words.
    fn write_somewhere(&mut self, file: &str, text: &str, state: &State) {
        let named = marks::exact(path::name(file)) && !path::name(file).is_empty();
        let path = state.cwd.first().and_then(|cwd| path::absolute(file, cwd));
        if let Some(path) = path.filter(|_| named && text.contains(marks::DOWNLOAD)) {
            self.world.files.insert(path, text.to_owned());
        }
    }

    /// `cp` and `mv`: the copy holds what the original holds.
    pub(crate) fn copy_file(&mut self, from: &str, to: &str, stdin: &str, state: &mut State) {
        let text = if is_stdin(from) {
            Some(stdin.to_owned())
        } else {
            self.content(from, state)
        };
        let Some(text) = text else {
            self.note_program(from, to, state);
            return;
        };
        self.write_file(to, &text, false, state);
        let inside = format!("{}/{}", to.trim_end_matches('/'), path::name(from));
        self.write_file(&inside, &text, false, state);
    }

    /// A copy of a program does what the program does.
    fn note_program(&mut self, from: &str, to: &str, state: &State) {
        let original = self.certain_path(from, state);
        if let (Some(from), Some(to)) = (original, self.certain_path(to, state))
            && path::parent(&from).ends_with("bin")
        {
            let inside = format!("{to}/{}", path::name(&from));
            self.world.programs.push((to, from.clone()));
            self.world.programs.push((inside, from));
        }
    }

    /// The program behind a path that is a copy of it, or a link to it, made by this line.
    pub(crate) fn program_behind(&self, program: &str, state: &State) -> Option<String> {
        let path = self.certain_path(program, state)?;
        let copies = self.world.programs.iter().rev();
        let copied = copies
            .filter(|(copy, _)| *copy == path)
            .map(|(_, it)| it.clone());
        copied.chain(self.world.follow(&path, true)).next()
    }

    /// `ln -s`.
    pub(crate) fn link(&mut self, target: &str, link: &str, state: &State) {
        let Some(at) = self.certain_path(link, state) else {
            return;
        };
        let base = path::parent(&at);
        let Some(to) = path::absolute(target, &base) else {
            return;
        };
        let inside = format!("{at}/{}", path::name(&to));
        self.world.links.push((at, to.clone()));
        self.world.links.push((inside, to));
    }
}

//! What an argument may be: literals, simple variables, path joins, downloads.

use crate::words::Words;
use std::cell::Cell;

use crate::marks::{self, ANY, DOWNLOAD, STAR};

use super::Language;
use super::literals::{CLOSE, OPEN, Source};

/// Most steps through variables.
const MAX_STEPS: usize = 4;

/// Letters of expressions and of code that are looked through in one piece of code.
const MAX_WORK: usize = 1024 * 1024;

/// Names that fetch from the network.
const FETCHES: Words = Words(
    "urlopen urlretrieve requests httpx urllib urllib2 fetch axios LWP HTTP URI file_get_contents \
     curl_exec getstore getprint Invoke-WebRequest iwr irm Invoke-RestMethod DownloadString WebClient \
     https http aiohttp",
);

/// Names that wrap a path without changing what it is.
const TRANSPARENT: Words = Words(
    "os path pathlib Path PurePath join expanduser abspath realpath str fs File expand_path \
     resolve normpath require true True glob rtree qw w r f b u R F B rb br fr rf shell check \
     bytes String ignore_errors as_posix fspath",
);

/// Evaluates argument texts.
pub(super) struct Values<'s> {
    source: &'s Source,
    language: Language,
    tmp: &'s str,
    stdin: &'s str,
    work: Cell<usize>,
}

/// Whether the text names a way to download.
pub(super) fn fetches(skeleton: &str) -> bool {
    names(skeleton).any(|name| FETCHES.has(name))
}

impl<'s> Values<'s> {
    pub(super) fn new(
        source: &'s Source,
        language: Language,
        tmp: &'s str,
        stdin: &'s str,
    ) -> Self {
        Self {
            source,
            language,
            tmp,
            stdin,
            work: Cell::new(MAX_WORK),
        }
    }

    /// All arguments as one text.
    pub(super) fn text(&self, args: &str) -> String {
        self.words(args).join(" ")
    }

    /// The arguments, or the elements of a leading list.
    pub(super) fn words(&self, args: &str) -> Vec<String> {
        let mut inside = args.trim();
        if !self.spend(inside.len()) {
            return vec![marks::only(ANY)];
        }
        for (open, close) in [('[', ']'), ('(', ')')] {
            if let Some(list) = inside.strip_prefix(open) {
                inside = &list[..list.find(close).unwrap_or(list.len())];
            }
        }
        let flat = inside.replace(['[', ']'], " ");
        split(&flat).map(|arg| self.evaluate(arg, 0)).collect()
    }

    /// Spends work; false when there is none left.
    fn spend(&self, letters: usize) -> bool {
        self.work.set(self.work.get().saturating_sub(letters));
        self.work.get() > 0
    }

    fn evaluate(&self, arg: &str, steps: usize) -> String {
        if !self.spend(arg.len()) {
            return marks::only(ANY);
        }
        let mut out = String::new();
        let mut rest = arg.trim();
        while let Some(c) = rest.chars().next() {
            if c == OPEN {
                let end = rest.find(CLOSE).unwrap_or(rest.len() - 1);
                let literal = rest[1..end]
                    .parse()
                    .ok()
                    .and_then(|n: usize| self.source.literals.get(n));
                out.push_str(literal.map_or("", |l| &l.text));
                rest = &rest[end + 1..];
            } else if is_name(c) || c == '$' || c == '@' {
                let end = rest
                    .find(|c| !is_name(c) && c != '$' && c != '@')
                    .unwrap_or(rest.len());
                let name = &rest[..end];
                rest = &rest[end..];
                // A keyword argument's value is no path, but its literal may be a word.
                if !rest.trim_start().starts_with('=') || rest.trim_start().starts_with("==") {
                    out.push_str(&self.name(name, steps));
                }
            } else {
                if c == '/' || c == ',' {
                    out.push('/');
                }
                rest = &rest[c.len_utf8()..];
            }
        }
        out
    }

    fn name(&self, name: &str, steps: usize) -> String {
        let lower = name.to_ascii_lowercase();
        if FETCHES.has(name) || (name == "get" && self.language == Language::Perl) {
            return marks::only(DOWNLOAD);
        }
        let line = match self.language {
            Language::Awk => name.starts_with('$'),
            Language::Perl | Language::Ruby => name == "$_",
            _ => false,
        };
        if line && !self.stdin.is_empty() && self.stdin.len() < 4096 {
            return self.stdin.to_owned();
        }
        match lower.as_str() {
            "stdin" | "argf" | "readfilesync" if self.stdin.contains(DOWNLOAD) => {
                return marks::only(DOWNLOAD);
            }
            "mkdtemp" | "temporarydirectory" | "mkdtempsync" | "mktmpdir" | "tempdir" => {
                return format!("{}/{STAR}", self.tmp);
            }
            "getcwd" | "cwd" | "__dirname" | "process" | "tempfile" | "dir" => {
                return String::new();
            }
            _ => {}
        }
        if TRANSPARENT.has(name) {
            return String::new();
        }
        let value = (steps < MAX_STEPS).then(|| self.assigned(name)).flatten();
        value.map_or_else(
            || marks::only(ANY),
            |expression| self.evaluate(expression, steps + 1),
        )
    }

    /// The expression a variable was given by a plain `name = …`, or as a `with … as name`.
    fn assigned(&self, name: &str) -> Option<&'s str> {
        let skeleton = &self.source.skeleton;
        let mut seen = 0;
        for (at, _) in skeleton.match_indices(name) {
            if !self.spend(at - seen + name.len()) {
                return None;
            }
            seen = at;
            if skeleton[..at]
                .chars()
                .next_back()
                .is_some_and(|c| is_name(c) || c == '.')
            {
                continue;
            }
            let after = skeleton[at + name.len()..].trim_start_matches(' ');
            if let Some(value) = after
                .strip_prefix('=')
                .filter(|v| !v.starts_with(['=', '~']))
            {
                return Some(&value[..value.find([';', '\n']).unwrap_or(value.len())]);
            }
            let line = skeleton[..at]
                .rsplit(['\n', ';'])
                .next()
                .unwrap_or_default();
            self.spend(line.len());
            if let (Some(with), true) = (
                line.trim_start().strip_prefix("with "),
                line.ends_with(" as "),
            ) {
                return Some(with.trim_end_matches(" as "));
            }
        }
        None
    }
}

fn is_name(c: char) -> bool {
    c == '_' || c == '-' || c.is_ascii_alphanumeric()
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_name(c)).filter(|name| !name.is_empty())
}

/// Splits at commas outside parentheses.
fn split(args: &str) -> impl Iterator<Item = &str> {
    let mut open = 0usize;
    args.split(move |c| {
        match c {
            '(' | '{' => open += 1,
            ')' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0
    })
    .filter(|arg| !arg.trim().is_empty())
}

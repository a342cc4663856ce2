//! What an argument may be: literals, simple variables, path joins, downloads.

use crate::words::Words;
use std::cell::Cell;

use crate::base64;
use crate::marks::{self, ANY, DOWNLOAD, SECRET, STAR};
use crate::rules::credential_read::is_secret_variable;

use super::Language;
use super::literals::{CLOSE, OPEN, Source};

/// Most steps through variables.
const MAX_STEPS: usize = 4;

/// Letters of expressions and of code that are looked through in one piece of code.
const MAX_WORK: usize = 1024 * 1024;

/// Names that fetch from the network.
const FETCHES: Words = Words(
    "urlopen urlretrieve requests httpx urllib urllib2 urllib3 fetch axios LWP HTTP URI \
     file_get_contents curl_exec getstore getprint Invoke-WebRequest iwr irm Invoke-RestMethod \
     DownloadString DownloadFile WebClient https http aiohttp HTTPoison httpc undici superagent",
);

/// Names that wrap a path without changing what it is.
const TRANSPARENT: Words = Words(
    "os path pathlib Path PurePath PosixPath join joinpath expanduser abspath realpath str fs File \
     expand_path resolve normpath require true True glob rtree \
     shell check bytes String ignore_errors as_posix fspath shlex split list tuple chomp strip trim \
     lower decode encode format new of Paths Uri to_s freeze string Dir FileUtils Buffer from base64 \
     toString my our local const let var filepath java nio io std sys file walk listdir iterdir \
     scandir rglob iglob readdirSync sorted reversed enumerate",
);

/// Names of tables of environment variables.
const ENVIRONMENTS: Words =
    Words("environ getenv Getenv env ENV get_env fetch_env LookupEnv environb ENVIRON");

/// Letters in front of a literal.
const PREFIXES: Words = Words("r f b u R F B rb br fr rf q qq qw qx w W Q i I s c x");

/// Names of functions that decode hexadecimal digits.
const HEXES: Words = Words("fromhex unhexlify hex2bin decodeHex");

/// Names of functions that decode base64.
const DECODERS: Words =
    Words("b64decode atob decode64 base64_decode decode_base64 urlsafe_b64decode");

/// Evaluates argument texts.
pub(super) struct Values<'s> {
    pub(super) source: &'s Source,
    pub(super) language: Language,
    place: Place<'s>,
    stdin: &'s str,
    work: Cell<usize>,
}

/// Directories that code asks for by name.
#[derive(Clone, Copy)]
pub(super) struct Place<'s> {
    pub(super) tmp: &'s str,
    pub(super) home: &'s str,
    /// The words that the code is given.
    pub(super) words: &'s [String],
}

/// What was read so far of an expression.
#[derive(Default)]
struct Reading {
    out: String,
    /// The next text is the name of an environment variable.
    asked: bool,
    /// The next text is base64.
    coded: bool,
    /// It is hexadecimal rather.
    hex: bool,
    /// Numbers are letters.
    letters: bool,
}

/// Whether the text names a way to download.
pub(super) fn fetches(skeleton: &str) -> bool {
    names(skeleton).any(|name| FETCHES.has(name))
}

impl<'s> Values<'s> {
    pub(super) fn new(
        source: &'s Source,
        language: Language,
        place: Place<'s>,
        stdin: &'s str,
    ) -> Self {
        Self {
            source,
            language,
            place,
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
        if inside.contains("].join(") {
            return split(inside).map(|arg| self.evaluate(arg, 0)).collect();
        }
        let flat = inside.replace(['[', ']'], " ");
        let flat = if self.language == Language::R {
            flat.replace("c(", "")
        } else {
            flat
        };
        split(&flat).flat_map(|arg| self.argument(arg)).collect()
    }

    /// The words of an argument: the elements of a variable that holds a list.
    fn argument(&self, arg: &str) -> Vec<String> {
        let name = arg.trim().trim_start_matches(['*', '@', '.']);
        let plain = !name.is_empty() && name.chars().all(is_name);
        let value = plain.then(|| self.assigned(name)).flatten();
        let spread = arg.trim().starts_with(['*', '@']);
        let list = value
            .map(str::trim)
            .filter(|value| value.starts_with('[') || spread);
        let Some(list) = list else {
            return vec![self.evaluate(arg, 0)];
        };
        let list = list.trim_matches(['[', ']', '(', ')', ' ']);
        split(list).map(|item| self.evaluate(item, 1)).collect()
    }

    /// One expression as a text.
    pub(super) fn expression(&self, text: &str) -> String {
        self.evaluate(text, 0)
    }

    /// Spends work; false when there is none left.
    pub(super) fn spend(&self, letters: usize) -> bool {
        self.work.set(self.work.get().saturating_sub(letters));
        self.work.get() > 0
    }

    pub(super) fn evaluate(&self, arg: &str, steps: usize) -> String {
        if !self.spend(arg.len()) {
            return marks::only(ANY);
        }
        let mut reading = Reading::default();
        let mut rest = arg.trim();
        while let Some(c) = rest.chars().next() {
            rest = if c == OPEN {
                self.read_literal(rest, &mut reading, steps)
            } else if let Some(after) = rest.strip_prefix("[::-1]") {
                reading.turn();
                after
            } else if c.is_ascii_digit() && reading.letters {
                let end = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                let code = rest[..end].parse().ok().and_then(char::from_u32);
                reading.out.extend(code);
                &rest[end..]
            } else if is_name(c) || c == '$' || c == '@' {
                self.read_name(rest, &mut reading, steps)
            } else {
                self.read_sign(rest, c, &mut reading)
            };
        }
        reading.out
    }

    fn read_literal<'t>(&self, text: &'t str, reading: &mut Reading, steps: usize) -> &'t str {
        let end = text.find(CLOSE).unwrap_or(text.len() - 1);
        let number = text.get(1..end).and_then(|it| it.parse::<usize>().ok());
        let literal = number.and_then(|n| self.source.literals.get(n));
        let value = literal.map_or(String::new(), |it| self.literal(it, steps));
        let rest = text.get(end + 1..).unwrap_or_default();
        let list = rest
            .strip_prefix(".join(")
            .filter(|list| list.starts_with('['));
        if let Some(list) = list {
            // `' '.join(['a', 'b'])`.
            let end = list.find(')').unwrap_or(list.len());
            let joined = self.words(&list[..end]).join(&value);
            reading.out.push_str(&joined);
            return &list[end..];
        }
        if std::mem::take(&mut reading.asked) {
            reading.out.push_str(&self.variable(&value));
        } else if std::mem::take(&mut reading.coded) {
            let plain = base64::decode_hex(&value).filter(|_| reading.hex);
            let plain = plain.or_else(|| base64::decode(&value));
            reading.out.push_str(&plain.unwrap_or_default());
        } else {
            reading.out.push_str(&value);
        }
        rest
    }

    fn read_name<'t>(&self, text: &'t str, reading: &mut Reading, steps: usize) -> &'t str {
        let end = text
            .find(|c| !is_name(c) && c != '$' && c != '@')
            .unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let after = rest.trim_start();
        if PREFIXES.has(name) && after.starts_with(OPEN) {
            return rest;
        }
        if reading.asked && after.is_empty() {
            reading.asked = false;
        }
        if ENVIRONMENTS.has(name.trim_start_matches('$'))
            && rest.trim_start().starts_with([OPEN, '[', '{', '.', '('])
        {
            reading.asked = true;
        } else if HEXES.has(name) {
            (reading.coded, reading.hex) = (true, true);
        } else if DECODERS.has(name) {
            reading.coded = true;
        } else if matches!(name, "chr" | "fromCharCode") {
            reading.letters = true;
        } else if matches!(name, "reverse" | "reversed" | "strrev") {
            reading.turn();
        } else if name == "joinpath" && !reading.out.is_empty() {
            reading.out.push('/');
        } else if !after.starts_with('=') || after.starts_with("==") {
            // A keyword argument's name is no path, but its literal may be a word.
            reading.out.push_str(&self.name(name, steps));
        }
        rest
    }

    fn read_sign<'t>(&self, text: &'t str, c: char, reading: &mut Reading) -> &'t str {
        if c == '['
            && let Some((list, after)) = text[1..].split_once("].join(")
        {
            // `['.e', 'nv'].join('')`.
            let end = after.find(')').unwrap_or(after.len());
            let between = self.evaluate(&after[..end], MAX_STEPS);
            let joined = self.words(list).join(&between);
            reading.out.push_str(&joined);
            return after.get(end + 1..).unwrap_or_default();
        }
        if c == '/' || (c == ',' && !reading.letters) {
            // Behind the directory that the code runs in, which is written as nothing.
            let start = if reading.out.is_empty() { "./" } else { "/" };
            reading.out.push_str(start);
        }
        reading.letters &= c != ')';
        let rest = &text[c.len_utf8()..];
        // `process.env.HOME`, `$ENV{HOME}`.
        let name = rest.split(|c| !is_name(c)).next().unwrap_or_default();
        if !reading.asked || !matches!(c, '.' | '{') || name.is_empty() {
            return rest;
        }
        if name != "get" {
            reading.asked = false;
            reading.out.push_str(&self.variable(name));
        }
        &rest[name.len()..]
    }

    /// An environment variable.
    fn variable(&self, name: &str) -> String {
        match name {
            "HOME" | "USERPROFILE" => self.place.home.to_owned(),
            "TMPDIR" | "TMP" | "TEMP" => self.place.tmp.to_owned(),
            "PWD" => String::new(),
            _ if is_secret_variable(name) => marks::only(SECRET),
            _ => marks::only(ANY),
        }
    }

    fn name(&self, name: &str, steps: usize) -> String {
        let lower = name.to_ascii_lowercase();
        let downloads =
            matches!(self.language, Language::Julia | Language::R) && name == "download";
        if downloads || FETCHES.has(name) || (name == "get" && self.language == Language::Perl) {
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
            "mkdtemp" | "temporarydirectory" | "mkdtempsync" | "mktmpdir" | "tempdir"
            | "mkdirtemp" | "mktempdir" => return format!("{}/{STAR}", self.place.tmp),
            "argv" if !self.place.words.is_empty() => {
                return marks::worst(self.place.words.iter().cloned());
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
        let literal = [OPEN, '[', '(', '{', ' ', '\n'];
        let list = value.map(str::trim).filter(|value| {
            value.starts_with('[')
                || value.starts_with(['(', '{']) && value[1..].starts_with(literal)
        });
        if let Some(list) = list {
            let items = split(list[1..].split([']', ')', '}']).next().unwrap_or_default());
            return marks::worst(items.map(|item| self.evaluate(item, steps + 1)));
        }
        if let Some(words) = value.filter(|value| value.starts_with("%w")) {
            let words = self.evaluate(words, steps + 1);
            return marks::worst(words.split_whitespace().map(str::to_owned));
        }
        if let Some(expression) = value {
            // A module is no part of a path.
            let module = expression.trim_start().starts_with("require(");
            let own = || self.evaluate(expression, steps + 1);
            return if module { String::new() } else { own() };
        }
        match lower.as_str() {
            "gettempdir" | "tmpdir" | "sys_get_temp_dir" => self.place.tmp.to_owned(),
            "home" | "homedir" | "userhomedir" | "user_home" | "home_dir" => {
                self.place.home.to_owned()
            }
            _ => marks::only(ANY),
        }
    }
}

impl Reading {
    /// What was read, from its end to its beginning.
    fn turn(&mut self) {
        self.out = self.out.chars().rev().collect();
    }
}

pub(super) fn is_name(c: char) -> bool {
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
            '(' | '{' | '[' => open += 1,
            ')' | '}' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        c == ',' && open == 0
    })
    .filter(|arg| !arg.trim().is_empty())
}

//! A line without times, durations, process numbers, ids and hashes.

use super::times;
use super::token::is_of_a_word;

/// Words behind which a number is that of a process or a thread.
pub(super) const PROCESS: [&str; 7] = ["pid", "ppid", "pgid", "tid", "nid", "goroutine", "lwp"];
/// Words behind which a long number is an id or a hash.
pub(super) const NAMED: [&str; 14] = [
    "commit", "sha", "sha1", "sha256", "hash", "rev", "revision", "id", "uuid", "digest", "etag",
    "nonce", "seed", "trace",
];
/// Words behind which seconds since 1970 are a time; elsewhere they may be any number.
pub(super) const STAMPS: [&str; 6] = ["ts", "time", "timestamp", "stamp", "epoch", "unixtime"];
/// Words behind which a number is a duration, with or without its unit: `duration_ms 87.1`, `elapsed: 0.5`.
pub(super) const DURATIONS: [&str; 4] = ["duration", "elapsed", "time_elapsed", "elapsed_time"];
/// Units that such a word may end in.
const UNITS: [&str; 8] = ["ms", "us", "ns", "s", "sec", "secs", "seconds", "millis"];
/// Words of a date that may stand before a time of day.
const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The shortest hash or id.
const HEX: usize = 7;
/// The shortest run of hex letters without a digit that is a hash and no word.
const LETTERS: usize = 8;
/// The shortest id that is neither hex nor a UUID.
const OPAQUE: usize = 16;

/// Adds a line to `out`, with a word in the place of each piece of noise.
pub(super) fn without_noise(line: &str, out: &mut String) {
    let mut reader = Reader {
        line,
        begin: out.len(),
        out,
        before: None,
        word: "",
        word_end: 0,
        after_time: false,
    };
    let mut at = 0;
    while at < line.len() {
        at = reader.step(at);
    }
}

struct Reader<'l, 'o> {
    line: &'l str,
    out: &'o mut String,
    /// Where the line begins in `out`.
    begin: usize,
    /// The letter before.
    before: Option<char>,
    /// The last word, and where it ended.
    word: &'l str,
    word_end: usize,
    /// A time was just taken away.
    after_time: bool,
}

impl Reader<'_, '_> {
    /// Reads from here; where to go on.
    fn step(&mut self, at: usize) -> usize {
        let rest = &self.line[at..];
        let begins = !self.before.is_some_and(is_of_a_word);
        if begins && rest.starts_with(|c: char| c.is_ascii_digit()) {
            if let Some(behind) = times::time(rest, self.before) {
                self.forget_date();
                return self.noise("<time>", behind, true);
            }
            let named = || times::number(rest).filter(|_| self.is_behind(at, is_of_a_duration));
            if let Some(behind) = times::duration(rest, self.before).or_else(named) {
                return self.noise("<duration>", behind, false);
            }
        }
        if begins && rest.starts_with(is_of_a_word) {
            return self.word(at);
        }
        let c = rest.chars().next().unwrap_or(' ');
        self.out.push(c);
        self.before = Some(c);
        at + c.len_utf8()
    }

    fn word(&mut self, at: usize) -> usize {
        let rest = &self.line[at..];
        if let Some(behind) = uuid(rest) {
            return self.noise("<id>", behind, false);
        }
        let end = rest.find(|c| !is_of_a_word(c)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        if let Some(stands) = self.stands_for(word, at, behind) {
            return self.noise(stands, behind, false);
        }
        self.out.push_str(word);
        self.before = word.chars().next_back();
        (self.word, self.word_end) = (word, at + end);
        at + end
    }

    /// What stands for a word that is noise.
    fn stands_for(&self, word: &str, at: usize, behind: &str) -> Option<&'static str> {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_named = |names: &[&str]| {
            self.is_behind(at, |word| {
                is_one_of(word.rsplit('_').next().unwrap_or_default(), names)
            })
        };
        if is_number {
            let is_process = is_named(&PROCESS) || self.is_process(at, behind);
            let is_id = || word.len() >= HEX && is_named(&NAMED);
            let is_time = || word.len() == 10 && times::is_of_now(word) && is_named(&STAMPS);
            return is_process
                .then_some("<pid>")
                .or_else(|| is_id().then_some("<id>"))
                .or_else(|| is_time().then_some("<time>"));
        }
        // The digits behind a point are a number's.
        let is_fraction = self.before == Some('.')
            && self.line[..at - 1].ends_with(|c: char| c.is_ascii_digit())
            && is_exponential(word);
        if !is_fraction && is_hex(word) {
            return Some("<hex>");
        }
        is_opaque(word).then_some("<id>")
    }

    /// Whether what stands here belongs to the word before it, and that is one of those.
    fn is_behind(&self, at: usize, is_one: impl Fn(&str) -> bool) -> bool {
        let gap = &self.line[self.word_end..at];
        let is_joined = gap.len() <= 3 && gap.chars().all(|c| " :=#(['\"<".contains(c));
        is_joined && is_one(self.word)
    }

    /// `==12==` of valgrind and sanitizers, `(node:12)`, `thread 'main' (12)`.
    fn is_process(&self, at: usize, behind: &str) -> bool {
        let before = &self.line[..at];
        let thread = || {
            let from = before.len().saturating_sub(120);
            let near = &before[before.ceil_char_boundary(from)..];
            near.ends_with("' (") && near.contains("thread '")
        };
        match behind.chars().next() {
            Some('=') => before.ends_with("==") && behind.starts_with("=="),
            Some(')') => before.ends_with("(node:") || thread(),
            _ => false,
        }
    }

    /// Writes a word for what was taken away; columns that its length moves stand where they stood.
    fn noise(&mut self, stands: &str, behind: &str, is_time: bool) -> usize {
        let kept = self.out.trim_end_matches(' ').len().max(self.begin);
        if self.out.len() > kept {
            self.out.truncate(kept);
            self.out.push(' ');
        }
        self.out.push_str(stands);
        self.before = Some('>');
        self.after_time = is_time;
        let mut rest = behind;
        if is_time {
            rest = behind_year(rest);
        }
        let trimmed = rest.trim_start_matches(' ');
        if trimmed.len() < rest.len() {
            self.out.push(' ');
            self.before = Some(' ');
        }
        let at = self.line.len() - trimmed.len();
        (self.word, self.word_end) = ("", at);
        at
    }

    /// Takes the date before a time away: `Mon Jan  2 `, `02 Jan 2026 `, `Fri, 2 Jan `.
    fn forget_date(&mut self) {
        let line = &self.out[self.begin..];
        let (mut left, mut words, mut has_month) = (line.trim_end().len(), 0, false);
        let mut from = line.len();
        while words < 5 {
            let text = line[..left].trim_end();
            // No word of a date is longer.
            let near = text.ceil_char_boundary(text.len().saturating_sub(16));
            let word_at = text[near..]
                .rfind([' ', '[', '('])
                .map_or(near, |at| near + at + 1);
            let word = text[word_at..].trim_end_matches(',');
            let is_day =
                word.len() <= 2 && !word.is_empty() && word.bytes().all(|c| c.is_ascii_digit());
            let is_year = word.len() == 4 && word.bytes().all(|c| c.is_ascii_digit());
            let is_month = is_one_of(word, &MONTHS);
            if !is_day && !is_year && !is_month && !is_one_of(word, &DAYS) {
                break;
            }
            has_month |= is_month;
            (left, words) = (word_at, words + 1);
            if has_month {
                from = word_at;
            }
        }
        if has_month {
            let cut = self.begin + from;
            self.out.truncate(cut);
        }
    }
}

fn is_one_of(word: &str, names: &[&str]) -> bool {
    names.iter().any(|name| name.eq_ignore_ascii_case(word))
}

/// Whether a number behind this word is how long something took.
fn is_of_a_duration(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let bare = UNITS.iter().filter_map(|unit| word.strip_suffix(unit));
    let bare = bare.map(|bare| bare.trim_end_matches('_'));
    bare.chain([&*word]).any(|word| DURATIONS.contains(&word))
}

/// Behind the year that may follow a time: `Mon Jan  2 03:04:05 2026`.
fn behind_year(rest: &str) -> &str {
    let year = rest.strip_prefix(" 20").filter(|rest| {
        let mut digits = rest.bytes().take(2);
        digits.all(|c| c.is_ascii_digit()) && rest.len() >= 2
    });
    let behind = year.map(|rest| &rest[2..]);
    behind
        .filter(|rest| !rest.starts_with(is_of_a_word))
        .unwrap_or(rest)
}

/// Behind a UUID that a text begins with.
fn uuid(text: &str) -> Option<&str> {
    let mut rest = text;
    for (at, count) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if at > 0 {
            rest = rest.strip_prefix('-')?;
        }
        let part = rest.get(..count)?;
        part.bytes().all(|c| c.is_ascii_hexdigit()).then_some(())?;
        rest = &rest[count..];
    }
    (!rest.starts_with(is_of_a_word)).then_some(rest)
}

/// Whether a word is a hash, or a number in hex, of seven digits or more. Digits alone are a number.
fn is_hex(word: &str) -> bool {
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return digits.len() >= HEX && digits.bytes().all(|c| c.is_ascii_hexdigit());
    }
    let (lower, upper) = (
        word.bytes().any(|c| c.is_ascii_lowercase()),
        word.bytes().any(|c| c.is_ascii_uppercase()),
    );
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_long = word.len() >= if digits == 0 { LETTERS } else { HEX };
    // Bytes are counted with a letter behind, and bits are written with one before.
    let is_count = word
        .strip_suffix('B')
        .is_some_and(|rest| rest.len() == digits)
        || word
            .strip_prefix("0b")
            .is_some_and(|rest| rest.bytes().all(|c| matches!(c, b'0' | b'1')));
    is_long && lower != upper && !is_count && word.bytes().all(|c| c.is_ascii_hexdigit())
}

/// Whether a word is a long one in which letters and digits change again and again.
fn is_opaque(word: &str) -> bool {
    if word.len() < OPAQUE || !word.bytes().all(|c| c.is_ascii_alphanumeric()) {
        return false;
    }
    let pairs = word.as_bytes().windows(2);
    let changes = pairs.filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    changes.count() >= 4
}

/// Whether it is digits with an exponent.
fn is_exponential(word: &str) -> bool {
    let parts = word.split_once(['e', 'E']);
    let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
    parts.is_some_and(|(digit, exponent)| digits(digit) && digits(exponent))
}

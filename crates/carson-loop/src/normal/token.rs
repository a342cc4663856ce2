//! Reads a text from the left.

/// What is left of a text. Copies are tries: one that fails has taken nothing.
#[derive(Clone, Copy)]
pub(super) struct Rest<'t>(pub &'t str);

impl<'t> Rest<'t> {
    /// These letters, whatever their case.
    pub(super) fn word(&mut self, word: &str) -> Option<()> {
        let head = self.0.get(..word.len())?;
        head.eq_ignore_ascii_case(word)
            .then(|| self.0 = &self.0[word.len()..])
    }

    /// One of these characters.
    pub(super) fn one_of(&mut self, set: &str) -> Option<char> {
        let c = self.0.chars().next().filter(|c| set.contains(*c))?;
        self.0 = &self.0[c.len_utf8()..];
        Some(c)
    }

    /// Digits, so many.
    pub(super) fn digits(&mut self, count: std::ops::RangeInclusive<usize>) -> Option<&'t str> {
        let run = self.0.bytes().take(count.end() + 1);
        let run = run.take_while(u8::is_ascii_digit).count();
        count.contains(&run).then(|| {
            let (digits, rest) = self.0.split_at(run);
            self.0 = rest;
            digits
        })
    }

    /// A number of at most two digits that is less than this.
    pub(super) fn below(
        &mut self,
        most: u32,
        count: std::ops::RangeInclusive<usize>,
    ) -> Option<()> {
        let mut tried = *self;
        let value: u32 = tried.digits(count)?.parse().ok()?;
        (value < most).then(|| *self = tried)
    }

    /// A point or a comma, and digits behind it, if they are there.
    pub(super) fn fraction(&mut self) {
        let mut tried = *self;
        if tried.one_of(".,").is_some() && tried.digits(1..=18).is_some() {
            *self = tried;
        }
    }

    /// Whether no word goes on here.
    pub(super) fn is_at_end(&self) -> bool {
        !self.0.starts_with(is_of_a_word)
    }

    /// Tries something; when it fails nothing is taken.
    pub(super) fn try_to<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut tried = *self;
        let done = read(&mut tried)?;
        *self = tried;
        Some(done)
    }
}

pub(super) fn is_of_a_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

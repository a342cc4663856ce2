//! Runs of characters that may be base64 or base32 (RFC 4648), read out.

/// Symbols that are read out at once.
const STEP: usize = 16 * 1024;

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Sixty4,
    Thirty2,
}

impl Base {
    fn bits(self) -> usize {
        match self {
            Self::Sixty4 => 6,
            Self::Thirty2 => 5,
        }
    }

    /// Symbols after which the pattern of bytes begins anew: a value may begin at each of them.
    fn unit(self) -> usize {
        match self {
            Self::Sixty4 => 4,
            Self::Thirty2 => 8,
        }
    }

    /// What a symbol stands for, in the usual alphabet or the one for addresses.
    fn value(self, byte: u8) -> Option<u8> {
        match (self, byte) {
            (Self::Sixty4, b'A'..=b'Z') => Some(byte - b'A'),
            (Self::Sixty4, b'a'..=b'z') => Some(byte - b'a' + 26),
            (Self::Sixty4, b'0'..=b'9') => Some(byte - b'0' + 52),
            (Self::Sixty4, b'+' | b'-') => Some(62),
            (Self::Sixty4, b'/' | b'_') => Some(63),
            (Self::Thirty2, b'A'..=b'Z') => Some(byte - b'A'),
            (Self::Thirty2, b'a'..=b'z') => Some(byte - b'a'),
            (Self::Thirty2, b'2'..=b'7') => Some(byte - b'2' + 26),
            _ => None,
        }
    }
}

/// Bytes that were read out, and where each of them is written.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub bytes: Vec<u8>,
    pub places: Vec<(usize, usize)>,
}

/// Gathers one run after another of what may be either.
#[derive(Debug)]
pub(crate) struct Runs {
    /// Fewer symbols hold no value.
    least: usize,
    /// What is read twice where a run is too long to be read at once.
    overlap: usize,
    symbols: Vec<u8>,
    places: Vec<(usize, usize)>,
}

impl Runs {
    /// Runs that can hold a value of `shortest` to `longest` bytes.
    pub(crate) fn new(shortest: usize, longest: usize) -> Self {
        Self {
            least: 8 * shortest / Base::Sixty4.bits(),
            overlap: 8 * longest / Base::Thirty2.bits() + 2 * Base::Thirty2.unit(),
            symbols: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Takes the next character; says when a run is to be [read out](Self::decode).
    #[inline]
    pub(crate) fn push(&mut self, byte: u8, start: usize, end: usize) -> bool {
        if continues(byte) {
            self.symbols.push(byte);
            self.places.push((start, end));
            return self.symbols.len() >= STEP.max(4 * self.overlap);
        }
        if self.is_run() {
            return true;
        }
        self.symbols.clear();
        self.places.clear();
        false
    }

    /// Whether there is enough to hold a value.
    #[inline]
    pub(crate) fn is_run(&self) -> bool {
        self.symbols.len() >= self.least
    }

    /// Reads the run out, once for each symbol at which a group of bytes may begin. A run that goes
    /// on keeps what a value may have begun in.
    pub(crate) fn decode(&mut self, goes_on: bool) -> Vec<Decoded> {
        let mut all = Vec::new();
        if self.varies() {
            all.extend(self.decode_as(Base::Sixty4));
        }
        // Nobody mixes cases in base32, which tells it from most of base64 and of names.
        let has = |kind: fn(&u8) -> bool| self.symbols.iter().any(kind);
        let is_one = self
            .symbols
            .iter()
            .all(|byte| Base::Thirty2.value(*byte).is_some());
        if is_one
            && !all.is_empty()
            && !(has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase))
        {
            all.extend(self.decode_as(Base::Thirty2));
        }
        let kept = if goes_on { self.overlap } else { 0 };
        let gone = self.symbols.len().saturating_sub(kept);
        self.symbols.drain(..gone);
        self.places.drain(..gone);
        all
    }

    /// Whether it has more than three symbols in it: a flood of one letter is no secret, and reading it
    /// out twelve times is what takes longest of all.
    fn varies(&self) -> bool {
        let mut met = [0_u8; 3];
        let mut many = 0;
        self.symbols.iter().any(|symbol| {
            if met[..many].contains(symbol) {
                return false;
            }
            if many == met.len() {
                return true;
            }
            met[many] = *symbol;
            many += 1;
            false
        })
    }

    fn decode_as(&self, base: Base) -> impl Iterator<Item = Decoded> {
        let starts = 0..base.unit().min(self.symbols.len());
        starts.map(move |start| self.decode_from(start, base))
    }

    fn decode_from(&self, start: usize, base: Base) -> Decoded {
        let (symbols, places) = (&self.symbols[start..], &self.places[start..]);
        let bits = base.bits();
        let mut out = Decoded {
            bytes: Vec::with_capacity(symbols.len()),
            places: Vec::with_capacity(symbols.len()),
        };
        let (mut held, mut many) = (0_u32, 0);
        for (at, symbol) in symbols.iter().enumerate() {
            held = held << bits | u32::from(base.value(*symbol).unwrap_or(0));
            many += bits;
            if many >= 8 {
                many -= 8;
                let first = places[8 * out.bytes.len() / bits].0;
                out.bytes.push((held >> many & 0xff) as u8);
                out.places.push((first, places[at].1));
                held &= (1 << many) - 1;
            }
        }
        out
    }
}

/// Whether a character continues a run: base32 has none that base64 has not.
#[inline]
pub(crate) fn continues(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(text: &str) -> Vec<String> {
        let mut runs = Runs::new(6, 40);
        for (at, byte) in text.bytes().enumerate() {
            assert!(!runs.push(byte, at, at + 1));
        }
        let all = runs.decode(false);
        all.iter()
            .map(|one| String::from_utf8_lossy(&one.bytes).into_owned())
            .collect()
    }

    #[test]
    fn a_run_is_read_from_wherever_a_value_may_begin() {
        // printf 'p"ss/w+rd' and printf 'hunter2' through base64 and base32.
        assert_eq!(decoded("cCJzcy93K3Jk")[0], "p\"ss/w+rd");
        assert!(decoded("abcCJzcy93K3Jk")[2].starts_with("p\"ss/w+rd"));
        assert_eq!(decoded("NB2W45DFOIZA")[4], "hunter2");
        assert_eq!(decoded("xxxnb2w45dfoiza")[7], "hunter2");
    }

    #[test]
    fn a_byte_knows_where_it_is_written() {
        let mut runs = Runs::new(6, 40);
        for at in 0..12 {
            runs.push(b"ABCD"[at % 4], 10 * at, 10 * at + 1);
        }
        let places = &runs.decode(false)[1].places;
        assert_eq!(places[..3], [(10, 21), (20, 31), (30, 41)]);
    }
}

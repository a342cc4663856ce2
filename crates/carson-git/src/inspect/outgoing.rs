//! What a push would make visible, written into one file that somebody else searches: whoever reads
//! objects knows no secrets, and whoever knows the secrets reads nothing but this.
//!
//! One record after another: a letter, the length of a name and the name, the length of a text and
//! the text; lengths are eight bytes, the lowest first.

use std::io::{self, BufRead, Read as _, Write};

/// A part of what would be pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Here a commit begins; its name.
    Commit,
    /// Its header and message.
    Message,
    /// The path of something that it brings: a file, a directory, a link.
    Name,
    /// What a file had that it changes or takes away: whoever changes a line writes it again.
    Gone,
    /// What a file has that it brings.
    File,
}

const LETTERS: [(Part, u8); 5] = [
    (Part::Commit, b'c'),
    (Part::Message, b'm'),
    (Part::Name, b'n'),
    (Part::Gone, b'g'),
    (Part::File, b'f'),
];

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// Which part.
    pub part: Part,
    /// The commit's name, or a path.
    pub name: Vec<u8>,
    /// The text; none for a commit and for a name.
    pub text: Vec<u8>,
}

/// Writes records, up to a size.
pub(super) struct Writer<W> {
    to: W,
    left: u64,
    /// Whether something was left out.
    pub cut: bool,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(to: W, most: u64) -> Self {
        Self {
            to,
            left: most,
            cut: false,
        }
    }

    pub(super) fn put(&mut self, part: Part, name: &[u8], text: &[u8]) -> io::Result<()> {
        let size = (name.len() + text.len()) as u64;
        if size > self.left {
            self.cut = true;
            return Ok(());
        }
        self.left -= size;
        self.beside(part, name, text)
    }

    /// The same, without counting it.
    pub(super) fn beside(&mut self, part: Part, name: &[u8], text: &[u8]) -> io::Result<()> {
        let letter = LETTERS.iter().find(|(known, _)| *known == part);
        self.to
            .write_all(&[letter.map_or(b'?', |(_, letter)| *letter)])?;
        for bytes in [name, text] {
            self.to.write_all(&(bytes.len() as u64).to_le_bytes())?;
            self.to.write_all(bytes)?;
        }
        Ok(())
    }

    /// Whether a text of this size would be left out; then it need not even be read.
    pub(super) fn is_too_much(&mut self, size: u64) -> bool {
        self.cut |= size > self.left;
        size > self.left
    }

    pub(super) fn finish(mut self) -> io::Result<bool> {
        self.to.flush()?;
        Ok(self.cut)
    }
}

/// The next record of such a file; `None` at its end.
///
/// # Errors
/// When the file is none, or a record is longer than `most` bytes.
pub fn next_brought(from: &mut impl BufRead, most: u64) -> io::Result<Option<Brought>> {
    let mut letter = [0];
    if from.read(&mut letter)? == 0 {
        return Ok(None);
    }
    let part = LETTERS.iter().find(|(_, known)| *known == letter[0]);
    let part = part
        .map(|(part, _)| *part)
        .ok_or_else(|| io::Error::other("no such record"))?;
    let name = text(from, most)?;
    let text = text(from, most)?;
    Ok(Some(Brought { part, name, text }))
}

fn text(from: &mut impl BufRead, most: u64) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    if length > most {
        return Err(io::Error::other("a record is too long"));
    }
    let mut text = Vec::new();
    from.take(length).read_to_end(&mut text)?;
    match text.len() as u64 == length {
        true => Ok(text),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_as_they_were_written() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, 20);
        writer.put(Part::Commit, b"abc", b"").unwrap();
        writer.put(Part::File, b"a\n", b"te\0xt").unwrap();
        writer.put(Part::File, b"large", &[0; 30]).unwrap();
        writer.put(Part::Name, b"x", b"").unwrap();
        assert!(writer.finish().unwrap());
        let mut from = file.as_slice();
        let mut read = Vec::new();
        while let Some(one) = next_brought(&mut from, 100).unwrap() {
            read.push((one.part, one.name, one.text));
        }
        let wanted = [
            (Part::Commit, b"abc".to_vec(), Vec::new()),
            (Part::File, b"a\n".to_vec(), b"te\0xt".to_vec()),
            (Part::Name, b"x".to_vec(), Vec::new()),
        ];
        assert_eq!(read, wanted);
    }

    #[test]
    fn what_is_no_such_file_is_an_error_and_no_memory() {
        let long = [b"f".as_slice(), &u64::MAX.to_le_bytes()].concat();
        for bytes in [
            b"x".as_slice(),
            b"f\x05",
            &long,
            b"c\0\0\0\0\0\0\0\0\x09\0\0\0\0\0\0\0a",
        ] {
            assert!(next_brought(&mut &bytes[..], 1 << 20).is_err(), "{bytes:?}");
        }
    }
}

//! Whether a tree has so many files that what git does for each of them counts.

use std::fs::File;
use std::io::{self, Read as _};

/// git looks at fewer in less time than a shell takes to start a program that could say which of them were written.
const MANY: u32 = 1_000;

/// Whether an index, read from its beginning, has many files: the third number of its header counts them
/// (gitformat-index(5)).
///
/// # Errors
/// When it cannot be read.
pub(crate) fn has_many_files(mut index: &File) -> io::Result<bool> {
    let mut header = [0; 12];
    index.read_exact(&mut header)?;
    let [.., a, b, c, d] = header;
    Ok(u32::from_be_bytes([a, b, c, d]) >= MANY)
}

//! Which database a home works with.
//!
//! The home remembers it, so that one which was made anew at the same address is not taken for the old one (`Opening::known`
//! of the store). Other settings name another address: then it is another one because somebody wanted that.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use carson_config::Layout;
use uuid::Uuid;

use crate::id::write_whole;

/// A database, and by which address it was reached, without a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownDatabase {
    /// Which it is.
    pub id: Uuid,
    /// Where.
    pub address: String,
}

fn file(layout: &Layout) -> PathBuf {
    layout.state().join("database")
}

impl KnownDatabase {
    /// The one that a home worked with last.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn of(layout: &Layout) -> io::Result<Option<Self>> {
        let text = match fs::read_to_string(file(layout)) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        // A file that somebody emptied knows nothing.
        Ok(text.split_once(' ').and_then(|(id, address)| {
            Some(Self {
                id: id.parse().ok()?,
                address: address.trim().to_owned(),
            })
        }))
    }

    /// Remembers it.
    ///
    /// # Errors
    /// When the home cannot be written.
    pub fn remember(&self, layout: &Layout) -> io::Result<()> {
        let (id, address) = (self.id, &self.address);
        write_whole(
            &file(layout),
            &format!("{id} {address}\n"),
            |fresh, path| fs::rename(fresh, path),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_remembers_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout::at(dir.path());
        fs::create_dir_all(layout.state()).unwrap();
        assert_eq!(KnownDatabase::of(&layout).unwrap(), None);
        for address in ["postgres://me@one/fleet", "postgres://me@other/fleet"] {
            let known = KnownDatabase {
                id: Uuid::now_v7(),
                address: address.to_owned(),
            };
            known.remember(&layout).unwrap();
            assert_eq!(KnownDatabase::of(&layout).unwrap(), Some(known));
        }
        fs::write(file(&layout), "").unwrap();
        assert_eq!(KnownDatabase::of(&layout).unwrap(), None);
    }
}

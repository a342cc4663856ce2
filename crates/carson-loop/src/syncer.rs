//! Sees to it that files are on the disk while something else goes on: a disk takes as long for that as a
//! small program runs.

use std::fs::File;
use std::io;
use std::thread::JoinHandle;

/// At most one such writing at a time.
#[derive(Debug, Default)]
pub struct Syncer(Option<JoinHandle<io::Result<()>>>);

impl Syncer {
    /// Begins with these files, in this order, once those before are done.
    ///
    /// # Errors
    /// What became of those before.
    pub fn begin(&mut self, files: Vec<File>) -> io::Result<()> {
        self.end()?;
        let all = move || files.iter().try_for_each(File::sync_data);
        self.0 = Some(std::thread::Builder::new().spawn(all)?);
        Ok(())
    }

    /// Waits for those that were begun.
    ///
    /// # Errors
    /// What became of them.
    pub fn end(&mut self) -> io::Result<()> {
        let Some(begun) = self.0.take() else {
            return Ok(());
        };
        begun
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the writer died")))
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

//! A terminal that a verb writes to, as a person would have it before them.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use nix::pty::{Winsize, openpty};

use crate::until;

/// A verb whose answer, and what it says beside it, come to a terminal of 120 columns.
pub struct Screen {
    child: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Screen {
    /// Starts it there.
    #[must_use]
    pub fn of(mut command: Command) -> Self {
        let size = Winsize {
            ws_row: 40,
            ws_col: 120,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let terminal = openpty(Some(&size), None).unwrap();
        let other = terminal.slave.try_clone().unwrap();
        command.env("TERM", "xterm");
        let child = command.stdout(other).stderr(terminal.slave).spawn();
        // It ends with the last who has it open, and that is to be the verb.
        drop(command);
        let shown = Arc::<Mutex<Vec<u8>>>::default();
        let (to, mut from) = (shown.clone(), File::from(terminal.master));
        let reader = std::thread::spawn(move || {
            let mut some = [0; 4096];
            // Linux says EIO when nobody has it open any more.
            while let Ok(count @ 1..) = from.read(&mut some) {
                to.lock().unwrap().extend_from_slice(&some[..count]);
            }
        });
        Self {
            child: child.unwrap(),
            shown,
            reader,
        }
    }

    /// The verb's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What came until now, with all that steers a terminal.
    #[must_use]
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// Its exit code and all that came, once it has ended.
    ///
    /// # Panics
    /// When it does not end within a minute.
    #[must_use]
    pub fn ended(mut self) -> (Option<i32>, String) {
        let ended = until("the verb to end", || self.child.try_wait().unwrap());
        until("its terminal to be closed", || {
            self.reader.is_finished().then_some(())
        });
        (ended.code(), self.shown())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

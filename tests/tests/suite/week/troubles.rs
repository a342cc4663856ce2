//! What is done to the household, and undone.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

use super::household::{PROMISE, WRONG_PROMISE, edit};
use super::plan::{Fault, Trouble};
use super::world::{AHEAD, World, started};
use crate::soak::processes;

/// Roles that have something to lose when something goes wrong.
const BUSY: [&str; 3] = ["hourly", "steady", "checked"];

impl World {
    fn place(&self, name: &str) -> PathBuf {
        self.fleet.shared().join(name)
    }

    pub(super) fn start(&mut self, fault: &Fault, hour: u64) {
        // There is something to lose; on a full disk nobody could write it down.
        if fault.what != Trouble::FullDisk {
            for role in BUSY {
                self.issue(role, "nothing-special");
            }
        }
        let main = self.place("main.trouble");
        match fault.what {
            Trouble::ProviderAway => {
                fs::write(main, "error sending request: connection refused").unwrap();
            }
            Trouble::RateLimit => {
                let until = self.at(fault.to).format("%-I:%M %p");
                let said = format!("You've hit your usage limit. Try again at {until}.");
                fs::write(main, said).unwrap();
            }
            Trouble::BrokenCli => fs::write(main, "broken").unwrap(),
            Trouble::Reboot => self.reboot(hour),
            Trouble::FullDisk => self.fill(),
            Trouble::WrongPromise => self.promise(PROMISE, WRONG_PROMISE),
            Trouble::SilentForge => {
                let lock = self.lock();
                fs::rename(&lock, lock.with_extension("kept")).unwrap();
                mkfifo(&lock, Mode::S_IRWXU).unwrap();
            }
        }
    }

    pub(super) fn end(&mut self, fault: &Fault) {
        match fault.what {
            Trouble::ProviderAway | Trouble::RateLimit | Trouble::BrokenCli => {
                fs::remove_file(self.place("main.trouble")).unwrap();
            }
            Trouble::Reboot => self.daemon = Some(started(&self.fleet)),
            Trouble::FullDisk => {
                fs::remove_file(self.filled()).unwrap();
                self.look();
            }
            Trouble::WrongPromise => self.promise(WRONG_PROMISE, PROMISE),
            Trouble::SilentForge => {
                let lock = self.lock();
                fs::rename(lock.with_extension("kept"), &lock).unwrap();
            }
        }
    }

    /// The hour's firings are killed with half of their work committed, and the daemon with them.
    fn reboot(&mut self, hour: u64) {
        fs::write(self.place("slow"), "").unwrap();
        self.ready.insert(hour, self.work());
        self.clock.set(self.at(hour) - AHEAD);
        self.look();
        for role in BUSY {
            until("a session in the middle of its work", || {
                let reached = self.place(&format!("reached.{role}"));
                reached.exists().then_some(())
            });
        }
        if let Some(daemon) = self.daemon.take() {
            daemon.killed();
        }
        let firings = processes(&self.fleet, "firing run");
        for pid in firings.into_iter().chain(self.fleet.descendants()) {
            // It may have ended with its supervisor.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        fs::remove_file(self.place("slow")).unwrap();
    }

    fn promise(&self, from: &str, to: &str) {
        let role = self.fleet.home().join("roles/checked/role.toml");
        edit(&role, &format!("{from:?}"), &format!("{to:?}"));
    }

    fn lock(&self) -> PathBuf {
        self.fleet.home().join("forge/widget/.lock")
    }

    fn filled(&self) -> PathBuf {
        self.fleet.root().join("filled")
    }

    fn fill(&self) {
        let mut file = File::create(self.filled()).unwrap();
        let bytes = vec![1; 1 << 16];
        while file.write_all(&bytes).is_ok() {}
    }
}

//! The sign-in of a session: a copy of its own of what the CLI signs in with.
//!
//! The operator's directory (`~/.claude`) is granted to nobody. Before each session a directory is
//! made in its bench, with the account's credentials and the few settings of the engine's table in
//! it; what an earlier session left there is moved out of reach first. While the session runs, and
//! once more when it has ended, both are kept in step: a renewal by the session goes back, if it
//! has the form of one ([`Credential::renewed`]), and a newer one of the operator's, or of another
//! firing's, comes in. A refresh token often holds once only, so waiting until the end would sign
//! out whoever runs beside.
//!
//! Of what a session wrote only this is read by the firing itself: one plain file of at most 64 KiB
//! per credential, from which texts are taken that have the form of a token.

mod lent;

use std::convert::Infallible;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_config::{Account, Role};
use carson_core::Event;
use carson_engine::sign_in::{Credential, SignIn};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use secrecy::SecretString;
use tracing::{info, warn};

use self::lent::LentDir;
use crate::bench::Bench;
use crate::private_dir::private_dir;

use crate::ground::Ground;
use carson_home::lent_dirs::operators;
use carson_home::{FiringRef, Home};

/// The largest file of credentials.
const MOST_CREDENTIALS: u64 = 64 * 1024;
/// The largest file of settings.
const MOST_SETTINGS: u64 = 4 * 1024 * 1024;
/// How often both are compared while a session runs.
const COMPARED_EVERY: Duration = Duration::from_secs(2);
/// How often a session may renew its sign-in: no token is that short-lived.
const MOST_RENEWALS: u32 = 16;
/// How often the lock is asked for at the end, and how long between.
const LOCK_TRIES: u32 = 40;
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// The settings that go into the copies of those directories, as texts.
pub fn settings(home: &Home, account: &Account, role: &Role) -> Vec<String> {
    let ground = Ground::of(home);
    let mut texts = Vec::new();
    for (known, dir) in operators(account, role) {
        for settings in known.settings {
            let path = ground.lead(&dir.join(settings.file));
            // One that cannot be read is said when it is copied.
            let text = path.and_then(|path| lent::operators(&path, MOST_SETTINGS).ok());
            let given = text.flatten().and_then(|text| settings.given(&text));
            texts.extend(given.map(|text| String::from_utf8_lossy(&text).into_owned()));
        }
    }
    texts
}

/// What is lent to one session.
pub struct Lent {
    places: Vec<Place>,
    /// Who writes to the operator's file holds it.
    lock: PathBuf,
    renewals: u32,
}

struct Place {
    sign_in: &'static SignIn,
    operators: PathBuf,
    /// Where a link in it may lead: a session may have put it there, where the directory lies in a place
    /// that sessions write.
    ground: Ground,
    dir: LentDir,
}

/// What became of one file of credentials.
enum Step {
    /// Both say the same, or nothing is there.
    Same,
    /// The session's went back.
    Renewed,
    /// Another firing writes just now.
    Busy,
    /// What the session left is none.
    Refused(String),
}

impl Lent {
    /// Makes a session's own directories, and copies in what it signs in with.
    ///
    /// # Errors
    /// What the file system says.
    pub fn lend(home: &Home, account: &Account, role: &Role, bench: &Bench) -> io::Result<Self> {
        let below = bench.sign_in();
        move_away(&below, &bench.old_sign_ins())?;
        private_dir(&below)?;
        let mut places = Vec::new();
        for (sign_in, operators) in operators(account, role) {
            let dir = LentDir::make(&below.join(sign_in.variable))?;
            let place = Place {
                sign_in,
                operators,
                ground: Ground::of(home),
                dir,
            };
            place.fill(home)?;
            places.push(place);
        }
        Ok(Self {
            places,
            lock: home.fleet.layout.sign_in_lock(),
            renewals: 0,
        })
    }

    /// Keeps both in step for as long as it is polled.
    pub async fn keep_in_step(&mut self, firing: &FiringRef<'_>) -> Infallible {
        loop {
            tokio::time::sleep(COMPARED_EVERY).await;
            // What is refused now is told at the end, once.
            let _ = self.compare(firing).await;
        }
    }

    /// Brings back what was renewed, and takes the credentials away.
    pub async fn take_back(mut self, firing: &FiringRef<'_>) {
        let mut tries = 0;
        let refused = loop {
            let (busy, refused) = self.compare(firing).await;
            tries += 1;
            if !busy || tries > LOCK_TRIES {
                break refused;
            }
            tokio::time::sleep(LOCK_WAIT).await;
        };
        for (variable, file, why) in refused {
            warn!(firing.id = %firing.id, %variable, %file, %why, "what a session left as its sign-in was not taken");
            let event = Event::SignInRefused {
                variable,
                file,
                why,
            };
            firing.event(&event).await;
        }
        for place in &self.places {
            let credentials = place.sign_in.credentials.iter();
            credentials.for_each(|credential| place.dir.remove(credential.file));
        }
    }

    /// Compares every file once; whether the lock was taken, and what was refused.
    async fn compare(
        &mut self,
        firing: &FiringRef<'_>,
    ) -> (bool, Vec<(&'static str, &'static str, String)>) {
        let (mut busy, mut refused) = (false, Vec::new());
        for place in &self.places {
            for credential in place.sign_in.credentials {
                let may_renew = self.renewals < MOST_RENEWALS;
                let (variable, file) = (place.sign_in.variable, credential.file);
                match place.step(firing.home, credential, &self.lock, may_renew) {
                    Step::Same => {}
                    Step::Busy => busy = true,
                    Step::Refused(why) => refused.push((variable, file, why)),
                    Step::Renewed => {
                        self.renewals += 1;
                        info!(firing.id = %firing.id, %variable, "a session renewed its sign-in");
                        let event = Event::SignInRenewed { variable, file };
                        firing.event(&event).await;
                    }
                }
            }
        }
        (busy, refused)
    }
}

impl Place {
    /// Copies in what the table names. What is not there, or not what it should be, stays out: the
    /// CLI then says that nobody is signed in.
    fn fill(&self, home: &Home) -> io::Result<()> {
        for settings in self.sign_in.settings {
            let given = self.operators(settings.file, MOST_SETTINGS);
            if let Some(given) = given.and_then(|text| settings.given(&text)) {
                self.dir.write(settings.file, &given)?;
            }
        }
        for credential in self.sign_in.credentials {
            let given = self.operators(credential.file, MOST_CREDENTIALS);
            if let Some(given) = given.and_then(|text| credential.given(&text)) {
                learn(home, credential, &given);
                self.dir.write(credential.file, &given)?;
            }
        }
        Ok(())
    }

    fn operators(&self, file: &str, most: u64) -> Option<Vec<u8>> {
        let path = self.ground.lead(&self.operators.join(file))?;
        lent::operators(&path, most).unwrap_or_else(|error| {
            warn!(path = %path.display(), %error, "a file of the sign-in cannot be read");
            None
        })
    }

    fn step(&self, home: &Home, credential: &Credential, lock: &Path, may_renew: bool) -> Step {
        let left = match self.dir.read(credential.file, MOST_CREDENTIALS) {
            Ok(Some(left)) => left,
            Ok(None) => return Step::Same,
            Err(error) => return Step::Refused(error.to_string()),
        };
        let Some(kept) = self.operators(credential.file, MOST_CREDENTIALS) else {
            return Step::Same;
        };
        match credential.renewed(&kept, &left, home.clock.now()) {
            Err(why) => Step::Refused(why.to_string()),
            Ok(Some(_)) if !may_renew => Step::Refused("it was renewed too often".into()),
            Ok(Some(_)) => {
                learn(home, credential, &left);
                self.bring_back(home, credential, lock, &left)
            }
            Ok(None) if credential.is_newer(&kept, &left) => self.bring_in(home, credential, &kept),
            Ok(None) => Step::Same,
        }
    }

    /// With the lock, and with what the operator's file says now: two firings that renewed at the
    /// same time end with the newer one.
    fn bring_back(&self, home: &Home, credential: &Credential, lock: &Path, left: &[u8]) -> Step {
        let held = match locked(lock) {
            Ok(Some(held)) => held,
            Ok(None) => return Step::Busy,
            Err(error) => return Step::Refused(format!("{}: {error}", lock.display())),
        };
        let Some(kept) = self.operators(credential.file, MOST_CREDENTIALS) else {
            return Step::Same;
        };
        let Some(path) = self.ground.lead(&self.operators.join(credential.file)) else {
            return Step::Same;
        };
        let step = match credential.renewed(&kept, left, home.clock.now()) {
            Ok(Some(new)) => match lent::replace(&path, &new) {
                Ok(()) => Step::Renewed,
                Err(error) => Step::Refused(format!("{}: {error}", path.display())),
            },
            Ok(None) => Step::Same,
            Err(why) => Step::Refused(why.to_string()),
        };
        drop(held);
        step
    }

    /// The operator, or another firing, renewed it: what the session has may hold no longer.
    fn bring_in(&self, home: &Home, credential: &Credential, kept: &[u8]) -> Step {
        learn(home, credential, kept);
        if let Some(given) = credential.given(kept)
            && let Err(error) = self.dir.write(credential.file, &given)
        {
            warn!(variable = %self.sign_in, %error, "a newer sign-in could not be lent");
        }
        Step::Same
    }
}

/// Keeps tokens out of everything that is written from here on.
fn learn(home: &Home, credential: &Credential, text: &[u8]) {
    let tokens = credential.tokens(text).into_iter();
    home.redactor.learn(tokens.map(SecretString::from));
}

/// The lock, if nobody has it.
fn locked(path: &Path) -> io::Result<Option<Flock<fs::File>>> {
    use std::os::unix::fs::OpenOptionsExt;
    let file = fs::OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(held) => Ok(Some(held)),
        Err((_, Errno::EAGAIN | Errno::EINTR)) => Ok(None),
        Err((_, error)) => Err(error.into()),
    }
}

/// Moves what an earlier session left out of the next one's reach; it goes with the bench.
fn move_away(left: &Path, to: &Path) -> io::Result<()> {
    if left.symlink_metadata().is_err() {
        return Ok(());
    }
    private_dir(to)?;
    let taken = fs::read_dir(to)?.count();
    fs::rename(left, to.join(taken.to_string()))
}

#[cfg(test)]
mod tests;

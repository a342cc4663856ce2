//! Who kills: by a seed, at random, and at most one whole host at a time.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use chrono::Utc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::database::Database;
use super::host::Host;
use super::processes;
use super::site::Site;
use crate::interrupt::Interrupt;
use crate::simulate::random::Random;

/// Between two looks at what is due.
const LOOK: Duration = Duration::from_millis(100);
/// How often something else is tried where there is nothing to hit.
const TRIES: u32 = 20;
/// Between two new pieces of work.
const WORK: Duration = Duration::from_secs(2);

/// What was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    Daemon,
    Firing,
    Host,
    Freeze,
    Connections,
}

/// Something that was done to the fleet. Times are seconds since 1970.
#[derive(Debug)]
pub struct Hit {
    pub what: What,
    pub at: f64,
    /// When its host was to be back.
    pub until: f64,
    pub host: Option<&'static str>,
    /// The firings that it concerned.
    pub firings: Vec<String>,
    /// How many connections it ended.
    pub connections: u64,
}

/// Now, in seconds since 1970.
pub fn now() -> f64 {
    Utc::now().timestamp_micros() as f64 / 1e6
}

pub struct Killer<'s> {
    site: &'s Site,
    database: &'s Database,
    pub hosts: Vec<Host>,
    random: Random,
    began: Instant,
    pub hits: Vec<Hit>,
    /// A command that makes a piece of work.
    making: Option<Child>,
}

impl<'s> Killer<'s> {
    pub fn new(site: &'s Site, database: &'s Database, hosts: Vec<Host>, seed: u64) -> Self {
        Self {
            site,
            database,
            hosts,
            random: Random::new(seed),
            began: Instant::now(),
            hits: Vec::new(),
            making: None,
        }
    }

    /// Kills for so long, and gives the fleet work.
    pub fn torment(&mut self, interrupt: &Interrupt, time: Duration) -> anyhow::Result<()> {
        let began = Instant::now();
        let (mut next, mut work) = (Duration::from_secs(5), Duration::ZERO);
        while began.elapsed() < time {
            self.look(interrupt)?;
            if began.elapsed() >= next {
                self.hit()?;
                next = began.elapsed() + self.seconds(3.0, 8.0);
            }
            if began.elapsed() >= work && self.is_idle()? {
                let mut issue = self.site.issue();
                issue.stdout(Stdio::null()).stderr(Stdio::null());
                self.making = Some(issue.spawn()?);
                work = began.elapsed() + WORK;
            }
        }
        Ok(())
    }

    /// Brings every host back, and leaves the fleet alone for so long.
    pub fn rest(
        &mut self,
        interrupt: &Interrupt,
        time: Duration,
        patience: Duration,
    ) -> anyhow::Result<()> {
        for host in &mut self.hosts {
            host.hurry(self.site)?;
        }
        let began = Instant::now();
        while !self.hosts.iter().all(Host::has_started) {
            anyhow::ensure!(began.elapsed() < patience, "not every host comes back");
            self.look(interrupt)?;
        }
        let began = Instant::now();
        while began.elapsed() < time || !self.is_idle()? {
            self.look(interrupt)?;
        }
        Ok(())
    }

    fn look(&mut self, interrupt: &Interrupt) -> anyhow::Result<()> {
        interrupt.check()?;
        for host in &mut self.hosts {
            host.tick(self.site)?;
        }
        thread::sleep(LOOK);
        Ok(())
    }

    fn is_idle(&mut self) -> anyhow::Result<bool> {
        let making = self.making.as_mut();
        Ok(making
            .map(Child::try_wait)
            .transpose()?
            .is_none_or(|end| end.is_some()))
    }

    /// Hits something; what is not there just now gives way to something else.
    fn hit(&mut self) -> anyhow::Result<()> {
        for _ in 0..TRIES {
            let hit = match self.random.unit() {
                part if part < 0.22 => self.hit_daemon()?,
                part if part < 0.50 => self.hit_firing(),
                part if part < 0.68 => self.hit_host(What::Host)?,
                part if part < 0.84 => self.hit_host(What::Freeze)?,
                _ => self.hit_connections()?,
            };
            if hit {
                return Ok(());
            }
        }
        Ok(())
    }

    fn hit_daemon(&mut self) -> anyhow::Result<bool> {
        let (which, back) = (self.any(self.hosts.len()), self.seconds(2.0, 8.0));
        let host = &mut self.hosts[which];
        if !host.is_up() {
            return Ok(false);
        }
        let name = host.name;
        host.kill_daemon(back)?;
        self.note(What::Daemon, Some(name), Vec::new(), back);
        Ok(true)
    }

    fn hit_firing(&mut self) -> bool {
        let found = processes::firings(self.site.root());
        let which = self.any(found.len());
        let Some((pid, id)) = found.get(which) else {
            return false;
        };
        let is_hit = kill(Pid::from_raw(*pid), Signal::SIGKILL).is_ok();
        if is_hit {
            self.note(What::Firing, None, vec![id.clone()], Duration::ZERO);
        }
        is_hit
    }

    fn hit_host(&mut self, what: What) -> anyhow::Result<bool> {
        let which = self.any(self.hosts.len());
        let back = match what {
            What::Freeze => self.seconds(20.0, 40.0),
            _ => self.seconds(15.0, 40.0),
        };
        if !self.hosts.iter().all(Host::is_up) {
            return Ok(false);
        }
        let name = self.hosts[which].name;
        let at = self.hits.len();
        // Noted before: a big host takes a moment to end.
        self.note(what, Some(name), Vec::new(), back);
        let host = &mut self.hosts[which];
        match what {
            What::Freeze => host.freeze(back),
            _ => host.die(back)?,
        }
        self.hits[at].firings = self.database.live_on(name)?;
        Ok(true)
    }

    fn hit_connections(&mut self) -> anyhow::Result<bool> {
        let some = match self.random.unit() {
            part if part < 0.4 => None,
            part if part < 0.7 => Some(1),
            _ => Some(4),
        };
        let cut = self.database.cut(some)?;
        self.note(What::Connections, None, Vec::new(), Duration::ZERO);
        if let Some(hit) = self.hits.last_mut() {
            hit.connections = cut;
        }
        Ok(true)
    }

    fn note(
        &mut self,
        what: What,
        host: Option<&'static str>,
        firings: Vec<String>,
        back: Duration,
    ) {
        let at = now();
        let on = host.unwrap_or_default();
        let (after, firings_hit) = (self.began.elapsed().as_secs(), firings.join(" "));
        println!("bench: {after} s: {what:?} {on} {firings_hit}");
        self.hits.push(Hit {
            what,
            at,
            until: at + back.as_secs_f64(),
            host,
            firings,
            connections: 0,
        });
    }

    fn any(&mut self, of: usize) -> usize {
        ((self.random.unit() * of as f64) as usize).min(of.saturating_sub(1))
    }

    fn seconds(&mut self, least: f64, most: f64) -> Duration {
        Duration::from_secs_f64(least + self.random.unit() * (most - least))
    }
}

impl Drop for Killer<'_> {
    fn drop(&mut self) {
        if let Some(making) = &mut self.making {
            let _ = making.kill();
            let _ = making.wait();
        }
    }
}

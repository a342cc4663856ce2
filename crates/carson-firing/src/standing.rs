//! What keeps the fleet from firing now, and that a person set or ends: read once, for the screen of
//! `carson status` and for what `carson brief` says needs somebody.

use carson_core::text::instant;
use carson_core::{BlockKind, HostName};
use carson_home::{Home, disk_space};
use carson_store::{BlockRow, BreakerRow, FaceRow, PauseRow, PauseScope, PreflightRow, StoreError};
use chrono::{DateTime, TimeDelta, Utc};

use crate::daemons::{Daemon, Life, daemons};
use crate::forge_text::one_line;

/// What is said where nobody fires anything.
pub(crate) const NO_DAEMON: &str = "no daemon runs: nothing fires (carson daemon)";

/// What is said of a database that can be read and not written.
pub const READ_ONLY: &str = "the database takes no row (its disk, its file or its server is read-only, as a standby is): \
                             nothing fires";

/// What ends it that a clock is apart.
pub const SET_CLOCK: &str = "set it: timedatectl set-ntp true";

/// The stops of now.
#[derive(Clone, Debug)]
pub struct Standing {
    /// When it was read.
    pub now: DateTime<Utc>,
    /// The daemons that were ever heard of.
    pub hosts: Vec<Daemon>,
    /// Why no firing has room on the disk.
    pub no_room: Option<String>,
    /// Whether the database takes no row.
    pub read_only: bool,
    /// The clocks by which nothing fires, in words.
    pub clocks: Vec<String>,
    /// Pauses, those too that have run out.
    pub pauses: Vec<PauseRow>,
    /// Blocks that stand.
    pub blocks: Vec<BlockRow>,
    /// Breakers that ever moved.
    pub breakers: Vec<BreakerRow>,
    /// What running daemons serve or listen to, and cannot.
    pub faces: Vec<FaceRow>,
    /// Preflights of the fleet's roles that go on failing.
    pub preflights: Vec<PreflightRow>,
}

impl Standing {
    /// Reads them.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn now(home: &Home) -> Result<Self, StoreError> {
        let now = home.clock.now();
        let mut blocks = home.store.block_rows().await?;
        blocks.retain(|row| row.until.is_none_or(|until| now < until));
        let hosts = daemons(home, now).await?;
        let mut faces = home.store.faces().await?;
        // What a daemon noted that has ended since is not so any more.
        faces.retain(|face| runs(&hosts).any(|host| host.row.name == face.host));
        let mut preflights = home.store.preflights().await?;
        let fires = |row: &PreflightRow| {
            let mut roles = home.fleet.roles.values();
            roles.any(|role| role.enabled && role.name.as_str() == row.role)
        };
        preflights.retain(fires);
        let own = home.store.clock_apart(now).await?;
        Ok(Self {
            now,
            read_only: home.store.is_read_only().await?,
            clocks: clocks(&home.fleet.host, own, &hosts),
            hosts,
            faces,
            no_room: disk_space::check(&home.fleet).err(),
            pauses: home.store.pauses().await?,
            blocks,
            breakers: home.store.breakers().await?,
            preflights,
        })
    }

    /// What of it needs a person, and what they type. What ends by itself, such as a provider's limit, does
    /// not.
    pub(crate) fn for_people(&self) -> Vec<String> {
        let mut lines = self.unwell();
        let stands = |row: &&PauseRow| row.until.is_none_or(|until| self.now < until);
        lines.extend(self.pauses.iter().filter(stands).map(pause));
        lines.extend(self.blocks.iter().filter_map(block));
        lines
    }

    /// What is wrong with the fleet itself, whatever anybody wanted: daemons, room, breakers, preflights, faces.
    #[must_use]
    pub fn unwell(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let silent = self.hosts.iter().filter(|host| host.life != Life::Runs);
        match runs(&self.hosts).next() {
            None => lines.push(NO_DAEMON.to_owned()),
            Some(_) => lines.extend(silent.map(|host| {
                let (name, at) = (&host.row.name, instant(host.row.beat_at));
                format!("nothing was heard of the daemon on {name} since {at}")
            })),
        }
        lines.extend(self.no_room.iter().map(|why| format!("no room: {why}")));
        lines.extend(self.read_only.then(|| READ_ONLY.to_owned()));
        lines.extend(self.clocks.iter().cloned());
        for row in self.breakers.iter().filter(|row| row.breaker.is_open()) {
            let role = &row.role;
            lines.push(format!(
                "the breaker of {role} is open (carson breaker reset {role})"
            ));
        }
        lines.extend(self.failing());
        lines.extend(self.faces.iter().map(shut));
        lines
    }

    /// The checks that keep roles from firing, each with all of these: of those that were told.
    fn failing(&self) -> Vec<String> {
        let mut causes: Vec<(&PreflightRow, Vec<&str>)> = Vec::new();
        for row in &self.preflights {
            let same = |one: &PreflightRow| (&one.host, &one.failed) == (&row.host, &row.failed);
            // Of a cause that several roles have, one is told.
            let mut all = self.preflights.iter();
            let is_told = all.any(|one| same(one) && one.told_at.is_some());
            match causes.iter_mut().find(|(first, _)| same(first)) {
                Some((_, roles)) => roles.push(&row.role),
                None if is_told => causes.push((row, vec![&row.role])),
                None => {}
            }
        }
        let told = causes.into_iter().map(|(row, roles)| {
            let (roles, host, since) = (roles.join(", "), &row.host, instant(row.since));
            let (check, why) = (&row.failed, one_line(&row.why));
            format!("nothing of {roles} fires on {host} since {since}: {check}: {why}")
        });
        told.collect()
    }
}

/// What is said of this machine's clock, which is so far ahead of the database's.
#[must_use]
pub fn clock_apart(ahead: TimeDelta) -> String {
    let off = carson_store::off(ahead);
    format!("the clock of this machine is {off} the database's: nothing fires here; {SET_CLOCK}")
}

/// The clocks that are too far from the database's: that of this machine as it is now, and those of the others as their
/// daemons said.
fn clocks(me: &HostName, own: Option<TimeDelta>, hosts: &[Daemon]) -> Vec<String> {
    let own = own.map(clock_apart);
    let others = hosts.iter().filter(|host| host.row.name != me.as_str());
    let others = others.filter_map(|host| {
        let (off, name) = (carson_store::off(host.apart()?), &host.row.name);
        Some(format!(
            "the clock of {name} is {off} the database's: nothing fires there; {SET_CLOCK}"
        ))
    });
    own.into_iter().chain(others).collect()
}

fn runs(hosts: &[Daemon]) -> impl Iterator<Item = &Daemon> {
    hosts.iter().filter(|host| host.life == Life::Runs)
}

/// A face that is shut, and since when.
#[must_use]
pub fn shut(row: &FaceRow) -> String {
    let is = match row.name.as_str() {
        "chat" => "nobody is listened to in the chat".to_owned(),
        "page" => "the page is not served".to_owned(),
        "metrics" => "the metrics are not served".to_owned(),
        name => format!("{} is not served", name.to_uppercase()),
    };
    let (host, since) = (&row.host, instant(row.since));
    format!("{is} by {host} since {since}: {}", one_line(&row.why))
}

/// What a person types to end a pause.
#[must_use]
pub fn resume(scope: &PauseScope) -> String {
    match scope {
        PauseScope::Fleet => "carson resume".to_owned(),
        PauseScope::Role(name) => format!("carson resume --role {name}"),
        PauseScope::Repo(name) => format!("carson resume --repo {name}"),
        PauseScope::Account(name) => format!("carson resume --account {name}"),
    }
}

fn pause(row: &PauseRow) -> String {
    let until = row.until.map(|until| format!(" until {}", instant(until)));
    format!(
        "{} is paused{}: {} ({})",
        match &row.scope {
            PauseScope::Fleet => "the fleet".to_owned(),
            scope => scope.to_string(),
        },
        until.unwrap_or_default(),
        one_line(&row.reason),
        resume(&row.scope)
    )
}

/// A block that somebody has to do something about: sign in, pay, or lift it.
fn block(row: &BlockRow) -> Option<String> {
    let by_a_person = matches!(
        row.kind,
        Some(BlockKind::Auth | BlockKind::Billing | BlockKind::Operator)
    );
    let account = &row.account;
    (row.until.is_none() || by_a_person).then(|| {
        let why = one_line(&row.reason);
        format!("account {account} is blocked: {why} (carson block clear {account})")
    })
}

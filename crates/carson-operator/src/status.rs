//! The fleet on one screen.

use std::collections::BTreeMap;

use carson_config::{Fleet, Role};
use carson_core::admission::UsageWindow;
use carson_core::text::ago;
use carson_core::{FiringId, HostName, RoleName};
use carson_firing::{admit, recover};
use carson_home::{Home, disk_space};
use carson_store::{
    BlockRow, BreakerRow, Firing, JobRow, Owed, PauseRow, PreflightRow, Stuck, Waiting,
};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::daemons::{Daemon, daemons};
use crate::firings::state;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// How is the fleet?
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Status {}

/// Everything that the screen shows, read at one time.
#[derive(Debug, Serialize)]
pub struct Seen {
    /// When it was read.
    #[serde(skip)]
    pub now: DateTime<Utc>,
    /// The fleet's name.
    pub fleet: String,
    /// This host.
    pub host: HostName,
    /// The hosts whose daemons were heard of.
    pub hosts: Vec<Daemon>,
    /// The roles.
    pub roles: Vec<RoleLine>,
    /// The firings that run.
    pub running: Vec<Firing>,
    /// Those of them on this host whose process is gone.
    pub dead: Vec<FiringId>,
    /// Pauses, those too that have run out.
    pub pauses: Vec<PauseRow>,
    /// Blocks that stand.
    pub blocks: Vec<BlockRow>,
    /// Breakers that ever moved.
    pub breakers: Vec<BreakerRow>,
    /// Preflights that failed in a row.
    pub preflights: Vec<PreflightRow>,
    /// Posts that wait, for all sinks.
    pub outbox: i64,
    /// The sinks of the settings, and those that something was filed for.
    pub sinks: Vec<SinkLine>,
    /// Why no firing has room on the disk.
    pub no_room: Option<String>,
    /// Money of today.
    pub spent_today: f64,
    /// Usage windows that still say something.
    pub windows: Vec<UsageWindow>,
    /// Housekeeping jobs.
    pub jobs: Vec<JobRow>,
    /// What ended firings still owe the forge.
    pub owed: Vec<Owed>,
    /// Benches whose questions have no answer.
    pub stuck: Vec<Stuck>,
}

/// A role.
#[derive(Debug, Serialize)]
pub struct RoleLine {
    /// Its name.
    pub name: RoleName,
    /// When it fires next, in its zone; `never`.
    pub next: String,
    /// How it went last, and how long that is ago.
    pub last: String,
    /// Bad outcomes in a row.
    pub streak: u32,
}

/// A sink.
#[derive(Debug, Serialize)]
pub struct SinkLine {
    /// Its name.
    pub name: String,
    /// Whether the settings still have it.
    pub in_settings: bool,
    /// Posts that wait for it.
    pub waiting: i64,
    /// Why.
    pub error: Option<String>,
}

impl Ask for Status {
    const NAME: &'static str = "status";
    const WHAT: &'static str = "Show roles, stops and running firings";
    const WHO: Who = Who::Anyone;
    type Answer = Seen;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let (store, fleet) = (&home.store, &home.fleet);
        let now = home.clock.now();
        let roles: Vec<&RoleName> = fleet.roles.keys().collect();
        let newest = store.newest_of(&roles).await?.into_iter();
        let newest: BTreeMap<RoleName, Firing> =
            newest.map(|row| (row.role.clone(), row)).collect();
        let mut blocks = store.block_rows().await?;
        blocks.retain(|row| row.until.is_none_or(|until| now < until));
        let mut windows = store.windows().await?;
        windows.retain(|window| window.stands(now));
        let breakers = store.breakers().await?;
        let waiting = store.waiting_posts().await?;
        let roles = fleet.roles.values().map(|role| RoleLine {
            name: role.name.clone(),
            next: next(role, now).unwrap_or_else(|| "never".to_owned()),
            last: newest
                .get(&role.name)
                .map_or_else(String::new, |row| last(row, now)),
            streak: streak(&breakers, &role.name),
        });
        Ok(Seen {
            now,
            fleet: fleet.name.clone(),
            host: fleet.host.clone(),
            hosts: daemons(home, now).await?,
            roles: roles.collect(),
            running: store.live_firings(None).await?,
            dead: recover::dead(home).await?,
            pauses: store.pauses().await?,
            blocks,
            breakers,
            preflights: store.preflights().await?,
            outbox: waiting.iter().map(|row| row.posts).sum(),
            sinks: sinks(fleet, &waiting),
            no_room: disk_space::check(fleet).err(),
            spent_today: admit::spent_today(home, now).await?,
            windows,
            jobs: store.jobs(None).await?,
            owed: store.owed().await?,
            stuck: store.stuck(&fleet.host).await?,
        })
    }
}

/// When a role fires next, in its own zone.
pub(crate) fn next(role: &Role, now: DateTime<Utc>) -> Option<String> {
    let next = role.cadence.next_after(now).filter(|_| role.enabled)?;
    let local = next.with_timezone(&role.cadence.zone());
    Some(local.format("%Y-%m-%d %H:%M:%S %Z").to_string())
}

fn last(row: &Firing, now: DateTime<Utc>) -> String {
    format!("{} {}", state(row), ago(now - row.claimed_at))
}

fn streak(breakers: &[BreakerRow], role: &RoleName) -> u32 {
    let row = breakers.iter().find(|row| row.role == *role);
    row.map_or(0, |row| row.breaker.streak)
}

fn sinks(fleet: &Fleet, waiting: &[Waiting]) -> Vec<SinkLine> {
    let set: Vec<&str> = fleet.sinks.iter().map(|sink| sink.name()).collect();
    let gone = waiting.iter().map(|row| row.sink.as_str());
    let gone = gone.filter(|name| !set.contains(name));
    let one = |name: &str| {
        let row = waiting.iter().find(|row| row.sink == name);
        SinkLine {
            name: name.to_owned(),
            in_settings: set.contains(&name),
            waiting: row.map_or(0, |row| row.posts),
            error: row.and_then(|row| row.error.clone()),
        }
    };
    set.iter().copied().chain(gone).map(one).collect()
}

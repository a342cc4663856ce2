//! The fleet on one screen.

use std::collections::BTreeMap;

use carson_bench::layers;
use carson_config::{Fleet, Role};
use carson_core::admission::UsageWindow;
use carson_core::stops;
use carson_core::{FiringId, HostName, Outcome, RoleName, SkipKind, Stage};
use carson_firing::standing::Standing;
use carson_firing::{admit, life};
use carson_home::Home;
use carson_store::{
    BlockRow, BreakerRow, FaceRow, Firing, JobRow, Owed, PauseRow, PreflightRow, QuietRow, Stuck,
    Waiting,
};
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::daemons::Daemon;
use crate::firings::state;
use crate::plans;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// The stops of admission that no row of their own tells.
const USED_UP: [&str; 2] = ["budget", "daily-cap"];

/// The stops by which people have enough to read.
const FULL: [SkipKind; 2] = [SkipKind::OPEN_PRS, SkipKind::REVIEW_MINUTES];

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
    /// Those of them on this host whose workspace waits for its repository's setup.
    pub setting_up: Vec<FiringId>,
    /// Pauses, those too that have run out.
    pub pauses: Vec<PauseRow>,
    /// Blocks that stand.
    pub blocks: Vec<BlockRow>,
    /// Breakers that ever moved.
    pub breakers: Vec<BreakerRow>,
    /// Budgets and daily caps that are used up, and full review queues.
    pub role_stops: Vec<RoleStop>,
    /// Preflights that failed in a row.
    pub preflights: Vec<PreflightRow>,
    /// Posts that wait, for all sinks.
    pub outbox: i64,
    /// The sinks of the settings, and those that something was filed for.
    pub sinks: Vec<SinkLine>,
    /// The sinks that are told nothing but alerts and questions now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quiets: Vec<QuietRow>,
    /// Why no firing has room on the disk.
    pub no_room: Option<String>,
    /// Whether the database takes no row: then nothing fires.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// The clocks that are too far from the database's to fire by, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clocks: Vec<String>,
    /// What running daemons serve or listen to, and cannot.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faces: Vec<FaceRow>,
    /// What is wrong with the fleet itself, in words.
    #[serde(skip)]
    pub unwell: Vec<String>,
    /// Money of today.
    pub spent_today: f64,
    /// Whether part of it was priced from tokens.
    pub spent_estimated: bool,
    /// Usage windows that still say something.
    pub windows: Vec<UsageWindow>,
    /// Housekeeping jobs.
    pub jobs: Vec<JobRow>,
    /// What ended firings still owe the forge.
    pub owed: Vec<Owed>,
    /// Benches whose questions have no answer.
    pub stuck: Vec<Stuck>,
    /// What waits for a person's yes or no.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub plans: Vec<plans::Waiting>,
}

/// A role.
#[derive(Debug, Serialize)]
pub struct RoleLine {
    /// Its name.
    pub name: RoleName,
    /// When it fires next, at the earliest; never without.
    pub next: Option<Next>,
    /// The breaker that it waits for.
    pub breaker: Option<Open>,
    /// How it went last.
    pub last: Option<Last>,
    /// Bad outcomes in a row.
    pub streak: u32,
}

/// When a role fires next.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Next {
    /// The instant.
    pub at: DateTime<Utc>,
    /// The same in the role's own zone, for people.
    #[serde(skip)]
    pub shown: String,
}

/// An open breaker.
#[derive(Clone, Debug, Serialize)]
pub struct Open {
    /// When one firing may try again; only a reset closes it without.
    pub until: Option<DateTime<Utc>>,
    /// The bad outcome that opened it.
    pub why: String,
}

/// A role's newest firing.
#[derive(Debug, Serialize)]
pub struct Last {
    /// The firing.
    pub firing: FiringId,
    /// Its outcome; none while it runs.
    pub outcome: Option<Outcome>,
    /// When it was claimed.
    pub at: DateTime<Utc>,
    /// Its outcome or the stage it is in, for people.
    #[serde(skip)]
    pub state: String,
}

/// Why a role does not fire at the moment, where no pause, block or breaker says so.
#[derive(Debug, Serialize)]
pub struct RoleStop {
    /// The role.
    pub role: RoleName,
    /// Which stop.
    pub stop: SkipKind,
    /// What is so.
    pub why: String,
    /// When it is over by itself, if that is known.
    pub until: Option<DateTime<Utc>>,
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
        let stops = Standing::now(home).await?;
        let mut windows = store.windows().await?;
        windows.retain(|window| window.stands(now));
        let waiting = store.waiting_posts().await?;
        let mut quiets = store.quiets().await?;
        quiets.retain(|row| now < row.until);
        let roles = fleet.roles.values().map(|role| {
            let breaker = open_breaker(&stops.breakers, role);
            RoleLine {
                name: role.name.clone(),
                next: next(role, breaker.as_ref(), now),
                last: newest.get(&role.name).map(last),
                streak: streak(&stops.breakers, &role.name),
                breaker,
            }
        });
        let spent = admit::spent_today(home, now).await?;
        let role_stops = role_stops(home, &newest, now).await?;
        let dead = life::dead(home).await?.into_iter();
        let roles = roles.collect();
        let running = store.live_firings(None).await?;
        Ok(Seen {
            now,
            role_stops,
            unwell: stops.unwell(),
            read_only: stops.read_only,
            clocks: stops.clocks,
            faces: stops.faces,
            fleet: fleet.name.clone(),
            host: fleet.host.clone(),
            hosts: stops.hosts,
            roles,
            setting_up: setting_up(home, &running),
            running,
            dead: dead.map(|row| row.id).collect(),
            pauses: stops.pauses,
            blocks: stops.blocks,
            breakers: stops.breakers,
            preflights: stops.preflights,
            outbox: waiting.iter().map(|row| row.posts).sum(),
            sinks: sinks(fleet, &waiting),
            quiets,
            no_room: stops.no_room,
            spent_today: spent.usd,
            spent_estimated: spent.estimated,
            windows,
            jobs: store.jobs(None).await?,
            owed: store.owed().await?,
            stuck: store.stuck(&fleet.host).await?,
            plans: plans::waiting(home).await?,
        })
    }
}

/// When a role fires next: its next slot, or with an open breaker the one that may try again.
pub(crate) fn next(role: &Role, breaker: Option<&Open>, now: DateTime<Utc>) -> Option<Next> {
    let from = match breaker {
        None => now,
        // A slot at that very instant may, too.
        Some(open) => (open.until? - TimeDelta::seconds(1)).max(now),
    };
    let at = role.cadence.next_after(from).filter(|_| role.enabled)?;
    let local = at.with_timezone(&role.cadence.zone());
    let shown = local.format("%Y-%m-%d %H:%M:%S %Z").to_string();
    Some(Next { at, shown })
}

fn last(row: &Firing) -> Last {
    Last {
        firing: row.id,
        outcome: row.outcome,
        at: row.claimed_at,
        state: state(row),
    }
}

/// What has no line of its own on the screen: those that rows of pauses, blocks, breakers and usage
/// windows tell are told there.
async fn role_stops(
    home: &Home,
    newest: &BTreeMap<RoleName, Firing>,
    now: DateTime<Utc>,
) -> Result<Vec<RoleStop>, Refusal> {
    let roles: Vec<&Role> = home.fleet.roles.values().collect();
    let mut all = Vec::new();
    for (role, gate) in roles.iter().zip(admit::gates(home, &roles, now).await?) {
        let used_up = |stop: &stops::Standing| USED_UP.contains(&stop.reason.kind().as_str());
        for standing in stops::standing(&gate, now).filter(used_up) {
            let stop = standing.reason.kind();
            all.extend(standing.causes.into_iter().map(|cause| RoleStop {
                role: role.name.clone(),
                stop,
                why: cause.why,
                until: cause.until,
            }));
        }
        let full = newest.get(&role.name);
        let full = full.and_then(|row| Some((row, row.skip?)));
        let full = full.filter(|(_, skip)| FULL.contains(skip));
        all.extend(full.map(|(row, stop)| RoleStop {
            role: role.name.clone(),
            stop,
            why: row.reason.clone().unwrap_or_default(),
            until: None,
        }));
    }
    Ok(all)
}

fn open_breaker(breakers: &[BreakerRow], role: &Role) -> Option<Open> {
    let row = breakers.iter().find(|row| row.role == role.name)?;
    row.breaker.is_open().then(|| Open {
        until: row.breaker.half_opens_at(role.limits.cooldown),
        why: row.breaker.reason.clone().unwrap_or_default(),
    })
}

fn streak(breakers: &[BreakerRow], role: &RoleName) -> u32 {
    let row = breakers.iter().find(|row| row.role == *role);
    row.map_or(0, |row| row.breaker.streak)
}

/// Of those that make their workspace.
fn setting_up(home: &Home, running: &[Firing]) -> Vec<FiringId> {
    let here = running.iter().filter(|row| row.host == home.fleet.host);
    let makes = here.filter(|row| row.stage == Some(Stage::Workspace));
    let waits = makes.filter(|row| {
        let repo = row.repo.as_ref();
        repo.is_some_and(|repo| layers::is_running(home, repo, row.id))
    });
    waits.map(|row| row.id).collect()
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

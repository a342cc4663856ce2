//! A fresh store of either kind, and short words for what goes into it.

use carson_core::admission::{Gate, SkipReason};
use carson_core::breaker::Thresholds;
use carson_core::{FiringId, HostName, Outcome, RepoName, RoleName};
use carson_store::{Claim, Ending, GateQuery, NewFiring, NewPost, NewSkip, PostKind, Store};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use tempfile::TempDir;
use uuid::Uuid;

use crate::postgres::TestDatabase;

/// A database that goes with the test.
pub(crate) enum Place {
    Sqlite(TempDir),
    Postgres(TestDatabase),
}

impl Place {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn postgres() -> Self {
        Self::Postgres(TestDatabase::new())
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Sqlite(dir) => format!("sqlite:{}/state/carson.db", dir.path().display()),
            Self::Postgres(database) => database.url(),
        }
    }

    /// The store, as one more process would open it.
    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.url()).await.unwrap()
    }
}

/// Makes of each story one test on SQLite and one on PostgreSQL.
macro_rules! on_both {
    ($($story:ident),+ $(,)?) => {$(
        mod $story {
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn sqlite() {
                super::$story(crate::fixture::Place::sqlite()).await;
            }
            #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn postgres() {
                super::$story(crate::fixture::Place::postgres()).await;
            }
        }
    )+};
}
pub(crate) use on_both;

/// Seconds after the time at which every story begins.
pub(crate) fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000 + seconds, 0).unwrap()
}

pub(crate) fn new_firing(role: &str, slot: Option<i64>, claimed: i64) -> NewFiring {
    NewFiring {
        id: FiringId::new(),
        role: role.parse().unwrap(),
        slot: slot.map(at),
        host: "here".parse().unwrap(),
        account: Some("claude".parse().unwrap()),
        deadline_at: at(claimed) + TimeDelta::minutes(45),
        claimed_at: at(claimed),
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    }
}

/// Claims a slot, which must be free.
pub(crate) async fn claimed(store: &Store, role: &str, slot: i64) -> FiringId {
    let new = new_firing(role, Some(slot), slot);
    assert_eq!(store.claim_firing(&new).await.unwrap(), Claim::Won);
    new.id
}

pub(crate) fn too_late(role: &str, slot: i64) -> NewSkip {
    NewSkip {
        role: role.parse().unwrap(),
        slot: at(slot),
        missed: 0,
        reason: SkipReason::too_late(),
    }
}

pub(crate) fn ending(outcome: Outcome, reason: &str, ended: i64) -> Ending {
    Ending {
        outcome,
        reason: reason.to_owned(),
        skip: None,
        at: at(ended),
        thresholds: Some(Thresholds {
            fail_streak: 3,
            max_rejections: 2,
        }),
        posts: Vec::new(),
    }
}

pub(crate) fn post(thread: Option<FiringId>, kind: PostKind, title: &str, filed: i64) -> NewPost {
    NewPost {
        id: Uuid::now_v7(),
        sink: "slack".to_owned(),
        thread,
        kind,
        body: json!({ "title": title }),
        created_at: at(filed),
    }
}

/// What admission reads of one role.
pub(crate) async fn gate(
    store: &Store,
    role: &RoleName,
    repos: &[RepoName],
    host: &HostName,
    day: (DateTime<Utc>, DateTime<Utc>),
) -> Gate {
    let query = GateQuery { role, repos, day };
    let mut gates = store.gates(host, &[query]).await.unwrap();
    gates.pop().unwrap()
}

/// A tool call that was stopped.
pub fn stopped(rule: &str, tool: &str, call: &str) -> carson_store::Stopped {
    carson_store::Stopped {
        rule: rule.into(),
        tool: tool.into(),
        call: call.into(),
    }
}

//! A running firing is told to end.

use carson_core::{FiringId, RoleName};
use carson_firing::life::sight_of;
use carson_home::Home;
use carson_proc::{ProcessId, Sight};
use carson_store::Firing;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::names;
use crate::refusal::Refusal;
use crate::verb::{Ask, Who};

/// Tell a running firing to end: its session is stopped, its work is saved, and it says what became
/// of it.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// The firing: its id, or any part of it that no other has.
    pub firing: String,
}

/// It was told.
#[derive(Debug, Serialize)]
pub struct Stopped {
    /// The firing.
    pub firing: FiringId,
    /// Its role, which may take the work again at its next slot.
    pub role: RoleName,
    /// Its process.
    pub pid: i32,
}

impl Ask for Stop {
    const NAME: &'static str = "stop";
    const WHAT: &'static str = "Stop a running firing; its work is saved";
    const WHO: Who = Who::Operator;
    type Answer = Stopped;

    async fn answer(self, home: &Home) -> Result<Self::Answer, Refusal> {
        let row = names::firing(&home.store, &self.firing).await?;
        let process = running(home, &row).map_err(|why| Refusal::NotRunning { id: row.id, why })?;
        if !process.ask_to_end() {
            let why = "it has just ended".to_owned();
            return Err(Refusal::NotRunning { id: row.id, why });
        }
        Ok(Stopped {
            firing: row.id,
            role: row.role,
            pid: process.pid,
        })
    }
}

/// The process of a firing on this host.
fn running(home: &Home, row: &Firing) -> Result<ProcessId, String> {
    if let Some(outcome) = row.outcome {
        return Err(format!("it has ended: {outcome}"));
    }
    if row.host != home.fleet.host {
        return Err(format!("it runs on {}: ask there", row.host));
    }
    let (Some(pid), Some(start)) = (row.pid, row.pid_start) else {
        return Err("it has not begun yet".to_owned());
    };
    if sight_of(row) == Sight::Hidden {
        return Err("it runs in another namespace of processes: ask there".to_owned());
    }
    let process = ProcessId { pid, start };
    match process.is_alive() {
        true => Ok(process),
        false => Err("its process is gone: `carson prune` saves its work and ends it".to_owned()),
    }
}

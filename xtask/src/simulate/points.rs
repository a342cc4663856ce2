//! What was measured of the parts, which the models are fed with, and of the whole, which they must reproduce.

use std::fmt;

use super::database::Database;
use super::host::{Firing, Host, Time, percentile};

/// CPU time of a firing that finds nothing to do: 41 ms (`cargo xtask bench`, no-work firing, a quiet machine).
pub const LOOK: Time = 41_000;
/// CPU time of a firing with one commit, without its agent: 0.35 s, of which the look is a part (0.30 s of wall time,
/// 0.3 to 0.4 s of CPU; `cargo xtask bench firing`).
pub const WITH_WORK: Time = 350_000;

/// The machine of every measurement.
const MEASURED_ON: usize = 2;

/// A claim of a client that is alone, in microseconds: 1,649 a second.
const CLAIM: u64 = 606;

/// A durable append of 4 KiB took 93 to 105 µs where all was measured (the floor of its disk).
const FLUSH: u64 = 100;

/// A measured point beside what the models say of it.
pub struct Point {
    pub what: &'static str,
    pub unit: &'static str,
    pub measured: f64,
    pub simulated: f64,
    /// Simulated and measured differ by this factor at most.
    pub within: f64,
    pub source: &'static str,
}

impl Point {
    pub fn ratio(&self) -> f64 {
        self.simulated / self.measured
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            unit,
            measured,
            simulated,
            within,
            source,
        } = self;
        let ratio = self.ratio();
        write!(
            f,
            "| {what} | {measured} {unit} | {simulated:.1} {unit} | {ratio:.2} | {within}x | {source} |"
        )
    }
}

/// All of them.
pub fn all() -> Vec<Point> {
    let mut points = herds();
    points.extend(rows());
    points
}

fn herds() -> Vec<Point> {
    vec![Point {
        what: "100 roles due in one second, no work: p99 of due to begun",
        unit: "s",
        measured: 2.1,
        simulated: late(&[(100, 0)], 1_000, 0),
        within: 1.3,
        source: "`cargo xtask bench`, herd together",
    }]
}

/// What a row costs is fitted to one client; 8 and 32 are what the model makes of it.
fn rows() -> Vec<Point> {
    const QUIET: &str = "pgbench, PostgreSQL 15, quiet";
    const BUSY: &str = "`cargo xtask bench scale`, a busy machine";
    [
        ("durable inserts, 1 client (fitted)", 168, 1, 5_959.0, QUIET),
        ("durable inserts, 8 clients", 168, 8, 18_811.0, QUIET),
        ("durable inserts, 32 clients", 168, 32, 24_951.0, QUIET),
        ("bare inserts, 1 client (fitted)", 362, 1, 2_763.0, BUSY),
        ("bare inserts, 8 clients", 362, 8, 8_067.0, BUSY),
        ("bare inserts, 32 clients", 362, 32, 9_061.0, BUSY),
        (
            "Carson's claims, 1 client (fitted)",
            CLAIM,
            1,
            1_649.0,
            BUSY,
        ),
        ("Carson's claims, 8 clients", CLAIM, 8, 3_558.0, BUSY),
        ("Carson's claims, 32 clients", CLAIM, 32, 3_537.0, BUSY),
    ]
    .map(|(what, alone, clients, measured, source)| Point {
        what,
        unit: "a second",
        measured,
        simulated: database(alone).rows_a_second(clients),
        within: 1.35,
        source,
    })
    .into()
}

/// The database of the measurements, which takes so many microseconds for a row of a client that is alone.
fn database(alone: u64) -> Database {
    Database {
        cores: MEASURED_ON,
        statement: alone - FLUSH,
        flush: FLUSH,
    }
}

fn served(herd: &[(usize, Time)], places: usize, session: Time) -> Vec<super::host::Served> {
    let firings: Vec<Firing> = herd
        .iter()
        .flat_map(|(many, rest)| {
            let firing = Firing {
                due: 0,
                look: LOOK,
                rest: *rest,
                session: if *rest > 0 { session } else { 0 },
            };
            std::iter::repeat_n(firing, *many)
        })
        .collect();
    let host = Host {
        cores: MEASURED_ON,
        places,
    };
    host.serve(&firings)
}

/// How late the last percent of a herd is, in seconds.
fn late(herd: &[(usize, Time)], places: usize, session: Time) -> f64 {
    let mut late: Vec<Time> = served(herd, places, session)
        .iter()
        .map(|one| one.late)
        .collect();
    late.sort_unstable();
    seconds(percentile(&late, 99))
}

/// Microseconds as seconds.
pub fn seconds(time: Time) -> f64 {
    f64::from(u32::try_from(time / 1_000).unwrap_or(u32::MAX)) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measured_point_is_reproduced_within_its_factor() {
        for point in all() {
            let ratio = point.ratio();
            assert!(
                ratio <= point.within && ratio >= 1.0 / point.within,
                "{}: measured {}, simulated {} ({ratio:.2})",
                point.what,
                point.measured,
                point.simulated
            );
        }
    }
}

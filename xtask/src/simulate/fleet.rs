//! A fleet of so many roles: what it needs of everything, what bounds it first, and how late its firings begin.

use std::fmt;

use super::host::{Firing, Host, Time, percentile};
use super::points::{LOOK, WITH_WORK, seconds};
use super::random::Random;

pub const ASSUMED: &str = "each role looks once an hour; one look in ten finds work; a session takes 10 minutes, \
    200,000 tokens and 40 requests to the forge; a pull request takes 6 minutes to read; an account has 2,000,000 tokens \
    in five hours and 20,000,000 in a week; a person reads 4 hours a day, and sees to 7 days; a host has 8 cores and \
    32 GB, of which sessions may have 24, and is used to 70 % at most";

/// Assumed, as [`ASSUMED`] says.
const HOUR: f64 = 3_600.0;
const FINDS_WORK: f64 = 0.1;
const SESSION_SECONDS: f64 = 600.0;
const SESSION_TOKENS: f64 = 200_000.0;
const SESSION_REQUESTS: f64 = 40.0;
const FIVE_HOURS_TOKENS: f64 = 2_000_000.0;
const WEEK_TOKENS: f64 = 20_000_000.0;
const READING_MINUTES: f64 = 6.0;
const READER_MINUTES_A_DAY: f64 = 240.0;
const CORES: u32 = 8;
const SESSION_MEMORY_MB: f64 = 24_000.0;

/// How much of the hosts is used: with all of it, what waits would never become less.
const HOST_USED: f64 = 0.7;

/// Requests that a token of GitHub has in an hour, as its documentation says.
const FORGE_REQUESTS: f64 = 5_000.0;
/// A look asks once.
const LOOK_REQUESTS: f64 = 1.0;
/// The larger of what an agent CLI was seen to have (115 to 200 MB).
const CLI_MB: f64 = 200.0;
/// What one database takes of rows and their ends before it is full: Carson's claims by 32 clients, which shared two
/// cores with it.
const CLAIMS_A_SECOND: f64 = 3_537.0;
/// A claim and an outcome.
const ROWS_OF_A_FIRING: f64 = 2.0;

/// What a fleet needs of one thing, in units of it.
struct Need {
    what: &'static str,
    units: f64,
}

pub struct Answer {
    roles: u32,
    firings_a_second: f64,
    needs: [Need; 7],
    hosts: u32,
    spread: (Time, Time),
    together: (Time, Time),
}

impl Answer {
    pub fn of(roles: u32, seed: u64) -> Self {
        let looks = f64::from(roles) / HOUR;
        let works = looks * FINDS_WORK;
        let cpu = looks * seconds(LOOK) + works * seconds(WITH_WORK - LOOK);
        let need = |what, units| Need { what, units };
        let needs = [
            need("cores", cpu / f64::from(CORES)),
            need(
                "CLIs' memory",
                works * SESSION_SECONDS * CLI_MB / SESSION_MEMORY_MB,
            ),
            need(
                "five-hour windows",
                works * 5.0 * HOUR * SESSION_TOKENS / FIVE_HOURS_TOKENS,
            ),
            need(
                "weekly windows",
                works * 168.0 * HOUR * SESSION_TOKENS / WEEK_TOKENS,
            ),
            need(
                "the forge's API",
                (looks * LOOK_REQUESTS + works * SESSION_REQUESTS) * HOUR / FORGE_REQUESTS,
            ),
            need("PostgreSQL", looks * ROWS_OF_A_FIRING / CLAIMS_A_SECOND),
            need(
                "people's reading",
                works * 24.0 * HOUR * READING_MINUTES / READER_MINUTES_A_DAY,
            ),
        ];
        let hosts = whole(f64::max(needs[0].units, needs[1].units) / HOST_USED);
        Self {
            roles,
            firings_a_second: looks,
            hosts,
            spread: lateness(roles, hosts, seed, true),
            together: lateness(roles, hosts, seed, false),
            needs,
        }
    }

    /// Of what it needs the most units.
    fn bound(&self) -> &Need {
        let mut most = &self.needs[0];
        for need in &self.needs {
            if need.units > most.units {
                most = need;
            }
        }
        most
    }

    fn units(&self, index: usize) -> u32 {
        whole(self.needs[index].units)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = self.bound();
        let late = |(p50, p99)| format!("{:.2} s, {:.2} s", seconds(p50), seconds(p99));
        write!(
            f,
            "| {} | {} ({:.2} units) | {} | {} | {} | {} | {} | {:.3} | {} | {} |",
            self.roles,
            bound.what,
            bound.units,
            self.hosts,
            self.units(2).max(self.units(3)),
            self.units(4),
            self.units(5),
            self.units(6),
            self.firings_a_second,
            late(self.spread),
            late(self.together),
        )
    }
}

/// Whole units, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of machines or people, from 1 up"
)]
fn whole(units: f64) -> u32 {
    // What is whole must not be rounded up by what floating point adds to it.
    (units - 1e-6).ceil().max(1.0) as u32
}

/// p50 and p99 of how late the firings of two hours begin, the first of which fills the fleet.
fn lateness(roles: u32, hosts: u32, seed: u64, spread: bool) -> (Time, Time) {
    const AN_HOUR: Time = 3_600_000_000;
    let mut random = Random::new(seed);
    let mut of_hosts: Vec<Vec<Firing>> = (0..hosts).map(|_| Vec::new()).collect();
    let places = of_memory();
    for host in (0..of_hosts.len()).cycle().take(roles as usize) {
        let offset = if spread {
            random.unit() * HOUR * 1e6
        } else {
            0.0
        };
        for hour in 0..2 {
            let works = random.unit() < FINDS_WORK;
            of_hosts[host].push(Firing {
                due: hour * AN_HOUR + micros(offset),
                look: LOOK,
                rest: if works { WITH_WORK - LOOK } else { 0 },
                session: if works {
                    micros(SESSION_SECONDS * 1e6)
                } else {
                    0
                },
            });
        }
    }
    let mut late = Vec::new();
    for mut firings in of_hosts {
        firings.sort_by_key(|firing| firing.due);
        let host = Host {
            cores: CORES as usize,
            places,
        };
        let second_hour = firings.iter().zip(host.serve(&firings));
        late.extend(
            second_hour
                .filter(|(firing, _)| firing.due >= AN_HOUR)
                .map(|(_, served)| served.late),
        );
    }
    late.sort_unstable();
    (percentile(&late, 50), percentile(&late, 99))
}

/// How many sessions fit into a host's memory.
fn of_memory() -> usize {
    whole(SESSION_MEMORY_MB / CLI_MB) as usize
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are whole and positive"
)]
fn micros(time: f64) -> Time {
    time as Time
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_answer() {
        let text = |seed| Answer::of(1_000, seed).to_string();
        assert_eq!(text(1), text(1));
    }

    #[test]
    fn a_herd_is_later_than_roles_that_are_spread() {
        let answer = Answer::of(1_000, 21);
        assert!(answer.together.1 > 5 * answer.spread.1, "{answer}");
    }

    #[test]
    fn ten_times_the_roles_need_ten_times_the_hosts_and_people() {
        let (one, ten) = (Answer::of(10_000, 21), Answer::of(100_000, 21));
        for (one, ten) in one.needs.iter().zip(&ten.needs) {
            assert!((ten.units / one.units - 10.0).abs() < 1e-6, "{}", one.what);
        }
        assert!(ten.hosts > one.hosts);
    }

    #[test]
    fn what_bounds_a_fleet_is_what_it_needs_the_most_of() {
        let answer = Answer::of(1_000, 21);
        let bound = answer.bound();
        assert!(answer.needs.iter().all(|need| need.units <= bound.units));
    }
}

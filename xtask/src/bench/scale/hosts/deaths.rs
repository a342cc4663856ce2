//! How soon a firing of which the process is gone is concluded, and which firings ended badly though nothing hit them.

use std::collections::HashMap;
use std::time::Duration;

use super::killer::{Hit, What};
use super::row::Row;
use super::site::HOSTS;

/// A dead host's firings are to be concluded within so many seconds.
const SOON: f64 = 30.0;
/// A host whose daemon began a shorter while ago judges nobody.
const JUDGES_AFTER: f64 = 20.0;

/// What a firing says that waited for it in vain.
const FORGE_LOCK: &str = "/forge/sample/.lock";

/// How long it took, for the firings of dead hosts, of frozen ones, and those that were killed alone.
#[derive(Debug, Default)]
pub struct Deaths {
    pub of_hosts: Vec<Duration>,
    pub of_frozen: Vec<Duration>,
    pub alone: Vec<Duration>,
    /// Of a host's death and not soon enough, while another host was there to conclude them.
    pub late: Vec<String>,
    /// The same, while the other hosts had lost their daemons, too, or the host that came back was hit again.
    pub unseen: Vec<String>,
}

impl Deaths {
    pub fn read(hits: &[Hit], rows: &[Row]) -> Self {
        let mut deaths = Self::default();
        let known: HashMap<&str, &Row> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
        for hit in hits {
            for row in hit
                .firings
                .iter()
                .filter_map(|id| known.get(id.as_str()).copied())
            {
                deaths.add(hits, hit, row);
            }
        }
        deaths
    }

    fn add(&mut self, hits: &[Hit], hit: &Hit, row: &Row) {
        let Some(ended) = row.ended else { return };
        let took = Duration::from_secs_f64((ended - hit.at).max(0.0));
        match hit.what {
            What::Firing => self.alone.push(took),
            // Who comes back in time goes on.
            What::Freeze if !is_taken_over(row) => return,
            What::Freeze => self.of_frozen.push(took),
            What::Host => self.of_hosts.push(took),
            What::Daemon | What::Connections => return,
        }
        if took.as_secs_f64() > SOON && hit.what != What::Firing {
            let told = format!("after {:.1} s: {}", took.as_secs_f64(), row.named());
            match has_a_judge(hits, hit) && !is_hit_again(hits, hit) {
                true => self.late.push(told),
                false => self.unseen.push(told),
            }
        }
    }
}

fn is_taken_over(row: &Row) -> bool {
    row.carrier
        .as_ref()
        .is_some_and(|carrier| *carrier != row.host)
}

/// Whether another host's daemon ran all the time in which it should have found out.
fn has_a_judge(hits: &[Hit], death: &Hit) -> bool {
    let others = HOSTS.into_iter().filter(|host| Some(*host) != death.host);
    let mut undisturbed = others.filter(|host| {
        !hits.iter().any(|hit| {
            hit.host == Some(host)
                && hit.at < death.at + SOON
                && hit.until + JUDGES_AFTER > death.at
        })
    });
    undisturbed.next().is_some()
}

/// Whether its host was back for a moment: then it seemed to live for as long as a lease lasts.
fn is_hit_again(hits: &[Hit], death: &Hit) -> bool {
    let within = |hit: &&Hit| hit.at > death.at && hit.at < death.at + SOON;
    let mut again = hits.iter().filter(within);
    again.any(|hit| hit.host == death.host)
}

/// Firings that found the folder of the forge locked for too long.
pub fn locked_out(rows: &[Row]) -> usize {
    let rows = rows.iter();
    rows.filter(|row| row.reason.contains(FORGE_LOCK)).count()
}

/// Firings that ended otherwise than they would have in peace, and that no hit explains.
pub fn unexplained(hits: &[Hit], rows: &[Row]) -> Vec<String> {
    let bad = rows.iter().filter(|row| {
        let well = ["OK", "SILENT", "SKIPPED"];
        !well.iter().any(|outcome| row.is(outcome))
    });
    let unexplained = bad.filter(|row| !hits.iter().any(|hit| explains(hit, row)));
    unexplained.map(Row::named).collect()
}

fn explains(hit: &Hit, row: &Row) -> bool {
    // What a dead host left is also what its firings were in the midst of.
    let meanwhile = hit.at > row.claimed - 1.0 && row.ended.is_none_or(|ended| hit.at < ended);
    match hit.what {
        What::Firing => hit.firings.contains(&row.id),
        // A forge of files is locked for as long as somebody writes there, who may be frozen.
        What::Freeze if row.reason.contains(FORGE_LOCK) => {
            hit.until > row.claimed && row.ended.is_none_or(|ended| hit.at < ended)
        }
        What::Host | What::Freeze => meanwhile && hit.host == Some(row.host.as_str()),
        // It had no time to start the process; who concludes such a row takes it first.
        What::Daemon => {
            let began = row.started.is_some_and(|started| started < hit.at);
            meanwhile && !began && hit.host == Some(row.host.as_str())
        }
        What::Connections => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(what: What, host: &'static str, at: f64, until: f64) -> Hit {
        Hit {
            what,
            at,
            until,
            host: Some(host),
            firings: vec!["one".into()],
            connections: 0,
        }
    }

    fn row(ended: f64) -> Row {
        Row {
            id: "one".into(),
            host: "a".into(),
            outcome: Some("CRASHED".into()),
            started: Some(91.0),
            claimed: 90.0,
            ended: Some(ended),
            ..Row::default()
        }
    }

    #[test]
    fn late_is_what_another_host_should_have_concluded() {
        let death = || hit(What::Host, "a", 100.0, 130.0);
        let soon = Deaths::read(&[death()], &[row(120.0)]);
        assert_eq!((soon.of_hosts.len(), soon.late.len()), (1, 0));
        let late = Deaths::read(&[death()], &[row(140.0)]);
        assert_eq!((late.late.len(), late.unseen.len()), (1, 0));
        let again = [death(), hit(What::Freeze, "a", 120.0, 125.0)];
        let rows = [row(140.0)];
        assert_eq!(Deaths::read(&again, &rows).late.len(), 0);
        let others = [
            death(),
            hit(What::Daemon, "b", 101.0, 108.0),
            hit(What::Daemon, "c", 85.0, 90.0),
        ];
        let unseen = Deaths::read(&others, &rows);
        assert_eq!((unseen.late.len(), unseen.unseen.len()), (0, 1));
    }

    #[test]
    fn a_crash_needs_a_reason() {
        let rows = [row(120.0)];
        assert_eq!(
            unexplained(&[hit(What::Host, "a", 100.0, 1.0)], &rows).len(),
            0
        );
        assert_eq!(
            unexplained(&[hit(What::Host, "b", 100.0, 1.0)], &rows).len(),
            1
        );
        assert_eq!(
            unexplained(&[hit(What::Daemon, "a", 100.0, 1.0)], &rows).len(),
            1
        );
        assert_eq!(
            unexplained(&[hit(What::Connections, "a", 100.0, 1.0)], &rows).len(),
            1
        );
        let frozen = [hit(What::Freeze, "b", 80.0, 110.0)];
        assert_eq!(unexplained(&frozen, &rows).len(), 1);
        let locked = Row {
            reason: format!("{FORGE_LOCK}: operation would block"),
            ..row(120.0)
        };
        assert_eq!(unexplained(&frozen, &[locked]).len(), 0);
    }
}

//! A host: cores that firings are served on in the order in which they are due, and places that they keep until
//! their session has ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Microseconds since the beginning.
pub type Time = u64;

#[derive(Clone, Copy, Debug)]
pub struct Host {
    pub cores: usize,
    /// How many firings may live at once.
    pub places: usize,
}

/// A firing that is due.
#[derive(Clone, Copy, Debug)]
pub struct Firing {
    pub due: Time,
    /// CPU time from its start until it has looked whether there is work.
    pub look: Time,
    /// CPU time after that, without its agent's.
    pub rest: Time,
    /// How long its session waits for a provider, which costs no core and keeps its place.
    pub session: Time,
}

/// When a firing had looked, and when it had ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    pub late: Time,
    pub ended: Time,
}

impl Host {
    /// Serves firings that are sorted by when they are due.
    ///
    /// A firing is served whole before its session: a host shares its cores among all, which ends the same work at the
    /// same time and the first of it later. So the last of a herd is as late here as there, the first is not.
    pub fn serve(self, firings: &[Firing]) -> Vec<Served> {
        let mut cores: BinaryHeap<Reverse<Time>> = (0..self.cores).map(|_| Reverse(0)).collect();
        // When each living firing ends.
        let mut places = BinaryHeap::new();
        let mut served = Vec::with_capacity(firings.len());
        for firing in firings {
            let mut begin = firing.due;
            while places.peek().is_some_and(|Reverse(ends)| *ends <= begin) {
                places.pop();
            }
            if places.len() >= self.places
                && let Some(Reverse(free)) = places.pop()
            {
                begin = begin.max(free);
            }
            if let Some(Reverse(free)) = cores.pop() {
                begin = begin.max(free);
            }
            let looked = begin + firing.look;
            let done = looked + firing.rest;
            cores.push(Reverse(done));
            let ended = done + firing.session;
            places.push(Reverse(ended));
            served.push(Served {
                late: looked - firing.due,
                ended,
            });
        }
        served
    }
}

/// The smallest that so many percent do not pass (nearest rank), of what is sorted.
pub fn percentile(sorted: &[Time], percent: usize) -> Time {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn firing(due: Time) -> Firing {
        Firing {
            due,
            look: 10,
            rest: 30,
            session: 100,
        }
    }

    #[test]
    fn alone_a_firing_waits_for_nobody() {
        let host = Host {
            cores: 1,
            places: 1,
        };
        let [served] = host.serve(&[firing(5)])[..] else {
            panic!("not one")
        };
        assert_eq!((served.late, served.ended), (10, 145));
    }

    #[test]
    fn a_core_is_free_during_a_session_and_a_place_is_not() {
        let two = [firing(0), firing(0)];
        let late = |cores, places| Host { cores, places }.serve(&two)[1].late;
        assert_eq!(late(2, 2), 10);
        assert_eq!(late(1, 2), 50);
        assert_eq!(late(2, 1), 150);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let sorted: Vec<Time> = (1..=200).collect();
        assert_eq!(percentile(&sorted, 50), 100);
        assert_eq!(percentile(&sorted, 99), 198);
        assert_eq!(percentile(&[], 99), 0);
    }
}

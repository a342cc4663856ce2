//! A database under clients that write one row after another: cores, and a log that takes all who wait with one
//! write to the disk. Whoever writes the log keeps a core as long as that takes: on the machine where all was measured
//! the disk is emulated by the cores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Copy, Debug)]
pub struct Database {
    pub cores: usize,
    /// CPU time of a statement, client and server together, in microseconds.
    pub statement: u64,
    /// One durable write of the log, in microseconds.
    pub flush: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A core has done a statement.
    Done,
    /// The log has taken so many.
    Flushed(usize),
}

impl Database {
    /// How many rows a second so many clients write.
    pub fn rows_a_second(self, clients: usize) -> f64 {
        const MICROSECONDS: u64 = 2_000_000;
        let mut events = BinaryHeap::new();
        let (mut ready, mut logged) = (clients, 0_usize);
        let (mut busy, mut flushing) = (0, false);
        let (mut now, mut rows_written) = (0_u64, 0_usize);
        while now < MICROSECONDS {
            while ready > 0 && busy < self.cores {
                (ready, busy) = (ready - 1, busy + 1);
                events.push(Reverse((now + self.statement, Event::Done)));
            }
            if logged > 0 && !flushing && busy < self.cores {
                (flushing, busy) = (true, busy + 1);
                events.push(Reverse((now + self.flush, Event::Flushed(logged))));
                logged = 0;
            }
            let Some(Reverse((at, event))) = events.pop() else {
                break;
            };
            now = at;
            match event {
                Event::Done => (busy, logged) = (busy - 1, logged + 1),
                Event::Flushed(rows) => {
                    (flushing, busy) = (false, busy - 1);
                    ready += rows;
                    rows_written += rows;
                }
            }
        }
        f64::from(u32::try_from(rows_written).unwrap_or(u32::MAX)) * 1e6
            / f64::from(u32::try_from(now.max(1)).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_waits_for_the_disk_and_many_for_the_cores() {
        let database = Database {
            cores: 2,
            statement: 100,
            flush: 400,
        };
        let near = |clients, expected: f64| {
            let got = database.rows_a_second(clients);
            assert!((got / expected - 1.0).abs() < 0.05, "{clients}: {got}");
        };
        near(1, 2_000.0);
        near(512, 20_000.0);
        assert!(database.rows_a_second(8) > 3.0 * database.rows_a_second(1));
    }
}

//! What became of each slot that the calendar has.

use std::collections::BTreeMap;

use super::row::Row;
use super::site::Role;

/// A slot that is younger when the daemons are told to end may wait for its row.
const AT_THE_END: i64 = 5;

#[derive(Debug, Default)]
pub struct Slots {
    pub due: u64,
    pub fired: u64,
    pub skipped: BTreeMap<String, u64>,
    /// Slots for which the row of a later one stands, and says so.
    pub coalesced: u64,
    /// Of the last seconds.
    pub open: u64,
    /// Of which nothing says what became of them.
    pub unsaid: Vec<String>,
    /// With more than one row.
    pub twice: Vec<String>,
}

impl Slots {
    /// Counts those between two instants, the first of which is none.
    pub fn count(roles: &[Role], rows: &[Row], from: f64, to: f64) -> Self {
        let mut slots = Self::default();
        for role in roles {
            let mut own: BTreeMap<i64, Vec<&Row>> = BTreeMap::new();
            for row in rows.iter().filter(|row| row.role == role.name) {
                if let Some(slot) = row.slot {
                    own.entry(slot.floor() as i64).or_default().push(row);
                }
            }
            slots.count_role(role, &own, (from.ceil() as i64, to.floor() as i64));
        }
        slots
    }

    fn count_role(&mut self, role: &Role, rows: &BTreeMap<i64, Vec<&Row>>, (from, to): (i64, i64)) {
        let every = i64::from(role.every);
        let first = from.div_euclid(every) * every + every;
        let mut without = Vec::new();
        for slot in (first..=to).step_by(role.every as usize) {
            self.due += 1;
            let Some(found) = rows.get(&slot) else {
                without.push(slot);
                continue;
            };
            if found.len() > 1 {
                let ids: Vec<_> = found.iter().map(|row| row.named()).collect();
                self.twice
                    .push(format!("{} at {slot}: {}", role.name, ids.join("; ")));
            }
            let row = found[0];
            match &row.skip {
                Some(kind) if row.started.is_none() => {
                    *self.skipped.entry(kind.clone()).or_default() += 1;
                }
                _ => self.fired += 1,
            }
            self.stand_for(role, &mut without, row.missed);
        }
        let (open, old): (Vec<i64>, Vec<i64>) = without
            .into_iter()
            .partition(|slot| *slot > to - AT_THE_END.max(every));
        self.open += open.len() as u64;
        let told = old
            .iter()
            .map(|slot| format!("{} at {slot}, and no row after it", role.name));
        self.unsaid.extend(told);
    }

    /// A row stands for as many of those before it as it says.
    fn stand_for(&mut self, role: &Role, without: &mut Vec<i64>, missed: u64) {
        let stands = (without.len() as u64).min(missed);
        self.coalesced += stands;
        let unsaid = without.len() - stands as usize;
        let told = without[..unsaid]
            .iter()
            .map(|slot| format!("{} at {slot}, the next row says {missed} missed", role.name));
        self.unsaid.extend(told);
        without.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(slot: f64, missed: u64, skip: Option<&str>) -> Row {
        Row {
            role: "r".into(),
            slot: Some(slot),
            missed,
            skip: skip.map(str::to_owned),
            ..Row::default()
        }
    }

    #[test]
    fn every_slot_is_fired_skipped_stood_for_open_or_unsaid() {
        let roles = [Role {
            name: "r".into(),
            every: 5,
        }];
        let rows = [
            row(105.0, 0, None),
            row(115.0, 1, Some("overlap")),
            row(130.0, 1, None),
            row(130.000_002, 0, None),
        ];
        let slots = Slots::count(&roles, &rows, 100.2, 136.0);
        assert_eq!((slots.due, slots.fired, slots.coalesced), (7, 2, 2));
        assert_eq!(slots.skipped["overlap"], 1);
        assert_eq!((slots.open, slots.unsaid.len()), (1, 1), "{slots:?}");
        assert!(slots.unsaid[0].contains("120"), "{slots:?}");
        assert_eq!(slots.twice.len(), 1);
    }
}

//! The books: what became of each slot, and whose the lost hours are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;

use super::household::ROLES;
use super::plan::Fault;
use super::world::{World, time};

/// Ends that a session itself brings about, and by which it did what its issue let it do.
const DONE: [&str; 4] = ["OK", "PARTIAL", "BLOCKED", "ALREADY_DONE"];

/// The line of a role.
#[derive(Default)]
struct Line {
    slots: u64,
    ends: BTreeMap<String, u64>,
    /// Hours by the fault that took them.
    lost: BTreeMap<&'static str, u64>,
    by_carson: Vec<String>,
    hours_by_carson: u64,
}

pub(super) struct Books {
    lines: Vec<(&'static str, Line)>,
    /// Faults that happened, and those that cost somebody something.
    happened: BTreeSet<&'static str>,
    felt: BTreeSet<&'static str>,
}

impl Books {
    /// Of so many hours.
    pub(super) fn of(world: &World, rows: &[Value], hours: u64) -> Self {
        let mut books = Self {
            lines: Vec::new(),
            happened: world.faults.iter().map(Fault::name).collect(),
            felt: BTreeSet::new(),
        };
        for role in &ROLES {
            let mut line = Line::default();
            for hour in (0..hours).filter(|hour| role.is_due(*hour)) {
                line.slots += 1;
                let slot = world.at(hour);
                let row = rows
                    .iter()
                    .find(|row| row["role"] == role.name && time(&row["slot"]) == Some(slot));
                let end = row.map_or("none", |row| row["outcome"].as_str().unwrap_or("open"));
                *line.ends.entry(end.to_owned()).or_default() += 1;
                let reason = row.map_or("", |row| row["reason"].as_str().unwrap_or_default());
                let ready = world.ready.get(&hour).into_iter().flatten();
                let mut ready = ready.filter(|work| work.role == role.name);
                // What was tried as often as it may be is given to people by a look, too.
                let found_none = ready.all(|work| reason.contains(&format!("#{} ", work.issue)));
                if DONE.contains(&end) || end == "SILENT" && found_none {
                    continue;
                }
                let stood = world.faults.iter().filter(|fault| fault.covers(hour));
                let mut why = stood.filter(|fault| fault.explains(role.name, row));
                if let Some(fault) = why.next() {
                    *line.lost.entry(fault.name()).or_default() += role.period;
                    books.felt.insert(fault.name());
                } else {
                    line.hours_by_carson += role.period;
                    line.by_carson
                        .push(format!("hour {hour}: {} {end} {reason}", role.name));
                }
            }
            books.lines.push((role.name, line));
        }
        books
    }

    /// The slots that nothing in the world explains.
    pub(super) fn lost_by_carson(&self) -> Vec<String> {
        let all = self.lines.iter().flat_map(|(_, line)| &line.by_carson);
        all.cloned().collect()
    }

    /// Faults that happened and cost nobody an hour: then they have not been played.
    pub(super) fn faults_without_a_trace(&self) -> Vec<String> {
        let unfelt = self.happened.difference(&self.felt);
        unfelt.map(|name| (*name).to_owned()).collect()
    }
}

impl fmt::Display for Books {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends: BTreeSet<&String> = self
            .lines
            .iter()
            .flat_map(|(_, line)| line.ends.keys())
            .collect();
        write!(f, "{:<8} {:>5}", "role", "slots")?;
        for end in &ends {
            write!(f, " {end:>width$}", width = end.len().max(4))?;
        }
        write!(f, " | hours lost:")?;
        for name in &self.happened {
            write!(f, " {name:>8}")?;
        }
        writeln!(f, " by Carson")?;
        for (role, line) in &self.lines {
            write!(f, "{role:<8} {:>5}", line.slots)?;
            for end in &ends {
                let count = line.ends.get(*end).copied().unwrap_or_default();
                write!(f, " {count:>width$}", width = end.len().max(4))?;
            }
            write!(f, " |            ")?;
            for name in &self.happened {
                write!(
                    f,
                    " {:>8}",
                    line.lost.get(name).copied().unwrap_or_default()
                )?;
            }
            writeln!(f, " {:>9}", line.hours_by_carson)?;
        }
        Ok(())
    }
}

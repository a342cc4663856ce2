//! Three hosts of one fleet for some minutes, while daemons, firings, whole hosts and connections are killed at random.
//! What must hold is held: whatever is lost, doubled or unsaid makes the command fail, with what and where.

mod database;
mod deaths;
mod host;
mod killer;
mod processes;
mod row;
mod site;
mod slots;
mod works;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::Value;

use super::super::sample::Sample;
use super::super::{Figure, output};
use super::Measured;
use crate::interrupt::Interrupt;
use crate::postgres::Postgres;
use database::{Database, EVENTS, FIRINGS, OPEN};
use deaths::Deaths;
use host::Host;
use killer::{Hit, Killer, What, now};
use row::Row;
use site::{HOSTS, Site};
use slots::Slots;
use works::Works;

/// Work that waits at the beginning; more comes all the time.
const WORK: usize = 120;
/// How long a daemon may take to start, or to end.
const PATIENCE: Duration = Duration::from_secs(60);
/// Left alone for so long, the daemons conclude what died last.
const REST: Duration = Duration::from_secs(45);
/// Then everything has ended within this time.
const LAST: Duration = Duration::from_secs(240);

/// What is there when all is over.
struct Books {
    minutes: u64,
    seed: u64,
    hits: Vec<Hit>,
    rows: Vec<Row>,
    events: Vec<Value>,
    slots: Slots,
    works: Works,
    /// Daemons that ended though nobody had killed them.
    ended_by_themselves: Vec<String>,
}

pub fn measure(
    interrupt: &Interrupt,
    carson: &Path,
    minutes: u64,
    seed: u64,
) -> anyhow::Result<Measured> {
    let server = Postgres::start_durable(interrupt)?;
    let database = Database::at(server.url())?;
    let mut site = Site::new(carson, &server.url())?;
    let books = tormented(interrupt, &site, &database, minutes, seed)?;
    let measured = Measured {
        figures: books.figures(),
        wrong: books.wrong(),
    };
    if !measured.wrong.is_empty() {
        site.keep = true;
        for (name, query) in [("firings.json", FIRINGS), ("events.json", EVENTS)] {
            let rows = serde_json::to_string_pretty(&database.rows(query)?)?;
            fs::write(site.root().join(name), rows)?;
        }
        println!("bench: everything is left in {}", site.root().display());
    }
    server.stop()?;
    Ok(measured)
}

fn tormented(
    interrupt: &Interrupt,
    site: &Site,
    database: &Database,
    minutes: u64,
    seed: u64,
) -> anyhow::Result<Books> {
    for _ in 0..WORK {
        interrupt.check()?;
        output(&mut site.issue())?;
    }
    let hosts: anyhow::Result<Vec<Host>> = HOSTS
        .into_iter()
        .map(|name| Host::start(site, name))
        .collect();
    let mut killer = Killer::new(site, database, hosts?, seed);
    killer.rest(interrupt, Duration::ZERO, PATIENCE)?;
    let from = now();
    killer.torment(interrupt, Duration::from_secs(60 * minutes))?;
    println!("bench: the fleet is left alone");
    killer.rest(interrupt, REST, PATIENCE)?;
    let to = now();
    let mut ended_by_themselves = Vec::new();
    for host in &mut killer.hosts {
        host.stop(PATIENCE)?;
        ended_by_themselves.append(&mut host.ended_by_itself);
    }
    settle(interrupt, site, database)?;
    let rows: Vec<Row> = database.rows(FIRINGS)?.iter().map(Row::of).collect();
    Ok(Books {
        minutes,
        seed,
        hits: std::mem::take(&mut killer.hits),
        slots: Slots::count(&site.roles, &rows, from, to),
        rows,
        events: database.rows(EVENTS)?,
        works: Works::read(site)?,
        ended_by_themselves,
    })
}

/// Without daemons: what runs comes to its end, and each host concludes and clears up by hand.
fn settle(interrupt: &Interrupt, site: &Site, database: &Database) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        for host in HOSTS {
            interrupt.check()?;
            output(&mut site.command(host, &["prune", "--json"]))?;
        }
        let open = database.rows(OPEN)?;
        if open.is_empty() {
            return Ok(());
        }
        ensure!(
            began.elapsed() < LAST,
            "not everything comes to its end: {open:?}"
        );
        std::thread::sleep(Duration::from_secs(1));
    }
}

impl Books {
    fn hits(&self, what: What) -> usize {
        self.hits.iter().filter(|hit| hit.what == what).count()
    }

    fn without_end(&self) -> Vec<String> {
        let rows = self.rows.iter();
        let open = rows.filter(|row| row.ended.is_none() || row.outcome.is_none());
        open.map(Row::named).collect()
    }

    /// Sessions that had come to their end, of firings that are not OK.
    fn undone(&self) -> usize {
        let journal = |row: &&Row| self.works.journals.get(&row.id);
        let rows = self.rows.iter().filter(|row| !row.is("OK"));
        rows.filter(|row| journal(row).is_some_and(|journal| journal.is_done))
            .count()
    }

    /// Branches that fenced firings say they pushed, and that are not there.
    fn fenced_and_gone(&self) -> Vec<String> {
        let said = self.events_of("firing.fenced");
        let branches = said.filter_map(|event| event["data"]["branch"].as_str());
        let gone = branches.filter(|branch| !self.works.branches.contains(*branch));
        gone.map(|branch| format!("{branch} is not in the remote"))
            .collect()
    }

    fn events_of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.events
            .iter()
            .filter(move |event| event["kind"] == kind)
    }

    fn wrong(&self) -> Vec<String> {
        let deaths = Deaths::read(&self.hits, &self.rows);
        let all = [
            ("a slot of which nothing is said", &self.slots.unsaid),
            ("a slot that fired twice", &self.slots.twice),
            ("work that was done twice", &self.works.doubled(&self.rows)),
            ("work that is lost", &self.works.lost(&self.rows)),
            ("a firing without an end", &self.without_end()),
            (
                "a bad end that nothing explains",
                &deaths::unexplained(&self.hits, &self.rows),
            ),
            ("a dead firing that was concluded late", &deaths.late),
            ("a branch that is not there", &self.fenced_and_gone()),
            ("a daemon that ended by itself", &self.ended_by_themselves),
        ];
        let told = all
            .iter()
            .flat_map(|(what, found)| found.iter().map(move |one| format!("{what}: {one}")));
        told.collect()
    }

    fn figures(&self) -> Vec<Figure> {
        let deaths = Deaths::read(&self.hits, &self.rows);
        let cut: u64 = self.hits.iter().map(|hit| hit.connections).sum();
        let mut figures = vec![
            figure(
                "3 hosts, 20 roles: killed at random",
                format!(
                    "{} daemons, {} firings, {} hosts, {} hosts frozen, {} times connections ({cut} of them); {} minutes, seed {}",
                    self.hits(What::Daemon),
                    self.hits(What::Firing),
                    self.hits(What::Host),
                    self.hits(What::Freeze),
                    self.hits(What::Connections),
                    self.minutes,
                    self.seed
                ),
                "",
            ),
            figure(
                "slots due",
                self.slots_due(),
                "each fired, or skipped with its reason",
            ),
            figure("how firings ended", self.outcomes(), ""),
        ];
        let none: [(&str, usize); 6] = [
            ("slots fired twice", self.slots.twice.len()),
            ("issues done twice", self.works.doubled(&self.rows).len()),
            ("firings without an end", self.without_end().len()),
            ("work that is lost", self.works.lost(&self.rows).len()),
            (
                "bad ends that nothing explains",
                deaths::unexplained(&self.hits, &self.rows).len(),
            ),
            (
                "daemons that ended by themselves",
                self.ended_by_themselves.len(),
            ),
        ];
        figures.extend(none.map(|(what, count)| figure(what, count.to_string(), "0")));
        figures.extend([
            figure(
                "a dead host's firings: death to conclusion",
                took(&deaths.of_hosts),
                "<= 30 s",
            ),
            figure(
                "a frozen host's, taken over: freeze to conclusion",
                took(&deaths.of_frozen),
                "<= 30 s",
            ),
            figure(
                "a killed firing: death to conclusion",
                took(&deaths.alone),
                "",
            ),
            figure(
                "later than 30 s",
                format!(
                    "{} with another host there; {} while the others' daemons had been killed, too, or the same host was hit again",
                    deaths.late.len(),
                    deaths.unseen.len()
                ),
                "0",
            ),
            figure("fenced hosts and firings", self.fenced(), ""),
            figure("pull requests", self.pulls(), ""),
        ]);
        figures
    }

    fn slots_due(&self) -> String {
        let slots = &self.slots;
        let skipped: u64 = slots.skipped.values().sum();
        format!(
            "{} = {} fired + {skipped} skipped {:?} + {} that a later row stands for + {} of the last seconds; of {} nothing is said",
            slots.due,
            slots.fired,
            slots.skipped,
            slots.coalesced,
            slots.open,
            slots.unsaid.len()
        )
    }

    fn outcomes(&self) -> String {
        let mut outcomes: BTreeMap<&str, u32> = BTreeMap::new();
        let fired = self
            .rows
            .iter()
            .filter(|row| row.skip.is_none() || row.started.is_some());
        for row in fired {
            let outcome = row.outcome.as_deref().unwrap_or("none");
            *outcomes.entry(outcome).or_default() += 1;
        }
        format!(
            "{outcomes:?}; {} sessions began, of {} that had come to their end the firing was cut off; \
             {} found the forge locked by a frozen host",
            self.works.journals.len(),
            self.undone(),
            deaths::locked_out(&self.rows)
        )
    }

    fn fenced(&self) -> String {
        let fenced: Vec<&Value> = self.events_of("firing.fenced").collect();
        let has = |key: &str| {
            let with = fenced.iter().filter(|event| event["data"][key].is_string());
            with.count()
        };
        format!(
            "{} firings taken over; {} hosts came back fenced; {} firings found themselves fenced: {} pushed a branch of their own, {} kept a ref",
            self.events_of("firing.taken-over").count(),
            self.events_of("host.fenced").count(),
            fenced.len(),
            has("branch"),
            has("kept"),
        )
    }

    fn pulls(&self) -> String {
        format!(
            "{} finished, {} drafts open",
            self.works.finished_pulls().count(),
            self.works.open_drafts()
        )
    }
}

fn figure(what: &'static str, got: String, target: &'static str) -> Figure {
    Figure {
        what,
        got,
        target,
        beside: String::new(),
    }
}

fn took(durations: &[Duration]) -> String {
    if durations.is_empty() {
        return "none".to_owned();
    }
    let sample = Sample::new(durations.to_vec());
    format!(
        "p50 {:.1} s, max {:.1} s (n = {})",
        sample.percentile(50).as_secs_f64(),
        sample.percentile(100).as_secs_f64(),
        durations.len()
    )
}

//! `carson status`, `why` and `firings` with very many rows.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::super::fleet::Fleet;
use super::super::sample::Sample;
use super::super::{Figure, output};
use super::python;

const RUNS: usize = 30;

/// 100,000 firings of 100 roles over a month, a third of them skipped, half of the rest with costs;
/// then 20,000 skipped ones, as a weekend's pause leaves them.
const FILL: &str = r"
import sqlite3, sys, uuid, datetime
rows = sqlite3.connect(sys.argv[1])
now = datetime.datetime.now(datetime.timezone.utc)
def row(n):
    at = (now - datetime.timedelta(seconds=(120000 - n) * 21)).isoformat()
    skipped = n >= 100000 or n % 3 == 0
    outcome = 'SKIPPED' if skipped else 'OK'
    return (uuid.uuid4().bytes, 'role-%d' % (n % 100), at, at, at, at, 'here', outcome,
            'paused: fleet (x)' if skipped else 'done', 'pause' if skipped else None,
            None if skipped or n % 2 else 0.25)
rows.executemany('''INSERT INTO firing (id, role, slot, claimed_at, deadline_at, ended_at, host,
    outcome, reason, skip, cost_usd) VALUES (?,?,?,?,?,?,?,?,?,?,?)''', map(row, range(120000)))
rows.commit()
rows.execute('ANALYZE')
rows.commit()
print(rows.execute('SELECT lower(substr(hex(id), 25)) FROM firing WHERE seq = 50000').fetchone()[0])
";

/// What it takes to be asked at all: the interpreter that a fleet in Python starts.
const PEER: &str = "import sqlite3, sys; \
    r = sqlite3.connect(sys.argv[1]); \
    [r.execute('SELECT outcome FROM firing WHERE role = ? ORDER BY seq DESC LIMIT 1', \
    ('role-%d' % n,)).fetchone() for n in range(100)]";

pub fn measure(carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let roles: Vec<_> = (0..100)
        .map(|n| (format!("role-{n}"), "0 0 1 1 *".to_owned()))
        .collect();
    let fleet = Fleet::new(carson, &roles)?;
    // The first command makes the database.
    output(&mut fleet.command(&["status"]))?;
    let empty = timed(|| fleet.command(&["status"]))?;
    let database = fleet.home().join("state/carson.db");
    let short = python(FILL, &[&database])?;
    let floor = timed(|| {
        let mut python = Command::new("/usr/bin/python3");
        python.args(["-S", "-c", "pass"]);
        python
    })?;
    let peer = timed(|| {
        let mut python = Command::new("/usr/bin/python3");
        python.args(["-S", "-c", PEER]).arg(&database);
        python
    })?;
    let mut figures = Vec::new();
    let mut add = |what, args: &[&str], target| -> anyhow::Result<()> {
        let ours = timed(|| fleet.command(args))?;
        let (of_peer, of_floor) = (ours.ratio(&peer), ours.ratio(&floor));
        figures.push(Figure {
            what,
            got: ours.to_string(),
            target,
            beside: format!(
                "python3 -S asking sqlite3 for 100 roles' last rows: {peer} ({of_peer:.1}x ours); \
                 python3 -S -c pass: {floor} ({of_floor:.1}x ours)"
            ),
        });
        Ok(())
    };
    let target = "< 50 ms";
    add("status, 100 roles, 120,000 firings", &["status"], target)?;
    add("why ROLE", &["why", "role-7"], target)?;
    add(
        "why FIRING, by eight digits",
        &["why", short.trim()],
        target,
    )?;
    add("firings --limit 20", &["firings", "--limit", "20"], target)?;
    let of_role = ["firings", "--role", "role-7", "--limit", "20"];
    add("firings --role ROLE --limit 20", &of_role, target)?;
    let since = ["firings", "--since", "1h", "--all"];
    add("firings --since 1h --all", &since, target)?;
    figures.push(Figure {
        what: "status of the same fleet without firings",
        got: empty.to_string(),
        target: "",
        beside: String::new(),
    });
    Ok(figures)
}

fn timed(mut command: impl FnMut() -> Command) -> anyhow::Result<Sample> {
    let mut durations: Vec<Duration> = Vec::new();
    for _ in 0..RUNS {
        let mut command = command();
        let started = Instant::now();
        output(&mut command)?;
        durations.push(started.elapsed());
    }
    Ok(Sample::new(durations))
}

//! Claims a second on PostgreSQL, beside what the same server takes of a bare insert.

use std::fs;
use std::process::Command;

use anyhow::Context as _;

use super::super::{Figure, output, tempdir};
use crate::interrupt::Interrupt;
use crate::postgres::{Postgres, bin_dir};
use crate::workspace::{cargo, root};

const SECONDS: &str = "8";
/// A row that can exist only once, and nothing else: what no claim can be cheaper than.
const FLOOR_TABLE: &str = "CREATE TABLE floor (id uuid PRIMARY KEY, role text NOT NULL, slot timestamptz NOT NULL); \
     CREATE UNIQUE INDEX floor_slot ON floor (role, slot)";
const FLOOR: &str = "INSERT INTO floor VALUES (gen_random_uuid(), md5(random()::text), now()) \
     ON CONFLICT DO NOTHING;\n";

pub fn measure(interrupt: &Interrupt) -> anyhow::Result<Vec<Figure>> {
    let build = ["build", "--release", "--locked", "--package"];
    interrupt.must(
        cargo()
            .args(build)
            .args(["carson-store", "--example", "claims"]),
    )?;
    let claims = root().join("target/release/examples/claims");
    let bin = bin_dir().context("PostgreSQL is not installed")?;
    let server = Postgres::start_durable(interrupt)?;
    let dir = tempdir("carson-bench-claims")?;
    let script = dir.join("floor.sql");
    fs::write(&script, FLOOR)?;
    let mut psql = Command::new(bin.join("psql"));
    output(psql.args(["-q", "-d", &server.url(), "-c", FLOOR_TABLE]))?;
    let mut figures = Vec::new();
    // A daemon claims what is due in one moment together.
    for (what, clients, together) in [
        (
            "claims a second on PostgreSQL, 1 client, one by one",
            "1",
            "1",
        ),
        (
            "claims a second on PostgreSQL, 8 clients, one by one",
            "8",
            "1",
        ),
        (
            "claims a second on PostgreSQL, 32 clients, one by one",
            "32",
            "1",
        ),
        (
            "claims a second on PostgreSQL, 1 client, 20 due together",
            "1",
            "20",
        ),
        (
            "claims a second on PostgreSQL, 32 clients, 20 due together each",
            "32",
            "20",
        ),
    ] {
        let mut pgbench = Command::new(bin.join("pgbench"));
        pgbench.args(["-n", "-M", "prepared", "-j", "2", "-c", clients]);
        pgbench.args(["-T", SECONDS, "-f"]).arg(&script);
        let floor = tps(&output(pgbench.arg(server.url()))?)
            .context("pgbench did not say how many transactions it had")?;
        let mut ours = Command::new(&claims);
        let said = output(ours.args([&server.url(), clients, SECONDS, together]))?;
        let seconds: f64 = SECONDS.parse()?;
        let ours = said.trim().parse::<f64>()? / seconds;
        figures.push(Figure {
            what,
            got: format!("{ours:.0} a second"),
            target: match clients {
                "32" => ">= 7,130 a second (SKIP LOCKED, 32 clients)",
                _ => "",
            },
            beside: format!(
                "pgbench, a bare INSERT ... ON CONFLICT DO NOTHING: {floor:.0} a second ({:.1}x ours)",
                floor / ours
            ),
        });
    }
    fs::remove_dir_all(&dir)?;
    server.stop()?;
    Ok(figures)
}

/// `tps = 5959.123456 (without initial connection time)`
fn tps(said: &str) -> Option<f64> {
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pgbench_says_is_read() {
        let said = "latency average = 0.1 ms\ntps = 5959.5 (without initial connection time)\n";
        assert_eq!(tps(said), Some(5959.5));
        assert_eq!(tps("pgbench: error"), None);
    }
}

//! What the database says, by psql and not by Carson.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

use super::super::super::output;
use crate::postgres::bin_dir;

/// Times are seconds since 1970.
pub const FIRINGS: &str = "SELECT id, role, extract(epoch FROM slot)::float8 AS slot, host, carrier, missed, \
     extract(epoch FROM claimed_at)::float8 AS claimed, extract(epoch FROM started_at)::float8 AS started, \
     extract(epoch FROM ended_at)::float8 AS ended, outcome, reason, skip, work, branch, pr_number AS pr, \
     pushed_sha AS pushed, stage FROM firing ORDER BY seq";
pub const EVENTS: &str = "SELECT kind, firing, data::json AS data FROM event \
     WHERE kind IN ('firing.taken-over', 'firing.fenced', 'host.fenced') ORDER BY seq";
/// What is not concluded, or owes something.
pub const OPEN: &str = "SELECT id FROM firing WHERE ended_at IS NULL \
     OR id IN (SELECT firing FROM effect WHERE state = 'owed')";

/// Who holds the connections that are not ours.
const OTHERS: &str =
    "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

pub struct Database {
    psql: PathBuf,
    url: String,
}

impl Database {
    pub fn at(url: String) -> anyhow::Result<Self> {
        let bin = bin_dir().context("PostgreSQL is not installed")?;
        Ok(Self {
            psql: bin.join("psql"),
            url,
        })
    }

    /// The rows of a query.
    pub fn rows(&self, query: &str) -> anyhow::Result<Vec<Value>> {
        let said = self.ask(&format!(
            "SELECT COALESCE(json_agg(t), '[]') FROM ({query}) t"
        ))?;
        Ok(serde_json::from_str(&said)?)
    }

    /// The firings for which a host answers now.
    pub fn live_on(&self, host: &str) -> anyhow::Result<Vec<String>> {
        let ids = self.rows(&format!(
            "SELECT id FROM firing WHERE ended_at IS NULL AND COALESCE(carrier, host) = '{host}'"
        ))?;
        let ids = ids.iter().filter_map(|row| row["id"].as_str());
        Ok(ids.map(str::to_owned).collect())
    }

    /// Ends so many connections of others, or all; how many there were.
    pub fn cut(&self, most: Option<u32>) -> anyhow::Result<u64> {
        let limit = most.map_or("ALL".to_owned(), |most| most.to_string());
        let cut = self.ask(&format!(
            "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid {OTHERS} ORDER BY random() LIMIT {limit}) t"
        ))?;
        Ok(cut.trim().parse()?)
    }

    fn ask(&self, query: &str) -> anyhow::Result<String> {
        let mut psql = Command::new(&self.psql);
        output(psql.args(["-qAtX", "-d", &self.url, "-c", query]))
    }
}

//! A row of the database, as the books need it.

use serde_json::Value;

/// A firing, or a slot that became none. Times are seconds since 1970.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub id: String,
    pub role: String,
    pub slot: Option<f64>,
    pub host: String,
    pub carrier: Option<String>,
    /// Slots before it that it stands for.
    pub missed: u64,
    pub claimed: f64,
    pub started: Option<f64>,
    pub ended: Option<f64>,
    pub outcome: Option<String>,
    pub reason: String,
    pub skip: Option<String>,
    pub work: Option<String>,
    pub branch: Option<String>,
    pub pull: Option<u64>,
    pub pushed: Option<String>,
}

impl Row {
    pub fn of(row: &Value) -> Self {
        let text = |key: &str| row[key].as_str().map(str::to_owned);
        Self {
            id: text("id").unwrap_or_default(),
            role: text("role").unwrap_or_default(),
            slot: row["slot"].as_f64(),
            host: text("host").unwrap_or_default(),
            carrier: text("carrier"),
            missed: row["missed"].as_u64().unwrap_or_default(),
            claimed: row["claimed"].as_f64().unwrap_or_default(),
            started: row["started"].as_f64(),
            ended: row["ended"].as_f64(),
            outcome: text("outcome"),
            reason: text("reason").unwrap_or_default(),
            skip: text("skip"),
            work: text("work"),
            branch: text("branch"),
            pull: row["pr"].as_u64(),
            pushed: text("pushed"),
        }
    }

    pub fn is(&self, outcome: &str) -> bool {
        self.outcome.as_deref() == Some(outcome)
    }

    /// For people who look for it.
    pub fn named(&self) -> String {
        let outcome = self.outcome.as_deref().unwrap_or("no outcome");
        format!(
            "{} of {} on {}: {outcome}, {}",
            self.id, self.role, self.host, self.reason
        )
    }
}

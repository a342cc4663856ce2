//! What the daemon does beside firing: housekeeping, and saying that it lives.

use std::path::PathBuf;
use std::time::Duration;

use chrono::{NaiveTime, TimeDelta};
use schemars::JsonSchema;
use secrecy::ExposeSecret;
use serde::{Deserialize, Serialize};

use crate::check::{ASIDE, Check};
use crate::forms::{As, SomeTime};
use crate::hours::Hours;
use crate::paths::Paths;
use crate::secret::read_secret;

/// `[housekeeping]`: how Carson cleans up after itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Housekeeping {
    /// When heavy work is done (packing the mirrors, looking through the database, its daily
    /// backup), in the fleet's zone.
    #[serde(rename = "quiet_hours", with = "As::<Hours>")]
    #[schemars(extend("examples" = ["22:00-04:00"]))]
    pub quiet: Hours,
    /// Days that logs and transcripts of firings, sent posts and events are kept.
    #[schemars(range(min = 1), extend("examples" = [90]))]
    pub keep_days: u32,
    /// Mebibytes that logs and transcripts may take together; the oldest go first.
    #[schemars(range(min = 1), extend("examples" = [512]))]
    pub keep_mb: u32,
    /// Mebibytes that the layers below workspaces may take together (checkouts of bases, and what
    /// setups left); those that were used longest ago go first, and all that nobody stands on when the
    /// disk is full. `carson workspaces` lists them.
    #[schemars(range(min = 1), extend("examples" = [51200]))]
    pub layers_mb: u32,
    /// Daily backups of a SQLite database that are kept, in `state/backups/`; `carson backup
    /// restore` puts one back.
    #[schemars(range(min = 1), extend("examples" = [30]))]
    pub keep_backups: u32,
}

impl Default for Housekeeping {
    fn default() -> Self {
        Self {
            quiet: Hours {
                from: NaiveTime::MIN + TimeDelta::hours(2),
                to: NaiveTime::MIN + TimeDelta::hours(5),
            },
            keep_days: 30,
            keep_mb: 2_048,
            layers_mb: 20_480,
            keep_backups: 7,
        }
    }
}

/// How others learn that the daemon lives.
#[derive(Clone, Debug)]
pub struct Heartbeat {
    /// Where it says so.
    pub to: Option<HeartbeatUrl>,
    /// How often.
    pub every: Duration,
    /// How long it may have been away without the chat being told.
    pub alert_after_down: Duration,
}

/// Where a sign of life goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeartbeatUrl {
    /// The address.
    Plain(String),
    /// A file with it: such addresses are often secrets.
    File(PathBuf),
}

fn is_web(url: &str) -> bool {
    ["https://", "http://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
}

pub(crate) fn heartbeat(
    raw: HeartbeatSection,
    paths: &Paths<'_>,
    check: &mut Check<'_>,
) -> Heartbeat {
    let to = match (raw.url, raw.url_file) {
        (Some(_), Some(_)) => {
            let hint = "keep url_file";
            check.problem("heartbeat", "it has both url and url_file", hint);
            None
        }
        (Some(url), None) => {
            if !is_web(&url) {
                let hint = "url = \"https://…\"";
                check.problem("heartbeat.url", "it is no web address", hint);
            }
            Some(HeartbeatUrl::Plain(url))
        }
        (None, Some(file)) => {
            let path = paths.expand(&file);
            check.secret_aside("heartbeat.url_file", &path);
            if let Ok(text) = read_secret(&path)
                && !is_web(text.expose_secret())
            {
                let problem = "what it holds is no web address";
                let hint = format!("one line: https://…; {ASIDE}");
                check.warning("heartbeat.url_file", problem, &hint);
            }
            Some(HeartbeatUrl::File(path))
        }
        (None, None) => None,
    };
    Heartbeat {
        to,
        every: raw.every,
        alert_after_down: raw.alert_after_down,
    }
}

/// `[heartbeat]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HeartbeatSection {
    /// An address that is asked for (GET) while the daemon lives.
    #[schemars(extend("examples" = ["https://hc.example/ping"]))]
    pub url: Option<String>,
    /// A file, mode 0600, with that address, when it is a secret.
    #[schemars(extend("examples" = ["heartbeat.url"]))]
    pub url_file: Option<String>,
    /// How often it is asked for.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["1m"]))]
    pub every: Duration,
    /// When the daemon was away for longer, it says so in the chat (`[slack]`, `[webhook]`) once it
    /// is back.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["2h"]))]
    pub alert_after_down: Duration,
}

impl Default for HeartbeatSection {
    fn default() -> Self {
        Self {
            url: None,
            url_file: None,
            every: Duration::from_secs(5 * 60),
            alert_after_down: Duration::from_secs(30 * 60),
        }
    }
}

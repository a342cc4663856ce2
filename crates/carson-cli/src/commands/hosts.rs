//! `carson hosts`

use carson_core::text::{ago, counted};
use carson_operator::Ask;
use carson_operator::daemons::Life;
use carson_operator::hosts::{Drain, Host, List, Remove, Resume, Stands};
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::args::HostsAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: Option<HostsAction>) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    match action.unwrap_or(HostsAction::List) {
        HostsAction::List => {
            let hosts = List {}.answer(&home).await?;
            let now = home.clock.now();
            let header = ["HOST", "DAEMON", "VERSION", "FIRINGS", "LABELS"];
            let none = "no daemon was ever here: `carson daemon` starts one";
            print::list(app.json, &hosts, none, &header, |host| row(host, now));
        }
        HostsAction::Drain { host } => {
            let done = Drain { host }.answer(&home).await?;
            let text = match done.changed {
                true => drained(&done),
                false => format!("{} was drained before", done.host),
            };
            print::done(app.json, &text, &done);
        }
        HostsAction::Resume { host } => {
            let done = Resume { host }.answer(&home).await?;
            let text = match done.changed {
                true => format!("{} fires again", done.host),
                false => format!("{} was not drained", done.host),
            };
            print::done(app.json, &text, &done);
        }
        HostsAction::Remove { host } => {
            let done = Remove { host }.answer(&home).await?;
            print::done(app.json, &format!("{} is forgotten", done.host), &done);
        }
    }
    Ok(0)
}

fn row(host: &Host, now: DateTime<Utc>) -> Vec<String> {
    let daemon = &host.daemon.row;
    let life = match host.daemon.life {
        Life::Runs if daemon.drained_at.is_some() => "drained".to_owned(),
        Life::Runs => "runs".to_owned(),
        Life::Silent => format!("silent; heard of {}", ago(now - daemon.beat_at)),
        Life::Ended => "not running".to_owned(),
    };
    vec![
        daemon.name.clone(),
        life,
        daemon.version.clone(),
        host.firings.to_string(),
        daemon.labels.clone(),
    ]
}

fn drained(done: &Stands) -> String {
    let running = match done.firings {
        0 => "nothing runs there".to_owned(),
        _ => format!(
            "{} to the end",
            match done.firings {
                1 => "its firing goes on".to_owned(),
                more => format!(
                    "its {} go on",
                    counted(u64::try_from(more).unwrap_or(u64::MAX), "firing")
                ),
            }
        ),
    };
    format!("nothing new fires on {}; {running}", done.host)
}

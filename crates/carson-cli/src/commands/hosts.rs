//! `carson hosts`

use carson_core::text::{ago, counted};
use carson_operator::Ask;
use carson_operator::daemons::{Daemon, Life};
use carson_operator::hosts::{Drain, Host, List, Remove, Resume, Running, Stands};
use carson_store::off;
use chrono::{DateTime, TimeDelta, Utc};

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
            let header = ["HOST", "DAEMON", "LEASE", "VERSION", "RUNS", "LABELS"];
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
    let name = match host.here {
        true => format!("{} (this host)", daemon.name),
        false => daemon.name.clone(),
    };
    vec![
        name,
        stands(&host.daemon, now),
        lease(&host.daemon),
        daemon.version.clone(),
        runs(&host.running),
        daemon.labels.clone(),
    ]
}

/// Whether its daemon lives, and what keeps it from firing.
fn stands(daemon: &Daemon, now: DateTime<Utc>) -> String {
    let row = &daemon.row;
    let heard = || format!("heard of {}", ago(now - row.beat_at));
    let mut all = vec![match daemon.life {
        Life::Runs => "runs".to_owned(),
        _ if row.lapsed_at.is_some() => format!("fenced: others conclude its firings; {}", heard()),
        Life::Silent => format!("silent; {}", heard()),
        Life::Ended => "not running".to_owned(),
    }];
    if row.drained_at.is_some() {
        all.push("drained".to_owned());
    }
    if let Some(ahead) = daemon.apart() {
        all.push(format!(
            "its clock is {} the database's: fires nothing",
            off(ahead)
        ));
    }
    all.join("; ")
}

fn lease(daemon: &Daemon) -> String {
    match daemon.lease_for() {
        None => "none".to_owned(),
        Some(left) if left > TimeDelta::zero() => format!("{} s more", left.num_seconds()),
        Some(left) => format!("ended {}", ago(-left)),
    }
}

fn runs(firings: &[Running]) -> String {
    if firings.is_empty() {
        return "nothing".to_owned();
    }
    let one = |one: &Running| {
        let from = one.taken_from.as_ref();
        let from = from.map_or_else(String::new, |from| format!(" of {from}"));
        format!("{} {}{from}", one.role, one.firing.short())
    };
    firings.iter().map(one).collect::<Vec<_>>().join(", ")
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

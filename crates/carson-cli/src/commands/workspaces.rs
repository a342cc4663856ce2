//! `carson workspaces`

use carson_bench::layers::{FailedSetup, Layer};
use carson_config::Workspaces;
use carson_core::text::{ago, instant};
use carson_operator::Ask;
use carson_operator::workspaces::{List, Prune};
use chrono::{DateTime, Utc};

use crate::app::App;
use crate::args::WorkspacesAction;
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: Option<&WorkspacesAction>) -> Result<u8, CommandError> {
    let home = app.home().await?;
    match action {
        None => {
            let found = List {}.answer(&home).await?;
            if app.json {
                print::json(&found);
                return Ok(0);
            }
            let none = match found.kind {
                Workspaces::Copy => "there is no layer: copies stand on none",
                _ => "there is no layer yet: the first firing in a repository makes one",
            };
            let head = ["REPO", "LAYER", "SIZE", "USED", "WORKSPACES"];
            print::list(false, &found.layers, none, &head, row);
            print::line(&format!(
                "{} of {} MiB",
                mib(found.bytes),
                mib(found.most_bytes)
            ));
            for failed in &found.failed {
                print::line(&failed_setup(failed, home.clock.now()));
            }
            if let Some(why) = &found.because {
                let what = match found.kind {
                    Workspaces::Clone => "clones",
                    _ => "copies",
                };
                print::line(&format!("workspaces are {what} here: {why}"));
            }
            Ok(0)
        }
        Some(WorkspacesAction::Prune { all }) => {
            let done = Prune { all: *all }.answer(&home).await?;
            let removed = done.removed.iter().map(|layer| layer.bytes).sum();
            let again = match done.forgotten {
                0 => String::new(),
                1 => "; a setup that failed is run again at once".to_owned(),
                more => format!("; {more} setups that failed are run again at once"),
            };
            let text = format!(
                "{} removed, {} MiB; {} MiB stay{again}",
                done.removed.len(),
                mib(removed),
                mib(done.left)
            );
            print::done(app.json, &text, &done);
            Ok(0)
        }
    }
}

fn row(layer: &Layer) -> Vec<String> {
    vec![
        layer.repo.clone(),
        // Eight digits of the name tell them apart.
        layer.what.chars().take("setup ".len() + 8).collect(),
        format!("{} MiB", mib(layer.bytes)),
        layer.used_at.format("%Y-%m-%d %H:%M").to_string(),
        layer.in_use.to_string(),
    ]
}

/// What failed, where its log is, and what runs it again.
fn failed_setup(failed: &FailedSetup, now: DateTime<Utc>) -> String {
    let (repo, ago) = (&failed.repo, ago(now - failed.failed_at));
    // Most reasons name the log themselves.
    let log = failed.log.as_ref().map(|log| log.display().to_string());
    let log = log.filter(|log| !failed.why.contains(log));
    let log = log.map_or_else(String::new, |log| format!("; its log is {log}"));
    let rests = match failed.rests_until > now {
        true => format!(
            "it rests until {}, or `carson fire`, or `carson workspaces prune`",
            instant(failed.rests_until)
        ),
        false => "the next firing runs it again".to_owned(),
    };
    format!(
        "the setup of {repo} failed {ago}: {}{log}; {rests}",
        failed.why
    )
}

fn mib(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

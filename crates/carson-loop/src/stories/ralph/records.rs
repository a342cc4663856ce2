//! What a story that passed leaves for people: progress, and its learning in `AGENTS.md`.

use std::path::Path;

use super::ended::Ended;
use super::helpers::Helpers;
use super::learnings;
use super::prd::{Prd, Story};
use super::progress;
use super::run::Run;
use super::settings::Mode;
use crate::json_file::{Sync, write_bytes};
use crate::stories::scope::ShellCase;

impl Run<'_> {
    pub(super) fn helpers(&self) -> Helpers<'_> {
        Helpers {
            own: &self.place.own,
            cwd: &self.given.cwd,
            env: &self.given.env,
            cancel: &self.given.cancel,
        }
    }

    /// `progress.txt`, where there is one.
    pub(super) async fn refresh_progress(&self, prd: &Prd) -> Result<(), Ended> {
        let path = self.place.beside("progress.txt");
        if !self.settings.refresh_progress || !path.is_file() {
            return Ok(());
        }
        let helpers = self.helpers();
        let shown = path.display().to_string();
        let done = match helpers.find("generate_progress.sh") {
            Some(script) => {
                let prd = self.place.prd.to_string_lossy();
                helpers.run(&script, &[&prd, &path.to_string_lossy()]).await
            }
            None => {
                let label = self
                    .place
                    .prd
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy();
                let text = progress::snapshot(prd, &label, &self.events.now());
                write_bytes(&path, text.as_bytes(), Sync::Now).is_ok()
            }
        };
        self.events.add(&match done {
            true => format!("INFO progress_snapshot_refreshed path={shown}"),
            false => format!("WARN progress_snapshot_refresh_failed path={shown}"),
        })
    }

    pub(super) async fn append_progress(&self, story: &Story, report: &str) -> Result<(), Ended> {
        if !self.settings.append_progress {
            return Ok(());
        }
        let (id, mode) = (story.id.as_str(), story.mode.as_str());
        let helpers = self.helpers();
        let done = match helpers.find("append_progress_entry.sh") {
            Some(script) => {
                let words = [
                    "--story",
                    id,
                    "--mode",
                    mode,
                    "--title",
                    &story.title,
                    "--report",
                    report,
                ];
                helpers.run(&script, &words).await
            }
            None => {
                let path = self.place.beside("progress.log.md");
                progress::append(&path, story, report, &self.events.now()).is_ok()
            }
        };
        self.events.add(&match done {
            true => format!("INFO progress_log_appended story={id}"),
            false => format!("WARN progress_log_append_failed story={id}"),
        })
    }

    pub(super) async fn sync_agents(&self, story: &Story) -> Result<(), Ended> {
        if !self.settings.sync_agents || story.mode != Mode::Fixing {
            return Ok(());
        }
        if !ShellCase::new(&story.scope).covers(Path::new("AGENTS.md")) {
            let id = &story.id;
            return self.events.add(&format!(
                "WARN agents_sync_skipped_out_of_scope story={id} path=AGENTS.md"
            ));
        }
        let helpers = self.helpers();
        let done = match helpers.find("sync_agents_from_learnings.sh") {
            Some(script) => {
                helpers
                    .run(&script, &["--root", &self.place.own.to_string_lossy()])
                    .await
            }
            None => learnings::sync_agents(&self.place.own).is_ok(),
        };
        self.events.add(match done {
            true => "INFO agents_synced_from_learnings",
            false => "WARN agents_sync_from_learnings_failed",
        })
    }
}

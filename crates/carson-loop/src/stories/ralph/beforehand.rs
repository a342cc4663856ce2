//! What comes before the first story: the branch that the PRD names, and the state of another project put away.

use super::archive::Archive;
use super::branch::Branches;
use super::ended::Ended;
use super::prd::Prd;
use super::run::Run;
use crate::json_file::{Sync, write_bytes};
use crate::own_file;

/// Bytes of a project's name that are read.
const LONGEST: u64 = 64 << 10;

impl Run<'_> {
    pub(super) async fn sync_branch(&self, prd: &Prd) -> Result<(), Ended> {
        if !self.settings.sync_branch {
            return Ok(());
        }
        let git = self.git.clone();
        let git =
            git.ok_or_else(|| Ended::failed("Branch sync requested but git is not available"))?;
        let Some(target) = &prd.branch else {
            return self
                .events
                .add("INFO branch_sync_requested_but_no_prd_branch");
        };
        let branches = Branches {
            git,
            root: &self.place.root,
            env: &self.given.env,
        };
        let done = branches.sync(target).await?;
        self.events.add(&format!("INFO {done}"))
    }

    /// Puts the state of runs away where the project is another one than the last time.
    pub(super) async fn archive(&self, prd: &Prd) -> Result<(), Ended> {
        let track = self.place.state.join(".last-project");
        let previous = own_file::read(&track, LONGEST).ok().flatten();
        let previous = String::from_utf8(previous.unwrap_or_default()).unwrap_or_default();
        let (previous, current) = (previous.trim_end_matches('\n'), prd.project.as_str());
        if self.settings.auto_archive && !previous.is_empty() && previous != current {
            self.put_away(prd, previous).await?;
            self.events.add(&format!(
                "INFO auto_archive_on_project_change previous={previous} current={current}"
            ))?;
        }
        let written = write_bytes(&track, format!("{current}\n").as_bytes(), Sync::Now);
        written.map_err(Ended::io("write down the project", &track))
    }

    async fn put_away(&self, prd: &Prd, previous: &str) -> Result<(), Ended> {
        let current = &prd.project;
        let reason = format!("auto-archive on project change ({previous} -> {current})");
        let helpers = self.helpers();
        let now = self.events.now();
        let done = match helpers.find("archive_run_state.sh") {
            Some(script) => {
                let own = self.place.own.to_string_lossy();
                let words = [
                    "--source-root",
                    &own,
                    "--label",
                    previous,
                    "--reason",
                    &reason,
                ];
                helpers.run(&script, &words).await
            }
            None => {
                let stamp = now.replace(['-', ':'], "");
                let archive = Archive {
                    own: &self.place.own,
                    report_dir: &prd.defaults.report_dir,
                    label: previous,
                    reason: &reason,
                    stamp: (&stamp, &now),
                };
                archive.make().is_ok()
            }
        };
        match done {
            true => Ok(()),
            false => Err(Ended::Failed(format!(
                "Auto archive on project change failed (previous={previous} current={current})"
            ))),
        }
    }
}

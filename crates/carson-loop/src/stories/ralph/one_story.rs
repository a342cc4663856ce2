//! One story: its prompt, its call, its report, and what becomes of one whose tool failed.

use std::fs;

use super::checks::{Check, detected};
use super::ended::Ended;
use super::failures::Failures;
use super::learnings;
use super::prd::{Prd, Story};
use super::prompt::{Inputs, prompt};
use super::report;
use super::run::{Run, path_of};
use super::settings::Mode;
use super::state::Baseline;
use super::tool::{Came, Tool};
use super::voice::Voice;
use crate::json_file::{Sync, write_bytes};

impl Run<'_> {
    /// One story; the code of a tool that failed.
    pub(super) async fn story(
        &self,
        prd: &Prd,
        story: &Story,
        tool: &Tool<'_>,
        baseline: &mut Baseline,
        voice: &mut Voice<'_>,
    ) -> Result<Option<i32>, Ended> {
        let rules = report::Rules {
            place: self.place,
            report_dir: &prd.defaults.report_dir,
            strict: self.settings.strict_report_dir,
        };
        let report = rules.report(&story.created)?;
        let learnings = learnings::print(&self.place.beside("learnings.md"));
        let prompt = self.prompt(story, &report, tool.sandbox)?;
        let (id, mode) = (&story.id, story.mode.as_str());
        self.events
            .add(&format!("STORY_START id={id} mode={mode} report={report}"))?;
        voice.log(&format!("story={id} mode={mode}"));
        self.remember(story.mode, baseline).await?;
        let came = tool.ask(id, &prompt, self.events, voice).await?;
        self.hold_to_scope(story, baseline).await?;
        let message = match came {
            Came::Message(message) => message,
            Came::Failed(code) => return Ok(Some(code)),
        };
        self.demand_learning(story, &learnings)?;
        self.passed(story, &report, &message).await?;
        self.forget(story.mode, baseline).await?;
        self.events
            .add(&format!("STORY_COMPLETE id={id} report={report}"))?;
        Ok(None)
    }

    fn prompt(&self, story: &Story, report: &str, sandbox: &str) -> Result<String, Ended> {
        let policy = &self.place.policy;
        let policy =
            fs::read_to_string(policy).map_err(Ended::io("read the CODEX file", policy))?;
        let checks: Vec<Check> = match story.mode {
            Mode::Audit => Vec::new(),
            Mode::Linting | Mode::Fixing => detected(&self.place.root, path_of(&self.given.env)),
        };
        Ok(prompt(&Inputs {
            story,
            report,
            sandbox,
            day: &self.events.day(),
            must_name_sources: self.settings.search && self.settings.require_references,
            must_leave_learning: self.settings.require_learning,
            checks: &checks,
            policy: &policy,
        }))
    }

    fn demand_learning(&self, story: &Story, before: &learnings::Print) -> Result<(), Ended> {
        if story.mode != Mode::Fixing || !self.settings.require_learning {
            return Ok(());
        }
        let path = self.place.beside("learnings.md");
        let id = &story.id;
        match learnings::print(&path) {
            None => Err(Ended::Failed(format!(
                "fixing story {id} requires learnings.md update, but file is missing: {}",
                path.display()
            ))),
            now if now == *before => Err(Ended::Failed(format!(
                "fixing story {id} requires at least one new learnings.md entry (see scripts/record_learning.sh)"
            ))),
            _ => Ok(()),
        }
    }

    /// The report, then the PRD, then what people read.
    async fn passed(&self, story: &Story, report: &str, message: &[u8]) -> Result<(), Ended> {
        report::write(self.place, report, message)?;
        let prd = self.prd()?.passed(&story.id, report, &self.events.now());
        self.write(&prd)?;
        Failures::of(&self.place.state).clear(&story.id)?;
        self.refresh_progress(&prd).await?;
        self.append_progress(story, report).await?;
        self.sync_agents(story).await
    }

    fn write(&self, prd: &Prd) -> Result<(), Ended> {
        let file = &self.place.prd_file;
        let written = write_bytes(file, prd.document.pretty().as_bytes(), Sync::Now);
        written.map_err(Ended::io("write the PRD", file))
    }

    /// A story whose tool failed ends the run, or is skipped when it failed often enough.
    pub(super) async fn failed(
        &self,
        story: &Story,
        code: i32,
        baseline: &mut Baseline,
        voice: &mut Voice<'_>,
    ) -> Result<(), Ended> {
        let (id, mode, after) = (&story.id, story.mode.as_str(), self.settings.skip_after);
        self.events
            .add(&format!("STORY_FAIL id={id} mode={mode} rc={code}"))?;
        if after == 0 {
            let log = self.place.run_log();
            return Err(Ended::Failed(format!(
                "codex exec failed for story {id} (rc={code}, see {} for redacted details)",
                log.display()
            )));
        }
        let failures = Failures::of(&self.place.state);
        let count = failures.add(id)?;
        if count < after {
            return Err(Ended::Failed(format!(
                "codex exec failed for story {id} (rc={code}, failure_count={count} skip_after={after})"
            )));
        }
        let reason = format!("Skipped after {count} failed runs (last_rc={code})");
        let prd = self.prd()?.skipped(id, &reason, &self.events.now());
        self.write(&prd)?;
        failures.clear(id)?;
        self.refresh_progress(&prd).await?;
        self.forget(story.mode, baseline).await?;
        self.events
            .add(&format!("STORY_SKIPPED id={id} reason={reason}"))?;
        voice.log(&format!(
            "story={id} skipped after repeated failures (count={count} rc={code})"
        ));
        Ok(())
    }
}

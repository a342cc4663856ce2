//! What a fix changed, held against its scope.

use std::path::Path;

use super::ended::Ended;
use super::prd::Story;
use super::run::Run;
use super::settings::Mode;
use super::state::{Baseline, Looker, State};
use crate::stories::scope::ShellCase;

impl Run<'_> {
    async fn look(&self, baseline: &mut Baseline) -> Result<State, Ended> {
        let looker = Looker {
            place: self.place,
            method: self.settings.state_method,
            git: self.git.clone(),
            env: &self.given.env,
        };
        let seen = looker.look().await?;
        if !std::mem::replace(&mut baseline.is_logged, true) {
            let (method, requested) = (seen.method, self.settings.state_method.as_str());
            self.events.add(&format!(
                "INFO fixing_state_method={method} requested={requested}"
            ))?;
        }
        Ok(seen.state)
    }

    /// What is there before the first story.
    pub(super) async fn remember(&self, mode: Mode, baseline: &mut Baseline) -> Result<(), Ended> {
        if mode == Mode::Fixing && baseline.state.is_none() {
            baseline.state = Some(self.look(baseline).await?);
        }
        Ok(())
    }

    /// What we wrote ourselves is no change of the next story.
    pub(super) async fn forget(&self, mode: Mode, baseline: &mut Baseline) -> Result<(), Ended> {
        if mode == Mode::Fixing {
            baseline.state = Some(self.look(baseline).await?);
        }
        Ok(())
    }

    /// Whatever became of the tool, it changed nothing that it may not.
    pub(super) async fn hold_to_scope(
        &self,
        story: &Story,
        baseline: &mut Baseline,
    ) -> Result<(), Ended> {
        let Some(before) = baseline.state.take() else {
            return Ok(());
        };
        let after = self.look(baseline).await?;
        let scope = ShellCase::new(&story.scope);
        let changes = before.changes(&after);
        // Who must leave a learning may write its file: it is the runner's, as the report is.
        let is_learning =
            |path: &[u8]| self.settings.require_learning && self.place.is_learnings(path);
        let outside = changes
            .iter()
            .filter(|path| !scope.covers(as_path(path)) && !is_learning(path));
        let outside: Vec<String> = outside
            .map(|path| String::from_utf8_lossy(path).into_owned())
            .collect();
        baseline.state = Some(after);
        if outside.is_empty() {
            return Ok(());
        }
        let list = outside.join("\n- ");
        Err(Ended::Failed(format!(
            "Story {} modified files outside scope:\n- {list}",
            story.id
        )))
    }
}

fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

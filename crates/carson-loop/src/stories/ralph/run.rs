//! A run of ralph-loop, from its words to its exit code.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::Clock;
use carson_proc::{Cancel, find_on_path};
use carson_redact::Redactor;

use super::archive::Archive;
use super::branch::Branches;
use super::checks::{Check, detected};
use super::ended::Ended;
use super::events::Events;
use super::failures::Failures;
use super::helpers::Helpers;
use super::learnings;
use super::lock::RunLock;
use super::place::Place;
use super::prd::{Prd, Story};
use super::preflight;
use super::progress;
use super::prompt::{Inputs, prompt};
use super::read;
use super::report;
use super::settings::{Ask, Mode, Settings, Variables};
use super::state::{Looker, State};
use super::tool::{Came, PREFLIGHT, Program, Tool};
use super::usage::USAGE;
use super::voice::{To, Voice};
use crate::json_file::{Sync, write_bytes};
use crate::stories::scope::ShellCase;

/// What a run is given beside its words.
#[derive(Clone, Debug)]
pub struct Given {
    /// The PRD.
    pub prd: PathBuf,
    /// Another policy than `CODEX.md` beside it.
    pub policy: Option<PathBuf>,
    /// The top of the repository, where it was said.
    pub root: Option<PathBuf>,
    /// Another tool than Codex: a line for `sh`.
    pub executor: Option<String>,
    /// The environment.
    pub env: Vec<(OsString, OsString)>,
    /// Where it was started.
    pub cwd: PathBuf,
    /// The clock.
    pub clock: Clock,
    /// Takes secrets out.
    pub redactor: Redactor,
    /// Ends it early.
    pub cancel: Cancel,
}

/// Runs; the exit code.
pub async fn run(words: &[String], given: &Given, say: &mut dyn FnMut(To, &str)) -> u8 {
    let mut voice = Voice::new(say);
    let code = match ran(words, given, &mut voice).await {
        Ok(()) => 0,
        Err(Ended::Failed(message)) => {
            voice.error(&format!("[ralph][ERROR] {message}"));
            voice.error("[ralph] See docs/STORIES.md of Carson for troubleshooting.");
            1
        }
        Err(Ended::Interrupted) => {
            voice.error("[ralph] interrupted");
            130
        }
    };
    if code != 0 {
        voice.error(&format!("[ralph] aborted (exit={code})"));
    }
    code
}

async fn ran(words: &[String], given: &Given, voice: &mut Voice<'_>) -> Result<(), Ended> {
    let variables = variables(&given.env);
    let settings = Settings::read(words, &variables).map_err(|bad| Ended::Failed(bad.0))?;
    voice.verbosity = settings.verbosity;
    if settings.ask == Ask::Help {
        voice.plain(USAGE.trim_end());
        return Ok(());
    }
    let place = Place::find(
        &given.prd,
        given.policy.as_deref(),
        settings.repo_root.as_deref(),
    )?;
    let events = Events::open(place.events(), given.clock.clone())?;
    let mut run = Run {
        given,
        settings: &settings,
        place: &place,
        events: &events,
        variables: &variables,
        git: find_on_path(Path::new("git"), path_of(&given.env)),
    };
    let done = match settings.ask {
        Ask::Validate => run.prd().map(|_| voice.log("PRD validation passed.")),
        Ask::List => run.list(voice),
        Ask::Run | Ask::Help => run.stories(voice).await,
    };
    if let Err(Ended::Failed(message)) = &done {
        events.add(&format!("ERROR {message}"))?;
    }
    done
}

fn variables(env: &[(OsString, OsString)]) -> Variables {
    let text = |(name, value): &(OsString, OsString)| {
        Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
    };
    env.iter().filter_map(text).collect()
}

fn path_of(env: &[(OsString, OsString)]) -> Option<&std::ffi::OsStr> {
    let path = env.iter().rev().find(|(name, _)| name == "PATH");
    path.map(|(_, value)| value.as_os_str())
}

struct Run<'r> {
    given: &'r Given,
    settings: &'r Settings,
    place: &'r Place,
    events: &'r Events,
    variables: &'r Variables,
    git: Option<PathBuf>,
}

/// What the PRD decides where nobody else did.
struct Decided {
    mode: Mode,
    model: String,
    effort: String,
    sandbox: &'static str,
    max_stories: u64,
}

/// The files of the repository as they were, in `fixing`.
struct Baseline {
    state: Option<State>,
    is_logged: bool,
}

impl Run<'_> {
    /// The PRD as it stands in its file now.
    fn prd(&self) -> Result<Prd, Ended> {
        read::prd(self.place)
    }

    fn list(&self, voice: &mut Voice<'_>) -> Result<(), Ended> {
        let prd = self.prd()?;
        let mode = self.decide(&prd)?.mode;
        for story in prd.open(mode) {
            let (id, priority, title) = (&story.id, story.priority, &story.title);
            voice.plain(&format!("{id}\t{priority}\t{}\t{title}", mode.as_str()));
        }
        Ok(())
    }

    async fn stories(&mut self, voice: &mut Voice<'_>) -> Result<(), Ended> {
        let stale = Duration::from_secs(self.settings.stale_lock_seconds);
        let lock = RunLock::take(
            &self.place.state,
            stale,
            &self.given.clock,
            &self.given.cancel,
        )
        .await?;
        let done = self.locked(voice).await;
        drop(lock);
        done
    }

    async fn locked(&mut self, voice: &mut Voice<'_>) -> Result<(), Ended> {
        preflight::secrets(self.settings, self.variables, self.events, voice)?;
        let found = if self.git.is_some() {
            "detected"
        } else {
            "not detected"
        };
        self.events.add(&format!("INFO git {found}"))?;
        let prd = self.prd()?;
        self.sync_branch(&prd).await?;
        self.archive(&prd).await?;
        // Another branch may have another one.
        let prd = self.prd()?;
        let mut decided = self.decide(&prd)?;
        decided.max_stories = self.how_many(&prd, &decided, voice);
        let tool = self.tool(&decided)?;
        self.ask_model(tool.as_ref(), voice).await?;
        let (mode, max, sandbox) = (decided.mode.as_str(), decided.max_stories, decided.sandbox);
        voice.log(&format!(
            "start mode={mode} tool=codex max_stories={max} sandbox={sandbox}"
        ));
        let search = self.settings.search;
        self.events.add(&format!(
            "RUN_START mode={mode} tool=codex max_stories={max} sandbox={sandbox} search={search}"
        ))?;
        let (processed, passed) = self.each(&decided, tool.as_ref(), voice).await?;
        let remaining = self.prd()?.open(decided.mode).len();
        let summary = format!(
            "processed={processed} passed={passed} remaining={remaining} mode={mode} tool=codex"
        );
        voice.log(&format!("summary {summary}"));
        self.events.add(&format!("RUN_END {summary}"))?;
        if remaining == 0 {
            voice.plain("<promise>COMPLETE</promise>");
            voice.log("All stories complete.");
        }
        Ok(())
    }

    fn decide(&self, prd: &Prd) -> Result<Decided, Ended> {
        let or = |said: &Option<String>, prd: &str| said.clone().unwrap_or_else(|| prd.to_owned());
        let defaults = &prd.defaults;
        let mode = self.settings.mode.unwrap_or(defaults.mode);
        let effort = or(&self.settings.effort, &defaults.effort);
        if !["low", "medium", "high"].contains(&effort.as_str()) {
            return Err(Ended::failed(
                "Reasoning effort must be one of: low|medium|high",
            ));
        }
        Ok(Decided {
            mode,
            effort,
            model: or(&self.settings.model, &defaults.model),
            sandbox: match mode {
                Mode::Audit | Mode::Linting => "read-only",
                Mode::Fixing => "workspace-write",
            },
            max_stories: 0,
        })
    }

    fn how_many(&self, prd: &Prd, decided: &Decided, voice: &mut Voice<'_>) -> u64 {
        let mode = decided.mode.as_str();
        if let Some(said) = self.settings.max_stories {
            return said;
        }
        if let Some(max) = prd.defaults.max_stories {
            voice.log(&format!(
                "no N provided; using defaults.max_stories_default={max} for mode={mode}"
            ));
            return max;
        }
        let open = prd.open(decided.mode).len() as u64;
        voice.log(&format!(
            "no N provided; processing all remaining open stories for mode={mode} (count={open})"
        ));
        open
    }

    /// The tool; none where no story is to be done.
    fn tool<'t>(&'t self, decided: &'t Decided) -> Result<Option<Tool<'t>>, Ended> {
        if decided.max_stories == 0 {
            self.events
                .add("INFO tool dependency check skipped (max_stories=0 tool=codex)")?;
            return Ok(None);
        }
        let program = match &self.given.executor {
            Some(line) => Program::Line(line.clone()),
            None => {
                let codex = find_on_path(Path::new("codex"), path_of(&self.given.env));
                Program::Codex(
                    codex.ok_or_else(|| Ended::failed("Missing required dependency: codex"))?,
                )
            }
        };
        Ok(Some(Tool {
            program,
            root: &self.place.root,
            cwd: &self.given.cwd,
            state: &self.place.state,
            run_log: self.place.run_log(),
            env: &self.given.env,
            settings: self.settings,
            sandbox: decided.sandbox,
            model: &decided.model,
            effort: &decided.effort,
            redactor: &self.given.redactor,
            cancel: &self.given.cancel,
        }))
    }

    async fn ask_model(&self, tool: Option<&Tool<'_>>, voice: &mut Voice<'_>) -> Result<(), Ended> {
        let Some(tool) = tool.filter(|_| self.settings.model_preflight) else {
            return Ok(());
        };
        let question = "Reply with exactly:\nMODEL_PREFLIGHT_OK\n";
        let model = tool.model;
        let message = match tool.ask(PREFLIGHT, question, self.events, voice).await? {
            Came::Message(message) => message,
            Came::Failed(rc) => {
                return Err(Ended::Failed(format!(
                    "Model preflight check failed (tool=codex model={model} rc={rc})"
                )));
            }
        };
        let is_right = String::from_utf8_lossy(&message)
            .lines()
            .any(|line| line == "MODEL_PREFLIGHT_OK");
        if !is_right {
            return Err(Ended::Failed(format!(
                "Model preflight check returned unexpected output for model={model}"
            )));
        }
        self.events
            .add(&format!("INFO model_preflight_ok tool=codex model={model}"))
    }

    /// Every story in its turn: how many were taken, and how many passed.
    async fn each(
        &self,
        decided: &Decided,
        tool: Option<&Tool<'_>>,
        voice: &mut Voice<'_>,
    ) -> Result<(u64, u64), Ended> {
        let (mut processed, mut passed) = (0, 0);
        let mut baseline = Baseline {
            state: None,
            is_logged: false,
        };
        while let Some(tool) = tool.filter(|_| processed < decided.max_stories) {
            let prd = self.prd()?;
            let Some(story) = prd.open(decided.mode).into_iter().next() else {
                break;
            };
            processed += 1;
            let max = decided.max_stories;
            voice.log(&format!(
                "Processing story {processed}/{max} ({})",
                story.id
            ));
            match self.story(&prd, story, tool, &mut baseline, voice).await? {
                None => passed += 1,
                Some(code) => self.failed(story, code, &mut baseline, voice).await?,
            }
        }
        Ok((processed, passed))
    }

    /// One story; the code of a tool that failed.
    async fn story(
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
    async fn remember(&self, mode: Mode, baseline: &mut Baseline) -> Result<(), Ended> {
        if mode == Mode::Fixing && baseline.state.is_none() {
            baseline.state = Some(self.look(baseline).await?);
        }
        Ok(())
    }

    /// What we wrote ourselves is no change of the next story.
    async fn forget(&self, mode: Mode, baseline: &mut Baseline) -> Result<(), Ended> {
        if mode == Mode::Fixing {
            baseline.state = Some(self.look(baseline).await?);
        }
        Ok(())
    }

    /// Whatever became of the tool, it changed nothing that it may not.
    async fn hold_to_scope(&self, story: &Story, baseline: &mut Baseline) -> Result<(), Ended> {
        let Some(before) = baseline.state.take() else {
            return Ok(());
        };
        let after = self.look(baseline).await?;
        let scope = ShellCase::new(&story.scope);
        let changes = before.changes(&after);
        let outside = changes.iter().filter(|path| !scope.covers(as_path(path)));
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
        let written = write_bytes(&self.place.prd, prd.document.pretty().as_bytes(), Sync::Now);
        written.map_err(Ended::io("write the PRD", &self.place.prd))
    }

    /// A story whose tool failed ends the run, or is skipped when it failed often enough.
    async fn failed(
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

    fn helpers(&self) -> Helpers<'_> {
        Helpers {
            own: &self.place.own,
            cwd: &self.given.cwd,
            env: &self.given.env,
            cancel: &self.given.cancel,
        }
    }

    /// `progress.txt`, where there is one.
    async fn refresh_progress(&self, prd: &Prd) -> Result<(), Ended> {
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

    async fn append_progress(&self, story: &Story, report: &str) -> Result<(), Ended> {
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

    async fn sync_agents(&self, story: &Story) -> Result<(), Ended> {
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

    async fn sync_branch(&self, prd: &Prd) -> Result<(), Ended> {
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
    async fn archive(&self, prd: &Prd) -> Result<(), Ended> {
        let track = self.place.state.join(".last-project");
        let previous = fs::read_to_string(&track).unwrap_or_default();
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

fn as_path(bytes: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

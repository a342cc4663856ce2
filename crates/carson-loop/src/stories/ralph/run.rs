//! A run of ralph-loop, from its words to its exit code.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::Clock;
use carson_proc::{Cancel, find_on_path};
use carson_redact::Redactor;

use super::ended::Ended;
use super::events::Events;
use super::lock::RunLock;
use super::place::Place;
use super::prd::Prd;
use super::preflight;
use super::read;
use super::settings::{Ask, Mode, Settings, Variables};
use super::state::Baseline;
use super::tool::{self, Came, PREFLIGHT, Program, Tool};
use super::usage::USAGE;
use super::voice::{To, Voice};
use crate::json_file::sweep;

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
    if code != 0 && voice.has_begun {
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

pub(super) fn path_of(env: &[(OsString, OsString)]) -> Option<&std::ffi::OsStr> {
    let path = env.iter().rev().find(|(name, _)| name == "PATH");
    path.map(|(_, value)| value.as_os_str())
}

/// What all parts of a run are given.
pub(super) struct Run<'r> {
    pub given: &'r Given,
    pub settings: &'r Settings,
    pub place: &'r Place,
    pub events: &'r Events,
    pub variables: &'r Variables,
    pub git: Option<PathBuf>,
}

/// What the PRD decides where nobody else did.
struct Decided {
    mode: Mode,
    model: String,
    effort: String,
    sandbox: &'static str,
    max_stories: u64,
}

impl Run<'_> {
    /// The PRD as it stands in its file now.
    pub(super) fn prd(&self) -> Result<Prd, Ended> {
        read::prd(self.place)
    }

    fn list(&self, voice: &mut Voice<'_>) -> Result<(), Ended> {
        let prd = self.prd()?;
        let mode = self.decide(&prd)?.mode;
        for story in prd.open(mode) {
            let (id, priority) = (&story.id, story.priority);
            let title = story.title.replace(['\t', '\n', '\r'], " ");
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
            &mut |waits| voice.error(&format!("[ralph] {waits}")),
        )
        .await?;
        voice.has_begun = true;
        sweep(&self.place.prd_file);
        tool::sweep(&self.place.state);
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
        let mut baseline = Baseline::default();
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
}

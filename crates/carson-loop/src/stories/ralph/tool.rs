//! One story's calls of Codex: each one execution, of which only the last message counts.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{
    Ask, Cancel, Command, Exit, Finished, Limits, SpawnError, StopReason, Stream, run,
};
use carson_redact::Redactor;

use super::ended::Ended;
use super::events::Events;
use super::redact::{last_lines, redacted};
use super::references::named_sources;
use super::settings::Settings;
use super::voice::Voice;
use crate::output::Output;
use crate::own_file::{How, open};

/// Bytes of each end of what is printed that are kept.
const KEEP: usize = 1 << 20;
/// Bytes of a last message that are read.
const LONGEST: u64 = 16 << 20;
/// Between SIGINT and SIGKILL.
const GRACE: Duration = Duration::from_secs(15);
/// Between two attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// The last message was empty.
const EMPTY: i32 = 44;

/// What is called.
#[derive(Clone, Debug)]
pub enum Program {
    /// Codex, here.
    Codex(PathBuf),
    /// A line for `sh`: it reads the prompt, and `{prompt_file}`; its last message is `{last_message_file}`, or
    /// what it prints.
    Line(String),
}

/// How it is called.
#[derive(Clone, Debug)]
pub struct Tool<'t> {
    /// What is called.
    pub program: Program,
    /// The top of the repository.
    pub root: &'t Path,
    /// Where it is started.
    pub cwd: &'t Path,
    /// Where files of ours are.
    pub state: &'t Path,
    /// What tools printed.
    pub run_log: PathBuf,
    /// What it finds in its environment.
    pub env: &'t [(OsString, OsString)],
    /// What is set.
    pub settings: &'t Settings,
    /// Codex's own sandbox.
    pub sandbox: &'t str,
    /// The model.
    pub model: &'t str,
    /// How hard it thinks.
    pub effort: &'t str,
    /// Takes secrets out.
    pub redactor: &'t Redactor,
    /// Ends it early.
    pub cancel: &'t Cancel,
}

/// What came of the calls for a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// The last message.
    Message(Vec<u8>),
    /// The code of the last call.
    Failed(i32),
}

/// One call.
struct Call {
    code: i32,
    message: Vec<u8>,
    printed: Vec<u8>,
}

impl Tool<'_> {
    /// Calls it until it answers, at most as often as is set.
    ///
    /// # Errors
    /// When files cannot be written, or the run is to end.
    pub async fn ask(
        &self,
        story: &str,
        prompt: &str,
        events: &Events,
        voice: &mut Voice<'_>,
    ) -> Result<Came, Ended> {
        let max = self.settings.max_attempts;
        let mut attempt = 1;
        loop {
            let call = self.call(story, prompt).await?;
            let code = self.judged(story, &call, events)?;
            if code == 0 {
                if self.settings.capture_output {
                    self.keep(&call.printed)?;
                }
                if attempt > 1 {
                    events.add(&format!(
                        "INFO story={story} tool_retry_recovered attempt={attempt} max={max}"
                    ))?;
                }
                return Ok(Came::Message(call.message));
            }
            self.keep(&call.printed)?;
            if code == EMPTY {
                events.add(&format!(
                    "WARN story={story} empty_last_message attempt={attempt} max={max}"
                ))?;
            }
            if attempt >= max {
                self.show_end(&call.printed, voice);
                return Ok(Came::Failed(code));
            }
            events.add(&format!(
                "WARN story={story} tool_attempt_failed rc={code} attempt={attempt} max={max}"
            ))?;
            attempt += 1;
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = self.cancel.cancelled() => return Err(Ended::Interrupted),
            }
        }
    }

    /// The code of a call, by what it left as well.
    fn judged(&self, story: &str, call: &Call, events: &Events) -> Result<i32, Ended> {
        if call.code != 0 {
            return Ok(call.code);
        }
        if call.message.is_empty() {
            return Ok(EMPTY);
        }
        if !self.settings.search || !self.settings.require_references || story == PREFLIGHT {
            return Ok(0);
        }
        match named_sources(&call.message) {
            Ok(()) => Ok(0),
            Err(lacks) => {
                events.add(&format!("WARN story={story} {lacks}"))?;
                Ok(lacks.code())
            }
        }
    }

    async fn call(&self, story: &str, prompt: &str) -> Result<Call, Ended> {
        let files = Files::make(self.state, story, prompt)?;
        let command = self.command(&files)?.exact_env(self.env.to_vec());
        let command = command
            .env(
                "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
                self.settings.originator.as_str(),
            )
            .stdin_bytes(prompt.as_bytes());
        let seconds = self.settings.timeout_seconds;
        let limits = Limits {
            ask: Ask::Interrupt,
            grace: GRACE,
            max_output: u64::MAX,
            keep: 0,
            ..Limits::within(match seconds {
                0 => Duration::MAX,
                _ => Duration::from_secs(seconds),
            })
        };
        let (mut printed, mut answer) = (Output::keeping(KEEP), Output::keeping(KEEP));
        let done = run(&command, &limits, self.cancel, |line| {
            for output in [
                Some(&mut printed),
                (line.stream == Stream::Stdout).then_some(&mut answer),
            ] {
                let Some(output) = output else { continue };
                output.push(line.bytes);
                output.push(b"\n");
            }
            ControlFlow::Continue(())
        });
        let code = match done.await {
            Ok(done) if done.stopped == Some(StopReason::Cancelled) => {
                return Err(Ended::Interrupted);
            }
            Ok(done) => code(&done),
            Err(error) => {
                printed.push(format!("{error}\n").as_bytes());
                not_started(&error)
            }
        };
        let message = match files.is_used_by(&self.program) {
            true => read(&files.message),
            false => answer.bytes(),
        };
        Ok(Call {
            code,
            message,
            printed: printed.bytes(),
        })
    }

    fn command(&self, files: &Files) -> Result<Command, Ended> {
        let codex = match &self.program {
            Program::Codex(codex) => codex,
            Program::Line(line) => {
                let line = files.filled_in(line);
                return Ok(Command::new("/bin/sh", self.cwd).args(["-c", line.as_str()]));
            }
        };
        let mut command = Command::new(codex, self.cwd).args(["-a", "never"]);
        if self.settings.search {
            command = command.arg("--search");
        }
        command = command
            .args(["exec", "-C"])
            .arg(self.root)
            .args(["-s", self.sandbox]);
        command = command.args(["-m", self.model, "-c"]);
        command = command.arg(format!("model_reasoning_effort=\"{}\"", self.effort));
        Ok(command.arg("--output-last-message").arg(&files.message))
    }

    /// Adds what was printed to the log of runs.
    fn keep(&self, printed: &[u8]) -> Result<(), Ended> {
        let text = redacted(printed, self.redactor);
        let file = open(&self.run_log, How::Append);
        let written = file.and_then(|mut file| file.write_all(&text));
        written.map_err(Ended::io("write the run log", &self.run_log))
    }

    /// Shows how it ended.
    fn show_end(&self, printed: &[u8], voice: &mut Voice<'_>) {
        const LINES: usize = 25;
        let lines = last_lines(&redacted(printed, self.redactor), LINES);
        if lines.is_empty() {
            return;
        }
        voice.error(&format!(
            "[ralph] codex failure excerpt (redacted, last {LINES} lines):"
        ));
        for line in lines {
            voice.error(&format!("[ralph][codex] {line}"));
        }
    }
}

/// The name of the known question in place of a story.
pub const PREFLIGHT: &str = "MODEL_PREFLIGHT";

/// As `timeout` and a shell say it.
fn code(done: &Finished) -> i32 {
    match (done.stopped, done.exit) {
        (Some(_), Exit::Signal(9)) => 137,
        (Some(_), _) => 124,
        (None, Exit::Code(code)) => code,
        (None, Exit::Signal(signal)) => 128 + signal,
    }
}

fn not_started(error: &SpawnError) -> i32 {
    match error {
        SpawnError::NotFound { .. } | SpawnError::Interpreter { .. } => 127,
        SpawnError::NotExecutable { .. } | SpawnError::Cwd { .. } | SpawnError::Io { .. } => 126,
    }
}

/// How the names of the files of a call begin.
const PROMPT: &str = ".prompt.";
const MESSAGE: &str = ".last-message.";

/// Takes away the files of calls of runs that were killed: nobody else works there who has the lock.
pub fn sweep(state: &Path) {
    let items = fs::read_dir(state).into_iter().flatten();
    for item in items.filter_map(Result::ok) {
        let name = item.file_name();
        let name = name.to_string_lossy();
        if [PROMPT, MESSAGE]
            .iter()
            .any(|first| name.starts_with(first))
        {
            let _ = fs::remove_file(item.path());
        }
    }
}

/// The files of one call, which go with it.
struct Files {
    prompt: PathBuf,
    message: PathBuf,
}

impl Files {
    fn make(state: &Path, story: &str, prompt: &str) -> Result<Self, Ended> {
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|error| Ended::failed(error.to_string()))?;
        let mark = u32::from_be_bytes(random);
        let files = Self {
            prompt: state.join(format!("{PROMPT}{story}.{mark:08x}.md")),
            message: state.join(format!("{MESSAGE}{story}.{mark:08x}.md")),
        };
        let file = open(&files.prompt, How::Write);
        let written = file.and_then(|mut file| file.write_all(prompt.as_bytes()));
        written.map_err(Ended::io("write the prompt", &files.prompt))?;
        Ok(files)
    }

    fn is_used_by(&self, program: &Program) -> bool {
        match program {
            Program::Codex(_) => true,
            Program::Line(line) => line.contains("{last_message_file}"),
        }
    }

    fn filled_in(&self, line: &str) -> String {
        let line = crate::stories::fill_in(line, "{prompt_file}", &self.prompt);
        crate::stories::fill_in(&line, "{last_message_file}", &self.message)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.prompt);
        let _ = fs::remove_file(&self.message);
    }
}

/// A last message; nothing of what is none.
fn read(path: &Path) -> Vec<u8> {
    let is_message =
        fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    is_message
        .then(|| fs::read(path).ok())
        .flatten()
        .unwrap_or_default()
}

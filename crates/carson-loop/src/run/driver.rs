//! One run of a loop, from its lock to its end.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use carson_proc::Cancel;

use super::attempt::{Prepared, Told, output_hash};
use super::begin::{Begin, Wish, begin};
use super::dead;
use super::ground::Ground;
use super::orphans::end_orphans;
use super::promise::{self, Asked, exit, millis};
use super::put_away::put_away;
use super::step::{Step, Watch};
use crate::bounds::{Bounds, Next};
use crate::caller::Caller;
use crate::checkpoint::{Checkpoint, Checkpoints, Repository};
use crate::config::{Config, MOST_ATTEMPTS};
use crate::config_file::ConfigFile;
use crate::digest::Digest;
use crate::error::LoopError;
use crate::event::{Ended, Happened};
use crate::executor::{How, Ran, Unable};
use crate::executor_version::ExecutorVersion;
use crate::fold::{bound, has_attempts, interrupted, traces};
use crate::journal::Journal;
use crate::json_file::{self, Sync};
use crate::lock::{Lock, Owner};
use crate::mark::Mark;
use crate::meta::{Meta, Outcome};
use crate::own_file;
use crate::place::Place;
use crate::progress::{Stagnation, Trace, Verdict, judge, matches};
use crate::state::State;
use crate::status::Status;
use crate::stop_file::StopFile;
use crate::syncer::Syncer;
use crate::tree::{GitDir, Look, Snapshot};
use crate::walls::{Reach, Walls};

/// How a loop is to be run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What running it again means.
    pub wish: Wish,
    /// Walls around task and promise, and what they reach beside the usual.
    pub sandbox: Option<Reach>,
}

/// What the lock says of whoever runs a loop.
pub const OWNER: &str = "carson loop run";

/// Runs a loop to its end, in this process; the state in which it ended.
///
/// # Errors
/// When somebody else runs it, it has ended before, or its files are broken or go away.
pub async fn run(
    place: &Place,
    caller: &Caller,
    options: &Options,
    cancel: &Cancel,
    watch: Watch<'_>,
) -> Result<State, LoopError> {
    place.make()?;
    let since = caller.clock.now();
    let lock = Lock::take(&place.lock(), &Owner::myself(OWNER, since))?;
    if let Some(dead) = lock.after() {
        watch(Step::TookOver(dead));
        match end_orphans(place, &lock).await {
            0 => {}
            count => watch(Step::EndedOrphans(count)),
        }
    }
    json_file::sweep_dir(&place.dir(), 2);
    let path = place.mark();
    let _mark = Mark::set(&path).map_err(LoopError::io(format!("{}", path.display())))?;
    let file = ConfigFile::open(place)?;
    let mut journal = Journal::open(place, &caller.clock)?;
    let subject = subject(&file.config);
    let begun = begin(journal.state(), subject, options.wish)?;
    if begun == Begin::Fresh {
        drop(journal);
        let to = put_away(place)?;
        watch(Step::PutAway(&to));
        journal = Journal::open(place, &caller.clock)?;
    }
    let walls = walls(place, &file.config, caller, options).await?;
    let mut runner = Runner {
        checkpoints: Checkpoints::open(place)?,
        elapsed: Duration::from_millis(journal.state().elapsed_ms),
        ground: Ground::new(place.clone(), caller.clone(), walls),
        version: ExecutorVersion::default(),
        syncer: Syncer::default(),
        began: Instant::now(),
        seen: Snapshot::default(),
        told: Told::default(),
        doubted: false,
        is_first: true,
        subject,
        journal,
        lock,
        file,
        cancel,
        watch,
    };
    runner.start(begun)?;
    let ended = runner.until_end().await;
    runner.end(ended)
}

/// What a loop is about.
fn subject(config: &Config) -> Digest {
    let text = serde_json::to_vec(&(&config.promise, &config.task)).unwrap_or_default();
    Digest::of(&text)
}

async fn walls(
    place: &Place,
    config: &Config,
    caller: &Caller,
    options: &Options,
) -> Result<Option<Walls>, LoopError> {
    let Some(reach) = &options.sandbox else {
        return Ok(None);
    };
    let walls = Walls::new(place, &config.task, caller, reach);
    let walls = walls.map_err(LoopError::io("the sandbox cannot be prepared"))?;
    let stand = walls.stand(place).await;
    stand.map_err(|lacks| LoopError::NoWalls { lacks })?;
    Ok(Some(walls))
}

struct Runner<'r> {
    ground: Ground,
    journal: Journal,
    checkpoints: Checkpoints,
    file: ConfigFile,
    version: ExecutorVersion,
    syncer: Syncer,
    lock: Lock,
    /// The tree as the next attempt finds it.
    seen: Snapshot,
    /// What the next attempt hears.
    told: Told,
    /// It was said that it may get nowhere.
    doubted: bool,
    /// No attempt of this run has been made.
    is_first: bool,
    subject: Digest,
    /// What runs before this one took.
    elapsed: Duration,
    began: Instant,
    cancel: &'r Cancel,
    watch: Watch<'r>,
}

impl Runner<'_> {
    fn elapsed(&self) -> Duration {
        self.elapsed + self.began.elapsed()
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            max_attempts: self.journal.state().max_attempts,
            total: Some(self.file.config.total()),
        }
    }

    fn left(&self) -> Duration {
        self.bounds().left(self.elapsed())
    }

    fn add(&mut self, what: Happened) -> Result<(), LoopError> {
        self.stands()?;
        self.journal.add(what, Sync::Later)
    }

    /// Whether its files are still there: somebody may have taken them away, and begun another loop.
    fn stands(&self) -> Result<(), LoopError> {
        match self.lock.stands() {
            true => Ok(()),
            false if self.journal.is_there() => Err(LoopError::Unlocked {
                path: self.ground.place.lock(),
            }),
            false => Err(LoopError::Gone {
                dir: self.ground.place.dir(),
            }),
        }
    }

    fn start(&mut self, begun: Begin) -> Result<(), LoopError> {
        if begun == Begin::GoesOn {
            self.conclude_interrupted()?;
        }
        let configured = self.file.config.max_attempts;
        let more = match begun {
            Begin::More(attempts) => Some(attempts),
            Begin::Again => {
                Some(configured.min(MOST_ATTEMPTS.saturating_sub(self.journal.state().attempt)))
            }
            _ => None,
        };
        if let Some(attempts) = more {
            self.conclude_interrupted()?;
            self.add(Happened::More { attempts })?;
            self.elapsed = Duration::ZERO;
        }
        self.add(Happened::Started {
            pid: carson_proc::ProcessId::current().pid,
            max_attempts: match begun {
                Begin::More(_) | Begin::Again => self.journal.state().max_attempts,
                Begin::GoesOn => bound(self.journal.past(), configured),
                Begin::First | Begin::Fresh => configured,
            },
            configured: Some(configured),
            subject: self.subject,
            goes_on: begun == Begin::GoesOn,
            sandbox: self.ground.walls.is_some(),
        })
    }

    /// An attempt that was under way when the loop died counts.
    fn conclude_interrupted(&mut self) -> Result<(), LoopError> {
        let Some(begun) = interrupted(self.journal.past()) else {
            return Ok(());
        };
        if !self.checkpoints.has(begun.attempt) {
            self.checkpoint(begun.attempt)?;
        }
        let ground = &self.ground;
        let meta = dead::meta(
            (&ground.place, &ground.rules),
            &mut self.checkpoints,
            Some(&self.file.config),
            begun,
            ground.caller.clock.now(),
        )?;
        self.elapsed += Duration::from_millis(meta.took_ms);
        (self.watch)(Step::Interrupted(&meta));
        self.attempt_ended(meta)
    }

    /// Makes a checkpoint of the tree as it is, and tells what could not be kept.
    fn checkpoint(&mut self, number: u32) -> Result<Checkpoint, LoopError> {
        self.stands()?;
        let ground = &self.ground;
        let root = (ground.place.root(), &ground.rules);
        let made = self.checkpoints.make(number, root, Some(&self.seen))?;
        let missed = made.tree.missed();
        if let (Some(first), true) = (missed.first(), self.is_first) {
            let said = format!("{}: {}", first.path, first.why);
            (self.watch)(Step::NotKept(missed.len() as u64, &said));
        }
        Ok(made)
    }

    /// Tells which repositories are gone: no checkpoint has them.
    fn miss_repositories(&mut self, left: &Snapshot) {
        let git = self.ground.rules.git();
        let top = git.map(|git| git.top.as_path());
        if let Some(top) = top.filter(|top| GitDir::at(top).is_none()) {
            (self.watch)(Step::RepositoryGone(&top.display().to_string()));
        }
        let root = self.ground.place.root();
        for git in self.seen.repositories().difference(left.repositories()) {
            let Some(dir) = git.parent() else { continue };
            if root.join(git.as_path()).symlink_metadata().is_err() {
                (self.watch)(Step::RepositoryGone(&dir.to_string()));
            }
        }
    }

    /// Looks at the tree as it is now.
    fn look(&self) -> Result<Snapshot, LoopError> {
        let ground = &self.ground;
        let look = Look {
            before: Some(&self.seen),
            ..Look::at(ground.place.root(), &ground.rules)
        };
        Ok(look.snapshot()?)
    }

    /// Runs until it ends; how.
    async fn until_end(&mut self) -> Result<Ended, LoopError> {
        if let Some(ended) = self.first_check().await? {
            return Ok(ended);
        }
        let last = self.journal.state().last_attempt;
        self.seen = match last > 0 && self.checkpoints.has(last) {
            true => self.look()?,
            false => self.checkpoint(0)?.tree,
        };
        // What ALPF's attempts left is what the next one is held against.
        if !self.checkpoints.has(last) {
            self.checkpoint(last)?;
        }
        loop {
            if let Some(ended) = self.boundary()? {
                return Ok(ended);
            }
            let state = self.journal.state();
            match self.bounds().after(state.attempt, self.elapsed()) {
                Next::Attempt => {}
                Next::Exhausted => return Ok(self.exhausted()),
                Next::TimedOut => return Ok(self.out_of_time()),
            }
            if let Some(ended) = self.attempt().await? {
                return Ok(ended);
            }
        }
    }

    /// Asks the promise before any attempt of this run.
    async fn first_check(&mut self) -> Result<Option<Ended>, LoopError> {
        (self.watch)(Step::Checking(0));
        let asked = self.ask().await?;
        let text = self.ground.redacted(&asked.output.text());
        (self.watch)(Step::Checked(&asked.checked, last_line(&text)));
        let file = self.ground.place.first_check();
        let written = json_file::write_bytes(&file, text.as_bytes(), Sync::Later);
        written.map_err(LoopError::io(format!("{}", file.display())))?;
        self.told = self.told(0, &asked);
        let check = asked.checked.clone();
        let elapsed_ms = millis(self.elapsed());
        self.add(Happened::Checked { check, elapsed_ms })?;
        let last = self.journal.state().last_attempt;
        Ok(match asked {
            _ if asked.checked.passed && last == 0 => Some(self.ended(
                Status::AlreadyDone,
                "the promise was kept before the first attempt",
            )),
            _ if asked.checked.passed => {
                let said = format!("the promise is kept, behind attempt {last}");
                Some(self.ended(Status::Done, said))
            }
            _ if asked.stopped => Some(self.stopped("before an attempt")),
            _ if asked.out_of_time => Some(self.out_of_time()),
            Asked {
                unable: Some(unable),
                ..
            } => Some(self.unable("promise", unable, &asked.output.text())),
            _ => None,
        })
    }

    async fn ask(&mut self) -> Result<Asked, LoopError> {
        let left = self.left();
        promise::ask(&self.ground, &self.file.config, left, self.cancel).await
    }

    /// What the next attempt hears of a check.
    fn told(&self, attempt: u32, asked: &Asked) -> Told {
        let behind = match (attempt, self.journal.state().last_attempt) {
            (0, 0) => "before the first attempt".to_owned(),
            (0, last) => format!("before attempt {}", last + 1),
            (n, _) => format!("after attempt {n}"),
        };
        let promise = &self.file.config.promise;
        let said = asked.checked.said();
        Told {
            says: format!("The check `{promise}` failed {behind}: {said}. What it printed:"),
            printed: asked.output.text(),
        }
    }

    /// Between two attempts: what a person changed meanwhile, and whether somebody asked to stop.
    fn boundary(&mut self) -> Result<Option<Ended>, LoopError> {
        self.stands()?;
        if self.cancel.is_cancelled() {
            return Ok(Some(self.stopped("between two attempts")));
        }
        if StopFile::is_meant(&self.ground.place) {
            self.add(Happened::StopAsked {
                after_attempt: true,
            })?;
            return Ok(Some(self.ended(
                Status::Stopped,
                "stopped behind the attempt, as was asked",
            )));
        }
        match self.file.read_again() {
            Err(error) => return Ok(Some(self.broken(&error))),
            Ok(keys) if keys.is_empty() => {}
            Ok(keys) => {
                (self.watch)(Step::ConfigChanged(&keys));
                let max_attempts = match has_attempts(&keys) {
                    true => self.file.config.max_attempts,
                    false => self.journal.state().max_attempts,
                };
                self.add(Happened::ConfigChanged { keys, max_attempts })?;
            }
        }
        match self.journal.take_edits() {
            Err(error) => return Ok(Some(self.broken(&error))),
            Ok(false) => {}
            Ok(true) => (self.watch)(Step::StateEdited),
        }
        let status = self.journal.state().status;
        let is_ended = !matches!(status, Status::Running | Status::Idle);
        Ok(is_ended.then(|| {
            self.ended(
                Status::Stopped,
                format!("state.json was edited to {status}"),
            )
        }))
    }

    /// Makes an attempt; how the run ended by it, if it did.
    async fn attempt(&mut self) -> Result<Option<Ended>, LoopError> {
        let number = self.journal.state().last_attempt + 1;
        let config = self.file.config.clone();
        let state = self.journal.state();
        (self.watch)(Step::Attempt(number, state.attempt + 1, state.max_attempts));
        let prepared = Prepared::new(&self.ground, &config, number, &self.told)?;
        let version = self
            .version
            .of(&config.task, self.ground.place.root(), &self.ground.caller)
            .await;
        let (prompt_hash, found) = (prepared.prompt_hash, self.seen.hash());
        self.add(Happened::AttemptStarted {
            attempt: number,
            prompt_hash,
            tree_before_hash: found,
        })?;
        let started_at = self.ground.caller.clock.now();
        let left = self.left();
        let (ran, out_of_time) = prepared
            .run(&self.ground, &config, left, self.cancel, self.watch)
            .await?;
        let kept = self.checkpoint(number)?;
        self.miss_repositories(&kept.tree);
        let mut meta = Meta {
            attempt: number,
            outcome: Outcome::Failed,
            started_at,
            ended_at: self.ground.caller.clock.now(),
            exit: exit(ran.how),
            ended_by: match out_of_time {
                true => promise::out_of_time(&config),
                false => ended_by(&ran, &config),
            },
            took_ms: millis(ran.elapsed),
            output_hash: output_hash(&self.ground, &ran),
            output_bytes: ran.output.total(),
            tree_hash: Some(kept.tree.hash()),
            tree_before_hash: Some(found),
            changed: self.seen.changes(&kept.tree).len() as u64,
            prompt_hash,
            executor_version: version,
            head: kept.repository.head.clone(),
            leaked: ran.leaked,
            not_kept: kept.tree.missed().len() as u64,
            check: None,
        };
        self.seen = kept.tree;
        (self.watch)(Step::Ran(&meta));
        if let (Some(unable), true) = (ran.unable(), std::mem::take(&mut self.is_first)) {
            meta.outcome = Outcome::Unable;
            self.attempt_ended(meta)?;
            return Ok(Some(self.unable("task", unable, &ran.output.text())));
        }
        if ran.how == How::Stopped {
            meta.outcome = Outcome::Stopped;
            self.attempt_ended(meta)?;
            return Ok(Some(self.stopped(&format!("in attempt {number}"))));
        }
        if out_of_time {
            meta.outcome = Outcome::TimedOut;
            self.attempt_ended(meta)?;
            return Ok(Some(self.out_of_time()));
        }
        self.attempt_checked(meta, &ran, kept.repository).await
    }

    async fn attempt_checked(
        &mut self,
        mut meta: Meta,
        ran: &Ran,
        left: Repository,
    ) -> Result<Option<Ended>, LoopError> {
        let number = meta.attempt;
        (self.watch)(Step::Checking(number));
        let asked = self.ask().await?;
        let text = self.ground.redacted(&asked.output.text());
        (self.watch)(Step::Checked(&asked.checked, last_line(&text)));
        let file = self.ground.place.attempt(number).join("check");
        let written = json_file::write_bytes(&file, text.as_bytes(), Sync::Later);
        written.map_err(LoopError::io(format!("{}", file.display())))?;
        // What the check itself leaves is not what the next attempt does.
        let after = self.look()?;
        let repository = self.checkpoints.repository(&self.ground.rules)?;
        if after.hash() != self.seen.hash() || repository != left {
            self.checkpoints.saw(&after, repository, &BTreeSet::new())?;
        }
        self.seen = after;
        self.told = self.told(number, &asked);
        meta.ended_at = self.ground.caller.clock.now();
        meta.outcome = match asked {
            _ if asked.checked.passed => Outcome::Passed,
            _ if asked.stopped => Outcome::Stopped,
            _ if ran.how == How::TimedOut => Outcome::TimedOut,
            _ => Outcome::Failed,
        };
        meta.check = Some(asked.checked.clone());
        self.attempt_ended(meta)?;
        if asked.checked.passed {
            let said = format!("the promise was kept after attempt {number}");
            return Ok(Some(self.ended(Status::Done, said)));
        }
        if asked.stopped {
            return Ok(Some(self.stopped(&format!("in attempt {number}"))));
        }
        if asked.out_of_time {
            return Ok(Some(self.out_of_time()));
        }
        self.judged()
    }

    /// Whether the attempts so far get anywhere.
    fn judged(&mut self) -> Result<Option<Ended>, LoopError> {
        let traces: Vec<Trace> = traces(self.journal.past());
        let matching = matches(&traces);
        if !matching.is_empty() {
            (self.watch)(Step::Matches(&matching));
        }
        match judge(&traces, self.file.config.stagnation_limit) {
            Verdict::GoesOn => self.doubted = false,
            Verdict::Doubtful(found) => {
                let again = std::mem::replace(&mut self.doubted, true);
                self.told.says = format!("{}\n\nMind this: {found}.", self.told.says);
                (self.watch)(Step::Doubted(&found));
                if !again {
                    self.add(Happened::Doubted { found })?;
                }
            }
            Verdict::Stagnated(found) => return Ok(Some(self.stagnated(found))),
        }
        Ok(None)
    }

    fn attempt_ended(&mut self, meta: Meta) -> Result<(), LoopError> {
        let file = self.ground.place.attempt(meta.attempt).join("meta.json");
        let dir = self.ground.place.attempt(meta.attempt);
        own_file::make_dir(&dir).map_err(LoopError::io(format!("{}", dir.display())))?;
        json_file::write(&file, &meta, Sync::Later)?;
        let elapsed_ms = millis(self.elapsed());
        self.add(Happened::AttemptEnded {
            meta: Box::new(meta),
            elapsed_ms,
        })?;
        // The next attempt begins meanwhile.
        let files = self
            .checkpoints
            .contents
            .files()
            .and_then(|[data, index]| Ok(vec![data, index, self.journal.file()?]));
        let begun = files.and_then(|files| self.syncer.begin(files));
        begun.map_err(LoopError::io("what was kept is not on the disk"))
    }

    fn ended(&self, status: Status, reason: impl Into<String>) -> Ended {
        Ended {
            status,
            reason: self.ground.redacted(&reason.into()),
            found: None,
            elapsed_ms: millis(self.elapsed()),
        }
    }

    fn stopped(&self, when: &str) -> Ended {
        self.ended(Status::Stopped, format!("stopped {when}, as was asked"))
    }

    fn out_of_time(&self) -> Ended {
        let total = self.file.config.total_seconds;
        self.ended(
            Status::TimedOut,
            format!("its whole time of {total} s is over"),
        )
    }

    fn exhausted(&self) -> Ended {
        let count = self.journal.state().attempt;
        let said = carson_core::text::counted(count, "attempt");
        self.ended(
            Status::Exhausted,
            format!("{said} failed, and no more may be made"),
        )
    }

    fn stagnated(&self, found: Stagnation) -> Ended {
        Ended {
            found: Some(found.clone()),
            ..self.ended(Status::Stagnated, found.to_string())
        }
    }

    fn broken(&self, error: &LoopError) -> Ended {
        self.ended(Status::Stopped, error.to_string())
    }

    fn unable(&self, what: &str, unable: Unable, said: &str) -> Ended {
        let config = &self.file.config;
        let words = if what == "task" {
            &config.task
        } else {
            &config.promise
        };
        let why = match unable {
            Unable::NotFound => "there is no such command (127)",
            Unable::NotExecutable => "it is not executable (126)",
        };
        let last = match last_line(said) {
            "" => String::new(),
            last => format!(": {last}"),
        };
        self.ended(
            Status::Failed,
            format!("the {what} `{words}` cannot be started: {why}{last}"),
        )
    }

    /// Writes down how it ended.
    fn end(mut self, ended: Result<Ended, LoopError>) -> Result<State, LoopError> {
        // Nobody would read what is written now.
        self.stands()?;
        // What was edited since the last boundary is not lost; one that is broken is left as it is.
        let _ = self.journal.take_edits();
        let how = match ended {
            Ok(how) => how,
            Err(error) => {
                let how = self.broken(&error);
                let _ = self.journal.add(Happened::Ended { how }, Sync::Now);
                return Err(error);
            }
        };
        let synced = self.syncer.end();
        synced.map_err(LoopError::io("what was kept is not on the disk"))?;
        self.journal.add(Happened::Ended { how }, Sync::Now)?;
        Ok(self.journal.state().clone())
    }
}

/// The last line that says something.
fn last_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
        .unwrap_or_default()
}

fn ended_by(ran: &Ran, config: &Config) -> String {
    match ran.how {
        How::TimedOut => format!("it did not end within {} s", config.timeout_seconds),
        how => how.to_string(),
    }
}

//! Everything that one session is made of, before it begins.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use carson_config::Account;
use carson_core::Stage;
use carson_core::settle::Halt;
use carson_engine::{Access, Behind, Engine, Hook, Session};
use carson_proc::sandbox::First;

use super::ask::Ask;
use crate::budget;
use crate::ctx::Ctx;
use crate::hook_check;
use crate::placed::Placed;
use crate::prompt;
use crate::record::Record;
use crate::sandboxed_run::{self, Walls};
use carson_bench::bench::Bench;
use carson_bench::granted::LaidOut;
use carson_bench::hook_command::guarded_hook;
use carson_bench::private_dir;
use carson_home::engines;
use carson_home::halt::OrBroken;

/// What a prompt beside its transcript is called after: `01-plan.prompt.txt`.
const PROMPT: &str = "prompt.txt";

/// A session that is ready to run.
pub(super) struct Prepared<'h> {
    pub account: &'h Account,
    pub engine: Engine,
    pub walls: Walls,
    pub hook: Hook,
    pub hook_program: hook_check::Program,
    first: First,
    pub stage: Stage,
    pub access: Access,
    pub bench: Bench,
    /// The worktree on the disk.
    pub tree: PathBuf,
    seen_tree: PathBuf,
    prompt: String,
    system: String,
    env: Vec<(OsString, OsString)>,
    transcript: PathBuf,
    max_turns: u32,
    max_cost_usd: Option<f64>,
    granted: LaidOut,
}

impl<'h> Prepared<'h> {
    /// Fills the prompt and puts the walls up.
    pub(super) async fn make(
        ctx: &Ctx<'h>,
        rec: &Record,
        placed: &Placed<'_, '_>,
        ask: Ask<'_>,
    ) -> Result<Self, Halt> {
        let Ask {
            stage,
            bench,
            filling,
            ..
        } = ask;
        let account = rec.required_account(ctx)?;
        let outbox = bench.outbox();
        let brief = placed.brief(ctx, &outbox);
        let mut prompt = prompt::render(ctx.role, stage, &brief, filling)
            .map_err(|error| Halt::Broken(error.to_string()))?;
        let missing = || Halt::EngineFailed(format!("the {} CLI is not installed", account.engine));
        let mut engine = engines::engine_of(ctx.home, account).ok_or_else(missing)?;
        if let Some(route) = ctx.role.route_of(stage, &account.name) {
            engine.model = route.model.clone().or(engine.model);
            engine.effort.clone_from(&route.effort);
        }
        let transcript = transcript(ctx, rec, stage).or_broken("making the transcript's folder")?;
        let max_cost_usd = budget::left(ctx, rec).await?.map(|left| left.max(0.0));
        let mut env = placed.environment(ctx, rec, bench, filling.attempt)?;
        let before = rec.tally().stages.iter().filter(|done| **done == stage);
        env.push((
            "CARSON_STAGE_RUN".into(),
            (1 + before.count()).to_string().into(),
        ));
        let granted = bench.lay_out(ctx.home, ctx.role, stage, &env);
        let granted = granted.or_broken("giving the session what its role grants")?;
        let reads_skills = account.engine.facts().reads_skills;
        if let Some((_, skills)) = granted.skills.as_ref().filter(|_| !reads_skills) {
            prompt.push_str(&prompt::skills(skills));
        }
        let at = (ask.access(), stage);
        let walls = sandboxed_run::walls_of_session(ctx, rec, &placed.place.mirror, bench, at)?;
        let hook = guarded_hook(&ctx.home.program, ctx.home.path(), ctx.role.hook_failure);
        Ok(Self {
            granted,
            account,
            engine,
            walls,
            hook_program: hook_check::Program::of(&ctx.home.program),
            first: hook_check::questions(ctx, &bench.seen_tree()),
            hook: Hook {
                command: hook,
                settings_file: bench.hook_settings(),
            },
            stage,
            access: ask.access(),
            bench: bench.clone(),
            tree: bench.tree(),
            seen_tree: bench.seen_tree(),
            prompt,
            system: prompt::system(ctx.role),
            env,
            transcript,
            max_turns: brief.max_turns(stage),
            max_cost_usd,
        })
    }

    /// Puts the prompt beside the transcript, for people.
    pub(super) fn keep_prompt(&self, ctx: &Ctx<'_>) -> io::Result<()> {
        let mut file = OpenOptions::new();
        let file = file.write(true).create(true).truncate(true).mode(0o600);
        let text = ctx.redacted(&self.prompt);
        let path = self.transcript.with_extension(PROMPT);
        file.open(path)?.write_all(text.as_bytes())
    }

    /// As the engine takes it.
    pub(super) fn session<'a>(&'a self, ctx: &'a Ctx<'_>) -> Session<'a> {
        let role = ctx.role;
        Session {
            stage: self.stage,
            access: self.access,
            prompt: &self.prompt,
            cwd: &self.seen_tree,
            env: self.env.clone(),
            tools: match self.access {
                Access::Write => &role.tools.write,
                Access::Read => &role.tools.read,
            },
            servers: self.granted.servers.as_ref(),
            skills: self.skills(),
            may_hold_skills: self.bench.may_hold_skills(),
            max_turns: self.max_turns,
            max_tool_calls: role.limits.tool_calls(self.max_turns),
            max_cost_usd: self.max_cost_usd,
            wall_clock: ctx.remaining(),
            silence: role.limits.silence,
            max_output: role.limits.max_output_mb * 1024 * 1024,
            transcript: &self.transcript,
            redactor: &ctx.home.redactor,
            confined: Some(Behind {
                profile: self.walls.profile(),
                first: &self.first,
            }),
            hook: Some(&self.hook),
            system: &self.system,
            clock: &ctx.home.clock,
        }
    }
}

impl Prepared<'_> {
    /// The folder with its skills, for a CLI that reads them by itself.
    fn skills(&self) -> Option<&Path> {
        let reads = self.engine.kind.facts().reads_skills;
        let granted = self.granted.skills.as_ref().filter(|_| reads);
        granted.map(|(plugin, _)| plugin.as_path())
    }
}

/// One file a session, numbered in their order.
fn transcript(ctx: &Ctx<'_>, rec: &Record, stage: Stage) -> std::io::Result<PathBuf> {
    let dir = ctx.home.fleet.layout.transcripts(&ctx.id);
    private_dir(&dir)?;
    Ok(dir.join(format!("{:02}-{stage}.jsonl", rec.tally().sessions + 1)))
}

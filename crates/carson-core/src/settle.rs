//! Sentinel and facts become an outcome, by one table.
//!
//! The table is total: every combination of facts has exactly one outcome. Facts win over the
//! sentinel: a model that says `[OK]` and changed nothing has failed, a model that says
//! `[SILENT]` and left files behind has half-done something.

mod declared;
mod halt;
mod second_try;
mod settled;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use self::declared::settle_declared;
use crate::coverage::Aimed;
use crate::declared::Admitted;
use crate::leaving::Linted;
use crate::outcome::Outcome;
use crate::proof::Proof;
use crate::sentinel::Sentinel;
use crate::skip::{BlockKind, SkipReason};
use crate::story::StoryFact;
use crate::text::{counted, instant};
use crate::untrusted::one_line;

pub use halt::{Halt, HeldWork};
pub use second_try::{Held, SecondTry};
pub use settled::Settled;
use settled::settled;

/// Letters of what a session said last that a reason has.
const SAID: usize = 400;

/// Branches, and files, that are told one by one.
const TOLD: usize = 5;

/// What Carson's own run of the promise said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PromiseFact {
    /// The role has none, or the firing did not come that far.
    #[default]
    NotRun,
    /// The command exited 0.
    Passed,
    /// The command did not.
    Failed,
}

/// What the diff review said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum DiffReviewFact {
    /// The role has none, or the firing did not come that far.
    #[default]
    NotRun,
    /// `[APPROVE]`.
    Approved,
    /// `[REJECT]`, or `[REVISE]` after the one fix round.
    Rejected,
}

/// What a role's `[OK]` has to have made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// Commits, which become a pull request.
    #[default]
    Commits,
    /// What its last session said.
    Text,
    /// What it asks Carson to do, in its outbox.
    Effects,
}

/// Everything settle looks at. All of it was measured by Carson, but for the sentinel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// What its `[OK]` has to have made.
    #[serde(default)]
    pub goal: Goal,
    /// The early exit, if there was one.
    pub halt: Option<Halt>,
    /// The last sentinel of an execute session.
    pub sentinel: Option<Sentinel>,
    /// Commits on the firing's branch since its base.
    pub commits: u32,
    /// Staged, unstaged or untracked changes that are not ignored.
    pub dirty: bool,
    /// Branches with commits of the session's that its work does not have.
    #[serde(default)]
    pub beside: Vec<String>,
    /// What the promise said.
    pub promise: PromiseFact,
    /// What the diff review said.
    pub diff_review: DiffReviewFact,
    /// Tool calls that the hook or the CLI's rules stopped.
    pub blocked_calls: u32,
    /// Whether the `file:line` of an `[ALREADY-DONE]` exists in the base.
    pub reference_exists: bool,
    /// The commit that would be pushed as finished work.
    #[serde(default)]
    pub tip: Option<String>,
    /// The commit on which the promise passed.
    #[serde(default)]
    pub verified: Option<String>,
    /// The commit that the diff review saw.
    #[serde(default)]
    pub reviewed: Option<String>,
    /// Why the session's newest commit could not be taken over: `tip` is older work then.
    #[serde(default)]
    pub untaken: Option<String>,
    /// What that review was not shown, and nobody allowed: some of it.
    #[serde(default)]
    pub unshown: Vec<String>,
    /// Whether a model said anything.
    #[serde(default)]
    pub answered: bool,
    /// Lines of the change that people are to read, where they could be counted.
    #[serde(default)]
    pub lines: Option<u64>,
    /// Lines of the change and how many there may be, when it has more.
    #[serde(default)]
    pub oversize: Option<(u64, u64)>,
    /// Manifests that ask for other packages than before, each with its lock file and what became of that.
    #[serde(default)]
    pub drift: Vec<(String, String)>,
    /// Whether its tests fail without the change.
    #[serde(default)]
    pub proof: Proof,
    /// Whether it is a fix that is finished only with such a test.
    #[serde(default)]
    pub must_prove: bool,
    /// What the linter said of changed workflow files.
    #[serde(default)]
    pub linted: Linted,
    /// Whether the commits are an earlier firing's alone, with which it was to go on.
    #[serde(default)]
    pub unchanged: bool,
    /// Files that it changed and its role may not: some of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<String>,
    /// The file that its tests are for, where its role writes tests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aimed: Option<Aimed>,
    /// The story that it worked on, and what of that its work kept to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub story: Option<StoryFact>,
    /// What a second try came to, held against the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second: Option<SecondTry>,
    /// Threads of a pull request that are answered once it is mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
    /// Whether Carson itself knew what is to be done, without a session: what lies in the workspace says nothing
    /// about that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decided: bool,
    /// What its sessions asked Carson to do on the forge: what is done of it, and what is not.
    #[serde(default, skip_serializing_if = "Admitted::is_empty")]
    pub declared: Admitted,
}

impl Facts {
    fn has_work(&self) -> bool {
        self.commits > 0 && !self.unchanged || self.dirty || !self.beside.is_empty()
    }

    /// The firing was a second try beside this pull request, if one is named: until it was held against the first, that is
    /// not finished.
    pub fn is_second_try_of(&mut self, first: Option<u64>) {
        if self.second.is_none() {
            self.second = first.map(SecondTry::unfinished);
        }
    }

    /// Whether the firing tells nothing about the work: a person stopped it, this machine could not confine
    /// it, its check fails without it in the same way, it is a second try (nobody asked for it, and the first
    /// one stands), or what it stands on failed before any of it was done. Such a firing costs the work no
    /// attempt. A CLI that fails after a model has answered may do so because of the work.
    #[must_use]
    pub fn spares_the_work(&self) -> bool {
        if self.second.is_some() {
            return true;
        }
        match self.halt {
            Some(Halt::Cancelled | Halt::Unconfined(_) | Halt::AsBefore(_)) => true,
            Some(Halt::Unavailable(_) | Halt::Broken(_)) => !self.has_work(),
            Some(Halt::EngineFailed(_)) => !self.has_work() && !self.answered,
            _ => false,
        }
    }

    /// Whether it tells nothing about the role: its provider was away, for all roles alike, or it is a second
    /// try that is not kept. Such a one stops no first tries.
    #[must_use]
    pub fn spares_the_role(&self) -> bool {
        let second = self.second.as_ref();
        let is_not_kept = second.is_some_and(|second| matches!(second.end, Held::Lost(_)));
        is_not_kept || matches!(self.halt, Some(Halt::Unavailable(_)))
    }
}

/// The table (DESIGN §6).
#[must_use]
pub fn settle(facts: &Facts) -> Settled {
    let settled = match &facts.halt {
        Some(halt) => settle_halt(halt, facts),
        None => match &facts.sentinel {
            Some(sentinel) => settle_sentinel(sentinel, facts),
            None => settled(Outcome::Failed, "no session reported an end"),
        },
    };
    match &facts.second {
        Some(second) => second.settled(settled),
        None => settled,
    }
}

fn settle_halt(halt: &Halt, facts: &Facts) -> Settled {
    match halt {
        Halt::NothingToDo => settled(Outcome::Silent, "no work found"),
        Halt::AllHeld { issues, role } => {
            let are = if *issues == 1 { "is" } else { "are" };
            let held = counted(*issues, "issue");
            let told = format!(
                "no work found: {held} of its queue {are} held; `carson why {role}` says by what"
            );
            settled(Outcome::Silent, told)
        }
        Halt::NothingNew(why) => settled(Outcome::Silent, why),
        Halt::NothingReady(why) => settled(Outcome::Silent, format!("no work found: {why}")),
        Halt::WaitsForPeople(held) => settled(Outcome::Silent, format!("no work found; {held}")),
        Halt::Skipped(reason) => Settled {
            skip: Some(reason.kind()),
            ..settled(Outcome::Skipped, reason.to_string())
        },
        Halt::RateLimited {
            account,
            until,
            kind,
            why,
        } => {
            let until = until_text(*until);
            let why = if why.is_empty() {
                String::new()
            } else {
                format!(": {why}")
            };
            let text = format!("account {account} is blocked until {until}{why}");
            let outcome = match kind {
                Some(BlockKind::Auth) => Outcome::Auth,
                _ => Outcome::RateLimited,
            };
            settled(outcome, text)
        }
        Halt::TimedOut(what) => settled(Outcome::TimedOut, what),
        Halt::OutOfTurns => out_of_budget("turn", facts),
        Halt::OutOfToolCalls => out_of_budget("tool call", facts),
        Halt::InCircles(why) => in_circles(why, facts),
        Halt::OutOfMoney => out_of_budget("cost", facts),
        Halt::Planned(sentinel) => settle_sentinel(sentinel, facts),
        Halt::DoneBefore { claim, confirmed } => settle_done_before(claim, *confirmed, facts),
        Halt::PlanRejected(why) => settled(Outcome::Rejected, format!("plan review: {why}")),
        Halt::NoSentinel(words) => settle_no_sentinel(words, facts),
        Halt::Exhausted(why) => settled(Outcome::Failed, format!("EXHAUSTED: {why}")),
        Halt::AsBefore(why) => settled(
            Outcome::Failed,
            format!("EXHAUSTED, and it fails in the same way on the untouched base: {why}"),
        ),
        Halt::StoryFailed(why) => settled(Outcome::Failed, why),
        Halt::Stagnated(why) => settled(Outcome::Failed, format!("STAGNATED: {why}")),
        Halt::Unconfined(why) => settled(Outcome::Blocked, why.clone()),
        Halt::LostWorktree(why) => settled(Outcome::Failed, format!("worktree lost: {why}")),
        Halt::Unavailable(why) => settled(
            Outcome::Failed,
            format!("the provider is not available: {why}"),
        ),
        Halt::EngineFailed(why) => settled(Outcome::Failed, format!("engine: {why}")),
        Halt::Broken(why) => settled(Outcome::Failed, why),
        Halt::Cancelled if facts.has_work() => {
            settled(Outcome::Partial, "stopped on request with work present")
        }
        // Who stops it is no trouble of the role's.
        Halt::Cancelled => settle_halt(&Halt::Skipped(SkipReason::stopped()), facts),
    }
}

fn until_text(until: Option<DateTime<Utc>>) -> String {
    until.map_or("an operator clears it".to_owned(), instant)
}

fn out_of_budget(what: &str, facts: &Facts) -> Settled {
    if facts.has_work() {
        settled(
            Outcome::Partial,
            format!("{what} budget ended with work present"),
        )
    } else {
        settled(
            Outcome::Failed,
            format!("{what} budget ended with nothing changed"),
        )
    }
}

/// A session that was stopped because it went nowhere.
fn in_circles(why: &str, facts: &Facts) -> Settled {
    let (outcome, left) = match facts.has_work() {
        true => (Outcome::Partial, "work present"),
        false => (Outcome::Failed, "nothing changed"),
    };
    let told = format!("the session went in circles, with {left}: {why}");
    settled(outcome, told)
}

fn settle_sentinel(sentinel: &Sentinel, facts: &Facts) -> Settled {
    match sentinel {
        Sentinel::Ok(_) => settle_ok(facts),
        Sentinel::Partial(note) if facts.blocked_calls > 0 => settled(
            Outcome::Blocked,
            format!("{} calls were blocked: {note}", facts.blocked_calls),
        ),
        Sentinel::Partial(note) => settled(
            Outcome::Partial,
            with_note("the session stopped halfway", note),
        ),
        Sentinel::Blocked(note) => settled(
            Outcome::Blocked,
            with_note("the session could not go on", note),
        ),
        Sentinel::Silent if facts.has_work() => settled(
            Outcome::Partial,
            "the session said [SILENT] but left changes",
        ),
        Sentinel::Silent => settled(Outcome::Silent, "the session found nothing to do"),
        // Nobody has confirmed it: a session's word alone closes nothing.
        Sentinel::AlreadyDone(claim) => settle_done_before(claim, false, facts),
    }
}

fn settle_done_before(claim: &str, confirmed: bool, facts: &Facts) -> Settled {
    match (facts.has_work(), facts.reference_exists) {
        (true, _) => settled(
            Outcome::Partial,
            "the session said [ALREADY-DONE] but left changes",
        ),
        (false, false) => settled(
            Outcome::Failed,
            format!("the session said [ALREADY-DONE] but the base has no such place: {claim}"),
        ),
        (false, true) if confirmed => {
            settled(Outcome::AlreadyDone, format!("done before: {claim}"))
        }
        (false, true) => settled(
            Outcome::Blocked,
            format!(
                "the session said [ALREADY-DONE], and a second one did not confirm it: {claim}"
            ),
        ),
    }
}

fn settle_ok(facts: &Facts) -> Settled {
    match facts.goal {
        Goal::Commits => settle_commits(facts),
        // Facts win: who is to change nothing, and did, has not done what it was asked.
        _ if facts.has_work() && !facts.decided => settled(
            Outcome::Partial,
            "the session said [OK] but left changes, and its role makes none",
        ),
        Goal::Text => settled(Outcome::Ok, "it said what it found"),
        Goal::Effects => settle_declared(&facts.declared),
    }
}

fn settle_commits(facts: &Facts) -> Settled {
    if facts.commits == 0 && !facts.beside.is_empty() {
        return settled(Outcome::Partial, apart(facts));
    }
    // The draft was unfinished when it was left, and one word finishes nothing.
    let judged =
        facts.promise == PromiseFact::Passed || facts.diff_review == DiffReviewFact::Approved;
    let is_work = facts.commits > 0 && (!facts.unchanged || judged);
    if let (false, Some(why)) = (is_work, &facts.untaken) {
        let why = format!("the session said [OK], and what it committed was not saved: {why}");
        return settled(Outcome::Failed, why);
    }
    if facts.commits == 0 && facts.dirty {
        return settled(
            Outcome::NoCommit,
            "the session said [OK] but committed nothing",
        );
    }
    if facts.commits == 0 {
        return settled(Outcome::Failed, "the session said [OK] but changed nothing");
    }
    if let Some(why) = facts.story.as_ref().and_then(StoryFact::failed) {
        return settled(Outcome::Failed, why);
    }
    if !is_work && facts.dirty {
        return settled(
            Outcome::NoCommit,
            "the session said [OK] but committed nothing",
        );
    }
    if !is_work {
        let why = "the session said [OK] but added nothing to the draft, and nothing has judged it";
        return settled(Outcome::Failed, why);
    }
    match (facts.promise, facts.diff_review) {
        (PromiseFact::Failed, _) => settled(Outcome::Failed, "EXHAUSTED: the check does not pass"),
        (_, DiffReviewFact::Rejected) => settled(Outcome::Rejected, "the diff review said no"),
        _ => match unjudged(facts)
            .or_else(|| strayed(facts))
            .or_else(|| too_large(facts))
            .or_else(|| drifted(&facts.drift))
            .or_else(|| unproven(facts))
            .or_else(|| facts.aimed.as_ref()?.risen().err())
        {
            Some(why) => settled(Outcome::Partial, why),
            None => settled(Outcome::Ok, ok_reason(facts)),
        },
    }
}

/// Why what would be pushed is not what was judged (DESIGN P9).
fn unjudged(facts: &Facts) -> Option<String> {
    let short = |sha: &Option<String>| sha.as_deref().unwrap_or("none").chars().take(10).collect();
    let other = |what: &str, judged: &Option<String>| {
        let (judged, tip): (String, String) = (short(judged), short(&facts.tip));
        Some(format!(
            "the commit that was {what} ({judged}) is not the one that would be pushed ({tip})"
        ))
    };
    if let Some(why) = &facts.untaken {
        return Some(format!(
            "what it committed last is not in what would be pushed: {why}"
        ));
    }
    if !facts.beside.is_empty() {
        return Some(apart(facts));
    }
    if facts.promise == PromiseFact::Passed && facts.verified != facts.tip {
        return other("verified", &facts.verified);
    }
    if facts.diff_review == DiffReviewFact::Approved && facts.reviewed != facts.tip {
        return other("reviewed", &facts.reviewed);
    }
    let (first, more) = facts.unshown.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "the diff review approved, but was not shown all of it: {first}{more}"
    ))
}

/// Why it is more than its role may do.
fn strayed(facts: &Facts) -> Option<String> {
    let more = match facts.outside.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let told = facts.outside.iter().take(TOLD).cloned();
    let told = told.collect::<Vec<_>>().join(", ");
    (!told.is_empty()).then(|| {
        format!("its role may change tests alone (coverage.tests), and it changed {told}{more}")
    })
}

/// Why it is to be split.
fn too_large(facts: &Facts) -> Option<String> {
    let (lines, most) = facts.oversize?;
    Some(format!(
        "the change has {lines} lines and limits.max_diff_lines is {most}: nobody reads that at once; split it"
    ))
}

/// Why whoever installs it gets an error, or what nobody chose: of each manifest that asks for something else than on
/// the base, its name, and what is wrong with its lock file.
#[must_use]
pub fn drifted(drift: &[(String, String)]) -> Option<String> {
    let ((manifest, lock), more) = drift.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!(
        "{manifest} asks for other packages or versions than on the base, and {lock}{more}: bring it up to date"
    ))
}

/// Why nobody knows that it fixes anything.
fn unproven(facts: &Facts) -> Option<String> {
    let why = match facts.proof {
        Proof::NoTests => "the work on it changes no test",
        Proof::Failing(_) => "tests that the work adds or alters fail with it",
        _ => "its tests pass on the base, too",
    };
    (facts.must_prove && facts.proof.is_missing()).then(|| {
        format!("no test fails on the base, and the issue asks for a fix: {why}; add one that does")
    })
}

/// The session committed on branches that no one of them has all of.
fn apart(facts: &Facts) -> String {
    let more = match facts.beside.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let told = facts.beside.iter().take(TOLD).cloned();
    let told = told.collect::<Vec<_>>().join(", ");
    format!("the session left commits that are not in its work: on {told}{more}")
}

fn ok_reason(facts: &Facts) -> String {
    let mut reason = match facts.commits {
        1 => "1 commit".to_owned(),
        n => format!("{n} commits"),
    };
    reason.push_str(match facts.promise {
        PromiseFact::Passed => ", the check passes",
        // Reviews are opinions: who merges must know that nothing was run.
        PromiseFact::NotRun | PromiseFact::Failed => ", no check was run",
    });
    if facts.diff_review == DiffReviewFact::Approved {
        reason.push_str(", the diff review approved");
    }
    if let Some(aimed) = &facts.aimed
        && let Ok(after) = aimed.risen()
    {
        let (file, before, after) = (&aimed.file, aimed.before.percent(), after.percent());
        let rose = format!(", the coverage of {file} rose from {before} % to {after} %");
        reason.push_str(&rose);
    }
    if let (false, Some(words)) = (facts.proof == Proof::NoTests, facts.proof.words()) {
        reason.push_str(&format!(", {words}"));
    }
    if facts.dirty {
        reason.push_str("; something was left uncommitted");
    }
    reason
}

/// A session that did not say how it ended: what it said is all that there is to go by.
fn settle_no_sentinel(words: &str, facts: &Facts) -> Settled {
    let (stage, said) = words.split_once('\n').unwrap_or((words, ""));
    let outcome = match facts.blocked_calls {
        0 => Outcome::Failed,
        _ => Outcome::Blocked,
    };
    let mut reason = match facts.blocked_calls {
        0 => {
            let judges = ["review", "diff-review", "confirm"].contains(&stage);
            let words = if judges {
                "[APPROVE], [REJECT], …"
            } else {
                "[OK], [BLOCKED], …"
            };
            format!("the {stage} session ended without its closing line ({words})")
        }
        blocked => format!("{blocked} calls were blocked and the {stage} session did not end"),
    };
    reason.push_str(&match one_line(said, SAID).as_str() {
        "" => "; it said nothing".to_owned(),
        said => format!("; it said last: \"{said}\""),
    });
    settled(outcome, reason)
}

fn with_note(reason: &str, note: &str) -> String {
    if note.is_empty() {
        reason.to_owned()
    } else {
        format!("{reason}: {note}")
    }
}

#[cfg(test)]
mod tests;

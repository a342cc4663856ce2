//! What Carson writes down for people to read later: decisions, and things that should not have
//! happened.
//!
//! One list: the store takes nothing else, and `docs/EVENTS.md` is made of it. Kinds and fields stay
//! as they are over versions: `carson firings`, the page and scripts of operators read them.

use serde::Serialize;
use serde_json::Value;

use crate::id::{AccountName, HostName, RepoName};
use crate::lesson::{LessonId, LessonState};
use crate::stage::Stage;

/// What an event is made of, for the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its kind, dotted.
    pub kind: &'static str,
    /// What happened.
    pub meaning: &'static str,
    /// Its fields, and what each is.
    pub fields: &'static [(&'static str, &'static str)],
}

/// Why a firing went on with another account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failover {
    /// The account met its provider's limit.
    Limit,
    /// The provider is down.
    Outage,
    /// The session ended without its closing line.
    NoSentinel,
    /// The session said `[OK]` and had changed nothing.
    NoChange,
    /// The model refused the task, as the CLI says.
    Refused,
}

/// Why a stage's session has the account that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Routed {
    /// The role's `routes` name it first.
    Route,
    /// It is of another vendor than the one that wrote what is judged.
    OtherVendor,
    /// The firing is in its share.
    Share,
    /// Those that come before it cannot be used now.
    Fallback,
    /// None of another vendor can be used now: what is judged was written by the same one.
    SameVendor,
}

macro_rules! events {
    ($(
        #[doc = $meaning:literal]
        $name:ident = $kind:literal { $( #[doc = $what:literal] $field:ident: $type:ty, )* }
    )*) => {
        /// Something that is written down; its role and its firing stand beside it.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum Event {
            $( #[doc = $meaning] $name { $( #[doc = $what] $field: $type, )* }, )*
        }

        impl Event {
            /// Its kind, dotted: `breaker.reset`.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $( Self::$name { .. } => $kind, )*
                }
            }
        }

        /// Every kind, in the order of the documentation.
        pub const LIST: &[Listed] = &[
            $( Listed {
                kind: $kind,
                meaning: $meaning,
                fields: &[ $( (stringify!($field), $what), )* ],
            }, )*
        ];
    };
}

events! {
    /// A firing went on with the next account of its role.
    AccountFailover = "account.failover" {
        /// The account that it left.
        from: AccountName,
        /// The account that is used now.
        to: AccountName,
        /// Why: `limit`, `outage`, `no-sentinel`, `no-change` or `refused`.
        why: Failover,
    }
    /// The chat did not take a question five times in a row: nobody can say yes or no there; it is asked on.
    ApprovalCannotBeAsked = "approval.cannot-be-asked" {
        /// What is to be approved.
        what: String,
        /// What is in the way.
        why: String,
    }
    /// A person said yes or no to a plan, or to an issue that was asked for in the chat.
    ApprovalDecided = "approval.decided" {
        /// What.
        what: String,
        /// `approved` or `rejected`.
        decision: &'static str,
        /// Who, and by which way.
        by: String,
    }
    /// Somebody wanted to decide what was not theirs to decide, or not in that way; nothing changed.
    ApprovalRefused = "approval.refused" {
        /// Who, and by which way.
        by: String,
        /// Why.
        why: &'static str,
    }
    /// A merge of the fleet turned its base red; it is said once.
    BaseTurnedRed = "base.turned-red" {
        /// The repository.
        repo: RepoName,
        /// The pull request that was merged.
        pull: u64,
        /// The checks that failed.
        checks: String,
    }
    /// An operator closed a role's breaker.
    BreakerReset = "breaker.reset" {
        /// Who did it.
        by: &'static str,
    }
    /// A verb that changes something was done for somebody in the chat.
    ChatDid = "chat.did" {
        /// The verb.
        verb: &'static str,
        /// Who, by their id there.
        by: String,
    }
    /// Something was said in the chat that was not listened to; nothing changed.
    ChatRefused = "chat.refused" {
        /// The verb.
        verb: &'static str,
        /// Who, by their id there.
        by: String,
        /// Why: `untrusted`, `stale` or `not-an-operator`.
        why: &'static str,
    }
    /// The chat refuses the sign-in; it is tried again when the settings or their secrets have changed.
    ChatSignInRefused = "chat.sign-in-refused" {
        /// What it said.
        why: String,
    }
    /// Somebody is trusted in the chat, or is no more.
    ChatTrust = "chat.trust" {
        /// Their id there.
        id: String,
        /// Whether they are trusted now.
        trusted: bool,
        /// Who said so.
        by: String,
    }
    /// The check of a role fails before any work; sessions are paid all the same.
    CheckFailsOnBase = "check.fails-on-base" {
        /// The repository.
        repo: RepoName,
        /// The commit.
        base: String,
        /// The end of what it printed.
        said: String,
    }
    /// Changed settings have errors and are not used; the last good ones stay.
    ConfigRejected = "config.rejected" {
        /// How many findings there are.
        findings: usize,
        /// The first of them.
        first: Value,
    }
    /// The daemon of this host was away for longer than the settings find normal.
    DaemonWasDown = "daemon.was-down" {
        /// Since when, and for how long.
        text: String,
    }
    /// The forge, or people, will not have what an ended firing was to do there; a person can do it by hand.
    EffectRefused = "effect.refused" {
        /// What it was, such as `open-pull` or `release`.
        effect: &'static str,
        /// What the forge said.
        why: String,
    }
    /// A session was refused a host by its proxy.
    EgressRefused = "egress.refused" {
        /// The host.
        host: String,
        /// Why.
        why: String,
    }
    /// A firing that another host had taken over stopped before it changed anything outside; its work is kept.
    FiringFenced = "firing.fenced" {
        /// The branch of the firing's own to which its work was pushed.
        branch: Option<String>,
        /// The ref on its host that keeps it, where it was not pushed.
        kept: Option<String>,
        /// What went wrong on the way.
        trouble: Vec<String>,
    }
    /// An operator fired a role although something kept it from firing (`carson fire --force`).
    FiringForced = "firing.forced" {
        /// Why, as they said.
        reason: String,
        /// What would have kept it: nothing where nothing stood.
        over: Vec<String>,
    }
    /// A firing whose host was taken for dead was taken over by another one, which concludes it.
    FiringTakenOver = "firing.taken-over" {
        /// Its host.
        from: HostName,
        /// The one that concludes it.
        by: HostName,
    }
    /// An operator took back what a firing did, as far as nobody had touched it since.
    FiringUndone = "firing.undone" {
        /// How many of its compensations are done.
        done: usize,
        /// How many were left, because somebody had touched that, or because nothing takes it back.
        left: usize,
        /// How many failed, and are done by the same command again.
        owed: usize,
    }
    /// Nothing fires until there is room on the disk.
    FleetStopped = "fleet.stopped" {
        /// What is missing.
        text: String,
    }
    /// An issue or a pull request cannot be read and is left out; it is said once.
    ForgeUnread = "forge.unread" {
        /// The repository.
        repo: RepoName,
        /// Where it stands.
        place: String,
        /// What is wrong with it.
        why: String,
    }
    /// A host came back that the others had taken for dead.
    HostFenced = "host.fenced" {
        /// Which.
        host: HostName,
        /// How many of its firings were taken over meanwhile.
        firings: usize,
    }
    /// A housekeeping job did something that is worth knowing.
    JobDone = "job.done" {
        /// The job.
        job: String,
        /// How much it did.
        did: i64,
        /// The same in words.
        said: String,
    }
    /// A housekeeping job failed.
    JobFailed = "job.failed" {
        /// The job.
        job: String,
        /// How much it did.
        did: i64,
        /// Why it failed.
        said: String,
    }
    /// A housekeeping job works again.
    JobMended = "job.mended" {
        /// The job.
        job: String,
        /// How much it did.
        did: i64,
        /// The same in words.
        said: String,
    }
    /// Lessons were found by words alone, because their vectors could not be used.
    MemoryByWords = "memory.by-words" {
        /// Why.
        why: String,
    }
    /// Somebody decided about a lesson, or a rule did.
    MemoryDecided = "memory.decided" {
        /// Which.
        lesson: LessonId,
        /// Where it stands now: `held`, `promoted`, `rejected` or `reverted`.
        state: LessonState,
        /// Why.
        why: String,
    }
    /// What a session proposed as lessons had not the form of any.
    MemoryDropped = "memory.dropped" {
        /// How many.
        count: usize,
        /// What was wrong with the first.
        why: String,
    }
    /// The embedder that the daemon keeps running ended; it is started again.
    MemoryEmbedderEnded = "memory.embedder-ended" {
        /// How.
        why: String,
    }
    /// A session, or failures that came again, proposed a lesson.
    MemoryProposed = "memory.proposed" {
        /// Which.
        lesson: LessonId,
    }
    /// A firing was told lessons, or they were kept from it on purpose.
    MemoryRecalled = "memory.recalled" {
        /// Which.
        lessons: Vec<LessonId>,
        /// Whether they were kept from it, so that somebody can compare.
        off: bool,
    }
    /// A candidate tried to steer its judge, a session or a tool.
    MemorySteering = "memory.steering" {
        /// Which.
        lesson: LessonId,
        /// By what.
        why: String,
    }
    /// A pause ran out.
    PauseEnded = "pause.ended" {
        /// What was paused: the fleet, a role or a repository.
        scope: String,
    }
    /// A role cannot fire: its preflight failed as often as opens a breaker.
    PreflightFailing = "preflight.failing" {
        /// Which check, how often, and what would mend it.
        text: String,
    }
    /// A role whose preflight failed fires again.
    PreflightWell = "preflight.well" {
        /// Which check passes again.
        text: String,
    }
    /// A review of a plan or of a diff found something to mend, or refused it.
    ReviewFound = "review.found" {
        /// Of what: `review` (the plan) or `diff-review`.
        stage: Stage,
        /// Whether that was its last word: `reject`, else `revise`.
        verdict: &'static str,
    }
    /// A stage of a firing has an account that is not simply the firing's own.
    RoutedTo = "routed.to" {
        /// The stage.
        stage: Stage,
        /// The account.
        account: AccountName,
        /// Why: `route`, `other-vendor`, `share`, `fallback` or `same-vendor`.
        why: Routed,
    }
    /// This host confines a role's sessions less than it did for the firing before.
    SandboxWeaker = "sandbox.weaker" {
        /// What is missing that was there.
        weaker: Vec<String>,
        /// Whether the role's `sandbox` was set to `off`.
        switched_off: bool,
        /// What the firing before had.
        before: Value,
    }
    /// Something that was pushed may be a secret.
    SecretSuspected = "secret.suspected" {
        /// How many words.
        words: u32,
        /// The commit of the first of them.
        commit: String,
        /// Where in that commit.
        place: String,
    }
    /// A session did not clean up behind itself; what it left is dead.
    SessionLeftBehind = "session.left_behind" {
        /// The session's stage.
        stage: Stage,
        /// How many processes.
        processes: u32,
    }
    /// The kernel ended processes of a session that had used up its memory.
    SessionOutOfMemory = "session.out_of_memory" {
        /// The session's stage.
        stage: Stage,
        /// How many processes.
        processes: u32,
    }
    /// A session was tried again, because the provider was not available.
    SessionRetry = "session.retry" {
        /// The session's stage.
        stage: Stage,
        /// What the provider answered, as a status of HTTP.
        status: Option<u16>,
        /// The same in its words.
        message: String,
        /// How long was waited, in milliseconds.
        wait_ms: u64,
    }
    /// What a session left as its sign-in has not the form of one, and was not taken.
    SignInRefused = "sign_in.refused" {
        /// The variable that names the sign-in's directory.
        variable: &'static str,
        /// The file in it.
        file: &'static str,
        /// What is wrong with it.
        why: String,
    }
    /// A session renewed its sign-in, and the operator's directory has the new one.
    SignInRenewed = "sign_in.renewed" {
        /// The variable that names the sign-in's directory.
        variable: &'static str,
        /// The file in it.
        file: &'static str,
    }
    /// A session says that it used what it cannot have used; what is possible was counted.
    UsageImplausible = "usage.implausible" {
        /// The session's stage.
        stage: Stage,
        /// What it says.
        told: Value,
        /// What was counted.
        counted: Value,
    }
    /// An issue waits for another one, or for itself in a ring; it is said again after six hours.
    WorkHeld = "work.held" {
        /// The repository.
        repo: RepoName,
        /// The issue's number.
        issue: u64,
        /// What it waits for.
        why: String,
    }
}

/// The table of `docs/EVENTS.md`.
#[must_use]
pub fn table() -> String {
    let mut table = String::from("| kind | what happened | fields |\n|---|---|---|\n");
    for Listed {
        kind,
        meaning,
        fields,
    } in LIST
    {
        let field = |(name, what): &(&str, &str)| {
            let what = what.trim().trim_end_matches('.');
            let mut letters = what.chars();
            let first = letters.next().map(|c| c.to_lowercase().to_string());
            format!(
                "`{name}`: {}{}",
                first.unwrap_or_default(),
                letters.as_str()
            )
        };
        let fields: Vec<String> = fields.iter().map(field).collect();
        let meaning = meaning.trim().trim_end_matches('.');
        table.push_str(&format!(
            "| `{kind}` | {meaning} | {} |\n",
            fields.join("; ")
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_is_its_kind_and_its_fields() {
        let event = Event::SessionRetry {
            stage: Stage::Plan,
            status: Some(529),
            message: "busy".into(),
            wait_ms: 2_000,
        };
        assert_eq!(event.kind(), "session.retry");
        let data = json!({"stage": "plan", "status": 529, "message": "busy", "wait_ms": 2_000});
        assert_eq!(serde_json::to_value(&event).unwrap(), data);
    }

    #[test]
    fn the_documented_table_is_this_list() {
        let page = include_str!("../../../docs/EVENTS.md");
        assert!(
            page.contains(&table()),
            "docs/EVENTS.md must hold:\n{}",
            table()
        );
    }

    #[test]
    fn each_kind_is_there_once_and_in_order() {
        let kinds: Vec<&str> = LIST.iter().map(|one| one.kind).collect();
        let sorted: Vec<&str> = kinds
            .iter()
            .copied()
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        assert_eq!(kinds, sorted);
    }
}

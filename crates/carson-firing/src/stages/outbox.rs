//! What a session asked Carson to do on the forge: its outbox, read by a confined child, and held against
//! the role's grant.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_config::Role;
use carson_core::RepoName;
use carson_core::declared::{Admitted, BYTES, Given, Outbox, Refused};
use carson_core::settle::Halt;
use carson_core::untrusted::is_hidden;
use carson_core::work::WorkKey;
use carson_forge::{OWN_LABELS, PRIORITIES};
use carson_proc::inspector::{Bounds, Desk, Question};
use carson_store::Stopped;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};
use tracing::warn;

use crate::ctx::Ctx;
use crate::placed::Placed;
use carson_home::halt::OrBroken;

/// What every session of such a role is told of the file.
const FORM: &str = "You change nothing on the forge yourself. Write what is to be done there, as JSON, into a file \
    outside of the worktree, and Carson does of it what your role may. The file, which the environment variable \
    CARSON_OUTBOX names, too (its JSON schema lies beside it), is";
/// A sample of each kind of entry, without its braces.
const SAMPLES: [(&str, &str); 7] = [
    ("label", r#""issue": N, "add": ["p1"], "remove": []"#),
    ("comment", r#""issue": N, "body": "Markdown""#),
    (
        "issue",
        r#""title": "…", "body": "Markdown", "labels": [], "after": []"#,
    ),
    (
        "review",
        r#""pull": N, "head": "COMMIT", "verdict": "approve | changes | comment", "body": "Markdown""#,
    ),
    ("close", r#""issue": N, "reason": "…""#),
    ("reply", r#""thread": "ID", "body": "Markdown""#),
    ("pull", r#""title": "…", "body": "Markdown""#),
];
/// The time over which issues are counted that a role filed.
const DAY: TimeDelta = TimeDelta::hours(24);
/// Refusals that a session is told.
const TOLD: usize = 20;

/// Asks what is in an outbox.
#[derive(Serialize, Deserialize)]
pub(crate) struct ReadOutbox {
    file: PathBuf,
}

impl Question for ReadOutbox {
    const NAME: &'static str = "outbox";
    type Answer = Result<Outbox, String>;

    fn answer(self) -> Result<Self::Answer, String> {
        Ok(text(&self.file).and_then(|text| Outbox::parse(&text)))
    }
}

/// Whatever is put in its place meanwhile, the child sees no other file, and has its time.
fn text(file: &Path) -> Result<String, String> {
    use std::io::Read as _;
    let words = |error: std::io::Error| error.to_string();
    let found = file.symlink_metadata().map_err(words)?;
    if !found.is_file() || found.len() > BYTES {
        return Err(format!("it is no plain file of at most {BYTES} bytes"));
    }
    let (mut text, opened) = (String::new(), std::fs::File::open(file).map_err(words)?);
    opened
        .take(BYTES)
        .read_to_string(&mut text)
        .map_err(words)?;
    Ok(text)
}

/// What of the outbox is done; nothing where the session wrote none.
pub(super) async fn admitted(ctx: &Ctx<'_>, placed: &Placed<'_, '_>) -> Result<Admitted, Halt> {
    let grant = &ctx.role.grant;
    let file = placed.place.bench.outbox();
    if grant.is_empty() || file.symlink_metadata().is_err() {
        return Ok(Admitted::default());
    }
    let outbox = match read(ctx, placed, &file).await {
        Ok(outbox) => outbox,
        Err(why) => {
            let why = format!("it cannot be read: {}", ctx.redacted(&why));
            let refused = vec![Refused {
                n: 0,
                kind: "all".to_owned(),
                why,
            }];
            note(ctx, &refused).await;
            return Ok(Admitted {
                refused,
                ..Admitted::default()
            });
        }
    };
    let given = given(ctx, placed, &outbox).await?;
    let mut admitted = outbox.admit(grant, &given);
    for refused in &mut admitted.refused {
        refused.why = ctx.redacted(&refused.why);
    }
    note(ctx, &admitted.refused).await;
    Ok(admitted)
}

async fn read(ctx: &Ctx<'_>, placed: &Placed<'_, '_>, file: &Path) -> Result<Outbox, String> {
    let question = ReadOutbox {
        file: file.to_owned(),
    };
    let desk = Desk {
        own: placed.place.bench.sandbox(),
        read: file.parent().map(Path::to_owned).into_iter().collect(),
        ..Desk::default()
    };
    let bounds = Bounds {
        wall_clock: Duration::from_secs(10),
        memory_mb: 256,
        file_size_mb: 1,
        answer: 1 << 20,
    };
    let asked = ctx.home.inspector.ask(&question, &desk, &bounds).await;
    asked.map_err(|error| error.to_string())?
}

/// The entries of a change with a secret, also in halves that nobody sees apart.
fn leaks(ctx: &Ctx<'_>, outbox: &Outbox) -> BTreeSet<usize> {
    let has_secret = |text: &str| {
        let is_seen = |c: &char| c.is_whitespace() || !is_hidden(*c);
        let text: String = text.chars().filter(is_seen).collect();
        ctx.redacted(&text) != text
    };
    let entries = (1..).zip(&outbox.effects);
    let leaking = entries.filter(|(_, entry)| {
        let mut texts = entry.texts_of_a_change().into_iter();
        texts.any(has_secret)
    });
    leaking.map(|(n, _)| n).collect()
}

/// What the firing works on.
async fn given(ctx: &Ctx<'_>, placed: &Placed<'_, '_>, outbox: &Outbox) -> Result<Given, Halt> {
    let taken = placed.taken;
    let since = ctx.now() - DAY;
    let filed = ctx.store().filed_since(&ctx.role.name, since).await;
    let key = taken.work.key;
    let at = taken.at.as_ref();
    Ok(Given {
        issue: matches!(key, WorkKey::Issue(_))
            .then(|| key.number())
            .flatten(),
        pull: match (key, at) {
            (WorkKey::Pull(number), Some(at)) => Some((number, at.to_string())),
            _ => None,
        },
        threads: taken
            .mends
            .as_ref()
            .map_or_else(Vec::new, |mends| mends.threads.clone()),
        leaks: leaks(ctx, outbox),
        steering: steering(ctx),
        filed: filed.or_broken("counting the issues that the role filed")?,
        scrub: taken.repo.scrub.clone(),
        repo: taken.repo.name.to_string(),
        elsewhere: elsewhere(ctx, &taken.repo.name),
    })
}

/// The other repositories of an architect.
fn elsewhere(ctx: &Ctx<'_>, own: &RepoName) -> BTreeMap<RepoName, Vec<String>> {
    let names = ctx.role.repos.iter();
    let names = names.filter(|name| ctx.role.kind.files_elsewhere() && *name != own);
    let scrub =
        |name: &RepoName| Some((name.clone(), ctx.home.fleet.repos.get(name)?.scrub.clone()));
    names.filter_map(scrub).collect()
}

/// The labels of every role's queue, and those by which the fleet and its people talk.
fn steering(ctx: &Ctx<'_>) -> Vec<String> {
    let fleet = &ctx.home.fleet;
    let queues = fleet.roles.values().filter_map(|role| role.work.label());
    let filed = fleet
        .roles
        .values()
        .map(|role| role.grant.issue_label.as_str());
    let required = fleet.roles.values().flat_map(|role| &role.work.labels);
    let required = required.map(String::as_str);
    let own = OWN_LABELS.iter().map(|(label, _)| *label);
    let own = own.filter(|label| !PRIORITIES.contains(label));
    let all = queues.chain(filed).chain(required).chain(own);
    all.filter(|label| !label.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Beside the calls that the hook refused: people see what was asked for in vain.
async fn note(ctx: &Ctx<'_>, refused: &[Refused]) {
    let stopped = refused.iter().take(TOLD).map(|one| {
        warn!(firing.id = %ctx.id, entry = one.n, kind = one.kind, why = one.why, "an entry of the outbox is refused");
        Stopped {
            rule: format!("outbox: {}", one.why),
            tool: "outbox".to_owned(),
            call: format!("entry {}: {}", one.n, one.kind),
        }
    });
    let stopped: Vec<Stopped> = stopped.collect();
    if !stopped.is_empty() {
        ctx.note_stopped(stopped).await;
    }
}

/// What a session hears that asked for nothing, or for what it may not; `None` where all is well.
pub(super) fn feedback(ctx: &Ctx<'_>, admitted: &Admitted) -> Option<String> {
    if ctx.role.makes_commits() || ctx.role.grant.is_empty() {
        return None;
    }
    if admitted.refused.is_empty() {
        let is_empty = admitted.effects.is_empty();
        return is_empty.then(|| "The outbox asks for nothing. Write it, whole.".to_owned());
    }
    let mut said = "These entries of the outbox are refused; write it anew, whole:\n".to_owned();
    for one in admitted.refused.iter().take(TOLD) {
        said.push_str(&format!("- entry {} ({}): {}\n", one.n, one.kind, one.why));
    }
    Some(said)
}

/// What a prompt says of the outbox: its form, and what the role may ask for.
pub(crate) fn explained(role: &Role, own: &RepoName, file: &Path) -> Option<String> {
    let grant = &role.grant;
    if grant.is_empty() {
        return None;
    }
    let may = |kind: &str| match kind {
        "label" => !grant.labels.is_empty(),
        "comment" => grant.comments > 0,
        "issue" => grant.issues > 0,
        "review" => grant.review,
        "reply" => grant.replies > 0,
        "pull" => grant.pull,
        _ => grant.close,
    };
    let samples = SAMPLES.iter().filter(|(kind, _)| may(kind));
    let samples = samples.map(|(kind, rest)| format!("  {{\"kind\": \"{kind}\", {rest}}}"));
    let samples = samples.collect::<Vec<_>>().join(",\n");
    let words = grant.words().join("; ");
    let more = of_issues(role, own) + &of_a_change(role);
    Some(format!(
        "{FORM} `{}`:\n\n```json\n{{\"version\": 1, \"effects\": [\n{samples}\n]}}\n```\n\nYour role may ask for: \
         {words}. {more}Only the work that you were given counts; all else is refused.",
        file.display()
    ))
}

/// What it may say of new issues beside their text.
fn of_issues(role: &Role, own: &RepoName) -> String {
    if role.grant.issues == 0 {
        return String::new();
    }
    let mut said = "`after` of an issue are the places in `effects`, from 1, of issues before it that must be done \
        first. "
        .to_owned();
    let others = role.repos.iter().filter(|name| *name != own);
    let others: Vec<String> = others.map(|name| format!("`{name}`")).collect();
    if role.kind.files_elsewhere() && !others.is_empty() {
        said.push_str(&format!(
            "With `\"repo\": \"NAME\"` an issue is filed in another repository: {}; without it in `{own}`. ",
            others.join(", ")
        ));
    }
    said
}

/// What it may say of a change beside making it.
fn of_a_change(role: &Role) -> String {
    let mut said = String::new();
    if role.grant.replies > 0 {
        said.push_str(
            "A `reply` answers a thread of a review, which the findings name, for which you change nothing, and says \
             why; where you mend what it asks for, Carson says so. ",
        );
    }
    if role.grant.pull {
        said.push_str(
            "`pull` is what people read of the pull request: in at most 70 letters what will be so with it, and why; \
             Carson adds its issue and what its checks said. Without it the title stays that of the task. ",
        );
    }
    said
}

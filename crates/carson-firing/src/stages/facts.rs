//! Gathers what settle looks at.

use carson_config::{Repo, Role};
use carson_core::coverage::{Aimed, Measured};
use carson_core::declared::Admitted;
use carson_core::leaving::Linted;
use carson_core::sentinel::Reference;
use carson_core::settle::{DiffReviewFact, Facts, Goal, Halt, PromiseFact, SecondTry};
use carson_core::text::matches;
use carson_core::{Effect, Proof, Sentinel};
use carson_git::{Oid, Seen, Unshown};
use tracing::warn;

use super::execute::Done;
use super::scope;
use super::story;
use crate::drift;
use crate::reached::{Place, Taken};
use crate::record::Record;
use crate::roles;

/// What the executing stages leave for settle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    pub sentinel: Option<Sentinel>,
    pub promise: PromiseFact,
    pub diff_review: DiffReviewFact,
    /// The commit on which the promise passed.
    pub verified: Option<Oid>,
    /// The commit that the diff review saw.
    pub reviewed: Option<Oid>,
    /// What that review was not shown, and nobody allowed.
    pub unshown: Vec<String>,
    /// Whether its tests fail without it.
    pub proof: Proof,
    /// Whether it is a fix that is finished only with such a test.
    pub must_prove: bool,
    /// How much of the file that its tests are for they run with the work.
    pub covered: Measured,
    /// What the linter said of changed workflow files.
    pub linted: Linted,
    /// What its sessions asked Carson to do on the forge.
    pub declared: Admitted,
    /// Whether that was known without a session.
    pub decided: bool,
    /// What a second try came to, held against the first one.
    pub second: Option<SecondTry>,
}

impl Findings {
    /// Whether a session, the checks and the review all say that it is done.
    pub(crate) fn is_finished(&self) -> bool {
        matches!(self.sentinel, Some(Sentinel::Ok(_)))
            && self.promise != PromiseFact::Failed
            && self.diff_review != DiffReviewFact::Rejected
    }

    /// What an execute session and the promise found.
    pub(crate) fn of(done: &Done) -> Self {
        Self {
            sentinel: Some(done.sentinel.clone()),
            promise: done.promise,
            verified: done.verified.clone(),
            declared: done.declared.clone(),
            ..Self::default()
        }
    }

    /// What needs no session.
    pub(crate) fn decided(effects: Vec<Effect>) -> Self {
        Self {
            sentinel: Some(Sentinel::Ok(String::new())),
            declared: Admitted {
                effects,
                ..Admitted::default()
            },
            decided: true,
            ..Self::default()
        }
    }
}

/// Measures the worktree and adds what the stages found. Never fails: what cannot be measured is
/// absent, and the sentinel alone never makes an `OK`.
pub(crate) async fn gather(
    (role, taken): (&Role, Option<&Taken<'_>>),
    rec: &Record,
    place: Option<&mut Place>,
    halt: Option<Halt>,
    found: Findings,
) -> Facts {
    let repo = taken.map(|taken| taken.repo);
    let story = taken.and_then(|taken| taken.story.as_ref());
    let mut facts = Facts {
        goal: match found.decided {
            true => Goal::Effects,
            false => (roles::kind_of(role).goal)(role),
        },
        halt,
        sentinel: found.sentinel,
        promise: found.promise,
        diff_review: found.diff_review,
        verified: found.verified.map(String::from),
        reviewed: found.reviewed.map(String::from),
        unshown: found.unshown,
        proof: found.proof,
        must_prove: found.must_prove,
        linted: found.linted,
        declared: found.declared,
        decided: found.decided,
        second: found.second,
        story: story.map(|story| story.unmeasured()),
        blocked_calls: rec.tally().blocked_calls,
        answered: rec.tally().answered(),
        ..Facts::default()
    };
    if let Some(place) = place {
        match place.inspect().await {
            Ok(seen) => {
                let tree = seen.facts();
                facts.tip = Some(seen.tip().as_str().to_owned());
                facts.untaken.clone_from(&tree.untaken);
                facts.commits = if seen.brings_nothing() {
                    0
                } else {
                    tree.commits
                };
                facts.unchanged = place.goes_on.is_some() && place.is_begin(seen.tip());
                facts.lines = lines(repo, &seen);
                facts.oversize = oversize(role, facts.lines);
                facts.drift = drift::of(repo, &seen);
                facts.dirty = tree.dirty;
                if let Some(asked) = role.coverage.as_ref().filter(|_| tree.commits > 0) {
                    facts.outside = scope::outside(asked, place, seen.tip()).await;
                }
                if let Some(story) = story.filter(|_| tree.commits > 0) {
                    facts.story = Some(story::measured(story, place, seen.tip()).await);
                }
                facts.beside.clone_from(&tree.beside);
                if !tree.exists && facts.halt.is_some() {
                    let gone = "its directory was removed while the firing ran".to_owned();
                    facts.halt = Some(Halt::LostWorktree(gone));
                }
            }
            Err(error) => warn!(%error, "the worktree cannot be measured"),
        }
        facts.reference_exists = reference_exists(place, &facts).await;
        facts.aimed = place.aim.as_ref().map(|aim| Aimed {
            file: aim.file.clone(),
            before: aim.before,
            after: found.covered,
        });
    }
    facts
}

/// How many lines people would have to read: also of what is not shown, but for what nobody has to.
fn lines(repo: Option<&Repo>, seen: &Seen) -> Option<u64> {
    let allowed = repo.map_or(&[][..], |repo| &repo.allow_unshown);
    let shown = seen.shown()?;
    let counts = |one: &&Unshown| !allowed.iter().any(|name| matches(name, &one.path));
    let unshown: u64 = shown
        .unshown
        .iter()
        .filter(counts)
        .map(|one| one.lines)
        .sum();
    Some(shown.lines + unshown)
}

/// How many lines people would have to read, when those are more than the role allows.
fn oversize(role: &Role, lines: Option<u64>) -> Option<(u64, u64)> {
    let (lines, most) = (lines?, role.limits.max_diff_lines);
    (lines > most).then_some((lines, most))
}

async fn reference_exists(place: &Place, facts: &Facts) -> bool {
    let text = match (&facts.halt, &facts.sentinel) {
        (Some(Halt::DoneBefore { claim, .. }), _) => claim,
        (Some(Halt::Planned(Sentinel::AlreadyDone(claim))), _)
        | (None, Some(Sentinel::AlreadyDone(claim))) => claim,
        _ => return false,
    };
    let Some(reference) = Reference::parse(text) else {
        return false;
    };
    let (base, path) = (&place.worktree.base, &reference.path);
    place.mirror.has_line_at(base, path, reference.line).await
}

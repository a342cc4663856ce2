//! What may leave the home: a branch that holds no secret, runs nothing with the repository's rights,
//! and is not too large. What cannot be looked at stays.

use std::sync::Arc;

use carson_core::leaving::{Linted, is_workflow};
use carson_core::settle::Settled;
use carson_core::work::WorkKey;
use carson_core::{Event, Outcome, SkipKind};
use carson_git::{Change, Seen};
use tracing::{error, warn};

use crate::ctx::Ctx;
use crate::forge_text::one_line;
use crate::reached::Taken;
use crate::saved::Saved;
use crate::search::{Leak, SCRUBBED, Search, Searched};
use crate::searched_ahead::{self, Ahead};

/// Leaks, and definitions of CI, that are told one by one.
const TOLD: usize = 5;

/// Whether the branch may be pushed as it was settled. What is in the way goes into `saved`: for the
/// report, or as a reason why a person must look.
pub(crate) async fn may(
    ctx: &Ctx<'_>,
    taken: &Taken<'_>,
    settled: &Settled,
    seen: &Seen,
    saved: &mut Saved,
    ahead: Option<Ahead>,
) -> bool {
    // People took the work back: it is kept for them, and offered to nobody.
    if settled.skip == Some(SkipKind::WITHDRAWN) {
        return false;
    }
    let finished = settled.outcome == Outcome::Ok;
    // What was left beside finished work is not pushed.
    let changes: &[&Change] = match finished {
        true => &[seen.committed()],
        false => &[seen.committed(), seen.left()],
    };
    let megabytes = changes.iter().map(|change| change.bytes).sum::<u64>() >> 20;
    let most = ctx.role.limits.max_salvage_mb;
    if megabytes >= most {
        saved.trouble.push(format!(
            "the work has {megabytes} MB of files and limits.max_salvage_mb is {most}: nothing was pushed"
        ));
        return false;
    }
    saved.held = in_the_way(ctx, taken, changes, seen, (finished, ahead)).await;
    saved.held.is_none()
}

async fn in_the_way(
    ctx: &Ctx<'_>,
    taken: &Taken<'_>,
    changes: &[&Change],
    seen: &Seen,
    (finished, ahead): (bool, Option<Ahead>),
) -> Option<String> {
    if let Some(why) = changes.iter().find_map(|change| change.unseen.as_deref()) {
        return Some(format!(
            "the work was not searched in full, and nothing was pushed: {why}"
        ));
    }
    let searched = match search(ctx, taken, seen, !finished, ahead).await {
        Ok(searched) => searched,
        Err(why) => {
            warn!(firing.id = %ctx.id, why, "the branch could not be searched for secrets");
            return Some(format!(
                "the work could not be searched for secrets, and nothing was pushed: {why}"
            ));
        }
    };
    record_secrets_found(ctx, &searched).await;
    if let Some(why) = leaked(&searched.leaks) {
        return Some(why);
    }
    if changes.iter().any(|change| !change.closes.is_empty()) {
        let own = own_numbers(ctx, taken).await;
        if let Some(why) = closes_others(taken, &own, changes) {
            return Some(why);
        }
    }
    let ci: Vec<&str> = changes
        .iter()
        .flat_map(|change| &change.ci)
        .map(String::as_str)
        .collect();
    if ci.is_empty() {
        return None;
    }
    let how = match finished {
        false => Ci::Unfinished,
        true if !taken.repo.allow_ci => Ci::NotAllowed,
        true => match judged(ctx, seen).await {
            None => Ci::Unjudged,
            Some(linted) if ci.iter().any(|path| is_workflow(path)) => match linted {
                Linted::Sound => return None,
                Linted::Unsound(why) => Ci::Unsound(why),
                Linted::NotAsked | Linted::NoLinter => Ci::NoLinter,
            },
            Some(_) => return None,
        },
    };
    Some(runs_at_once(&ci, how))
}

/// What its commits may close: the work itself, and the issues that its pull request is for.
async fn own_numbers(ctx: &Ctx<'_>, taken: &Taken<'_>) -> Vec<String> {
    let mut own: Vec<u64> = taken.work.key.number().into_iter().collect();
    if let WorkKey::Pull(number) = taken.work.key {
        let rows = ctx.store().firings_of_pull(&taken.repo.name, number).await;
        let rows = rows.unwrap_or_else(|error| {
            warn!(firing.id = %ctx.id, %error, "nobody knows what the pull request is for");
            Vec::new()
        });
        own.extend(rows.iter().filter_map(|row| match row.work {
            Some(WorkKey::Issue(issue)) => Some(issue),
            _ => None,
        }));
    }
    own.iter().map(ToString::to_string).collect()
}

/// Whose commit closes another issue than its own says more than it was asked.
fn closes_others(taken: &Taken<'_>, own: &[String], changes: &[&Change]) -> Option<String> {
    let is_own = |written: &str| {
        let (place, number) = written
            .rsplit_once(['#', '/', '-'])
            .unwrap_or(("", written));
        let place = place.to_ascii_lowercase();
        let slug = taken.repo.slug.to_ascii_lowercase();
        let is_here = matches!(place.as_str(), "" | "gh")
            || !slug.is_empty() && (place == slug || place.ends_with(&format!("/{slug}/issues")));
        is_here && own.iter().any(|own| own == number)
    };
    let closes = changes.iter().flat_map(|change| &change.closes);
    let others: Vec<String> = closes
        .filter(|written| !is_own(written))
        .map(|written| one_line(written))
        .collect();
    (!others.is_empty()).then(|| {
        format!(
            "a commit's message would close what is not its issue, and nothing was pushed: {}",
            list(others.into_iter())
        )
    })
}

/// Why definitions of CI do not leave.
enum Ci {
    Unfinished,
    NotAllowed,
    Unjudged,
    Unsound(String),
    NoLinter,
}

/// What the linter said, where a check passed on this very commit and a diff review approved it, as the row
/// has it.
async fn judged(ctx: &Ctx<'_>, seen: &Seen) -> Option<Linted> {
    let tip = Some(seen.tip().as_str());
    let row = ctx.store().firing(ctx.id).await.ok()??;
    let was = row.verified_sha.as_deref() == tip && row.reviewed_sha.as_deref() == tip;
    was.then(|| row.facts.unwrap_or_default().linted)
}

/// Begins the search for secrets in what was committed, where nobody has yet.
pub(crate) fn search_ahead(
    ctx: &Ctx<'_>,
    taken: &Taken<'_>,
    seen: &Arc<Seen>,
    ahead: &mut Option<Ahead>,
) {
    if ahead.is_none()
        && let Some(question) = question(ctx, taken, seen, false)
    {
        *ahead = Ahead::begin(&ctx.home.inspector, seen, question);
    }
}

fn question(ctx: &Ctx<'_>, taken: &Taken<'_>, seen: &Seen, uncommitted: bool) -> Option<Search> {
    let allowed = taken.repo.allow_secrets.iter();
    Some(Search {
        outgoing: seen.outgoing()?,
        names: vec![seen.worktree().branch.clone()],
        uncommitted,
        secrets: ctx.home.redactor.to_wire(),
        scrub: taken.repo.scrub.clone(),
        allowed: allowed
            .map(|one| (one.rule.clone(), one.files.clone()))
            .collect(),
    })
}

async fn search(
    ctx: &Ctx<'_>,
    taken: &Taken<'_>,
    seen: &Seen,
    uncommitted: bool,
    ahead: Option<Ahead>,
) -> Result<Searched, String> {
    let question = question(ctx, taken, seen, uncommitted).ok_or("the bench is gone")?;
    if let Some(ahead) = ahead
        && let Some(searched) = ahead.answer_to(&question).await
    {
        return Ok(searched);
    }
    searched_ahead::search(&ctx.home.inspector, seen, &question).await
}

async fn record_secrets_found(ctx: &Ctx<'_>, found: &Searched) {
    for leak in found.leaks.iter().take(TOLD) {
        error!(firing.id = %ctx.id, leak.rule, leak.commit, leak.place, "a secret is not pushed");
    }
    let Some(first) = &found.first else { return };
    warn!(firing.id = %ctx.id, words = found.suspicious, first.commit, first.place, "something that is pushed may be a secret");
    let event = Event::SecretSuspected {
        words: found.suspicious,
        commit: first.commit.clone(),
        place: first.place.clone(),
    };
    ctx.event(&event).await;
}

/// Why nothing was pushed; `None` when no secret is in the way.
fn leaked(leaks: &[Leak]) -> Option<String> {
    if leaks.is_empty() {
        return None;
    }
    let one = |leak: &Leak| format!("{} {}", leak.rule, leak.at());
    if leaks.iter().all(|leak| leak.rule == SCRUBBED) {
        return Some(format!(
            "the work has a name that is not to leave (scrub of the repository), and nothing was pushed: {}",
            list(leaks.iter().map(Leak::at))
        ));
    }
    let known = leaks.iter().any(|leak| leak.rule == carson_redact::KNOWN);
    let seen = leaks.iter().any(|leak| leak.rule != carson_redact::KNOWN);
    let mut way_out = Vec::new();
    if known {
        way_out.push(
            "`known` is a value that Carson holds, of a key, of a variable that is passed or of an included file, and \
             never leaves: one that may be in the repository belongs in none of these",
        );
    }
    if seen {
        way_out.push("a false alarm goes into allow_secrets of the repository as RULE:FILE");
    }
    Some(format!(
        "the work holds what looks like a secret, and nothing was pushed: {}; {}",
        list(leaks.iter().map(one)),
        way_out.join("; ")
    ))
}

/// Definitions of CI run as soon as they are on a branch, with the repository's own rights.
fn runs_at_once(ci: &[&str], how: Ci) -> String {
    let way_out = match how {
        Ci::Unsound(why) => &format!("actionlint says: {why}"),
        Ci::NoLinter => {
            "workflows leave only once actionlint has read them: install it where the role's sessions find it"
        }
        Ci::NotAllowed => {
            "allow_ci of the repository lets work change them that a check and a diff review passed"
        }
        Ci::Unjudged => {
            "allow_ci counts only for work that a check and a diff review passed: the role needs both"
        }
        Ci::Unfinished => "unfinished work never changes them",
    };
    format!(
        "the work changes what CI runs, and nothing was pushed: {}; {way_out}",
        list(ci.iter().map(|path| (*path).to_owned()))
    )
}

fn list(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = match all.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let told: Vec<String> = all.take(TOLD).collect();
    format!("{}{more}", told.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_names_where_and_which() {
        let leak = |at: usize| Leak {
            rule: "github".into(),
            commit: "0123456789".into(),
            place: format!("the file {at}"),
        };
        assert_eq!(leaked(&[]), None);
        let said = leaked(&(0..7).map(leak).collect::<Vec<_>>()).unwrap();
        assert!(said.contains("github in the file 0 of commit 0123456789"));
        assert!(said.contains("the file 4") && !said.contains("the file 5"));
        assert!(said.contains("and 2 more"));
        let said = runs_at_once(&[".github/workflows/x.yml"], Ci::NotAllowed);
        assert!(said.contains(".github/workflows/x.yml") && said.contains("allow_ci"));
    }
}

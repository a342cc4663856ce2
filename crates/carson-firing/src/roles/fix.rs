//! A pull request of the fleet's against which something stands is mended, in commits that are added to it.

use carson_core::settle::Goal;
use carson_core::work::WorkKey;
use carson_core::{Effect, Outcome, Page};
use carson_forge::{CheckRun, Comment, Mergeability, Pull, Review, Thread};
use carson_git::{Oid, Sides};
use carson_store::Firing as Row;
use chrono::{DateTime, Utc};

use super::effects::{asked_for, pull_text};
use super::kind::{Closing, Kind, Look, Looking};
use super::{pulls, quiet, take};
use crate::fenced_quote;
use crate::forge_text::{self, one_line};
use crate::review_queue::QueueError;
use crate::visible::visible;

/// The oldest of the fleet's against which something stands that a session may mend.
const LOOK: Look = |looking| {
    Box::pin(pulls::first(looking, |looking, pull| {
        Box::pin(one(looking, pull))
    }))
};

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(take::pick(ctx, rec, LOOK)),
    look: Some(LOOK),
    goal: |_| Goal::Commits,
    effects,
};

/// Rounds of mending before people look at it.
const ROUNDS: usize = 5;
/// Checks whose logs, and threads whose words, a session gets.
const MOST: usize = 3;
/// Bytes of one log, from its end, and of one review.
const TEXT: usize = 8 * 1024;
/// By this first line a person whose review asks for changes gives the pull request to the fixer.
const ASKED: &str = "@carson fix";

/// What stands against a pull request.
#[derive(Default)]
struct Against {
    said: Vec<String>,
    threads: Vec<String>,
    /// When it came, as far as anybody tells.
    came: Vec<DateTime<Utc>>,
    /// A person said that it is to be mended now.
    is_asked: bool,
}

async fn one(looking: Looking<'_>, pull: Pull) -> pulls::Judged {
    let Looking {
        home,
        role,
        repo,
        forge,
        ..
    } = looking;
    let opened = home.store.firing_of_pull(&repo.name, pull.number).await?;
    let ours = pull.author.eq_ignore_ascii_case(forge.me().await?);
    if opened.is_none() || !ours {
        return Ok(Err("a person opened it".to_owned()));
    }
    if let Some(why) = pulls::kept(role, &pull, home.clock.now()) {
        return Ok(Err(why));
    }
    let key = WorkKey::Pull(pull.number);
    let rows = home.store.firings_of(&repo.name, key).await?;
    let own: Vec<&Row> = since_people(rows.iter().filter(|row| row.role == role.name));
    let offered = forge.pull_head(pull.number).await?;
    let head = offered.sha.clone();
    let against = match against(&looking, &pull, (&head, offered.mergeability), &own).await? {
        Ok(against) => against,
        Err(why) => return Ok(Err(why)),
    };
    if against.said.is_empty() {
        return Ok(Err(
            "nothing stands against it that could be mended".to_owned()
        ));
    }
    // Who names it does not wait.
    if !looking.by_hand
        && !against.is_asked
        && let Some(why) = quiet::stirs(against.came, home.clock.now())
    {
        return Ok(Err(why));
    }
    let tried = tried(&own, &head);
    let mut candidate = pulls::candidate(pull, head);
    if tried >= role.limits.max_work_attempts as usize || mended(&own) >= ROUNDS {
        let note = for_people(tried, mended(&own));
        let number = key.number().unwrap_or_default();
        candidate.decided = Some(vec![Effect::HandOver { number, note }]);
    }
    candidate.findings = Some((against.said.join("\n\n"), against.threads));
    Ok(Ok(candidate))
}

/// Its firings since people had it last: whoever gives it back lets the fleet begin anew.
fn since_people<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<&'r Row> {
    let rows: Vec<&Row> = rows.collect();
    let given = |row: &&Row| {
        let facts = row.facts.as_ref();
        let effects = facts.map(|facts| &facts.declared.effects[..]);
        let mut effects = effects.unwrap_or_default().iter();
        effects.any(|effect| matches!(effect, Effect::HandOver { .. }))
    };
    let begin = rows.iter().rposition(given).map_or(0, |at| at + 1);
    rows[begin..].to_vec()
}

/// Firings that saw this commit and did not mend it.
fn tried(own: &[&Row], head: &str) -> usize {
    let ended_in_vain = |row: &&&Row| {
        let spared = [
            Outcome::Ok,
            Outcome::Skipped,
            Outcome::RateLimited,
            Outcome::Auth,
        ];
        let outcome = row.outcome.unwrap_or(Outcome::Skipped);
        row.base_sha.as_deref() == Some(head) && !spared.contains(&outcome)
    };
    own.iter().filter(ended_in_vain).count()
}

fn mended(own: &[&Row]) -> usize {
    let ok = own.iter().filter(|row| row.outcome == Some(Outcome::Ok));
    ok.count()
}

fn for_people(tried: usize, rounds: usize) -> Page {
    let why = match rounds >= ROUNDS {
        true => Page::from("The fleet mended this ")
            .names(rounds)
            .says(" times, and something stands against it again."),
        false => Page::from("")
            .names(tried)
            .says(" firings could not mend the newest commit of this."),
    };
    why.says(" It needs a person: remove the label `needs:human` to let the fleet try again.")
}

/// What stands against it, or why it is not for a session.
async fn against(
    looking: &Looking<'_>,
    pull: &Pull,
    (head, mergeability): (&str, Mergeability),
    own: &[&Row],
) -> Result<Result<Against, String>, QueueError> {
    let (forge, repo) = (looking.forge, looking.repo);
    let me = forge.me().await?;
    let reviews = pulls::or_none(forge.reviews(pull.number).await)?;
    let mut against = Against::default();
    let noes = pulls::objections(&reviews, me);
    if let Some(no) = noes.iter().max_by_key(|no| no.submitted_at) {
        let comments = forge.comments(pull.number).await?;
        let since = no.submitted_at.max(answered(own));
        if !is_asked(&comments, (since, looking.home.clock.now()), &repo.trust) {
            let by = one_line(&no.author);
            let why = format!("{by} asked for changes, and mends it or comments `{ASKED}`");
            return Ok(Err(why));
        }
        against.is_asked = true;
        let counts = |no: &&&Review| repo.trust.has(&no.author, no.association);
        for no in noes.iter().filter(counts).take(MOST) {
            let (by, said) = (one_line(&no.author), visible(&no.body));
            let said = first(&said, TEXT);
            let said = format!("{by} asked for changes:\n{said}");
            against.said.push(said);
        }
    }
    if mergeability == Mergeability::Conflicts {
        conflicts(looking, (head, &pull.base), &mut against).await;
    }
    let checks = pulls::or_none(forge.checks(head).await)?;
    if checks.iter().any(|check| check.conclusion.is_none()) {
        return Ok(Err("its checks have not ended".to_owned()));
    }
    let failed: Vec<&CheckRun> = checks.iter().filter(|check| check.has_failed()).collect();
    against
        .came
        .extend(failed.iter().filter_map(|check| check.ended_at));
    for check in failed.into_iter().take(MOST) {
        against.said.push(red(looking, check).await);
    }
    let verdicts = forge.verdicts(pull.number).await?;
    let last = verdicts.iter().rfind(|verdict| verdict.head == head);
    if last.is_some_and(|verdict| !verdict.ship) {
        against.said.extend(said_of(&reviews, head, me));
    }
    let threads = pulls::or_none(forge.review_threads(pull.number).await)?;
    let waiting = threads
        .iter()
        .filter(|thread| waits(thread, me, &repo.trust));
    let waiting: Vec<&Thread> = waiting.collect();
    for thread in &waiting {
        against.came.extend(unanswered(thread, me, &repo.trust));
    }
    for thread in waiting.into_iter().take(MOST) {
        against.said.push(quoted(thread, me, &repo.trust));
        against.threads.push(thread.id.clone());
    }
    Ok(Ok(against))
}

/// It does not go together with its base, which has commits by now that it lacks.
async fn conflicts(looking: &Looking<'_>, (head, base): (&str, &str), against: &mut Against) {
    let mirror = looking.home.mirror(looking.repo);
    let newest = mirror.fetched(base).await.ok().flatten();
    if let (Some(newest), Ok(head)) = (&newest, head.parse::<Oid>()) {
        let sides = Sides {
            head: newest.clone(),
            base: head,
        };
        // What was not fetched yet says nothing of when.
        let since = mirror.commits(&sides).await.unwrap_or_default();
        let since = since.into_iter();
        against
            .came
            .extend(since.filter_map(|(_, at)| DateTime::from_timestamp(at, 0)));
    }
    let commit = newest.map_or_else(|| base.to_owned(), |newest| newest.to_string());
    against.said.push(format!(
        "It conflicts with its base. Merge the newest commit of {base} (`git merge {commit}`) and \
         resolve what does not go together; keep what both sides mean."
    ));
}

/// When a firing last did what it was asked, or found nothing to do: one that ended in vain is no answer.
fn answered(own: &[&Row]) -> Option<DateTime<Utc>> {
    let done = |row: &&&Row| matches!(row.outcome, Some(Outcome::Ok | Outcome::Silent));
    own.iter().rfind(done).and_then(|row| row.ended_at)
}

/// Whether somebody whose word counts gave it to the fixer after the no, and after it was answered last.
fn is_asked(
    comments: &[Comment],
    (since, now): (Option<DateTime<Utc>>, DateTime<Utc>),
    trust: &carson_forge::Trust,
) -> bool {
    let since = since.unwrap_or(DateTime::<Utc>::MIN_UTC);
    comments.iter().any(|comment| {
        let in_time = comment.created_at > since && comment.created_at <= now;
        in_time && comment.says(ASKED, trust)
    })
}

/// A check that failed, with the end of its log.
async fn red(looking: &Looking<'_>, check: &CheckRun) -> String {
    let log = looking.forge.log_tail(check).await.ok().flatten();
    let log = log.map(|log| looking.home.redactor.redact(&log).into_owned());
    let end = log.as_deref().map_or("", |log| tail(log, TEXT));
    format!(
        "The check {:?} failed. The end of its log:\n{end}",
        check.name
    )
}

/// The fleet's own review of this commit.
fn said_of(reviews: &[Review], head: &str, me: &str) -> Option<String> {
    let of_head =
        |one: &&Review| one.author.eq_ignore_ascii_case(me) && one.commit.as_deref() == Some(head);
    let review = reviews.iter().rfind(of_head)?;
    let body = first(&review.body, TEXT);
    Some(format!("A review of its newest commit says:\n{body}"))
}

/// What counts of a thread: the words of those whom the repository trusts, and the fleet's own.
fn heard<'t>(thread: &'t Thread, me: &str, trust: &carson_forge::Trust) -> Vec<&'t Comment> {
    let counts = |one: &&Comment| {
        one.author.eq_ignore_ascii_case(me) || trust.has(&one.author, one.association)
    };
    thread.comments.iter().filter(counts).collect()
}

/// Whether somebody whose word counts said something there that nobody of the fleet has answered.
fn waits(thread: &Thread, me: &str, trust: &carson_forge::Trust) -> bool {
    let heard = heard(thread, me, trust);
    let last = heard.last();
    let is_open = last.is_some_and(|last| !last.author.eq_ignore_ascii_case(me));
    let first = thread.comments.first();
    let is_trusted = first.is_some_and(|first| trust.has(&first.author, first.association));
    !thread.resolved && is_open && is_trusted
}

/// When people wrote there what the fleet has not answered.
fn unanswered(thread: &Thread, me: &str, trust: &carson_forge::Trust) -> Vec<DateTime<Utc>> {
    let heard = heard(thread, me, trust).into_iter().rev();
    let people = heard.take_while(|one| !one.author.eq_ignore_ascii_case(me));
    people.map(|one| one.created_at).collect()
}

fn quoted(thread: &Thread, me: &str, trust: &carson_forge::Trust) -> String {
    let line = thread.line.map_or(String::new(), |line| format!(":{line}"));
    let heard = heard(thread, me, trust);
    let said: Vec<String> = heard.iter().map(|one| visible(&one.body)).collect();
    let said = said.join("\n");
    format!(
        "In the thread {:?}, of {}{line}, people say:\n{}",
        thread.id,
        thread.path,
        tail(&said, TEXT)
    )
}

/// The beginning of a text.
fn first(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most.min(text.len()))]
}

/// The end of a text.
fn tail(text: &str, most: usize) -> &str {
    let from = text.len().saturating_sub(most);
    &text[text.ceil_char_boundary(from)..]
}

/// What was pushed is told where somebody asked for it, and what no session found right as well; a thread that
/// the session answers itself has no other answer.
fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    // What needed no session.
    if closing.facts.goal == Goal::Effects {
        return closing.facts.declared.effects.clone();
    }
    let Some(pull) = closing.taken.work.key.number() else {
        return Vec::new();
    };
    let ctx = closing.ctx;
    let by = |page: Page| page.says(" (firing ").names(ctx.id).says(").");
    let joined = closing.place.is_some_and(|place| place.goes_on.is_some());
    let (mut effects, done) = match (closing.settled.outcome, &closing.saved.pushed) {
        (Outcome::Ok, Some(pushed)) if joined => {
            let done = by(Page::from("Fixed in ").names(pushed));
            (vec![Effect::JoinPull { pull }], done)
        }
        (Outcome::Silent, _) => {
            let none = Page::from("A session found nothing here that is to be changed");
            (Vec::new(), by(none))
        }
        _ => return Vec::new(),
    };
    let threads = closing.facts.threads.iter();
    effects.extend(threads.map(|thread| Effect::Reply {
        pull,
        thread: thread.clone(),
        body: own_answer(closing, thread).unwrap_or_else(|| done.clone()),
    }));
    effects.extend(pull_text(closing).map(|said| Effect::DescribePull {
        pull,
        title: said.title.clone().without(|text| ctx.redacted(text)),
        body: said.body.clone().without(|text| ctx.redacted(text)),
    }));
    let said = match closing.settled.outcome {
        Outcome::Ok => Page::default().quotes(&closing.settled.reason),
        _ => fenced_quote::last_words(closing.rec),
    };
    let mut body = done.says("\n\n").and(&said);
    if !closing.facts.declared.refused.is_empty() {
        let refused = forge_text::refused_entries(&closing.facts.declared);
        body = body.says("\n\n").and(&refused);
    }
    effects.push(Effect::Comment {
        on: pull,
        body: body.without(|text| ctx.redacted(text)),
    });
    effects.extend(asked_for(closing));
    effects
}

/// What the session itself answers in a thread for which it changed nothing.
fn own_answer(closing: &Closing<'_, '_>, wanted: &str) -> Option<Page> {
    let ctx = closing.ctx;
    let mut asked = closing.facts.declared.effects.iter();
    let said = asked.find_map(|effect| match effect {
        Effect::Reply { thread, body, .. } if thread == wanted => Some(body),
        _ => None,
    })?;
    let answer = Page::from("Nothing was changed for this (firing ")
        .names(ctx.id)
        .says("). What the session says of it:\n\n")
        .and(said);
    Some(answer.without(|text| ctx.redacted(text)))
}

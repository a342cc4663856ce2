//! What a verb of the chat is answered with.

use carson_home::Home;
use carson_operator::plans::{self, Choice};
use carson_operator::{Refusal, VERBS as ASKS, issues, names, trust};
use carson_store::{Decision, NewApproval, StoreError};
use chrono::TimeDelta;
use serde_json::{Value, json};
use tracing::debug;

use crate::tell::told;
use crate::verbs::{ChatVerb, Does, May, VERBS};

/// An answer.
pub(crate) enum Answer {
    /// This.
    Text(String),
    /// This, and nothing was done.
    Refused(String),
    /// A question with buttons: the id of what waits.
    Question(String),
}

/// Somebody who asks.
pub(crate) struct Asker<'a> {
    /// As events and rows name them.
    pub by: &'a str,
    /// How long a question may be answered.
    pub within: TimeDelta,
}

/// Does what a verb says. An error is one that passes, before which nothing was done that is not done as well twice.
pub(crate) async fn answer(
    home: &Home,
    verb: &ChatVerb,
    words: &[String],
    asker: &Asker<'_>,
) -> Result<Answer, StoreError> {
    match done(home, verb, words, asker).await {
        Ok(answer) => Ok(answer),
        Err(Refusal::Store(error)) if error.passes() && !verb.only_once => Err(error),
        Err(refusal) => Ok(Answer::Refused(match refusal.hint() {
            Some(hint) => format!("{refusal}\n{hint}"),
            None => refusal.to_string(),
        })),
    }
}

async fn done(
    home: &Home,
    verb: &ChatVerb,
    words: &[String],
    asker: &Asker<'_>,
) -> Result<Answer, Refusal> {
    let text = match verb.does {
        Does::Help => help(),
        Does::Asks(name, ask) => {
            let mut ask = ask(words);
            if name == "pause" {
                ask["reason"] = json!(format!("paused by {}", asker.by));
            }
            let answer = asked(home, name, ask).await?;
            told(name, &answer)
        }
        Does::Trusts(yes) => {
            let believed = match yes {
                true => trust::trust(home, words[0].clone(), asker.by).await?,
                false => trust::untrust(home, words[0].clone(), asker.by).await?,
            };
            let who = [believed.by_settings, believed.since].concat();
            format!("listened to are: {}", who.join(" "))
        }
        Does::Decides(yes) => {
            let decision = match yes {
                true => Decision::Approved,
                false => Decision::Rejected,
            };
            let (repo, number) = match words[0].split_once('#') {
                Some((repo, number)) => (Some(repo).filter(|repo| !repo.is_empty()), number),
                None => (None, words[0].as_str()),
            };
            let repo = names::repo_or_only(&home.fleet, repo)?;
            let issue = number.parse().map_err(|_| Refusal::Field {
                field: "issue",
                problem: format!("{number:?} is no number"),
            })?;
            let decided = plans::on_issue(home, repo, issue, (decision, asker.by)).await?;
            decided_text(&decided)
        }
        Does::Issue => return question(home, words, asker).await,
    };
    Ok(Answer::Text(text))
}

async fn asked(home: &Home, name: &str, ask: Value) -> Result<Value, Refusal> {
    match ASKS.iter().find(|verb| verb.name == name) {
        Some(verb) => (verb.answer)(home, ask).await,
        None => Err(Refusal::Unknown {
            what: "verb",
            name: name.to_owned(),
            known: Vec::new(),
        }),
    }
}

/// What became of a question.
pub(crate) fn decided_text(decided: &plans::Decided) -> String {
    let filed: Vec<String> = decided.filed.iter().map(ToString::to_string).collect();
    let more = match (decided.decision, filed.is_empty()) {
        (Decision::Approved, false) => format!(": filed {}", filed.join(" ")),
        (Decision::Approved, true) => ": its issues follow once the forge takes them".to_owned(),
        _ => String::new(),
    };
    format!("{}: {}{more}", decided.what, decided.decision.as_str())
}

/// A line of each verb.
fn help() -> String {
    let line = |verb: &ChatVerb| {
        let who = match verb.may {
            May::Trusted => "",
            May::Settings => " (whom the settings trust)",
            May::Operators => " (operators)",
        };
        format!("{} – {}{who}", verb.usage(), verb.what)
    };
    VERBS.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// An issue is made once somebody presses the button.
async fn question(home: &Home, words: &[String], asker: &Asker<'_>) -> Result<Answer, Refusal> {
    let [repo, title] = words else {
        return Err(Refusal::EmptyIssue);
    };
    let repo = names::repo(&home.fleet, repo)?;
    // Else a yes could not be carried out.
    issues::label_there(&home.fleet, &repo.name)?;
    let (title, now) = (home.redactor.redact(title).into_owned(), home.clock.now());
    let new = NewApproval {
        id: plans::new_id(),
        plan: None,
        repo: repo.name.clone(),
        issue: None,
        hash: plans::of_issue(&repo.name, &title),
        body: title,
        asked_at: now,
        expires_at: now + asker.within,
    };
    home.store.ask_approval(&new).await?;
    Ok(Answer::Question(new.id))
}

/// What became of what a button or a sign says. An error is one that passes: it is decided once, however often that
/// is tried.
pub(crate) async fn decide(home: &Home, choice: &Choice<'_>) -> Result<String, StoreError> {
    let error = match plans::decide(home, choice).await {
        Ok(Ok(decided)) => return Ok(decided_text(&decided)),
        Ok(Err(bad)) => return Ok(format!("nothing changed: {}", bad.why())),
        Err(Refusal::Store(error)) if error.passes() => return Err(error),
        Err(error) => error,
    };
    debug!(%error, "a decision could not be carried out whole");
    Ok(match home.store.approval(choice.id).await? {
        Some(row) if row.decision.is_some() => {
            format!("{error}: what was decided is carried out later")
        }
        _ => format!("nothing is decided: {error}"),
    })
}

/// As events name a member.
pub(crate) fn named(user: &str) -> String {
    format!("{user}, in the chat")
}

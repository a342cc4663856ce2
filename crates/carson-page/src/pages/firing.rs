//! One firing: its stages, what its sessions said last, what was stopped, what followed and what it cost.

use std::sync::Arc;

use askama::Template;
use axum::Extension;
use axum::extract::{Path, State};
use axum::response::Response;
use carson_engine::Said;
use carson_home::Home;
use carson_operator::Ask;
use carson_operator::firings::{Show, Shown};
use carson_operator::transcript::Transcript;
use serde_json::Value;

use super::rows::{FiringRow, Link, pull, what};
use crate::desk::Desk;
use crate::fault::Fault;
use crate::frame::{Frame, page as whole};
use crate::guard::Signed;
use crate::text::{cost, cut, line, part, span};

/// Events that are shown.
const EVENTS: usize = 200;
/// Pieces of one transcript that are looked through for what it ends with.
const PIECES: usize = 16;
/// Characters of a last word.
const LETTERS: usize = 20_000;

#[derive(Template)]
#[template(path = "firing.html")]
struct Page {
    frame: Frame,
    row: FiringRow,
    what: String,
    facts: Vec<(&'static str, String)>,
    pull: Option<Link>,
    stages: Vec<(String, String, String)>,
    words: Vec<Word>,
    blocked: Vec<(String, String, String, String)>,
    effects: Vec<(String, String, String)>,
    hosts: Vec<(String, String)>,
    events: Vec<(String, String, String)>,
    more_events: usize,
    retry: Option<String>,
}

/// What a session said last: a plan, findings, or what it did.
struct Word {
    session: String,
    text: String,
    cut: bool,
    /// A plan and findings are what people look for.
    open: bool,
}

pub(crate) async fn page(
    State(desk): State<Arc<Desk>>,
    Extension(signed): Extension<Signed>,
    Path(id): Path<String>,
) -> Result<Response, Fault> {
    let home = desk.home();
    let shown = Show { id }.answer(&home).await?;
    let firing = &shown.firing;
    let frame = Frame::of(
        (&desk, &home),
        &signed,
        ("/", format!("Firing {}", firing.id.short())),
    );
    let zone = frame.zone;
    let stages = shown.stages.iter().map(|stage| {
        let ended = stage.ended_at.or(firing.ended_at).unwrap_or(zone.now);
        (
            stage.name.to_string(),
            zone.at(stage.started_at),
            span(ended - stage.started_at),
        )
    });
    let blocked = shown.blocked_calls.iter().map(|call| {
        (
            zone.at(call.at),
            call.rule.clone(),
            call.tool.clone(),
            call.call.clone(),
        )
    });
    let page = Page {
        row: FiringRow::of(&frame.zone, firing),
        what: what(firing),
        facts: facts(&frame, &shown),
        pull: pull(firing),
        stages: stages.collect(),
        words: words(&home, &shown).await?,
        blocked: blocked.collect(),
        effects: effects(&shown),
        hosts: hosts(&shown),
        events: events(&frame, &shown),
        more_events: shown.events.len().saturating_sub(EVENTS),
        retry: retry(&shown),
        frame,
    };
    whole(&home, &page)
}

/// What is known of it, as far as there is something to say.
fn facts(frame: &Frame, shown: &Shown) -> Vec<(&'static str, String)> {
    let (row, zone) = (&shown.firing, frame.zone);
    let mut all = vec![(
        "Claimed",
        format!(
            "{} ({}) on {}",
            zone.at(row.claimed_at),
            zone.ago(row.claimed_at),
            row.host
        ),
    )];
    let mut add = |name, text: Option<String>| all.extend(text.map(|text| (name, text)));
    add("Slot", row.slot.map(|slot| zone.at(slot)));
    add(
        "Must end",
        row.ended_at.is_none().then(|| {
            format!(
                "{} ({})",
                zone.at(row.deadline_at),
                zone.ago(row.deadline_at)
            )
        }),
    );
    add("Ended", row.ended_at.map(|at| zone.at(at)));
    let account = row.account.as_ref().map(ToString::to_string);
    add(
        "Account",
        account.map(|account| format!("{account} ({})", row.engine.as_deref().unwrap_or("-"))),
    );
    add("Last word", row.sentinel.clone());
    add("Branch", row.branch.clone());
    add("Pushed", row.pushed_sha.clone());
    add("Kept", row.salvage_ref.clone());
    add("Verified", row.verified_sha.clone());
    let used = format!(
        "{}, {} turns, {} tokens, {} sessions",
        cost(row),
        row.turns,
        shown.tokens,
        row.sessions
    );
    add("Cost", Some(used));
    all
}

/// What each session ended with.
async fn words(home: &Home, shown: &Shown) -> Result<Vec<Word>, Fault> {
    let mut all = Vec::new();
    let firing = shown.firing.id.to_string();
    let ask = |after: Option<String>| Transcript {
        firing: firing.clone(),
        after,
    };
    let sessions = ask(None).answer(home).await?.sessions;
    for session in sessions {
        let (mut after, mut last) = (format!("{session}:0"), None);
        for _ in 0..PIECES {
            let heard = ask(Some(after)).answer(home).await?;
            for line in heard.said {
                if line.session != session {
                    break;
                }
                if let Said::Text(text) = line.said {
                    last = Some(text);
                }
            }
            after = heard.after;
            if !heard.more || !after.starts_with(&format!("{session}:")) {
                break;
            }
        }
        let Some(text) = last else { continue };
        let (text, cut) = cut(text.trim(), LETTERS);
        all.push(Word {
            open: !session.ends_with("-execute"),
            session,
            text,
            cut,
        });
    }
    Ok(all)
}

fn effects(shown: &Shown) -> Vec<(String, String, String)> {
    let one = |row: &carson_store::EffectRow| {
        let row = serde_json::to_value(row).unwrap_or_default();
        let word = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        (word("kind"), word("state"), line(&word("said")))
    };
    shown.effects.iter().map(one).collect()
}

fn hosts(shown: &Shown) -> Vec<(String, String)> {
    let one = |host: &carson_core::egress::EgressHost| {
        let host = serde_json::to_value(host).unwrap_or_default();
        let name = host["host"].as_str().unwrap_or_default().to_owned();
        let count = |key: &str| host[key].as_u64().unwrap_or(0);
        (
            name,
            format!(
                "{} let through, {} refused",
                count("allowed"),
                count("refused")
            ),
        )
    };
    shown.egress.iter().map(one).collect()
}

fn events(frame: &Frame, shown: &Shown) -> Vec<(String, String, String)> {
    let newest = shown.events.iter().rev().take(EVENTS);
    newest
        .map(|event| {
            (
                frame.zone.at(event.at),
                event.kind.clone(),
                pairs(&event.data),
            )
        })
        .collect()
}

/// The data of an event, for people.
fn pairs(data: &Value) -> String {
    let Some(object) = data.as_object() else {
        return String::new();
    };
    let said = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let all: Vec<String> = object
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| format!("{key}: {}", said(value)))
        .collect();
    line(&all.join(" · "))
}

/// Where its issue is given back to the fleet, once it has ended without a pull request.
fn retry(shown: &Shown) -> Option<String> {
    use carson_core::work::WorkKey;
    let row = &shown.firing;
    let (Some(WorkKey::Issue(issue)), Some(repo)) = (row.work, &row.repo) else {
        return None;
    };
    let given_up = row.ended_at.is_some() && row.pr_number.is_none();
    given_up.then(|| format!("/do/retry?issue={issue}&repo={}", part(repo.as_str())))
}

//! An issue that is too large for one pull request becomes several, an architect's in several repositories: a
//! person approves them first.

use carson_core::effect::Release;
use carson_core::settle::Goal;
use carson_core::{Effect, Outcome, Page, RepoName};
use carson_forge::{IN_FLIGHT, NEEDS_HUMAN, PLAN_PENDING};

use super::implement;
use super::kind::{Closing, Kind};
use super::pick_issue::pick;
use crate::effects::{IssueIn, TO_APPROVE};
use crate::forge_text;
use crate::queue::{approval_hash, approval_words};

pub(super) static KIND: Kind = Kind {
    pick: |ctx, rec| Box::pin(pick(ctx, rec)),
    look: None,
    goal: |_| Goal::Effects,
    effects,
};

/// The end of the claim, and the issues, once a person said yes. A plan without issues is a question.
fn effects(closing: &Closing<'_, '_>) -> Vec<Effect> {
    let Some(issue) = closing.taken.work.key.number() else {
        return Vec::new();
    };
    if closing.settled.outcome != Outcome::Ok {
        return implement::effects(closing);
    }
    let declared = &closing.facts.declared.effects;
    let of_kind = |filed: bool| {
        let all = declared.iter();
        all.filter(move |one| matches!(one, Effect::FileIssue { .. }) == filed)
    };
    let filed: Vec<Effect> = of_kind(true)
        .map(|one| part_of(closing, issue, one))
        .collect();
    let mut effects: Vec<Effect> = of_kind(false).cloned().collect();
    if filed.is_empty() {
        effects.push(ends(closing, issue, asks(closing)));
        return effects;
    }
    let refused = closing.facts.declared.refused.iter();
    let refused = refused.filter(|one| one.kind == "issue").count();
    let approval = closing.ctx.role.grant.approval;
    if approval {
        // It names what people read, and nothing else is filed.
        let own = &closing.taken.repo.name;
        let is_of_several = closing.ctx.role.kind.files_elsewhere();
        let parts = parts(&filed, is_of_several.then_some(own));
        let hash = approval_hash(&format!("{issue}\0{}", parts.as_str()));
        effects.push(Effect::Comment {
            on: issue,
            body: proposal(&hash, &parts.and(&not_in_it(closing))),
        });
        effects.push(ends(closing, issue, vec![PLAN_PENDING.to_owned()]));
        effects.push(Effect::AwaitApproval {
            issue,
            hash,
            until: closing.ctx.now() + TO_APPROVE,
        });
    } else {
        effects.push(ends(closing, issue, Vec::new()));
    }
    effects.extend(filed);
    effects.push(Effect::TellFiled {
        issue,
        refused: u32::try_from(refused).unwrap_or(u32::MAX),
    });
    effects
}

/// The issue waits for a person's answer.
fn asks(closing: &Closing<'_, '_>) -> Vec<String> {
    let ready = closing.ctx.role.work.label();
    let labels = ready.into_iter().chain([NEEDS_HUMAN]);
    labels.map(str::to_owned).collect()
}

fn ends(closing: &Closing<'_, '_>, issue: u64, add: Vec<String>) -> Effect {
    let (ctx, settled) = (closing.ctx, closing.settled);
    let note = forge_text::forge_note(ctx, closing.rec, closing.taken, (settled, closing.saved));
    Effect::Release {
        issue,
        release: Release {
            outcome: settled.outcome.to_string(),
            note: note.without(|text| ctx.redacted(text)),
            attempt_counts: false,
            add,
            remove: vec![IN_FLIGHT.to_owned()],
        },
        without_pull: None,
    }
}

/// One of its parts, for the role that is to work on it.
fn part_of(closing: &Closing<'_, '_>, parent: u64, filed: &Effect) -> Effect {
    let Effect::FileIssue {
        topic,
        repo,
        after,
        title,
        body,
        labels,
    } = filed
    else {
        return filed.clone();
    };
    let ctx = closing.ctx;
    let own = &closing.taken.repo.name;
    let parent = IssueIn {
        repo: own.clone(),
        number: parent,
    };
    let body = body
        .clone()
        .says("\n\nPart of ")
        .names(parent.named_in(ctx.home, repo.as_ref().unwrap_or(own)))
        .says(", planned by ")
        .names(&ctx.role.name)
        .says(" (firing ")
        .names(ctx.id)
        .says(").\n");
    Effect::FileIssue {
        topic: topic.clone(),
        repo: repo.clone(),
        after: after.clone(),
        title: title.clone().without(|text| ctx.redacted(text)),
        body: body.without(|text| ctx.redacted(text)),
        labels: labels.clone(),
    }
}

fn proposal(hash: &str, parts: &Page) -> Page {
    Page::from("A plan, of which nothing is filed yet. To approve it as it stands here, comment:\n\n```text\n")
        .names(approval_words(hash))
        .says("\n```\n\n(The label `plan-approved` does the same, set now that this stands here, and `carson approve` from a terminal.) Without that within 24 hours it is dropped.\n")
        .and(parts)
}

/// What people who read the plan should know that it lacks.
fn not_in_it(closing: &Closing<'_, '_>) -> Page {
    let refused = forge_text::refused_entries(&closing.facts.declared);
    match refused.as_str().is_empty() {
        true => refused,
        false => Page::from("\nThis is not part of it, and the issue stays open for it:\n\n")
            .and(&refused),
    }
}

/// The issues as people read them; of an architect's each says its repository.
fn parts(filed: &[Effect], own: Option<&RepoName>) -> Page {
    let mut page = Page::default();
    for (at, one) in (1..).zip(filed) {
        let Effect::FileIssue {
            repo,
            after,
            title,
            body,
            labels,
            ..
        } = one
        else {
            continue;
        };
        page = page.says("\n## ").names(at).says(". ").and(title);
        // Before all that a session wrote, which could look like it.
        if let Some(repo) = repo.as_ref().or(own) {
            page = page.says("\n\nIn the repository ").names(repo).says(".");
        }
        if !after.is_empty() {
            let after: Vec<String> = after.iter().map(ToString::to_string).collect();
            page = page.says("\n\nAfter ").names(after.join(", ")).says(".");
        }
        page = page.says("\n\n").and(body).says("\nLabels: ");
        page = page.quotes(&labels.join(", ")).says("\n");
    }
    page
}

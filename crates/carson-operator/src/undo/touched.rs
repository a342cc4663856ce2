//! What of a pull request is not as the fleet left it.

use carson_core::effect::Effect;
use carson_core::work::WorkKey;
use carson_firing::{SUPERSEDED, Written, written};
use carson_forge::{NEEDS_HUMAN, Pull, is_same_label, is_same_text};
use carson_store::{EffectRow, Firing};

use super::looking::Looking;
use crate::refusal::Refusal;

/// The label of a draft where a forge has none.
const WIP: &str = "wip";

/// What people did to it since, as far as the forge shows that. `others` went on with it.
pub(super) async fn pull(
    looking: &Looking<'_, '_>,
    pull: &Pull,
    others: &[Firing],
) -> Result<Option<String>, Refusal> {
    let store = &looking.going.home.store;
    let mut effects = looking.effects.to_vec();
    for other in others {
        effects.extend(store.effects(other.id).await?);
    }
    let repo = &looking.place.repo.name;
    // Reviewers and fixers have the pull request itself as their work.
    let mut handed = effects.clone();
    for other in store.firings_of(repo, WorkKey::Pull(pull.number)).await? {
        handed.extend(store.effects(other.id).await?);
    }
    let is_handed = |one: &EffectRow| matches!(one.effect, Effect::HandOver { number, .. } if number == pull.number);
    let is_handed = handed.iter().any(is_handed);
    let ours = written(effects.iter().map(|one| &one.effect));
    if let Some(why) = changed(pull, &ours, is_handed) {
        return Ok(Some(why));
    }
    let forge = &looking.place.forge;
    let mut comments = forge.comments_of_people(pull.number).await?;
    comments.retain(|comment| !comment.body.starts_with(SUPERSEDED));
    if !comments.is_empty() {
        return Ok(Some("somebody commented on it since".to_owned()));
    }
    let is_reviewed = forge.has_reviews_of_people(pull.number).await?;
    Ok(is_reviewed.then(|| "somebody reviewed it since".to_owned()))
}

/// What it says itself. Where no row says what the fleet wrote, nothing tells whether somebody else did.
fn changed(pull: &Pull, ours: &[Written], is_handed: bool) -> Option<String> {
    let last = ours.last()?;
    let has = |all: &[String], label: &String| all.iter().any(|one| is_same_label(one, label));
    let is_ours = |label: &&String| {
        ours.iter().any(|one| has(&one.labels, label))
            || last.draft && is_same_label(label, WIP)
            || is_handed && is_same_label(label, NEEDS_HUMAN)
    };
    let more = pull.labels.iter().find(|label| !is_ours(label));
    let less = last.labels.iter().find(|label| !has(&pull.labels, label));
    match (more, less) {
        (Some(label), _) => return Some(format!("somebody gave it {label} since")),
        (None, Some(label)) => return Some(format!("somebody took {label} away since")),
        (None, None) => {}
    }
    let is = |same: fn(&Pull, &Written) -> bool| ours.iter().any(|one| same(pull, one));
    let [title, body, base] = [
        is(|pull, one| is_same_text(&pull.title, &one.title)),
        is(|pull, one| is_same_text(&pull.body, &one.body)),
        is(|pull, one| pull.base == one.base),
    ];
    let why = match () {
        () if !title => "somebody gave it another title since",
        () if !body => "somebody changed its text since",
        () if !base => "somebody gave it another base since",
        () if last.draft && !pull.draft => "somebody made it ready for review since",
        () => return None,
    };
    Some(why.to_owned())
}

#[cfg(test)]
mod tests {
    use carson_forge::PullState;

    use super::*;

    #[test]
    fn what_people_changed_in_a_pull_request_is_seen() {
        let labels = |all: &[&str]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let ours = [Written {
            title: "Work".into(),
            body: "Closes #7".into(),
            base: "main".into(),
            draft: true,
            labels: labels(&["do-not-review"]),
        }];
        let as_left = Pull {
            number: 9,
            title: "Work".into(),
            body: "Closes #7\r\n".into(),
            author: "carson".into(),
            opened_at: chrono::DateTime::UNIX_EPOCH,
            from_fork: false,
            head: "b".into(),
            base: "main".into(),
            draft: true,
            state: PullState::Open,
            labels: labels(&["Do-not-review", "wip"]),
            url: String::new(),
        };
        assert_eq!(changed(&as_left, &ours, false), None);
        assert_eq!(changed(&as_left, &[], false), None);
        let why = |change: fn(&mut Pull)| {
            let mut pull = as_left.clone();
            change(&mut pull);
            changed(&pull, &ours, false).unwrap_or_default()
        };
        for (why, said) in [
            (why(|pull| pull.title.push('!')), "another title"),
            (why(|pull| pull.body.push('!')), "changed its text"),
            (why(|pull| pull.base.push('2')), "another base"),
            (why(|pull| pull.draft = false), "made it ready"),
            (why(|pull| pull.labels.push("p1".into())), "gave it p1"),
            (why(|pull| pull.labels.clear()), "took do-not-review away"),
        ] {
            assert!(why.contains(said), "{said}: {why:?}");
        }
        let mut handed = as_left;
        handed.labels.push(NEEDS_HUMAN.to_owned());
        assert!(changed(&handed, &ours, false).is_some());
        assert_eq!(changed(&handed, &ours, true), None);
    }
}

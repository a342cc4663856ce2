//! What is the same on every forge.

use carson_core::lesson::{LessonId, LessonKind, LessonSource, LessonState, Severity};
use carson_core::{Effect, FiringId};
use carson_forge::PullState;
use carson_store::{Change, EffectState, NewLesson, UndoState, Valid};

use super::stands;
use super::world::{Did, READY, World, git};

#[tokio::test]
async fn a_merge_is_taken_back_by_a_pull_request_once() {
    let world = World::local().await;
    let work = world.issue("Work", &[READY]).await;
    let worker = world.worked(work).await;
    let store = &world.home.store;
    let row = store.firing(worker).await.unwrap().unwrap();
    let number = row.pr_number.unwrap();
    let pull = world.forge.pull(number).await.unwrap();
    let repo = &world.home.fleet.repos[&"widget".parse().unwrap()];
    carson_firing::ended_pulls::merge_branch(&world.home, repo, &pull, None)
        .await
        .unwrap();
    let merge = carson_forge::Merge::default();
    world.forge.merge_pull(number, &merge).await.unwrap();
    let other = world.issue("Merge it", &[READY]).await;
    let merger = world
        .ends(Did {
            issue: other,
            pushed: false,
            effects: vec![Effect::MergePull {
                pull: number,
                head: row.pushed_sha.unwrap(),
            }],
        })
        .await;
    let tried = carson_store::Tried {
        state: EffectState::Done,
        said: None,
        next_at: None,
    };
    store
        .as_firing(merger, carson_store::Epoch::FIRST)
        .note_effect(0, &tried)
        .await
        .unwrap();
    let main = git(&world.origin(), &["rev-parse", "main"]);

    let undone = world.undo(merger, true).await;
    assert_eq!(undone.count(UndoState::Left), 0, "{undone:#?}");
    let back = format!("carson/revert-{number}");
    let opened = world.forge.pull_by_head(&back).await.unwrap().unwrap();
    assert_eq!(opened.state, PullState::Open);
    let diff = git(&world.origin(), &["diff", "--stat", "main", &back]);
    assert!(diff.contains(&format!("{work}.txt")), "{diff}");
    // Nobody pushed to the base.
    assert_eq!(git(&world.origin(), &["rev-parse", "main"]), main);
    // Who opened what was merged has nothing to close.
    let opener = world.undo(worker, true).await;
    let left = stands(&opener, UndoState::Left);
    assert!(left[0].contains("it was merged since"), "{left:#?}");
    assert!(left[0].contains("`git revert -m 1`"), "{left:#?}");
    assert!(
        left[1].ends_with("its pull request was merged"),
        "{left:#?}"
    );
}

#[tokio::test]
async fn what_runs_is_refused_with_what_ends_it() {
    let world = World::local().await;
    let new = carson_store::NewFiring {
        id: FiringId::new(),
        role: "hand".parse().unwrap(),
        slot: None,
        host: "box".parse().unwrap(),
        account: None,
        deadline_at: world.home.clock.now(),
        claimed_at: world.home.clock.now(),
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    };
    world.home.store.claim_firing(&new).await.unwrap();
    let refusal = world.ask(Some(new.id), None, true).await.unwrap_err();
    let id = new.id.short();
    assert_eq!(refusal.to_string(), format!("firing {id} still runs"));
    assert!(
        refusal
            .hint()
            .unwrap()
            .contains(&format!("carson stop {id}"))
    );
    let all = world.ask(None, Some("1h"), true).await.unwrap();
    assert_eq!((all.firings.len(), all.running[0].id), (0, new.id));
    for (firing, since) in [(None, None), (Some(new.id), Some("1h"))] {
        let refusal = world.ask(firing, since, true).await.unwrap_err();
        assert!(refusal.is_of_the_ask(), "{refusal}");
    }
}

#[tokio::test]
async fn what_it_proposed_as_lessons_is_taken_back() {
    let world = World::local().await;
    let work = world.issue("Work", &[READY]).await;
    let id = world.worked(work).await;
    let now = world.home.clock.now();
    let valid = Valid {
        from: now,
        to: None,
    };
    let propose = async |text: &str, firing, states: &[LessonState]| {
        let new = NewLesson {
            id: LessonId::new(),
            recorded_at: now,
            text: text.to_owned(),
            body: None,
            kind: LessonKind::Pitfall,
            severity: Severity::Warning,
            scope: "repo:widget".parse().unwrap(),
            repo: None,
            confidence: 0.5,
            valid,
            source: LessonSource::Session,
            by: "hand".to_owned(),
            firing: Some(firing),
            origin: None,
            digest: text.to_owned(),
            words: text.to_owned(),
            evidence: Vec::new(),
        };
        let history: Vec<Change> = (1..)
            .zip(states)
            .map(|(n, state)| Change {
                n,
                at: now,
                by: "operator".to_owned(),
                state: *state,
                valid: (*state == LessonState::Promoted).then_some(valid),
                confidence: 0.5,
                why: String::new(),
                undoes: None,
            })
            .collect();
        let store = &world.home.store;
        assert!(store.record_lesson(&new, &history).await.unwrap());
        new.id
    };
    let believed = [LessonState::Candidate, LessonState::Promoted];
    let told = propose("wash the cups", id, &believed).await;
    let waits = propose("dry the cups", id, &[LessonState::Candidate]).await;
    let other = propose("break no cups", FiringId::new(), &believed).await;
    let undone = world.undo(id, true).await;
    let done = stands(&undone, UndoState::Done);
    assert!(
        done.iter()
            .any(|one| one.starts_with("take 2 lessons back that it proposed")),
        "{done:#?}"
    );
    for (lesson, stands) in [
        (told, LessonState::Reverted),
        (waits, LessonState::Rejected),
        (other, LessonState::Promoted),
    ] {
        let row = world.home.store.lesson(lesson).await.unwrap().unwrap();
        assert_eq!(row.now.state, stands);
    }
}

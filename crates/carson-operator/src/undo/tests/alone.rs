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
    let (worker, merger, number) = merged(&world).await;
    let main = git(&world.origin(), &["rev-parse", "main"]);

    let undone = world.undo(merger, true).await;
    assert_eq!(undone.count(UndoState::Left), 0, "{undone:#?}");
    let back = format!("carson/revert-{number}");
    let opened = world.forge.pull_by_head(&back).await.unwrap().unwrap();
    assert_eq!(opened.state, PullState::Open);
    let diff = git(&world.origin(), &["diff", "--stat", "main", &back]);
    assert!(diff.contains(".txt"), "{diff}");
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

/// A firing that merged the pull request of another; both, and its number.
async fn merged(world: &World) -> (FiringId, FiringId, u64) {
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
    (worker, merger, number)
}

#[tokio::test]
async fn a_branch_of_the_name_that_a_revert_takes_is_not_offered_for_it() {
    let world = World::local().await;
    let (_, merger, number) = merged(&world).await;
    let back = format!("carson/revert-{number}");
    world.push(&back, "theirs.txt");
    let undone = world.undo(merger, true).await;
    let left = stands(&undone, UndoState::Left);
    assert!(
        left[0].contains(&format!("another branch {back}")),
        "{left:#?}"
    );
    assert!(world.forge.pull_by_head(&back).await.unwrap().is_none());

    // One that our commit stands above is moved on to it.
    git(
        &world.origin(),
        &["update-ref", &format!("refs/heads/{back}"), "main~1"],
    );
    let undone = world.undo(merger, true).await;
    assert_eq!(undone.count(UndoState::Left), 0, "{undone:#?}");
    let opened = world.forge.pull_by_head(&back).await.unwrap().unwrap();
    let diff = git(&world.origin(), &["diff", "--numstat", "main", &back]);
    assert_eq!(diff.lines().count(), 1, "{diff}");
    assert_eq!(opened.state, PullState::Open);
}

/// Of one that turned its base red the row says which pull request takes it back.
#[tokio::test]
async fn a_revert_that_somebody_closed_takes_nothing_back() {
    let world = World::local().await;
    let (_, merger, number) = merged(&world).await;
    let back = carson_forge::NewPull {
        head: format!("carson/revert-{number}"),
        base: "main".into(),
        ..carson_forge::NewPull::default()
    };
    let back = world.forge.create_pull(&back).await.unwrap();
    world.forge.close_pull(back.number).await.unwrap();
    let closed = format!("#{}, which takes it back, was closed", back.number);
    // It finds it by its branch, then by its row.
    for _ in 0..2 {
        let undone = world.undo(merger, true).await;
        let left = stands(&undone, UndoState::Left);
        assert!(left[0].contains(&closed), "{left:#?}");
        let row = world.home.store.firing(merger).await.unwrap().unwrap();
        assert_eq!(row.pr_number, Some(back.number));
    }
    world.forge.reopen_pull(back.number).await.unwrap();
    let undone = world.undo(merger, true).await;
    assert_eq!(undone.count(UndoState::Left), 0, "{undone:#?}");
}

/// A forge of files could give a number twice, before it kept what it gave.
#[tokio::test]
async fn firings_whose_pull_requests_had_one_number_do_not_wait_for_each_other() {
    let world = World::local().await;
    let (one, two) = (
        world.issue("One", &[READY]).await,
        world.issue("Two", &[READY]).await,
    );
    let first = world.worked(one).await;
    let forge = world
        .home
        .fleet
        .layout
        .forge_repo(&"widget".parse().unwrap());
    std::fs::remove_file(forge.join("pulls/0003.md")).unwrap();
    std::fs::remove_file(forge.join(".number")).unwrap();
    let second = world.worked(two).await;
    let store = &world.home.store;
    for id in [first, second] {
        let row = store.firing(id).await.unwrap().unwrap();
        assert_eq!(row.pr_number, Some(3));
    }
    let undone = world.undo(first, true).await;
    let done = stands(&undone, UndoState::Done);
    let theirs = format!("it is gone: #3 offers {} now", super::branch(two));
    assert!(done[0].ends_with(&theirs), "{undone:#?}");
    assert_eq!(undone.count(UndoState::Waits), 0, "{undone:#?}");
    assert_eq!(world.forge.pull(3).await.unwrap().state, PullState::Open);
    assert!(!world.has_branch(&super::branch(one)));
    let undone = world.undo(second, true).await;
    assert_eq!(
        undone.count(UndoState::Done),
        undone.ways.len(),
        "{undone:#?}"
    );
    assert_eq!(world.forge.pull(3).await.unwrap().state, PullState::Closed);
}

/// Its plan is issues: while one of them stays, planning it anew would make them twice.
#[tokio::test]
async fn an_issue_is_not_planned_anew_beside_one_that_stays() {
    let world = World::local().await;
    let work = world.issue("Large", &[READY]).await;
    let part = |title: &'static str| Effect::FileIssue {
        topic: None,
        repo: None,
        after: Vec::new(),
        title: title.into(),
        body: "Do it.".into(),
        labels: super::labels(&["bug"]),
    };
    let planner = world
        .fired(Did {
            issue: work,
            pushed: false,
            effects: vec![
                super::release(work, &[carson_forge::PLAN_PENDING]),
                part("Part A"),
                part("Part B"),
                Effect::TellFiled {
                    issue: work,
                    refused: 0,
                },
            ],
        })
        .await;
    let planned = [carson_forge::PLANNED];
    assert_eq!(world.labels(work).await, planned);
    let a = work + 1;
    world.forge.set_labels(a, &["p0"], &[]).await.unwrap();
    let undone = world.undo(planner, true).await;
    let left = stands(&undone, UndoState::Left);
    assert!(
        left.iter()
            .any(|one| one.ends_with(&format!("issue #{a} stays"))),
        "{undone:#?}"
    );
    assert_eq!(world.labels(work).await, planned);
    // Once nothing of the plan is there any more, it is work again.
    world.forge.close_issue(a).await.unwrap();
    world.undo(planner, true).await;
    assert_eq!(world.labels(work).await, [READY]);
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

//! Running a loop again: after its end, and after a death.

use carson_loop::api::Mine;
use carson_loop::config::Changes;
use carson_loop::error::LoopError;
use carson_loop::event::Happened;
use carson_loop::journal::Journal;
use carson_loop::json_file::Sync;
use carson_loop::meta::Outcome;
use carson_loop::run::{Step, Wish};
use carson_loop::status::Status;

use crate::scene::Scene;

fn more(more: u32) -> Wish {
    Wish {
        more: Some(more),
        fresh: false,
    }
}

const FRESH: Wish = Wish {
    more: None,
    fresh: true,
};

#[tokio::test]
async fn what_has_ended_goes_on_with_more_or_begins_anew() {
    let scene = Scene::new(
        "cat n; test $(wc -l < n) -ge 3",
        "echo line >> n; echo $CARSON_LOOP_ATTEMPT",
    );
    scene.write("n", "");
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    assert_eq!(scene.run().await.status, Status::Exhausted);
    let refused = scene.run_again(Wish::default()).await.unwrap_err();
    let hint = refused.hint().unwrap();
    assert!(
        matches!(refused, LoopError::Ended { .. })
            && hint.contains("--more N")
            && hint.contains("--fresh")
    );
    let state = scene.run_again(more(1)).await.unwrap();
    assert_eq!(
        (state.status, state.attempt, state.max_attempts),
        (Status::Exhausted, 2, 2)
    );
    let heard = std::fs::read_to_string(scene.place.attempt(2).join("feedback")).unwrap();
    assert!(heard.contains("failed before attempt 2: "), "{heard}");
    let state = scene.run_again(more(5)).await.unwrap();
    assert_eq!(
        (state.status, state.attempt, state.max_attempts),
        (Status::Done, 3, 7)
    );
    // It says so, and does nothing.
    let state = scene.run().await;
    assert_eq!((state.status, state.attempt), (Status::Done, 3));
    assert_eq!(scene.read("n").lines().count(), 3);
    scene.write("n", "");
    // What was said with --more was for that run alone.
    let ten = Changes {
        max_attempts: Some(10),
        ..Changes::default()
    };
    scene.change(&ten);
    let mut put_away = String::new();
    let mut watch = |step: Step<'_>| {
        if let Step::PutAway(to) = step {
            put_away = to.to_owned();
        }
    };
    let state = scene.watched(FRESH, &mut watch).await.unwrap();
    assert_eq!((state.status, state.attempt), (Status::Done, 3));
    assert_eq!(put_away, "runs/001");
    assert!(scene.has(".carson/loop/runs/001/attempts/003/meta.json"));
    assert!(scene.has(".carson/loop/runs/001/config.json"));
    // Another task was never done.
    let other = Changes {
        promise: Some(carson_loop::words::Words::line("test -e other").unwrap()),
        task: Some(carson_loop::words::Words::line("touch other").unwrap()),
        ..Changes::default()
    };
    scene.change(&other);
    let state = scene.run().await;
    assert_eq!((state.status, state.attempt), (Status::Done, 1));
    assert!(scene.has(".carson/loop/runs/002/attempts"));
}

#[tokio::test]
async fn what_was_done_is_asked_again_once_the_tree_was_brought_back() {
    let scene = Scene::new(
        "cat n; test $(wc -l < n) -ge 2",
        "echo $CARSON_LOOP_ATTEMPT >> n; echo $CARSON_LOOP_ATTEMPT",
    );
    scene.write("n", "");
    let done = scene.run().await;
    assert_eq!((done.status, done.attempt), (Status::Done, 2));
    let back = async |attempt| {
        let mine = Mine::Refuse;
        let done = carson_loop::api::rollback(&scene.place, &scene.caller, attempt, mine).await;
        done.unwrap();
        carson_loop::api::status(&scene.place).unwrap()
    };
    // Where it is already.
    let status = back(2).await;
    assert!(status.status == Status::Done && status.promise_fulfilled);
    let status = back(1).await;
    assert!(status.status == Status::Idle && !status.promise_fulfilled);
    let reason = status.reason.unwrap();
    assert!(reason.contains("where attempt 1 left it"), "{reason}");
    let state = scene.run().await;
    assert_eq!((state.status, state.attempt), (Status::Done, 3));
    assert_eq!(scene.read("n"), "1\n3\n");
    // The tree that keeps it needs no attempt.
    back(0).await;
    back(2).await;
    let state = scene.run().await;
    assert_eq!((state.status, state.attempt), (Status::Done, 3));
    assert_eq!(scene.read("n"), "1\n2\n");
}

#[tokio::test]
async fn a_way_back_after_a_death_loses_nothing_of_what_the_dead_left() {
    let scene = Scene::new(
        "false",
        "echo $CARSON_LOOP_ATTEMPT > n; echo $CARSON_LOOP_ATTEMPT",
    );
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.run().await;
    let mut journal = Journal::open(&scene.place, &scene.caller.clock).unwrap();
    let hash = carson_loop::digest::Digest::of(b"x");
    let begun = Happened::AttemptStarted {
        attempt: 2,
        prompt_hash: hash,
        tree_before_hash: hash,
    };
    journal.add(begun, Sync::Later).unwrap();
    drop(journal);
    scene.write("half", "done by the dead");
    let back = async |attempt, mine| {
        carson_loop::api::rollback(&scene.place, &scene.caller, attempt, mine).await
    };
    let refused = back(0, Mine::Refuse).await.unwrap_err();
    assert!(matches!(refused, LoopError::Edited { .. }), "{refused}");
    back(0, Mine::Overwrite).await.unwrap();
    assert!(!scene.has("half") && !scene.has("n"));
    back(2, Mine::Refuse).await.unwrap();
    assert_eq!(scene.read("half"), "done by the dead");
    assert_eq!(scene.read("n"), "1\n");
}

#[tokio::test]
async fn attempts_after_more_are_not_held_against_those_before() {
    let scene = Scene::new("false", "echo same; echo x >> n");
    let state = scene.run().await;
    assert_eq!((state.status, state.attempt), (Status::Stagnated, 3));
    let state = scene.run_again(more(7)).await.unwrap();
    assert_eq!(
        (state.status, state.attempt, state.max_attempts),
        (Status::Stagnated, 6, 10)
    );
}

#[tokio::test]
async fn after_a_death_it_goes_on_under_the_same_bounds_and_numbers_rise() {
    let scene = Scene::new(
        "test -e done",
        "echo $CARSON_LOOP_ATTEMPT > n; test $CARSON_LOOP_ATTEMPT -lt 4 || touch done",
    );
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.run().await;
    // What a process leaves that is killed in its second attempt.
    let dead = r#"{"pid": 1, "start": 18446744073709551615, "what": "carson loop run", "since": "2026-01-02T03:04:05Z"}"#;
    std::fs::write(scene.place.lock(), dead).unwrap();
    let mut journal = Journal::open(&scene.place, &scene.caller.clock).unwrap();
    let hash = carson_loop::digest::Digest::of(b"x");
    for what in [
        Happened::Started {
            pid: 1,
            max_attempts: 4,
            configured: None,
            subject: journal.state().subject.unwrap(),
            goes_on: false,
            sandbox: false,
        },
        Happened::AttemptStarted {
            attempt: 2,
            prompt_hash: hash,
            tree_before_hash: hash,
        },
    ] {
        journal.add(what, Sync::Later).unwrap();
    }
    drop(journal);
    scene.write("half", "done by the dead");
    let status = carson_loop::api::status(&scene.place).unwrap();
    assert_eq!(status.status, Status::Running);
    assert!(status.owner.is_none() && status.died.is_some());
    let four = Changes {
        max_attempts: Some(4),
        ..Changes::default()
    };
    scene.change(&four);
    let mut seen = Vec::new();
    let mut watch = |step: Step<'_>| match step {
        Step::TookOver(owner) => seen.push(format!("took over {}", owner.pid)),
        Step::Interrupted(meta) => seen.push(format!("interrupted {}", meta.attempt)),
        Step::Attempt(number, _, of) => seen.push(format!("{number} of {of}")),
        _ => {}
    };
    let state = scene.watched(Wish::default(), &mut watch).await.unwrap();
    assert_eq!(seen, ["took over 1", "interrupted 2", "3 of 4", "4 of 4"]);
    assert_eq!((state.status, state.attempt), (Status::Done, 4));
    let interrupted = scene.meta(2);
    assert_eq!(
        (interrupted.outcome, interrupted.changed),
        (Outcome::Interrupted, 1)
    );
    let back = Mine::Refuse;
    carson_loop::api::rollback(&scene.place, &scene.caller, 1, back)
        .await
        .unwrap();
    assert!(!scene.has("half"));
    carson_loop::api::rollback(&scene.place, &scene.caller, 2, back)
        .await
        .unwrap();
    assert_eq!(scene.read("half"), "done by the dead");
}

#[tokio::test]
async fn more_is_for_one_run_and_what_the_operator_wrote_stays() {
    let scene = Scene::new("false", "od -N9 /dev/urandom | tee r");
    let most = |max_attempts| Changes {
        max_attempts: Some(max_attempts),
        stagnation_limit: Some(50),
        ..Changes::default()
    };
    scene.change(&most(2));
    let made = async |wish| {
        let state = scene.run_again(wish).await.unwrap();
        assert_eq!(state.status, Status::Exhausted);
        (state.attempt, state.max_attempts)
    };
    let written = || {
        let config = carson_loop::api::config(&scene.place).unwrap();
        let status = carson_loop::api::status(&scene.place).unwrap();
        (config.max_attempts, status.max_attempts)
    };
    assert_eq!(made(Wish::default()).await, (2, 2));
    let refused = scene.run_again(more(0)).await.unwrap_err();
    assert!(refused.is_of_the_ask(), "{refused}");
    assert_eq!(made(more(3)).await, (5, 5));
    assert_eq!(written(), (2, 5));
    // Counted from those that were made, whatever the files say.
    scene.change(&most(1));
    assert_eq!(written(), (1, 1));
    let state = scene.read(".carson/loop/state.json");
    scene.write(
        ".carson/loop/state.json",
        &state.replace("\"max_attempts\": 5", "\"max_attempts\": 900"),
    );
    assert_eq!(made(more(1)).await, (6, 6));
    assert_eq!(written().0, 1);
}

#[test]
fn a_run_that_goes_on_keeps_what_was_said_for_it_until_the_operator_says_another_word() {
    use carson_loop::event::{Ended, Event};
    use carson_loop::fold::bound;
    let event = |what| Event {
        at: chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap(),
        what,
    };
    let started = |max_attempts| {
        event(Happened::Started {
            pid: 1,
            max_attempts,
            configured: Some(10),
            subject: carson_loop::digest::Digest::of(b"s"),
            goes_on: false,
            sandbox: false,
        })
    };
    let edited = event(Happened::StateEdited {
        status: Status::Running,
        attempt: 0,
        max_attempts: 2,
    });
    let how = Ended {
        status: Status::Stopped,
        reason: String::new(),
        found: None,
        elapsed_ms: 0,
    };
    let more = event(Happened::More { attempts: 13 });
    for (events, configured, wanted) in [
        (vec![started(10)], 10, 10),
        (vec![started(10)], 4, 4),
        (vec![started(10), edited.clone()], 10, 2),
        (vec![started(10), more.clone(), started(13)], 10, 13),
        (vec![started(10), more.clone(), started(13)], 2, 2),
        (
            vec![started(10), more, event(Happened::Ended { how })],
            10,
            10,
        ),
        (vec![started(10), edited, started(2)], 10, 2),
    ] {
        assert_eq!(bound(&events, configured), wanted, "{events:?}");
    }
}

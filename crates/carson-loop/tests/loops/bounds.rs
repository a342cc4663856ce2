//! Every loop ends, with all that it started.

use std::time::{Duration, Instant};

use carson_loop::config::Changes;
use carson_loop::error::LoopError;
use carson_loop::lock::{Lock, Owner};
use carson_loop::meta::Outcome;
use carson_loop::run::{Step, Wish};
use carson_loop::status::Status;
use carson_proc::ProcessId;

use crate::scene::Scene;

fn within(max_attempts: u32, timeout: u64) -> Changes {
    Changes {
        max_attempts: Some(max_attempts),
        timeout_seconds: Some(timeout),
        ..Changes::default()
    }
}

/// Starts what leaves its group and its session, and writes everybody's number down.
const DAEMONS: &str = "sleep 1000 & echo $! >> pids; setsid sh -c 'echo $$ >> pids; sleep 1000 & echo $! >> pids; wait' & sleep 0.1";

fn assert_all_gone(scene: &Scene) {
    let pids = scene.read("pids");
    assert!(pids.lines().count() >= 3, "{pids}");
    for pid in pids.lines() {
        assert_eq!(ProcessId::of(pid.parse().unwrap()), None, "{pid}");
    }
}

#[tokio::test]
async fn attempts_are_bounded_in_number_and_time() {
    let scene = Scene::new(
        "false",
        &format!("echo $CARSON_LOOP_ATTEMPT; {DAEMONS}; sleep 1000"),
    );
    scene.change(&within(2, 1));
    let started = Instant::now();
    let state = scene.run().await;
    assert_eq!((state.status, state.attempt), (Status::Exhausted, 2));
    assert!(started.elapsed() < Duration::from_secs(12));
    let meta = scene.meta(1);
    assert_eq!((meta.outcome, meta.exit), (Outcome::TimedOut, None));
    assert!(meta.ended_by.contains("within 1 s"), "{}", meta.ended_by);
    assert_all_gone(&scene);
}

#[tokio::test]
async fn the_whole_time_ends_it_whatever_it_does() {
    for (promise, task) in [("false", "sleep 1000"), ("sleep 1000", "true")] {
        let scene = Scene::new(promise, task);
        let second = Changes {
            total_seconds: Some(1),
            ..Changes::default()
        };
        scene.change(&second);
        let state = scene.run().await;
        assert_eq!(
            state.status,
            Status::TimedOut,
            "{promise} {:?}",
            state.reason
        );
        assert!(state.reason.unwrap().contains("1 s"));
        let history = carson_loop::api::history(&scene.place, None).unwrap();
        let ended = match promise {
            "false" => history.attempts[0].meta.ended_by.clone(),
            _ => history.first_check.unwrap().ended_by,
        };
        assert_eq!(ended, "the whole time of 1 s was over");
        let refused = scene.run_again(Wish::default()).await.unwrap_err();
        assert!(
            matches!(
                refused,
                LoopError::Ended {
                    status: Status::TimedOut,
                    ..
                }
            ),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn a_promise_that_hangs_and_leaves_children_is_ended_as_a_tree() {
    let scene = Scene::new(&format!("{DAEMONS}; sleep 1000"), "true");
    let short = Changes {
        max_attempts: Some(1),
        verify_timeout_seconds: Some(1),
        ..Changes::default()
    };
    scene.change(&short);
    let state = scene.run().await;
    assert_eq!(state.status, Status::Exhausted);
    let check = scene.meta(1).check.unwrap();
    assert_eq!((check.passed, check.exit), (false, None));
    assert!(check.ended_by.contains("within 1 s"), "{}", check.ended_by);
    assert_all_gone(&scene);
}

#[tokio::test]
async fn children_that_a_promise_leaves_behind_are_ended_and_told() {
    let scene = Scene::new(&format!("{DAEMONS}; test -e done"), "touch done");
    let state = scene.run().await;
    assert_eq!(state.status, Status::Done);
    assert!(scene.meta(1).check.unwrap().leaked >= 2);
    assert_all_gone(&scene);
}

#[tokio::test]
async fn a_stop_ends_the_tree_and_the_attempt_does_not_count() {
    let scene = Scene::new(
        "false",
        &format!("echo half > work; {DAEMONS}; echo begun; sleep 1000"),
    );
    let cancel = scene.cancel.clone();
    let mut watch = move |step: Step<'_>| {
        if matches!(step, Step::Line("begun")) {
            cancel.cancel();
        }
    };
    let state = scene.watched(Wish::default(), &mut watch).await.unwrap();
    assert_eq!(
        (state.status, state.attempt, state.last_attempt),
        (Status::Stopped, 0, 1)
    );
    assert_eq!(scene.meta(1).outcome, Outcome::Stopped);
    assert_all_gone(&scene);
    // What it left is kept.
    scene.write("work", "a person's");
    let back = carson_loop::api::Mine::Overwrite;
    carson_loop::api::rollback(&scene.place, &scene.caller, 1, back)
        .await
        .unwrap();
    assert_eq!(scene.read("work"), "half\n");
}

#[tokio::test]
async fn what_cannot_be_started_is_said_at_once_and_costs_no_attempt() {
    for (promise, task, says) in [
        (
            "false",
            "no-such-agent -p x",
            "the task `no-such-agent -p x` cannot be started: there is no such command (127)",
        ),
        (
            "false",
            "./notes",
            "the task `./notes` cannot be started: it is not executable (126)",
        ),
        (
            "no-such-check",
            "true",
            "the promise `no-such-check` cannot be started: there is no such command (127)",
        ),
    ] {
        let scene = Scene::new(promise, task);
        scene.write("notes", "#!/bin/sh\n");
        let state = scene.run().await;
        assert_eq!((state.status, state.attempt), (Status::Failed, 0), "{task}");
        let reason = state.reason.unwrap();
        assert!(reason.starts_with(says), "{reason}");
        // Once it is mended it simply runs.
        let mended = Changes {
            promise: Some(carson_loop::words::Words::line("test -e x").unwrap()),
            task: Some(carson_loop::words::Words::line("touch x").unwrap()),
            ..Changes::default()
        };
        scene.change(&mended);
        assert_eq!(scene.run().await.status, Status::Done);
    }
}

#[tokio::test]
async fn of_two_that_race_one_runs_and_the_other_names_it() {
    let scene = Scene::new("false", "true");
    let owner = Owner::myself("carson loop run", scene.caller.clock.now());
    let lock = Lock::take(&scene.place.lock(), &owner).unwrap();
    let error = scene
        .run_again(Wish::default())
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(&format!("carson loop run (pid {}", std::process::id())),
        "{error}"
    );
    drop(lock);
    scene.change(&within(1, 9));
    assert_eq!(scene.run().await.status, Status::Exhausted);
}

#[tokio::test]
async fn a_loop_whose_files_are_taken_away_ends_and_makes_none_anew() {
    let scene = Scene::new("false", "rm -rf .carson; echo gone");
    let error = scene.run_again(Wish::default()).await.unwrap_err();
    assert!(
        matches!(error, LoopError::Gone { .. } | LoopError::Io { .. }),
        "{error}"
    );
    assert!(!scene.has(".carson/loop/state.json"));
}

//! What becomes of a loop that died, and of what it left behind.

use carson_loop::api::{self, Mine};
use carson_loop::config::Changes;
use carson_loop::digest::Digest;
use carson_loop::error::LoopError;
use carson_loop::event::Happened;
use carson_loop::journal::Journal;
use carson_loop::json_file::Sync;
use carson_loop::meta::Outcome;
use carson_loop::run::Wish;
use carson_loop::status::Status;
use carson_proc::{Command, ProcessId, spawn_detached_to};

use crate::scene::Scene;

/// A loop of which one attempt was made, and that died in the next one.
async fn dead() -> Scene {
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
    die_in(&scene, 2);
    scene.write("half", "done by the dead\n");
    scene
}

/// Writes what a process leaves that is killed in this attempt.
fn die_in(scene: &Scene, attempt: u32) {
    let mut journal = Journal::open(&scene.place, &scene.caller.clock).unwrap();
    let hash = Digest::of(b"x");
    for what in [
        Happened::Started {
            pid: 1,
            max_attempts: 4,
            configured: None,
            subject: hash,
            goes_on: false,
            sandbox: false,
        },
        Happened::AttemptStarted {
            attempt,
            prompt_hash: hash,
            tree_before_hash: hash,
        },
    ] {
        journal.add(what, Sync::Later).unwrap();
    }
    let dead = r#"{"pid": 1, "start": 18446744073709551615, "what": "carson loop run", "since": "2026-01-02T03:04:05Z"}"#;
    std::fs::write(scene.place.lock(), dead).unwrap();
}

/// A process that a run left behind, by what everything has that a loop runs; its parent is gone.
async fn orphan(scene: &Scene) -> ProcessId {
    use std::os::unix::ffi::OsStrExt as _;
    let marker = Digest::of(scene.place.dir().as_os_str().as_bytes()).short();
    let log = tempfile::tempfile().unwrap();
    let command = Command::new("/bin/sh", &scene.root)
        .args(["-c", "sleep 1000 & echo $! > .carson/pid"])
        .exact_env(vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("CARSON_LOOP_ID".into(), marker.into()),
        ]);
    spawn_detached_to(&command, log)
        .unwrap()
        .wait()
        .await
        .unwrap();
    ProcessId::of(scene.read(".carson/pid").trim().parse().unwrap()).unwrap()
}

#[tokio::test]
async fn a_stop_ends_what_a_run_left_behind_that_died_and_keeps_what_that_did() {
    let scene = dead().await;
    let orphan = orphan(&scene).await;
    let behind = api::stop(&scene.place, &scene.caller, true)
        .await
        .unwrap_err();
    assert!(
        behind.hint().unwrap().contains("carson loop stop"),
        "{behind}"
    );
    assert!(
        orphan.is_alive(),
        "nobody is there to stop behind the attempt"
    );
    let answer = api::stop(&scene.place, &scene.caller, false).await.unwrap();
    assert_eq!((answer.pid, answer.status), (1, Status::Stopped));
    assert!(!orphan.is_alive());
    let status = api::status(&scene.place).unwrap();
    assert!(status.died.is_none() && status.status == Status::Stopped);
    let history = api::history(&scene.place, None).unwrap();
    assert_eq!(history.under_way, None);
    assert_eq!(scene.meta(2).outcome, Outcome::Interrupted);
    let again = api::stop(&scene.place, &scene.caller, false)
        .await
        .unwrap_err();
    assert!(
        matches!(
            again,
            LoopError::NotRunning {
                status: Status::Stopped
            }
        ),
        "{again}"
    );
    let refused = scene.run_again(Wish::default()).await.unwrap_err();
    assert!(matches!(refused, LoopError::Ended { .. }), "{refused}");
    // What it did is its attempt's.
    api::rollback(&scene.place, &scene.caller, 1, Mine::Refuse)
        .await
        .unwrap();
    assert!(!scene.has("half"));
    api::rollback(&scene.place, &scene.caller, 2, Mine::Refuse)
        .await
        .unwrap();
    assert_eq!(scene.read("half"), "done by the dead\n");
}

#[tokio::test]
async fn a_way_back_from_a_death_leaves_no_loop_that_runs_and_no_attempt_under_way() {
    let scene = dead().await;
    assert_eq!(api::status(&scene.place).unwrap().status, Status::Running);
    let back = api::rollback(&scene.place, &scene.caller, 0, Mine::Overwrite).await;
    back.unwrap();
    let status = api::status(&scene.place).unwrap();
    assert_eq!((status.status, status.died), (Status::Idle, None));
    let reason = status.reason.unwrap();
    assert!(reason.contains("before the first attempt"), "{reason}");
    let history = api::history(&scene.place, None).unwrap();
    assert_eq!((history.under_way, history.attempts.len()), (None, 2));
    let more = Wish {
        more: Some(1),
        ..Wish::default()
    };
    let state = scene.run_again(more).await.unwrap();
    assert_eq!((state.status, state.last_attempt), (Status::Exhausted, 3));
}

#[tokio::test]
async fn an_attempt_that_died_is_no_other_programs() {
    let scene = dead().await;
    let known =
        async |attempt| match api::rollback(&scene.place, &scene.caller, attempt, Mine::Refuse)
            .await
        {
            Err(LoopError::NoAttempt { known, .. }) => known,
            other => panic!("{other:?}"),
        };
    let dead = "2 was under way when the loop died, and the tree is as it left it";
    let wanted = format!("there are 1 to 1, and 0 is before the first one; {dead}");
    assert_eq!(known(2).await, wanted);

    let first = Scene::new("false", "true");
    let none = first.run_again(Wish {
        more: Some(2_000_000),
        ..Wish::default()
    });
    let none = none.await.unwrap_err().to_string();
    assert!(none.contains("2000000 is too many"), "{none}");
    let mut checkpoints = carson_loop::checkpoint::Checkpoints::open(&first.place).unwrap();
    let rules = carson_loop::tree::Rules::of_repository(&first.root, None);
    checkpoints.make(0, (&first.root, &rules), None).unwrap();
    drop(checkpoints);
    die_in(&first, 1);
    let refused = api::rollback(&first.place, &first.caller, 1, Mine::Refuse).await;
    let refused = refused.unwrap_err().to_string();
    assert_eq!(
        refused,
        "there is no attempt 1: 0 is before the first one; 1 was under way when the loop died, and the tree is as it left it"
    );
}

#[tokio::test]
async fn what_is_ignored_from_outside_of_the_tree_is_left_and_named_where_it_differs() {
    let scene = Scene::new("false", "echo s >> .git/info/exclude; echo 1 > s; echo 1");
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.repository().await;
    scene.run().await;
    let back = async |attempt| {
        let done = api::rollback(&scene.place, &scene.caller, attempt, Mine::Refuse).await;
        done.unwrap().missed
    };
    assert_eq!(back(0).await, Vec::<String>::new());
    // It is ignored, and as the attempt left it.
    assert_eq!(back(1).await, Vec::<String>::new());
    scene.write("s", "mine\n");
    assert_eq!(back(1).await, ["s: it is ignored, and was left as it is"]);
    assert_eq!(scene.read("s"), "mine\n");
}

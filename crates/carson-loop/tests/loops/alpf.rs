//! Directories of ALPF's users: they simply go on.

use std::fs;
use std::path::{Path, PathBuf};

use carson_loop::api::{self, Mine};
use carson_loop::error::LoopError;
use carson_loop::place::{Found, Layout, Place};
use carson_loop::run::{Options, Wish, run};
use carson_loop::state::State;
use carson_loop::status::Status;
use serde_json::{Value, json};

use crate::scene::Scene;

/// Kept when the task was run twice; each failure is another one.
const CONFIG: &str = r#"{"promise": "cat n; test $(wc -l < n) -ge 2", "task": "echo $CARSON_LOOP_ATTEMPT >> n", "max_attempts": 10, "timeout_seconds": 300}"#;

/// A directory with these files of ALPF's, below one that has nothing of it.
fn theirs(scene: &Scene, state: &str) -> (PathBuf, Place) {
    let root = scene.root.join("theirs");
    fs::create_dir_all(root.join(".alpf")).unwrap();
    fs::write(root.join(".alpf/config.json"), CONFIG).unwrap();
    fs::write(root.join(".alpf/state.json"), state).unwrap();
    fs::write(root.join("before"), "theirs").unwrap();
    let place = Place::at(&root, Layout::Alpf).unwrap();
    (root, place)
}

async fn go(scene: &Scene, place: &Place, more: Option<u32>) -> State {
    let wish = Wish { more, fresh: false };
    let options = Options {
        wish,
        sandbox: None,
    };
    let ran = run(place, &scene.caller, &options, &scene.cancel, &mut |_| {}).await;
    ran.unwrap()
}

fn read(root: &Path, name: &str) -> String {
    fs::read_to_string(root.join(name)).unwrap()
}

#[tokio::test]
async fn its_own_state_is_where_the_loop_goes_on() {
    for hash in [
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "d3b07384",
    ] {
        let scene = Scene::new("true", "true");
        let state = json!({
            "status": "running", "attempt": 2, "max_attempts": 10, "last_output_hash": hash,
            "promise_fulfilled": false,
        });
        let (root, place) = theirs(&scene, &state.to_string());
        let status = api::status(&place).unwrap();
        assert_eq!((status.status, status.attempt), (Status::Running, 2));
        let history = api::history(&place, None).unwrap();
        assert_eq!((history.adopted, history.attempts.len()), (2, 0));
        let refused = api::rollback(&place, &scene.caller, 1, Mine::Refuse).await;
        let refused = refused.unwrap_err();
        assert!(
            matches!(&refused, LoopError::NoAttempt { known, .. } if known.contains("another program")),
            "{refused}"
        );

        let ended = go(&scene, &place, None).await;
        assert_eq!((ended.status, ended.attempt), (Status::Done, 4));
        assert_eq!(read(&root, "n"), "3\n4\n");
        let history = api::history(&place, None).unwrap();
        assert_eq!((history.adopted, history.attempts.len()), (2, 2));
        let written: Value = serde_json::from_str(&read(&root, ".alpf/state.json")).unwrap();
        for (key, value) in [
            ("status", json!("done")),
            ("attempt", json!(4)),
            ("max_attempts", json!(10)),
            ("promise_fulfilled", json!(true)),
        ] {
            assert_eq!(written[key], value, "{key}");
        }
        // What ALPF's last attempt left is known; what those before it left is not.
        let back = api::rollback(&place, &scene.caller, 2, Mine::Refuse).await;
        assert_eq!(back.unwrap().changed, 1);
        assert!(!root.join("n").exists() && root.join("before").exists());
        let refused = api::rollback(&place, &scene.caller, 1, Mine::Refuse).await;
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.contains("there are 2 to 4; of those before 2"),
            "{refused}"
        );
        // 0 is as it was found.
        fs::write(root.join("n"), "3\n").unwrap();
        let back = api::rollback(&place, &scene.caller, 0, Mine::Overwrite).await;
        assert_eq!(back.unwrap().changed, 1);
        assert!(!root.join("n").exists() && !root.join(".carson").exists());
    }
}

#[tokio::test]
async fn one_that_has_ended_gets_more_and_alpf_may_write_its_state_again() {
    let scene = Scene::new("true", "true");
    let state = r#"{"status": "exhausted", "attempt": 10, "max_attempts": 10, "last_output_hash": "", "promise_fulfilled": false}"#;
    let (root, place) = theirs(&scene, state);
    let ended = go(&scene, &place, Some(1)).await;
    assert_eq!((ended.status, ended.attempt), (Status::Exhausted, 11));
    let state = r#"{"status": "running", "attempt": 9, "max_attempts": 11, "last_output_hash": "", "promise_fulfilled": false}"#;
    fs::write(place.state(), state).unwrap();
    assert_eq!(api::status(&place).unwrap().attempt, 9);
    let ended = go(&scene, &place, None).await;
    assert_eq!((ended.status, ended.attempt), (Status::Done, 10));
    assert_eq!(read(&root, "n"), "11\n12\n");
}

#[tokio::test]
async fn a_loop_in_its_names_is_found_without_a_flag_from_its_first_run_on() {
    let scene = Scene::new("true", "true");
    let (root, place) = theirs(&scene, "{}");
    let deep = root.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let found = || Place::find(&deep, Layout::Native).unwrap();
    assert!(matches!(found(), Found::AlpfConfig(place) if place.layout() == Layout::Native));
    go(&scene, &place, None).await;
    assert_eq!(found(), Found::Loop(place.clone()));
    let status = api::status(&api::find(&deep, Layout::Native).unwrap()).unwrap();
    assert_eq!((status.status, status.dir), (Status::Done, place.dir()));
}

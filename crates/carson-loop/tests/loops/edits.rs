//! What a person changes while it runs.

use carson_loop::api;
use carson_loop::config::Changes;
use carson_loop::run::{Step, Wish};
use carson_loop::status::Status;
use carson_loop::words::Words;

use crate::scene::Scene;

#[tokio::test]
async fn what_is_changed_counts_from_the_next_attempt_on() {
    let scene = Scene::new("test -e done", "echo old $CARSON_LOOP_ATTEMPT; echo x >> n");
    let (place, caller) = (scene.place.clone(), scene.caller.clone());
    let mut told = Vec::new();
    let mut watch = |step: Step<'_>| match step {
        Step::Attempt(2, ..) => {
            let changes = Changes {
                task: Some(Words::line("touch done").unwrap()),
                max_attempts: Some(4),
                ..Changes::default()
            };
            let answer = api::update(&place, &caller, &changes).unwrap();
            assert!(answer.at_next_attempt);
        }
        Step::ConfigChanged(keys) => told.extend(keys.to_vec()),
        _ => {}
    };
    let state = scene.watched(Wish::default(), &mut watch).await.unwrap();
    assert_eq!(
        (state.status, state.attempt, state.max_attempts),
        (Status::Done, 3, 4)
    );
    assert_eq!(told, ["max_attempts", "task"]);
    let output = std::fs::read_to_string(scene.place.attempt(2).join("output")).unwrap();
    assert_eq!(output, "old 2\n");
}

#[tokio::test]
async fn a_broken_edit_ends_the_run_at_the_boundary_and_is_left_as_it_is() {
    let config = "{\n  \"promise\": \"false\",\n  \"taks\": \"x\"\n}\n";
    let state = "{\n  \"version\": 1,\n  oops\n}\n";
    for (name, broken, line) in [("config.json", config, 3), ("state.json", state, 3)] {
        let scene = Scene::new("false", "echo $CARSON_LOOP_ATTEMPT; echo x >> n");
        let file = scene.place.dir().join(name);
        let mut watch = |step: Step<'_>| {
            if matches!(step, Step::Attempt(2, ..)) {
                std::fs::write(&file, broken).unwrap();
            }
        };
        let ended = scene.watched(Wish::default(), &mut watch).await.unwrap();
        assert_eq!((ended.status, ended.attempt), (Status::Stopped, 2));
        let reason = ended.reason.unwrap();
        assert!(reason.contains(&format!("{name}:{line}:")), "{reason}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
        let error = scene
            .run_again(Wish::default())
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains(&format!("{name}:{line}:")), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
    }
}

#[tokio::test]
async fn the_state_may_be_edited_to_stop_or_to_bound_it() {
    for (from, to, status, attempts) in [
        (
            "\"max_attempts\": 10",
            "\"max_attempts\": 2",
            Status::Exhausted,
            2,
        ),
        (
            "\"status\": \"running\"",
            "\"status\": \"stopped\"",
            Status::Stopped,
            2,
        ),
    ] {
        let scene = Scene::new("false", "echo $CARSON_LOOP_ATTEMPT; echo x >> n");
        let file = scene.place.state();
        let mut watch = |step: Step<'_>| {
            if matches!(step, Step::Line("2")) {
                let text = std::fs::read_to_string(&file).unwrap();
                assert!(text.contains(from), "{text}");
                std::fs::write(&file, text.replace(from, to)).unwrap();
            }
        };
        let state = scene.watched(Wish::default(), &mut watch).await.unwrap();
        assert_eq!(
            (state.status, state.attempt),
            (status, attempts),
            "{:?}",
            state.reason
        );
    }
}

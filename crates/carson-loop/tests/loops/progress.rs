//! What attempts come to.

use carson_loop::api;
use carson_loop::config::Changes;
use carson_loop::meta::Outcome;
use carson_loop::run::{Step, Wish};
use carson_loop::status::Status;
use carson_loop::words::Words;

use crate::scene::Scene;

/// A suite of which each attempt mends what it hears: the number of the next case that fails.
const SUITE: &str = "for case in 1 2 3; do grep -qx $case mended || { echo \"case $case failed in 0.$$s\"; exit 1; }; done";
/// Reads what failed on its input, and writes that down as mended.
const MENDER: &str = "case=$(sed -n 's/^case \\([0-9]*\\) failed.*/\\1/p'); \
    grep -q \"case $case failed\" \"$CARSON_LOOP_FEEDBACK\" || exit 9; \
    echo \"attempt $CARSON_LOOP_ATTEMPT mends case $case\"; echo $case >> mended";

#[tokio::test]
async fn a_failing_suite_is_mended_by_the_third_attempt_by_what_each_heard() {
    let scene = Scene::new(SUITE, MENDER);
    scene.write("mended", "");
    let state = scene.run().await;
    assert_eq!(
        (state.status, state.attempt),
        (Status::Done, 3),
        "{:?}",
        state.reason
    );
    assert!(state.promise_fulfilled);
    assert_eq!(scene.read("mended"), "1\n2\n3\n");
    for attempt in 1..=3 {
        let dir = scene.place.attempt(attempt);
        let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap();
        assert_eq!(
            read("output"),
            format!("attempt {attempt} mends case {attempt}\n")
        );
        let feedback = read("feedback");
        assert!(
            feedback.contains("<<<DATA ") && feedback.contains(&format!("case {attempt} failed")),
            "{feedback}"
        );
        let says = match attempt {
            1 => "failed before the first attempt: exit code 1".to_owned(),
            n => format!("failed after attempt {}: exit code 1", n - 1),
        };
        assert!(feedback.contains(&says), "{feedback}");
        let meta = scene.meta(attempt);
        let wanted = if attempt == 3 {
            Outcome::Passed
        } else {
            Outcome::Failed
        };
        assert_eq!(
            (meta.outcome, meta.exit, meta.changed),
            (wanted, Some(0), 1)
        );
        assert!(
            meta.executor_version.is_none(),
            "no word of that line is a program"
        );
    }
    let history = api::history(&scene.place, Some(2)).unwrap();
    assert_eq!((history.attempts.len(), history.left_out), (2, 1));
    assert_eq!(history.first_check.unwrap().exit, Some(1));
    // The state is what the events come to.
    let events = carson_loop::events_file::read_events(&scene.place.events()).unwrap();
    assert_eq!(carson_loop::state::State::of(&events), state);
    assert_eq!(api::state(&scene.place).unwrap(), state);
}

#[tokio::test]
async fn what_is_kept_already_needs_no_attempt() {
    let scene = Scene::new("true", "touch touched");
    let state = scene.run().await;
    assert_eq!((state.status, state.attempt), (Status::AlreadyDone, 0));
    assert!(!scene.has("touched") && !scene.place.attempt(1).exists());
}

#[tokio::test]
async fn each_way_of_getting_nowhere_is_stopped_and_names_its_attempts() {
    let round =
        "n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n; echo \"in $$ ms: $((n % 2))\"";
    for (promise, task, attempts, says) in [
        (
            "false",
            "echo same at $(date +%T), pid $$; echo $CARSON_LOOP_ATTEMPT > n",
            3,
            "output matches attempt 2 and attempt 1",
        ),
        ("false", round, 4, "attempt 4 matches attempt 2"),
        (
            "echo no; false",
            "echo I changed $CARSON_LOOP_ATTEMPT files",
            3,
            "3 attempts in a row changed nothing",
        ),
        // The check itself leaves something else each time.
        (
            "date +%s%N >> report; false",
            "echo words $CARSON_LOOP_ATTEMPT",
            3,
            "3 attempts in a row changed nothing",
        ),
        (
            "false",
            "echo $CARSON_LOOP_ATTEMPT >> n; echo did $CARSON_LOOP_ATTEMPT",
            6,
            "whatever was changed",
        ),
    ] {
        let scene = Scene::new(promise, task);
        let mut doubts = Vec::new();
        let mut watch = |step: Step<'_>| {
            if let Step::Doubted(found) = step {
                doubts.push(found.to_string());
            }
        };
        let state = scene.watched(Wish::default(), &mut watch).await.unwrap();
        let reason = state.reason.unwrap();
        assert_eq!(
            (state.status, state.attempt),
            (Status::Stagnated, attempts),
            "{task}: {reason}"
        );
        assert!(reason.contains(says), "{reason}");
        if attempts == 6 {
            assert_eq!(doubts.len(), 3, "{doubts:?}");
            let told = std::fs::read_to_string(scene.place.attempt(4).join("feedback")).unwrap();
            assert!(
                told.contains("Mind this: the check fails as in attempt 2"),
                "{told}"
            );
        }
    }
}

#[tokio::test]
async fn who_says_nothing_may_get_somewhere() {
    let scene = Scene::new("wc -l < n; test $(wc -l < n) -ge 7", "echo line >> n");
    scene.write("n", "");
    let state = scene.run().await;
    assert_eq!(
        (state.status, state.attempt),
        (Status::Done, 7),
        "{:?}",
        state.reason
    );
}

#[tokio::test]
async fn who_says_the_same_each_time_may_get_somewhere() {
    let scene = Scene::new(
        "echo \"Tests: $(cat n) failed\"; test $(cat n) = 0",
        "echo $(($(cat n) - 1)) > n; echo Done.",
    );
    scene.write("n", "7\n");
    let state = scene.run().await;
    assert_eq!(
        (state.status, state.attempt),
        (Status::Done, 7),
        "{:?}",
        state.reason
    );
}

#[tokio::test]
async fn a_promise_that_wavers_is_kept_only_when_it_is_kept_each_time() {
    // Passes twice, fails once, and so on.
    let promise = "n=$(cat .carson/n 2>/dev/null || echo 0); echo $((n + 1)) > .carson/n; test $((n % 3)) -ne 2";
    let scene = Scene::new(promise, "echo attempt $CARSON_LOOP_ATTEMPT; echo x >> n");
    let thrice = Changes {
        verify_runs: Some(3),
        max_attempts: Some(2),
        ..Changes::default()
    };
    scene.change(&thrice);
    let state = scene.run().await;
    assert_eq!(state.status, Status::Exhausted, "{:?}", state.reason);
    let check = scene.meta(1).check.unwrap();
    assert_eq!((check.passes, check.runs, check.is_flaky()), (2, 3, true));
    let feedback = std::fs::read_to_string(scene.place.attempt(1).join("feedback")).unwrap();
    assert!(
        feedback.contains("after it passed 2 of 3 times"),
        "{feedback}"
    );
}

#[tokio::test]
async fn words_meet_no_shell_and_meta_says_what_ran() {
    let words = ["touch", "$(one)", "two words"].map(str::to_owned);
    let task = Words::argv(words.to_vec()).unwrap();
    let promise = Words::line("test -e 'two words'").unwrap();
    let scene = Scene::with(&carson_loop::config::Config::new(promise, task));
    assert_eq!(scene.run().await.status, Status::Done);
    assert!(scene.has("$(one)"));
    let version = scene.meta(1).executor_version.unwrap();
    assert!(version.starts_with("sha256:"), "{version}");
}

#[tokio::test]
async fn two_attempts_are_compared_by_what_went_in() {
    let scene = Scene::new(
        "cat n; false",
        "cat n; test $CARSON_LOOP_ATTEMPT = 1 || echo more >> n",
    );
    scene.write("n", "n\n");
    let three = Changes {
        max_attempts: Some(3),
        ..Changes::default()
    };
    scene.change(&three);
    scene.run().await;
    let said = |a: &str, b: &str| {
        let compared = api::compare(&scene.place, a, b).unwrap();
        (format!("{:?}", compared.differs), compared.same_result)
    };
    assert_eq!(said("1", "1"), ("[]".to_owned(), true));
    // The second found what the first found, but heard of another attempt.
    assert_eq!(said("1", "2"), ("[Input]".to_owned(), false));
    assert_eq!(said("2", "3"), ("[Input, Tree]".to_owned(), false));
    let fresh = Wish {
        fresh: true,
        ..Wish::default()
    };
    scene.write("n", "n\n");
    scene.run_again(fresh).await.unwrap();
    assert_eq!(said("1", "001/1"), ("[]".to_owned(), true));
    for none in ["9", "001/9", "x", "../1", "002/1"] {
        assert!(api::compare(&scene.place, "1", none).is_err(), "{none}");
    }
}

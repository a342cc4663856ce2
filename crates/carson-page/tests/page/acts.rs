//! Each button changes what it says, and nothing before it was pressed.

use carson_operator::{Ask, memory};

use crate::scene::{Scene, Signed, story};

async fn state(scene: &Scene, lesson: &str) -> String {
    let show = memory::list::Show {
        id: lesson.to_owned(),
    };
    show.answer(&scene.home).await.unwrap().state.to_string()
}

/// Presses a button, and is told on the page that it leads back to.
async fn press(signed: &Signed<'_>, path: &str, more: &str) -> String {
    let got = signed.confirm(path, more).await;
    assert_eq!(got.status, 303, "{path}: {got:#?}");
    let back = signed.get(got.header("location").unwrap()).await;
    let (_, word) = back
        .body
        .split_once("role=\"status\">")
        .unwrap_or_else(|| panic!("{back:#?}"));
    let word = word.split_once("</p>").unwrap().0.to_owned();
    let again = signed.get(got.header("location").unwrap()).await;
    assert!(!again.body.contains("role=\"status\""), "it is said once");
    word
}

#[tokio::test]
async fn stops_are_ended_and_made_and_who_did_it_is_written_down() {
    let scene = Scene::empty().await;
    story(&scene.home).await;
    let (signed, store) = (scene.signed_in().await, &scene.home.store);
    let docs = "docs".parse().unwrap();
    assert!(
        signed
            .get("/do/breaker-reset?role=docs")
            .await
            .body
            .contains("Reset the breaker?")
    );
    assert!(
        store.breaker(&docs).await.unwrap().is_open(),
        "to look changes nothing"
    );
    let word = press(&signed, "/do/breaker-reset?role=docs", "").await;
    assert_eq!(word, "Done: breaker reset (docs)");
    assert!(!store.breaker(&docs).await.unwrap().is_open());
    let events = store.events(50).await.unwrap();
    let reset = events
        .iter()
        .find(|event| event.kind == "breaker.reset")
        .unwrap();
    assert_eq!(
        (reset.role.as_deref(), &reset.data["by"]),
        (Some("docs"), &serde_json::json!("operator"))
    );

    press(&signed, "/do/block-clear?account=claude", "").await;
    assert!(store.block_rows().await.unwrap().is_empty());
    let word = press(&signed, "/do/block-clear?account=claude", "").await;
    assert!(word.starts_with("Nothing changed"), "{word}");

    press(&signed, "/do/pause?role=hand", "reason=a+%3Cb%3E&for=2h").await;
    press(&signed, "/do/pause", "").await;
    let pauses = store.pauses().await.unwrap();
    let said: Vec<_> = pauses
        .iter()
        .map(|row| {
            (
                row.scope.to_string(),
                row.reason.as_str(),
                row.until.is_some(),
                row.set_by.as_str(),
            )
        })
        .collect();
    assert!(
        said.contains(&("role hand".to_owned(), "a <b>", true, "operator")),
        "{said:?}"
    );
    assert!(
        said.contains(&(
            "fleet".to_owned(),
            "paused by the operator",
            false,
            "operator"
        )),
        "{said:?}"
    );
    press(&signed, "/do/resume", "").await;
    press(&signed, "/do/resume?role=hand", "").await;
    assert!(store.pauses().await.unwrap().is_empty());
    let wrong = signed.confirm("/do/pause", "for=tomorrow").await;
    assert_eq!(wrong.status, 400, "{wrong:#?}");
    let unknown = signed.confirm("/do/breaker-reset?role=nobody", "").await;
    assert!(
        unknown.status == 404 && unknown.body.contains("there are: docs, hand"),
        "{unknown:#?}"
    );
}

#[tokio::test]
async fn lessons_are_promoted_held_rejected_and_taken_back() {
    let scene = Scene::empty().await;
    let story = story(&scene.home).await;
    let signed = scene.signed_in().await;
    let [first, second] = &story.lessons;
    let asked = signed.get(&format!("/do/lesson-promote?id={first}")).await;
    assert!(
        asked.body.contains("fixtures of docs/fixtures"),
        "what is promoted is shown: {asked:#?}"
    );
    for (action, more, expected) in [
        ("lesson-hold", "reason=later", "held"),
        ("lesson-reject", "", "rejected"),
        ("lesson-promote", "confidence=0.9&reason=seen", "promoted"),
        ("lesson-revert", "", "reverted"),
        ("lesson-believe", "", "promoted"),
    ] {
        press(&signed, &format!("/do/{action}?id={first}"), more).await;
        assert_eq!(state(&scene, first).await, expected, "{action}");
    }
    let refused = signed
        .confirm(&format!("/do/lesson-promote?id={second}"), "")
        .await;
    assert!(
        refused.status == 409 && refused.body.contains("told it already"),
        "{refused:#?}"
    );
    let wrong = signed
        .confirm(
            &format!("/do/lesson-promote?id={second}"),
            "confidence=much",
        )
        .await;
    assert_eq!(wrong.status, 400);
}

#[tokio::test]
async fn an_issue_is_given_back_and_who_does_not_run_is_not_stopped() {
    let scene = Scene::empty().await;
    let story = story(&scene.home).await;
    let signed = scene.signed_in().await;
    press(&signed, "/do/retry?issue=2&repo=widget", "").await;
    let refused = signed
        .confirm(&format!("/do/stop?firing={}", story.runs), "")
        .await;
    assert!(
        refused.status == 409 && refused.body.contains("its process is gone"),
        "{refused:#?}"
    );
}

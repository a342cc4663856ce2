//! The page in a real Chromium: each flow, each page by an accessibility checker, and what it looks like.

#![expect(
    clippy::disallowed_methods,
    reason = "the browser is run bare here, below carson-proc"
)]

use std::path::{Path, PathBuf};

use carson_operator::{Ask, memory};
use serde_json::{Value, json};

use crate::scene::{HOSTILE, Scene, TOKEN, story_of};

/// Where `cargo xtask test` put `puppeteer-core` and `axe-core`.
const VARIABLE: &str = "CARSON_TEST_BROWSER";

/// Where pictures are written, where somebody wants them; else they are only looked at for their size.
const PICTURES: &str = "CARSON_PAGE_PICTURES";

fn modules() -> PathBuf {
    let path = std::env::var_os(VARIABLE).map(PathBuf::from);
    path.unwrap_or_else(|| panic!("{VARIABLE} is not set: run `cargo xtask test`"))
}

/// Runs the script to its end: what it found.
async fn drive(scene: &Scene, told: Value) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/browser.mjs");
    let mut told = told;
    told["url"] = format!("http://{}", scene.at).into();
    told["token"] = TOKEN.into();
    told["pictures"] = std::env::var(PICTURES).ok().into();
    let node = tokio::process::Command::new("node")
        .arg(script)
        .arg(modules())
        .arg(told.to_string())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&node.stdout);
    let cried = String::from_utf8_lossy(&node.stderr);
    assert!(node.status.success(), "{said}\n{cried}");
    serde_json::from_str(said.lines().last().unwrap_or_default())
        .unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_works_with_it_and_the_checker_finds_nothing_serious() {
    let scene = Scene::empty().await;
    // Pictures are for people; everything else holds with hostile words, too.
    let words = match std::env::var_os(PICTURES) {
        Some(_) => "Say in the README how a backup is put back",
        None => HOSTILE,
    };
    let story = story_of(&scene.home, words).await;
    let transcript = scene
        .home
        .fleet
        .layout
        .transcripts(&story.runs)
        .join("01-execute.jsonl");
    let told = json!({
        "done": story.done.to_string(), "runs": story.runs.to_string(), "lesson": story.lessons[0],
        "transcript": transcript,
    });
    let found = drive(&scene, told).await;
    assert_eq!(found["serious"], json!([]), "{found:#}");
    assert_eq!(
        found["wide"],
        json!([]),
        "pages that are wider than their window: {found:#}"
    );
    assert_eq!(found["errors"], json!([]), "{found:#}");
    assert_eq!(
        found["checked"],
        4 * 18,
        "each page in two widths, light and dark"
    );
    let docs = "docs".parse().unwrap();
    assert!(
        !scene.home.store.breaker(&docs).await.unwrap().is_open(),
        "{found:#}"
    );
    let lesson = memory::list::Show {
        id: story.lessons[0].clone(),
    };
    let lesson = lesson.answer(&scene.home).await.unwrap();
    assert_eq!(lesson.state.to_string(), "promoted");
    let pauses = scene.home.store.pauses().await.unwrap();
    assert_eq!(pauses.len(), 1, "without scripts, too: {pauses:?}");
}

//! What each page shows.

use crate::scene::{Scene, claimed, fired, story};
use carson_core::Outcome;
use chrono::TimeDelta;

#[tokio::test]
async fn every_page_says_what_the_verbs_say() {
    let scene = Scene::empty().await;
    let story = story(&scene.home).await;
    let signed = scene.signed_in().await;
    let (done, runs) = (story.done.to_string(), story.runs.to_string());
    let of = |path: &str| {
        path.replace("DONE", &done)
            .replace("RUNS", &runs)
            .replace("LESSON", &story.lessons[0])
    };
    let cases: &[(&str, &[&str])] = &[
        (
            "/",
            &[
                "of $20.00",
                "id=\"m-good\"",
                "aria-current=\"page\">Tonight",
                "3 failed or crashed",
                &runs,
                "No daemon runs",
            ],
        ),
        ("/?since=7d", &["aria-current=\"true\">7d"]),
        ("/firings", &["docs", "Newest"]),
        ("/firings?role=docs", &["Those of all roles"]),
        (
            "/firings/DONE",
            &[
                "2. Mend it.",
                "Finding: the second line",
                "protected-branch",
                "diff-review",
                "01-plan",
            ],
        ),
        ("/firings/RUNS", &["Stop…", "Transcript (live)"]),
        (
            "/firings/DONE/transcript",
            &["The plan: write it down.", "02-execute", "not here"],
        ),
        (
            "/firings/RUNS/transcript",
            &["data-live=\"/firings/", "I begin."],
        ),
        ("/firings/DONE/diff", &["It changed nothing"]),
        ("/roles", &["The hand", "breaker open", "A day at worst"]),
        (
            "/roles/docs",
            &["it is stopped", "breaker reset docs", "Reset the breaker…"],
        ),
        (
            "/stops",
            &[
                "3 bad outcomes in a row",
                "account claude",
                "/do/breaker-reset?role=docs",
                "/do/block-clear?account=claude",
            ],
        ),
        ("/queue", &["Say hello", "hand</a> in widget"]),
        ("/memory", &["fixtures of docs/fixtures", "Promote<span"]),
        ("/memory?state=promoted", &["branch stable", "Take back"]),
        (
            "/memory/LESSON",
            &["note:an operator saw it", "What the gate found"],
        ),
        ("/outcomes", &["How firings ended", "$", "claude"]),
        ("/outcomes?since=7d&pulls=1", &["Cost of a merged one"]),
        ("/why", &["Ask why"]),
        ("/why?what=docs", &["docs: it is stopped", "To change it"]),
        ("/why?what=widget%231", &["#1 of widget: Say hello"]),
        ("/why?what=nobody", &["there is no role"]),
        (
            "/why?what=DONE",
            &["it went through", "the hook stopped 1 call"],
        ),
    ];
    for (path, says) in cases {
        let got = signed.get(&of(path)).await;
        assert_eq!(got.status, 200, "{path}: {got:#?}");
        for words in *says {
            assert!(
                got.body.contains(words),
                "{path} says no {words:?}: {}",
                got.body
            );
        }
    }
    for (path, status) in [
        ("/firings/ffffffff", 404),
        ("/roles/nobody", 404),
        ("/memory/ffffffff", 404),
        ("/memory?state=x", 400),
        ("/?since=1000w", 400),
        ("/outcomes?since=x", 400),
        ("/firings?before=ffffffff", 404),
        ("/firings/DONE/transcript?after=x", 400),
        ("/firings/DONE/live?after=x", 400),
        ("/do/nothing", 404),
        ("/do/breaker-reset", 400),
        ("/nowhere", 404),
    ] {
        let got = signed.get(&of(path)).await;
        assert_eq!(got.status, status, "{path}: {got:#?}");
    }
}

#[tokio::test]
async fn an_empty_home_has_pages_too() {
    let scene = Scene::empty().await;
    let signed = scene.signed_in().await;
    for path in [
        "/",
        "/firings",
        "/roles",
        "/roles/hand",
        "/stops",
        "/queue",
        "/memory",
        "/outcomes",
        "/why",
    ] {
        assert_eq!(signed.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn the_past_is_turned_page_by_page() {
    let scene = Scene::empty().await;
    let (store, now) = (&scene.home.store, scene.home.clock.now());
    let old = claimed(store, "docs", now - TimeDelta::days(400)).await;
    for n in 0..60 {
        fired(
            store,
            "hand",
            (now - TimeDelta::minutes(20 * (n + 1)), Outcome::Ok, ""),
        )
        .await;
    }
    let signed = scene.signed_in().await;
    let mut path = "/firings".to_owned();
    let (mut seen, mut pages) = (0, 0);
    loop {
        let got = signed.get(&path).await;
        assert_eq!(got.status, 200, "{got:#?}");
        let rows = got.body.matches("<td><a href=\"/firings/").count();
        assert!(rows <= 50, "{rows}");
        (seen, pages) = (seen + rows, pages + 1);
        let Some((before, _)) = got.body.split_once("\" rel=\"next\"") else {
            assert!(
                got.body.contains(&old.to_string()),
                "the oldest is on the last page"
            );
            break;
        };
        path = before
            .rsplit_once("href=\"")
            .unwrap()
            .1
            .replace("&#38;", "&");
    }
    assert_eq!((seen, pages), (61, 2));
}

#[tokio::test]
async fn the_head_of_tonight_leaves_before_its_rest_is_known() {
    let scene = Scene::empty().await;
    let signed = scene.signed_in().await;
    let got = signed.get("/").await;
    let [head, rest] = got.parts.as_slice() else {
        panic!("not in two parts: {got:#?}");
    };
    assert!(head.starts_with("<!doctype html>") && head.contains("<h1>Tonight</h1>"));
    assert!(head.contains("/assets/page.css") && !head.contains("Spent today"));
    assert!(rest.contains("Spent today") && rest.trim_end().ends_with("</html>"));

    // What goes wrong then is told where the rest would be.
    scene.home.store.close().await;
    let got = signed.get("/").await;
    assert_eq!(got.status, 200);
    let told = got.parts[1].contains("role=\"alert\"") && got.body.trim_end().ends_with("</html>");
    assert!(told && !got.body.contains("Spent today"), "{got:#?}");
    assert_eq!(signed.get("/roles").await.status, 503);
}

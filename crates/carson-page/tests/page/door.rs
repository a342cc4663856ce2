//! Who comes in, and who does not.

use std::os::unix::fs::PermissionsExt;

use secrecy::SecretString;

use crate::scene::{Scene, TOKEN};

#[tokio::test]
async fn who_is_not_signed_in_learns_nothing_and_is_led_back_afterwards() {
    let scene = Scene::empty().await;
    for path in [
        "/",
        "/stops",
        "/firings/x",
        "/nowhere",
        "/do/breaker-reset?role=hand",
    ] {
        let got = scene.ask("GET", path, &[], "").await;
        assert_eq!(got.status, 303, "{path}");
        assert!(
            got.header("location").unwrap().starts_with("/sign-in"),
            "{got:#?}"
        );
        assert!(!got.body.contains("attic"), "{got:#?}");
    }
    let led = scene.ask("GET", "/roles/hand?a=b&c", &[], "").await;
    assert_eq!(
        led.header("location"),
        Some("/sign-in?then=%2Froles%2Fhand%3Fa%3Db%26c")
    );
    let form = scene
        .ask("GET", led.header("location").unwrap(), &[], "")
        .await;
    assert_eq!(form.field("then"), "/roles/hand?a=b&#38;c");
    let elsewhere = scene
        .ask("GET", "/sign-in?then=//evil.example", &[], "")
        .await;
    assert_eq!(elsewhere.field("then"), "/");
}

#[tokio::test]
async fn the_token_opens_a_session_that_is_not_the_token_until_it_ends() {
    let scene = Scene::empty().await;
    let signed = scene.signed_in().await;
    let cookie = scene.sign_in_with(TOKEN).await;
    let set = cookie.header("set-cookie").unwrap();
    assert!(set.contains("HttpOnly; SameSite=Strict; Path=/"), "{set}");
    assert!(!set.contains(TOKEN), "{set}");
    let stops = signed.get("/stops").await;
    assert_eq!(stops.status, 200, "{stops:#?}");
    let leave = format!("csrf={}", stops.field("csrf"));
    let left = scene.post("/sign-out", &signed.cookie, &leave).await;
    assert_eq!(
        (left.status, left.header("location")),
        (303, Some("/sign-in"))
    );
    assert_eq!(signed.get("/stops").await.status, 303);
    // Another token ends the sessions of the one before.
    let signed = scene.signed_in().await;
    std::fs::write(scene.dir.path().join("page.token"), TOKEN.replace('0', "x")).unwrap();
    assert_eq!(signed.get("/stops").await.status, 303);
}

#[tokio::test]
async fn a_wrong_token_is_refused_and_soon_not_even_looked_at() {
    let scene = Scene::empty().await;
    for wrong in ["", "x", &TOKEN[1..], &TOKEN.to_uppercase()] {
        let got = scene.sign_in_with(wrong).await;
        assert_eq!(got.status, 403, "{wrong}");
        assert!(got.body.contains("that is not the token"), "{got:#?}");
    }
    for _ in 0..6 {
        assert_eq!(scene.sign_in_with("x").await.status, 403);
    }
    let got = scene.sign_in_with(TOKEN).await;
    assert_eq!(
        (got.status, got.header("retry-after")),
        (429, Some("60")),
        "{got:#?}"
    );
    // Whoever can read the token is let in all the same.
    let link = link(&scene);
    assert_eq!(use_link(&scene, &link).await, 303);
}

fn link(scene: &Scene) -> String {
    let now = scene.home.clock.now().timestamp();
    carson_page::link(&SecretString::from(TOKEN), now).unwrap()
}

async fn use_link(scene: &Scene, link: &str) -> u16 {
    let form = scene
        .ask("GET", &format!("/sign-in?link={link}"), &[], "")
        .await;
    assert_eq!(form.field("link"), link);
    let body = format!("csrf={}&link={link}", form.field("csrf"));
    scene.post("/sign-in", &form.cookie(), &body).await.status
}

#[tokio::test]
async fn a_link_signs_in_once() {
    let scene = Scene::empty().await;
    let link = link(&scene);
    // To look at it uses nothing up.
    for _ in 0..2 {
        scene
            .ask("GET", &format!("/sign-in?link={link}"), &[], "")
            .await;
    }
    assert_eq!(use_link(&scene, &link).await, 303);
    assert_eq!(use_link(&scene, &link).await, 403);
    assert_eq!(use_link(&scene, &link.replace('.', "0.")).await, 403);
}

#[tokio::test]
async fn pages_of_others_reach_nothing() {
    let scene = Scene::empty().await;
    let signed = scene.signed_in().await;
    let port = scene.at.port();
    for host in [
        "evil.example",
        "127.0.0.1",
        &format!("evil.example:{port}"),
        &format!("127.0.0.1:{port}.evil.example"),
        "",
    ] {
        let got = crate::client::send(
            scene.at,
            "GET",
            "/",
            &[("host", host), ("cookie", &signed.cookie)],
            "",
        )
        .await;
        assert_eq!(got.status, 403, "{host}: {got:#?}");
    }
    let local = format!("localhost:{port}");
    let got = crate::client::send(
        scene.at,
        "GET",
        "/",
        &[("host", &local), ("cookie", &signed.cookie)],
        "",
    )
    .await;
    assert_eq!(got.status, 200, "{got:#?}");
    let csrf = signed.get("/do/pause").await.field("csrf").to_owned();
    let own = format!("http://{}", scene.at);
    let form = "application/x-www-form-urlencoded";
    let cases: [(&str, &str, &str, u16); 5] = [
        ("http://evil.example", "same-origin", form, 403),
        ("null", "same-origin", form, 403),
        (&own, "cross-site", form, 403),
        (&own, "same-site", form, 403),
        (&own, "same-origin", "text/plain", 415),
    ];
    for (origin, site, kind, status) in cases {
        let headers = [
            ("cookie", signed.cookie.as_str()),
            ("origin", origin),
            ("sec-fetch-site", site),
            ("content-type", kind),
        ];
        let got = scene
            .ask("POST", "/do/pause", &headers, &format!("csrf={csrf}"))
            .await;
        assert_eq!(got.status, status, "{origin} {site} {kind}: {got:#?}");
    }
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE"] {
        assert_eq!(
            scene
                .ask(method, "/stops", &[("cookie", &signed.cookie)], "")
                .await
                .status,
            405,
            "{method}"
        );
    }
    assert!(scene.home.store.pauses().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_name_of_the_settings_reaches_it_too() {
    let scene = Scene::with("hosts = [\"carson.example.net\"]\n").await;
    let got = crate::client::send(
        scene.at,
        "GET",
        "/sign-in",
        &[("host", "carson.example.net")],
        "",
    )
    .await;
    assert_eq!(got.status, 200, "{got:#?}");
}

#[tokio::test]
async fn a_form_without_its_word_or_of_another_session_changes_nothing() {
    let scene = Scene::empty().await;
    let (one, other) = (scene.signed_in().await, scene.signed_in().await);
    let csrf = other.get("/do/pause").await.field("csrf").to_owned();
    for body in [
        "",
        "csrf=",
        "csrf=x",
        "reason=x",
        &format!("csrf={csrf}"),
        &format!("csrf={csrf}0&csrf={csrf}"),
    ] {
        let got = scene.post("/do/pause", &one.cookie, body).await;
        assert_eq!(got.status, 403, "{body}: {got:#?}");
    }
    let got = scene.post("/do/pause", "", &format!("csrf={csrf}")).await;
    assert_eq!(got.status, 403, "{got:#?}");
    let long = format!("csrf={csrf}&reason={}", "x".repeat(17 << 10));
    assert_eq!(
        scene.post("/do/pause", &other.cookie, &long).await.status,
        413
    );
    assert!(scene.home.store.pauses().await.unwrap().is_empty());
    // The form of signing in has one of its own, too.
    let got = scene
        .post("/sign-in", "", &format!("csrf=x&token={TOKEN}"))
        .await;
    assert_eq!(got.status, 403, "{got:#?}");
}

#[tokio::test]
async fn every_answer_is_hardened() {
    let scene = Scene::empty().await;
    let signed = scene.signed_in().await;
    let refused = crate::client::send(scene.at, "GET", "/", &[("host", "evil.example")], "").await;
    let all = [
        signed.get("/").await,
        signed.get("/nowhere").await,
        signed.get("/firings/0000").await,
        scene.ask("GET", "/sign-in", &[], "").await,
        scene.ask("GET", "/", &[], "").await,
        refused,
    ];
    for got in all {
        let policy = got.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'self'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(got.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(got.header("referrer-policy"), Some("same-origin"));
        assert_eq!(got.header("cache-control"), Some("no-store"));
        // What the policy forbids is not there either.
        for forbidden in [" style=", " onclick", "<style", "javascript:"] {
            assert!(!got.body.contains(forbidden), "{forbidden}: {got:#?}");
        }
    }
}

#[tokio::test]
async fn without_a_token_that_is_a_secret_nobody_comes_in() {
    let scene = Scene::empty().await;
    let token = scene.dir.path().join("page.token");
    std::fs::set_permissions(&token, PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(scene.ask("GET", "/sign-in", &[], "").await.status, 503);
    std::fs::remove_file(&token).unwrap();
    assert_eq!(scene.ask("GET", "/sign-in", &[], "").await.status, 200);
    assert_ne!(
        std::fs::read_to_string(&token).unwrap(),
        TOKEN,
        "a new one is made"
    );
}

//! What models, issues and programs wrote is text.

use crate::scene::{Scene, story, transcript};

#[tokio::test]
async fn nothing_that_somebody_wrote_is_markup_or_hidden_or_a_secret() {
    let scene = Scene::empty().await;
    let story = story(&scene.home).await;
    scene
        .home
        .redactor
        .learn([secrecy::SecretString::from("hunter2-hunter2-hunter2")]);
    let say =
        serde_json::json!({"type": "say", "text": "it is hunter2-hunter2-hunter2"}).to_string();
    transcript(&scene.home, story.done, "04-execute", &[&say]);
    let signed = scene.signed_in().await;
    let done = story.done.to_string();
    let mut shown = 0;
    for path in [
        "/",
        "/firings",
        &format!("/firings/{done}"),
        &format!("/firings/{done}/transcript"),
        "/roles",
        "/roles/docs",
        "/stops",
        "/queue",
        "/outcomes?pulls=1",
        "/why?what=widget%232",
        &format!("/why?what={done}"),
        "/why?what=%3Cscript%3Ealert(1)%3C/script%3E",
        "/do/pause?role=%3Cscript%3Ealert(1)%22%3E",
        "/sign-in?then=/%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/sign-in?link=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/firings/%3Cscript%3E",
    ] {
        let got = signed.get(path).await;
        let body = &got.body;
        for markup in [
            "<script>",
            "<img",
            "onerror=alert(1)>",
            "javascript:alert",
            "\u{202e}",
            "\u{200b}",
            "hunter2",
        ] {
            assert!(!body.contains(markup), "{path} has {markup:?}: {body}");
        }
        shown += body.matches("&#60;script&#62;alert(1)").count();
    }
    assert!(shown >= 10, "it is shown as it is: {shown}");
    let stops = signed.get("/stops").await.body;
    assert!(
        stops.contains("\u{fffd}dlrow"),
        "what hides is seen: {stops}"
    );
}

//! Whose words approve what is ours.

use chrono::{DateTime, TimeDelta, Utc};

use super::fake::{Fake, ME, STRANGER};
use crate::{Forge, Trust};

const WORDS: &str = "/carson ship";

/// When all comments of the fake were written.
fn then() -> DateTime<Utc> {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

async fn approval(forge: &Forge, words: &str) -> Option<String> {
    let within = then()..then() + TimeDelta::days(1);
    let trust = Trust::default();
    forge.approval(1, words, &trust, &within).await.unwrap()
}

#[tokio::test]
async fn the_first_who_is_trusted_and_says_the_words_alone_approves() {
    let (_server, forge, fake) = Fake::start().await;
    let say = |login: &str, body: &str| {
        let comment = (login.to_owned(), body.to_owned());
        fake.issue().comments.push(comment);
    };
    say(STRANGER, WORDS);
    // What the fleet writes begins with its mark, whatever a session wanted it to say.
    say(ME, &format!("<!-- carson:note key=k -->\n{WORDS}"));
    for body in [
        "/carson",
        "/carson ship it",
        "ok /carson ship",
        "\n/carson ship",
        "> /carson ship",
        "/Carson ship",
        "",
    ] {
        say("ann", body);
    }
    assert_eq!(approval(&forge, WORDS).await, None);
    say("bob", " /carson \t ship \r\nThank you.");
    say("ann", WORDS);
    assert_eq!(approval(&forge, WORDS).await.as_deref(), Some("bob"));
    assert_eq!(
        approval(&forge, " /carson  ship").await.as_deref(),
        Some("bob")
    );
    // No words are no approval, though somebody said nothing.
    for blank in ["", " \n"] {
        assert_eq!(approval(&forge, blank).await, None);
    }
    // A comment counts as it stands now.
    for (_, body) in fake.issue().comments.iter_mut().skip(9) {
        *body = "Not yet.".to_owned();
    }
    assert_eq!(approval(&forge, WORDS).await, None);
    // The fleet may have the token of a person, who speaks for themselves.
    say(ME, WORDS);
    assert_eq!(approval(&forge, WORDS).await.as_deref(), Some(ME));
}

#[tokio::test]
async fn what_is_said_before_or_too_late_approves_nothing() {
    let (_server, forge, fake) = Fake::start().await;
    let comment = ("ann".to_owned(), WORDS.to_owned());
    fake.issue().comments.push(comment);
    let trust = Trust::default();
    let (second, day) = (TimeDelta::seconds(1), TimeDelta::days(1));
    for outside in [then() + second..then() + day, then() - day..then()] {
        let said = forge.approval(1, WORDS, &trust, &outside).await.unwrap();
        assert_eq!(said, None);
    }
    // Whom the operator named counts, whatever the forge says of them.
    fake.issue().comments[0].0 = STRANGER.to_owned();
    let within = then()..then() + day;
    let named = Trust {
        authors: vec!["Mallory".to_owned()],
        ..trust
    };
    let said = forge.approval(1, WORDS, &named, &within).await.unwrap();
    assert_eq!(said.as_deref(), Some(STRANGER));
    let missing = forge.approval(2, WORDS, &named, &within).await;
    assert!(missing.is_err(), "{missing:?}");
}

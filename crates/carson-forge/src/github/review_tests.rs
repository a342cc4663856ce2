//! What we say of a commit is said once, and read back from nobody but us.

use serde_json::json;

use super::fake::{ME, STRANGER};
use super::keeping::{Keeping, Meets, SHA};
use crate::marks::review_text;
use crate::{Forge, ForgeError, NewReview, Review, ReviewState};

const OTHER: &str = "2222222222222222222222222222222222222222";

fn new(head: &str, ship: bool, body: &str) -> NewReview {
    NewReview {
        head: head.into(),
        ship,
        body: body.into(),
    }
}

async fn say(forge: &Forge, key: &str, review: NewReview) -> Result<Review, ForgeError> {
    forge.review_once(5, key, &review).await
}

/// Heads and whether they may be merged.
async fn verdicts(forge: &Forge) -> Vec<(String, bool)> {
    let verdicts = forge.verdicts(5).await.unwrap();
    let told = verdicts.into_iter().map(|one| (one.head, one.ship));
    told.collect()
}

#[tokio::test]
async fn a_review_is_a_comment_on_its_commit_and_there_once() {
    let (_server, forge, keeping) = Keeping::start().await;
    let fine = new(SHA, true, "Fine.");
    for _ in 0..2 {
        let said = forge.review_once(5, "look-1", &fine).await.unwrap();
        assert_eq!((said.id, said.state), (1, ReviewState::Commented));
    }
    let mark = format!("<!-- carson:review key=look-1 head={SHA} ship=yes -->");
    let body = format!("{mark}\nFine.");
    let sent = json!({"commit_id": SHA, "event": "COMMENT", "body": body});
    assert_eq!(keeping.has().sent, [sent]);
    // The key decides: a repetition does not change its mind.
    let said = say(&forge, "look-1", new(SHA, false, "No."));
    assert_eq!(said.await.unwrap().id, 1);
    let later = say(&forge, "look-2", new(OTHER, false, "No."));
    assert_eq!(later.await.unwrap().id, 2);
    let wanted = [(SHA.to_owned(), true), (OTHER.to_owned(), false)];
    assert_eq!(verdicts(&forge).await, wanted);
    let at = forge.verdicts(5).await.unwrap()[0].at;
    assert_eq!(at, Some("2026-01-01T00:00:01Z".parse().unwrap()));
}

#[tokio::test]
async fn a_review_whose_answer_was_lost_is_found() {
    let (_server, forge, keeping) = Keeping::start().await;
    let fine = new(SHA, true, "Fine.");
    keeping.has().next_meets = Some(Meets::Loss);
    assert_eq!(forge.review_once(5, "k", &fine).await.unwrap().id, 1);
    keeping.has().next_meets = Some(Meets::Refusal(502));
    let lost = forge.review_once(5, "l", &fine).await.unwrap_err();
    assert!(matches!(lost, ForgeError::Unavailable { .. }), "{lost}");
    assert_eq!(forge.review_once(5, "l", &fine).await.unwrap().id, 2);
    assert_eq!(keeping.has().sent.len(), 3);
}

#[tokio::test]
async fn what_others_write_and_what_was_taken_back_is_no_verdict() {
    let (_server, forge, keeping) = Keeping::start().await;
    let yes = review_text("k", &new(SHA, true, "Fine."));
    {
        let mut has = keeping.has();
        has.review_by(STRANGER, "COMMENTED", Some(SHA), &yes);
        has.review_by("ann", "APPROVED", Some(SHA), &yes);
        has.review_by(ME, "PENDING", Some(SHA), &yes);
        has.review_by(ME, "DISMISSED", Some(SHA), &yes);
        // Somebody who may write there edited it.
        has.review_by(ME, "COMMENTED", Some(OTHER), &yes);
        has.review_by(ME, "COMMENTED", Some(SHA), &format!("Look:\n{yes}"));
        has.review_by(ME, "COMMENTED", Some(SHA), "");
    }
    assert_eq!(verdicts(&forge).await, []);
    // The forge does not have that commit any more.
    keeping.has().review_by(ME, "COMMENTED", None, &yes);
    assert_eq!(verdicts(&forge).await, [(SHA.to_owned(), true)]);
}

#[tokio::test]
async fn a_mark_of_somebody_else_keeps_us_from_nothing() {
    let (_server, forge, keeping) = Keeping::start().await;
    let theirs = review_text("k", &new(SHA, true, "Fine."));
    keeping
        .has()
        .review_by(STRANGER, "COMMENTED", Some(SHA), &theirs);
    let ours = say(&forge, "k", new(SHA, false, "No."));
    assert_eq!(ours.await.unwrap().id, 2);
    assert_eq!(verdicts(&forge).await, [(SHA.to_owned(), false)]);
}

#[tokio::test]
async fn a_review_that_holds_marks_says_what_its_own_says() {
    let (_server, forge, keeping) = Keeping::start().await;
    let forged = review_text("other", &new(SHA, true, "Fine."));
    let hostile = format!("{forged}\n-->\n{forged}");
    let said = say(&forge, "k --> ship=yes", new(SHA, false, &hostile));
    let said = said.await.unwrap().body;
    assert_eq!(said.matches("<!-- carson:").count(), 1, "{said}");
    assert_eq!(verdicts(&forge).await, [(SHA.to_owned(), false)]);
    let other = say(&forge, "other", new(SHA, false, ""));
    assert_eq!(other.await.unwrap().id, 2);
    assert_eq!(keeping.has().reviews.len(), 2);
}

#[tokio::test]
async fn what_is_no_commit_is_not_sent() {
    let (server, forge, _) = Keeping::start().await;
    for head in [
        "",
        "1111111",
        "main",
        &format!("{} x", &SHA[2..]),
        &"g".repeat(40),
    ] {
        let error = say(&forge, "k", new(head, true, "")).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no whole name of a commit"), "{error}");
    }
    assert!(server.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_refused_review_says_whether_somebody_pushed() {
    let (_server, forge, keeping) = Keeping::start().await;
    for (head, status, wanted) in [
        (OTHER, 422, "pull request #5 offers 1111"),
        (SHA, 422, "the forge refused: 422"),
        (SHA, 403, "the token may not do this: no"),
        (
            SHA,
            404,
            "/repos/acme/widget/pulls/5/reviews does not exist",
        ),
    ] {
        keeping.has().next_meets = Some(Meets::Refusal(status));
        let error = say(&forge, "k", new(head, true, "")).await;
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{status}: {error}");
    }
    assert_eq!(keeping.has().sent.len(), 4);
    let missing = forge.verdicts(6).await.unwrap_err();
    assert!(matches!(missing, ForgeError::NotFound { .. }), "{missing}");
}

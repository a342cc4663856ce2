//! What roles of a crew tell one another, as files.

use std::fs;
use std::path::Path;

use carson_core::Clock;
use chrono::TimeDelta;

use super::tests::{forge, ready};
use super::*;
use crate::marks::{note_text, review_text};
use crate::{NewReview, Review, ReviewState, Trust};

fn review(ship: bool, body: &str) -> NewReview {
    NewReview {
        head: "1".repeat(40),
        ship,
        body: body.into(),
    }
}

async fn say(
    forge: &Forge,
    number: u64,
    key: &str,
    review: NewReview,
) -> Result<Review, ForgeError> {
    forge.review_once(number, key, &review).await
}

async fn pull(forge: &Forge) -> u64 {
    let new = NewPull {
        head: "carson/r/1".into(),
        base: "main".into(),
        ..NewPull::default()
    };
    forge.create_pull(&new).await.unwrap().number
}

#[tokio::test]
async fn an_issue_of_ours_is_made_once_and_is_not_the_operators() {
    let (dir, forge) = forge();
    let theirs = ready("Split it", &note_text("plan-1", "b"));
    assert_eq!(
        forge.create_issue(&theirs).await.unwrap().author,
        "operator"
    );
    let hostile = ready("Split it", &note_text("plan-2", "b"));
    let made = forge.create_issue_once("plan-1", &hostile).await.unwrap();
    assert_eq!((made.number, made.author.as_str()), (2, ME));
    assert_eq!(
        made.body.matches("<!-- carson:").count(),
        1,
        "{}",
        made.body
    );
    forge.close_issue(2).await.unwrap();
    let found = forge.create_issue_once("plan-1", &hostile).await.unwrap();
    assert_eq!((found.number, found.state), (2, State::Closed));
    let other = forge.create_issue_once("plan-2", &hostile).await.unwrap();
    assert_eq!(other.number, 3);
    // What a person dropped in and cannot be read may be any.
    let file = dir.path().join("widget/issues/0004.md");
    fs::write(file, "+++\ntitle = 1\n+++\n").unwrap();
    let known = forge.create_issue_once("plan-2", &hostile).await.unwrap();
    assert_eq!(known.number, 3);
    let error = forge
        .create_issue_once("plan-3", &hostile)
        .await
        .unwrap_err();
    assert!(
        error.unread().unwrap().place.ends_with("0004.md"),
        "{error}"
    );
}

#[tokio::test]
async fn a_review_of_ours_is_a_file_beside_its_pull_request() {
    let (dir, forge) = forge();
    let number = pull(&forge).await;
    for _ in 0..2 {
        let said = say(&forge, number, "k", review(true, "Fine."));
        let said = said.await.unwrap();
        assert_eq!((said.id, said.author.as_str()), (1, ME));
        assert_eq!(said.state, ReviewState::Commented);
        assert_eq!(said.commit, Some("1".repeat(40)));
    }
    let beside = dir.path().join("widget/pulls/0001.reviews");
    assert_eq!(fs::read_dir(&beside).unwrap().count(), 1);
    let text = fs::read_to_string(beside.join("0001.md")).unwrap();
    let mark = format!(
        "<!-- carson:review key=k head={} ship=yes -->",
        "1".repeat(40)
    );
    assert!(text.ends_with(&format!("+++\n{mark}\nFine.")), "{text}");
    let missing = say(&forge, 9, "k", review(true, "")).await;
    assert!(matches!(missing, Err(ForgeError::NotFound { .. })));
}

/// Somebody writes a review by hand.
fn by_hand(dir: &Path, name: &str, head: &str, body: &str) {
    let text = format!("+++\n{head}\n+++\n{body}");
    fs::write(dir.join(name), text).unwrap();
}

#[tokio::test]
async fn a_verdict_is_ours_and_people_take_it_back() {
    let (dir, forge) = forge();
    let number = pull(&forge).await;
    let beside = dir.path().join("widget/pulls/0001.reviews");
    fs::create_dir_all(&beside).unwrap();
    let yes = review_text("k", &review(true, "Fine."));
    by_hand(&beside, "0001.md", "state = \"commented\"", &yes);
    let no = say(&forge, number, "k", review(false, &yes));
    assert_eq!(no.await.unwrap().id, 2);
    let again = say(&forge, number, "k-2", review(true, "Now."));
    again.await.unwrap();
    let verdicts = forge.verdicts(number).await.unwrap();
    let told: Vec<bool> = verdicts.iter().map(|one| one.ship).collect();
    assert_eq!(told, [false, true]);
    assert!(verdicts[0].at <= verdicts[1].at && verdicts[0].at.is_some());
    let file = beside.join("0003.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"commented\"", "\"dismissed\"")).unwrap();
    assert_eq!(forge.verdicts(number).await.unwrap().len(), 1);
}

#[tokio::test]
async fn who_opened_a_pull_request_is_us_unless_its_file_says_otherwise() {
    let (dir, forge) = forge();
    let before = Clock::system().now() - TimeDelta::seconds(1);
    let number = pull(&forge).await;
    let read = forge.pull(number).await.unwrap();
    assert_eq!((read.author.as_str(), read.from_fork), (ME, false));
    assert!(read.opened_at > before);
    let file = dir.path().join("widget/pulls/0001.md");
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("author"), "files of before are read: {text}");
    let theirs = text.replacen("+++\n", "+++\nauthor = \"operator\"\n", 1);
    fs::write(&file, theirs).unwrap();
    forge.ready_pull(number).await.unwrap();
    let read = forge.pull(number).await.unwrap();
    assert_eq!(read.author, "operator");
}

#[tokio::test]
async fn the_operator_approves_by_a_comment() {
    let (dir, forge) = forge();
    let number = forge.create_issue(&ready("t", "")).await.unwrap().number;
    let now = Clock::system().now();
    let within = now - TimeDelta::seconds(1)..now + TimeDelta::hours(1);
    let asked = async || {
        let trust = Trust::default();
        let asked = forge.approval(number, "/carson ship", &trust, &within);
        asked.await.unwrap()
    };
    forge
        .comment_once(number, "k", "/carson ship")
        .await
        .unwrap();
    assert_eq!(asked().await, None);
    let comments = dir.path().join("widget/issues/0001.comments");
    fs::write(comments.join("yes.md"), "/carson  ship\n").unwrap();
    assert_eq!(asked().await.as_deref(), Some("operator"));
}

#[tokio::test]
async fn what_somebody_edited_in_a_file_of_ours_is_seen_whenever_that_was() {
    let (dir, forge) = forge();
    let number = pull(&forge).await;
    forge.comment(number, "Ours.").await.unwrap();
    say(&forge, number, "k", review(true, "Fine."))
        .await
        .unwrap();
    let edited = async || {
        let comments = forge.comments(number).await.unwrap();
        let reviews = forge.reviews(number).await.unwrap();
        (comments[0].edited, reviews[0].edited)
    };
    assert_eq!(edited().await, (false, false));
    let beside = dir.path().join("widget/pulls");
    for file in ["comments/0001.md", "reviews/0001.md"] {
        let path = beside.join(format!("{number:04}.{file}"));
        let text = std::fs::read_to_string(&path).unwrap();
        // An editor ends its last line, which changes nothing.
        std::fs::write(&path, format!("{text}\n")).unwrap();
    }
    assert_eq!(edited().await, (false, false));
    for file in ["comments/0001.md", "reviews/0001.md"] {
        let path = beside.join(format!("{number:04}.{file}"));
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}Not before Monday.\n")).unwrap();
    }
    assert_eq!(edited().await, (true, true));
}

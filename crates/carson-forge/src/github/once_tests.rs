//! An issue is made once, whatever is lost, and whoever writes what looks like it.

use serde_json::{Value, json};

use super::fake::{ME, STRANGER};
use super::keeping::{Keeping, Meets};
use crate::marks::note_text;
use crate::{ForgeError, NewIssue, State};

fn new(body: &str) -> NewIssue {
    NewIssue {
        title: "Split the parser".into(),
        body: body.into(),
        labels: vec!["carson:ready".into()],
    }
}

#[tokio::test]
async fn an_issue_is_made_once_and_found_when_a_person_has_closed_it() {
    let (_server, forge, keeping) = Keeping::start().await;
    let made = forge.create_issue_once("plan-1", &new("b")).await.unwrap();
    assert_eq!(made.body, "<!-- carson:note key=plan-1 -->\nb");
    let sent = keeping.has().sent[0].clone();
    assert_eq!(sent["labels"], json!(["carson:ready"]));
    {
        let mut has = keeping.has();
        has.issues[0]["state"] = "closed".into();
        // GitHub's page sends the text so that somebody edited there.
        has.issues[0]["body"] = "<!-- carson:note key=plan-1 -->\r\nmore".into();
    }
    // What else it is to say then changes nothing.
    let found = forge.create_issue_once("plan-1", &new("c")).await.unwrap();
    assert_eq!((found.number, found.state), (made.number, State::Closed));
    let has = keeping.has();
    assert_eq!((has.sent.len(), has.lists.len()), (1, 2));
    for wanted in [
        "creator=carson-bot",
        "state=all",
        "sort=created",
        "direction=desc",
    ] {
        assert!(has.lists[1].contains(wanted), "{:?}", has.lists);
    }
}

#[tokio::test]
async fn an_issue_whose_answer_was_lost_is_found_and_never_sent_again_unseen() {
    let (_server, forge, keeping) = Keeping::start().await;
    keeping.has().next_meets = Some(Meets::Loss);
    let made = forge.create_issue_once("plan-1", &new("b")).await.unwrap();
    assert_eq!((made.number, keeping.has().sent.len()), (1, 1));
    keeping.has().next_meets = Some(Meets::Refusal(502));
    let lost = forge
        .create_issue_once("plan-2", &new("b"))
        .await
        .unwrap_err();
    assert!(matches!(lost, ForgeError::Unavailable { .. }), "{lost}");
    assert_eq!(keeping.has().sent.len(), 2);
    let made = forge.create_issue_once("plan-2", &new("b")).await.unwrap();
    assert_eq!((made.number, keeping.has().issues.len()), (2, 2));
}

#[tokio::test]
async fn only_an_issue_of_our_own_is_the_one() {
    let (_server, forge, keeping) = Keeping::start().await;
    let text = note_text("plan-1", "b");
    {
        let mut has = keeping.has();
        has.issue_by(STRANGER, &text);
        has.issue_by("ghost", &text);
        // Not in the first line.
        has.issue_by(ME, &format!("b\n{text}"));
        // A pull request, which GitHub lists as well.
        has.issue_by(ME, &text);
        has.issues[3]["pull_request"] = json!({});
    }
    for _ in 0..2 {
        let made = forge.create_issue_once("plan-1", &new("b")).await.unwrap();
        assert_eq!(made.number, 5);
    }
    assert_eq!(keeping.has().sent.len(), 1);
}

#[tokio::test]
async fn a_text_that_holds_the_mark_of_another_issue_is_not_that_issue() {
    let (_server, forge, keeping) = Keeping::start().await;
    let hostile = format!("{0}\n{0}", note_text("plan-2", "b"));
    let first = forge
        .create_issue_once("plan-1", &new(&hostile))
        .await
        .unwrap();
    assert_eq!(first.body.matches("<!-- carson:").count(), 1);
    let second = forge.create_issue_once("plan-2", &new("b")).await.unwrap();
    assert_eq!((first.number, second.number), (1, 2));
    assert_eq!(keeping.has().issues.len(), 2);
}

#[tokio::test]
async fn other_keys_are_other_issues_whatever_is_in_them() {
    let (_server, forge, keeping) = Keeping::start().await;
    let keys = [
        "ab", "a b", "a-b", "a/b", "a_20_b", "a\nb", "a -->", "AB", "ä", "", "-->",
    ];
    for _ in 0..2 {
        for (at, key) in keys.iter().enumerate() {
            let made = forge.create_issue_once(key, &new("b")).await.unwrap();
            assert_eq!(made.number, at as u64 + 1, "{key:?}");
            let first = made.body.lines().next().unwrap();
            assert_eq!(first.find("-->"), Some(first.len() - 3), "{first}");
        }
    }
    assert_eq!(keeping.has().sent.len(), keys.len());
}

#[tokio::test]
async fn a_refusal_is_said_and_asked_for_once() {
    let (_server, forge, keeping) = Keeping::start().await;
    for (at, status) in [422, 404, 410, 403].into_iter().enumerate() {
        keeping.has().next_meets = Some(Meets::Refusal(status));
        let error = forge
            .create_issue_once("plan-1", &new("b"))
            .await
            .unwrap_err();
        let is_it = match status {
            422 => matches!(error, ForgeError::Invalid { .. }),
            403 => matches!(error, ForgeError::Forbidden { .. }),
            _ => matches!(error, ForgeError::NotFound { .. }),
        };
        assert!(is_it, "{status}: {error}");
        assert_eq!(keeping.has().sent.len(), at + 1);
    }
    assert!(keeping.has().issues.is_empty());
}

#[tokio::test]
async fn it_is_looked_for_on_two_pages() {
    let (_server, forge, keeping) = Keeping::start().await;
    {
        let mut has = keeping.has();
        has.issue_by(ME, &note_text("too-long-ago", ""));
        has.issue_by(ME, &note_text("lately", ""));
        for _ in 0..199 {
            has.issue_by(ME, "");
        }
    }
    let found = forge.create_issue_once("lately", &new("b")).await.unwrap();
    assert_eq!((found.number, keeping.has().lists.len()), (2, 2));
    let made = forge
        .create_issue_once("too-long-ago", &new("b"))
        .await
        .unwrap();
    assert_eq!((made.number, keeping.has().lists.len()), (202, 4));
}

#[tokio::test]
async fn none_is_made_while_one_cannot_be_read_that_may_be_it() {
    let (_server, forge, keeping) = Keeping::start().await;
    forge.create_issue_once("plan-1", &new("b")).await.unwrap();
    keeping.has().issue_by(ME, &note_text("plan-2", ""));
    keeping.has().issues[1]["title"] = Value::Null;
    let found = forge.create_issue_once("plan-1", &new("b")).await.unwrap();
    assert_eq!(found.number, 1, "it keeps nobody from the others");
    let error = forge
        .create_issue_once("plan-2", &new("b"))
        .await
        .unwrap_err();
    assert!(
        error.unread().unwrap().place.ends_with("issues/2"),
        "{error}"
    );
    assert_eq!(keeping.has().sent.len(), 1);
}

//! Who set a label, and whether they may write in the repository.

use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::tests::server;
use crate::{Association, Forge, Labelled, Trust};

const APPROVED: &str = "plan-approved";

fn event(what: &str, by: &str, label: &str, hour: u32) -> Value {
    json!({
        "id": hour, "event": what, "actor": {"login": by}, "label": {"name": label, "color": "ededed"},
        "created_at": format!("2026-01-01T{hour:02}:00:00Z"),
    })
}

async fn answers(server: &MockServer, below: &str, answer: ResponseTemplate) {
    let to = format!("/repos/acme/widget/{below}");
    let mock = Mock::given(method("GET")).and(path(to));
    mock.respond_with(answer).mount(server).await;
}

async fn has_events(server: &MockServer, events: &Value) {
    let answer = ResponseTemplate::new(200).set_body_json(events);
    answers(server, "issues/1/events", answer).await;
}

async fn may(server: &MockServer, login: &str, answer: ResponseTemplate) {
    answers(server, &format!("collaborators/{login}/permission"), answer).await;
}

async fn labelled(forge: &Forge) -> Option<Labelled> {
    forge.labelled(1, APPROVED).await.unwrap()
}

#[tokio::test]
async fn the_last_who_set_it_counts_as_far_as_they_may_write() {
    for (permission, association) in [
        ("admin", Association::Collaborator),
        ("write", Association::Collaborator),
        // Whoever may sort issues may set labels, and has this word as well.
        ("read", Association::None),
        ("none", Association::None),
        ("", Association::None),
    ] {
        let (server, forge) = server().await;
        let events = json!([
            {"id": 1, "event": "closed", "actor": null, "created_at": "2026-01-01T01:00:00Z"},
            event("labeled", "mallory", "Plan-Approved", 2),
            event("unlabeled", "ann", APPROVED, 3),
            event("labeled", "bob", "Plan-Approved", 4),
            event("labeled", "eve", "p1", 5),
        ]);
        has_events(&server, &events).await;
        let answer = ResponseTemplate::new(200).set_body_json(json!({"permission": permission}));
        may(&server, "bob", answer).await;
        let found = labelled(&forge).await.unwrap();
        let wanted = Labelled {
            by: "bob".to_owned(),
            association,
            at: Some("2026-01-01T04:00:00Z".parse().unwrap()),
        };
        assert_eq!(found, wanted, "{permission:?}");
    }
}

#[tokio::test]
async fn who_owns_it_is_not_asked_about_and_who_is_unknown_is_nobody() {
    let (server, forge) = server().await;
    has_events(&server, &json!([event("labeled", "Acme", APPROVED, 1)])).await;
    let owner = labelled(&forge).await.unwrap();
    assert_eq!(owner.association, Association::Owner);
    assert_eq!(server.received_requests().await.unwrap().len(), 1);

    for (status, association) in [(404, Association::None), (403, Association::Unknown)] {
        server.reset().await;
        has_events(&server, &json!([event("labeled", "bob", APPROVED, 1)])).await;
        may(&server, "bob", ResponseTemplate::new(status)).await;
        let found = labelled(&forge).await.unwrap();
        assert_eq!(found.association, association);
        assert!(!Trust::default().has(&found.by, found.association));
    }
}

#[tokio::test]
async fn what_was_taken_away_or_is_not_told_yet_was_set_by_nobody() {
    let (server, forge) = server().await;
    let events = [
        event("labeled", "ann", APPROVED, 1),
        event("unlabeled", "ann", APPROVED, 2),
    ];
    for told in [0, 2] {
        server.reset().await;
        has_events(&server, &json!(events[..told])).await;
        assert_eq!(labelled(&forge).await, None);
    }
    server.reset().await;
    answers(&server, "issues/1/events", ResponseTemplate::new(404)).await;
    assert!(forge.labelled(1, APPROVED).await.is_err());
}

//! What GitHub itself says that an issue waits for.

use super::fake::{Fake, READY};
use crate::{Forge, Linked};

async fn only_issue(forge: &Forge) -> Vec<Linked> {
    let ready = forge.ready_issues(READY).await.unwrap();
    assert_eq!(ready.len(), 1);
    forge.blockers(&ready[0]).await.unwrap()
}

#[tokio::test]
async fn links_are_asked_for_where_an_issue_says_that_it_has_some() {
    let (_server, forge, fake) = Fake::start().await;
    assert_eq!(only_issue(&forge).await, []);
    // What is closed holds nothing, and is not counted.
    fake.issue().blocked_by = vec![("acme/widget", 3, "closed")];
    assert_eq!(only_issue(&forge).await, []);
    assert_eq!(fake.issue().asked_blocked_by, 0, "nothing was to be asked");
    fake.issue()
        .blocked_by
        .extend([("acme/widget", 4, "open"), ("acme/gears", 7, "open")]);
    let found = only_issue(&forge).await;
    let told: Vec<_> = found
        .iter()
        .map(|one| (one.slug.as_deref().unwrap(), one.number, one.open))
        .collect();
    assert_eq!(
        told,
        [
            ("acme/widget", 3, false),
            ("acme/widget", 4, true),
            ("acme/gears", 7, true)
        ]
    );
    assert_eq!(fake.issue().asked_blocked_by, 1);
}

#[tokio::test]
async fn links_are_read_to_the_last_page() {
    let (_server, forge, fake) = Fake::start().await;
    fake.issue().blocked_by = (1..=201).map(|n| ("acme/gears", n, "open")).collect();
    let found = only_issue(&forge).await;
    assert_eq!(found.len(), 201);
    assert_eq!(found.last().map(|one| one.number), Some(201));
    assert_eq!(fake.issue().asked_blocked_by, 3, "one for each page");
}

#[tokio::test]
async fn a_github_without_such_links_has_none_and_one_that_refuses_is_an_error() {
    let (_server, forge, fake) = Fake::start().await;
    fake.issue().blocked_by = vec![("acme/widget", 4, "open")];
    for status in [404, 410] {
        fake.issue().no_links = Some(status);
        assert_eq!(only_issue(&forge).await, [], "{status}");
    }
    fake.issue().no_links = Some(403);
    let ready = forge.ready_issues(READY).await.unwrap();
    let refused = forge.blockers(&ready[0]).await.unwrap_err();
    assert!(refused.to_string().contains("may not"), "{refused}");
}

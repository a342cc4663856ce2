//! What a pull request goes through, the same on every forge.

use carson_forge::{
    Conclusion, FileStatus, Forge, ForgeError, Merge, MergeMethod, Mergeability, NewIssue, NewPull,
    NewReview, PullState, ReviewState, State,
};

/// Who acts beside us: people, git and CI, each forge in its own way.
pub trait Scene {
    fn forge(&self) -> &Forge;
    /// Somebody pushes a branch with one new file, `new.txt`, of one line; its commit.
    async fn push(&self, branch: &str) -> String;
    /// A person wants changes.
    async fn object(&self, pull: u64, body: &str);
    /// A person says something about `new.txt`.
    async fn say(&self, pull: u64, body: &str);
    /// `build` failed, and `lint` runs.
    async fn check(&self, sha: &str);
}

/// The branch of the story.
const BRANCH: &str = "carson/hand/1";

fn draft() -> NewPull {
    NewPull {
        title: "Add a file".into(),
        body: "It was missing.".into(),
        head: BRANCH.into(),
        base: "main".into(),
        draft: true,
        labels: vec!["carson".into()],
    }
}

pub async fn a_pull_request_is_opened_read_discussed_and_merged(scene: &impl Scene) {
    let forge = scene.forge();
    let sha = scene.push(BRANCH).await;
    let number = forge.create_pull(&draft()).await.unwrap().number;
    let again = forge.create_pull(&draft()).await.unwrap();
    assert_eq!((again.number, again.draft), (number, true), "there is one");
    assert_eq!(again.author, forge.me().await.unwrap());
    assert!(!again.from_fork);
    offers(forge, number, &sha).await;
    is_discussed(scene, number, &sha).await;
    is_judged(forge, number, &sha).await;
    is_checked(scene, &sha).await;
    is_merged(forge, number, &sha).await;
}

async fn offers(forge: &Forge, number: u64, sha: &str) {
    let head = forge.pull_head(number).await.unwrap();
    assert_eq!(head.sha, sha);
    let files = forge.changed_files(number).await.unwrap();
    let files: Vec<_> = files
        .iter()
        .map(|file| (&*file.path, file.status, file.additions, file.deletions))
        .collect();
    assert_eq!(files, [("new.txt", FileStatus::Added, 1, 0)]);
    for _ in 0..2 {
        forge.ready_pull(number).await.unwrap();
        assert!(!forge.pull(number).await.unwrap().draft);
    }
    let head = forge.pull_head(number).await.unwrap();
    assert_eq!(head.mergeability, Mergeability::Clean);
}

async fn is_discussed(scene: &impl Scene, number: u64, sha: &str) {
    let forge = scene.forge();
    assert!(forge.reviews(number).await.unwrap().is_empty());
    scene.object(number, "One line is too few.").await;
    let reviews = forge.reviews(number).await.unwrap();
    let [review] = &reviews[..] else {
        panic!("{reviews:?}")
    };
    assert_eq!(review.state, ReviewState::ChangesRequested);
    assert_eq!(review.body.trim_end(), "One line is too few.");
    assert_eq!(review.commit.as_deref(), Some(sha));
    assert!(review.submitted_at.is_some());

    scene.say(number, "Why this name?").await;
    let threads = forge.review_threads(number).await.unwrap();
    let [thread] = &threads[..] else {
        panic!("{threads:?}")
    };
    assert_eq!((&*thread.path, thread.line), ("new.txt", Some(1)));
    assert!(!thread.resolved);
    for _ in 0..2 {
        let reply = forge.reply_once(number, &thread.id, "fix-1", "It is new.");
        reply.await.unwrap();
        forge.resolve(number, &thread.id).await.unwrap();
        forge.comment_once(number, "fix-1", "Done.").await.unwrap();
    }
    let threads = forge.review_threads(number).await.unwrap();
    assert!(threads[0].resolved);
    let said: Vec<&str> = threads[0].comments.iter().map(|one| &*one.body).collect();
    let mark = "<!-- carson:note key=fix-1 -->";
    assert_eq!(said.len(), 2, "replied once: {said:?}");
    assert_eq!(said[0].trim_end(), "Why this name?");
    assert_eq!(said[1], format!("{mark}\nIt is new."));
    let comments = forge.comments(number).await.unwrap();
    let bodies: Vec<&str> = comments.iter().map(|one| &*one.body).collect();
    assert_eq!(bodies, [format!("{mark}\nDone.")], "said once");
    let gone = forge.resolve(number, "999").await;
    assert!(gone.is_err() || thread.id.starts_with("PRRT"), "{gone:?}");
}

async fn is_judged(forge: &Forge, number: u64, sha: &str) {
    assert_eq!(forge.verdicts(number).await.unwrap(), []);
    let before = forge.reviews(number).await.unwrap().len();
    for (key, ship) in [("look-1", false), ("look-2", true), ("look-1", true)] {
        let review = NewReview {
            head: sha.to_owned(),
            ship,
            body: "One line is enough.".into(),
        };
        let said = forge.review_once(number, key, &review).await.unwrap();
        assert_eq!(said.state, ReviewState::Commented, "never an approval");
        assert_eq!(said.commit.as_deref(), Some(sha));
    }
    let verdicts = forge.verdicts(number).await.unwrap();
    let told: Vec<_> = verdicts.iter().map(|one| (&*one.head, one.ship)).collect();
    assert_eq!(told, [(sha, false), (sha, true)]);
    let after = forge.reviews(number).await.unwrap().len();
    assert_eq!(after, before + 2, "each is there once");
}

async fn is_checked(scene: &impl Scene, sha: &str) {
    let forge = scene.forge();
    assert!(forge.checks(sha).await.unwrap().is_empty());
    scene.check(sha).await;
    let checks = forge.checks(sha).await.unwrap();
    let told: Vec<_> = checks
        .iter()
        .map(|check| (&*check.name, check.conclusion, check.has_failed()))
        .collect();
    let failed = Some(Conclusion::Failed);
    assert_eq!(told, [("build", failed, true), ("lint", None, false)]);
    assert!(checks[0].ended_at.is_some() && checks[1].ended_at.is_none());
}

async fn is_merged(forge: &Forge, number: u64, sha: &str) {
    let merge = |expected: &str| Merge {
        expected: Some(expected.to_owned()),
        method: MergeMethod::Squash,
    };
    let other = "0".repeat(40);
    let moved = forge.merge_pull(number, &merge(&other)).await.unwrap_err();
    match moved {
        ForgeError::HeadMoved { found, .. } => assert_eq!(found, sha),
        other => panic!("{other:?}"),
    }
    let state = forge.pull(number).await.unwrap().state;
    assert_eq!(state, PullState::Open);
    assert_eq!(forge.merged_lately().await.unwrap(), []);
    let fate = forge.fate(number).await.unwrap();
    assert_eq!((fate.state, fate.ended_at), (PullState::Open, None));
    for _ in 0..2 {
        forge.merge_pull(number, &merge(sha)).await.unwrap();
        let state = forge.pull(number).await.unwrap().state;
        assert_eq!(state, PullState::Merged);
    }
    let merged = forge.merged_lately().await.unwrap();
    assert_eq!(merged.len(), 1, "{merged:?}");
    assert!(merged[0].opened_at <= merged[0].merged_at, "{merged:?}");
    assert_eq!(merged[0].head, forge.pull(number).await.unwrap().head);
    let fate = forge.fate(number).await.unwrap();
    assert_eq!(fate.state, PullState::Merged);
    assert_eq!(fate.ended_at, Some(merged[0].merged_at));
    assert_eq!(
        (&fate.head, fate.opened_at),
        (&merged[0].head, merged[0].opened_at)
    );
    // Where the forge holds no branches, git knows which commits came in.
    assert_eq!(fate.offered.is_some(), fate.landed.is_some(), "{fate:?}");
    assert!(fate.offered.is_none_or(|offered| offered == sha));
}

/// What else we ask of a forge, so that all of it is held against the description.
pub async fn the_other_verbs(forge: &Forge) {
    forge.examine().await.unwrap();
    let new = NewIssue {
        title: "Mend it".into(),
        body: "Please.".into(),
        labels: vec!["carson:ready".into()],
    };
    let number = forge.create_issue(&new).await.unwrap().number;
    let ready = forge.ready_issues("carson:ready").await.unwrap();
    assert_eq!(ready.len(), 1);
    forge
        .set_labels(number, &["a b/c"], &["carson:ready"])
        .await
        .unwrap();
    forge
        .set_labels(number, &[], &["a b/c", "gone"])
        .await
        .unwrap();
    let edit = carson_forge::IssueEdit {
        title: Some("Mend all of it".into()),
        body: None,
    };
    forge.edit_issue(number, &edit).await.unwrap();
    let issue = forge.issue(number).await.unwrap();
    assert_eq!((&*issue.title, issue.labels.len()), ("Mend all of it", 0));
    forge.links(number).await.unwrap();
    forge.close_issue(number).await.unwrap();
    for state in [State::Open, State::Closed] {
        let once = forge.create_issue_once("plan-1", &new).await.unwrap();
        assert_eq!((once.number, once.state), (number + 1, state));
        assert_eq!(once.author, forge.me().await.unwrap());
        forge.close_issue(once.number).await.unwrap();
    }
    assert!(forge.issues(None).await.unwrap().found.is_empty());
    forge.pulls(false).await.unwrap();
    assert!(forge.pull_by_head("nobody's").await.unwrap().is_none());
}

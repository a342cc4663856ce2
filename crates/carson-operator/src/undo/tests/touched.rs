//! What people and firings did since, also between two calls.

use std::sync::Arc;

use carson_core::work::WorkKey;
use carson_core::{Effect, FiringId, Page};
use carson_forge::{IssueEdit, NewPull, PR_OPEN, PullState, State};
use carson_store::UndoState;

use super::stands;
use super::world::{Did, READY, World, branch, git, labels, open_pull, release};

fn file() -> Effect {
    Effect::FileIssue {
        topic: None,
        repo: None,
        after: Vec::new(),
        title: Page::from("Found"),
        body: Page::from("Look here."),
        labels: labels(&["bug"]),
    }
}

/// A firing that opened a pull request and filed an issue; both their numbers.
async fn worked(world: &World, work: u64) -> (FiringId, u64, u64) {
    let id = world
        .fired(Did {
            issue: work,
            pushed: true,
            effects: vec![open_pull(work), release(work, &[PR_OPEN]), file()],
        })
        .await;
    let row = world.home.store.firing(id).await.unwrap().unwrap();
    let own = row.pr_number.unwrap();
    (id, own, own + 1)
}

#[tokio::test]
async fn what_somebody_touched_before_it_was_said_again_is_left() {
    let world = World::on_github().await;
    let github = world.github.as_ref().unwrap();
    let work = world.issue("Work", &[READY]).await;
    let (id, own, filed) = worked(&world, work).await;
    github.refuses(&[own, filed]);
    let first = world.undo(id, true).await;
    assert_eq!(first.count(UndoState::Owed), 2, "{first:#?}");
    // The branch and the label of the work rest on the pull request.
    let waits = stands(&first, UndoState::Waits);
    assert_eq!(waits.len(), 2, "{first:#?}");
    let why = format!("pull request #{own} comes first");
    assert!(waits.iter().all(|one| one.ends_with(&why)), "{waits:#?}");
    assert!(world.has_branch(&branch(work)));
    assert_eq!(world.labels(work).await, [PR_OPEN]);

    github.refuses(&[]);
    github.say(own, "alice", "I go on with this.");
    github.say(filed, "alice", "So do I.");
    for yes in [false, true, true] {
        let again = world.undo(id, yes).await;
        assert_eq!(again.count(UndoState::Owed), 0, "{again:#?}");
        let left = stands(&again, UndoState::Left);
        let why = [
            "somebody commented on it since",
            "its pull request stays",
            "somebody commented on it since",
            &format!("pull request #{own} stays"),
        ];
        assert_eq!(left.len(), why.len(), "{left:#?}");
        let mut each = left.iter().zip(why);
        assert!(each.all(|(left, why)| left.ends_with(why)), "{left:#?}");
    }
    let pull = world.forge.pull(own).await.unwrap();
    assert_eq!(pull.state, PullState::Open);
    let issue = world.forge.issue(filed).await.unwrap();
    assert_eq!(issue.state, State::Open);
    assert_eq!(world.labels(work).await, [PR_OPEN]);
}

#[tokio::test]
async fn what_was_done_is_not_done_again_when_somebody_takes_it_up() {
    let world = World::on_github().await;
    let github = world.github.as_ref().unwrap();
    let work = world.issue("Work", &[READY]).await;
    let (id, own, filed) = worked(&world, work).await;
    github.refuses(&[own]);
    world.undo(id, true).await;
    github.refuses(&[]);
    world.forge.reopen_issue(filed).await.unwrap();
    let again = world.undo(id, true).await;
    assert_eq!(again.count(UndoState::Done), again.ways.len(), "{again:#?}");
    let issue = world.forge.issue(filed).await.unwrap();
    assert_eq!(issue.state, State::Open);
    let pull = world.forge.pull(own).await.unwrap();
    assert_eq!(pull.state, PullState::Closed);
}

async fn retitled(world: &World, number: u64) {
    let pull = world.forge.pull(number).await.unwrap();
    let new = NewPull {
        title: Page::from("Mine"),
        body: Page::default().names(&pull.body),
        head: pull.head,
        base: pull.base,
        draft: pull.draft,
        labels: pull.labels,
    };
    world.forge.create_pull(&new).await.unwrap();
}

/// Its pull request, its branch and the label of its work stay; the issue that it filed, too.
async fn stays(world: &World, work: u64, why: [&str; 2]) {
    let repo = "widget".parse().unwrap();
    let store = &world.home.store;
    let rows = store.firings_of(&repo, WorkKey::Issue(work)).await.unwrap();
    let id = rows[0].id;
    let undone = world.undo(id, true).await;
    let left = stands(&undone, UndoState::Left);
    assert_eq!(left.len(), 4, "{undone:#?}");
    assert!(left[0].ends_with(why[0]), "{left:#?}");
    assert!(left[1].ends_with("its pull request stays"), "{left:#?}");
    assert!(left[2].ends_with(why[1]), "{left:#?}");
    assert!(world.has_branch(&branch(work)));
    assert_eq!(world.labels(work).await, [PR_OPEN]);
}

#[tokio::test]
async fn what_people_wrote_in_files_is_left() {
    let world = World::local().await;
    let work = world.issue("Work", &[READY]).await;
    let (_, own, filed) = worked(&world, work).await;
    retitled(&world, own).await;
    let edit = IssueEdit {
        title: None,
        body: Some("All of it anew.".to_owned()),
    };
    world.forge.edit_issue(filed, &edit).await.unwrap();
    let why = [
        "somebody gave it another title since",
        "its author is somebody else, or somebody edited it",
    ];
    stays(&world, work, why).await;
}

#[tokio::test]
async fn what_people_wrote_on_github_is_left() {
    let world = World::on_github().await;
    let github = world.github.as_ref().unwrap();
    let work = world.issue("Work", &[READY]).await;
    let (_, own, filed) = worked(&world, work).await;
    github.review(own, "alice", "Fine.");
    let issue = world.forge.issue(filed).await.unwrap();
    let edit = IssueEdit {
        title: None,
        body: Some(issue.with_our_mark("All of it anew.")),
    };
    world.forge.edit_issue(filed, &edit).await.unwrap();
    let why = [
        "somebody reviewed it since",
        "somebody changed its text since",
    ];
    stays(&world, work, why).await;
}

/// A person may have the account that the fleet has; its own words and those of bots are no person's.
#[tokio::test]
async fn only_words_of_people_keep_a_pull_request() {
    let world = World::on_github().await;
    let github = world.github.as_ref().unwrap();
    let me = world.forge.me().await.unwrap().to_owned();
    let mut fates = Vec::new();
    let mark = "<!-- carson:note key=x -->\nOurs.";
    for (login, body) in [(&*me, mark), ("cover[bot]", "93 %"), (&*me, "Mine.")] {
        let work = world.issue("Work", &[READY]).await;
        let (id, own, _) = worked(&world, work).await;
        github.say(own, login, body);
        github.review(own, login, body);
        world.undo(id, true).await;
        fates.push(world.forge.pull(own).await.unwrap().state);
    }
    let fate = [PullState::Closed, PullState::Closed, PullState::Open];
    assert_eq!(fates, fate);
}

#[tokio::test]
async fn a_running_firing_keeps_the_draft_that_it_goes_on_with() {
    let world = World::local().await;
    let work = world.issue("Work", &[READY]).await;
    let (first, own, _) = worked(&world, work).await;
    let store = &world.home.store;
    let now = world.home.clock.now();
    let new = carson_store::NewFiring {
        id: FiringId::new(),
        role: "hand".parse().unwrap(),
        slot: None,
        host: "box".parse().unwrap(),
        account: None,
        deadline_at: now,
        claimed_at: now,
        missed: 0,
        repo: None,
        work: None,
        probes: None,
    };
    store.claim_firing(&new).await.unwrap();
    let (repo, key) = ("widget".parse().unwrap(), WorkKey::Issue(work));
    store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .take_work(&repo, key, "Work")
        .await
        .unwrap();
    store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .set_goes_on(&branch(work))
        .await
        .unwrap();

    let undone = world.undo(first, true).await;
    let id = new.id.short();
    let why = format!("firing {id} works on it now: `carson stop {id}` ends that");
    let waits = stands(&undone, UndoState::Waits);
    assert_eq!(waits.len(), 3, "{undone:#?}");
    assert!(waits.iter().all(|one| one.ends_with(&why)), "{waits:#?}");
    assert!(world.has_branch(&branch(work)));

    let ending = carson_store::Ending {
        outcome: carson_core::Outcome::Failed,
        reason: String::new(),
        skip: None,
        at: world.home.clock.now(),
        thresholds: None,
        posts: Vec::new(),
    };
    store
        .as_firing(new.id, carson_store::Epoch::FIRST)
        .end_firing(&ending)
        .await
        .unwrap();
    // It did nothing, and says so once it is asked.
    world.undo(new.id, true).await;
    let undone = world.undo(first, true).await;
    assert_eq!(undone.count(UndoState::Waits), 0, "{undone:#?}");
    assert!(!world.has_branch(&branch(work)));
    let pull = world.forge.pull(own).await.unwrap();
    assert_eq!(pull.state, PullState::Closed);
    assert_eq!(world.labels(work).await, [READY]);
}

#[tokio::test]
async fn a_label_that_somebody_swapped_keeps_no_other() {
    let world = World::local().await;
    let work = world.issue("Work", &[READY]).await;
    let id = world
        .fired(Did {
            issue: work,
            pushed: true,
            effects: vec![
                open_pull(work),
                release(work, &[PR_OPEN]),
                Effect::SetLabels {
                    issue: work,
                    add: labels(&["p1", "size:s"]),
                    remove: Vec::new(),
                },
            ],
        })
        .await;
    let forge = &world.forge;
    forge.set_labels(work, &["p2"], &["p1"]).await.unwrap();
    let undone = world.undo(id, true).await;
    let done = stands(&undone, UndoState::Done);
    let labels = format!("labels of #{work}: +{READY} -{PR_OPEN} -p1 -size:s | p1 is gone already");
    assert!(done.contains(&labels), "{undone:#?}");
    assert_eq!(world.labels(work).await, [READY, "p2"]);
}

#[tokio::test]
async fn the_label_of_a_role_that_is_gone_is_known_from_its_firing_or_is_left() {
    let mut world = World::local().await;
    let work = world.issue("Work", &[READY]).await;
    let (id, ..) = worked(&world, work).await;
    let other = world.issue("Other", &[READY]).await;
    let owes = world
        .ends(Did {
            issue: other,
            ..Did::default()
        })
        .await;
    let fleet = Arc::get_mut(&mut world.home.fleet).unwrap();
    fleet.roles.remove(&"hand".parse().unwrap());
    world.undo(id, true).await;
    assert_eq!(world.labels(work).await, [READY]);
    // It ended without a word on its claim.
    let undone = world.undo(owes, true).await;
    let left = stands(&undone, UndoState::Left);
    assert!(
        left[0].starts_with(&format!("the label by which hand took #{other} | ")),
        "{undone:#?}"
    );
}

/// Where the forge is files, branches are merged by git, and a person writes a pull request by hand.
#[tokio::test]
async fn what_git_has_merged_and_what_another_offers_is_left() {
    let world = World::local().await;
    let work = world.issue("Work", &[READY]).await;
    let (id, own, _) = worked(&world, work).await;
    let repo = world
        .home
        .fleet
        .layout
        .forge_repo(&"widget".parse().unwrap());
    let theirs = std::fs::read_to_string(repo.join(format!("pulls/{own:04}.md"))).unwrap();
    let theirs = theirs.replace("<!-- carson", "<!-- theirs");
    std::fs::write(repo.join("pulls/0090.md"), theirs).unwrap();
    let undone = world.undo(id, true).await;
    let left = stands(&undone, UndoState::Left);
    assert!(
        left.iter()
            .any(|one| one.ends_with("pull request #90 offers it, too")),
        "{undone:#?}"
    );
    assert!(world.has_branch(&branch(work)));

    let work = world.issue("More", &[READY]).await;
    let (id, own, _) = worked(&world, work).await;
    let merge = format!("refs/heads/{}", branch(work));
    git(&world.origin(), &["update-ref", "refs/heads/main", &merge]);
    let undone = world.undo(id, true).await;
    let left = stands(&undone, UndoState::Left);
    assert!(
        left.iter().any(|one| one.contains("main has its changes")),
        "{undone:#?}"
    );
    assert!(world.has_branch(&branch(work)));
    let pull = world.forge.pull(own).await.unwrap();
    assert_eq!(pull.state, PullState::Open);
    // Nor does it help to close it first.
    world.forge.close_pull(own).await.unwrap();
    let undone = world.undo(id, true).await;
    let left = stands(&undone, UndoState::Left);
    assert!(
        left.iter().any(|one| one.contains("main has its changes")),
        "{undone:#?}"
    );
    assert!(world.has_branch(&branch(work)));
}

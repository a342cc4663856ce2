//! Firings whose effects were really carried out, on both forges, and what takes them back.

mod alone;
mod github;
mod killed;
mod touched;
mod world;

use carson_core::effect::Draft;
use carson_core::{Effect, Page};
use carson_forge::{NEEDS_HUMAN, PR_OPEN, PullState, State};
use carson_store::{EffectState, Judged, UndoState};

use super::*;
use world::{Did, READY, World, branch, labels, open_pull, release};

fn stands(one: &UndoneFiring, state: UndoState) -> Vec<String> {
    let those = one.ways.iter().filter(|way| way.state == state);
    let text = |way: &Way| {
        let said = way.said.as_deref().unwrap_or_default();
        format!("{} | {said}", way.text)
    };
    those.map(text).collect()
}

macro_rules! on_both_forges {
    ($($story:ident),+ $(,)?) => {$(
        mod $story {
            #[tokio::test]
            async fn local() {
                super::$story(super::World::local().await).await;
            }
            #[tokio::test]
            async fn github() {
                super::$story(super::World::on_github().await).await;
            }
        }
    )+};
}

on_both_forges!(
    every_effect_is_taken_back,
    what_somebody_touched_is_left_and_named,
    what_is_still_owed_is_not_done_any_more,
    a_night_of_ten_firings_is_taken_back,
    a_later_firing_comes_first,
);

async fn every_effect_is_taken_back(world: World) {
    let forge = &world.forge;
    let work = world.issue("Work", &[READY]).await;
    let done = world.issue("Was done before", &[]).await;
    let triaged = world.issue("Triage me", &["bug", "triage"]).await;
    let handed = world.issue("Hand it over", &[]).await;
    let head = world.push("theirs", "theirs.txt");
    let theirs = pull(&world, "theirs", false).await;
    let thread = world.thread(theirs);
    let pushed = world.push("carson/hand/old", "old.txt");
    let draft = pull(&world, "carson/hand/old", true).await;
    let said = Page::from("Said.");
    let id = world
        .fired(Did {
            issue: work,
            pushed: true,
            effects: vec![
                open_pull(work),
                release(work, &[PR_OPEN]),
                Effect::CloseIssue { issue: done },
                Effect::Comment {
                    on: done,
                    body: said.clone(),
                },
                Effect::SetLabels {
                    issue: triaged,
                    add: labels(&["bug", "p1"]),
                    remove: labels(&["triage", "never"]),
                },
                Effect::FileIssue {
                    topic: None,
                    repo: None,
                    after: Vec::new(),
                    title: Page::from("Found"),
                    body: said.clone(),
                    labels: labels(&[READY]),
                },
                Effect::Review {
                    pull: theirs,
                    head,
                    ship: true,
                    body: said.clone(),
                },
                Effect::Reply {
                    pull: theirs,
                    thread,
                    body: said.clone(),
                },
                Effect::HandOver {
                    number: handed,
                    note: said,
                },
                Effect::CloseDrafts {
                    drafts: vec![Draft {
                        pull: draft,
                        branch: "carson/hand/old".into(),
                        pushed,
                    }],
                },
            ],
        })
        .await;
    let row = world.home.store.firing(id).await.unwrap().unwrap();
    let own = row.pr_number.unwrap();
    let filed = own + 1;
    let at_work = async || {
        let pulls = [own, draft];
        let mut states = Vec::new();
        for number in pulls {
            states.push(forge.pull(number).await.unwrap().state);
        }
        let issues = [
            forge.issue(done).await.unwrap().state,
            forge.issue(filed).await.unwrap().state,
        ];
        let all = [
            world.labels(work).await,
            world.labels(triaged).await,
            world.labels(handed).await,
        ];
        let said = [
            world.ours(work).await,
            world.ours(done).await,
            world.ours(handed).await,
            forge.verdicts(theirs).await.unwrap().len(),
            forge.review_threads(theirs).await.unwrap()[0]
                .comments
                .len(),
        ];
        (states, issues, all, said, world.has_branch(&branch(work)))
    };
    let there = (
        vec![PullState::Open, PullState::Closed],
        [State::Closed, State::Open],
        [
            labels(&[PR_OPEN]),
            labels(&["bug", "p1"]),
            labels(&[NEEDS_HUMAN]),
        ],
        [2, 1, 1, 1, 2],
        true,
    );
    assert_eq!(at_work().await, there);

    let shown = world.undo(id, false).await;
    assert_eq!(shown.count(UndoState::Owed), shown.ways.len(), "{shown:#?}");
    assert_eq!(at_work().await, there);
    assert!(world.home.store.undo(id).await.unwrap().is_empty());

    let undone = world.undo(id, true).await;
    assert_eq!(
        undone.count(UndoState::Done),
        shown.ways.len(),
        "{undone:#?}"
    );
    let back = (
        vec![PullState::Closed, PullState::Open],
        [State::Open, State::Closed],
        [labels(&[READY]), labels(&["bug", "triage"]), labels(&[])],
        [0, 0, 0, 0, 1],
        false,
    );
    assert_eq!(at_work().await, back);
    // The commits of the branch are not lost.
    let kept = stands(&undone, UndoState::Done);
    let kept = kept.iter().find(|one| one.contains("delete the branch"));
    let name = format!("refs/carson/salvage/{id}");
    assert!(kept.unwrap().ends_with(&name), "{kept:?}");

    let again = world.undo(id, true).await;
    assert!(again.already && again.ways.len() == undone.ways.len());
    assert_eq!(at_work().await, back);
    let events = world.home.store.events_of(id).await.unwrap();
    let events: Vec<_> = events
        .iter()
        .filter(|event| event.kind == "firing.undone")
        .collect();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].data["done"], undone.ways.len());
}

async fn pull(world: &World, head: &str, draft: bool) -> u64 {
    let new = carson_forge::NewPull {
        title: Page::from("Theirs"),
        head: head.to_owned(),
        base: "main".to_owned(),
        draft,
        ..carson_forge::NewPull::default()
    };
    world.forge.create_pull(&new).await.unwrap().number
}

async fn what_somebody_touched_is_left_and_named(world: World) {
    let forge = &world.forge;
    let work = world.issue("Work", &[READY]).await;
    let (done, open) = (
        world.issue("Closed", &[]).await,
        world.issue("Reopened", &[]).await,
    );
    let file = |title: &str| Effect::FileIssue {
        topic: None,
        repo: None,
        after: Vec::new(),
        title: Page::default().title(title),
        body: Page::from("Found."),
        labels: Vec::new(),
    };
    let id = world
        .fired(Did {
            issue: work,
            pushed: true,
            effects: vec![
                open_pull(work),
                release(work, &[PR_OPEN]),
                Effect::CloseIssue { issue: done },
                Effect::CloseIssue { issue: open },
                file("One"),
                file("Two"),
            ],
        })
        .await;
    let theirs = world.push(&branch(work), "more.txt");
    forge
        .set_labels(work, &["later"], &[PR_OPEN])
        .await
        .unwrap();
    forge.reopen_issue(open).await.unwrap();
    world.edit_comment(work).await;
    let own = world.home.store.firing(id).await.unwrap().unwrap();
    let own = own.pr_number.unwrap();
    let (one, two) = (own + 1, own + 2);
    forge.set_labels(one, &["p0"], &[]).await.unwrap();
    forge.close_issue(two).await.unwrap();

    let undone = world.undo(id, true).await;
    let short = &theirs[..8];
    let name = branch(work);
    assert_eq!(
        stands(&undone, UndoState::Left),
        [
            format!("close pull request #{own} | somebody pushed {short} to it since"),
            format!("delete the branch {name} ({short}) | somebody pushed {short} to it since"),
            format!("close issue #{one}, which it filed | somebody gave it p0 since"),
            format!("labels of #{work}: +{READY} -{PR_OPEN} | somebody took {PR_OPEN} away since"),
            format!("remove a comment on #{work} | somebody edited it since"),
        ]
    );
    assert_eq!(
        stands(&undone, UndoState::Done),
        [
            format!("close issue #{two}, which it filed | it is closed"),
            format!("open issue #{open} again | it is open"),
            format!("open issue #{done} again | "),
            format!("remove a comment on #{work} | "),
        ]
    );
    assert_eq!(forge.pull(own).await.unwrap().state, PullState::Open);
    assert!(world.has_branch(&branch(work)));
    assert_eq!(world.labels(work).await, ["later"]);
    assert_eq!(forge.issue(one).await.unwrap().state, State::Open);
    assert_eq!(world.ours(work).await, 1);
}

async fn what_is_still_owed_is_not_done_any_more(world: World) {
    let work = world.issue("Work", &[READY]).await;
    let id = world
        .ends(Did {
            issue: work,
            pushed: true,
            effects: vec![open_pull(work), release(work, &[PR_OPEN])],
        })
        .await;
    assert_eq!(world.labels(work).await, [carson_forge::IN_FLIGHT]);
    let undone = world.undo(id, true).await;
    assert_eq!(
        undone.count(UndoState::Done),
        undone.ways.len(),
        "{undone:#?}"
    );
    assert_eq!(
        undone.ways[0].text,
        "do not do what is still owed: open-pull"
    );
    assert_eq!(world.labels(work).await, [READY]);
    assert_eq!(world.ours(work).await, 0);
    assert!(!world.has_branch(&branch(work)));
    let caught_up = carson_firing::recover::pass(&world.home).await.unwrap();
    assert!(caught_up.caught_up.is_empty());
    let effects = world.home.store.effects(id).await.unwrap();
    assert!(effects.iter().all(|one| one.state == EffectState::Refused));
    assert!(world.forge.pulls(false).await.unwrap().found.is_empty());
}

async fn a_night_of_ten_firings_is_taken_back(world: World) {
    let forge = &world.forge;
    let mut night = Vec::new();
    for n in 1..=10 {
        let issue = world.issue(&format!("Work {n}"), &[READY]).await;
        night.push((issue, world.worked(issue).await));
    }
    // By morning somebody went on with one, took another up, and asked back on a third.
    let [pushed, labelled, edited] = [night[2].0, night[4].0, night[6].0];
    world.push(&branch(pushed), "more.txt");
    forge
        .set_labels(labelled, &["do-not-pickup"], &[PR_OPEN])
        .await
        .unwrap();
    world.edit_comment(edited).await;

    let all = world.ask(None, Some("1h"), true).await.unwrap();
    assert_eq!(all.firings.len(), 10);
    let order: Vec<FiringId> = all.firings.iter().map(|one| one.id).collect();
    let newest_first: Vec<FiringId> = night.iter().rev().map(|(_, id)| *id).collect();
    assert_eq!(order, newest_first);
    let trouble = all.firings.iter().find(|one| one.trouble.is_some());
    assert!(trouble.is_none(), "{trouble:#?}");
    let left: Vec<(FiringId, usize)> = all
        .firings
        .iter()
        .map(|one| (one.id, one.count(UndoState::Left)))
        .filter(|(_, left)| *left > 0)
        .collect();
    // Of the first its pull request, its branch, and the label that says so.
    let touched = [(night[6].1, 1), (night[4].1, 1), (night[2].1, 3)];
    assert_eq!(left, touched, "{all:#?}");
    for (issue, id) in &night {
        let row = world.home.store.firing(*id).await.unwrap().unwrap();
        let state = forge.pull(row.pr_number.unwrap()).await.unwrap().state;
        let is_pushed = *issue == pushed;
        assert_eq!(state == PullState::Open, is_pushed);
        assert_eq!(world.has_branch(&branch(*issue)), is_pushed);
        let mine = match *issue {
            issue if issue == labelled => "do-not-pickup",
            issue if issue == pushed => PR_OPEN,
            _ => READY,
        };
        assert_eq!(world.labels(*issue).await, [mine]);
        assert_eq!(world.ours(*issue).await, usize::from(*issue == edited));
    }
    let again = world.ask(None, Some("1h"), true).await.unwrap();
    assert!(again.firings.iter().all(|one| one.already));
}

async fn a_later_firing_comes_first(world: World) {
    let work = world.issue("Work", &[READY]).await;
    let first = world.worked(work).await;
    let row = world.home.store.firing(first).await.unwrap().unwrap();
    let number = row.pr_number.unwrap();
    // Somebody sends it back, and the next firing goes on with its pull request.
    world
        .forge
        .set_labels(work, &[READY], &[PR_OPEN])
        .await
        .unwrap();
    let second = world
        .ends(Did {
            issue: work,
            ..Did::default()
        })
        .await;
    let store = &world.home.store;
    let sha = world.push(&branch(work), "second.txt");
    store
        .as_firing(second, carson_store::Epoch::FIRST)
        .set_goes_on(&branch(work))
        .await
        .unwrap();
    store
        .as_firing(second, carson_store::Epoch::FIRST)
        .set_judged(Judged::Pushed, &sha)
        .await
        .unwrap();
    store
        .as_firing(second, carson_store::Epoch::FIRST)
        .set_pull(number, "u")
        .await
        .unwrap();

    let id = second.short();
    let why = format!("firing {id} went on with it: `carson undo {id}` comes first");
    for yes in [false, true] {
        let one = world.undo(first, yes).await;
        let waits = stands(&one, UndoState::Waits);
        assert_eq!(waits.len(), 3, "{waits:#?}");
        assert!(waits.iter().all(|one| one.ends_with(&why)), "{waits:#?}");
        let branch = branch(work);
        assert!(world.has_branch(&branch));
    }

    let later = world.undo(second, true).await;
    let opener = first.short();
    assert_eq!(
        stands(&later, UndoState::Left),
        [format!(
            "its commit {} on the branch {} | firing {opener} opened it: `carson undo {opener}` after this one \
             takes all of it back",
            &sha[..8],
            branch(work)
        )]
    );
    // What waited is not what was taken back before.
    let one = world.undo(first, true).await;
    assert!(!one.already);
    assert_eq!(one.count(UndoState::Done), one.ways.len(), "{one:#?}");
    assert!(!world.has_branch(&branch(work)));
    let pull = world.forge.pull(number).await.unwrap();
    assert_eq!(pull.state, PullState::Closed);
    assert_eq!(world.labels(work).await, [READY]);
    let all = world.ask(None, Some("1h"), true).await.unwrap();
    assert!(all.firings.iter().all(|one| one.already));
}

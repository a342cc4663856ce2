//! A call that is killed.

use carson_core::Effect;
use carson_forge::{PR_OPEN, State};
use carson_store::UndoState;

use super::super::Undo;
use super::world::{Did, READY, World, branch, labels, open_pull, release};
use crate::verb::Ask;

/// The process is killed after each of its writes in turn; the answer to that one is lost. The next call ends
/// where one that was never killed does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_killed_anywhere_is_gone_on_with() {
    let mut killed = 0;
    for after in 0.. {
        let world = World::on_github().await;
        let github = world.github.as_ref().unwrap();
        let work = world.issue("Work", &[READY]).await;
        let triaged = world.issue("Triage me", &["triage"]).await;
        let id = world
            .fired(Did {
                issue: work,
                pushed: true,
                effects: vec![
                    open_pull(work),
                    release(work, &[PR_OPEN]),
                    Effect::SetLabels {
                        issue: triaged,
                        add: labels(&["p1", "bug"]),
                        remove: labels(&["triage"]),
                    },
                    Effect::CloseIssue { issue: triaged },
                ],
            })
            .await;
        github.holds_after(Some(after));
        let home = world.home.clone();
        let call = tokio::spawn(async move {
            let undo = Undo {
                firing: Some(id.to_string()),
                since: None,
                yes: true,
            };
            undo.answer(&home).await
        });
        let is_over = tokio::select! {
            () = github.lost.notified() => false,
            () = async { while !call.is_finished() { tokio::task::yield_now().await } } => true,
        };
        call.abort();
        github.holds_after(None);
        let undone = world.undo(id, true).await;
        assert_eq!(undone.already, is_over);
        assert_eq!(undone.count(UndoState::Owed), 0, "{undone:#?}");
        assert_eq!(
            undone.count(UndoState::Left),
            0,
            "killed after {after}: {undone:#?}"
        );
        assert_eq!(world.labels(work).await, [READY]);
        assert_eq!(world.labels(triaged).await, ["triage"]);
        let issue = world.forge.issue(triaged).await.unwrap();
        assert_eq!((issue.state, world.ours(work).await), (State::Open, 0));
        assert!(!world.has_branch(&branch(work)));
        if is_over {
            break;
        }
        killed += 1;
    }
    // The pull request, the issue, five labels, two comments: each was the last.
    assert_eq!(killed, 9);
}

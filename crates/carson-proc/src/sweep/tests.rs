use std::ops::ControlFlow;

use crate::cancel::Cancel;
use crate::command::Command;
use crate::finished::{Exit, Finished};
use crate::run::run;
use crate::testing::{alone, leaving_behind, limits, run_noting, sh};

/// Runs it; whoever it named must be dead afterwards, and there must be so many.
pub(super) async fn swept(command: &Command, named: usize) -> Finished {
    let (finished, ids) = run_noting(command, &limits()).await;
    assert_eq!(ids.len(), named, "{}", finished.stderr.text());
    let alive: Vec<_> = ids.iter().filter(|id| id.is_alive()).collect();
    assert!(alive.is_empty(), "{alive:?} outlived the sweep");
    finished
}

#[test]
fn a_grandchild_in_another_session_is_found_by_its_marker() {
    alone(|| async {
        let finished = swept(&leaving_behind(""), 1).await;
        assert_eq!((finished.exit, finished.leaked), (Exit::Code(0), 1));
    });
}

/// Ends by itself after many short children and one daemon, with a word that says so.
fn busy() -> Command {
    sh(
        "i=0; while [ $i -lt 8 ]; do /bin/true & /bin/true; wait $!; i=$((i+1)); done; \
        (setsid sleep 1000 & ) ; echo all $i",
    )
}

pub(super) async fn assert_unharmed(runs: usize) {
    let all: Vec<_> = (0..runs)
        .map(|_| {
            tokio::spawn(async {
                let on_line = |_: crate::Line<'_>| ControlFlow::Continue(());
                run(&busy(), &limits(), &Cancel::new(), on_line).await
            })
        })
        .collect();
    for one in all {
        let finished = one.await.unwrap().unwrap();
        assert_eq!(finished.exit, Exit::Code(0), "{}", finished.stderr.text());
        assert_eq!(finished.stdout.text(), "all 8\n");
        assert_eq!(finished.stopped, None);
    }
}

#[test]
fn runs_at_the_same_time_do_not_harm_each_other() {
    alone(|| async {
        for _ in 0..3 {
            assert_unharmed(2).await;
        }
        assert_unharmed(50).await;
    });
}

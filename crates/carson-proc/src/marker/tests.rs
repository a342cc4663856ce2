use std::time::Duration;

use super::*;
use crate::command::Command;
use crate::finished::Exit;
use crate::run::run;
use crate::testing::{
    LONG, alone, detached, eventually, leaving_behind, limits, noted, perl, run_noting, sh,
};

const NAME: &str = "CARSON_PROC_TEST_FIRING";

/// A value that nobody else on this machine has.
fn value() -> String {
    let me = ProcessId::current();
    format!("{}-{}", me.pid, me.start)
}

fn with_marker(command: Command) -> Command {
    command.env(NAME, value())
}

#[tokio::test]
async fn nobody_is_marked_and_nothing_happens() {
    assert_eq!(reap_marked(NAME, &value(), LONG).await, 0);
}

#[test]
fn the_marked_are_asked_first() {
    alone(|| async {
        let polite = "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done";
        let mut child = detached(&with_marker(sh(polite)));
        child.let_go();
        let mut other = detached(&sh("exec sleep 1000").env(NAME, "another"));
        other.let_go();
        assert!(eventually(|| child.log() == "ready\n").await);
        // The shell, and the sleeps below it.
        assert!(reap_marked(NAME, &value(), LONG).await >= 1);
        assert!(!child.id.is_alive());
        assert!(child.log().contains("bye\n"), "{}", child.log());
        assert!(other.id.is_alive(), "its value is another one");
        assert!(other.id.terminate(LONG).await);
    });
}

#[test]
fn the_deaf_are_killed_after_the_grace() {
    alone(|| async {
        let deaf = perl("$SIG{TERM} = 'IGNORE'; $| = 1; print 'ready'; sleep 1000 while 1");
        let mut child = detached(&with_marker(deaf));
        child.let_go();
        assert!(eventually(|| child.log() == "ready").await);
        let (started, grace) = (Instant::now(), Duration::from_millis(100));
        assert_eq!(reap_marked(NAME, &value(), grace).await, 1);
        assert!(started.elapsed() >= grace);
        // The kernel ends it when it is next scheduled.
        assert!(eventually(|| !child.id.is_alive()).await);
    });
}

#[test]
fn who_changed_its_session_is_found_and_its_unmarked_child_too() {
    alone(|| async {
        let unmarked = "if (!fork) { %ENV = (); exec '/bin/sleep', '1000' }";
        let command = leaving_behind(unmarked).env(NAME, value());
        let unswept = crate::Limits {
            sweep: false,
            ..limits()
        };
        let (_, left) = run_noting(&command, &unswept).await;
        assert!(left[0].is_alive());
        let child_of_left = || table::all().into_iter().find(|e| e.parent == left[0].pid);
        assert!(eventually(|| child_of_left().is_some()).await);
        let below = ProcessId::from(child_of_left().unwrap());
        assert_eq!(reap_marked(NAME, &value(), LONG).await, 2);
        assert!(!left[0].is_alive() && !below.is_alive());
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_subreaper_is_left_without_zombies() {
    alone(|| async {
        crate::become_subreaper().unwrap();
        let unswept = crate::Limits {
            sweep: false,
            ..limits()
        };
        let (_, left) = run_noting(&leaving_behind("").env(NAME, value()), &unswept).await;
        assert!(left[0].is_alive());
        assert_eq!(reap_marked(NAME, &value(), LONG).await, 1);
        assert_eq!(crate::testing::children_of_ours(), []);
    });
}

#[test]
fn neither_we_nor_our_running_children_are_ended() {
    alone(|| async {
        // This whole test runs again below itself, marked: see `marked_ourselves`.
        let name = "marker::tests::marked_ourselves";
        let finished = crate::testing::again(name, &[(NAME.as_ref(), "us".as_ref())]).await;
        assert_eq!(finished.exit, Exit::Code(0), "{}", finished.stderr.text());
    });
}

/// Does nothing unless it is started by the test above.
#[tokio::test]
async fn marked_ourselves() {
    if std::env::var(NAME).as_deref() != Ok("us") {
        return;
    }
    let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let cancel = crate::Cancel::new();
    let running = tokio::spawn({
        let cancel = cancel.clone();
        async move {
            let command = perl("$| = 1; print qq(pid $$\\n); sleep 1000 while 1");
            run(&command, &limits(), &cancel, |line| {
                said.send(noted(line.bytes)).unwrap();
                std::ops::ControlFlow::Continue(())
            })
            .await
        }
    });
    let child = heard.recv().await.unwrap().unwrap();
    let mut sibling = detached(&sh("exec sleep 1000"));
    sibling.let_go();
    // The kernel lets us go on before the new program has its environment.
    let is_marked = || {
        marked_processes(NAME)
            .get("us")?
            .contains(&sibling.id)
            .then_some(())
    };
    assert!(eventually(|| is_marked().is_some()).await);
    assert!(reap_marked(NAME, "us", LONG).await >= 1);
    assert!(child.is_alive() && !sibling.id.is_alive());
    cancel.cancel();
    running.await.unwrap().unwrap();
}

#[test]
fn only_our_own_value_counts_and_not_a_longer_one() {
    alone(|| async {
        let longer = sh("exec sleep 1000").env(NAME, value() + "0");
        let prefixed = sh("exec sleep 1000").env(format!("X{NAME}"), value());
        let mut children = [detached(&longer), detached(&prefixed)];
        children.iter_mut().for_each(crate::testing::Logged::let_go);
        assert_eq!(reap_marked(NAME, &value(), LONG).await, 0);
        for child in children {
            assert!(child.id.is_alive());
            assert!(child.id.terminate(LONG).await);
        }
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "the child is one that carson-proc did not start"
)]
#[test]
fn a_child_is_found_by_its_value_while_it_lives() {
    let name = format!("CARSON_TEST_MARKS_{}", std::process::id());
    assert_eq!(marked_processes(&name), BTreeMap::new());
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .env(&name, "this one")
        .stdin(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let found = marked_processes(&name);
    child.kill().unwrap();
    child.wait().unwrap();
    let pid = i32::try_from(child.id()).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["this one"]);
    assert_eq!(found["this one"][0].pid, pid);
    assert_eq!(marked_processes(&name), BTreeMap::new());
}

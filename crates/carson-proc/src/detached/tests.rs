use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::testing::{LONG, again, alone, children_of_ours, detached, eventually, sh};

/// Where the starter says whom it has started.
const NOTE: &str = "CARSON_PROC_TEST_NOTE";

#[tokio::test]
async fn it_outlives_its_starter() {
    if let Some(note) = std::env::var_os(NOTE) {
        let child = spawn_detached(&sh("echo on its way; exec sleep 1000"), note.as_ref()).unwrap();
        fs::write(
            Path::new(&note).with_extension("id"),
            child.id.pid.to_string(),
        )
        .unwrap();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let name = "detached::tests::it_outlives_its_starter";
    let starter = again(name, &[(NOTE.as_ref(), log.as_ref())]).await;
    assert_eq!(starter.exit, Exit::Code(0), "{}", starter.stdout.text());

    let pid = fs::read_to_string(log.with_extension("id")).unwrap();
    let child = ProcessId::of(pid.parse().unwrap()).unwrap();
    let said = || fs::read_to_string(&log).unwrap() == "on its way\n";
    assert!(eventually(said).await);
    assert!(child.is_alive());
    assert!(child.terminate(LONG).await);
}

#[test]
fn its_end_is_told_and_it_is_reaped() {
    alone(|| async {
        for (script, exit) in [
            ("exit 9", Exit::Code(9)),
            ("kill -KILL $$", Exit::Signal(9)),
        ] {
            let child = detached(&sh(script));
            assert_eq!(child.wait().await.unwrap(), exit);
            assert!(children_of_ours().is_empty());
        }
    });
}

#[test]
fn its_output_is_appended_to_a_log_of_ours_alone() {
    alone(|| async {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        for _ in 0..2 {
            let child = spawn_detached(&sh("echo out; echo err >&2; cat"), &log).unwrap();
            child.wait().await.unwrap();
        }
        assert_eq!(fs::read_to_string(&log).unwrap(), "out\nerr\nout\nerr\n");
        assert_eq!(
            fs::metadata(&log).unwrap().permissions().mode() & 0o777,
            0o600
        );

        let nowhere = dir.path().join("no/log");
        let error = spawn_detached(&sh("true"), &nowhere).unwrap_err();
        assert!(matches!(error, SpawnError::Io { .. }), "{error:?}");
        let missing = Command::new("/no/such", "/");
        let error = spawn_detached(&missing, &log).unwrap_err();
        assert!(matches!(error, SpawnError::NotFound { .. }), "{error:?}");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn no_sweep_takes_it_whether_it_is_still_held_or_not() {
    alone(|| async {
        use crate::testing::{leaving_behind, limits, run_noting};
        crate::become_subreaper().unwrap();
        let held = detached(&sh("exec sleep 1000"));
        let mut dropped = detached(&sh("exec sleep 1000"));
        dropped.let_go();
        for _ in 0..3 {
            let (finished, _) = run_noting(&leaving_behind(""), &limits()).await;
            assert_eq!(finished.leaked, 1);
        }
        assert!(held.id.is_alive() && dropped.id.is_alive());
        for id in [held.id, dropped.id] {
            assert!(id.terminate(LONG).await);
        }
        held.wait().await.unwrap();
        // The next run reaps what nobody holds.
        crate::capture(&sh("true"), &limits()).await.unwrap();
        assert!(children_of_ours().is_empty());
    });
}

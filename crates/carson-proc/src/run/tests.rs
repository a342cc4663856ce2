use std::path::PathBuf;
use std::time::Duration;

use super::*;
use crate::finished::StopReason;
use crate::limits::Ask;
use crate::lines::Stream;
use crate::process_id::ProcessId;
use crate::testing::{alone, leaving_behind, limits, noted, perl, sh};

/// Runs to the end with all lines.
pub(super) async fn lines_of(
    command: &Command,
    limits: &Limits,
) -> (Finished, Vec<(Stream, Vec<u8>, bool)>) {
    let mut lines = Vec::new();
    let finished = run(command, limits, &Cancel::new(), |line| {
        lines.push((line.stream, line.bytes.to_vec(), line.truncated));
        ControlFlow::Continue(())
    })
    .await
    .unwrap();
    (finished, lines)
}

async fn finish(command: &Command, limits: &Limits) -> Finished {
    lines_of(command, limits).await.0
}

/// Runs, and cancels at the first line.
async fn cancelled_at_first_line(command: &Command, limits: &Limits) -> Finished {
    let cancel = Cancel::new();
    run(command, limits, &cancel, |_| {
        cancel.cancel();
        ControlFlow::Continue(())
    })
    .await
    .unwrap()
}

const DEAF: &str = "trap '' TERM; echo ready; while :; do sleep 0.05; done";

#[test]
fn who_ignores_sigterm_gets_sigkill_after_the_grace() {
    alone(|| async {
        let finished = cancelled_at_first_line(&sh(DEAF), &limits()).await;
        assert_eq!(finished.exit, Exit::Signal(9));
        assert_eq!(finished.stopped, Some(StopReason::Cancelled));
        assert!(finished.elapsed >= limits().grace, "{:?}", finished.elapsed);
        assert!(!finished.success());
    });
}

#[test]
fn who_obeys_sigterm_ends_in_its_own_way() {
    alone(|| async {
        let script = "trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.01; done";
        let limits = Limits {
            grace: Duration::from_secs(50),
            ..limits()
        };
        let finished = cancelled_at_first_line(&sh(script), &limits).await;
        assert_eq!(finished.exit, Exit::Code(7));
        assert_eq!(finished.stdout.text(), "ready\nbye\n");
        assert!(finished.elapsed < limits.grace);
    });
}

#[test]
fn it_may_be_asked_as_by_ctrl_c() {
    alone(|| async {
        let script =
            "trap 'exit 1' TERM; trap 'exit 8' INT; echo ready; while :; do sleep 0.01; done";
        let limits = Limits {
            ask: Ask::Interrupt,
            ..limits()
        };
        let finished = cancelled_at_first_line(&sh(script), &limits).await;
        assert_eq!(finished.exit, Exit::Code(8));
    });
}

#[test]
fn its_total_time_is_bounded_whatever_it_prints() {
    alone(|| async {
        let limits = Limits {
            wall_clock: Duration::from_millis(300),
            silence: Some(Duration::from_secs(50)),
            ..limits()
        };
        let finished = finish(&sh("while :; do echo busy; sleep 0.01; done"), &limits).await;
        assert_eq!(finished.stopped, Some(StopReason::WallClock));
        assert_eq!(finished.exit, Exit::Signal(15));
        assert!(finished.elapsed >= limits.wall_clock);
    });
}

#[test]
fn silence_ends_it_and_output_puts_the_end_off() {
    alone(|| async {
        let limits = Limits {
            silence: Some(Duration::from_millis(1500)),
            ..limits()
        };
        let chatty = perl("$| = 1; for (1..50) { print '.'; select(undef, undef, undef, 0.05) }");
        let finished = finish(&chatty, &limits).await;
        assert!(finished.success(), "{finished:?}");
        assert!(finished.elapsed > Duration::from_millis(2000));

        let finished = finish(&sh("echo last words; exec sleep 1000"), &limits).await;
        assert_eq!(finished.stopped, Some(StopReason::Silence));
        assert_eq!(finished.stdout.text(), "last words\n");
    });
}

#[test]
fn limits_without_an_end_are_no_limits() {
    alone(|| async {
        let limits = Limits {
            wall_clock: Duration::MAX,
            silence: Some(Duration::MAX),
            ask: Ask::Terminate,
            grace: Duration::MAX,
            max_output: u64::MAX,
            keep: usize::MAX,
            drain: Duration::MAX,
            sweep: true,
        };
        let finished = finish(&sh("echo out; echo err >&2"), &limits).await;
        assert!(finished.success(), "{finished:?}");
        // A grace without an end means to wait for the child, not to kill it at once.
        let polite = "trap 'sleep 0.3; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
        let finished = cancelled_at_first_line(&sh(polite), &limits).await;
        assert_eq!(finished.exit, Exit::Code(3));
    });
}

#[test]
fn cancelled_before_it_starts_it_ends_at_once() {
    alone(|| async {
        let cancel = Cancel::new();
        cancel.cancel();
        let command = sh("exec sleep 1000");
        let finished = run(&command, &limits(), &cancel, |_| ControlFlow::Continue(()))
            .await
            .unwrap();
        assert_eq!(finished.stopped, Some(StopReason::Cancelled));
        assert_eq!(finished.exit, Exit::Signal(15));
    });
}

#[test]
fn a_break_stops_it_and_what_it_still_says_arrives() {
    alone(|| async {
        let script = "trap 'echo parting; exit 0' TERM; echo first; while :; do sleep 0.01; done";
        let mut seen = Vec::new();
        let finished = run(&sh(script), &limits(), &Cancel::new(), |line| {
            // The shell may tell about its own children on the other stream.
            if line.stream == Stream::Stdout {
                seen.push(String::from_utf8(line.bytes.to_vec()).unwrap());
            }
            ControlFlow::Break(())
        })
        .await
        .unwrap();
        assert_eq!(seen, ["first", "parting"]);
        assert_eq!(finished.stopped, Some(StopReason::Asked));
        assert!(!finished.success(), "it did not end by itself");
    });
}

#[test]
fn input_that_nobody_reads_is_no_obstacle() {
    alone(|| async {
        let input = vec![b'i'; 5 << 20];
        let finished = finish(&sh("exit 4").stdin_bytes(input.clone()), &limits()).await;
        assert_eq!((finished.exit, finished.stopped), (Exit::Code(4), None));

        let finished = finish(&sh("wc -c").stdin_bytes(input.clone()), &limits()).await;
        assert_eq!(finished.stdout.text().trim(), "5242880");

        let deaf = sh("echo ready; exec sleep 1000").stdin_bytes(input);
        let finished = cancelled_at_first_line(&deaf, &limits()).await;
        assert_eq!(finished.stopped, Some(StopReason::Cancelled));

        let finished = finish(&sh("cat; echo end"), &limits()).await;
        assert_eq!(finished.stdout.text(), "end\n", "no input is an empty one");
    });
}

#[test]
fn only_the_given_environment_is_seen() {
    alone(|| async {
        let command = Command::new("/usr/bin/env", "/").env("ONLY", "this");
        let finished = finish(&command, &limits()).await;
        let text = finished.stdout.text();
        let names: Vec<_> = text.lines().map(|l| l.split('=').next().unwrap()).collect();
        assert_eq!(names.len(), 2, "{text}");
        assert!(names.contains(&"ONLY") && names.contains(&"CARSON_RUN"));
    });
}

async fn failure(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> SpawnError {
    let command = Command::new(program, cwd).inherit_env();
    capture(&command, &limits()).await.unwrap_err()
}

#[test]
fn what_cannot_be_started_says_why() {
    alone(|| async {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("plain");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let gone = dir.path().join("gone");

        let error = failure(&gone, "/").await;
        assert!(matches!(&error, SpawnError::NotFound { program } if *program == gone));
        let error = failure(&file, "/").await;
        assert!(matches!(&error, SpawnError::NotExecutable { program } if *program == file));
        let error = failure(dir.path(), "/").await;
        assert!(matches!(&error, SpawnError::NotExecutable { .. }));
        let error = failure("/bin/sh", &gone).await;
        assert!(matches!(&error, SpawnError::Cwd { cwd } if *cwd == gone));
        let error = failure("/bin/sh", &file).await;
        assert!(
            matches!(&error, SpawnError::Cwd { .. }),
            "a file is no directory"
        );
        let error = failure("sh", "/").await;
        assert!(
            matches!(&error, SpawnError::NotFound { .. }),
            "never searched for"
        );
    });
}

#[test]
fn a_script_without_its_interpreter_is_not_called_missing() {
    use std::os::unix::fs::PermissionsExt;
    alone(|| async {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        let error = failure(&script, "/").await;
        assert!(
            matches!(&error, SpawnError::Interpreter { .. }),
            "{error:?}"
        );
    });
}

#[test]
fn a_future_dropped_half_way_takes_its_tree_along() {
    alone(|| async {
        // The child waits for ever behind the pipe, with a grandchild in another session.
        let command = leaving_behind("<STDIN>; sleep 1000 while 1");
        let mut ids: Vec<ProcessId> = Vec::new();
        let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let command = command.stdin_bytes(vec![b'i'; 1 << 20]);
        {
            let cancel = Cancel::new();
            let limits = limits();
            let running = run(&command, &limits, &cancel, |line| {
                said.send(noted(line.bytes)).unwrap();
                ControlFlow::Continue(())
            });
            tokio::select! {
                _ = running => panic!("it cannot end by itself"),
                id = heard.recv() => ids.extend(id.flatten()),
            }
        }
        assert_eq!(ids.len(), 1);
        assert!(!ids[0].is_alive());
        // `alone` sees that the child itself is gone, and reaped.
    });
}

#[test]
fn a_crash_is_an_end_like_any_other() {
    alone(|| async {
        let finished = finish(&sh("echo before; kill -SEGV $$"), &limits()).await;
        assert_eq!(finished.exit, Exit::Signal(11));
        assert_eq!(finished.stopped, None);
        assert_eq!(finished.stdout.text(), "before\n");
    });
}

#[test]
fn who_is_talked_to_answers_line_by_line_and_ends_when_nobody_can_send() {
    alone(|| async {
        let (sender, sent) = mpsc::channel(1);
        let mut sender = Some(sender);
        let mut command = sh("while read -r line; do echo \"heard $line\"; done; echo end");
        command.stdin = Stdin::Sent;
        let first = sender.as_ref().unwrap().clone();
        first.send(b"one\n".to_vec()).await.unwrap();
        drop(first);
        let mut heard = Vec::new();
        let finished = converse(&command, &limits(), &Cancel::new(), sent, |line| {
            heard.push(String::from_utf8_lossy(line.bytes).into_owned());
            // The second is sent once the first was answered.
            if let Some(sender) = sender.take().filter(|_| heard.len() == 1) {
                sender.try_send(b"two\n".to_vec()).unwrap();
            }
            ControlFlow::Continue(())
        })
        .await
        .unwrap();
        assert!(finished.success());
        assert_eq!(heard, ["heard one", "heard two", "end"]);
    });
}

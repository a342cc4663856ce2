use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn env() -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), std::env::var_os("PATH").unwrap())]
}

async fn ran(words: Words, stdin: &str, timeout: Duration) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    let call = Call {
        words: &words,
        cwd: dir.path(),
        env: env(),
        stdin: stdin.into(),
        timeout,
        walls: None,
    };
    run(&call, &Cancel::new(), |_| {}).await
}

async fn line(line: &str) -> Ran {
    ran(Words::line(line).unwrap(), "", Duration::from_secs(20)).await
}

fn argv(words: &[&str]) -> Words {
    Words::argv(words.iter().map(|&word| word.to_owned()).collect()).unwrap()
}

#[tokio::test]
async fn what_it_reads_and_prints_passes_through() {
    let words = argv(&["cat", "-"]);
    let done = ran(words, "one\ntwo", Duration::from_secs(20)).await;
    assert_eq!(
        (done.how, done.output.text().as_str()),
        (How::Exited(0), "one\ntwo\n")
    );
    let done = line("echo out; echo err >&2; cat; exit 3").await;
    assert_eq!(done.how, How::Exited(3));
    let text = done.output.text();
    assert!(text.contains("out\n") && text.contains("err\n"), "{text}");
}

#[tokio::test]
async fn words_meet_no_shell() {
    let done = ran(
        argv(&["echo", "$HOME; exit 1"]),
        "",
        Duration::from_secs(20),
    )
    .await;
    assert_eq!(done.output.text(), "$HOME; exit 1\n");
}

#[tokio::test]
async fn what_cannot_be_run_is_told_apart_as_by_a_shell() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let file = file.to_str().unwrap();
    for (words, unable) in [
        (argv(&["no-such-program-here"]), Unable::NotFound),
        (argv(&["/no/such/program"]), Unable::NotFound),
        (
            Words::line("no-such-program-here").unwrap(),
            Unable::NotFound,
        ),
        (argv(&[file]), Unable::NotExecutable),
        (Words::line(file).unwrap(), Unable::NotExecutable),
    ] {
        let done = ran(words.clone(), "", Duration::from_secs(20)).await;
        assert_eq!(done.unable(), Some(unable), "{words}");
        assert!(!done.output.is_blank(), "{words}");
    }
    assert_eq!(line("exit 1").await.unable(), None);
}

#[tokio::test]
async fn one_that_hangs_is_ended_with_all_that_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let words = Words::line(&format!(
        "sleep 1000 & echo $! >> {pids}; setsid sleep 1000 & echo $! >> {pids}; echo begun; sleep 1000",
        pids = pids.display()
    ));
    let done = ran(words.unwrap(), "", Duration::from_millis(500)).await;
    assert_eq!(
        (done.how, done.output.text().as_str()),
        (How::TimedOut, "begun\n")
    );
    assert!(done.elapsed < Duration::from_secs(9), "{:?}", done.elapsed);
    let pids = std::fs::read_to_string(pids).unwrap();
    for pid in pids.lines().map(|pid| pid.parse().unwrap()) {
        assert_eq!(carson_proc::ProcessId::of(pid), None);
    }
}

#[tokio::test]
async fn a_flood_is_drained_and_both_ends_are_kept() {
    let done = line("echo first; yes | head -c 5000000; echo last").await;
    assert_eq!(done.how, How::Exited(0));
    let text = done.output.text();
    assert!(text.starts_with("first\ny\n") && text.ends_with("y\nlast\n"));
    assert!(text.len() < 2 * KEEP + 100, "{}", text.len());
    assert!(
        done.output.left_out() > 2_500_000,
        "{}",
        done.output.left_out()
    );
}

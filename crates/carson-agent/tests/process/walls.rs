//! What commands reach.

use std::fs;
use std::time::Duration;

use carson_proc::{Command, Exit, Limits, capture};
use serde_json::json;

use crate::server::{Server, call, words};
use crate::{Ran, Work};

/// Runs one command, and gives what the model reads of it.
async fn said(work: &Work, line: &str, args: &[&str]) -> (Ran, String) {
    let server = Server::plays(vec![
        call("run", json!({ "command": line })),
        words("Done."),
    ]);
    let ran = work.agent(&server.url(), &[args, &["Go."]].concat()).await;
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let heard = server.heard();
    let last = heard[1].body["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    (ran, last["content"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_command_writes_its_directory_and_nothing_else() {
    let work = Work::with(&[]);
    fs::write(work.outside().join("secret"), "x").unwrap();
    fs::create_dir_all(work.root().join(".git/hooks")).unwrap();
    let line = "echo in > in; echo out > ../out; cat ../secret; echo x > .git/hooks/pre-commit; \
                echo temp > /tmp/x && echo home > ~/x && echo wrote";
    let (_, said) = said(&work, line, &[]).await;
    assert!(
        said.ends_with("wrote\n") || said.contains("\nwrote\n"),
        "{said}"
    );
    assert_eq!(work.text("in"), "in\n");
    assert!(!work.outside().join("out").exists(), "{said}");
    assert!(
        !work.root().join(".git/hooks/pre-commit").exists(),
        "{said}"
    );
    assert!(!said.contains("\nx\n"), "{said}");
}

#[tokio::test]
async fn what_git_runs_next_time_is_not_the_models_to_write_and_a_new_repository_is_named() {
    // In a file, where the hook does not see it.
    let ways = "echo ../evil >.git/commondir\necho x >.git/config.worktree\nmkdir -p .git/modules/a\n\
                rm -rf .git\nmv .git .old\nmkdir -p sub/.git\necho tried\n";
    let work = Work::with(&[("ways", ways)]);
    let git = work.root().join(".git");
    fs::create_dir(&git).unwrap();
    fs::write(git.join("config"), "").unwrap();
    let (ran, told) = said(&work, "sh ways", &[]).await;
    assert!(told.contains("tried"), "{told}");
    let left: Vec<_> = fs::read_dir(&git).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(!work.root().join(".old").exists());
    assert!(
        ran.stderr.contains("new repositories: sub/.git;"),
        "{}",
        ran.stderr
    );

    // Who may commit may not say which programs that runs.
    let line = "echo x >.git/index\necho x >>.git/config\necho wrote\n";
    fs::write(work.root().join("ways"), line).unwrap();
    let (_, told) = said(&work, "sh ways", &["--git"]).await;
    assert!(told.contains("wrote"), "{told}");
    assert!(git.join("index").exists(), "{told}");
    assert_eq!(fs::read_to_string(git.join("config")).unwrap(), "");
}

#[tokio::test]
async fn a_disk_that_is_full_of_an_answer_is_not_done() {
    let work = Work::with(&[]);
    let server = Server::plays(vec![words("Done.")]);
    let line = format!(
        "{} --base-url {} --model scripted --workdir {} Go. >/dev/full",
        env!("CARGO_BIN_EXE_carson-agent"),
        server.url(),
        work.root().display()
    );
    let command = Command::new("/bin/sh", work.outside()).args(["-c", &line]);
    let limits = Limits::within(Duration::from_secs(60));
    let ran = capture(&command.inherit_env(), &limits).await.unwrap();
    let said = ran.stderr.text();
    assert_eq!(ran.exit, Exit::Code(1), "{said}");
    assert!(said.contains("could not be written"), "{said}");
}

#[tokio::test]
async fn a_command_reaches_nobody_unless_it_may() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!(
        "perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(\"127.0.0.1:{port}\") ? \"there\" : \"nobody\"'"
    );
    let work = Work::with(&[]);
    let (_, alone) = said(&work, &line, &[]).await;
    assert!(alone.contains("nobody"), "{alone}");
    let (_, open) = said(&work, &line, &["--network"]).await;
    assert!(open.contains("there"), "{open}");
}

#[tokio::test]
async fn the_check_stands_behind_the_same_walls() {
    let server = Server::plays(vec![call(
        "write_file",
        json!({ "path": "a", "content": "x" }),
    )]);
    let work = Work::with(&[]);
    let check = "touch ../out; test -s a";
    let ran = work.agent(&server.url(), &["--until", check, "Go."]).await;
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(!work.outside().join("out").exists());
}

#[tokio::test]
async fn nothing_is_left_in_the_temporary_directory() {
    let work = Work::with(&[]);
    let temp = work.outside().join("temp");
    fs::create_dir(&temp).unwrap();
    let (_, said) = said(&work, "echo $TMPDIR; echo x > $TMPDIR/x && echo wrote", &[]).await;
    assert!(said.contains("wrote"), "{said}");
    let dir = said
        .lines()
        .find(|line| line.contains("carson-agent-"))
        .unwrap()
        .to_owned();
    assert!(!std::path::Path::new(&dir).exists(), "{dir}");
}

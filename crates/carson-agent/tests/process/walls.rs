//! What commands reach.

use std::fs;

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

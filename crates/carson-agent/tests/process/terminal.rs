//! At a terminal, who sits there is asked before something is written.

#![cfg(target_os = "linux")]

use std::ops::ControlFlow;

use carson_proc::{Cancel, Command, Limits, run};
use serde_json::json;

use crate::server::{Server, call, words};
use crate::{LONG, Work};

/// Runs the binary at a terminal of its own, at which somebody types.
async fn typed(work: &Work, url: &str, args: &str, keys: &str) -> String {
    let agent = env!("CARGO_BIN_EXE_carson-agent");
    let root = work.root();
    let line = format!(
        "{agent} --base-url {url} --model m --workdir {} {args} 'Write a.'",
        root.display()
    );
    let command = Command::new("/usr/bin/script", work.outside())
        .args(["-qec", &line, "/dev/null"])
        .inherit_env()
        .stdin_bytes(keys);
    let going_on = |_: carson_proc::Line<'_>| ControlFlow::Continue(());
    let limits = Limits::within(LONG);
    let done = run(&command, &limits, &Cancel::new(), going_on).await;
    done.unwrap().stdout.text()
}

fn script() -> Server {
    let write = call(
        "write_file",
        json!({ "path": "a", "content": "one\nthree\n" }),
    );
    Server::plays(vec![write, words("Well.")])
}

#[tokio::test]
async fn a_write_shows_its_difference_and_asks() {
    let work = Work::with(&[("a", "one\ntwo\n")]);
    let server = script();
    let shown = typed(&work, &server.url(), "", "n\n").await;
    assert!(
        shown.contains("-two") && shown.contains("+three"),
        "{shown}"
    );
    assert!(shown.contains("Write a? [y/N]"), "{shown}");
    assert_eq!(work.text("a"), "one\ntwo\n", "{shown}");
    let heard = server.heard()[1].body["messages"].to_string();
    assert!(
        heard.contains("[refused] the person at the terminal said no"),
        "{heard}"
    );

    let shown = typed(&work, &script().url(), "", "y\n").await;
    assert_eq!(work.text("a"), "one\nthree\n", "{shown}");
}

#[tokio::test]
async fn who_said_yes_beforehand_is_not_asked() {
    let work = Work::with(&[]);
    let shown = typed(&work, &script().url(), "--yes", "").await;
    assert!(!shown.contains("[y/N]"), "{shown}");
    assert_eq!(work.text("a"), "one\nthree\n");
}

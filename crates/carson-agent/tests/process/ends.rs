//! How runs end: exit codes and last lines.

use std::fs;
use std::time::Duration;

use carson_proc::Cancel;
use serde_json::json;

use crate::server::{Say, Server, call, words};
use crate::{Ran, Work};

const CHECK: [&str; 2] = ["--until", "grep -q 4 sum"];

fn ended(ran: &Ran, code: i32, line: &str) {
    assert_eq!((ran.code, ran.last_line()), (code, line), "{}", ran.stderr);
}

#[tokio::test]
async fn the_check_decides_when_it_is_done() {
    let server = Server::plays(vec![
        call("read_file", json!({ "path": "sum" })),
        words("It says 3, that must be right."),
        call(
            "edit_file",
            json!({ "path": "sum", "old": "3", "new": "5" }),
        ),
        call(
            "edit_file",
            json!({ "path": "sum", "old": "5", "new": "4" }),
        ),
    ]);
    let work = Work::with(&[("sum", "2 + 2 = 3\n")]);
    let ran = work
        .agent(&server.url(), &[&CHECK[..], &["Mend the sum."]].concat())
        .await;
    ended(&ran, 0, "→ done after 4 iteration(s): verify passed");
    assert_eq!(work.text("sum"), "2 + 2 = 4\n");
    assert_eq!(ran.stdout.trim(), "It says 3, that must be right.");
    let asked = server.heard();
    let last = |n: usize| {
        asked[n].body["messages"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone()
    };
    assert_eq!(last(1)["content"], "2 + 2 = 3\n");
    let told = last(2)["content"].as_str().unwrap().to_owned();
    assert!(
        told.starts_with("Not done yet. The check still fails: exit code 1"),
        "{told}"
    );
}

#[tokio::test]
async fn a_model_that_only_talks_is_exhausted() {
    let server = Server::plays(vec![words("All done!")]);
    let work = Work::with(&[("sum", "3")]);
    let args = [&CHECK[..], &["--preset", "local", "Mend it."]].concat();
    let ran = work.agent(&server.url(), &args).await;
    ended(
        &ran,
        3,
        "→ exhausted after 8 iteration(s): verify still failing",
    );
    assert_eq!(server.heard().len(), 8);
    assert!(
        ran.stdout.starts_with("No final answer: "),
        "{}",
        ran.stdout
    );
}

#[tokio::test]
async fn without_a_check_the_answer_ends_it_and_a_bound_has_a_fallback() {
    let server = Server::plays(vec![call("list", json!({})), words("Two files.")]);
    let work = Work::with(&[("a", ""), ("b", "")]);
    let ran = work.agent(&server.url(), &["How many files?"]).await;
    ended(&ran, 0, "→ done after 2 iteration(s): nothing to verify");
    assert_eq!(ran.stdout, "Two files.\n");

    let changing = |n: usize| {
        call(
            "write_file",
            json!({ "path": "n", "content": n.to_string() }),
        )
    };
    let server = Server::plays((0..9).map(changing).collect());
    let ran = work
        .agent(&server.url(), &["--preset", "react", "Go on."])
        .await;
    ended(
        &ran,
        4,
        "→ stopped after 5 iteration(s): all its tool calls are used",
    );
    assert_eq!(work.text("n"), "3", "four calls were made");
    assert!(
        ran.stdout.starts_with("No final answer: "),
        "{}",
        ran.stdout
    );
}

#[tokio::test]
async fn the_same_three_times_in_a_row_ends_it() {
    let server = Server::plays(vec![call("run", json!({ "command": "echo same" }))]);
    let work = Work::with(&[]);
    let ran = work.agent(&server.url(), &["Go on."]).await;
    assert_eq!(ran.code, 4);
    assert_eq!(server.heard().len(), 3);
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_what_may_not_ends_it() {
    let failing = Say::Status(500, "", "{\"error\":\"busy\"}");
    let slow = Say::Status(429, "retry-after: 0", "later");
    let server = Server::plays(vec![failing, slow, Say::Cut, words("Here.")]);
    let work = Work::with(&[]);
    let ran = work.agent(&server.url(), &["Say something."]).await;
    ended(&ran, 0, "→ done after 1 iteration(s): nothing to verify");
    assert_eq!(server.heard().len(), 4);
    assert_eq!(
        ran.stderr.matches("asked again in").count(),
        3,
        "{}",
        ran.stderr
    );

    let server = Server::plays(vec![Say::Status(401, "", "no such key")]);
    let ran = work.agent(&server.url(), &["Say something."]).await;
    assert_eq!((ran.code, server.heard().len()), (5, 1));
    assert!(
        ran.last_line().contains("401: no such key"),
        "{}",
        ran.stderr
    );

    let server = Server::plays(vec![Say::Status(503, "", "down")]);
    let ran = work.agent(&server.url(), &["Say something."]).await;
    assert_eq!((ran.code, server.heard().len()), (5, 4));
}

#[tokio::test]
async fn who_says_nothing_and_who_never_ends_is_not_waited_for() {
    let server = Server::plays(vec![Say::Hang]);
    let work = Work::with(&[]);
    let ran = work
        .agent(&server.url(), &["--silence", "1s", "Say something."])
        .await;
    assert_eq!(ran.code, 5);
    assert!(
        ran.last_line().contains("said nothing for 1 s"),
        "{}",
        ran.stderr
    );
    let ran = work
        .agent(&server.url(), &["--wall-clock", "1s", "Say something."])
        .await;
    ended(&ran, 4, "→ stopped after 1 iteration(s): its time is over");

    let server = Server::plays(vec![Say::Endless]);
    let ran = work
        .agent(&server.url(), &["--max-turns", "2", "Say something."])
        .await;
    ended(
        &ran,
        4,
        "→ stopped after 2 iteration(s): all its turns are used",
    );
}

#[tokio::test]
async fn no_choices_is_exhausted_and_no_endpoint_is_five() {
    let server = Server::plays(vec![Say::NoChoices]);
    let work = Work::with(&[("sum", "3")]);
    let ran = work
        .agent(&server.url(), &[&CHECK[..], &["Mend it."]].concat())
        .await;
    ended(
        &ran,
        3,
        "→ exhausted after 1 iteration(s): verify still failing",
    );
    // A port that nobody listens on: it was just given back.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", gone.local_addr().unwrap());
    drop(gone);
    let ran = work.agent(&url, &["Mend it."]).await;
    assert_eq!(ran.code, 5, "{}", ran.stderr);
}

#[tokio::test]
async fn who_is_asked_to_end_ends_and_takes_its_children_with_it() {
    let line = "echo $$ > pid; sleep 1000";
    let server = Server::plays(vec![call("run", json!({ "command": line }))]);
    let work = Work::with(&[]);
    let cancel = Cancel::new();
    let (url, pid) = (server.url(), work.root().join("pid"));
    let watching = async {
        while fs::read_to_string(&pid)
            .unwrap_or_default()
            .trim()
            .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        cancel.cancel();
    };
    let (ran, ()) = tokio::join!(work.agent_until(&url, &["Wait."], &cancel), watching);
    ended(&ran, 130, "→ interrupted after 1 iteration(s)");
}

#[tokio::test]
async fn what_does_not_fit_is_refused_before_anybody_is_asked() {
    let server = Server::plays(vec![words("Hello.")]);
    let work = Work::with(&[("key", "k-123")]);
    let long = "x".repeat(20_000);
    let inside = work.root().join("key");
    let inside = inside.to_str().unwrap();
    for (args, why) in [
        (vec!["--preset", "local", long.as_str()], "do not fit into"),
        (
            vec!["--api-key-file", inside, "Hi."],
            "others can read it|in the working directory",
        ),
        (
            vec!["--api-key-env", "NO_SUCH_VARIABLE", "Hi."],
            "is not set",
        ),
        (vec!["--mcp", "none.json", "Hi."], "none.json"),
        (vec![" "], "the task is empty"),
        (vec!["--tools", "fly", "Hi."], "fly"),
    ] {
        let ran = work.agent(&server.url(), &args).await;
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(
            why.split('|').any(|why| ran.stderr.contains(why)),
            "{}",
            ran.stderr
        );
    }
    assert!(server.heard().is_empty());
}

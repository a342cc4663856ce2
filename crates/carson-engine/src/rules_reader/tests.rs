use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use super::*;
use crate::adapters::cli;

/// Replays a transcript as far as the reader lets it go on; the process that carries it exits so.
async fn replay(spoken: &str, name: &str, exit: i32, max_turns: u32) -> (SessionEnd, Vec<Event>) {
    let path = format!("{}/testdata/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut reader = Box::new(RulesReader::speaking(cli(spoken), max_turns));
    let mut events = Vec::new();
    for line in text.lines() {
        let flow = reader.line(line.as_bytes(), &mut |event| events.push(event.clone()));
        if flow.is_break() {
            break;
        }
    }
    let command = Command::new("/bin/sh", "/")
        .arg("-c")
        .arg(format!("exit {exit}"));
    let done = capture(&command, &Limits::within(Duration::from_secs(5)))
        .await
        .unwrap();
    let now = DateTime::from_timestamp(1_795_230_000, 0).unwrap();
    (reader.end(&done, &Redactor::default(), now), events)
}

/// The calls that have their results, as far as they can be compared.
fn done(events: &[Event]) -> Vec<Option<CallPrint>> {
    let done = events.iter().filter_map(|event| match event {
        Event::ToolDone { call, .. } => Some(*call),
        _ => None,
    });
    done.collect()
}

#[tokio::test]
async fn calls_are_told_with_their_results_whoever_speaks() {
    for (spoken, name) in [("gemini", "gm-exec"), ("opencode", "oc-exec")] {
        let (end, events) = replay(spoken, name, 0, 60).await;
        assert_eq!(end.ended, Ended::Completed, "{name}");
        assert_eq!(end.text, "Done.\n\n[OK]", "{name}");
        let [Some(first), Some(second)] = done(&events)[..] else {
            panic!("{name}: {events:?}");
        };
        assert_ne!(first, second, "{name}");
    }
}

#[tokio::test]
async fn a_ceiling_of_turns_ends_what_has_none_of_its_own() {
    // Its third step is its answer: with three it comes to its end, with two it is stopped.
    let (end, _) = replay("opencode", "oc-exec", 0, 3).await;
    assert_eq!((end.ended, end.turns), (Ended::Completed, 3));
    let (end, events) = replay("opencode", "oc-exec", 143, 2).await;
    assert_eq!((end.ended, end.turns), (Ended::MaxTurns, 2));
    assert_eq!(done(&events).len(), 2);
    let (end, _) = replay("gemini", "gm-exec", 143, 1).await;
    assert_eq!((end.ended, end.turns), (Ended::MaxTurns, 1));
}

#[tokio::test]
async fn its_own_ceiling_of_turns_is_no_crash() {
    let (end, _) = replay("gemini", "gm-turns", 53, 60).await;
    assert_eq!(end.ended, Ended::MaxTurns);
}

#[tokio::test]
async fn calls_that_were_stopped_are_told_with_who_stopped_them() {
    let (end, events) = replay("gemini", "gm-hook", 0, 60).await;
    let [denied] = end.denied.as_slice() else {
        panic!("{end:#?}");
    };
    assert!(denied.by_hook, "{denied:?}");
    assert_eq!(
        (denied.tool.as_str(), denied.call.as_str()),
        ("run_shell_command", "git push origin HEAD:main")
    );
    assert!(events.contains(&Event::ToolDenied(denied.clone())));
    let started = events.iter().find_map(|event| match event {
        Event::Started { model } => model.clone(),
        _ => None,
    });
    assert_eq!(started.as_deref(), Some("gemini-2.5-pro"));

    let (end, _) = replay("opencode", "oc-deny", 0, 60).await;
    let [denied] = end.denied.as_slice() else {
        panic!("{end:#?}");
    };
    assert!(
        !denied.by_hook && denied.call.starts_with("git add"),
        "{denied:?}"
    );
}

#[tokio::test]
async fn what_the_repository_keeps_it_from_is_for_another_engine() {
    let said = r#"{"type":"error","error":{"name":"CarsonRefused","data":{"message":"opencode would run it"}}}"#;
    let mut reader = Box::new(RulesReader::speaking(cli("opencode"), 60));
    assert!(reader.line(said.as_bytes(), &mut |_| ()).is_continue());
    let command = Command::new("/bin/sh", "/").arg("-c").arg("exit 1");
    let done = capture(&command, &Limits::within(Duration::from_secs(5))).await;
    let now = DateTime::from_timestamp(1_795_230_000, 0).unwrap();
    let done = done.unwrap();
    let end = reader.end(&done, &Redactor::default(), now);
    let message = "opencode would run it".to_owned();
    assert_eq!(end.ended, Ended::Refused { message });
}

/// A session that was stopped in its first answer printed events alone: they are no words for people.
#[test]
fn events_are_not_what_it_said() {
    let events = "{\"type\":\"session\"}\n{\"type\":\"usage\",\"turn\":1}\n";
    assert_eq!(super::said(events, true), "");
    assert_eq!(
        super::said(&format!("{events}it broke\n"), true),
        "it broke"
    );
    assert_eq!(
        super::said(events, false),
        events,
        "its output is its answer"
    );
    assert_eq!(super::said("plain\n", true), "plain\n");
}

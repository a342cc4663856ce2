use std::ffi::OsString;
use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use super::*;
use crate::session::{Limit, LimitKind};

/// Replays a transcript of the real CLI through the reader. The process that carries it exits as
/// the CLI did.
async fn replay(name: &str, exit: i32) -> (SessionEnd, Vec<Event>) {
    let path = format!("{}/testdata/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    read(&text, exit).await
}

async fn read(text: &str, exit: i32) -> (SessionEnd, Vec<Event>) {
    let mut output = Box::new(Output::new(&super::super::CLI.rules));
    let mut events = Vec::new();
    for line in text.lines() {
        let flow = output.line(line.as_bytes(), &mut |event| events.push(event.clone()));
        assert!(flow.is_continue());
    }
    let command = Command::new("/bin/sh", "/")
        .arg("-c")
        .arg(OsString::from(format!("exit {exit}")));
    let done = capture(&command, &Limits::within(Duration::from_secs(5)))
        .await
        .unwrap();
    let now = DateTime::from_timestamp(1_795_230_000, 0).unwrap();
    (output.end(&done, &Redactor::default(), now), events)
}

fn limit(end: &SessionEnd) -> &Limit {
    match &end.ended {
        Ended::Limited(limit) => limit,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_whole_session_completes_with_its_text_turns_and_cost() {
    let (end, events) = replay("claude-exec", 0).await;
    assert_eq!(end.ended, Ended::Completed);
    assert!(end.text.contains("[OK]"), "{}", end.text);
    assert!(end.turns >= 2 && end.tokens_in > 0 && end.cost_usd.unwrap() > 0.0);
    assert!(matches!(events[0], Event::Started { model: Some(_) }));
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::ToolCall { .. }))
    );
    // It is told while it runs, a turn for each message, whatever blocks that has.
    let used = events.iter().filter_map(|event| match event {
        Event::Used {
            turns, tokens_in, ..
        } => Some((*turns, *tokens_in)),
        _ => None,
    });
    let used: Vec<(u32, u64)> = used.collect();
    assert_eq!(used, [(1, 1_000), (1, 1_000), (2, 2_000), (3, 3_000)]);
    assert_eq!(end.turns, 3);
}

#[tokio::test]
async fn a_call_that_the_hook_rejected_is_known_with_its_rule() {
    let (end, _) = replay("claude-hook", 0).await;
    assert_eq!(end.ended, Ended::Completed);
    let [denied] = end.denied.as_slice() else {
        panic!("{:?}", end.denied)
    };
    assert!(denied.by_hook);
    assert_eq!(denied.tool, "Bash");
    assert_eq!(denied.call, "git push --force origin main");
    assert!(denied.reason.contains("rule push-force"));
}

#[tokio::test]
async fn each_call_is_told_again_once_it_has_its_result() {
    let (_, events) = replay("claude-exec", 0).await;
    let named = |event: &Event| match event {
        Event::ToolCall { name, .. } => Some((name.clone(), false)),
        Event::ToolDone { name, call } => {
            assert!(call.is_some());
            Some((name.clone(), true))
        }
        _ => None,
    };
    let named: Vec<_> = events.iter().filter_map(named).collect();
    let calls = named.iter().filter(|(_, done)| !done);
    assert_eq!(calls.count() * 2, named.len(), "{named:?}");
    assert!(named.len() >= 2);
}

#[tokio::test]
async fn ceilings_are_not_errors() {
    assert_eq!(replay("claude-maxturns", 1).await.0.ended, Ended::MaxTurns);
    assert_eq!(replay("claude-maxbudget", 1).await.0.ended, Ended::MaxCost);
}

#[tokio::test]
async fn a_subscription_limit_carries_its_reset_time() {
    let (end, _) = replay("claude-sub-rejected", 1).await;
    assert_eq!(limit(&end).kind, LimitKind::UsageWindow);
    assert_eq!(
        limit(&end).resets_at,
        DateTime::from_timestamp(1_795_240_000, 0)
    );
    assert!(limit(&end).message.contains("5-hour limit"));
}

#[tokio::test]
async fn other_refusals_are_told_apart() {
    for name in ["claude-429-long", "claude-429-r2"] {
        assert_eq!(
            limit(&replay(name, 1).await.0).kind,
            LimitKind::RateLimit,
            "{name}"
        );
    }
    assert_eq!(
        limit(&replay("claude-401", 1).await.0).kind,
        LimitKind::Auth
    );
    assert_eq!(
        limit(&replay("claude-credit", 1).await.0).kind,
        LimitKind::Billing
    );
    for (name, code) in [("claude-500-r2", 500), ("claude-529-r2", 529)] {
        match replay(name, 1).await.0.ended {
            Ended::Unavailable { status, .. } => assert_eq!(status, Some(code), "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

/// What calls itself a success is one only where nothing else in it says otherwise.
#[tokio::test]
async fn a_success_around_a_refusal_is_none() {
    let result = |more: &str| {
        format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\"{more}}}"
        )
    };
    let (end, _) = read(&result(""), 0).await;
    assert_eq!(end.ended, Ended::Completed);
    let overload = ",\"api_error_status\":529,\"api_error_type\":\"overloaded_error\"";
    for more in [
        overload.to_owned(),
        format!("{overload},\"terminal_reason\":\"api_error\""),
    ] {
        let (end, _) = read(&result(&more), 0).await;
        let is_outage = matches!(end.ended, Ended::Unavailable { outage: true, .. });
        assert!(is_outage, "{:?}", end.ended);
    }
    let (end, _) = read(&result(",\"stop_reason\":\"refusal\""), 0).await;
    assert!(
        matches!(end.ended, Ended::Refused { .. }),
        "{:?}",
        end.ended
    );
}

#[tokio::test]
async fn a_warning_is_not_a_limit() {
    let (end, events) = replay("claude-sub-warning", 0).await;
    assert_eq!(end.ended, Ended::Completed);
    assert!(
        events
            .iter()
            .any(|event| matches!(event, Event::LimitWarning { .. }))
    );
    assert_eq!(
        replay("claude-sub-allowed", 0).await.0.ended,
        Ended::Completed
    );
}

#[tokio::test]
async fn a_stream_without_a_result_is_a_crash() {
    let (end, _) = replay("claude-sig-SIGTERM-group-sleep", 143).await;
    assert!(
        matches!(end.ended, Ended::Crashed { .. }),
        "{:?}",
        end.ended
    );
    let (end, _) = replay("claude-sig-SIGINT-group-sleep", 0).await;
    assert!(
        matches!(end.ended, Ended::ApiError { .. }),
        "{:?}",
        end.ended
    );
}

#[tokio::test]
async fn a_stream_that_was_cut_in_the_middle_goes_on() {
    assert_eq!(
        replay("claude-midstream", 0).await.0.ended,
        Ended::Completed
    );
}

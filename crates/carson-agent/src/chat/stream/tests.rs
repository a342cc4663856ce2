use super::*;

fn reply(stream: &str) -> Reply {
    let mut collector = Collector::default();
    let _ = collector.push(stream.as_bytes()).unwrap();
    match collector.finish().unwrap() {
        Answer::Reply(reply) => reply,
        Answer::NoChoices => panic!("no choices"),
    }
}

#[test]
fn calls_are_put_together_of_their_pieces() {
    let reply = reply(concat!(
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"I \"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"content\":\"read.\"}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"read_file\",\"arguments\":\"{\\\"pa\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"th\\\":\\\"x\\\"}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"list\",\"arguments\":{}}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n",
        "data: [DONE]\n\n",
    ));
    assert_eq!(reply.text, "I read.");
    let calls: Vec<_> = reply
        .calls
        .iter()
        .map(|call| {
            (
                call.id.as_str(),
                call.tool.as_str(),
                call.arguments.as_str(),
            )
        })
        .collect();
    assert_eq!(
        calls,
        [("a", "read_file", r#"{"path":"x"}"#), ("b", "list", "{}")]
    );
    assert_eq!(reply.usage.unwrap().input_tokens, 7);
}

#[test]
fn an_answer_at_the_end_of_its_tokens_is_cut_and_calls_nothing() {
    let reply = reply(concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"I \",\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"list\",\"arguments\":\"{}\"}}]}}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n",
        "data: [DONE]\n\n",
    ));
    assert!(reply.cut && reply.calls.is_empty(), "{reply:?}");
}

#[test]
fn an_answer_that_breaks_off_is_none() {
    let mut collector = Collector::default();
    let piece = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
    let _ = collector.push(piece.as_bytes()).unwrap();
    assert!(matches!(collector.finish(), Err(Cut::Wrong(_))));
    assert!(matches!(Collector::default().finish(), Err(Cut::Wrong(_))));
}

#[test]
fn an_answer_without_choices_is_told_from_one_that_is_empty() {
    let mut collector = Collector::default();
    let _ = collector
        .push(b"data: {\"choices\":[]}\n\ndata: [DONE]\n\n")
        .unwrap();
    assert!(matches!(collector.finish(), Ok(Answer::NoChoices)));
    let empty =
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    assert_eq!(reply(empty), Reply::default());
}

#[test]
fn an_endless_answer_is_cut_and_its_calls_are_not_made() {
    let mut collector = Collector::default();
    let piece = format!(
        "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
        "x".repeat(1000)
    );
    let call = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"run\"}}]}}]}\n\n";
    let _ = collector.push(call.as_bytes()).unwrap();
    let mut pushed = 0;
    while collector.push(piece.as_bytes()).is_ok() {
        pushed += 1;
        assert!(pushed < 1_000);
    }
    let Answer::Reply(reply) = collector.cut() else {
        panic!("no reply")
    };
    assert!(reply.cut && reply.calls.is_empty() && reply.text.len() <= ANSWER_MAX);
}

#[test]
fn endless_silence_between_pings_is_cut() {
    let mut collector = Collector::default();
    let ping = ": ping\n\n".repeat(1000);
    let pushed = (0..10_000).find(|_| collector.push(ping.as_bytes()).is_err());
    assert!(pushed.is_some());
}

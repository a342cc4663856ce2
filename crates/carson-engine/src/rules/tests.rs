//! Real words of providers, and what they are classed as.

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::adapters::{cli, clis};
use crate::cli::Cli;

/// When the transcripts were made.
fn now() -> DateTime<Utc> {
    "2026-11-21T03:08:00Z".parse().unwrap()
}

fn utc(at: NaiveDateTime) -> Option<DateTime<Utc>> {
    Some(at.and_utc())
}

fn facts(set: &str, text: &str, exit: i32, stderr: &str) -> Facts {
    let mut facts = Facts::new(&cli(set).unwrap().rules);
    for line in text.lines() {
        if let Ok(event) = serde_json::from_str(line) {
            facts.event(&event);
        }
    }
    facts.ended(Some(exit), stderr);
    facts
}

fn replay(set: &str, name: &str) -> Verdict {
    let path = format!("{}/testdata/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    classify(&facts(set, &text, 1, ""), now(), &utc)
}

/// One event of `set` that carries `message` where its errors do.
fn error(set: &str, message: &str) -> Value {
    match set {
        "claude" => {
            json!({"type": "result", "is_error": true, "terminal_reason": "api_error", "result": message})
        }
        "codex" => json!({"type": "turn.failed", "error": {"message": message}}),
        "gemini" => {
            json!({"type": "result", "status": "error", "error": {"type": "unknown", "message": message}})
        }
        "opencode" => {
            json!({"type": "error", "error": {"name": "APIError", "data": {"message": message}}})
        }
        _ => Value::Null,
    }
}

fn classify_message(set: &str, message: &str) -> Verdict {
    let facts = match set {
        "openai" => facts(set, "", 1, message),
        _ => facts(set, &error(set, message).to_string(), 1, ""),
    };
    classify(&facts, now(), &utc)
}

fn at(text: &str) -> Option<DateTime<Utc>> {
    Some(text.parse().unwrap())
}

#[test]
fn every_file_reads_and_no_rule_is_named_twice() {
    let mut ids = Vec::new();
    for Cli { name, rules, .. } in clis() {
        let rules = rules
            .read()
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            rules.version > 0 && !rules.dated.is_empty() && rules.horizon_days > 0,
            "{name}"
        );
        assert!(
            !rules.remedy.is_empty() && !rules.billing_remedy.is_empty(),
            "{name}"
        );
        let known: Vec<&str> = rules
            .evidence
            .iter()
            .map(|kind| kind.name.as_str())
            .collect();
        for rule in &rules.rules {
            assert!(
                !rule.status.is_empty()
                    || !rule.text.is_empty()
                    || !rule.exit.is_empty()
                    || !rule.on.is_empty(),
                "{} matches anything",
                rule.id
            );
            assert!(
                rule.on
                    .iter()
                    .all(|kind| kind == "waiting" || known.contains(&kind.as_str())),
                "{}",
                rule.id
            );
            assert!(
                rule.text
                    .iter()
                    .all(|text| *text == text.to_lowercase() && !text.is_empty()),
                "{}",
                rule.id
            );
            assert!(!rule.source.trim().is_empty(), "{} has no source", rule.id);
            let seen: NaiveDate = rule
                .seen
                .parse()
                .unwrap_or_else(|error| panic!("{}: {:?} is no date: {error}", rule.id, rule.seen));
            let dated: NaiveDate = rules.dated.parse().unwrap();
            assert!(seen <= dated, "{} is newer than its file", rule.id);
            ids.push(rule.id.clone());
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn a_rule_without_its_source_is_no_rule() {
    let rule = "version = 1\ndated = \"2026-11-21\"\nremedy = \"x\"\nbilling_remedy = \"x\"\nhorizon_days = 8\n\
                [[rule]]\nid = \"a\"\nstatus = [500]\nclass = \"outage\"\n";
    let full = format!("{rule}source = \"measured\"\nseen = \"2026-11-21\"\n");
    assert!(toml::from_str::<Rules>(&full).is_ok());
    for text in [
        rule,
        &full.replace("source", "sources"),
        &full.replace("seen", "saw"),
    ] {
        assert!(toml::from_str::<Rules>(text).is_err(), "{text}");
    }
}

/// A line that calls itself a success and carries a refusal is none.
#[test]
fn a_success_around_an_overload_is_an_outage() {
    for more in [
        json!({"is_error": true, "terminal_reason": "api_error", "api_error_status": 529}),
        json!({"is_error": false, "terminal_reason": "api_error", "api_error_status": 529}),
        json!({"is_error": false, "terminal_reason": "completed", "api_error_status": 529, "api_error_type": "overloaded_error"}),
    ] {
        let mut event =
            json!({"type": "result", "subtype": "success", "result": "API Error: 529 Overloaded."});
        event
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let verdict = classify(&facts("claude", &event.to_string(), 0, ""), now(), &utc);
        assert_eq!(
            (verdict.class, verdict.status),
            (Class::Outage, Some(529)),
            "{event}"
        );
        assert!(verdict.source.contains("2.1.329"), "{verdict:?}");
    }
}

#[test]
fn a_refusal_is_one_by_its_field_alone() {
    let result = |stop: &str| json!({"type": "result", "is_error": false, "stop_reason": stop, "result": "refusal: I cannot help with that."});
    let class = |stop: &str| {
        classify(
            &facts("claude", &result(stop).to_string(), 0, ""),
            now(),
            &utc,
        )
        .class
    };
    assert_eq!(class("refusal"), Class::Capability);
    assert_eq!(class("end_turn"), Class::Fatal);
}

#[test]
fn the_transcripts_are_told_apart() {
    use Class::{Auth, Billing, Budget, Fatal, Limit, Outage, Turns};
    for (set, name, class) in [
        ("claude", "claude-401", Auth),
        ("claude", "claude-429-long", Limit),
        ("claude", "claude-429-r2", Limit),
        ("claude", "claude-500-r2", Outage),
        ("claude", "claude-529-r2", Outage),
        ("claude", "claude-refused", Outage),
        ("claude", "claude-credit", Billing),
        ("claude", "claude-sub-rejected", Limit),
        ("claude", "claude-sub-allowed", Fatal),
        ("claude", "claude-sub-warning", Fatal),
        ("claude", "claude-maxbudget", Fatal),
        ("claude", "claude-maxturns", Fatal),
        ("claude", "claude-midstream", Fatal),
        ("claude", "claude-fallback", Fatal),
        ("claude", "claude-exec", Fatal),
        ("codex", "codex-401", Auth),
        ("codex", "codex-429", Limit),
        ("codex", "codex-503", Outage),
        ("codex", "codex-budget", Budget),
        ("codex", "codex-quota", Billing),
        ("codex", "codex-usage", Limit),
        ("codex", "codex-hello", Fatal),
        ("gemini", "gm-429b", Limit),
        ("gemini", "gm-429-long", Limit),
        ("gemini", "gm-401", Auth),
        ("gemini", "gm-400-key", Auth),
        ("gemini", "gm-503", Outage),
        ("gemini", "gm-hook", Fatal),
        ("gemini", "gm-turns", Turns),
        ("gemini", "gm-exec", Fatal),
        ("opencode", "oc-401", Auth),
        ("opencode", "oc-429", Limit),
        ("opencode", "oc-exec", Fatal),
        ("opencode", "oc-deny", Fatal),
    ] {
        let verdict = replay(set, name);
        assert_eq!(verdict.class, class, "{name}: {verdict:?}");
    }
}

#[test]
fn windows_and_resets_are_read_out_of_them() {
    let claude = replay("claude", "claude-sub-rejected");
    assert_eq!(claude.window.as_deref(), Some("five_hour"));
    assert_eq!(claude.utilization, Some(1.0));
    assert_eq!(claude.resets_at, DateTime::from_timestamp(1_795_240_000, 0));
    assert_eq!(claude.rule, "claude-window");
    let codex = replay("codex", "codex-usage");
    assert_eq!(codex.resets_at, at("2026-11-21T05:46:00Z"));
    assert!(codex.window.is_some());
    assert_eq!(
        replay("gemini", "gm-429b").resets_at,
        at("2026-11-21T03:08:01Z")
    );
    assert_eq!(
        replay("gemini", "gm-429-long").resets_at,
        at("2026-11-21T05:08:00Z")
    );
    assert_eq!(
        replay("opencode", "oc-429").resets_at,
        at("2026-11-21T03:08:01Z")
    );
    assert_eq!(replay("opencode", "oc-429").status, Some(429));
}

/// What opencode 1.18.33 logs when its provider refuses and it asks again.
#[test]
fn what_a_cli_waits_for_is_evidence_until_it_says_something() {
    let logged = |error: &str| {
        format!(
            "timestamp=2026-11-25T16:30:56.402Z level=ERROR run=9d0673b4 message=\"stream error\" providerID=anthropic \
             modelID=claude-sonnet-4-5 session.id=ses_x small=false agent=build mode=primary error.error=\"{error}\""
        )
    };
    for (error, class) in [
        (
            "AI_APICallError: This request would exceed your rate limit.",
            Class::Limit,
        ),
        ("AI_APICallError: Overloaded", Class::Outage),
    ] {
        let mut facts = Facts::new(&cli("opencode").unwrap().rules);
        facts.event(&json!({"type": "text", "part": {"text": "I begin."}}));
        assert!(!facts.aside("level=ERROR message=\"something else\" overloaded"));
        assert!(!facts.waits());
        assert!(facts.aside(&logged(error)) && facts.waits());
        facts.ended(None, "");
        assert_eq!(classify(&facts, now(), &utc).class, class, "{error}");
        // It went on: what it said on the way is no reason any more.
        facts.event(&json!({"type": "step_start"}));
        assert!(!facts.waits());
        assert_eq!(classify(&facts, now(), &utc).class, Class::Fatal);
    }
}

/// F33: one limit in twelve shapes.
#[test]
fn twelve_shapes_of_a_limit_are_one() {
    let shapes = [
        (
            "claude",
            "You've hit your 5-hour limit · resets 5:46am (UTC)",
            at("2026-11-21T05:46:00Z"),
        ),
        (
            "claude",
            "You\u{2019}ve hit your weekly limit · resets Nov 25 at 5pm (America/New_York)",
            at("2026-11-25T22:00:00Z"),
        ),
        (
            "claude",
            "You've reached your usage limit. Resets at 2:00 AM (Europe/Berlin)",
            at("2026-11-22T01:00:00Z"),
        ),
        (
            "codex",
            "You\u{2019}ve hit your usage limit. Upgrade to Pro or try again at Nov 26th, 2026 7:46 PM.",
            at("2026-11-26T19:46:00Z"),
        ),
        (
            "codex",
            "You\u{2019}ve hit your usage limit. Try again in 3 days 4 hours 5 minutes.",
            at("2026-11-24T07:13:00Z"),
        ),
        (
            "codex",
            "exceeded retry limit, last status: 429 Too Many Requests",
            None,
        ),
        (
            "gemini",
            "[API Error: Resource has been exhausted (e.g. check quota).\nSuggested retry after 1s.]",
            at("2026-11-21T03:08:01Z"),
        ),
        (
            "gemini",
            "Quota exceeded for quota metric 'Generate requests' and limit 'Requests PerDay'",
            None,
        ),
        ("opencode", "The usage limit has been reached", None),
        (
            "openai",
            "openai.RateLimitError: Error code: 429 - {'error': {'message': 'Rate limit reached. Please try again in 1m12.5s.', 'code': 'rate_limit_exceeded'}}",
            at("2026-11-21T03:09:13Z"),
        ),
        (
            "openai",
            "HTTP 429: try again at 2026-11-21T04:00:00Z",
            at("2026-11-21T04:00:00Z"),
        ),
        (
            "openai",
            "429 Too Many Requests; retry after 20 s",
            at("2026-11-21T03:08:20Z"),
        ),
    ];
    for (set, text, reset) in shapes {
        let verdict = classify_message(set, text);
        assert_eq!(
            (verdict.class, verdict.resets_at),
            (Class::Limit, reset),
            "{set}: {text}"
        );
    }
    let exit = classify(&facts("openai", "", 75, "later"), now(), &utc);
    assert_eq!(exit.class, Class::Limit);
}

#[test]
fn other_refusals_have_their_own_class() {
    use Class::{Auth, Billing, Outage, Transient};
    for (set, text, class) in [
        (
            "openai",
            "Error code: 429 - {'error': {'code': 'insufficient_quota'}}",
            Billing,
        ),
        (
            "openai",
            "Error code: 401 - {'error': {'code': 'invalid_api_key'}}",
            Auth,
        ),
        (
            "openai",
            "openai.APIConnectionError: Connection error.",
            Outage,
        ),
        ("codex", "unexpected status 503 Service Unavailable", Outage),
        (
            "codex",
            "stream disconnected before completion: error sending request",
            Outage,
        ),
        (
            "gemini",
            "[API Error: API key not valid. Please pass a valid API key.]",
            Auth,
        ),
        (
            "gemini",
            "[API Error: The model is overloaded. Please try again later.]",
            Outage,
        ),
        (
            "opencode",
            "Unable to connect. Is the computer able to access the url?",
            Outage,
        ),
        (
            "claude",
            "API Error: Connection refused \u{2014} a firewall or proxy may be blocking it (ECONNREFUSED)",
            Outage,
        ),
        (
            "codex",
            "unexpected status 500 Internal Server Error",
            Outage,
        ),
        ("codex", "stream disconnected before completion", Transient),
        ("claude", "Invalid API key · Please run /login", Auth),
    ] {
        assert_eq!(classify_message(set, text).class, class, "{set}: {text}");
    }
}

/// F28: a reset that nobody would live to see.
#[test]
fn a_reset_too_far_is_held_to_the_horizon_and_said() {
    let event = json!({"type": "rate_limit_event", "rate_limit_info":
        {"status": "rejected", "resetsAt": 253_402_300_799_i64, "rateLimitType": "five_hour"}});
    let verdict = classify(&facts("claude", &event.to_string(), 1, ""), now(), &utc);
    assert_eq!(verdict.resets_at, Some(now() + TimeDelta::days(8)));
    assert_eq!(verdict.capped_from, at("9999-12-31T23:59:59Z"));
    // One that has passed is no reset at all.
    let passed = classify_message(
        "codex",
        "You've hit your usage limit. Try again at Nov 20th, 2026 1:00 AM.",
    );
    assert_eq!((passed.class, passed.resets_at), (Class::Limit, None));
}

#[test]
fn a_time_of_day_is_that_of_the_machine_and_the_next_one() {
    let zone = Tz::Australia__Lord_Howe;
    let local = |at: NaiveDateTime| {
        at.and_local_timezone(zone)
            .latest()
            .map(|at| at.with_timezone(&Utc))
    };
    let text = facts(
        "codex",
        &error(
            "codex",
            "You've hit your usage limit. Try again at 1:46 PM.",
        )
        .to_string(),
        1,
        "",
    );
    // 03:08 UTC is 14:08 there: 13:46 has passed.
    let verdict = classify(&text, now(), &local);
    assert_eq!(verdict.resets_at, at("2026-11-22T02:46:00Z"));
    let end_of_year: DateTime<Utc> = "2026-12-31T23:00:00Z".parse().unwrap();
    let text = facts(
        "claude",
        &error(
            "claude",
            "You've hit your weekly limit · resets Jan 3 at 5am (UTC)",
        )
        .to_string(),
        1,
        "",
    );
    assert_eq!(
        classify(&text, end_of_year, &utc).resets_at,
        at("2027-01-03T05:00:00Z")
    );
}

#[test]
fn what_was_got_over_is_no_evidence() {
    let retry = json!({"type": "system", "subtype": "api_retry", "error_status": 429, "error": "rate_limit"});
    let spoke =
        json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "hi"}]}});
    let text = format!("{retry}\n{spoke}");
    assert_eq!(
        classify(&facts("claude", &text, 143, ""), now(), &utc).class,
        Class::Fatal
    );
    assert_eq!(
        classify(&facts("claude", &retry.to_string(), 143, ""), now(), &utc).class,
        Class::Limit
    );
}

#[test]
fn standard_error_counts_only_while_the_session_said_nothing() {
    let stderr = "ERROR: You've hit your usage limit. Try again at 5:46 AM.";
    let silent = json!({"type": "thread.started"}).to_string();
    let spoke = json!({"type": "item.completed", "item": {"type": "agent_message", "text": "x"}})
        .to_string();
    let class = |text: &str| classify(&facts("codex", text, 1, stderr), now(), &utc).class;
    assert_eq!(class(&silent), Class::Limit);
    assert_eq!(class(&spoke), Class::Fatal);
    let quoted = format!("{stderr}\nthread panicked");
    assert_eq!(
        classify(&facts("codex", &silent, 1, &quoted), now(), &utc).class,
        Class::Fatal
    );
}

/// Every text that a rule waits for, in the mouth of a model.
fn loaded() -> impl Strategy<Value = String> {
    let mut texts: Vec<String> = Vec::new();
    for cli in clis() {
        let rules = cli.rules.read().unwrap();
        texts.extend(
            rules
                .rules
                .iter()
                .flat_map(|rule| rule.text.iter().map(|text| text.replace('*', " "))),
        );
    }
    (proptest::sample::select(texts), ".{0,20}")
        .prop_map(|(text, more)| format!("{text} {more} resets 5:46am (UTC)"))
}

/// Prose, tool calls and their results as each CLI writes them.
fn prose(set: &str, text: &str) -> Vec<Value> {
    match set {
        "claude" => vec![
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}),
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": text, "is_error": true}]}}),
            json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_tools", "result": text, "errors": [text]}),
        ],
        "codex" => vec![
            json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}}),
            json!({"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": text, "exit_code": 1}}),
            json!({"type": "turn.failed", "error": {"message": "budget reached"}}),
        ],
        "gemini" => vec![
            json!({"type": "message", "role": "assistant", "content": text}),
            json!({"type": "tool_result", "status": "error", "output": text, "error": {"type": "x", "message": text}}),
            json!({"type": "result", "status": "error", "error": {"type": "FatalTurnLimitedError", "message": "turns"}}),
        ],
        "opencode" => vec![
            json!({"type": "text", "part": {"text": text}}),
            json!({"type": "tool_use", "part": {"state": {"status": "error", "error": text}}}),
        ],
        _ => vec![
            json!({"error": {"message": text, "code": "rate_limit_exceeded"}}),
            json!({"type": "error", "message": text}),
        ],
    }
}

proptest! {
    /// P4: what a model says decides nothing.
    #[test]
    fn a_model_that_quotes_a_limit_hits_none(text in loaded()) {
        for set in clis().map(|cli| cli.name) {
            let lines: Vec<String> = prose(set, &text).iter().map(Value::to_string).collect();
            // Programs of `openai` have no events: their standard output is not looked at.
            let stderr = if set == "openai" { "done" } else { text.as_str() };
            let verdict = classify(&facts(set, &lines.join("\n"), 1, stderr), now(), &utc);
            let is_none = matches!(verdict.class, Class::Fatal | Class::Turns | Class::Budget);
            prop_assert!(is_none, "{} {:?}", set, verdict);
        }
    }

    #[test]
    fn nothing_that_a_cli_says_makes_it_panic_or_name_a_time_out_of_bounds(
        text in "(try again (at|in)|resets|retry after|you've hit your usage limit)? ?[ -~\u{0}-\u{ff}]{0,40}( ?(am|pm|s|days))?",
        number in any::<i64>(), status in any::<u16>(), exit in any::<i32>(),
    ) {
        for set in clis().map(|cli| cli.name) {
            for retry_after in [json!(number), json!(text), json!(number as f64 * 1e200)] {
                let event = json!({"type": "error", "error": {"data": {"message": text, "statusCode": status,
                    "responseHeaders": {"retry-after": retry_after}}}});
                let window = json!({"type": "rate_limit_event", "rate_limit_info":
                    {"status": "rejected", "resetsAt": number, "rateLimitType": text}});
                let lines = [error(set, &text), event, window].map(|event| event.to_string()).join("\n");
                let verdict = classify(&facts(set, &lines, exit, &text), now(), &utc);
                let horizon = now() + TimeDelta::days(i64::from(cli(set).unwrap().rules.rules().horizon_days));
                prop_assert!(verdict.resets_at.is_none_or(|at| at > now() && at <= horizon));
                prop_assert!(verdict.message.chars().count() <= 300);
            }
        }
    }
}

//! A firing over two vendors, with the real Claude Code and the real Codex: the account that it begins with meets
//! its limit, the next one does the work, and an account of the other vendor judges it.

use std::fs;

use carson_core::Clock;
use carson_tests::fleet::TestFleet;
use carson_tests::model::{
    Reply, Request, ScriptedModel, bash, codex_binary, codex_env, say, subscription_limit, when,
};
use serde_json::{Value, json};

use crate::claude_firing::{COMMIT, account, executing, judging, planning, reviewing};

const ROLE: &str = "implementer";
/// Signs the first account in, so that only its sessions meet the limit.
const SUBSCRIBER: &str = "sk-ant-oat01-first";

fn is_the_subscribers(request: &Request) -> bool {
    let sent = request.header("authorization");
    sent.is_some_and(|sent| sent.contains(SUBSCRIBER))
}

/// A subscription of Claude, an account of Codex, and another one of Claude, in this order.
fn fleet(model: &ScriptedModel) -> TestFleet {
    let fleet = TestFleet::new().with_env("TZ", "UTC");
    let first = account(model, &fleet, "CLAUDE_CODE_OAUTH_TOKEN", SUBSCRIBER);
    fleet.account("claude", &first);
    let env = codex_env(model, &fleet.root().join("codex")).unwrap();
    let env: Vec<String> = env.iter().map(|(n, v)| format!("{n} = {v:?}")).collect();
    let codex = format!(
        "engine = \"codex\"\nmodel = \"gpt-5.5\"\nbinary = {:?}\nenv = {{ {} }}",
        codex_binary().unwrap(),
        env.join(", ")
    );
    fleet.account("codex", &codex);
    let second = account(model, &fleet, "ANTHROPIC_API_KEY", "sk-second");
    fleet.account("second", &second);
    fleet.role(ROLE, "claude", "[limits]\nwall_clock = \"100s\"\n");
    let path = fleet.home().join(format!("roles/{ROLE}/role.toml"));
    let text = fs::read_to_string(&path).unwrap();
    let all = "engines = [\"claude\", \"codex\", \"second\"]";
    fs::write(&path, text.replace("engines = [\"claude\"]", all)).unwrap();
    fleet.issue(ROLE, "Greet the owner", "In hello.txt.");
    fleet
}

#[test]
fn a_firing_begins_on_claude_meets_the_limit_and_ends_on_codex_judged_by_the_other_vendor() {
    let model = ScriptedModel::start().unwrap();
    let fleet = fleet(&model);
    let reset = Clock::system().now().timestamp() + 2 * 60 * 60;
    let begins = [bash("git log --oneline"), subscription_limit(reset)];
    let works = [bash(COMMIT), say("[OK] it greets")];
    model
        .on(when().matching(is_the_subscribers), Reply::turns(begins))
        .on(planning(), say("1. Write hello.txt.\n[OK] planned"))
        .on(reviewing(), say("[APPROVE]"))
        .on(executing(), Reply::turns(works))
        .on(judging(), say("[APPROVE]"));

    let ran = fleet.fire(ROLE);

    assert!(
        model.unmatched().is_empty(),
        "{:#?}\n{ran:#?}",
        model.unmatched()
    );
    let row = fleet.firing(ran.json()["id"].as_str().unwrap());
    assert_eq!(
        (&row["outcome"], ran.code),
        (&json!("OK"), Some(0)),
        "{row:#}"
    );
    let who = ["account", "engine", "reviewed_by"].map(|key| row[key].as_str().unwrap());
    assert_eq!(who, ["codex", "codex", "second"], "{row:#}");
    let events = row["events"].as_array().unwrap().iter();
    let moved: Vec<&Value> = events
        .filter(|event| event["kind"] == "account.failover")
        .collect();
    assert_eq!(moved.len(), 1, "{row:#}");
    let moved = &moved[0]["data"];
    assert_eq!(
        (&moved["from"], &moved["to"]),
        (&json!("claude"), &json!("codex"))
    );
    assert_eq!(fleet.pulls()[0]["draft"], false);

    // Who was asked what: the first account only began, and no model judged what its own vendor made.
    let requests = model.requests();
    let (first, others): (Vec<_>, Vec<_>) =
        requests.iter().partition(|one| is_the_subscribers(one));
    assert_eq!(first.len(), 2);
    for request in others {
        let judges = request.prompt().starts_with("You review ");
        let is_claude = request.model().starts_with("claude");
        assert_eq!(
            is_claude,
            judges,
            "{} was asked: {:.80}",
            request.model(),
            request.prompt()
        );
    }
    let blocks = fleet.ok(&["block", "list", "--json"]);
    assert_eq!(
        (&blocks[0]["account"], &blocks[0]["kind"]),
        (&json!("claude"), &json!("limit")),
        "{blocks:#}"
    );

    // Each account has its own sessions to its name.
    let used = fleet.ok(&["usage", "--json"]);
    let used: Vec<(&str, u64)> = used["used"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            (
                row["account"].as_str().unwrap(),
                row["sessions"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(used, [("claude", 1), ("codex", 2), ("second", 2)]);
    let status = fleet.ok(&["engine", "status", "--json"]);
    assert_eq!(status[0]["blocks"][0]["kind"], "limit", "{status:#}");
    assert_eq!(status[1]["today"]["sessions"], 2, "{status:#}");
}

//! The real Claude Code CLI as a reviewer: the scripted model plays it.

use carson_tests::model::{Reply, Request, ScriptedModel, bash, say, when, write};

use super::{COMMIT, ends, pull, reason};
use crate::claude_firing::account;
use crate::faults;

/// What the session writes: where, it was told in its prompt and by its environment.
const REVIEW: &str = "printf '{\"version\":1,\"effects\":[{\"kind\":\"review\",\"pull\":2,\"head\":\"%s\",\"verdict\":\"approve\",\"body\":\"## P0\\\\n\\\\nNone.\"}]}' \"$(git rev-parse HEAD)\" >\"$CARSON_OUTBOX\"";

/// A tool that stands in `[tools]` with a pattern alone is not given whole, whatever the session tries.
#[test]
fn the_real_cli_runs_only_what_the_patterns_of_its_role_allow() {
    let fleet = faults::fleet(COMMIT, "");
    let model = ScriptedModel::start().unwrap();
    let claude = account(&model, &fleet, "ANTHROPIC_API_KEY", "sk-test");
    fleet.account("claude", &claude);
    let tools = "[tools]\nwrite = [\"Read\", \"Write\", \"Bash(git log *)\"]\n";
    fleet.role_of_kind("triager", &["claude"], tools);
    let here = fleet.shared().join("ran");
    let tries = format!("touch {here:?}");
    let file = r#"{"version":1,"effects":[{"kind":"label","issue":1,"add":["p1"]}]}"#;
    let plays = move |asked: &Request| match asked.turn() {
        0 => bash(&tries),
        1 => bash("git log -1 --format=%s"),
        2 => {
            let told = asked.prompt();
            let end = told.find("/tmp/outbox.json").unwrap() + "/tmp/outbox.json".len();
            let begin = told[..end].rfind('`').unwrap() + 1;
            write(&told[begin..end], file)
        }
        _ => say("[OK] judged"),
    };
    model.on(when().prompt("You judge one new issue"), Reply::with(plays));
    let row = super::fire(&fleet, "triager");
    assert_eq!(reason(&row), "1 change of labels", "{row:#}");
    assert!(!here.exists());
    assert_eq!(row["turns"], 4, "{row:#}");
    let results = model.requests().last().unwrap().tool_results();
    assert!(format!("{results:?}").contains("permission"), "{results:?}");
}

#[test]
fn the_real_cli_reviews_a_pull_request_by_its_outbox() {
    let fleet = faults::fleet(COMMIT, "");
    let model = ScriptedModel::start().unwrap();
    let claude = account(&model, &fleet, "ANTHROPIC_API_KEY", "sk-test");
    fleet.account("claude", &claude);
    fleet.role_of_kind("reviewer", &["claude"], "");
    let number = pull(&fleet, 10);
    model.on(
        when().prompt("You review a pull request"),
        Reply::turns([bash(REVIEW), say("[OK] reviewed")]),
    );
    let row = ends(&fleet, "reviewer", "OK");
    assert_eq!(reason(&row), "1 review: ship-ready");
    assert!(model.unmatched().is_empty());
    let prompt = model.requests()[0].prompt().to_owned();
    assert!(prompt.contains("/tmp/outbox.json`"), "{prompt}");
    let shown = fleet.ok(&["pr", "reviews", &number.to_string(), "--json"]);
    assert!(
        shown["reviews"][0]["body"]
            .as_str()
            .unwrap()
            .contains("Ship-ready: yes"),
        "{shown:#}"
    );
}

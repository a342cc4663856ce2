//! The real Claude Code CLI as a reviewer: the scripted model plays it.

use carson_tests::model::{Reply, ScriptedModel, bash, say, when};

use super::{COMMIT, ends, pull, reason};
use crate::claude_firing::account;
use crate::faults;

/// What the session writes: where, it was told in its prompt and by its environment.
const REVIEW: &str = "printf '{\"version\":1,\"effects\":[{\"kind\":\"review\",\"pull\":2,\"head\":\"%s\",\"verdict\":\"approve\",\"body\":\"## P0\\\\n\\\\nNone.\"}]}' \"$(git rev-parse HEAD)\" >\"$CARSON_OUTBOX\"";

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

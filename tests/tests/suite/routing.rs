//! Which account each stage of a firing has: by routes, by another vendor for who judges, by shares.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

/// What every session does, beside saying whose it is.
const SESSION: &str = "case $CARSON_STAGE in\nplan) echo '1. Do it.'; echo '[OK] planned';;\n\
    execute) date +%N >work.txt; git add .; git commit --quiet -m Work; echo '[OK] done';;\n\
    *) echo '[APPROVE]';;\nesac";
const STAGES: &str = "stages = [\"plan\", \"review\", \"execute\", \"diff-review\"]\n";

/// An implementer with these accounts, of which `writer` and `judge` are of two vendors.
fn fleet(accounts: &[&str], more: &str) -> TestFleet {
    let mut fleet = TestFleet::new();
    for (name, speaks) in [
        ("writer", ""),
        ("second", ""),
        ("judge", "speaks = \"openai\""),
    ] {
        let who = fleet.shared().join("who");
        let script = format!("cat >/dev/null; echo \"$CARSON_STAGE {name}\" >>{who:?}\n{SESSION}");
        fleet = fleet.with_program(name, &script);
        let account = format!("engine = \"command\"\nbinary = {name:?}\n{speaks}");
        fleet.account(name, &account);
    }
    let paths = format!("paths = {{ write = [{:?}] }}\n", fleet.shared());
    let more = format!("work = {{ label = \"for:implementer\" }}\n{paths}{STAGES}{more}");
    fleet.role_of_kind("implementer", accounts, &more);
    fleet
}

/// Fires it over new work: its row, and which account had which stage.
fn fires(fleet: &TestFleet) -> (Value, Vec<String>) {
    let who = fleet.shared().join("who");
    let _ = fs::remove_file(&who);
    fleet.issue("implementer", "Work", "To do.");
    let row = fleet.fire("implementer").json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let said = fs::read_to_string(&who).unwrap();
    (row, said.lines().map(str::to_owned).collect())
}

fn all_of(account: &str) -> [String; 4] {
    ["plan", "review", "execute", "diff-review"].map(|stage| format!("{stage} {account}"))
}

#[test]
fn who_judges_is_of_another_vendor_than_who_wrote() {
    let fleet = fleet(&["writer", "second", "judge"], "");
    let (row, who) = fires(&fleet);
    assert_eq!(
        who,
        [
            "plan writer",
            "review judge",
            "execute writer",
            "diff-review judge"
        ]
    );
    assert_eq!(
        (&row["account"], &row["reviewed_by"]),
        (&"writer".into(), &"judge".into()),
        "{row:#}"
    );
    // Without one that can be used it judges itself, and that is said.
    assert_eq!(fleet.carson(&["block", "set", "judge"]).code, Some(0));
    let (row, who) = fires(&fleet);
    assert_eq!(who, all_of("writer"));
    let id = row["id"].as_str().unwrap();
    let shown = fleet.carson(&["firings", id]);
    assert!(shown.stdout.contains("same-vendor"), "{shown:#?}");
    // Of one that is blocked the next one has the work, too.
    assert_eq!(fleet.carson(&["block", "set", "writer"]).code, Some(0));
    assert_eq!(fires(&fleet).1, all_of("second"));
}

#[test]
fn a_role_may_leave_its_vendor_alone_and_a_stage_have_its_own_accounts() {
    let plain = fleet(&["writer", "judge"], "other_vendor = false\n");
    assert_eq!(fires(&plain).1, all_of("writer"));
    let routed = fleet(&["writer"], "[routes.review]\nengines = [\"judge\"]\n");
    let (row, who) = fires(&routed);
    assert_eq!(
        who,
        [
            "plan writer",
            "review judge",
            "execute writer",
            "diff-review writer"
        ]
    );
    assert_eq!(row["account"], "writer", "{row:#}");
    let shown = routed.carson(&["roles", "show", "implementer"]);
    assert!(shown.stdout.contains("review: judge"), "{shown:#?}");
}

#[test]
fn a_share_of_the_firings_is_anothers() {
    let all = fleet(&["writer"], "[share]\nsecond = \"100%\"\n");
    let (row, who) = fires(&all);
    assert_eq!(who, all_of("second"));
    assert_eq!(row["account"], "second", "{row:#}");
    let none = fleet(&["writer"], "[share]\nsecond = \"0%\"\n");
    assert_eq!(fires(&none).1, all_of("writer"));
}

#[test]
fn what_cannot_be_routed_is_refused_with_what_to_do() {
    for (more, says) in [
        ("[routes.revew]\n", "did you mean \"review\"?"),
        ("[routes.report]\n", "is no stage with sessions of its own"),
        (
            "[routes.review]\nengines = [\"nobody\"]\n",
            "carson.toml has no \"nobody\"",
        ),
        (
            "[routes.review]\neffort = \"high\"\n",
            "cannot be told how hard to think",
        ),
        (
            "[routes.review]\nmodel = \"x\"\n",
            "cannot be told of a model",
        ),
        ("[share]\nsecond = \"101%\"\n", "share"),
        (
            "[share]\nwriter = \"10%\"\n",
            "it is the role's first account",
        ),
        (
            "[share]\nsecond = \"60%\"\njudge = \"60%\"\n",
            "more than all of its firings",
        ),
    ] {
        let fleet = fleet(&["writer"], more);
        let checked = fleet.carson(&["config", "check"]);
        assert_eq!(checked.code, Some(2), "{more}: {checked:#?}");
        let said = format!("{}{}", checked.stdout, checked.stderr);
        assert!(said.contains(says), "{more}: {said}");
    }
}

//! Stories of a plan in the repository as the work of a role.

use std::fs;
use std::process::Stdio;

use carson_tests::fleet::TestFleet;
use serde_json::{Value, json};

use super::{COMMIT, ends, fire, member, prompt, reason};
use crate::{faults, kill};

/// Written by a person: of no format that a program has.
const PLAN: &str = r#"{"version":1, "project":"widget",
  "stories": [
    {"id": "S-10", "priority": 1, "title": "Leave a report",
       "prompt": "Report.", "scope": ["docs/"], "acceptance": ["Created docs/report.md"] },
    { "id": "S-2","priority": 1, "title": "Say a", "prompt": "Write a.", "scope": ["a.txt"] },
    {"id":"S-3", "priority": 2, "title": "Say b", "status"  :  "open",
       "prompt": "Write b.", "scope": ["b.txt"], "acceptance": ["Created b.txt"], "promise": "grep -qx b b.txt"},
    {"id":"S-4", "priority": 3, "title": "Look", "mode": "audit", "prompt": "Look.", "acceptance": ["Created audit/S-4.md"]}
  ]
}
"#;
/// The first does more than it may, the second leaves no report, the others are done.
const SESSION: &str = "case \"$(grep -o 'Story S-[0-9]*' \"$CARSON_TMP/prompt\" | head -1)\" in\n\
    'Story S-2') mkdir src; echo x >src/keep; echo a >a.txt;;\n\
    'Story S-10') mkdir -p docs; date +%N >docs/other.md;;\n\
    'Story S-3') echo b >b.txt;;\n\
    'Story S-4') mkdir audit; echo seen >audit/S-4.md;;\n\
    *) exit 9;;\nesac\n\
    git add .; git commit --quiet -m Work; echo '[OK] done'";
const WORK: &str =
    "work = { from = \"stories\", file = \"plan/prd.json\" }\nstages = [\"execute\"]\n";
const LIMITS: &str =
    "[limits]\nmax_attempts = 2\nmax_work_attempts = 1\nmax_open_prs = 1\nfail_streak = 20\n";

/// A fleet whose repository has this plan, and whose role `stories` has these sessions.
fn scene(plan: &str, session: &str, more: &str) -> TestFleet {
    let fleet = faults::fleet(COMMIT, "");
    publish(&fleet, plan);
    member(&fleet, "stories", session, &format!("{WORK}{more}"));
    fleet
}

fn publish(fleet: &TestFleet, plan: &str) {
    fleet.catch_up();
    fleet.commit_to_main(&[("plan/prd.json", plan)]);
}

/// A plan with one story, of these further parts.
fn one(parts: &str) -> String {
    format!(
        r#"{{"version": 1, "project": "p", "stories": [{{"id": "S-1", "priority": 1, "title": "t", "prompt": "p", {parts}}}]}}"#
    )
}

fn plan_at(fleet: &TestFleet, at: &str) -> String {
    fleet.git(&["show", &format!("{at}:plan/prd.json")])
}

fn merge(fleet: &TestFleet, row: &Value) {
    let number = row["pr_number"].to_string();
    let _ = fleet.ok(&["pr", "merge", &number, "--yes", "--json"]);
}

fn is_draft(fleet: &TestFleet, row: &Value) -> bool {
    let pulls = fleet.pulls();
    let pull = pulls.iter().find(|pull| pull["number"] == row["pr_number"]);
    pull.unwrap()["draft"] == true
}

#[test]
fn each_story_is_one_firing_within_its_scope_and_what_is_done_stands_in_the_plan() {
    let fleet = scene(PLAN, SESSION, LIMITS);
    // More than it may: no other session is paid, and nothing of it is ready.
    let row = ends(&fleet, "stories", "FAILED");
    assert_eq!(
        reason(&row),
        "OUT_OF_SCOPE: src/keep (added) is outside of its scope"
    );
    assert_eq!(
        (&row["work"], &row["sessions"]),
        (&json!("story-S-2"), &json!(1)),
        "{row:#}"
    );
    assert!(is_draft(&fleet, &row));
    assert_eq!(plan_at(&fleet, row["branch"].as_str().unwrap()), PLAN);
    // No report, said once.
    let row = ends(&fleet, "stories", "FAILED");
    assert!(
        reason(&row).starts_with("MISSING: ") && reason(&row).ends_with(": docs/report.md"),
        "{row:#}"
    );
    assert_eq!(
        (&row["work"], &row["sessions"]),
        (&json!("story-S-10"), &json!(2)),
        "{row:#}"
    );
    let told = prompt(&fleet, "stories");
    assert!(
        told.contains("do not make all files that the story asks for:\ndocs/report.md\n"),
        "{told}"
    );
    assert!(is_draft(&fleet, &row));
    // Done: the pull request says so in the plan, in one word.
    let row = ends(&fleet, "stories", "OK");
    assert!(reason(&row).contains("the check passes"), "{row:#}");
    let hash = row["facts"]["story"]["prompt_hash"].as_str().unwrap();
    assert!(hash.len() == 64 && !is_draft(&fleet, &row), "{row:#}");
    let branch = row["branch"].as_str().unwrap();
    let passing = PLAN.replace("\"status\"  :  \"open\"", "\"status\"  :  \"passing\"");
    assert_eq!(plan_at(&fleet, branch), passing);
    assert_eq!(row["pushed_sha"], fleet.tip(branch), "{row:#}");
    assert_eq!(
        row["verified_sha"],
        fleet.tip(&format!("{branch}~1")),
        "{row:#}"
    );
    let log = fleet.git(&["log", "--format=%s", &format!("main..{branch}")]);
    assert_eq!(log, "Story S-3 is passing\nWork\n");
    // People have it to read, and then the next one comes.
    let skipped = ends(&fleet, "stories", "SKIPPED");
    assert!(reason(&skipped).contains("review queue 1/1"), "{skipped:#}");
    merge(&fleet, &row);
    assert_eq!(plan_at(&fleet, "main"), passing);
    let row = ends(&fleet, "stories", "OK");
    assert_eq!(row["work"], "story-S-4", "{row:#}");
    merge(&fleet, &row);
    let status = r#""acceptance": ["Created audit/S-4.md"], "status": "passing"}"#;
    assert!(
        plan_at(&fleet, "main").contains(status),
        "{}",
        plan_at(&fleet, "main")
    );
    // The others are given up, until somebody writes them anew.
    let row = ends(&fleet, "stories", "SILENT");
    assert_eq!(row["sessions"], 0, "{row:#}");
    let says = "story S-2 is not taken: 1 firing took it and none finished it: change the story in plan/prd.json";
    assert!(reason(&row).contains(says), "{row:#}");
    let ran = fleet.carson(&["why", "stories"]).stdout;
    assert!(
        ran.contains("story S-2 of widget: 1 firing took it")
            && ran.contains("fire stories --story S-10"),
        "{ran}"
    );
    let ahead = fleet.carson(&["fire", "stories", "--dry-run"]).stdout;
    assert!(
        ahead.contains("nothing to do: story S-2 is not taken"),
        "{ahead}"
    );
    publish(
        &fleet,
        &plan_at(&fleet, "main").replace("[\"a.txt\"]", "[\"a.txt\", \"src/\"]"),
    );
    let row = ends(&fleet, "stories", "OK");
    assert_eq!(row["work"], "story-S-2", "{row:#}");
    // Its new pull request took the place of the draft.
    let open = fleet
        .pulls()
        .into_iter()
        .filter(|pull| pull["state"] == "open");
    let open: Vec<_> = open.map(|pull| pull["draft"].clone()).collect();
    assert_eq!(open, [json!(true), json!(false)]);
}

#[test]
fn a_look_ahead_says_which_story_and_what_is_asked() {
    let fleet = scene(PLAN, "exit 9", "");
    let ahead = fleet.ok(&["fire", "stories", "--dry-run", "--json"]);
    assert_eq!(ahead["work"]["story"], "S-2", "{ahead:#}");
    let told = ahead["prompt"]["text"].as_str().unwrap();
    let fenced = told.split_once("(story S-2)\n").unwrap().1;
    assert!(
        fenced.contains("# Story S-2: Say a\n\nWrite a.\n"),
        "{told}"
    );
    let ran = fleet
        .carson(&["fire", "stories", "--dry-run", "--story", "S-4"])
        .stdout;
    assert!(ran.contains("work: widget story S-4 Look"), "{ran}");
    let ran = fleet
        .carson(&["fire", "stories", "--dry-run", "--story", "S-5"])
        .stdout;
    assert!(ran.contains("plan/prd.json has no such story"), "{ran}");
    for (role, args) in [
        ("stories", ["--work", "1"]),
        ("hand", ["--story", "S-2"]),
        ("stories", ["--story", "../x"]),
    ] {
        let ran = fleet.carson(&["fire", role, args[0], args[1]]);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
    }
    assert!(fleet.benches().is_empty());
}

#[test]
fn a_plan_that_is_not_right_costs_a_slot_and_no_session_and_stops_no_role() {
    let fleet = scene("[]", "exit 9", "");
    let long = format!("{}{}", one(r#""scope": ["a"]"#), " ".repeat(1 << 20));
    let policy = one(r#""scope": ["a"]"#).replace(r#""project""#, r#""policy": "../x", "project""#);
    for (plan, says) in [
        ("{", "is no JSON"),
        (
            one(r#""scope": ["../x"]"#).as_str(),
            "/stories/0/scope/0: leads out of the repository",
        ),
        (
            one(r#""scopes": ["x"]"#).as_str(),
            "/stories/0/scopes: is not known here",
        ),
        (long.as_str(), "no more than 1048576 are read"),
        (policy.as_str(), "/policy: ../x: "),
    ] {
        publish(&fleet, plan);
        let row = fire(&fleet, "stories");
        assert_eq!(
            (&row["outcome"], &row["sessions"]),
            (&json!("SKIPPED"), &json!(0)),
            "{row:#}"
        );
        assert!(
            reason(&row).contains("role.stories.stories") && reason(&row).contains(says),
            "{says}: {row:#}"
        );
        let ran = fleet.carson(&["why", "stories"]).stdout;
        assert!(ran.contains(says), "{says}: {ran}");
        let ahead = fleet.carson(&["fire", "stories", "--dry-run"]).stdout;
        assert!(
            ahead.contains("would be skipped: preflight: role.stories.stories")
                && ahead.contains(says),
            "{ahead}"
        );
    }
    let why = fleet.ok(&["why", "stories", "--json"]);
    assert_eq!(why["streak"], 0, "{why:#}");
    let role = fleet.home().join("roles/stories/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(&role, text.replace("plan/prd.json", "plan/none.json")).unwrap();
    let row = ends(&fleet, "stories", "SKIPPED");
    assert!(reason(&row).contains("there is no such file"), "{row:#}");
}

#[test]
fn facts_decide_whatever_the_session_says() {
    let audit = one(r#""mode": "audit", "acceptance": ["Created r.md"]"#);
    let fix = one(r#""scope": ["b.txt", "plan/", ".carson/"], "promise": "grep -qx b b.txt""#);
    let commits =
        |line: &str| format!("{line}; git add -A .; git commit --quiet -m Work; echo '[OK] done'");
    for (plan, session, says) in [
        (
            &audit,
            "echo r >r.md; echo x >>README.md",
            "README.md (changed) is outside of its scope",
        ),
        (&audit, "ln -s README.md r.md", "MISSING: "),
        (
            &fix,
            "echo b >b.txt; echo '{}' >plan/prd.json",
            "the plan was changed",
        ),
        (
            &fix,
            "echo b >b.txt; git rm --quiet README.md",
            "README.md (deleted) is outside",
        ),
        (
            &fix,
            "ln -s /etc/passwd b.txt",
            "b.txt is a link that leads out of the tree",
        ),
        (&fix, "echo c >b.txt", "EXHAUSTED: the check failed 1 time"),
    ] {
        let limits = LIMITS.replace("max_attempts = 2", "max_attempts = 1");
        let fleet = scene(plan, &commits(session), &limits);
        let row = ends(&fleet, "stories", "FAILED");
        assert!(reason(&row).contains(says), "{session}: {row:#}");
        assert!(is_draft(&fleet, &row), "{session}");
        assert_eq!(plan_at(&fleet, "main"), *plan);
    }
}

#[test]
fn what_people_said_no_to_is_not_done_again_until_it_is_another_story() {
    let plan = one(r#""scope": ["b.txt"]"#);
    let session = "date +%N >b.txt; git add .; git commit --quiet -m Work; echo '[OK] done'";
    let fleet = scene(&plan, session, "[limits]\nmax_open_prs = 9\n");
    let row = ends(&fleet, "stories", "OK");
    let number = row["pr_number"].to_string();
    let held = ends(&fleet, "stories", "SILENT");
    assert!(reason(&held).contains("waits to be read"), "{held:#}");
    let _ = fleet.ok(&["pr", "close", &number, "--json"]);
    let held = ends(&fleet, "stories", "SILENT");
    assert!(
        reason(&held).contains("was closed without merging"),
        "{held:#}"
    );
    let again = fleet
        .carson(&["fire", "stories", "--story", "S-1", "--json"])
        .json();
    assert_eq!(again["outcome"], "OK", "{again:#}");
    let _ = fleet.ok(&["pr", "close", &again["pr_number"].to_string(), "--json"]);
    publish(
        &fleet,
        &plan.replace("\"p\", \"scope\"", "\"p anew\", \"scope\""),
    );
    let row = ends(&fleet, "stories", "OK");
    // Merged by hand without its plan: nobody does it twice.
    merge(&fleet, &row);
    publish(
        &fleet,
        &plan.replace("\"p\", \"scope\"", "\"p anew\", \"scope\""),
    );
    let held = ends(&fleet, "stories", "SILENT");
    assert!(
        reason(&held).contains("was merged, and plan/prd.json still says that it is open"),
        "{held:#}"
    );
}

/// Kills a firing in the write that is described, and looks what the next passes make of it.
fn killed(event: &str, when: &str) {
    let session = "echo b >b.txt; git add .; git commit --quiet -m Work; echo '[OK] done'";
    let fleet = scene(
        &one(r#""scope": ["b.txt"]"#),
        session,
        "[limits]\nmax_open_prs = 9\n",
    );
    // The database is there from the first command on.
    let _ = fleet.ok(&["firings", "--json"]);
    kill::trap(&fleet, event, when);
    let mut command = fleet.command(&["fire", "stories", "--json"]);
    let mut firing = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    kill::until_held(&fleet);
    firing.kill().unwrap();
    firing.wait().unwrap();
    kill::open_trap(&fleet);
    let _ = fleet.ok(&["prune", "--json"]);
    let row = fleet.ok(&["firings", "--json"])[0].clone();
    assert_eq!(row["outcome"], "OK", "{when}: {row:#}");
    let branch = row["branch"].as_str().unwrap();
    let log = fleet.git(&["log", "--format=%s", &format!("main..{branch}")]);
    assert_eq!(log, "Story S-1 is passing\nWork\n", "{when}");
    let held = ends(&fleet, "stories", "SILENT");
    assert!(
        reason(&held).contains("waits to be read"),
        "{when}: {held:#}"
    );
    assert_eq!(
        (fleet.pulls().len(), fleet.branches().len()),
        (1, 1),
        "{when}"
    );
    assert!(fleet.benches().is_empty(), "{when}");
    merge(&fleet, &row);
    assert!(plan_at(&fleet, "main").contains("\"passing\""), "{when}");
    let row = ends(&fleet, "stories", "SILENT");
    assert_eq!(reason(&row), "no work found", "{when}");
}

#[test]
fn killed_between_its_effects_nothing_is_done_twice() {
    killed(
        "UPDATE ON firing",
        "OLD.stage = 'settle' AND NEW.stage = 'salvage'",
    );
    killed(
        "UPDATE ON firing",
        "OLD.pushed_sha IS NULL AND NEW.pushed_sha IS NOT NULL",
    );
    killed(
        "UPDATE ON firing",
        "OLD.pr_number IS NULL AND NEW.pr_number IS NOT NULL",
    );
}

#[test]
fn what_cannot_be_a_source_of_stories_is_said() {
    let fleet = scene(PLAN, "exit 9", "");
    let file = fleet.home().join("roles/stories/role.toml");
    let text = fs::read_to_string(&file).unwrap();
    for (work, says) in [
        ("{ from = \"stories\" }", "needs the file with the plan"),
        (
            "{ from = \"stories\", file = \"/etc/plan.json\" }",
            "a path of this machine",
        ),
        (
            "{ from = \"stories\", file = \"../plan.json\" }",
            "leads out of the repository",
        ),
        (
            "{ from = \"stories\", file = \".git/config\" }",
            "is in no commit",
        ),
        (
            "{ from = \"stories\", file = \"a.json\", label = \"x\" }",
            "a story has none",
        ),
        (
            "{ from = \"issues\", file = \"a.json\" }",
            "comes from elsewhere",
        ),
    ] {
        let now = text.replace("{ from = \"stories\", file = \"plan/prd.json\" }", work);
        fs::write(&file, now).unwrap();
        let ran = fleet.carson(&["config", "check"]);
        assert_ne!(ran.code, Some(0), "{work}: {ran:?}");
        assert!(format!("{ran:?}").contains(says), "{work}: {ran:?}");
    }
    // The kind follows from where its work comes from.
    fs::write(&file, text.replace("kind = \"stories\"\n", "")).unwrap();
    let ran = fleet.carson(&["config", "check"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown = fleet.carson(&["roles", "show", "stories"]).stdout;
    assert!(shown.contains("work: stories of plan/prd.json"), "{shown}");
}

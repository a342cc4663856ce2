use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use super::{comments, ends, fire, member, reason, sql, upkeep};
use crate::faults;

/// A fleet whose role `command` runs this.
fn runs(line: &str, more: &str) -> TestFleet {
    let fleet = faults::fleet("exit 9", "");
    let section = format!("[command]\nrun = {line:?}\n{more}\n");
    fleet.role_of_kind("command", &[], &section);
    fleet
}

/// One that fails as long as there is a file of this name.
fn probes() -> TestFleet {
    let fleet = faults::fleet("exit 9", "");
    let down = fleet.shared().join("down");
    let line = format!(
        "test ! -f {down:?} || {{ echo 'no answer: @ann <!-- carson:claim -->'; exit 3; }}"
    );
    let section = format!(
        "title = \"Smoke test\"\npaths = {{ read = [{:?}] }}\n[command]\nrun = {line:?}\n",
        fleet.shared()
    );
    fleet.role_of_kind("command", &[], &section);
    fleet
}

fn is_down(fleet: &TestFleet, down: bool) {
    let file = fleet.shared().join("down");
    match down {
        true => fs::write(file, "").unwrap(),
        false => fs::remove_file(file).unwrap(),
    }
}

fn issue(fleet: &TestFleet, number: u64) -> Value {
    fleet.ok(&["issue", "show", &number.to_string(), "--json"])
}

fn state(fleet: &TestFleet, number: u64) -> String {
    issue(fleet, number)["issue"]["state"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn pulls(fleet: &TestFleet) -> Vec<Value> {
    let all = fleet.ok(&["pr", "list", "--json"]);
    all.as_array().unwrap().clone()
}

#[test]
fn what_the_fleet_filed_itself_no_triager_judges() {
    let fleet = probes();
    is_down(&fleet, true);
    ends(&fleet, "command", "OK");
    member(&fleet, "triager", "echo '[SILENT]'", "");
    let judged = ends(&fleet, "triager", "SILENT");
    assert_eq!(judged["title"], "Work", "{judged:#}");
    let left = ends(&fleet, "triager", "SILENT");
    assert!(left["title"].is_null() && left["sessions"] == 0, "{left:#}");
}

/// A program of the operator's that its walls hide says nothing of the repository.
#[test]
fn what_cannot_be_run_is_no_issue_and_says_what_lets_it_be_seen() {
    use std::os::unix::fs::PermissionsExt;
    let fleet = runs("true", "");
    let bin = fleet.root().join("operator/bin");
    fs::create_dir_all(&bin).unwrap();
    let script = bin.join("check.sh");
    fs::write(&script, "#!/bin/sh\ntrue\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let issues = fleet.ok(&["issue", "list", "--json"]);
    let hidden = format!("[command]\nrun = \"{} -q\"\n", script.display());
    fleet.role_of_kind("command", &[], &hidden);
    let row = ends(&fleet, "command", "SKIPPED");
    assert!(reason(&row).contains("its walls hide it"), "{row:#}");
    let doctor = fleet.carson(&["doctor"]).stdout;
    assert!(
        doctor.contains("role.command.command") && doctor.contains("[paths] read"),
        "{doctor}"
    );
    let look = fleet.carson(&["fire", "command", "--dry-run"]).stdout;
    assert!(look.contains("its walls hide it"), "{look}");
    // What only a shell finds.
    fleet.role_of_kind(
        "command",
        &[],
        "[command]\nrun = \"cd . && no-such-program\"\n",
    );
    let row = ends(&fleet, "command", "SKIPPED");
    assert!(reason(&row).contains("role.command.command"), "{row:#}");
    assert_eq!(fleet.ok(&["issue", "list", "--json"]), issues);
    let seen = format!("paths = {{ read = [{bin:?}] }}\n{hidden}");
    fleet.role_of_kind("command", &[], &seen);
    assert_eq!(
        reason(&ends(&fleet, "command", "SILENT")),
        "the command passes"
    );
}

#[test]
fn what_fails_is_one_issue_that_is_closed_when_it_passes_again() {
    let fleet = probes();
    assert_eq!(
        reason(&ends(&fleet, "command", "SILENT")),
        "the command passes"
    );
    is_down(&fleet, true);
    let row = ends(&fleet, "command", "OK");
    assert_eq!(reason(&row), "1 new issue about what fails");
    assert!(row["account"].is_null() && row["sessions"] == 0, "{row:#}");
    let filed = issue(&fleet, 2);
    let body = filed["issue"]["body"].as_str().unwrap();
    assert_eq!(filed["issue"]["title"], "Smoke test fails");
    assert!(
        body.contains("did not exit 0 (exit code 3)") || body.contains("exit 0 ("),
        "{body}"
    );
    assert!(
        body.contains("no answer") && !body.contains("@ann"),
        "{body}"
    );
    assert!(!body.contains("<!-- carson:claim"), "{body}");
    // It is there: nobody is told twice.
    for _ in 0..2 {
        let row = ends(&fleet, "command", "SILENT");
        assert_eq!(reason(&row), "the command fails, as #2 says");
    }
    is_down(&fleet, false);
    assert_eq!(
        reason(&ends(&fleet, "command", "OK")),
        "1 comment, 1 closed issue"
    );
    assert_eq!(state(&fleet, 2), "closed");
    assert!(comments(&fleet, 2)[0].contains("It passes again"));
    assert_eq!(
        reason(&ends(&fleet, "command", "SILENT")),
        "the command passes"
    );
    assert_eq!(comments(&fleet, 2).len(), 1);
    // No breaker opens, and nothing is kept of what it did.
    assert!(fleet.benches().is_empty());
}

#[test]
fn what_people_close_while_it_fails_is_said_again_and_not_without_end() {
    let fleet = probes();
    is_down(&fleet, true);
    for number in 2..6 {
        ends(&fleet, "command", "OK");
        assert_eq!(state(&fleet, number), "open");
        let closed = fleet.ok(&["issue", "close", &number.to_string(), "--json"]);
        assert_eq!(closed["number"], number, "{closed}");
    }
    let row = ends(&fleet, "command", "SILENT");
    assert!(
        reason(&row).contains("the role's grant allows 4 issues in 24 hours"),
        "{row:#}"
    );
}

#[test]
fn who_dies_after_the_issue_files_no_other_one() {
    let fleet = probes();
    is_down(&fleet, true);
    sql(
        &fleet,
        "CREATE TRIGGER hold BEFORE UPDATE ON effect BEGIN SELECT RAISE(ABORT, 'held'); END",
    );
    assert_ne!(fleet.fire("command").code, Some(0));
    sql(&fleet, "DROP TRIGGER hold");
    upkeep(&fleet);
    assert_eq!(
        reason(&ends(&fleet, "command", "SILENT")),
        "the command fails, as #2 says"
    );
    let all = fleet.ok(&["issue", "list", "--json"]).to_string();
    assert_eq!(all.matches("Smoke test fails").count(), 1, "{all}");
}

#[test]
fn what_a_command_changes_is_thrown_away_unless_it_is_to_be_kept() {
    let line = "echo new >made.txt; git add .; echo more >left.txt";
    for end in ["", "; exit 4"] {
        let fleet = runs(&format!("{line}{end}"), "");
        let row = fire(&fleet, "command");
        assert!(
            ["OK", "SILENT"].contains(&row["outcome"].as_str().unwrap()),
            "{row:#}"
        );
        assert!(
            row["salvage_ref"].is_null() && row["pushed_sha"].is_null(),
            "{row:#}"
        );
        assert!(pulls(&fleet).is_empty() && fleet.benches().is_empty());
    }
}

#[test]
fn what_a_command_brings_up_to_date_is_one_pull_request_that_was_checked() {
    let fleet = faults::fleet("exit 9", "");
    let section = "title = \"Update dependencies\"\n[limits]\nmax_open_prs = 1\n\
                   [command]\nrun = \"date +%N >lock.txt\"\ncommit = \"Update dependencies\"\n\
                   [promise]\nrun = \"test -f lock.txt\"\n";
    fleet.role_of_kind("command", &[], section);
    let row = ends(&fleet, "command", "OK");
    assert_eq!(reason(&row), "1 commit, the check passes");
    let all = pulls(&fleet);
    assert_eq!(all.len(), 1);
    assert_eq!(
        (&all[0]["title"], &all[0]["draft"]),
        (&"Update dependencies".into(), &false.into())
    );
    // People have enough to read.
    let row = ends(&fleet, "command", "SKIPPED");
    assert!(reason(&row).contains("review queue 1/1"), "{row:#}");
}

#[test]
fn what_the_check_refuses_is_a_draft_and_what_changes_nothing_is_silence() {
    let refused = "[promise]\nrun = \"false\"\n";
    let fleet = faults::fleet("exit 9", "");
    let of =
        |line: &str, more: &str| format!("[command]\nrun = {line:?}\ncommit = \"Update\"\n{more}");
    fleet.role_of_kind("command", &[], &of("echo new >lock.txt", refused));
    let row = ends(&fleet, "command", "FAILED");
    assert!(reason(&row).contains("the check failed"), "{row:#}");
    assert_eq!(pulls(&fleet)[0]["draft"], true);
    fleet.role_of_kind("command", &[], &of("true", refused));
    assert_eq!(
        reason(&ends(&fleet, "command", "SILENT")),
        "the command passes"
    );
    fleet.role_of_kind("command", &[], &of("echo x >a; exit 1", refused));
    assert_eq!(
        reason(&ends(&fleet, "command", "OK")),
        "1 new issue about what fails"
    );
}

#[test]
fn who_takes_too_long_fails_within_its_time() {
    let fleet = runs("sleep 600 & wait", "timeout = \"1s\"");
    assert_eq!(
        reason(&ends(&fleet, "command", "OK")),
        "1 new issue about what fails"
    );
    let body = issue(&fleet, 2)["issue"]["body"].to_string();
    assert!(body.contains("did not end in its time (1 s)"), "{body}");
}

#[test]
fn what_makes_no_command_is_said() {
    let fleet = faults::fleet("exit 9", "");
    for (section, says) in [
        ("", "needs one"),
        ("[command]\nrun = \" \"\n", "it is missing"),
        ("[command]\nrun = \"true\"\ncommit = \"\"\n", "it is empty"),
        (
            "stages = [\"plan\"]\n[command]\nrun = \"true\"\n",
            "asks no model",
        ),
        (
            "[command]\nrun = \"true\"\n[grant]\ncomments = 1\n",
            "files one issue",
        ),
        (
            "[command]\nrun = \"true\"\n[promise]\nrun = \"true\"\n",
            "no stage runs it",
        ),
    ] {
        fleet.role_of_kind("command", &[], section);
        let ran = fleet.carson(&["config", "check"]);
        assert!(format!("{ran:?}").contains(says), "{section}: {ran:?}");
    }
}

#[test]
fn a_command_that_fails_is_told_whatever_it_leaves_and_however_it_ends() {
    for (line, more) in [
        (
            "echo x >n; git add n; git commit -qm own; git branch keep; exit 1",
            "",
        ),
        (
            "git checkout -qb tmp; echo x >n; git add n; git commit -qm own; git checkout -q -; exit 1",
            "",
        ),
        (
            "echo x >n; sleep 60",
            "timeout = \"1h\"\n[limits]\nwall_clock = \"6s\"\n",
        ),
    ] {
        let fleet = runs(line, more);
        let row = ends(&fleet, "command", "OK");
        assert_eq!(
            reason(&row).split(';').next(),
            Some("1 new issue about what fails"),
            "{row:#}"
        );
        assert!(
            pulls(&fleet).is_empty() && row["pushed_sha"].is_null(),
            "{row:#}"
        );
    }
}

#[test]
fn the_issue_has_the_end_and_no_part_of_a_secret_and_no_name_that_never_leaves() {
    let print = "head -c $AT /dev/zero | tr '\\0' a; printf %s \"$MY_KEY\"; head -c 60000 /dev/zero | tr '\\0' b; \
                 printf %s \"$MY_KEY\"; head -c $AT /dev/zero | tr '\\0' c; echo; echo FINAL; exit 1";
    for at in [4_066, 8_160, 8_180] {
        let line = print.replace("$AT", &at.to_string());
        let key = "[identity]\nenv = { MY_KEY = \"tokABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789end\" }\n";
        let fleet = runs(&line, key);
        ends(&fleet, "command", "OK");
        let text = issue(&fleet, 2).to_string();
        assert!(
            text.contains("FINAL") && !text.contains("tokAB") && !text.contains("789end"),
            "{at}: {text}"
        );
        let dir = fleet.home().join("transcripts");
        for file in fs::read_dir(dir)
            .unwrap()
            .flatten()
            .flat_map(|dir| fs::read_dir(dir.path()).unwrap())
        {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains("tokAB") && !text.contains("789end"), "{at}");
        }
    }
    let fleet = runs("echo initech.example is down; exit 1", "");
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let scrub = "[repos.widget]\nscrub = [\"Initech\"]\n";
    fs::write(&settings, text.replace("[repos.widget]\n", scrub)).unwrap();
    ends(&fleet, "command", "OK");
    let text = issue(&fleet, 2).to_string();
    assert!(
        text.contains("never leaves") && !text.contains("initech"),
        "{text}"
    );
}

#[test]
fn an_issue_whose_text_was_edited_is_the_same_one() {
    let fleet = probes();
    is_down(&fleet, true);
    ends(&fleet, "command", "OK");
    let edited = fleet.ok(&["issue", "edit", "2", "--body", "We know.", "--json"]);
    assert!(
        edited["body"].as_str().unwrap().ends_with("We know."),
        "{edited:#}"
    );
    assert_eq!(
        reason(&ends(&fleet, "command", "SILENT")),
        "the command fails, as #2 says"
    );
}

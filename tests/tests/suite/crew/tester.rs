use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use super::{COMMIT, ends, fire, member, prompt, reason};
use crate::faults;

/// A line of a source file counts as run when the tests have it.
pub(crate) const COVERAGE: &str = "for file in src/*; do\n  echo \"SF:$file\"; n=0\n  while read -r line; do\n    \
    n=$((n + 1)); hits=0\n    if grep -qsxF -- \"$line\" tests/*; then hits=1; fi\n    echo \"DA:$n,$hits\"\n  \
    done <\"$file\"\n  echo end_of_record\ndone\n";
/// The half of the least covered file that is not run yet.
const WRITES: &str = "printf 'b2\\nb3\\n' >>tests/all.txt; git add .; git commit --quiet -m Tests; echo '[OK] tested'";
/// A test that runs nothing more.
const IN_VAIN: &str =
    "date +%N >>tests/all.txt; git add .; git commit --quiet -m Tests; echo '[OK] tested'";
/// One that changes what it tests.
const STRAYS: &str = "printf 'b2\\n' >>tests/all.txt; echo b2 >src/b.txt; git add .; git commit --quiet -m Tests; echo '[OK] tested'";
/// How it is measured, and what goes before that.
const RUN: &str = "[coverage]\nrun = \"sh coverage.sh\"\n";

/// Three files, of whose lines three, one and all four are run.
fn scene(session: &str, section: &str) -> TestFleet {
    let fleet = faults::fleet(COMMIT, "");
    fleet.commit_to_main(&[
        ("coverage.sh", COVERAGE),
        ("src/a.txt", "a1\na2\na3\na4\n"),
        ("src/b.txt", "b1\nb2\nb3\nb4\n"),
        ("src/c.txt", "c1\nc2\nc3\nc4\n"),
        ("tests/all.txt", "a1\na2\na3\nb1\nc1\nc2\nc3\nc4\n"),
    ]);
    let more = format!("stages = [\"execute\"]\n{section}");
    member(&fleet, "tester", session, &more);
    fleet
}

/// Gives the role this in the place of what it had.
fn now(fleet: &TestFleet, section: &str) {
    let more = format!("stages = [\"execute\"]\n{section}");
    let more = format!("paths = {{ write = [{:?}] }}\n{more}", fleet.shared());
    fleet.role_of_kind("tester", &["tester"], &more);
}

fn measured_by(line: &str, more: &str) -> String {
    format!("[coverage]\nrun = {line:?}\n{more}")
}

#[test]
fn the_least_covered_file_gets_tests_and_with_an_open_pull_request_the_role_waits() {
    let fleet = scene(WRITES, &format!("[limits]\nmax_open_prs = 1\n{RUN}"));
    let row = ends(&fleet, "tester", "OK");
    assert!(
        reason(&row).contains("the coverage of src/b.txt rose from 25 % to 75 %"),
        "{row:#}"
    );
    let told = prompt(&fleet, "tester");
    assert!(
        told.contains(
            "file: src/b.txt\ncovered: 1 of 4 lines (25 %)\nlines that no test runs: 2-4"
        ),
        "{told}"
    );
    assert!(!told.contains("src/a.txt"), "{told}");
    let pulls = fleet.pulls();
    let title = pulls[0]["title"].as_str().unwrap();
    assert!(title.starts_with("Tests for "), "{pulls:#?}");
    assert_eq!((pulls.len(), &pulls[0]["draft"]), (1, &false.into()));
    let row = ends(&fleet, "tester", "SKIPPED");
    assert!(reason(&row).contains("review queue 1/1"), "{row:#}");
    // Once that is merged two files are covered alike, and the first is next.
    let number = pulls[0]["number"].as_u64().unwrap().to_string();
    let _ = fleet.ok(&["pr", "merge", &number, "--yes", "--json"]);
    let row = ends(&fleet, "tester", "PARTIAL");
    assert_eq!(
        reason(&row),
        "the coverage of src/a.txt did not rise: 75 % before, 75 % after"
    );
}

#[test]
fn what_is_covered_enough_costs_no_session() {
    let fleet = scene("exit 9", &measured_by("sh coverage.sh", "enough = 25\n"));
    let row = ends(&fleet, "tester", "SILENT");
    assert!(
        reason(&row).contains("that changed in the last 14d has 25 % or more"),
        "{row:#}"
    );
    assert_eq!(row["sessions"], 0, "{row:#}");
    assert!(fleet.benches().is_empty());
    now(&fleet, &measured_by("sh coverage.sh", "tests = [\"*\"]\n"));
    let row = ends(&fleet, "tester", "SILENT");
    assert!(reason(&row).contains("nothing but tests"), "{row:#}");
}

/// Makes one commit of long ago of everything, and one of now that changes the first file.
fn all_but_one_are_old(fleet: &TestFleet) {
    let tree = |fleet: &TestFleet| fleet.git(&["rev-parse", "main^{tree}"]).trim().to_owned();
    let before = tree(fleet);
    fleet.commit_to_main(&[("src/a.txt", "a1\na2\na3\na4\na5\n")]);
    let who = "Operator <operator@localhost> 1700000000 +0000";
    let text = format!("tree {before}\nauthor {who}\ncommitter {who}\n\nOld\n");
    let file = fleet.root().join("old");
    fs::write(&file, text).unwrap();
    let old = fleet.git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
    let after = tree(fleet);
    let new = fleet.git(&["commit-tree", "-p", old.trim(), "-m", "New", &after]);
    let _ = fleet.git(&["update-ref", "refs/heads/main", new.trim()]);
}

#[test]
fn a_file_that_did_not_change_lately_is_left_alone() {
    let writes = "printf 'a4\\na5\\nb2\\n' >>tests/all.txt; git add .; git commit --quiet -m Tests; echo '[OK] tested'";
    let fleet = scene(writes, RUN);
    all_but_one_are_old(&fleet);
    let row = ends(&fleet, "tester", "OK");
    assert!(
        reason(&row).contains("the coverage of src/a.txt rose from 60 % to 100 %"),
        "{row:#}"
    );
    now(
        &fleet,
        &measured_by("sh coverage.sh", "since = \"3650d\"\n"),
    );
    let row = ends(&fleet, "tester", "OK");
    assert!(reason(&row).contains("src/b.txt rose"), "{row:#}");
}

#[test]
fn who_changes_more_than_tests_is_told_and_leaves_a_draft_at_last() {
    let section = format!("[limits]\nmax_attempts = 2\n{RUN}");
    let fleet = scene(STRAYS, &section);
    let row = ends(&fleet, "tester", "PARTIAL");
    assert!(
        reason(&row).contains("tests alone (coverage.tests), and it changed src/b.txt"),
        "{row:#}"
    );
    assert_eq!(row["sessions"], 2, "{row:#}");
    let told = prompt(&fleet, "tester");
    assert!(
        told.contains("Your commits change what is no test:\nsrc/b.txt\n"),
        "{told}"
    );
    assert_eq!(fleet.pulls()[0]["draft"], true);
    let takes_back = format!(
        "if grep -q 'Your commits change' \"$CARSON_TMP/prompt\"; then git checkout --quiet HEAD~1 -- src; \
         git commit --quiet -m Back; echo '[OK] back'; exit; fi\n{STRAYS}"
    );
    let fleet = scene(&takes_back, &section);
    let row = ends(&fleet, "tester", "OK");
    assert!(
        reason(&row).contains("2 commits") && reason(&row).contains("rose from 25 % to 50 %"),
        "{row:#}"
    );
}

#[test]
fn a_file_that_stays_as_it_is_is_left_to_people_and_the_next_one_is_taken() {
    let limits = "[limits]\nmax_work_attempts = 2\nfail_streak = 20\n";
    let fleet = scene(IN_VAIN, &format!("{limits}{RUN}"));
    for file in ["src/b.txt", "src/b.txt", "src/a.txt", "src/a.txt"] {
        let row = ends(&fleet, "tester", "PARTIAL");
        let says = format!("the coverage of {file} did not rise");
        assert!(reason(&row).contains(&says), "{row:#}");
    }
    assert!(fleet.pulls().iter().all(|pull| pull["draft"] == true));
    let row = ends(&fleet, "tester", "SILENT");
    assert!(reason(&row).contains("were taken 2 times"), "{row:#}");
    assert_eq!(row["sessions"], 0, "{row:#}");
}

#[test]
fn who_wrote_tests_in_vain_hears_it_and_may_try_again() {
    let session = format!(
        "if grep -q 'did not rise: 25 % before, 25 % after' \"$CARSON_TMP/prompt\"; then {WRITES}; exit; fi\n{IN_VAIN}"
    );
    let section = format!("[limits]\nmax_attempts = 2\n{RUN}");
    let fleet = scene(&session, &section);
    let row = ends(&fleet, "tester", "OK");
    assert!(reason(&row).contains("rose from 25 % to 75 %"), "{row:#}");
    assert_eq!(row["sessions"], 2, "{row:#}");
}

#[test]
fn what_measures_nothing_is_told_before_a_session_is_paid() {
    let fleet = scene("exit 9", RUN);
    for (line, more, says) in [
        ("echo broken; exit 3", "", "did not exit 0"),
        ("echo all is well", "", "no record of a file"),
        ("head -c 50000000 /dev/zero", "", "more than the 8 MiB"),
        (
            "sleep 600 & wait",
            "timeout = \"1s\"\n",
            "did not end in its time",
        ),
    ] {
        now(&fleet, &measured_by(line, more));
        let row = fire(&fleet, "tester");
        assert_eq!(row["outcome"], "SKIPPED", "{line}: {row:#}");
        assert!(
            reason(&row).contains("role.tester.coverage") && reason(&row).contains(says),
            "{line}: {row:#}"
        );
        assert_eq!(row["sessions"], 0, "{line}: {row:#}");
        assert!(fleet.benches().is_empty(), "{line}");
    }
    // A report of nothing that changed is no trouble, but for whoever wonders.
    now(&fleet, &measured_by("echo SF:lib/a; echo DA:1,0", ""));
    let row = ends(&fleet, "tester", "SILENT");
    assert!(
        reason(&row).contains("the coverage report has none of the"),
        "{row:#}"
    );
}

#[test]
fn paths_of_the_room_are_those_of_the_repository_and_others_count_for_nothing() {
    let line = "echo SF:/etc/passwd; echo DA:1,0; echo end_of_record; sh coverage.sh | sed \"s|^SF:|SF:$PWD/|\"";
    let fleet = scene(WRITES, &measured_by(line, ""));
    let row = ends(&fleet, "tester", "OK");
    assert!(
        reason(&row).contains("the coverage of src/b.txt rose from 25 % to 75 %"),
        "{row:#}"
    );
}

#[test]
fn a_look_ahead_measures_too_and_leaves_nothing() {
    let fleet = scene("exit 9", RUN);
    let ahead: Value = fleet.ok(&["fire", "tester", "--dry-run", "--json"]);
    assert_eq!(ahead["admission"], "would fire now", "{ahead:#}");
    let told = ahead["prompt"]["text"].as_str().unwrap();
    assert!(told.contains("file: src/b.txt"), "{told}");
    now(&fleet, &measured_by("exit 3", ""));
    let ahead = fleet.carson(&["fire", "tester", "--dry-run"]).stdout;
    assert!(
        ahead.contains("would be skipped: preflight: role.tester.coverage"),
        "{ahead}"
    );
    assert!(fleet.benches().is_empty());
    let left = fs::read_dir(fleet.home().join("transcripts"));
    assert!(left.is_err() || left.unwrap().next().is_none());
}

#[test]
fn what_makes_no_tester_is_said() {
    let fleet = scene("exit 9", RUN);
    for (section, says) in [
        ("", "needs one"),
        ("[coverage]\n", "it is missing"),
        ("[coverage]\nrun = \" \"\n", "it is missing"),
        ("[coverage]\nrun = \"true\"\nenough = 0\n", "at least 1"),
        (
            "[coverage]\nrun = \"true\"\nenough = 101\n",
            "no percentage",
        ),
        (
            "[coverage]\nrun = \"true\"\ntests = []\n",
            "it names no file",
        ),
    ] {
        now(&fleet, section);
        let ran = fleet.carson(&["config", "check"]);
        assert_ne!(ran.code, Some(0), "{section}: {ran:?}");
        assert!(format!("{ran:?}").contains(says), "{section}: {ran:?}");
    }
    now(&fleet, RUN);
    fleet.role_of_kind("command", &[], &format!("[command]\nrun = \"true\"\n{RUN}"));
    let ran = fleet.carson(&["config", "check"]);
    assert!(format!("{ran:?}").contains("measures none"), "{ran:?}");
}

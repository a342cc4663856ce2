//! What becomes of pull requests: a newer one takes the place of a draft that nobody touched, and
//! an issue follows what people do with the branch.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::limits::{Script, commits};

/// A session that commits something of its own each time, and fails the first two times.
fn fails_twice() -> String {
    let log = "\"${0%.sh}.log\"";
    format!(
        "wc -l < {log} > count.txt\ngit add count.txt\ngit commit --quiet -m Count\n\
         if [ \"$(wc -l < {log})\" -lt 3 ]; then exit 3; fi\n{}",
        commits()
    )
}

fn states(fleet: &TestFleet) -> Vec<(u64, String, bool)> {
    let pulls = fleet.pulls();
    let text = |pull: &Value| pull["state"].as_str().unwrap().to_owned();
    let all = pulls.iter().map(|pull| {
        (
            pull["number"].as_u64().unwrap(),
            text(pull),
            pull["draft"] == true,
        )
    });
    all.collect()
}

fn state(fleet: &TestFleet, number: u64) -> String {
    let all = states(fleet);
    let found = all.into_iter().find(|(own, ..)| *own == number);
    found.unwrap().1
}

fn head(fleet: &TestFleet, number: u64) -> String {
    let pull = fleet.ok(&["pr", "show", &number.to_string(), "--json"]);
    pull["pull"]["head"].as_str().unwrap().to_owned()
}

#[test]
fn a_retry_takes_the_place_of_older_drafts_and_an_issue_follows_its_pull_request() {
    let scene = Script::new(&[("codex", fails_twice())], "");
    let fleet = &scene.fleet;
    assert_eq!(scene.fire()["outcome"], "FAILED");
    assert_eq!(scene.fire()["outcome"], "FAILED");
    // The second draft took the place of the first, whose branch stays. Then a person touches it.
    let comments = fleet.home().join("forge/widget/pulls/0003.comments");
    fs::create_dir_all(&comments).unwrap();
    fs::write(comments.join("mine.md"), "I take this one.\n").unwrap();
    assert_eq!(scene.fire()["outcome"], "OK");
    let (open, closed) = ("open".to_owned(), "closed".to_owned());
    let pulls = [
        (2, closed.clone(), true),
        (3, open.clone(), true),
        (4, open, false),
    ];
    assert_eq!(states(fleet), pulls);
    assert_eq!(fleet.branches().len(), 3);
    let note = fleet.forge_file("pulls/0002.comments/0001.md");
    assert!(note.contains("pulls/0003.md"), "{note}");

    // A person deletes a branch, and merges another one: with a yes.
    let (touched, done) = (head(fleet, 3), head(fleet, 4));
    let _ = fleet.git(&["update-ref", "-d", &format!("refs/heads/{touched}")]);
    let diff = fleet.ok(&["pr", "diff", "4", "--json"]);
    assert!(
        diff["diff"].as_str().unwrap().contains("+++ b/count.txt"),
        "{diff:#}"
    );
    let refused = fleet.carson(&["pr", "merge", "4"]);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert_eq!(fleet.labels(1), ["carson:pr-open"]);
    let merged = fleet.ok(&["pr", "merge", "4", "--yes", "--json"]);
    assert_eq!((&merged["pull"], &merged["issue"]), (&4.into(), &1.into()));
    let _ = fleet.git(&["merge-base", "--is-ancestor", &done, "main"]);
    let issue = fleet.ok(&["issue", "show", "1", "--json"]);
    assert_eq!(issue["issue"]["state"], "closed", "{issue:#}");
    assert_eq!(fleet.labels(1), ["carson:done"]);
    let again = fleet.carson(&["pr", "merge", "4", "--yes"]);
    assert!(again.stderr.contains("#4 is merged"), "{again:#?}");

    // What a person did with git alone is seen by the sweep.
    fleet.issue("implementer", "Greet the cat", "");
    assert_eq!(scene.fire()["outcome"], "OK");
    let branch = head(fleet, 6);
    let tip = fleet.tip(&branch);
    let _ = fleet.git(&["update-ref", "refs/heads/main", &tip]);
    let _ = fleet.git(&["update-ref", "-d", &format!("refs/heads/{branch}")]);
    let _ = fleet.ok(&["prune", "--json"]);
    assert_eq!(state(fleet, 3), closed);
    assert_eq!(state(fleet, 6), "merged");
    assert_eq!(fleet.labels(5), ["carson:done"]);
}

/// What git knows of a branch, and what people and programs leave beside its pull request.
#[test]
fn a_draft_is_looked_at_checked_and_made_ready() {
    let scene = Script::new(&[("codex", fails_twice())], "");
    let fleet = &scene.fleet;
    assert_eq!(scene.fire()["outcome"], "FAILED");
    let branch = head(fleet, 2);
    let tip = fleet.git(&["rev-parse", &branch]).trim().to_owned();
    let forge = fleet.home().join("forge/widget");
    let write = |path: &str, text: &str| {
        let path = forge.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let failed =
        "+++\nconclusion = \"failed\"\nended_at = \"2026-01-01T00:00:00Z\"\n+++\nerror: no\n";
    write(&format!("checks/{tip}/build.md"), failed);
    write(
        "pulls/0002.reviews/0001.md",
        "+++\nauthor = \"ann\"\nstate = \"changes-requested\"\n+++\nCount again.\n",
    );
    write(
        "pulls/0002.threads/0001.md",
        "+++\npath = \"count.txt\"\nline = 1\n+++\n",
    );
    write("pulls/0002.threads/0001.comments/mine.md", "Of what?\n");

    let checked = fleet.ok(&["pr", "checks", "2", "--json"]);
    assert_eq!(checked["head"]["sha"], tip, "{checked:#}");
    assert_eq!(checked["head"]["mergeability"], "clean", "{checked:#}");
    assert_eq!(checked["checks"][0]["conclusion"], "failed", "{checked:#}");
    let shown = fleet.carson(&["pr", "checks", "2"]).stdout;
    assert!(
        shown.contains("build") && shown.contains("failed"),
        "{shown}"
    );
    let shown = fleet.carson(&["pr", "reviews", "2"]).stdout;
    for said in ["ann · changes-requested", "Count again.", "count.txt:1"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let _ = fleet.ok(&["pr", "ready", "2", "--json"]);
    let _ = fleet.ok(&["pr", "ready", "2", "--json"]);
    assert!(!states(fleet)[0].2, "it is no draft any more");
    let none = fleet.carson(&["pr", "checks", "99"]);
    assert_ne!(none.code, Some(0));
    assert!(none.stderr.contains("does not exist"), "{none:#?}");
}

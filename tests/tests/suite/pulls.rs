//! What becomes of pull requests: a retry goes on with its draft, or takes the place of one that nobody touched, and
//! an issue follows what people do with the branch.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::faults::{fire, fleet};
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
fn a_retry_that_cannot_go_on_takes_the_place_of_older_drafts_and_an_issue_follows_its_pull_request()
{
    let scene = Script::new(&[("codex", fails_twice())], "");
    let fleet = &scene.fleet;
    assert_eq!(scene.fire()["outcome"], "FAILED");
    // Each time the base changes what the attempt before has changed, too: nobody can go on with it.
    fleet.commit_to_main(&[("count.txt", "none\n")]);
    assert_eq!(scene.fire()["outcome"], "FAILED");
    fleet.commit_to_main(&[("count.txt", "many\n")]);
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
    for again in [&["pr", "merge", "4", "--yes"][..], &["pr", "merge", "4"]] {
        let again = fleet.carson(again);
        assert!(again.stderr.contains("#4 is merged"), "{again:#?}");
    }

    // What a person did with git alone is seen by the sweep.
    fleet.issue("implementer", "Greet the cat", "");
    assert_eq!(scene.fire()["outcome"], "OK");
    let branch = head(fleet, 6);
    let tip = fleet.tip(&branch);
    let _ = fleet.git(&["update-ref", "refs/heads/main", &tip]);
    let _ = fleet.git(&["update-ref", "-d", &format!("refs/heads/{branch}")]);
    let pruned = fleet.carson(&["prune"]);
    assert!(
        pruned.stdout.contains("changes on the forge")
            && !pruned.stdout.contains("nothing to prune"),
        "{pruned:#?}"
    );
    assert!(fleet.carson(&["prune"]).stdout.contains("nothing to prune"));
    assert_eq!(state(fleet, 3), closed);
    assert_eq!(state(fleet, 6), "merged");
    assert_eq!(fleet.labels(5), ["carson:done"]);
}

/// The README's path: the repository is somebody's checkout, with the base checked out.
#[test]
fn a_pull_request_is_merged_into_the_checkout_that_it_is_for() {
    let fleet = fleet(
        "echo hi > hello.txt; git add .; git commit --quiet -m Hello; echo '[OK] hello'",
        "",
    );
    let seed = fleet.root().join("seed");
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let (remote, own) = (format!("{:?}", fleet.remote()), format!("{seed:?}"));
    fs::write(&settings, text.replace(&remote, &own)).unwrap();
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    // What its owner works on is in nobody's way, and stays.
    fs::write(seed.join("README.md"), "mine\n").unwrap();
    let refused = fleet.carson(&["pr", "merge", "2", "--yes"]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    assert!(
        refused.stderr.contains("has main checked out") && refused.stderr.contains("git stash"),
        "{refused:#?}"
    );
    assert_eq!(
        fs::read_to_string(seed.join("README.md")).unwrap(),
        "mine\n"
    );
    fs::write(seed.join("README.md"), "# Widget\n").unwrap();
    // What was read is what is merged.
    let other = "0123456789012345678901234567890123456789";
    let merge = ["pr", "merge", "2", "--yes", "--json", "--match-head-commit"];
    let refused = fleet.carson(&[&merge[..], &[other]].concat());
    assert!(
        refused.code == Some(1) && refused.stdout.contains("has other commits now"),
        "{refused:#?}"
    );
    for none in ["", "4", "HEAD"] {
        let refused = fleet.carson(&[&merge[..], &[none]].concat());
        assert_eq!(refused.code, Some(2), "{none:?}: {refused:#?}");
    }
    let offered = row["pushed_sha"].as_str().unwrap();
    let shown = fleet.ok(&["pr", "show", "2", "--json"]);
    assert_eq!(shown["commit"], offered);
    let read = offered[..9].to_uppercase();
    let merged = fleet.ok(&[&merge[..], &[read.as_str()]].concat());
    assert_eq!(merged["issue"], 1, "{merged:#}");
    assert_eq!(fs::read_to_string(seed.join("hello.txt")).unwrap(), "hi\n");
    assert_eq!(state(&fleet, 2), "merged");
    assert_eq!(fleet.labels(1), ["carson:done"]);
}

/// Who reads only an error believes that nothing was merged.
#[test]
fn a_merge_that_cannot_be_noted_says_that_it_is_one() {
    let fleet = fleet(
        "echo hi > hello.txt; git add .; git commit --quiet -m Hello; echo '[OK] hello'",
        "",
    );
    assert_eq!(fire(&fleet)["outcome"], "OK");
    let forge = fleet.home().join("forge/widget");
    let (way, issue) = (forge.join("pulls/0002.half"), forge.join("issues/0001.md"));
    fs::create_dir(&way).unwrap();
    let before = fleet.git(&["rev-parse", "main"]);
    let merged = fleet.carson(&["pr", "merge", "2", "--yes"]);
    assert_eq!(merged.code, Some(1), "{merged:#?}");
    let said = "pull request #2 is merged into main, and that could not be noted";
    assert!(
        merged.stderr.contains(said) && merged.stderr.contains("carson pr merge 2"),
        "{merged:#?}"
    );
    let after = fleet.git(&["rev-parse", "main"]);
    assert_ne!(after, before);
    // What its issue was is nothing that it waits for.
    fs::remove_dir(&way).unwrap();
    fs::remove_file(issue).unwrap();
    let merged = fleet.carson(&["pr", "merge", "2", "--yes"]);
    assert_eq!(merged.code, Some(0), "{merged:#?}");
    assert_eq!(state(&fleet, 2), "merged");
    assert_eq!(fleet.git(&["rev-parse", "main"]), after);
}

/// What git has merged was not refused, whatever is said of it afterwards.
#[test]
fn closing_what_git_has_merged_is_no_refusal() {
    let fleet = fleet(
        "echo hi > hello.txt; git add .; git commit --quiet -m Hello; echo '[OK] hello'",
        "",
    );
    assert_eq!(fire(&fleet)["outcome"], "OK");
    let branch = format!("refs/heads/{}", head(&fleet, 2));
    let _ = fleet.git(&["update-ref", "refs/heads/main", &branch]);
    let closed = fleet.ok(&["pr", "close", "2", "--json"]);
    assert_eq!(closed["issue"], 1, "{closed:#}");
    assert_eq!(state(&fleet, 2), "merged");
    assert_eq!(fleet.labels(1), ["carson:done"]);
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

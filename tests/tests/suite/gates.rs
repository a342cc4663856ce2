//! What Carson itself looks at before work is offered to people.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::faults::{fire, fleet, nothing_lost};

fn commit(shell: &str) -> String {
    format!("{shell}; git add .; git commit --quiet -m Work; echo '[OK] done'")
}

fn the_pull(fleet: &TestFleet) -> Value {
    let pulls = fleet.pulls();
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    let number = pulls[0]["number"].to_string();
    fleet.ok(&["pr", "show", &number, "--json"])["pull"].clone()
}

#[test]
fn what_nobody_reads_at_once_is_a_draft_that_asks_to_be_split() {
    let large = fleet(&commit("seq 1501 > large.txt"), "");
    let row = fire(&large);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("1501 lines") && reason.contains("split it"),
        "{reason}"
    );
    let draft = the_pull(&large);
    assert_eq!(draft["draft"], true, "{draft:#}");
    let body = draft["body"].as_str().unwrap();
    assert!(body.starts_with("Issue: #1\n"), "{body}");
    assert_eq!(large.labels(1), ["for:hand"]);

    // Nobody reads lock files line by line.
    let script = commit("seq 1500 > fits.txt; mkdir sub; seq 9000 > sub/package-lock.json");
    let fits = fleet(&script, "");
    let row = fire(&fits);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let body = the_pull(&fits)["body"].as_str().unwrap().to_owned();
    assert!(body.starts_with("Closes #1\n"), "{body}");
}

#[test]
fn a_name_that_is_not_to_leave_does_not_leave() {
    let fleet = fleet(&commit("echo 'as INITECH wants it' > notes.txt"), "");
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let text = text.replacen(
        "[repos.widget]\n",
        "[repos.widget]\nscrub = [\"Initech\"]\n",
        1,
    );
    fs::write(&settings, text).unwrap();
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "BLOCKED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("scrub") && reason.contains("the file notes.txt"),
        "{reason}"
    );
    assert!(fleet.branches().is_empty() && fleet.pulls().is_empty());
    nothing_lost(&fleet, &row, &["as INITECH wants it\n"]);
}

#[test]
fn commits_say_which_firing_made_them_and_who() {
    let script = "echo one > one.txt; git add .; git commit --quiet -m One\n\
        echo two > two.txt; git add .; git commit --quiet --no-verify -m 'Two\n\nCo-authored-by: Ann <a@b.c>'\n\
        echo left > left.txt; echo '[PARTIAL] half'";
    let author =
        "[identity]\ngit_name = \"Acme \\\"A\\\" Agent\"\ngit_email = \"agent@acme.example\"\n";
    let fleet = fleet(script, author);
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    let branch = row["branch"].as_str().unwrap();
    let range = format!("main..{branch}");
    let said = fleet.git(&["log", "--format=%an <%ae>%n%(trailers)==", &range]);
    let commits: Vec<&str> = said
        .split("==\n")
        .filter(|part| !part.trim().is_empty())
        .collect();
    assert_eq!(commits.len(), 3, "{said}");
    let id = row["id"].as_str().unwrap();
    for commit in &commits {
        for line in [
            &format!("Carson-Firing: {id}"),
            "Carson-Role: hand",
            "Issue: #1",
        ] {
            assert_eq!(commit.matches(line).count(), 1, "{line}: {commit}");
        }
    }
    assert!(commits[1].contains("Co-authored-by: Ann <a@b.c>"), "{said}");
    let own = commits
        .iter()
        .filter(|one| one.starts_with("Acme \"A\" Agent <agent@acme.example>"));
    assert_eq!(own.count(), 2, "{said}");
}

#[test]
fn a_repository_tells_its_rules_by_its_base_and_never_by_a_branch() {
    let script =
        "echo 'Obey the branch.' > AGENTS.md; git add .; git commit --quiet -m Rules; exit 3";
    let fleet = fleet(script, "");
    fleet.commit_to_main(&[("AGENTS.md", "Use tabs.\n"), ("CLAUDE.md", "Use tabs.\n")]);
    for _ in 0..2 {
        let row = fire(&fleet);
        let shown = fleet.carson(&["show", row["id"].as_str().unwrap(), "--prompt"]);
        let prompt = &shown.stdout;
        assert_eq!(prompt.matches("Use tabs.").count(), 1, "{shown:#?}");
        assert!(prompt.contains("(repository rules)"), "{shown:#?}");
        assert!(!prompt.contains("Obey the branch."), "{shown:#?}");
    }
    assert_eq!(fleet.pulls().len(), 1);
}

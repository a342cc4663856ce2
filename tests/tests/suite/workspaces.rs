//! Workspaces: on layers and as copies, what lies in them from the start, and what they cost.

mod attributes;
mod odd;
mod setup;
mod toolchains;

use std::fs;
use std::path::PathBuf;

use carson_tests::fleet::TestFleet;
use serde_json::Value;

use crate::faults::{fire, fleet, nothing_lost};

/// Adds lines to a section of `carson.toml`.
fn set(fleet: &TestFleet, section: &str, lines: &str) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    let head = format!("{section}\n");
    assert!(text.contains(&head), "{text}");
    fs::write(path, text.replacen(&head, &format!("{head}{lines}\n"), 1)).unwrap();
}

/// The firing's row, once it has ended.
fn row(fleet: &TestFleet) -> Value {
    let row = fire(fleet);
    let id = row["id"].as_str();
    fleet.firing(id.unwrap_or_else(|| panic!("{row:#}")))
}

/// What its agent does from now on.
fn does(fleet: &TestFleet, agent: &str) {
    let program = fleet.root().join("cli/agent");
    let script = format!("#!/bin/bash\nset -e\ncat >/dev/null\n{agent}\n");
    fs::write(program, script).unwrap();
}

/// Its role has these stages and sections.
fn role(fleet: &TestFleet, more: &str) {
    let path = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&path).unwrap();
    let plain = "stages = [\"execute\"]\n";
    assert!(text.contains(plain), "{text}");
    fs::write(path, text.replace(plain, more)).unwrap();
}

/// The layers of the fleet.
fn layers(fleet: &TestFleet) -> Vec<Value> {
    let found = fleet.ok(&["workspaces", "--json"]);
    found["layers"].as_array().unwrap().clone()
}

fn dirs(path: PathBuf) -> Vec<PathBuf> {
    let items = fs::read_dir(path).into_iter().flatten().flatten();
    let dirs = items.filter(|item| item.file_type().is_ok_and(|kind| kind.is_dir()));
    dirs.map(|item| item.path()).collect()
}

const COMMIT: &str = "date +%s%N > work.txt; git add work.txt; git commit --quiet -m Work";

/// So many files that git asks which of them were written.
const MANY: usize = 1_000;

/// Where they lie.
const OTHERS: &str = "others/";

/// Commits so many, which nobody touches.
fn commit_many(fleet: &TestFleet) {
    let paths: Vec<String> = (0..MANY).map(|n| format!("{OTHERS}{n}.txt")).collect();
    let others: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "m\n")).collect();
    fleet.commit_to_main(&others);
}

#[test]
fn workspaces_share_a_checkout_and_hold_what_was_changed() {
    let agent = format!(
        "test \"$PWD\" = \"$CARSON_WORKTREE\"; test -f README.md; test -z \"$(git status --porcelain)\"\n\
         pwd > {{SHARED}}/seen; {COMMIT}\n\
         page=$(cat {{SHARED}}/page); git ls-files -f | grep -qx \"h $page\"; echo changed >> $page\n\
         git ls-files -f | grep -qx \"H $page\"; git status --porcelain | grep -q \"M $page\"\n\
         echo '[PARTIAL] half'"
    );
    let fleet = fleet("", "");
    let agent = agent.replace("{SHARED}", fleet.shared().to_str().unwrap());
    does(&fleet, &agent);
    fleet.commit_to_main(&[("MORE.md", "# More\n")]);
    commit_many(&fleet);
    // The second goes on with what the first has done.
    for (page, changed) in [
        ("README.md", "# Widget\nchanged\n"),
        ("MORE.md", "# More\nchanged\n"),
    ] {
        fs::write(fleet.shared().join("page"), page).unwrap();
        let row = row(&fleet);
        assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
        assert_eq!(row["sandbox"]["workspace"], "layers", "{row:#}");
        let file = fleet.root().join("changed");
        fs::write(&file, changed).unwrap();
        assert!(fleet.kept().contains(&fleet.blob(&file)), "{row:#}");
        let seen = fs::read_to_string(fleet.shared().join("seen")).unwrap();
        let place = fleet.home().canonicalize().unwrap();
        let place = place.join("workspaces/widget/tree");
        assert_eq!(seen.trim(), place.to_str().unwrap());
        // It was seen in the session's namespace only.
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0);
    }
    let layers = layers(&fleet);
    assert_eq!(layers.len(), 1, "{layers:#?}");
    assert_eq!(layers[0]["in_use"], 0);
    let tree = PathBuf::from(layers[0]["path"].as_str().unwrap()).join("tree");
    // What stands above never changes it.
    assert_eq!(
        fs::read_to_string(tree.join("README.md")).unwrap(),
        "# Widget\n"
    );
    assert!(!tree.join("work.txt").exists() && !tree.join(".git").exists());
}

#[test]
fn another_base_is_another_layer_and_old_ones_can_go() {
    let fleet = fleet(&format!("{COMMIT}; ls; echo '[OK] done'"), "");
    assert_eq!(row(&fleet)["outcome"], "OK");
    fleet.commit_to_main(&[("new.txt", "new\n")]);
    assert_eq!(fleet.issue("hand", "More", "To do."), 3);
    let second = row(&fleet);
    assert_eq!(second["outcome"], "OK", "{second:#}");
    assert_eq!(layers(&fleet).len(), 2);
    // They take less than they may.
    let pruned = fleet.ok(&["workspaces", "prune", "--json"]);
    assert_eq!(pruned["removed"].as_array().unwrap().len(), 0);
    let pruned = fleet.ok(&["workspaces", "prune", "--all", "--json"]);
    assert_eq!(pruned["removed"].as_array().unwrap().len(), 2, "{pruned:#}");
    assert_eq!(pruned["left"], 0);
    assert_eq!(
        dirs(fleet.home().join("layers/widget")),
        Vec::<PathBuf>::new()
    );
    // The next one makes what it needs.
    assert_eq!(fleet.issue("hand", "Again", "To do."), 5);
    assert_eq!(row(&fleet)["outcome"], "OK");
    assert_eq!(layers(&fleet).len(), 1);
}

#[test]
fn a_base_that_moved_is_what_differs_and_now_and_then_whole() {
    let clean = "git update-index --really-refresh -q; test -z \"$(git status --porcelain)\"";
    let fleet = fleet(
        &format!("{clean}; cat list | xargs -r ls -d; {COMMIT}; echo '[OK] done'"),
        "",
    );
    role(
        &fleet,
        "stages = [\"execute\"]\n[limits]\nmax_open_prs = 100\n",
    );
    let moves: [&[(&str, &str)]; 3] = [
        &[
            ("a/b/c.txt", "1\n"),
            ("a/d.txt", "2\n"),
            ("list", "a/b/c.txt\n"),
        ],
        &[("a/b/c.txt", "3\n"), ("list", "a/d.txt\n")],
        &[("e", "4\n"), ("list", "e a/b\n")],
    ];
    let seed = fleet.root().join("seed");
    for step in 0..12 {
        if step % 4 == 3 {
            // What was a directory is a file, and the other way round.
            fs::remove_dir_all(seed.join("a")).unwrap();
            let _ = fs::remove_file(seed.join("e"));
            fleet.commit_to_main(&[("a", "a file\n"), ("e/f", "5\n"), ("list", "a e/f\n")]);
        } else {
            let _ = fs::remove_file(seed.join("a"));
            let _ = fs::remove_dir_all(seed.join("e"));
            let step_text = format!("{step}\n");
            let more = [("step", step_text.as_str())];
            fleet.commit_to_main(&[moves[step % 4], &more[..]].concat());
        }
        let row = row(&fleet);
        assert_eq!(row["outcome"], "OK", "step {step}: {row:#}");
        fleet.issue("hand", &format!("Step {step}"), "To do.");
    }
    let layers = layers(&fleet);
    assert_eq!(layers.len(), 12);
    let below = |layer: &Value| {
        let file = PathBuf::from(layer["path"].as_str().unwrap()).join("below");
        let text = fs::read(file).unwrap_or_else(|_| b"[]".to_vec());
        serde_json::from_slice::<Vec<PathBuf>>(&text).unwrap().len()
    };
    let depths: Vec<usize> = layers.iter().rev().map(below).collect();
    assert_eq!(depths, [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3]);
    // Those that others stand on stay until these have gone.
    let pruned = fleet.ok(&["workspaces", "prune", "--all", "--json"]);
    assert_eq!(
        pruned["removed"].as_array().unwrap().len(),
        12,
        "{pruned:#}"
    );
}

#[test]
fn a_layer_that_somebody_spoilt_is_made_anew() {
    let fleet = fleet(
        &format!("test -f README.md; {COMMIT}; echo '[OK] done'"),
        "",
    );
    assert_eq!(row(&fleet)["outcome"], "OK");
    let layer = PathBuf::from(layers(&fleet)[0]["path"].as_str().unwrap());
    fs::remove_dir_all(layer.join("tree")).unwrap();
    fleet.issue("hand", "More", "To do.");
    let row = row(&fleet);
    assert_eq!(row["outcome"], "OK", "{row:#}");
}

#[test]
fn nothing_that_a_workspace_stands_on_goes() {
    let fleet = fleet(&format!("{COMMIT}; touch ready; sleep 600"), "");
    let mut command = fleet.command(&["fire", "hand", "--json"]);
    let command = command.stdout(std::process::Stdio::null());
    let mut firing = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    carson_tests::until("the session to work", || {
        let bench = fleet.benches().into_iter().next()?;
        let ready = |dir: &PathBuf| dir.join("ready").exists();
        dirs(bench).into_iter().find(ready)
    });
    firing.kill().unwrap();
    firing.wait().unwrap();
    assert_eq!(layers(&fleet)[0]["in_use"], 1);
    let pruned = fleet.ok(&["workspaces", "prune", "--all", "--json"]);
    assert_eq!(pruned["removed"].as_array().unwrap().len(), 0, "{pruned:#}");
    // What was left above it is found and kept.
    let _ = fleet.ok(&["prune", "--json"]);
    let all = fleet.ok(&["firings", "--json"]);
    let row = fleet.firing(all[0]["id"].as_str().unwrap());
    assert_eq!(row["outcome"], "CRASHED", "{row:#}");
    nothing_lost(&fleet, &row, &[]);
    assert_eq!(layers(&fleet)[0]["in_use"], 0);
}

#[test]
fn a_copy_is_had_where_it_is_wanted_or_there_is_nothing_else() {
    let ask = format!("test \"$PWD\" = \"$CARSON_WORKTREE\"; {COMMIT}; echo '[OK] done'");
    let wanted = fleet(&ask, "");
    set(&wanted, "[fleet]", "workspaces = \"copy\"");
    let no_sandbox = fleet(&ask, "sandbox = \"off\"\n");
    let none = r#"{"landlock":7,"namespaces":false,"seccomp":true,"cgroup":true}"#;
    let no_namespaces = fleet(&ask, "").with_env("CARSON_SANDBOX_FORCE", none);
    for fleet in [wanted, no_sandbox, no_namespaces] {
        let row = row(&fleet);
        assert_eq!(row["outcome"], "OK", "{row:#}");
        assert_eq!(row["sandbox"]["workspace"], "copy", "{row:#}");
        assert_eq!(layers(&fleet).len(), 0);
    }
}

#[test]
fn a_bench_whose_note_is_spoilt_stays() {
    let fleet = fleet(&format!("{COMMIT}; touch ready; sleep 600"), "");
    let mut command = fleet.command(&["fire", "hand", "--json"]);
    let command = command.stdout(std::process::Stdio::null());
    let mut firing = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let bench = carson_tests::until("the session to work", || {
        let bench = fleet.benches().into_iter().next()?;
        let ready = |dir: &PathBuf| dir.join("ready").exists();
        dirs(bench.clone()).into_iter().find(ready).map(|_| bench)
    });
    firing.kill().unwrap();
    firing.wait().unwrap();
    let note = bench.join("began/layers.json");
    let said = fs::read(&note).unwrap();
    fs::write(&note, "").unwrap();
    // Else all that is below would be taken for deleted.
    let _ = fleet.ok(&["prune", "--json"]);
    assert_eq!(fleet.benches(), [bench]);
    assert_eq!(fleet.branches(), Vec::<String>::new());
    fs::write(&note, said).unwrap();
    let _ = fleet.ok(&["prune", "--json"]);
    assert_eq!(fleet.benches(), Vec::<PathBuf>::new());
}

/// Layers can be made again: where there is no room for a firing they go, and not only in the daemon's hour.
#[test]
fn a_firing_that_finds_no_room_lets_layers_go() {
    let fleet = fleet(&format!("{COMMIT}; echo '[OK] done'"), "");
    assert_eq!(row(&fleet)["outcome"], "OK");
    assert_eq!(layers(&fleet).len(), 1);
    fleet.issue("hand", "More", "To do.");
    set(&fleet, "[fleet]", "min_free_mb = 4294967295");
    let ended = row(&fleet);
    assert_eq!(ended["outcome"], "SKIPPED", "{ended:#}");
    assert_eq!(layers(&fleet), Vec::<Value>::new());
}

/// Whoever makes a checkout and dies leaves half of one, as large as the repository: it goes with what nothing stands on.
#[test]
fn what_a_dead_maker_left_of_a_layer_goes() {
    let fleet = fleet(&format!("{COMMIT}; echo '[OK] done'"), "");
    assert_eq!(row(&fleet)["outcome"], "OK");
    let base = layers(&fleet).remove(0);
    let made = |number: u32, ending: &str| {
        let path = base["path"].as_str().unwrap();
        std::path::PathBuf::from(format!("{path}.{number}.{ending}"))
    };
    for number in [1, 2] {
        fs::create_dir(made(number, "half")).unwrap();
        fs::write(made(number, "turn"), "").unwrap();
    }
    // The second is at it still.
    let turn = fs::File::open(made(2, "turn")).unwrap();
    turn.lock().unwrap();
    assert_eq!(
        fleet.carson(&["workspaces", "prune", "--all"]).code,
        Some(0)
    );
    let left = [1, 2]
        .map(|number| made(number, "half").exists() || number == 1 && made(1, "turn").exists());
    assert_eq!(left, [false, true]);
}

//! A world that is not as it should be: remotes, databases, disks, CLIs, branches, and what
//! strangers write into issues. A firing then ends with a reason and a way out, the work goes back
//! untouched, and nothing is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use carson_tests::fleet::TestFleet;
use carson_tests::judge::{judge, sound, state};
use serde_json::Value;

/// Fires the role, which must be skipped before anything is touched, and say all this.
fn skipped(fleet: &TestFleet, says: &[&str]) {
    let before = state(fleet);
    let ran = fleet.carson(&["fire", "hand"]);
    judge(&ran, 16, &[&["SKIPPED: preflight: "], says].concat())
        .unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(state(fleet), before);
    assert_eq!(fleet.benches(), Vec::<PathBuf>::new());
    // The reason is kept for the morning.
    let rows = fleet.ok(&["firings", "--all", "--json"]);
    let reason = rows[0]["reason"].as_str().unwrap();
    assert!(says.iter().all(|text| reason.contains(text)), "{reason}");
}

/// The role does its work now, at the first of its attempts.
fn goes_well(fleet: &TestFleet) {
    let ran = fleet.carson(&["fire", "hand", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(fleet.labels(1), ["carson:pr-open"]);
    // A claim and its release, and nothing of the slots that were skipped.
    let shown = fleet.ok(&["issue", "show", "1", "--json"]);
    assert_eq!(shown["comments"].as_array().unwrap().len(), 2, "{shown:#}");
}

/// Appends to carson.toml.
fn settings(fleet: &TestFleet, change: impl FnOnce(String) -> String) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, change(text)).unwrap();
}

#[test]
fn a_remote_that_is_away_costs_the_work_nothing() {
    let fleet = sound();
    let away = fleet.root().join("away.git");
    fs::rename(fleet.remote(), &away).unwrap();
    for _ in 0..4 {
        skipped(
            &fleet,
            &["remote.git cannot be read", "check repos.<name>.url"],
        );
    }
    fs::rename(&away, fleet.remote()).unwrap();
    goes_well(&fleet);
    // Gone again, with a mirror that knows it.
    fleet.issue("hand", "Once more", "Please.");
    fs::rename(fleet.remote(), &away).unwrap();
    skipped(
        &fleet,
        &["remote.git cannot be read", "check repos.<name>.url"],
    );
}

#[test]
fn a_base_that_is_missing_is_told_with_what_there_is() {
    let fleet = sound();
    settings(&fleet, |text| text.replace("\"main\"", "\"trunk\""));
    skipped(
        &fleet,
        &["has no branch \"trunk\"", "[\"main\"]", "repos.<name>.base"],
    );
}

#[test]
fn an_empty_repository_asks_for_a_first_commit() {
    let fleet = sound();
    let _ = fleet.git(&["update-ref", "-d", "refs/heads/main"]);
    skipped(&fleet, &["is empty", "push a first commit"]);
}

#[test]
fn a_disk_that_is_nearly_full_starts_nothing() {
    let fleet = sound();
    settings(&fleet, |text| {
        text.replace("[fleet]\n", "[fleet]\nmin_free_mb = 4294967295\n")
    });
    skipped(&fleet, &["nearly full", "fleet.min_free_mb", "make room"]);
    settings(&fleet, |text| text.replace("4294967295", "0"));
    goes_well(&fleet);
}

/// A program that answers `--version`, and nothing else, with this.
fn fake_cli(fleet: &TestFleet, version: &str) -> PathBuf {
    let path = fleet.root().join("claude");
    fs::write(
        &path,
        format!("#!/bin/sh\n[ \"$*\" = --version ] && echo '{version}'\n"),
    )
    .unwrap();
    fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

/// Gives the role this account.
fn account(fleet: &TestFleet, body: &str) {
    fleet.account("other", body);
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(role, text.replace("\"play\"", "\"other\"")).unwrap();
}

#[test]
fn a_cli_that_is_not_installed_is_named() {
    for binary in ["no-such-agent", "/nowhere/agent", "/etc/passwd"] {
        let fleet = sound();
        account(
            &fleet,
            &format!("engine = \"command\"\nbinary = {binary:?}"),
        );
        skipped(
            &fleet,
            &[binary, "is not installed", "accounts.other.binary"],
        );
    }
}

#[test]
fn claude_code_must_be_new_enough_and_signed_in() {
    let key = "env = { ANTHROPIC_API_KEY = \"sk-test\" }";
    let empty = "env = { CLAUDE_CONFIG_DIR = \"~/.claude\" }";
    for (version, env, says) in [
        (
            "2.1.308 (Claude Code)",
            key,
            &["is version 2.1.308", "2.1.309 or newer", "claude update"][..],
        ),
        ("hello", key, &["does not say a version", "hello", "binary"]),
        ("", key, &["does not say a version"]),
        (
            "2.1.329 (Claude Code)",
            "",
            &["nobody is signed in", "CLAUDE_CONFIG_DIR", "/login"],
        ),
        (
            "2.1.329 (Claude Code)",
            empty,
            &[
                "nobody is signed in",
                "operator/.claude/.credentials.json",
                "/login",
            ],
        ),
    ] {
        let fleet = sound();
        let binary = fake_cli(&fleet, version);
        account(
            &fleet,
            &format!("engine = \"claude\"\nbinary = {binary:?}\n{env}"),
        );
        skipped(&fleet, &[&["account.other."], says].concat());
        // A quiet slot asks nothing: without work it is silent.
        fs::remove_file(fleet.home().join("forge/widget/issues/0001.md")).unwrap();
        let ran = fleet.carson(&["fire", "hand", "--json"]);
        assert_eq!(
            (ran.code, &ran.json()["outcome"]),
            (Some(0), &Value::from("SILENT"))
        );
    }
}

#[test]
fn the_real_claude_code_passes_the_check_when_it_is_signed_in() {
    let fleet = sound();
    let claude = carson_tests::model::claude_binary().unwrap();
    let config = fleet.root().join("operator/.claude");
    fs::create_dir_all(&config).unwrap();
    // No address to go to: what is tested ends before the first request.
    account(
        &fleet,
        &format!(
            "engine = \"claude\"\nbinary = {claude:?}\nenv = {{ CLAUDE_CONFIG_DIR = {config:?}, \
         ANTHROPIC_BASE_URL = \"http://127.0.0.1:9\", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\", \
         CLAUDE_CODE_MAX_RETRIES = \"0\" }}"
        ),
    );
    skipped(&fleet, &["nobody is signed in"]);
    let token = r#"{"claudeAiOauth":{"accessToken":"sk-ant-oat01-x","refreshToken":"x",
        "expiresAt":4102444800000,"scopes":["user:inference"]}}"#;
    fs::write(config.join(".credentials.json"), token).unwrap();
    // Too short to wait for a provider that is not there, and to try again.
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(role, format!("{text}\n[limits]\nwall_clock = \"29s\"\n")).unwrap();
    let ran = fleet.fire("hand");
    let row = ran.json();
    // It came as far as a session, which could not reach its provider.
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    assert_eq!(row["sessions"], 1, "{row:#}");
}

#[test]
fn a_script_that_cannot_be_played_is_told_before_the_work_is_claimed() {
    let fleet = sound();
    fs::write(
        fleet.root().join("play.toml"),
        "[[when]]\ndo = [{ dance = 1 }]\n",
    )
    .unwrap();
    skipped(
        &fleet,
        &["account.play.script: ", "line 2", "mend the file"],
    );
}

#[test]
fn a_database_that_is_no_database_stays_as_it_is() {
    let fleet = sound();
    let db = fleet.home().join("state/carson.db");
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", db.display()));
    }
    let garbage = vec![b'x'; 8192];
    fs::write(&db, &garbage).unwrap();
    let before = state(&fleet);
    for args in [
        &["fire", "hand"][..],
        &["status"],
        &["firings"],
        &["prune"],
        &["daemon"],
    ] {
        let ran = fleet.carson(args);
        let says = [
            "carson.db",
            "cannot be opened",
            "not a database",
            "hint: ",
            "backup",
        ];
        judge(&ran, 1, &says).unwrap_or_else(|why| panic!("{args:?}: {why}"));
    }
    assert_eq!(fs::read(&db).unwrap(), garbage);
    assert_eq!(state(&fleet), before);
}

#[test]
fn a_home_that_cannot_be_written_is_told() {
    let fleet = sound();
    // Root may write anywhere, but not below a file.
    fs::remove_dir_all(fleet.home().join("state")).unwrap();
    fs::write(fleet.home().join("state"), "").unwrap();
    for args in [&["status"][..], &["fire", "hand"], &["daemon"]] {
        let ran = fleet.carson(args);
        let says = ["home/state", "hint: ", "CARSON_HOME"];
        judge(&ran, 1, &says).unwrap_or_else(|why| panic!("{args:?}: {why}"));
    }
}

/// Reading a pipe waits for whoever writes it: no firing, and no command, waits for that. Nor does
/// one file that cannot be read keep a firing from the issue beside it; it says so, once.
#[test]
fn a_pipe_in_the_forge_is_told_and_holds_up_nothing() {
    let fleet = sound();
    let pipe = fleet.home().join("forge/widget/issues/0002.md");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let row = fleet.firing(fleet.fire("hand").json()["id"].as_str().unwrap());
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let said = |row: &Value| {
        let events = row["events"].as_array().unwrap().iter();
        let unread = events.filter(|event| event["kind"] == "forge.unread");
        unread
            .map(|event| event["data"]["place"].to_string())
            .collect::<Vec<_>>()
    };
    assert!(said(&row)[0].ends_with("0002.md\""), "{row:#}");
    let again = fleet.firing(fleet.fire("hand").json()["id"].as_str().unwrap());
    assert_eq!(said(&again), Vec::<String>::new(), "{again:#}");
    for (command, code) in [(&["doctor"][..], 1), (&["issue", "list"], 0)] {
        let ran = fleet.carson(command);
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("0002.md"), "{ran:#?}");
        assert!(said.contains("this is no regular file"), "{ran:#?}");
    }
    let _ = fleet.ok(&["prune", "--json"]);
    fs::remove_file(&pipe).unwrap();
    goes_well(&fleet);
}

#[test]
fn a_branch_that_cannot_be_pushed_keeps_its_work_and_the_issue_its_place() {
    // A branch named `carson` leaves no room for `carson/hand/…`: files and directories.
    for taken in ["carson", "carson/hand"] {
        let fleet = sound();
        let main = fleet.tip("main");
        let _ = fleet.git(&["update-ref", &format!("refs/heads/{taken}"), &main]);
        let ran = fleet.carson(&["fire", "hand", "--json"]);
        let row = ran.json();
        let reason = row["reason"].as_str().unwrap();
        assert!(reason.contains("could not be pushed"), "{row:#}");
        assert_eq!(fleet.tip(taken), main);
        assert_eq!(fleet.branches(), [taken]);
        // The commit is in the store, under the ref that the row names.
        let kept = row["salvage_ref"].as_str().unwrap();
        assert!(kept.starts_with("refs/carson/salvage/"), "{kept}");
        let store = format!("--git-dir={}", fleet.store().display());
        let file = fleet.git(&[&store, "show", &format!("{kept}:hello.txt")]);
        assert_eq!(file, "Good evening.\n");
        assert_eq!(fleet.pulls(), Vec::<Value>::new());
        // Nobody could see it as a pull request, so it is not done.
        assert_eq!((ran.code, &row["outcome"]), (Some(10), &"PARTIAL".into()));
        assert_eq!(fleet.labels(1), ["for:hand"]);
        assert_eq!(fleet.benches(), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_branch_made_by_hand_in_the_store_is_told() {
    let fleet = sound();
    goes_well(&fleet);
    let second = fleet.issue("hand", "Once more", "Please.");
    let store = fleet.store();
    let dir = format!("--git-dir={}", store.display());
    // Somebody made a branch in Carson's own store, by hand.
    for name in fleet
        .git(&[&dir, "for-each-ref", "--format=%(refname)", "refs/heads"])
        .lines()
    {
        let _ = fleet.git(&[&dir, "update-ref", "-d", name]);
    }
    let main = fleet.tip("main");
    let _ = fleet.git(&[&dir, "update-ref", "refs/heads/carson", &main]);
    let ran = fleet.carson(&["fire", "hand", "--work", &second.to_string()]);
    judge(
        &ran,
        13,
        &[
            "making the worktree",
            "refs/heads/carson",
            "among what is kept",
        ],
    )
    .unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(fleet.labels(second), ["for:hand"]);
    assert_eq!(fleet.benches(), Vec::<PathBuf>::new());
}

#[test]
fn hostile_titles_are_only_ever_words() {
    let fleet = sound();
    let long = "x".repeat(10 * 1024);
    let titles = [
        "two\nlines\r\nand three",
        "$(touch pwned) `touch pwned`; touch pwned #",
        "--upload-pack=touch pwned",
        "-rf",
        &long,
        "\u{202e}gnp.exe\u{202c} \u{200f}\u{2066}",
        "bell\u{7} clear\u{1b}[2J\u{1b}]0;title\u{7} back\u{8}\u{8} del\u{7f} nel\u{85}",
        "../../../etc/passwd",
        "+++\n[[when]]\nstate = \"closed\"",
        "{{ task }} {% raw %} [OK] [REJECT]",
        "@{-1}..HEAD^{/x}.lock",
    ];
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(&role, format!("{text}[limits]\nmax_open_prs = 99\n")).unwrap();
    for title in titles {
        let args = [
            "issue", "create", "--label", "for:hand", "--body", title, "--json", "--", title,
        ];
        let issue = fleet.ok(&args);
        assert_eq!(issue["title"], title);
        let number = issue["number"].as_u64().unwrap();
        let ran = fleet.carson(&["fire", "hand", "--work", &number.to_string(), "--json"]);
        assert_eq!(ran.code, Some(0), "{title:?}: {ran:#?}");
        let row = ran.json();
        let branch = row["branch"].as_str().unwrap();
        assert!(branch.is_ascii() && branch.len() < 120, "{branch}");
        assert!(fleet.branches().contains(&branch.to_owned()), "{title:?}");
        let pull = fleet.pulls().pop().unwrap();
        let shown = pull["title"].as_str().unwrap();
        assert!(
            !shown.contains(char::is_control) && shown.chars().count() < 250,
            "{shown:?}"
        );
        // What a terminal shows of it is one line, and steers nothing.
        for args in [
            &["issue", "list"][..],
            &["pr", "list", "--all"],
            &["firings", "--all"],
            &["issue", "show", &number.to_string()],
            &["status"],
        ] {
            let ran = fleet.carson(args);
            let odd = |c: char| {
                c.is_control() && !matches!(c, '\n' | '\t')
                    || "\u{202e}\u{200f}\u{2066}".contains(c)
            };
            assert!(
                ran.code == Some(0) && !ran.stdout.contains(odd),
                "{args:?}: {ran:?}"
            );
        }
    }
    let listed = fleet.carson(&["pr", "list", "--all"]).stdout;
    assert_eq!(listed.lines().count(), 1 + titles.len(), "{listed}");
    let mut todo = vec![fleet.root().to_owned()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(dir).unwrap() {
            let path = item.unwrap().path();
            assert!(!path.ends_with("pwned"), "{} was made", path.display());
            if path.is_dir() && !path.is_symlink() {
                todo.push(path);
            }
        }
    }
}

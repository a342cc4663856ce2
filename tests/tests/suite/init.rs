//! `carson init`: what it finds out by itself, and what it refuses before anything is there.
#![expect(clippy::disallowed_methods, reason = "git sets the scene")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use carson_tests::fleet::{Ran, TestFleet};
use serde_json::Value;

/// A CLI that is never asked.
fn fleet() -> TestFleet {
    TestFleet::new().with_program("claude", "")
}

/// A checkout of a repository of its own, on a branch of this name.
fn checkout(fleet: &TestFleet, name: &str, branch: &str, files: &[(&str, &str)]) {
    let dir = fleet.root().join(name);
    fs::create_dir_all(dir.join("src")).unwrap();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        let git = git.args(["-c", "user.name=x", "-c", "user.email=x@localhost"]);
        let done = git.args(args).current_dir(&dir).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "--quiet", &format!("--initial-branch={branch}")]);
    if files.is_empty() {
        return;
    }
    for (file, text) in files {
        fs::write(dir.join(file), text).unwrap();
    }
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--no-gpg-sign", "--message", "One"]);
}

#[test]
fn it_takes_the_repository_that_it_stands_in_with_its_branch_and_its_tests() {
    let fleet = fleet();
    let package = "{\"scripts\": {\"test\": \"jest\"}}";
    checkout(&fleet, "widget", "master", &[("package.json", package)]);
    let home = fleet.root().join("new");
    let mut init = fleet.command(&["--home", home.to_str().unwrap(), "init"]);
    init.current_dir(fleet.root().join("widget/src"));
    let made: Ran = init.output().unwrap().into();
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains("work starts from master"), "{made:#?}");
    assert!(made.stdout.contains("check: `npm test`"), "{made:#?}");

    let checked = fleet.carson(&["--home", "new", "config", "check"]);
    assert_eq!(
        checked.stdout.lines().next(),
        Some("no findings: 1 role, 1 repository")
    );
    assert!(
        checked
            .stdout
            .contains("`carson doctor` asks what needs the network")
    );
    let shown = fleet.ok(&["--home", "new", "roles", "show", "implementer", "--json"]);
    assert_eq!(shown["promise"], "npm test");
    let shown = fleet.carson(&["--home", "new", "roles", "show", "implementer"]);
    assert!(!shown.stdout.contains("without a bound"), "{shown:#?}");
    assert!(shown.stdout.contains("$40.00"), "{shown:#?}");
    // A cap that is lower than the cadence can reach is said; one that is not, is not.
    let capped = "limits.max_firings_per_day: its cadence has 72 slots a day, and after 48 firings";
    assert!(shown.stdout.contains(capped), "{shown:#?}");
    let file = home.join("roles/implementer/role.toml");
    let text = fs::read_to_string(&file).unwrap();
    let own = "max_firings_per_day = 48";
    assert!(text.contains(own), "{text}");
    fs::write(&file, text.replace(own, "max_firings_per_day = 72")).unwrap();
    let shown = fleet.carson(&["--home", "new", "roles", "show", "implementer"]);
    assert_eq!(shown.code, Some(0), "{shown:#?}");
    assert!(!shown.stdout.contains("its cadence has"), "{shown:#?}");

    // What is only somewhere else is looked at there.
    let bare = fleet.root().join("widget").join(".git");
    let url = format!("file://{}", bare.display());
    let made = fleet.ok(&["--home", "far", "init", "--repo", &url, "--json"]);
    assert_eq!(
        (&made["base"], &made["check"]),
        (&"master".into(), &"npm test".into())
    );

    // Without a command that tests it, that is said.
    let made = fleet.carson(&["--home", "bare", "init", "--repo", "remote.git"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains("no check is run before"), "{made:#?}");
    let checked = fleet.carson(&["--home", "bare", "config", "check"]);
    assert!(
        checked.stdout.contains("\"verify\" has nothing to run"),
        "{checked:#?}"
    );
    assert_eq!(checked.code, Some(0));
}

/// Every CLI that stands on PATH can be chosen, and what is written for it holds.
#[test]
fn it_makes_a_home_for_each_cli() {
    for engine in ["codex", "gemini", "opencode"] {
        let fleet = TestFleet::new().with_program(engine, "");
        let init = ["--home", "new", "init", "--repo", "remote.git", "--engine"];
        let made = fleet.carson(&[&init[..], &[engine]].concat());
        assert_eq!(made.code, Some(0), "{engine}: {made:#?}");
        let settings = fs::read_to_string(fleet.root().join("new/carson.toml")).unwrap();
        let account = format!("[accounts.{engine}]");
        assert!(settings.contains(&account), "{settings}");
        let checked = fleet.carson(&["--home", "new", "config", "check"]);
        assert_eq!(checked.code, Some(0), "{engine}: {checked:#?}");
    }
}

/// A clone has two places where a branch could go: which one it is, and why, is said.
#[test]
fn a_clone_is_taken_itself_and_its_origin_is_named() {
    let fleet = fleet();
    let clone = fleet.root().join("clone");
    let remote = fleet.remote();
    let done = Command::new("git")
        .args(["clone", "--quiet", remote.to_str().unwrap(), "clone"])
        .current_dir(fleet.root())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let mut init = fleet.command(&["--home", "../new", "init"]);
    let made: Ran = init.current_dir(&clone).output().unwrap().into();
    assert_eq!(made.code, Some(0), "{made:#?}");
    let origin = remote.display();
    for said in [
        format!("repository: {}", clone.canonicalize().unwrap().display()),
        format!("not to its origin {origin}"),
        format!("`url = \"{origin}\"` in [repos.clone] of carson.toml takes that one"),
    ] {
        assert!(made.stdout.contains(&said), "{said}: {made:#?}");
    }
    // Which it does, also after the other one was looked at.
    let dry = ["--home", "new", "fire", "implementer", "--dry-run"];
    let own = clone.canonicalize().unwrap();
    let settings = fleet.root().join("new/carson.toml");
    for (from, to) in [(&own, &own), (&own, &fleet.remote())] {
        let (from, to) = (format!("{from:?}"), format!("{to:?}"));
        let text = fs::read_to_string(&settings).unwrap();
        assert!(text.contains(&from), "{text}");
        fs::write(&settings, text.replace(&from, &to)).unwrap();
        let ran = fleet.carson(&dry);
        assert_eq!(ran.code, Some(0), "{to}: {ran:#?}");
    }
}

#[test]
fn every_engine_can_be_the_first_one() {
    let fleet = fleet().with_program("agent", "echo '[SILENT]'");
    let refused = fleet.carson(&["--home", "new", "init", "--engine", "command"]);
    assert!(refused.stderr.contains("--binary"), "{refused:#?}");
    let refused = fleet.carson(&["--home", "new", "init", "--engine", "rehearsal"]);
    assert!(refused.stderr.contains("--script"), "{refused:#?}");
    fs::write(
        fleet.root().join("play.toml"),
        "[[when]]\ndo = [{ say = \"[SILENT]\" }]\n",
    )
    .unwrap();
    for (home, engine, more) in [
        ("one", "command", ["--binary", "agent"]),
        // A path through a directory that no session sees.
        ("two", "rehearsal", ["--script", "one/../play.toml"]),
    ] {
        let args = [
            "--home",
            home,
            "init",
            "--repo",
            "remote.git",
            "--engine",
            engine,
        ];
        let made = fleet.carson(&[&args[..], &more].concat());
        assert_eq!(made.code, Some(0), "{engine}: {made:#?}");
        let checked = fleet.carson(&["--home", home, "config", "check"]);
        assert_eq!(checked.code, Some(0), "{engine}: {checked:#?}");
        assert!(!checked.stdout.contains(engine), "{engine}: {checked:#?}");
    }
    // Nor is the script of settings that people write looked for there.
    let file = fleet.root().join("two/carson.toml");
    let settings = fs::read_to_string(&file).unwrap();
    assert!(!settings.contains(".."), "{settings}");
    fs::write(&file, settings.replace("/play.toml", "/one/../play.toml")).unwrap();
    let two = |args: &[&str]| fleet.ok(&[&["--home", "two"], args, &["--json"]].concat());
    let _ = two(&["issue", "create", "Work"]);
    let row = two(&["fire", "implementer"]);
    assert_eq!(row["outcome"], "SILENT", "{row:#}");
}

/// A role's folder that went away is missed by every word, and the verb that they name brings it back.
#[test]
fn a_role_that_is_missing_is_brought_back() {
    let fleet = fleet();
    let home = ["--home", "new"];
    let carson = |args: &[&str]| fleet.carson(&[&home[..], args].concat());
    assert_eq!(carson(&["init", "--repo", "remote.git"]).code, Some(0));
    fs::remove_dir_all(fleet.root().join("new/roles/implementer")).unwrap();
    let again = "carson init --role implementer";
    for args in [
        &["status"][..],
        &["config", "check"],
        &["fire", "implementer", "--dry-run"],
        &["roles", "show", "implementer"],
        &["daemon"],
        &["init"],
    ] {
        let said = carson(args);
        let said = said.stdout + &said.stderr;
        assert!(said.contains(again), "{args:?}: {said}");
    }
    let made = carson(&["init", "--role", "implementer"]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(
        made.stdout
            .contains("works in remote with the account claude"),
        "{made:#?}"
    );
    assert_eq!(carson(&["roles", "show", "implementer"]).code, Some(0));
    assert!(!carson(&["status"]).stdout.contains(again));
    let twice = carson(&["init", "--role", "implementer"]);
    assert_eq!(twice.code, Some(1), "{twice:#?}");
}

/// What settings name on this machine is looked at without a network.
#[test]
fn a_check_of_the_settings_sees_what_this_machine_lacks() {
    let fleet = TestFleet::new();
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let away = fleet.root().join("away.git");
    fs::write(
        &settings,
        format!(
            "{}\n[repos.away]\nurl = {away:?}\n[repos.far]\nurl = \"https://host.invalid/far.git\"\n\
             [accounts.gone]\nengine = \"command\"\nbinary = \"no-such-agent\"\n",
            text.replace("base = \"main\"", "base = \"trunk\"")
        ),
    )
    .unwrap();
    let checked = fleet.carson(&["config", "check"]);
    assert_eq!(checked.code, Some(0), "{checked:#?}");
    for said in [
        "account.gone.program: warning: the command CLI no-such-agent",
        "repo.away.remote: warning: ",
        "repo.widget.remote: warning: the repository has no branch \"trunk\"",
    ] {
        assert!(checked.stdout.contains(said), "{said}: {checked:#?}");
    }
    // That would need the network.
    assert!(!checked.stdout.contains("repo.far.remote"), "{checked:#?}");
}

#[test]
fn what_no_firing_could_work_with_is_refused_at_once() {
    let fleet = fleet().with_program("gh", "exit 1");
    checkout(&fleet, "empty", "main", &[]);
    checkout(&fleet, "alone", "main", &[("a", "a")]);
    let github = ["--forge", "github", "--slug", "acme/widget"];
    for (args, code, says) in [
        (
            &["--repo", "file:///nowhere/at-all"][..],
            1,
            "git ls-remote file:///nowhere/at-all",
        ),
        (&["--repo", "empty"], 1, "make a first commit"),
        (
            &["--repo", "remote.git", "--base", "trunk"],
            2,
            "the repository has: main",
        ),
        (
            &[&["--repo", "alone"], &github[..]].concat(),
            2,
            "no remote \"origin\"",
        ),
        (
            &[&["--repo", "remote.git"], &github[..]].concat(),
            1,
            "gh auth",
        ),
        (
            &["--repo", "remote.git", "--engine", "codex"],
            1,
            "accounts.codex.binary",
        ),
    ] {
        let fleet_args = [&["--home", "new", "init"], args].concat();
        let mut init = fleet.command(&fleet_args);
        if args.contains(&"codex") {
            // Whatever is installed on this machine.
            init.env("CARSON_ACCOUNTS__CODEX__BINARY", "no-such-program");
        }
        let refused: Ran = init.output().unwrap().into();
        assert_eq!(refused.code, Some(code), "{args:?}: {refused:#?}");
        assert!(refused.stderr.contains("hint: "), "{args:?}: {refused:#?}");
        assert!(refused.stderr.contains(says), "{args:?}: {refused:#?}");
        assert!(
            !fleet.root().join("new").exists(),
            "{args:?}: half a home was left"
        );
    }
}

/// What a person is told to do is for where the repository is, and for nowhere else.
#[test]
fn who_is_not_let_in_is_told_what_holds_there() {
    let refuses = "echo 'git@host: Permission denied (publickey).' >&2; exit 255";
    let fleet = fleet().with_program("ssh", refuses);
    for (host, is_github) in [("github.com", true), ("gitlab.example", false)] {
        let address = format!("git@{host}:acme/widget.git");
        let init = [
            "--home", "new", "init", "--forge", "local", "--repo", &address,
        ];
        let refused = fleet.carson(&init);
        assert_eq!(refused.code, Some(1), "{refused:#?}");
        let said = &refused.stderr;
        assert!(said.contains("git itself has to be let in"), "{said}");
        assert_eq!(said.contains("GitHub"), is_github, "{host}: {said}");
        assert_eq!(
            said.contains("`gh auth login`"),
            is_github,
            "{host}: {said}"
        );
    }
}

/// Who has no `gh` has a token in a file, and perhaps a GitHub of their own.
#[test]
fn a_token_in_a_file_needs_no_other_program() {
    let fleet = fleet().with_program("gh", "exit 1");
    let token = fleet.root().join("token");
    fs::write(&token, "token_of_carson").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let init = [
        ["--home", "new", "init", "--repo", "remote.git"],
        ["--forge", "github", "--slug", "acme/widget", "--yes"],
    ];
    let more = ["--token-file", "token", "--api-base", "http://127.0.0.1:9"];
    let made = fleet.carson(&[&init.concat()[..], &more].concat());
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains("labels bootstrap"), "{made:#?}");
    let settings = fs::read_to_string(fleet.root().join("new/carson.toml")).unwrap();
    assert!(
        settings.contains(&format!("token_file = {token:?}")),
        "{settings}"
    );
    assert!(
        settings.contains("api_base = \"http://127.0.0.1:9\""),
        "{settings}"
    );
    let checked = fleet.carson(&["--home", "new", "config", "check"]);
    assert_eq!(checked.code, Some(0), "{checked:#?}");
}

#[test]
fn a_role_of_ones_own_is_made_of_flags() {
    let fleet = TestFleet::new();
    fleet.account("claude", "engine = \"claude\"");
    fleet.commit_to_main(&[("Makefile", "test:\n\ttrue\n")]);
    let role = |name: &str| {
        let file = fleet.home().join(format!("roles/{name}/role.toml"));
        std::fs::read_to_string(file).unwrap_or_default()
    };
    let made = fleet.ok(&[
        "agent",
        "new",
        "docs",
        "--task",
        "Bring docs/ up to date \"now\".",
        "--cadence",
        "0 4 * * 1",
        "--title",
        "Docs # and so on",
        "--json",
    ]);
    assert_eq!(
        (&made["kind"], &made["account"]),
        (&"routine".into(), &"claude".into()),
        "{made:#}"
    );
    let docs: toml::Table = role("docs").parse().unwrap();
    assert_eq!(
        docs["work"]["task"].as_str(),
        Some("Bring docs/ up to date \"now\".")
    );
    assert_eq!(docs["title"].as_str(), Some("Docs # and so on"));
    assert_eq!(docs["cadence"][0].as_str(), Some("0 4 * * 1"));
    assert_eq!(docs["promise"]["run"].as_str(), Some("make test"));
    let made = fleet.ok(&[
        "agent",
        "new",
        "ping",
        "--run",
        "curl --fail https://acme.example",
        "--json",
    ]);
    assert_eq!(
        (&made["kind"], &made["account"]),
        (&"command".into(), &Value::Null),
        "{made:#}"
    );
    let ping: toml::Table = role("ping").parse().unwrap();
    assert_eq!(ping["title"].as_str(), Some("ping"));
    assert_eq!(
        ping["command"]["run"].as_str(),
        Some("curl --fail https://acme.example")
    );
    assert!(
        !ping.contains_key("promise")
            && !ping["command"].as_table().unwrap().contains_key("commit")
    );
    for (name, args, has_check) in [
        ("warden", &["--run", "make update"][..], true),
        ("tester", &["--run", "make coverage"], true),
        ("smoke", &["--run", "true"], false),
        ("deploy-health", &["--run", "true"], false),
        ("reviewer", &[], false),
        ("second", &["--like", "reviewer"], false),
    ] {
        let made = fleet.carson(&[&["agent", "new", name], args].concat());
        assert_eq!(made.code, Some(0), "{made:#?}");
        assert!(
            made.stdout.contains(&format!("fire {name} --dry-run")),
            "{made:#?}"
        );
        assert_eq!(role(name).contains("\n[promise]"), has_check, "{name}");
        let looked = fleet.carson(&["fire", name, "--dry-run"]);
        assert_eq!(looked.code, Some(0), "{looked:#?}");
    }
    assert_eq!(fleet.carson(&["config", "check"]).code, Some(0));
    // What is not said, and nobody can be asked, is said; nothing is left of it.
    for (args, says) in [
        (&["agent", "new", "other"][..], "what is other for?"),
        (
            &["agent", "new", "third", "--like", "smoke"],
            "what does third run?",
        ),
        (
            &["agent", "new", "third", "--like", "tester"],
            "what does third run?",
        ),
        (&["agent", "new", "docs", "--task", "x"], "exists already"),
        (
            &["agent", "new", "fifth", "--task", " "],
            "--task says nothing",
        ),
        (
            &["agent", "new", "planner", "--task", "x"],
            "is nothing for planner",
        ),
        (
            &["agent", "new", "fourth", "--like", "merger", "--run", "x"],
            "is nothing for fourth",
        ),
        (&["agent", "new", "Bad Name", "--task", "x"], "Bad Name"),
        (
            &[
                "agent",
                "new",
                "fourth",
                "--task",
                "x",
                "--cadence",
                "never",
            ],
            "cadence",
        ),
        (
            &[
                "agent", "new", "fourth", "--task", "x", "--engine", "nobody",
            ],
            "nobody",
        ),
        (
            &["agent", "new", "fourth", "--task", "x", "--repo", "nowhere"],
            "nowhere",
        ),
        (
            &["init", "--role", "smoke", "--repo", "widget"],
            "exists already",
        ),
    ] {
        let ran = fleet.carson(args);
        assert_ne!(ran.code, Some(0), "{ran:#?}");
        assert!(ran.stderr.contains(says), "{says}: {ran:#?}");
        assert!(role("fourth").is_empty() && role("third").is_empty() && role("other").is_empty());
    }
}

/// What a person answers at a terminal, a line each.
fn answers(fleet: &TestFleet, args: &[&str], lines: &str) -> Ran {
    let terminal = nix::pty::openpty(None, None).unwrap();
    nix::unistd::write(&terminal.master, lines.as_bytes()).unwrap();
    fleet
        .command(args)
        .stdin(terminal.slave)
        .output()
        .unwrap()
        .into()
}

/// What was found to install the dependencies runs when somebody says so.
#[test]
fn the_setup_that_was_found_is_asked_for() {
    let fleet = TestFleet::new().with_program("claude", "");
    let files = [
        ("package.json", "{\"scripts\": {\"test\": \"true\"}}\n"),
        ("package-lock.json", "{}\n"),
    ];
    checkout(&fleet, "code", "main", &files);
    let repo = fleet.root().join("code");
    fs::write(repo.join(".worktreeinclude"), ".env.test\n").unwrap();
    fs::write(repo.join(".env.test"), "A=1\n").unwrap();
    for (home, lines, runs) in [("one", "\n\n\n", true), ("two", "\nno\nno\n", false)] {
        let args = ["--home", home, "init", "--repo", repo.to_str().unwrap()];
        let made = answers(&fleet, &args, lines);
        assert_eq!(made.code, Some(0), "{made:#?}");
        assert!(
            made.stdout
                .contains("Run `npm ci` (by package-lock.json) in the sandbox"),
            "{made:#?}"
        );
        let settings = fs::read_to_string(fleet.root().join(home).join("carson.toml")).unwrap();
        let settings: toml::Table = settings.parse().unwrap();
        let setup = settings["repos"]["code"].get("setup");
        let setup = setup.and_then(toml::Value::as_array).map(Vec::len);
        assert_eq!(setup, runs.then_some(1), "{home}");
        let include = settings["repos"]["code"].get("include");
        let from = include.map(|include| include["from"].as_str().unwrap());
        assert_eq!(from, runs.then_some(repo.to_str().unwrap()), "{home}");
        let says = match runs {
            true => ["npm ci makes workspaces", ".env.test is in every workspace"],
            false => ["take the # off `setup`", "take the # off `include`"],
        };
        for says in says {
            assert!(made.stdout.contains(says), "{says}: {made:#?}");
        }
    }
}

/// What cannot be read is told with its line, here and in the settings, which are good all the same.
#[test]
fn an_environment_file_with_an_error_is_told_and_toolchains_are_proposed() {
    let fleet = fleet();
    let files = [
        ("environment.toml", "[setup]\nscript = npm ci\n"),
        ("mise.toml", "[tools]\nnode = \"20\"\n"),
        ("package-lock.json", "{}"),
    ];
    let dir = fleet.root().join("widget/.codex/environments");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join(files[0].0), files[0].1).unwrap();
    checkout(&fleet, "widget", "main", &files[1..]);
    let home = fleet.root().join("new");
    let mut init = fleet.command(&["--home", home.to_str().unwrap(), "init"]);
    init.current_dir(fleet.root().join("widget"));
    let made: Ran = init.output().unwrap().into();
    assert_eq!(made.code, Some(0), "{made:#?}");
    let said = format!("{}{}", made.stdout, made.stderr);
    for told in [
        "cannot be read: .codex/environments/environment.toml: ",
        " at line 2",
        "toolchains: \"mise\" would give sessions",
        "setup: npm ci would make",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    let settings = fs::read_to_string(home.join("carson.toml")).unwrap();
    assert!(
        settings.contains("# toolchains = [\"mise\"]\n"),
        "{settings}"
    );
    let text = settings.replace("# toolchains", "toolchains");
    fs::write(home.join("carson.toml"), text).unwrap();
    let checked = fleet.carson(&["--home", "new", "config", "check"]);
    assert!(
        checked.stdout.contains("1 role, 1 repository"),
        "{checked:#?}"
    );
}

#[test]
fn a_role_is_made_of_answers() {
    let fleet = TestFleet::new();
    fleet.account("claude", "engine = \"claude\"");
    let role = |name: &str| -> toml::Table {
        let path = fleet.home().join("roles").join(name).join("role.toml");
        fs::read_to_string(path).unwrap().parse().unwrap()
    };

    let asked = answers(
        &fleet,
        &["agent", "new", "docs"],
        "\nMend docs/.\n0 4 * * 1\n",
    );
    assert_eq!(asked.code, Some(0), "{asked:#?}");
    for question in ["What is it for?", "What is it to do", "When?"] {
        assert!(asked.stdout.contains(question), "{question}: {asked:#?}");
    }
    assert_eq!(role("docs")["work"]["task"].as_str(), Some("Mend docs/."));
    assert_eq!(role("docs")["cadence"][0].as_str(), Some("0 4 * * 1"));

    let asked = answers(&fleet, &["agent", "new", "ping"], "smoke\nmake ping\n\n");
    assert_eq!(asked.code, Some(0), "{asked:#?}");
    assert_eq!(role("ping")["command"]["run"].as_str(), Some("make ping"));

    // What is no answer makes nothing, and an answer that was given by a flag is not asked for.
    for (lines, says) in [
        ("nobody\n", "no role \"nobody\""),
        ("\n\n", "--task is missing"),
    ] {
        let asked = answers(&fleet, &["agent", "new", "third"], lines);
        assert_eq!(asked.code, Some(2), "{asked:#?}");
        assert!(asked.stderr.contains(says), "{says}: {asked:#?}");
        assert!(!fleet.home().join("roles/third").exists());
    }
    let args = [
        "agent",
        "new",
        "third",
        "--task",
        "Tidy.",
        "--cadence",
        "@daily",
    ];
    let asked = answers(&fleet, &args, "");
    assert_eq!(asked.code, Some(0), "{asked:#?}");
    assert!(!asked.stdout.contains('?'), "{asked:#?}");
}

#[test]
fn an_account_of_an_endpoint_names_its_model() {
    let fleet = TestFleet::new().with_program("carson-agent", "echo 'carson-agent 0.1.0'");
    checkout(&fleet, "code", "main", &[("Makefile", "test:\n\ttrue\n")]);
    let repo = fleet.root().join("code");
    let init = [
        "--home", "new", "init", "--yes", "--engine", "agent", "--repo",
    ];
    let made = fleet.carson(&[&init[..], &[repo.to_str().unwrap()]].concat());
    assert_eq!(made.code, Some(0), "{made:#?}");
    let file = fleet.root().join("new/carson.toml");
    let settings = fs::read_to_string(&file).unwrap();
    assert!(settings.contains("# upstream = "), "{settings}");
    fs::write(&file, settings.replace("model = ", "# model = ")).unwrap();
    let checked = fleet.carson(&["--home", "new", "config", "check"]);
    let said = format!("{}{}", checked.stdout, checked.stderr);
    assert_eq!(checked.code, Some(2), "{said}");
    assert!(said.contains("engine \"agent\" needs a model"), "{said}");
}

/// Who says nothing gets the CLI that is signed in; who has none is told what is looked for.
#[test]
fn the_agent_is_the_one_that_is_signed_in() {
    let fleet = TestFleet::new()
        .with_program("claude", "")
        .with_program("codex", "");
    let sign_in = fleet.root().join("operator/.codex");
    fs::create_dir_all(&sign_in).unwrap();
    fs::write(sign_in.join("auth.json"), "{}").unwrap();
    let made = fleet.ok(&["--home", "one", "init", "--repo", "remote.git", "--json"]);
    assert_eq!(made["engine"], "codex", "{made:#}");
    assert_eq!(made["forge"], "local", "{made:#}");
    assert!(made["ok"].as_u64().unwrap() > 10, "{made:#}");
    assert_eq!(made["worst_day"]["cost_usd"], 40.0, "{made:#}");

    // A machine with git, a shell and nothing else.
    let mut bare = TestFleet::new();
    let bin = bare.root().join("bin");
    fs::create_dir(&bin).unwrap();
    for program in ["git", "sh"] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output()
            .unwrap();
        let found = String::from_utf8(found.stdout).unwrap();
        std::os::unix::fs::symlink(found.trim(), bin.join(program)).unwrap();
    }
    bare.set_env("PATH", &bin);
    let refused = bare.carson(&["--home", "new", "init", "--repo", "remote.git"]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    for said in [
        "none of claude, codex",
        "carson demo",
        "--engine ENGINE --binary PATH",
    ] {
        assert!(refused.stderr.contains(said), "{said}: {refused:#?}");
    }
    assert!(!bare.root().join("new").exists());
}

/// The address of a repository says where its issues are; where nobody is let in there, they are files.
#[test]
fn the_forge_is_the_one_that_the_origin_names() {
    // Who answers for github.com.
    let fleet = fleet();
    let remote = fleet.remote();
    let serve = format!("exec git upload-pack {}", remote.display());
    let mut fleet = fleet
        .with_program("ssh", &serve)
        .with_program("gh", "exit 1");
    fleet.set_env("TZ", "Asia/Tokyo");
    let clone = fleet.root().join("clone");
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    let (from, to) = (remote.to_str().unwrap(), clone.to_str().unwrap());
    git(&["clone", "--quiet", from, to]);
    let there = "git@github.com:acme/widget.git";
    git(&["-C", to, "remote", "set-url", "origin", there]);

    let init = |home: &str, more: &[&str]| {
        let begin = ["--home", home, "init", "--repo", "clone", "--yes"];
        fleet.carson(&[&begin[..], more].concat())
    };
    let made = init("files", &[]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains("does not let Carson in"), "{made:#?}");
    let settings =
        |home: &str| fs::read_to_string(fleet.root().join(home).join("carson.toml")).unwrap();
    assert!(
        settings("files").contains("forge = \"local\""),
        "{}",
        settings("files")
    );
    assert!(
        settings("files").contains("zone = \"Asia/Tokyo\""),
        "{}",
        settings("files")
    );

    let token = fleet.root().join("token");
    fs::write(&token, "token_of_carson").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let made = init(
        "hosted",
        &["--token-file", "token", "--api-base", "http://127.0.0.1:9"],
    );
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(
        made.stdout.contains("those of acme/widget on github"),
        "{made:#?}"
    );
    let text = settings("hosted");
    for line in ["forge = \"github\"", "slug = \"acme/widget\"", there] {
        assert!(text.contains(line), "{line}: {text}");
    }

    // A forge that was named is never another one.
    let refused = init("never", &["--forge", "github"]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    assert!(refused.stderr.contains("gh auth"), "{refused:#?}");
    let unnamed = fleet.carson(&[
        "--home",
        "never",
        "init",
        "--repo",
        "remote.git",
        "--forge",
        "github",
    ]);
    assert_eq!(unnamed.code, Some(2), "{unnamed:#?}");
    assert!(unnamed.stderr.contains("--slug OWNER/NAME"), "{unnamed:#?}");
}

/// What is known of a chat at the beginning stands in the settings.
#[test]
fn a_chat_that_is_given_is_told() {
    let fleet = fleet();
    let token = fleet.root().join("slack.token");
    fs::write(&token, "xoxb-of-carson").unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let init = [
        "--home",
        "new",
        "init",
        "--repo",
        "remote.git",
        "--slack-channel",
        "C1",
    ];
    let refused = fleet.carson(&init);
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    let text = carson_with_dead_slack(
        &fleet,
        &[&init[..], &["--slack-token-file", "slack.token"]].concat(),
    );
    assert!(text.contains("[slack]\nchannel = \"C1\"\n"), "{text}");
    assert!(text.contains(&format!("token_file = {token:?}")), "{text}");
}

/// Runs it where Slack is an address of this machine that nobody serves; the settings that it wrote.
fn carson_with_dead_slack(fleet: &TestFleet, args: &[&str]) -> String {
    let mut init = fleet.command(args);
    init.env("CARSON_SLACK__API_BASE", "http://127.0.0.1:9");
    let made: Ran = init.output().unwrap().into();
    assert_eq!(made.code, Some(0), "{made:#?}");
    assert!(made.stdout.contains("sink.slack.answers"), "{made:#?}");
    fs::read_to_string(fleet.root().join("new/carson.toml")).unwrap()
}

/// Files have no slug, no token and no address, and an address is one.
#[test]
fn options_that_mean_another_forge_are_refused() {
    let fleet = fleet();
    checkout(&fleet, "widget", "main", &[("README.md", "")]);
    for option in [
        ["--slug", "acme/widget"],
        ["--token-file", "token"],
        ["--api-base", "http://127.0.0.1:9"],
    ] {
        let args = [
            "--home", "new", "init", "--repo", "widget", "--forge", "local",
        ];
        let refused = fleet.carson(&[&args[..], &option].concat());
        assert_eq!(refused.code, Some(2), "{refused:#?}");
        assert!(refused.stderr.contains(option[0]), "{refused:#?}");
    }
    let args = [
        "--home", "new", "init", "--repo", "widget", "--forge", "github",
    ];
    let more = ["--slug", "acme/widget", "--api-base", "nonsense"];
    let refused = fleet.carson(&[&args[..], &more].concat());
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.stderr.contains("https://"), "{refused:#?}");
    assert!(!fleet.root().join("new").exists());
}

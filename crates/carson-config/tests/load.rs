//! Loading: the examples of the documentation, every kind of mistake, the environment.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "load/abilities.rs"]
mod abilities;
#[path = "load/aside.rs"]
mod aside;
#[path = "load/egress.rs"]
mod egress;
#[path = "load/memory.rs"]
mod memory;
#[path = "load/metrics.rs"]
mod metrics;
#[path = "load/servers.rs"]
mod servers;
#[path = "load/templates.rs"]
mod templates;
#[path = "load/warned.rs"]
mod warned;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use carson_config::{Findings, LoadOptions, Loaded, load, provenance};

fn options(home: &Path, env: &[(&str, &str)]) -> LoadOptions {
    LoadOptions {
        files: None,
        home: home.to_owned(),
        env: env
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect(),
        user_home: Some("/home/ann".into()),
        machine: "Box.local".into(),
    }
}

fn write(home: &Path, file: &str, text: &str) {
    let path = home.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
}

const SETTINGS: &str = r#"
[fleet]
name = "home"
zone = "Europe/Berlin"
max_firings = 2

[repos.widget]
url = "git@github.com:acme/widget.git"
forge = "github"
slug = "acme/widget"
base = "trunk"
protected = ["main", "release/*"]

[accounts.claude]
engine = "claude"
binary = "claude"
env = { CLAUDE_CONFIG_DIR = "~/.claude" }

[github]
token_file = "github.token"
"#;

const ROLE: &str = r#"
title = "Implementer"
repos = ["widget"]
cadence = ["*/20 * * * *"]
work = { from = "issues", label = "carson:ready" }
engines = ["claude"]
stages = ["plan", "review", "execute", "verify", "diff-review"]
catch_up = "one"
overlap = "skip"
splay = "0s"

[limits]
max_turns = 60
wall_clock = "45m"
max_attempts = 3
max_cost_usd = 5.0

[promise]
run = "cargo test"
timeout = "10m"

[identity]
env = { AWS_PROFILE = "implementer" }
"#;

fn good_home() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "carson.toml", SETTINGS);
    write(dir.path(), "roles/implementer/role.toml", ROLE);
    write(dir.path(), "github.token", "ghp_x");
    dir
}

fn findings(home: &Path) -> String {
    let error: Findings = load(&options(home, &[])).unwrap_err();
    error
        .to_string()
        .replace(&home.display().to_string(), "HOME")
}

#[test]
fn the_documented_example_loads() {
    let dir = good_home();
    let Loaded { fleet, .. } = load(&options(dir.path(), &[])).unwrap();
    let role = fleet.roles.values().next().unwrap();
    assert_eq!(role.limits.wall_clock.as_secs(), 45 * 60);
    assert_eq!(role.promise.as_ref().unwrap().run, "cargo test");
    assert!(
        role.prompts.plan.contains("{{ task }}"),
        "shipped prompts are inherited"
    );
    let repo = fleet.repos.values().next().unwrap();
    assert!(
        repo.protected.contains(&"trunk".to_owned()),
        "the base is always protected"
    );
    let account = fleet.accounts.values().next().unwrap();
    assert_eq!(account.env["CLAUDE_CONFIG_DIR"], "/home/ann/.claude");
    assert_eq!(fleet.host.as_str(), "box-local");
}

#[test]
fn every_mistake_is_found_at_once_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    write(
        dir.path(),
        "carson.toml",
        "[fleet]\nzone = \"Mars/Base\"\nmax_firing = 2\nname = 7\n\n[repos.Widget]\nurl = \"x\"\nforge = \"forgejo\"\n\n[accounts.claude]\nengin = \"claude\"\n\n[extra]\n",
    );
    write(
        dir.path(),
        "roles/one/role.toml",
        "cadence = [\"* * * *\"]\nsplay = \"5\"\n[limits]\nmax_turns = 0\nwall_clock = 45\nmax_cost_usd = -1\n",
    );
    write(dir.path(), "roles/two/role.toml", "title = \n");
    std::fs::create_dir_all(dir.path().join("roles/Three")).unwrap();
    std::fs::create_dir_all(dir.path().join("roles/four")).unwrap();
    insta::assert_snapshot!(findings(dir.path()));
}

#[test]
fn names_of_others_and_keys_that_are_none_are_refused() {
    let dir = good_home();
    let settings = dir.path().join("carson.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let account = "[accounts.forge-github]\nengine = \"command\"\nbinary = \"/bin/true\"\n";
    std::fs::write(&settings, format!("{text}\n{account}")).unwrap();
    let role = dir.path().join("roles/implementer/role.toml");
    let text = std::fs::read_to_string(&role).unwrap();
    std::fs::write(
        &role,
        text.replace("[identity]", "[identity]\ngit_sign = \"x509:me\""),
    )
    .unwrap();
    let found = findings(dir.path());
    assert!(
        found.contains("a name that begins with forge- is that of a forge's limit"),
        "{found}"
    );
    assert!(
        found.contains("identity.git_sign: \"x509:me\" names no key"),
        "{found}"
    );
}

#[test]
fn a_setup_that_no_shell_takes_is_found() {
    let home = good_home();
    let with_setup = |setup: &str| {
        let repo = "[repos.widget]\n";
        assert!(SETTINGS.contains(repo), "{SETTINGS}");
        let text = SETTINGS.replace(repo, &format!("{repo}setup = {setup}\n"));
        write(home.path(), "carson.toml", &text);
        load(&options(home.path(), &[]))
    };
    assert!(with_setup("[\"npm ci\"]").is_ok());
    assert!(with_setup("[\"a\\u0000b\"]").is_err());
    assert!(findings(home.path()).contains("holds a NUL"));
    assert!(with_setup(&format!("[{:?}]", "true; ".repeat(20_000))).is_err());
    assert!(findings(home.path()).contains("put them into a script"));
}

#[test]
fn who_has_no_thread_or_no_pull_request_is_granted_no_words_of_one() {
    let dir = good_home();
    for (kind, grant, says) in [
        (
            "implementer",
            "replies = 1",
            "grant.replies: a role of kind \"implementer\" is given no threads of a review",
        ),
        (
            "triager",
            "pull = true",
            "grant.pull: a role of kind \"triager\" makes no pull request",
        ),
    ] {
        let role = format!(
            "kind = {kind:?}\nrepos = [\"widget\"]\nengines = [\"claude\"]\n[grant]\n{grant}\n"
        );
        write(dir.path(), "roles/other/role.toml", &role);
        let found = findings(dir.path());
        assert!(found.contains(says), "{found}");
    }
}

#[test]
fn what_crosses_files_is_found_too() {
    let dir = good_home();
    write(
        dir.path(),
        "roles/implementer/role.toml",
        "repos = [\"widgit\"]\nengines = []\nstages = [\"review\", \"deploy\"]\ncadence = [\"61 * * * *\"]\n[promise]\ntimeout = \"1m\"\n",
    );
    std::fs::set_permissions(
        dir.path().join("github.token"),
        PermissionsExt::from_mode(0o644),
    )
    .unwrap();
    insta::assert_snapshot!(findings(dir.path()));
}

#[test]
fn the_environment_overrides_and_is_told() {
    let dir = good_home();
    let env = [
        ("CARSON_FLEET__MAX_FIRINGS", "5"),
        ("CARSON_HOME", "/x"),
        ("CARSON_FIRING", "y"),
    ];
    let loaded = load(&options(dir.path(), &env)).unwrap();
    assert_eq!(loaded.fleet.max_firings, 5);
    let all = provenance(&options(dir.path(), &env)).unwrap();
    let origin = |key: &str| all.0[key].1.to_string();
    assert_eq!(
        origin("fleet.max_firings"),
        "environment CARSON_FLEET__MAX_FIRINGS"
    );
    assert!(origin("fleet.zone").ends_with("carson.toml:4"));
    assert_eq!(
        origin("repos.widget.forge").split(':').next_back(),
        Some("9")
    );
    let unknown = load(&options(dir.path(), &[("CARSON_FLEET__MAX", "1")])).unwrap_err();
    assert!(
        unknown
            .to_string()
            .contains("environment CARSON_FLEET__MAX"),
        "{unknown}"
    );
    let misspelt = [("CARSON_FLEET__MAX_FIRING", "1")];
    let misspelt = load(&options(dir.path(), &misspelt)).unwrap_err();
    let meant = "did you mean CARSON_FLEET__MAX_FIRINGS?";
    assert!(misspelt.to_string().contains(meant), "{misspelt}");
}

#[test]
fn what_is_shown_holds_no_secret() {
    let dir = good_home();
    let env = [
        (
            "CARSON_DATABASE__URL",
            "postgres://carson:hunter2@db/carson",
        ),
        (
            "CARSON_REPOS__WIDGET__URL",
            "https://bot:hunter2@git.example/a/b",
        ),
        (
            "CARSON_ACCOUNTS__CLAUDE__ENV",
            "{ ANTHROPIC_API_KEY = \"hunter2\", LANG = \"C\" }",
        ),
    ];
    let loaded = load(&options(dir.path(), &env)).unwrap();
    let all = provenance(&options(dir.path(), &env)).unwrap();
    let shown = serde_json::to_string(&all).unwrap();
    assert!(!shown.contains("hunter2"), "{shown}");
    for kept in ["postgres://carson:***@db/carson", "[given]", "\"C\""] {
        assert!(shown.contains(kept), "no {kept}: {shown}");
    }
    // What is used is what was written.
    assert!(loaded.fleet.database.contains("hunter2"));
}

#[test]
fn each_section_of_a_sink_is_checked_where_it_stands() {
    let dir = good_home();
    let with = |more: &str| write(dir.path(), "carson.toml", &format!("{SETTINGS}\n{more}"));
    let names = |env: &[(&str, &str)]| {
        let loaded = load(&options(dir.path(), env)).unwrap();
        let sinks = loaded.fleet.sinks.iter().map(|sink| sink.name());
        let all = provenance(&options(dir.path(), env)).unwrap();
        (sinks.collect::<Vec<_>>(), all)
    };
    let secret = dir.path().join("chat.token");
    std::fs::write(&secret, "xoxb-1").unwrap();
    std::fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let file = "token_file = \"chat.token\"";
    assert_eq!(names(&[]).0, Vec::<&str>::new());
    with(&format!(
        "[webhook]\nurl = \"https://a.example/\"\n[slack]\n{file}"
    ));
    assert_eq!(names(&[]).0, ["slack", "webhook"]);
    // Variables of the environment and defaults are as everywhere.
    let url = ("CARSON_WEBHOOK__URL", "https://b.example/");
    let shown = names(&[url]).1.0;
    assert_eq!(shown["webhook.url"].0, "https://b.example/");
    assert_eq!(
        shown["webhook.url"].1.to_string(),
        "environment CARSON_WEBHOOK__URL"
    );
    assert_eq!(shown["slack.channel"].0, "#carson");
    with("");
    assert_eq!(names(&[url]).0, ["webhook"]);

    with("[webhook]\nurl = 7\nurl_fil = \"x\"\n[slack]\ntoken_file = \"gone\"");
    let found = findings(dir.path());
    for says in [
        "webhook.url: 7 is not a text in quotes",
        "webhook.url_fil: there is no such key",
        "did you mean webhook.url_file?",
        "slack.token_file: ",
    ] {
        assert!(found.contains(says), "no {says}: {found}");
    }
    with("[webhook]\nurl = \"http://a.example/\"");
    let warnings = load(&options(dir.path(), &[])).unwrap().warnings;
    assert_eq!(warnings[0].key, "webhook.url");
    assert_eq!(warnings[0].line, Some(SETTINGS.lines().count() + 3));
}

#[test]
fn a_key_under_its_old_name_is_taken_and_told() {
    let dir = good_home();
    let with = |line: &str| {
        let account = "engine = \"claude\"\nbinary = \"claude\"\n";
        let command = format!("engine = \"command\"\nbinary = \"x\"\n{line}\n");
        write(
            dir.path(),
            "carson.toml",
            &SETTINGS.replace(account, &command),
        );
    };
    let speaks = |env: &[(&str, &str)]| {
        let loaded = load(&options(dir.path(), env)).unwrap();
        let account = loaded.fleet.accounts.into_values().next().unwrap();
        let all = provenance(&options(dir.path(), env)).unwrap();
        let origin = all.0["accounts.claude.speaks"].1.to_string();
        let warned: Vec<_> = loaded.warnings.iter().map(ToString::to_string).collect();
        (account.speaks.unwrap(), origin, warned.join("\n"))
    };
    with("limits = \"codex\"");
    let (value, origin, warned) = speaks(&[]);
    assert_eq!(value, "codex");
    assert!(origin.ends_with("carson.toml:17"), "{origin}");
    let told = "carson.toml:17: accounts.claude.limits: warning: it has another name now\n  \
                hint: rename it to accounts.claude.speaks";
    assert!(warned.ends_with(told), "{warned}");
    let variable = "CARSON_ACCOUNTS__CLAUDE__LIMITS";
    let (value, origin, warned) = speaks(&[(variable, "gemini")]);
    assert_eq!(
        (value.as_str(), origin),
        ("gemini", format!("environment {variable}"))
    );
    assert!(warned.contains(variable), "{warned}");
    with("limits = \"codex\"\nspeaks = \"codex\"");
    assert!(findings(dir.path()).contains("the old name of accounts.claude.speaks"));
    with("limits = \"gpt\"");
    assert!(findings(dir.path()).contains(":17: accounts.claude.limits: \"gpt\" is not one of"));
}

#[test]
fn a_missing_home_says_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    assert!(findings(dir.path()).contains("carson init"));
}

#[test]
fn the_schemas_that_are_checked_in_are_the_ones_that_hold() {
    let (settings, role) = carson_config::schema();
    for (name, schema) in [("carson", settings), ("role", role)] {
        let file = format!(
            "{}/../../docs/schema/{name}.schema.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let held = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("CARSON_UPDATE").is_some() {
            std::fs::write(&file, &held).unwrap();
        }
        let written = std::fs::read_to_string(&file).unwrap_or_default();
        assert_eq!(written, held, "run this test with CARSON_UPDATE=1");
    }
}

#[test]
fn what_opens_a_sandbox_is_found_or_warned_of() {
    let dir = good_home();
    let role = |more: &str| {
        write(
            dir.path(),
            "roles/implementer/role.toml",
            &format!("{more}\n{ROLE}"),
        );
    };
    role("sandbox = \"off\"\npush = \"agent\"\npass = [\"CARGO_*\", \"GH_TOKEN\"]");
    let loaded = load(&options(dir.path(), &[])).unwrap();
    let warned: Vec<(&str, Option<usize>)> = loaded
        .warnings
        .iter()
        .map(|warning| (warning.key.as_str(), warning.line))
        .collect();
    assert_eq!(
        warned,
        [("sandbox", Some(1)), ("push", Some(2)), ("pass", Some(3))]
    );
    let role_file = "sandbox = \"maybe\"\npush = \"model\"\npass = [\"*\"]\n\
         paths = { read = [\"/\", \"~/.ssh/config\", \"a/../b\"], write = [\"~\", \".\"] }";
    role(role_file);
    let found = load(&options(dir.path(), &[])).unwrap_err();
    let about = |key: &str| found.0.iter().filter(|one| one.key == key).count();
    let counts = ["sandbox", "push", "pass", "paths.read", "paths.write"].map(about);
    assert_eq!(counts, [1, 1, 1, 3, 2], "{found}");
    assert!(found.0.iter().all(|one| one.line.is_some()), "{found}");
}

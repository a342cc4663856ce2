//! `carson doctor`: independent checks with ids, what would mend each, and an exit code. Preflight
//! asks the part of the same list that a firing needs.

mod forge_limit;
mod labels;
mod preflight;
mod releases;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use carson_tests::fleet::{Ran, TestFleet};
use carson_tests::judge::sound;
use serde_json::{Value, json};
use wiremock::matchers::{any, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn checks(ran: &Ran) -> Vec<Value> {
    let shown = ran.json();
    shown["checks"].as_array().unwrap().clone()
}

fn check<'c>(all: &'c [Value], id: &str) -> &'c Value {
    let found = all.iter().find(|one| one["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {all:#?}"))
}

/// Changes carson.toml.
fn settings(fleet: &TestFleet, change: impl FnOnce(String) -> String) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, change(text)).unwrap();
}

/// A program of a few lines of shell.
fn program(path: &Path, lines: &str) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // One that stands there may have other names.
    let _ = fs::remove_file(path);
    fs::write(path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    path.to_owned()
}

fn secret(fleet: &TestFleet, name: &str) {
    let file = fleet.home().join(name);
    fs::write(&file, "ghp_not-a-real-one\n").unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
}

/// Adds `[github]` and a repository `hub` there, whose remote is the fleet's own.
fn with_github(fleet: &TestFleet, server: &MockServer) {
    secret(fleet, "github.token");
    let (uri, remote) = (server.uri(), fleet.remote());
    settings(fleet, |text| {
        format!(
            "{text}\n[github]\napi_base = {uri:?}\ntoken_file = \"github.token\"\n\n\
             [repos.hub]\nurl = {remote:?}\nforge = \"github\"\nslug = \"acme/hub\"\nbase = \"main\"\n"
        )
    });
}

/// An answer of GitHub's with what it tells of the token.
fn github_answer(scopes: &str, left: &str, body: Value) -> ResponseTemplate {
    ResponseTemplate::new(200)
        .insert_header("x-oauth-scopes", scopes)
        .insert_header("x-ratelimit-limit", "5000")
        .insert_header("x-ratelimit-remaining", left)
        .insert_header("x-ratelimit-reset", "1800000000")
        .set_body_json(body)
}

fn repository(may_push: bool) -> Value {
    json!({"private": true, "permissions": {"push": may_push}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_home_has_nothing_that_is_broken() {
    let server = MockServer::start().await;
    let hub = Mock::given(method("GET")).and(path("/repos/acme/hub"));
    let fine = github_answer("repo", "4999", repository(true));
    hub.respond_with(fine).expect(2..).mount(&server).await;
    let fleet = sound();
    with_github(&fleet, &server);
    let claude = program(
        &fleet.root().join("bin/claude"),
        "echo '2.1.329 (Claude Code)'",
    );
    fleet.account(
        "keyed",
        &format!(
            "engine = \"claude\"\nbinary = {claude:?}\nenv = {{ ANTHROPIC_API_KEY = \"sk-x\" }}"
        ),
    );
    assert_eq!(fleet.fire("hand").code, Some(0));

    let ran = fleet.carson(&["doctor", "--json"]);

    let all = checks(&ran);
    assert_eq!(ran.code, Some(0), "{all:#?}");
    // What a kernel, a container or a small machine lacks, and what an account chose.
    let known = [
        "sandbox.",
        "home.filesystem",
        "memory.available",
        "account.keyed.exposure",
    ];
    for one in &all {
        let id = one["id"].as_str().unwrap();
        let warned = one["health"] == "warning" && known.iter().any(|known| id.starts_with(known));
        assert!(one["health"] == "ok" || warned, "{one:#}");
        assert_eq!(one["remedy"].is_null(), one["health"] == "ok", "{one:#}");
    }
    for id in [
        "settings",
        "git.version",
        "clock.year",
        "memory.available",
        "sandbox.level",
        "sandbox.namespaces",
        "sandbox.cgroup",
        "sandbox.weaker",
        "home.private",
        "home.writable",
        "home.filesystem",
        "disk.writable",
        "disk.space",
        "disk.files",
        "database.writable",
        "clock.order",
        "hook.answers",
        "account.play.program",
        "account.play.script",
        "account.keyed.program",
        "account.keyed.version",
        "account.keyed.sign_in",
        "account.keyed.exposure",
        "repo.widget.room",
        "repo.widget.forge",
        "repo.widget.remote",
        "repo.hub.forge",
        "repo.hub.rate",
        "repo.hub.remote",
    ] {
        check(&all, id);
    }
    let room = check(&all, "repo.widget.room")["found"].to_string();
    assert!(
        room.contains("1 files and 1 MiB are a checkout of it"),
        "{room}"
    );
    // A list that a person reads has the same ids and the same end.
    let text = fleet.carson(&["doctor"]).stdout;
    assert!(
        text.contains("ok      repo.hub.forge: the token is accepted at acme/hub"),
        "{text}"
    );
    assert!(text.ends_with(", 0 errors\n"), "{text}");
}

/// Spoils nearly everything that one user can spoil in one home.
async fn spoiled(server: &MockServer) -> TestFleet {
    let github = Mock::given(any());
    let poor = github_answer("read:org", "3", repository(false));
    github.respond_with(poor).mount(server).await;
    let fleet = TestFleet::new().with_own_binaries();
    with_github(&fleet, server);
    let (root, home) = (fleet.root().to_owned(), fleet.home());
    program(&fleet.binary().with_file_name("carson-hook"), "exit 0");
    let git = "[ \"$*\" = version ] || case \" $* \" in *' version '*) ;; *) PATH=\"$REST\" exec git \"$@\" ;; esac\necho git version 2.30.2";
    let path = std::env::var("PATH").unwrap();
    program(&root.join("bin/git"), &git.replace("$REST", &path));
    let old = program(&root.join("bin/claude"), "echo '2.1.12 (Claude Code)'");
    let older = program(&root.join("bin/codex"), "echo 'codex-cli 0.14.2'");
    let script = root.join("play.toml");
    fs::write(&script, "[[when]]\ndo = [{ dance = 1 }]\n").unwrap();
    settings(&fleet, |text| {
        let text = text.replace("[fleet]\n", "[fleet]\nmin_free_mb = 4294967295\n");
        format!(
            "{text}
[repos.away]\nurl = \"{away}\"\nbase = \"main\"
[repos.trunk]\nurl = {remote:?}\nbase = \"trunk\"
[accounts.gone]\nengine = \"command\"\nbinary = \"no-such-agent\"
[accounts.old]\nengine = \"claude\"\nbinary = {old:?}\nenv = {{ ANTHROPIC_API_KEY = \"sk-x\" }}
[accounts.nobody]\nengine = \"claude\"\nbinary = {old:?}
[accounts.codex]\nengine = \"codex\"\nbinary = {older:?}\nenv = {{ CODEX_HOME = {root:?} }}
[accounts.play]\nengine = \"rehearsal\"\nscript = {script:?}
",
            away = root.join("away.git").display(),
            remote = fleet.remote(),
        )
    });
    let issues = home.join("forge/widget/issues");
    fs::create_dir_all(&issues).unwrap();
    fs::write(issues.join("0001.md"), "no front matter\n").unwrap();
    fs::create_dir_all(home.join("state")).unwrap();
    fs::write(home.join("state/carson.db"), vec![b'x'; 8192]).unwrap();
    fs::write(home.join("transcripts"), "").unwrap();
    fs::set_permissions(home.join("carson.toml"), PermissionsExt::from_mode(0o666)).unwrap();
    let path = format!("{}:{path}", root.join("bin").display());
    fleet.with_env("PATH", path)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_problem_of_a_broken_home_is_told_with_its_remedy() {
    let server = MockServer::start().await;
    let fleet = spoiled(&server).await;

    let ran = fleet.carson(&["doctor", "--json"]);

    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let all = checks(&ran);
    for (id, found, remedy) in [
        ("git.version", "2.30.2 is too old", "git"),
        (
            "home.private",
            "carson.toml can be changed by others (mode 0666)",
            "chmod go-w",
        ),
        (
            "home.writable",
            "transcripts is no directory",
            "CARSON_HOME",
        ),
        ("disk.space", "fleet.min_free_mb is 4294967295", "make room"),
        ("database.writable", "carson.db", "backup"),
        ("hook.answers", "the hook answers", "install carson-hook"),
        (
            "carson.versions",
            "carson-hook says no version",
            "cargo xtask install",
        ),
        (
            "account.gone.program",
            "no-such-agent",
            "accounts.gone.binary",
        ),
        ("account.old.version", "2.1.12", "claude update"),
        ("account.nobody.sign_in", "nobody is signed in", "/login"),
        ("account.codex.version", "0.14.2", "@openai/codex"),
        ("account.codex.sign_in", "auth.json", "codex login"),
        ("account.play.script", "line 2", "mend the file"),
        ("repo.widget.forge", "0001.md", "+++"),
        ("repo.away.remote", "away.git cannot be read", "url"),
        ("repo.trunk.remote", "has no branch \"trunk\"", "base"),
        (
            "repo.hub.forge",
            "lacks the scope repo; it has read:org",
            "renew the token",
        ),
        (
            "repo.hub.rate",
            "only 3 of 5000 requests are left",
            "ends by itself",
        ),
    ] {
        let one = check(&all, id);
        let says =
            |key: &str, text: &str| one[key].as_str().is_some_and(|said| said.contains(text));
        assert_eq!(one["health"], "error", "{one:#}");
        assert!(says("found", found), "{found}: {one:#}");
        assert!(says("remedy", remedy), "{remedy}: {one:#}");
    }
    // One that is broken hides no other: these hold in the same home.
    for id in [
        "clock.year",
        "disk.writable",
        "account.old.sign_in",
        "repo.hub.remote",
    ] {
        assert_eq!(check(&all, id)["health"], "ok");
    }
    let text = ran.stdout + &fleet.carson(&["doctor"]).stdout;
    assert!(
        !text.contains("ghp_not-a-real-one") && !text.contains("sk-x"),
        "{text}"
    );
    assert!(text.contains(", 19 errors\n"), "{text}");
}

#[test]
fn a_look_changes_nothing() {
    let fleet = sound();
    let before = fleet.carson(&["doctor", "--json"]);
    assert_eq!(before.code, Some(0), "{before:#?}");
    let files = |dir: &str| carson_tests::fleet::tree(&fleet.home().join(dir)).len();
    let counted = || ["forge", "mirrors", "benches", "logs"].map(files);
    let first = counted();
    assert_eq!(fleet.carson(&["doctor"]).code, Some(0));
    assert_eq!(counted(), first);
    assert_eq!(fleet.ok(&["firings", "--all", "--json"]), json!([]));
}

#[test]
fn how_an_account_signs_in_and_who_can_read_that_are_two_questions() {
    let fleet = TestFleet::new();
    let body =
        "engine = \"claude\"\nbinary = \"claude\"\nenv = { CLAUDE_CONFIG_DIR = \"~/.claude\" }";
    fleet.account("subscribed", body);
    fleet.account(
        "keyed",
        "engine = \"claude\"\nenv = { ANTHROPIC_API_KEY = \"sk-x\" }",
    );
    let config = fleet.root().join("operator/.claude");

    let all = checks(&fleet.carson(&["doctor", "--json"]));
    let missing = check(&all, "account.subscribed.sign_in");
    assert_eq!(missing["health"], "error");
    assert!(
        missing["found"]
            .to_string()
            .contains(".claude/.credentials.json")
    );

    fs::create_dir_all(&config).unwrap();
    fs::write(config.join(".credentials.json"), "{}").unwrap();
    let all = checks(&fleet.carson(&["doctor", "--json"]));
    assert_eq!(check(&all, "account.subscribed.sign_in")["health"], "ok");
    let exposed = check(&all, "account.subscribed.exposure");
    assert_eq!(exposed["health"], "warning");
    assert!(
        exposed["found"]
            .to_string()
            .contains("so can the model's tools")
    );
    let keyed = check(&all, "account.keyed.exposure").to_string();
    assert!(
        keyed.contains("ANTHROPIC_API_KEY") && !keyed.contains("sk-x"),
        "{keyed}"
    );
}

#[test]
fn settings_that_cannot_be_read_leave_the_machine_to_look_at() {
    let fleet = TestFleet::new();
    fs::write(
        fleet.home().join("carson.toml"),
        "[fleet]\nzone = \"Mars/Base\"\n",
    )
    .unwrap();
    let ran = fleet.carson(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    let all = checks(&ran);
    assert!(
        check(&all, "settings")["found"]
            .to_string()
            .contains("carson.toml:2")
    );
    for id in ["sandbox.level", "git.version", "clock.year"] {
        check(&all, id);
    }
}

#[test]
fn before_there_is_a_home_the_agents_are_looked_for_by_name() {
    let mut fleet = TestFleet::new();
    fs::remove_file(fleet.home().join("carson.toml")).unwrap();
    fleet.set_env("PATH", "/usr/bin:/bin");
    let all = checks(&fleet.carson(&["doctor", "--json"]));
    let none = check(&all, "agents.installed");
    assert_eq!(none["health"], "warning", "{none:#}");
    assert!(none["found"].to_string().contains("none of claude, codex"));
    let mut fleet = fleet.with_program("codex", "exit 0\n");
    let programs = fleet.root().join("programs");
    fleet.set_env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    let all = checks(&fleet.carson(&["doctor", "--json"]));
    let one = check(&all, "agents.installed");
    assert_eq!(one["found"], "codex on PATH", "{one:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_takes_posts_and_does_not_let_us_listen_is_told() {
    let server = MockServer::start().await;
    let answers = async |at: &str, answer: Value| {
        let answer = ResponseTemplate::new(200).set_body_json(answer);
        let mock = Mock::given(path(at)).respond_with(answer);
        mock.mount(&server).await;
    };
    let who = json!({"ok": true, "user": "carson", "team": "acme"});
    answers("/auth.test", who).await;
    let fleet = sound();
    for name in ["slack.token", "slack.app-token"] {
        secret(&fleet, name);
    }
    let uri = server.uri();
    settings(&fleet, |text| {
        format!(
            "{text}\n[slack]\napi_base = {uri:?}\nchannel = \"#fleet\"\ntoken_file = \"slack.token\"\n\
             app_token_file = \"slack.app-token\"\ntrusted = [\"U012ABC34\"]\n"
        )
    });
    let refused = json!({"ok": false, "error": "invalid_auth"});
    answers("/apps.connections.open", refused).await;
    let all = checks(&fleet.carson(&["doctor", "--json"]));
    let one = check(&all, "sink.slack.answers");
    assert_eq!(one["health"], "error", "{one:#}");
    let found = one["found"].as_str().unwrap();
    let told =
        "it lets carson into acme, and nobody is listened to: its socket: it refuses: invalid_auth";
    assert_eq!(found, told);
    assert!(one["remedy"].to_string().contains("slack.app-token"));
    server.reset().await;
    let who = json!({"ok": true, "user": "carson", "team": "acme"});
    answers("/auth.test", who).await;
    let socket = json!({"ok": true, "url": "wss://nowhere.example/"});
    answers("/apps.connections.open", socket).await;
    let all = checks(&fleet.carson(&["doctor", "--json"]));
    assert_eq!(check(&all, "sink.slack.answers")["health"], "ok");
}

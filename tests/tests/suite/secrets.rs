//! Secrets that a session prints, says, asks for and commits: none of them appears in anything that
//! Carson writes or sends, and none is pushed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use carson_tests::fleet::{Ran, TestFleet};
use carson_tests::until;
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::daemon::Daemon;

/// A value of the account's environment: it has no form by which it could be recognised.
pub(crate) const GIVEN: &str = "quiet-otter/9+mellow=hill";
/// The same in base64, behind `me:`.
const GIVEN_BASE64: &str = "cXVpZXQtb3R0ZXIvOSttZWxsb3c9aGlsbA==";
/// And in an address.
const GIVEN_URL: &str = "quiet-otter%2F9%2Bmellow%3Dhill";

/// Made up, and in two parts, so that this file holds none: rule, beginning, end.
const FORMS: [(&str, &str, &str); 8] = [
    (
        "anthropic",
        "sk-ant-",
        "api03-Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV",
    ),
    ("github", "ghp_", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV"),
    ("aws", "AKIA", "Z7Q2X5W3N4K6B2HT"),
    (
        "slack",
        "xoxb-",
        "728103456812-7281034568123-Zk3vQ9xLmB7tR2wY5nC8aD1e",
    ),
    ("gitlab", "glpat-", "Zk3vQ9xLmB7tR2wY5nC8"),
    ("npm", "npm_", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV"),
    ("stripe", "sk_live_", "Zk3vQ9xLmB7tR2wY5nC8aD1e"),
    ("assignment", "DB_PASSWORD=", "k9vLq2!zR7#w"),
];

const KEY_LINE: &str = "MIIEpAIBAAKCAQEAr2wY5nC8aD1eF4gH6jK0pSuViOqTzXcAb9Cd8Ef7Gh6Ij5Kl";

fn private_key() -> String {
    format!(
        "-----BEGIN RSA {0}-----\n{KEY_LINE}\n{KEY_LINE}\n-----END RSA {0}-----",
        "PRIVATE KEY"
    )
}

/// All of them, one a line.
fn canaries() -> String {
    let forms = FORMS.map(|(_, first, rest)| format!("{first}{rest}"));
    let known = [GIVEN, GIVEN_BASE64, GIVEN_URL].map(str::to_owned);
    let lines: Vec<String> = forms
        .into_iter()
        .chain(known)
        .chain([private_key()])
        .collect();
    lines.join("\n")
}

/// What must be nowhere.
fn planted() -> Vec<String> {
    let forms = FORMS.map(|(_, _, rest)| rest.to_owned());
    let known = [GIVEN, &GIVEN_BASE64[..32], GIVEN_URL, KEY_LINE].map(str::to_owned);
    forms.into_iter().chain(known).collect()
}

fn files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.symlink_metadata().unwrap().is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// Everything that Carson wrote, but for the copies of the operator's own settings, and git's
/// objects, which are compressed and looked at by their refs.
fn written(fleet: &TestFleet) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for part in ["logs", "transcripts", "forge", "state"] {
        let dir = fleet.home().join(part);
        if dir.is_dir() {
            files(&dir, &mut found);
        }
    }
    found.retain(|path| !path.starts_with(fleet.home().join("state/settings")));
    found
}

/// Fails when one of these stands in anything that Carson wrote, or in this text.
pub(crate) fn nowhere<S: AsRef<str>>(fleet: &TestFleet, secrets: &[S], said: &str) {
    let holds = |bytes: &[u8], secret: &str| {
        let secret = secret.as_bytes();
        bytes.windows(secret.len()).any(|window| window == secret)
    };
    let written = written(fleet);
    assert!(
        written
            .iter()
            .any(|path| path.to_string_lossy().contains("transcripts/")),
        "{written:?}"
    );
    for secret in secrets.iter().map(AsRef::as_ref) {
        assert!(!said.contains(secret), "{secret} was said: {said}");
        for path in &written {
            let bytes = fs::read(path).unwrap();
            assert!(!holds(&bytes, secret), "{secret} in {}", path.display());
        }
        let messages = fleet.git(&["log", "--all", "-p", "--format=%B"]);
        assert!(!messages.contains(secret), "{secret} on the remote");
    }
}

/// The account that plays this script and has [`GIVEN`] in its environment.
fn script(fleet: &TestFleet, script: &str) {
    let path = fleet.root().join("play.toml");
    fs::write(&path, script).unwrap();
    let account =
        format!("engine = \"rehearsal\"\nscript = {path:?}\nenv = {{ SOME_SETTING = {GIVEN:?} }}");
    fleet.account("play", &account);
}

fn settings(fleet: &TestFleet, change: impl FnOnce(String) -> String) {
    let path = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, change(text)).unwrap();
}

#[derive(Clone, Default)]
struct Slack(Arc<Mutex<Vec<Value>>>);

impl Respond for Slack {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let mut calls = self.0.lock().unwrap();
        calls.push(request.body_json().unwrap());
        let ts = format!("1.{:03}", calls.len());
        ResponseTemplate::new(200).set_body_json(json!({"ok": true, "ts": ts}))
    }
}

fn with_slack(fleet: &TestFleet, server: &MockServer) {
    let token = fleet.home().join("slack.token");
    fs::write(&token, "a-bot-token-1\n").unwrap();
    fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
    let uri = server.uri();
    settings(fleet, |text| {
        format!("{text}\n[slack]\napi_base = {uri:?}\ntoken_file = \"slack.token\"\n")
    });
}

/// Says, prints, asks for, commits and ends with all of them.
fn leaky() -> String {
    let all = canaries();
    let said = toml_text(&all);
    let ask = toml_text(&format!("git push --force origin main # {all}"));
    let print = toml_text(&format!("cat >&2 <<'X'\n{all}\nX"));
    let end = toml_text(&format!(
        "all of them: {all}\n[NOTHING] {}",
        all.replace('\n', " ")
    ));
    format!(
        "[[when]]\nstage = \"plan\"\ndo = [{{ say = {said} }}, {{ say = \"[OK] planned\" }}]\n\
         [[when]]\nstage = \"execute\"\ndo = [\n{{ say = {said} }},\n{{ tool = {ask} }},\n\
         {{ tool = {print} }},\n{{ edit = {{ path = \"keys.txt\", content = {said} }} }},\n\
         {{ commit = {said} }},\n{{ say = {end} }},\n{{ exit = 3 }},\n]\n\
         [[when]]\ndo = [{{ say = \"[APPROVE]\" }}]\n"
    )
}

fn toml_text(text: &str) -> String {
    Value::from(text).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_session_leaks_is_nowhere() {
    let (slack, server) = (Slack::default(), MockServer::start().await);
    Mock::given(method("POST"))
        .respond_with(slack.clone())
        .mount(&server)
        .await;
    let fleet = TestFleet::new().with_env("CARSON_LOG", "trace");
    script(&fleet, &leaky());
    with_slack(&fleet, &server);
    fleet.role_at("hand", "play", "* * * * * *", "max_late = \"1s\"\n");
    let title = canaries().replace('\n', " ");
    fleet.issue("hand", &title, &canaries());

    let daemon = Daemon::start(&fleet, &[]);
    let row = until("the firing to end", || {
        let rows = fleet.ok(&["firings", "--all", "--json"]);
        let rows = rows.as_array().unwrap().iter();
        rows.clone()
            .find(|row| row["outcome"] == "BLOCKED")
            .cloned()
    });
    until("the chat to hear of it", || {
        let calls = slack.0.lock().unwrap();
        calls
            .iter()
            .any(|call| call.to_string().contains("BLOCKED"))
            .then_some(())
    });
    drop(daemon);

    let id = row["id"].as_str().unwrap();
    let mut said = fs::read_to_string(fleet.root().join("daemon.log")).unwrap();
    said.push_str(&format!("{:?}", slack.0.lock().unwrap()));
    for args in [
        &["firings", id][..],
        &["firings", id, "--json"],
        &["why", "hand"],
        &["issue", "show", "1"],
        &["config", "show"],
        &["fire", "hand", "--dry-run"],
    ] {
        let ran = fleet.carson(args);
        said.push_str(&ran.stdout);
        said.push_str(&ran.stderr);
    }
    nowhere(&fleet, &planted(), &said);

    // It is all there, without them.
    let shown = fleet.firing(id);
    let reason = shown["reason"].as_str().unwrap();
    for says in [
        "nothing was pushed",
        "known in the message",
        "known in the file keys.txt",
        " more; `known` is a value that Carson holds",
        "a false alarm goes into allow_secrets",
    ] {
        assert!(reason.contains(says), "{reason}");
    }
    assert_eq!(fleet.branches(), Vec::<String>::new());
    let kept = shown["salvage_ref"].as_str().unwrap();
    assert!(kept.ends_with(id), "{kept}");
    let calls = shown["blocked_calls"].as_array().unwrap();
    assert!(
        calls[0]["call"].as_str().unwrap().contains("[redacted:"),
        "{calls:?}"
    );
    let log = fs::read_to_string(fleet.home().join(format!("logs/{id}.log"))).unwrap();
    assert!(
        log.contains("session event") && log.contains("[redacted:"),
        "{log}"
    );
    for rule in [
        "known",
        "private-key",
        "github",
        "anthropic",
        "aws",
        "slack",
        "npm",
        "stripe",
        "assignment",
    ] {
        let mark = format!("[redacted:{rule}]");
        let transcript = fs::read_dir(fleet.home().join("transcripts").join(id)).unwrap();
        let found = transcript.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        assert!(found.into_iter().any(|text| text.contains(&mark)), "{rule}");
    }
    assert!(
        fleet
            .forge_file("issues/0001.md")
            .contains("[redacted:known]")
    );
}

#[test]
fn a_program_that_prints_them_in_pieces_is_no_way_out() {
    let fleet = TestFleet::new();
    let program = fleet.root().join("agent.sh");
    let mut text = "#!/bin/sh\ncat > /dev/null\n".to_owned();
    // Byte by byte, so that every secret is split over writes; on both streams.
    let all = canaries();
    fs::write(fleet.shared().join("all"), &all).unwrap();
    let all = fleet.shared().join("all");
    text.push_str(&format!(
        "dd if={0} bs=1 2>/dev/null\necho\nbase64 {0}\ndd if={0} bs=1 2>/dev/null | cat >&2\nexit 3\n",
        all.display()
    ));
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let account =
        format!("engine = \"command\"\nbinary = {program:?}\nenv = {{ SOME_SETTING = {GIVEN:?} }}");
    fleet.account("agent", &account);
    fleet.role("hand", "agent", "stages = [\"execute\"]\n");
    fleet.issue("hand", "Leak", "Please.");
    let ran = fleet.carson(&["fire", "hand"]);
    assert_eq!(ran.code, Some(13), "{ran:#?}");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    nowhere(&fleet, &planted(), &said);
    assert!(said.contains("[redacted:"), "{said}");
}

/// One execute session that does these steps, and its firing.
fn commits(fleet: &TestFleet, steps: &str) -> Ran {
    script(
        fleet,
        &format!(
            "[[when]]\nstage = \"execute\"\ndo = [{steps}, {{ say = \"[OK] done\" }}]\n\
             [[when]]\ndo = [{{ say = \"[OK] planned [APPROVE]\" }}]\n"
        ),
    );
    fleet.role("hand", "play", "stages = [\"execute\"]\n");
    fleet.issue("hand", "Commit", "Please.");
    fleet.fire("hand")
}

fn edit(path: &str, content: &str) -> String {
    format!(
        "{{ edit = {{ path = {path:?}, content = {} }} }}",
        toml_text(content)
    )
}

fn blocked(steps: &str, says: &str) -> TestFleet {
    let fleet = TestFleet::new();
    let ran = commits(&fleet, steps);
    assert_eq!(ran.code, Some(11), "{ran:#?}");
    let row = ran.json();
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains(says), "{reason}");
    assert_eq!(row["outcome"], "BLOCKED");
    assert_eq!((fleet.branches().len(), fleet.pulls().len()), (0, 0));
    let labels = fleet.labels(1);
    assert!(labels.contains(&"needs:human".to_owned()), "{labels:?}");
    // Nothing is lost either.
    assert!(
        row["salvage_ref"]
            .as_str()
            .unwrap()
            .starts_with("refs/carson/salvage/")
    );
    assert_eq!(fleet.benches(), Vec::<PathBuf>::new());
    nowhere(&fleet, &planted(), &format!("{}{}", ran.stdout, ran.stderr));
    fleet
}

#[test]
fn a_secret_that_was_added_and_removed_is_not_pushed() {
    let (_, first, rest) = FORMS[1];
    let steps = [
        edit(
            "config/app.toml",
            &format!("a = 1\nkey = '{first}{rest}'\n"),
        ),
        "{ commit = \"Add\" }".to_owned(),
        edit("config/app.toml", "a = 1\n"),
        "{ commit = \"Remove\" }".to_owned(),
    ];
    let fleet = blocked(
        &steps.join(", "),
        "github in the file config/app.toml of commit ",
    );
    let why = fleet.carson(&["why", "hand"]);
    let firings = fleet.carson(&["firings"]);
    assert!(
        format!("{}{}", why.stdout, firings.stdout).contains("BLOCKED"),
        "{why:#?}{firings:#?}"
    );
}

#[test]
fn a_value_of_the_home_is_not_pushed_in_any_form() {
    let steps = [
        edit("a.txt", &format!("x {GIVEN_BASE64}\n")),
        "{ commit = \"Add\" }".to_owned(),
    ];
    blocked(&steps.join(", "), "known in the file a.txt");
}

#[test]
fn two_bytes_a_letter_and_two_commits_hide_nothing() {
    let (_, first, rest) = FORMS[1];
    let wide: String = format!("{first}{rest}")
        .chars()
        .flat_map(|letter| [letter, '\0'])
        .collect();
    let steps = [edit("a.txt", &wide), "{ commit = \"Add\" }".to_owned()];
    blocked(&steps.join(", "), "github in the file a.txt of commit ");
    let (first, rest) = GIVEN.split_at(12);
    let steps = [
        edit("a.txt", &format!("x = {first}\n")),
        "{ commit = \"Add\" }".to_owned(),
        edit("b.txt", &format!("y = {rest}\n")),
        "{ commit = \"Add more\" }".to_owned(),
    ];
    blocked(&steps.join(", "), "known in several places, a part in each");
}

#[test]
fn neither_message_nor_file_name_carries_a_secret_out() {
    let (_, first, rest) = FORMS[1];
    let secret = format!("{first}{rest}");
    let message = [
        edit("a.txt", "x\n"),
        format!("{{ commit = \"Use {secret}\" }}"),
    ];
    blocked(&message.join(", "), "github in the message of commit ");
    let name = [
        edit(&format!("{secret}.txt"), "x\n"),
        "{ commit = \"Add\" }".to_owned(),
    ];
    blocked(&name.join(", "), "github in a file's name of commit ");
}

#[test]
fn unfinished_work_with_a_secret_is_not_pushed_either() {
    blocked(
        &edit(".env", &private_key()),
        "private-key in the file .env",
    );
}

#[test]
fn a_false_alarm_can_be_allowed_and_a_known_value_cannot() {
    let allow = |entry: &str| {
        let fleet = TestFleet::new();
        settings(&fleet, |text| {
            format!("{text}allow_secrets = [{entry:?}]\n")
        });
        fleet
    };
    let steps = [
        edit("tests/fixtures/key.pem", &private_key()),
        "{ commit = \"Add\" }".to_owned(),
    ];
    let fleet = allow("private-key:tests/fixtures/*");
    let ran = commits(&fleet, &steps.join(", "));
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(fleet.pulls().len(), 1);
    let fleet = allow("private-key:fixtures/*");
    assert_eq!(commits(&fleet, &steps.join(", ")).code, Some(11));
    for entry in ["known:*", "no-such-rule:*", "jwt"] {
        let ran = allow(entry).carson(&["config", "check"]);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(
            ran.stderr.contains("is not RULE:FILE with a known rule")
                || ran.stdout.contains("is not RULE:FILE with a known rule"),
            "{ran:#?}"
        );
    }
}

#[test]
fn what_only_looks_random_is_pushed_and_noted() {
    let fleet = TestFleet::new();
    let steps = [
        edit("a.txt", "x = Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV\n"),
        "{ commit = \"Add\" }".to_owned(),
    ];
    let ran = commits(&fleet, &steps.join(", "));
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(fleet.pulls().len(), 1);
    let row = fleet.firing(ran.json()["id"].as_str().unwrap());
    let events = row["events"].as_array().unwrap().iter();
    let suspected: Vec<_> = events
        .filter(|event| event["kind"] == "secret.suspected")
        .map(|event| event["data"]["place"].as_str().unwrap())
        .collect();
    assert_eq!(suspected, ["the file a.txt"], "{row:#}");
}

//! Preflight: what it refuses costs no model call, no attempt and no streak but its own.

use std::fs;

use carson_tests::fleet::{Ran, TestFleet};
use carson_tests::judge::{judge, sound, state};
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer};

use super::{github_answer, program, secret, settings, with_github};
use crate::claude_firing;

/// Fires `hand`, which a check must refuse.
fn refused(fleet: &TestFleet, id: &str) {
    let before = state(fleet);
    let ran = fleet.carson(&["fire", "hand"]);
    judge(&ran, 16, &[&format!("SKIPPED: preflight: {id}: ")])
        .unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(state(fleet), before);
}

/// The streak of `hand`, as `carson status` and `carson why` show it.
fn streak(fleet: &TestFleet) -> Option<Value> {
    let status = fleet.ok(&["status", "--json"]);
    let why = fleet.ok(&["why", "hand", "--json"]);
    assert_eq!(status["preflights"], why["preflights"]);
    assert_eq!(
        why["streak"], 0,
        "the breaker's own streak does not move: {why:#}"
    );
    status["preflights"].get(0).cloned()
}

/// Fires a role while there is nothing for it.
fn without_work(fleet: &TestFleet, role: &str) -> Ran {
    let issue = fleet.home().join("forge/widget/issues/0001.md");
    let aside = fleet.root().join("aside.md");
    fs::rename(&issue, &aside).unwrap();
    let ran = fleet.fire(role);
    fs::rename(&aside, &issue).unwrap();
    ran
}

fn nearly_full(fleet: &TestFleet, full: bool) {
    let (from, to) = match full {
        true => ("[fleet]\n", "[fleet]\nmin_free_mb = 4294967295\n"),
        false => ("min_free_mb = 4294967295\n", ""),
    };
    settings(fleet, |text| text.replace(from, to));
}

#[test]
fn a_refused_firing_asks_no_model() {
    let scene = claude_firing::Scene::new();
    scene.else_all_goes_well();
    nearly_full(&scene.fleet, true);
    for _ in 0..6 {
        let fired = scene.fire();
        assert_eq!(fired.end(), ("SKIPPED", 16));
    }
    assert_eq!(scene.model.count(), 0);
    // The model would have been asked, and the breaker (5 in a row) has not moved.
    nearly_full(&scene.fleet, false);
    assert_eq!(scene.fire().end(), ("OK", 0));
    assert!(scene.model.count() > 0);
}

#[test]
fn a_streak_of_its_own_grows_and_ends_with_its_check() {
    let fleet = sound();
    assert_eq!(streak(&fleet), None);
    nearly_full(&fleet, true);
    refused(&fleet, "disk.space");
    refused(&fleet, "disk.space");
    let row = streak(&fleet).unwrap();
    assert_eq!(
        (&row["streak"], &row["failed"]),
        (&json!(2), &json!("disk.space"))
    );
    assert_eq!(
        (&row["host"], &row["role"]),
        (&json!("here"), &json!("hand"))
    );
    assert!(row["why"].to_string().contains("make room"), "{row:#}");
    assert!(row["since"].as_str() < row["last_at"].as_str(), "{row:#}");

    // The next trouble goes on with the streak, under its own name.
    nearly_full(&fleet, false);
    let away = fleet.root().join("away.git");
    fs::rename(fleet.remote(), &away).unwrap();
    refused(&fleet, "repo.widget.remote");
    let row = streak(&fleet).unwrap();
    assert_eq!(
        (&row["streak"], &row["failed"]),
        (&json!(3), &json!("repo.widget.remote"))
    );
    for command in [&["status"][..], &["why", "hand"]] {
        let text = fleet.carson(command).stdout;
        let says = "PREFLIGHT of hand on here failed 3 times since ";
        assert!(
            text.contains(says) && text.contains("repo.widget.remote: "),
            "{text}"
        );
    }

    // A quiet firing does not ask the remote: nothing says that it is back.
    let quiet = without_work(&fleet, "hand");
    assert_eq!(quiet.json()["outcome"], "SILENT");
    assert_eq!(streak(&fleet).unwrap()["streak"], 3);
    fs::rename(&away, fleet.remote()).unwrap();
    assert_eq!(fleet.fire("hand").code, Some(0));
    assert_eq!(streak(&fleet), None);
}

#[test]
fn it_is_told_once_and_once_that_it_is_over() {
    let fleet = sound();
    secret(&fleet, "slack.token");
    settings(&fleet, |text| {
        // Nobody listens: what is filed stays filed.
        let slack = "api_base = \"http://127.0.0.1:9\"\nchannel = \"#fleet\"";
        format!("{text}\n[slack]\n{slack}\ntoken_file = \"slack.token\"\n")
    });
    // They look every minute, so three failures open a breaker and are worth a word.
    for role in ["hand", "other"] {
        fleet.role_at(
            role,
            "play",
            "* * * * *",
            "stages = [\"execute\"]\n[limits]\nfail_streak = 3\n",
        );
    }
    let filed = || fleet.ok(&["status", "--json"])["outbox"].as_u64().unwrap();
    nearly_full(&fleet, true);
    for expected in [0, 0, 1, 1, 1] {
        refused(&fleet, "disk.space");
        assert_eq!(filed(), expected);
    }
    // Another role of this host has the same trouble: one alert, not two.
    for _ in 0..4 {
        assert_eq!(fleet.fire("other").code, Some(16));
    }
    assert_eq!(filed(), 1);
    // In the morning somebody reads that, whatever else they read.
    for asked in [&["brief"][..], &["health"]] {
        let said = fleet.carson(asked).stdout;
        let line = "nothing of hand, other fires on here since ";
        assert!(
            said.contains(line) && said.contains("disk.space: "),
            "{said}"
        );
        assert_eq!(said.matches("disk.space").count(), 1, "{said}");
    }
    nearly_full(&fleet, false);
    for role in ["other", "other", "hand", "hand"] {
        let quiet = without_work(&fleet, role);
        assert_eq!(quiet.code, Some(0), "{quiet:#?}");
    }
    assert_eq!(filed(), 2);
    assert_eq!(fleet.ok(&["status", "--json"])["preflights"], json!([]));
}

#[test]
fn a_version_is_asked_once_of_each_program_file() {
    let fleet = sound();
    let asked = fleet.shared().join("asked");
    let lines = format!(
        "[ \"$*\" = --version ] && echo asked >> {asked:?} && echo codex-cli 0.170.0 && exit\n\
         cat > /dev/null; echo '[SILENT] nothing to do'"
    );
    let codex = program(&fleet.root().join("bin/codex"), &lines);
    fleet.account(
        "codex",
        &format!("engine = \"command\"\nbinary = {codex:?}\nlimits = \"codex\""),
    );
    fleet.role(
        "hand",
        "codex",
        "stages = [\"execute\"]\n[limits]\nmax_work_attempts = 99\n",
    );
    let times = || {
        fs::read_to_string(&asked)
            .unwrap_or_default()
            .lines()
            .count()
    };
    for expected in [1, 1, 1] {
        let row = fleet.fire("hand").json();
        assert_eq!(row["sessions"], 1, "{row:#}");
        assert_eq!(times(), expected);
    }
    program(&codex, &format!("{lines}\n# a newer one"));
    for expected in [2, 2] {
        assert_eq!(fleet.fire("hand").json()["sessions"], 1);
        assert_eq!(times(), expected);
    }
    // Doctor believes nothing that was measured before.
    assert_eq!(fleet.carson(&["doctor"]).code, Some(0));
    assert_eq!(times(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forge_is_judged_by_the_answer_that_listed_the_issues() {
    let issue = json!([{
        "number": 1, "title": "t", "body": "b", "user": {"login": "ann"}, "state": "open", "author_association": "OWNER",
        "labels": [{"name": "for:hand"}], "created_at": "2026-01-01T00:00:00Z",
        "html_url": "https://x/1",
    }]);
    for (scopes, left, id) in [("read:org", "4999", "forge"), ("repo", "3", "rate")] {
        let server = MockServer::start().await;
        for (list, body) in [("issues", issue.clone()), ("pulls", json!([]))] {
            let mock = Mock::given(method("GET")).and(path(format!("/repos/acme/hub/{list}")));
            mock.respond_with(github_answer(scopes, left, body))
                .mount(&server)
                .await;
        }
        let fleet = sound();
        with_github(&fleet, &server);
        let role = fleet.home().join("roles/hand/role.toml");
        let text = fs::read_to_string(&role).unwrap();
        fs::write(role, text.replace("\"widget\"", "\"hub\"")).unwrap();
        refused(&fleet, &format!("repo.hub.{id}"));
        let requests = server.received_requests().await.unwrap();
        let asked: Vec<_> = requests.iter().map(|one| one.url.path()).collect();
        assert_eq!(asked, ["/repos/acme/hub/issues", "/repos/acme/hub/pulls"]);
    }
}

#[test]
fn a_forge_that_does_not_answer_is_nobodys_failure() {
    let fleet = sound();
    secret(&fleet, "github.token");
    settings(&fleet, |text| {
        let github = "api_base = \"http://127.0.0.1:9\"\ntoken_file = \"github.token\"";
        let text = text.replace(
            "base = \"main\"",
            "base = \"main\"\nforge = \"github\"\nslug = \"a/b\"",
        );
        format!("{text}\n[github]\n{github}\n")
    });
    refused(&fleet, "repo.widget.forge");
    let row = streak(&fleet).unwrap();
    assert!(
        row["why"].to_string().contains("does not answer"),
        "{row:#}"
    );
}

/// The same when it answers its first question and no other.
#[tokio::test(flavor = "multi_thread")]
async fn a_forge_that_falls_silent_after_its_list_is_nobodys_failure() {
    let server = MockServer::start().await;
    let issue = json!([{
        "number": 1, "title": "Work", "body": "To do.", "user": {"login": "ann"}, "state": "open",
        "author_association": "OWNER", "labels": [{"name": "for:hand"}],
        "created_at": "2026-01-01T00:00:00Z", "html_url": "https://x/1",
    }]);
    let answers = [
        ("/repos/acme/hub/issues", issue),
        ("/repos/acme/hub", super::repository(true)),
        ("/repos/acme/hub/pulls", json!([])),
        ("/repos/acme/hub/issues/1/comments", json!("no list")),
    ];
    for (at, answer) in answers {
        let asked = Mock::given(method("GET")).and(path(at));
        let answer = github_answer("repo", "4999", answer);
        asked.respond_with(answer).mount(&server).await;
    }
    let fleet = sound();
    with_github(&fleet, &server);
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(role, text.replace("\"widget\"", "\"hub\"")).unwrap();
    for _ in 0..3 {
        refused(&fleet, "repo.hub.forge");
    }
    let row = streak(&fleet).unwrap();
    let why = row["why"].as_str().unwrap();
    assert!(
        why.starts_with("reading the claims: the forge does not answer"),
        "{why}"
    );
}

#[test]
fn a_role_needs_only_its_own() {
    // Its neighbour's repository and account are broken, and doctor says so.
    let fleet = sound();
    settings(&fleet, |text| {
        format!(
            "{text}\n[repos.away]\nurl = \"/nowhere/away.git\"\nbase = \"main\"\n\
             [accounts.gone]\nengine = \"command\"\nbinary = \"no-such-agent\"\n"
        )
    });
    assert_eq!(fleet.carson(&["doctor"]).code, Some(1));
    assert_eq!(fleet.fire("hand").code, Some(0));
    assert_eq!(streak(&fleet), None);
}

/// The wrong profile is known before any model is paid.
#[test]
fn a_role_with_another_identity_than_its_own_asks_no_model() {
    let fleet = sound();
    let identity = |who: &str| {
        let check = "check = \"echo arn:aws:sts::1:assumed-role/$WHO/$CARSON_ROLE\"";
        let more = format!(
            "stages = [\"execute\"]\n[identity]\nenv = {{ WHO = {who:?} }}\n{check}\n\
             expect = \"assumed-role/carson-*/hand\"\n"
        );
        fleet.role("hand", "play", &more);
    };
    identity("admin");
    let ran = fleet.carson(&["fire", "hand"]);
    let says = "SKIPPED: preflight: role.hand.identity: `echo arn:aws:sts::1:assumed-role/$WHO/\
                $CARSON_ROLE` was to print \"assumed-role/carson-*/hand\", and printed: \
                arn:aws:sts::1:assumed-role/admin/hand";
    judge(&ran, 16, &[says]).unwrap_or_else(|why| panic!("{why}"));
    let rows = fleet.ok(&["firings", "--all", "--json"]);
    assert_eq!(
        (&rows[0]["outcome"], &rows[0]["sessions"]),
        (&json!("SKIPPED"), &json!(0))
    );

    identity("carson-hand");
    assert_eq!(fleet.fire("hand").code, Some(0));
}

/// An update that put one program in place and not the others.
#[test]
fn programs_of_several_versions_are_refused_before_a_session_is_paid() {
    let fleet = TestFleet::new().with_own_binaries();
    fleet.script("[[when]]\ndo = [{ say = \"[SILENT]\" }]\n");
    fleet.role("hand", "play", "stages = [\"execute\"]\n");
    fleet.issue("hand", "Work", "");
    let hook = fleet.binary().with_file_name("carson-hook");
    let found = fleet.ok(&["fire", "hand", "--json"]);
    assert_eq!(found["outcome"], "SILENT", "{found:#}");
    // The build's own file has another name, too.
    std::fs::remove_file(&hook).unwrap();
    program(
        &hook,
        "[ \"$1\" = --version ] && exec echo carson-hook 0.0.9\nexit 2",
    );
    let doctor = fleet.carson(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("error   carson.versions: carson is ")
            && doctor.stdout.contains("carson-hook is 0.0.9")
            && doctor.stdout.contains("cargo xtask install"),
        "{doctor:#?}"
    );
    fleet.issue("hand", "More", "");
    let row = fleet.fire("hand").json();
    assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("preflight: carson.versions: "),
        "{reason}"
    );
}

/// Whoever may go on without an answer does not wait for one until the firing's time is over.
#[test]
fn a_hook_that_gives_no_answer_is_told_before_the_session_begins() {
    let fleet = TestFleet::new().with_own_binaries();
    fleet.script("[[when]]\ndo = [{ say = \"[SILENT]\" }]\n");
    let more = "stages = [\"execute\"]\n[limits]\nwall_clock = \"90s\"\n";
    fleet.role("hand", "play", more);
    fleet.issue("hand", "Work", "");
    let said = fleet.carson(&["--version"]).stdout;
    let version = said.trim().trim_start_matches("carson ");
    let hook = fleet.binary().with_file_name("carson-hook");
    // The build's own file has another name, too.
    std::fs::remove_file(&hook).unwrap();
    let line = format!("[ \"$1\" = --version ] && exec echo carson-hook {version}\nexec sleep 300");
    program(&hook, &line);
    let row = fleet.fire("hand").json();
    assert_eq!(
        (&row["outcome"], &row["skip"]),
        (&json!("SKIPPED"), &json!("preflight")),
        "{row:#}"
    );
    let reason = row["reason"].as_str().unwrap();
    let told = "as it must within 10 s: to a known-bad and a known-good call it answered none and none where 2 and 0 is right";
    assert!(
        reason.contains("hook.answers") && reason.contains(told),
        "{reason}"
    );
}

/// That this machine cannot confine a session is no fault of the issue's.
#[test]
fn a_sandbox_that_cannot_be_made_leaves_the_issue_where_it_was() {
    let fleet = TestFleet::new().with_own_binaries();
    fleet.script("[[when]]\ndo = [{ say = \"[SILENT]\" }]\n");
    fleet.role(
        "hand",
        "play",
        "stages = [\"execute\"]\nsandbox = \"required\"\n",
    );
    fleet.issue("hand", "Work", "");
    let (launch, carson) = (
        fleet.binary().with_file_name("carson-launch"),
        fleet.binary(),
    );
    // It does all but confine a session.
    let line = format!(
        "case \"$*\" in --version) exec echo carson-launch {version} ;;\n\
         *-execute.json*) echo 'carson sandbox: sandbox required, not available: Landlock' >&2; exit 125 ;;\n\
         esac\nexec {carson:?} \"$@\"",
        version = env!("CARGO_PKG_VERSION"),
    );
    program(&launch, &line);
    let row = fleet.fire("hand").json();
    assert_eq!(row["outcome"], "BLOCKED", "{row:#}");
    assert!(
        row["reason"].as_str().unwrap().contains("Landlock"),
        "{row:#}"
    );
    assert_eq!(fleet.labels(1), ["for:hand"]);
    let claims = fleet.forge_file("issues/0001.md");
    assert!(!claims.contains("needs:human"), "{claims}");
}

/// What is wrong with the program beside carson is not said of the kernel.
#[test]
fn a_launcher_that_is_none_of_ours_is_called_that() {
    let fleet = TestFleet::new().with_own_binaries();
    program(
        &fleet.binary().with_file_name("carson-launch"),
        "echo something else",
    );
    let doctor = fleet.carson(&["doctor"]).stdout;
    let level = doctor.lines().find(|line| line.contains("sandbox.level"));
    let level = level.unwrap_or_else(|| panic!("{doctor}"));
    assert!(
        level.contains("puts the walls up does not answer"),
        "{doctor}"
    );
    assert!(
        doctor.contains("install carson-launch beside carson anew"),
        "{doctor}"
    );
    assert!(!doctor.contains("sandbox.namespaces"), "{doctor}");
}

//! What an operator types in the first week: a firing that is watched, found again, read and paid for.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use carson_tests::fleet::TestFleet;
use carson_tests::{Screen, until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::faults::{WAITS, Waiting, fire, fleet};
use crate::hostile::leavings::with_stages;

const WORKS: &str =
    "echo hello > hello.txt; git add .; git commit --quiet -m Hello; echo '[OK] hello'";

/// One firing, and all that is asked about it.
#[test]
fn a_firing_is_watched_kept_and_read_afterwards() {
    let fleet = fleet(WORKS, "");
    let ran = fleet.fire("hand");
    let row = ran.json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let id = row["id"].as_str().unwrap();

    // It said what passed while it ran, beside its answer.
    for passed in [
        "work: #1 Work in widget",
        "  workspace",
        "  execute",
        "  teardown",
    ] {
        assert!(ran.stderr.contains(passed), "{passed}: {}", ran.stderr);
    }

    // A list says where it ends.
    for (most, ends) in [("1", true), ("2", false)] {
        let list = fleet.carson(&["firings", "--limit", most]);
        assert_eq!(list.stderr.contains("the newest 1"), ends, "{list:#?}");
    }

    // Its log is kept, and is found by any part of its id; the followed one ends with the firing.
    let parts = [
        &id[19..],
        &id[9..18],
        &id[id.len() - 8..],
        &id[id.len() - 4..],
    ];
    for part in parts {
        let log = fleet.carson(&["logs", part]);
        assert!(log.stdout.contains("firing ended"), "{part}: {log:#?}");
    }
    let since = fleet.carson(&["logs", "--since", "1h"]);
    assert!(
        since
            .stdout
            .starts_with(&format!("== {} hand: OK\n", &id[id.len() - 8..]))
            && since.stdout.contains("firing ended"),
        "{since:#?}"
    );
    let since = fleet.ok(&["logs", id, "--since", "2999-01-01", "--json"]);
    assert_eq!(since["log"], "", "{since:#}");
    let followed = fleet.carson(&["logs", "--follow", id]);
    assert!(followed.stdout.contains("firing ended"), "{followed:#?}");

    // What it was told, what it said, what it changed.
    let papers = fleet.carson(&["show", id, "--prompt", "--transcript", "--diff"]);
    for paper in [
        "== what 01-execute was told",
        "<<<DATA",
        "== 01-execute",
        "[OK] hello",
        "+hello",
    ] {
        assert!(papers.stdout.contains(paper), "{paper}: {papers:#?}");
    }
    assert!(fleet.carson(&["show", id]).stdout.contains("pull request:"));

    let listed = fleet.carson(&["firings", "--since", "1w"]);
    assert!(listed.stdout.contains("#1 Work"), "{listed:#?}");
    assert_eq!(
        fleet.ok(&["firings", "--since", "2020-01-01", "--json"])[0]["id"],
        id
    );
    let cost = fleet.ok(&["cost", "--since", "yesterday", "--json"]);
    assert_eq!(cost["roles"]["hand"]["ok"], 1, "{cost:#}");

    // Times are times, and a row of a terminal's table is one line.
    let status = fleet.ok(&["status", "--json"]);
    let last = &status["roles"][0]["last"];
    assert_eq!(last["outcome"], "OK", "{status:#}");
    assert!(chrono::DateTime::parse_from_rfc3339(last["at"].as_str().unwrap()).is_ok());
    let narrow = fleet
        .command(&["firings"])
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    let narrow = String::from_utf8(narrow.stdout).unwrap();
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 80),
        "{narrow}"
    );
}

/// An issue that was given to people comes back with its attempts counted anew.
#[test]
fn an_issue_that_was_given_up_is_tried_again_at_a_word() {
    let fleet = fleet(
        "echo I am not sure how",
        "[limits]\nmax_work_attempts = 1\nfail_streak = 9\n",
    );
    let failed = fire(&fleet);
    let why = failed["reason"].as_str().unwrap();
    assert!(why.contains("said last: \"I am not sure how\""), "{why}");
    let id = failed["id"].as_str().unwrap();
    let to_do = fleet.carson(&["why", id]);
    let read = format!("show {} --transcript`", &id[id.len() - 8..]);
    assert!(
        to_do.stdout.contains(&read) && to_do.stdout.contains("answer it in the issue"),
        "{to_do:#?}"
    );
    assert_eq!(fire(&fleet)["outcome"], "SILENT");
    assert!(fleet.labels(1).contains(&"needs:human".to_owned()));

    // A look ahead knows it, and why names the verb that ends it.
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    assert!(ahead.stdout.contains("#1 waits for people"), "{ahead:#?}");
    let why = fleet.carson(&["why", "hand"]);
    assert!(why.stdout.contains("retry 1 --repo widget`"), "{why:#?}");

    let done = fleet.ok(&["retry", "1", "--json"]);
    assert_eq!(
        done["removed"],
        serde_json::json!(["needs:human"]),
        "{done:#}"
    );
    assert_eq!(fleet.labels(1), ["for:hand"]);
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    for said in [
        "would fire now",
        "work: widget #1 Work",
        "tools: ",
        "at most: ",
        "prompt of the execute",
    ] {
        assert!(ahead.stdout.contains(said), "{said}: {ahead:#?}");
    }
    assert!(ahead.stdout.lines().count() < 30, "{ahead:#?}");
    assert_eq!(fire(&fleet)["outcome"], "FAILED");

    // What is not there is refused, by a look ahead too.
    let none = fleet.carson(&["fire", "hand", "--dry-run", "--work", "99"]);
    assert_eq!(none.code, Some(2), "{none:#?}");
    assert!(none.stderr.contains("no such issue"), "{none:#?}");
}

/// Who closes a pull request says no once; who then gives the issue back has said that, too.
#[test]
fn an_issue_whose_pull_request_was_closed_is_tried_again_at_one_word() {
    let fleet = fleet(WORKS, "");
    assert_eq!(fire(&fleet)["outcome"], "OK");
    let _ = fleet.ok(&["pr", "close", "2", "--json"]);
    let why = fleet.carson(&["why", "issue-1"]).stdout;
    assert!(
        why.contains("closed without merging (`carson retry 1` gives it back)"),
        "{why}"
    );
    let _ = fleet.ok(&["retry", "1", "--json"]);
    assert_eq!(fire(&fleet)["outcome"], "OK");
    assert!(!fleet.labels(1).contains(&"needs:human".to_owned()));
}

/// A look ahead asks what preflight asks.
#[test]
fn a_look_ahead_tells_what_preflight_would_say() {
    let fleet = fleet(WORKS, "");
    fs::remove_file(fleet.root().join("cli/agent")).unwrap();
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    assert!(
        ahead.stdout.contains("would be skipped: preflight"),
        "{ahead:#?}"
    );
}

/// It asks, too, what people answered: an issue whose pull request they closed is theirs.
#[test]
fn a_look_ahead_sees_an_issue_that_would_be_given_to_people() {
    let fleet = fleet(WORKS, "");
    assert_eq!(fire(&fleet)["outcome"], "OK");
    let _ = fleet.ok(&["pr", "close", "2", "--json"]);
    let ahead = fleet.carson(&["fire", "hand", "--dry-run"]);
    let said = "would give #1 to people and do nothing else: its pull request #2 was closed without merging";
    assert!(ahead.stdout.contains(said), "{ahead:#?}");
    assert!(ahead.stdout.contains("work: none is ready"), "{ahead:#?}");
    // Looking changed nothing: whoever names it may have it.
    assert_eq!(fleet.labels(1), ["for:hand"]);
    let named = fleet.carson(&["fire", "hand", "--dry-run", "--issue", "1"]);
    assert!(named.stdout.contains("would fire now"), "{named:#?}");
    assert_eq!(fire(&fleet)["outcome"], "SILENT");
    assert!(fleet.labels(1).contains(&"needs:human".to_owned()));
}

/// A command line that cannot be read is an error like all others.
#[test]
fn what_was_typed_wrongly_is_told_as_it_was_asked_for() {
    let fleet = fleet(WORKS, "");
    for (args, says) in [
        (&["fire", "--json"][..], "<ROLE>"),
        (&["--json", "statuss"], "statuss"),
        (&["--json", "fire", "hand", "--work", "x"], "--work"),
    ] {
        let wrong = fleet.carson(args);
        assert_eq!(wrong.code, Some(2), "{wrong:#?}");
        let error = &wrong.json()["error"];
        assert!(
            error.as_str().unwrap().contains(says),
            "{args:?}: {wrong:#?}"
        );
    }
    // The home has a place of its own: no usage asks for it.
    let mut wrong = fleet.command(&["fire"]);
    let wrong = wrong.env("CARSON_HOME", fleet.home()).output().unwrap();
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        said.contains("<ROLE>") && !said.contains("--home"),
        "{said}"
    );
    let closed = fleet.carson(&["issue", "close", "1"]);
    assert_eq!(closed.code, Some(0), "{closed:#?}");
    let refused = fleet.carson(&["retry", "1"]);
    assert!(
        refused
            .stderr
            .contains("error: issue #1: it is closed: `carson issue reopen 1`"),
        "{refused:#?}"
    );
    assert_eq!(
        fleet.ok(&["issue", "reopen", "1", "--json"])["state"],
        "open"
    );
    assert_eq!(fleet.carson(&["retry", "1"]).code, Some(0));
}

/// A breaker says until when, and what ends it, wherever a next slot is told.
#[test]
fn an_open_breaker_is_no_next_slot() {
    let fleet = fleet("exit 3", "[limits]\nfail_streak = 1\ncooldown = \"2h\"\n");
    assert_eq!(fire(&fleet)["outcome"], "FAILED");
    let status = fleet.carson(&["status"]);
    assert!(
        status.stdout.contains("BREAKER of hand is open until 2")
            && status.stdout.contains("or `carson breaker reset hand`: "),
        "{status:#?}"
    );
    let role = &fleet.ok(&["status", "--json"])["roles"][0];
    let at = |value: &Value| chrono::DateTime::parse_from_rfc3339(value.as_str().unwrap()).unwrap();
    assert!(
        at(&role["next"]) >= at(&role["breaker"]["until"]),
        "{role:#}"
    );
    let _ = fleet.ok(&["breaker", "reset", "hand", "--json"]);
    assert!(fleet.ok(&["status", "--json"])["roles"][0]["breaker"].is_null());
    // What preflight said is said once.
    fs::remove_file(fleet.root().join("cli/agent")).unwrap();
    assert_eq!(fire(&fleet)["outcome"], "SKIPPED");
    let why = fleet.carson(&["why", "hand"]).stdout;
    assert!(
        !why.contains("preflight: preflight") && !why.contains("(preflight) preflight"),
        "{why}"
    );
    assert!(why.contains("doctor` asks again"), "{why}");
}

/// Whoever reads no further ends no verb with a panic.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let fleet = fleet(WORKS, "");
    let verbs: [&[&str]; 6] = [
        &["completions", "zsh"],
        &["--help"],
        &["status"],
        &["config", "show"],
        &["hook", "list"],
        &["version"],
    ];
    for verb in verbs {
        let mut child = fleet.command(verb);
        let mut child = child
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Nobody reads either of them.
        drop(child.stdout.take());
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let code = child.wait().unwrap().code();
        assert!(!said.contains("panicked"), "{verb:?}: {said}");
        assert_eq!(code, Some(0), "{verb:?}: {said}");
    }
    let version: Value = fleet.ok(&["version", "--json"]);
    assert!(version["version"].is_string());
    let roles = fleet.carson(&["roles", "list"]);
    assert!(roles.stdout.contains("hand"), "{roles:#?}");
}

/// It shows the fleet again and again, plainly where no terminal reads it, and ends when nobody reads it.
#[test]
fn a_status_that_is_watched_ends_with_its_reader() {
    let fleet = fleet(WORKS, "");
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let mut watched = fleet.command(&["status", "--watch"]);
    let mut watching = watched.stdout(OwnedFd::from(theirs)).spawn().unwrap();
    drop(watched);
    let mut lines = BufReader::new(ours).lines().map(Result::unwrap);
    let seen: Vec<String> = lines
        .by_ref()
        .scan(0, |screens, line| {
            *screens += usize::from(line.trim_start().starts_with("hand "));
            (*screens < 2).then_some(line)
        })
        .take(100)
        .collect();
    assert_eq!(watching.try_wait().unwrap(), None, "{seen:#?}");
    let heads = seen
        .iter()
        .filter(|line| line.trim_start().starts_with("ROLE"));
    assert_eq!(heads.count(), 2, "{seen:#?}");
    assert!(!seen.concat().contains('\u{1b}'), "{seen:#?}");
    drop(lines);
    let ended = until("it to end", || watching.try_wait().unwrap());
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn a_log_is_followed_while_its_firing_runs_and_ends_with_it() {
    let fleet = fleet(&format!("{WAITS}\n{WORKS}"), "");
    let waiting = Waiting::of(&fleet);
    let id = fleet.ok(&["firings", "--json"])[0]["id"].clone();
    let said = fleet.root().join("followed");
    let mut followed = fleet.command(&["logs", "--follow", id.as_str().unwrap()]);
    let mut following = followed
        .stdout(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let said = || fs::read_to_string(&said).unwrap();
    until("its first line", || said().contains('\n').then_some(()));
    assert!(!said().contains("firing ended"), "{}", said());
    assert_eq!(following.try_wait().unwrap(), None, "{}", said());

    assert_eq!(waiting.goes_on()["outcome"], "OK");

    let ended = until("it to end", || following.try_wait().unwrap());
    assert_eq!(ended.code(), Some(0));
    assert_eq!(said().matches("firing ended").count(), 1, "{}", said());
}

#[test]
fn a_look_ahead_shows_everything_on_demand() {
    let fleet = fleet(WORKS, "");
    let look = ["fire", "hand", "--dry-run"];
    let short = fleet.carson(&look).stdout;
    let all = fleet.carson(&[&look[..], &["--all"]].concat()).stdout;
    let prompt = fleet.ok(&[&look[..], &["--json"]].concat())["prompt"]["text"].clone();
    // Each look has a fence of its own.
    let unfenced = |text: &str| {
        let number = text
            .split("<<<DATA ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next());
        text.replace(number.unwrap(), "N")
    };
    let (all, prompt) = (unfenced(&all), unfenced(prompt.as_str().unwrap()));
    let lines: Vec<&str> = prompt.trim_end().lines().collect();
    let last = format!("  {}\n", lines.last().unwrap());
    assert!(lines.len() > 8 && !short.contains(&last), "{short}");
    let whole: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    assert!(all.contains(&whole), "{all}");
    for more in [
        "sandbox of an execute session: ",
        "environment of a session, and nothing else:\n",
        "  CARSON_WORK=",
    ] {
        assert!(all.contains(more) && !short.contains(more), "{more}: {all}");
    }
}

/// Whoever is used to `gh` types what `gh` takes.
#[test]
fn an_issue_is_made_as_gh_makes_it() {
    let fleet = fleet(WORKS, "");
    for title in ["--title", "-t"] {
        let made = [
            "issue",
            "create",
            title,
            "Greet",
            "-b",
            "In hello.txt.",
            "-l",
            "for:hand,p1",
            "-l",
            "ui",
        ];
        let made = fleet.ok(&[&made[..], &["--json"]].concat());
        let number = made["number"].as_u64().unwrap();
        let shown = fleet.ok(&["issue", "show", &number.to_string(), "--json"]);
        let issue = &shown["issue"];
        assert_eq!(issue["title"], "Greet", "{shown:#}");
        assert_eq!(issue["body"].as_str().unwrap().trim(), "In hello.txt.");
        assert_eq!(fleet.labels(number), ["for:hand", "p1", "ui"]);
    }
    let none = fleet.carson(&["issue", "create", "-b", "Of what?"]);
    assert_eq!(none.code, Some(2), "{none:#?}");
}

/// What stands in each line of a terminal in the end: a live line was taken away before.
fn left(shown: &str) -> Vec<&str> {
    let lines = shown.split('\n').map(|line| line.trim_end_matches('\r'));
    lines
        .filter_map(|line| line.rsplit("\u{1b}[2K").next())
        .collect()
}

/// Whether anything has a colour or a weight of its own (ECMA-48).
fn is_coloured(shown: &str) -> bool {
    let ends = |part: &str| {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';');
        end.is_some_and(|at| part[at..].starts_with('m'))
    };
    shown.split("\u{1b}[").skip(1).any(ends)
}

/// A verb on a terminal, and once more on one for a person who wants no colours.
fn twice(fleet: &TestFleet, args: &[&str]) -> [String; 2] {
    ["", "1"].map(|plain| {
        let mut command = fleet.command(args);
        command.env("NO_COLOR", plain);
        let (code, shown) = Screen::of(command).ended();
        assert!(code.is_some(), "{args:?}: {shown}");
        shown
    })
}

/// One line is written anew while a stage lasts, and each stage leaves one; elsewhere nothing is ever rewritten.
#[test]
fn a_firing_at_a_terminal_has_one_live_line() {
    let fleet = fleet(WORKS, "");
    let (code, shown) = Screen::of(fleet.command(&["fire", "hand"])).ended();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("\r\u{1b}[2K  execute "), "{shown:?}");
    let left = left(&shown);
    for stage in ["workspace", "execute", "teardown"] {
        let of_it = left.iter().filter(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(stage) && words.next().is_some_and(|took| took.contains(':'))
        });
        assert_eq!(of_it.count(), 1, "{stage}: {left:#?}");
    }
    fleet.issue("hand", "More", "");
    let mut plain = fleet.command(&["fire", "hand"]);
    let plain = plain.env("TERM", "xterm").output().unwrap();
    let both = [plain.stdout, plain.stderr].concat();
    assert!(
        !both.contains(&b'\x1b') && !both.contains(&b'\r'),
        "{both:?}"
    );
}

/// What needs somebody is red, what somebody should know is yellow, and a line says by its word which it is.
#[test]
fn colours_are_for_terminals_whose_reader_wants_them() {
    let (red, yellow) = ("\u{1b}[1;31m", "\u{1b}[33m");
    let fleet = fleet("exit 3", "[limits]\nfail_streak = 1\n");
    assert_eq!(fire(&fleet)["outcome"], "FAILED");
    let pause = ["pause", "--role", "hand", "--reason", "lunch"];
    assert_eq!(fleet.carson(&pause).code, Some(0));
    let [coloured, plain] = twice(&fleet, &["status"]);
    for (colour, line) in [(red, "BREAKER of hand "), (yellow, "PAUSED role hand ")] {
        let whole = format!("{colour}{line}");
        assert!(coloured.contains(&whole), "{coloured:?}");
        assert!(plain.contains(line) && !is_coloured(&plain), "{plain:?}");
    }

    with_stages(&fleet, "\"execute\", \"verify\"", "");
    fs::remove_file(fleet.root().join("cli/agent")).unwrap();
    let mut seen = [0, 0];
    for verb in [&["doctor"][..], &["config", "check"]] {
        let [coloured, plain] = twice(&fleet, verb);
        assert!(!is_coloured(&plain), "{plain:?}");
        for line in coloured.lines().map(|line| line.trim_end_matches('\r')) {
            let bare = line.trim_start_matches(red).trim_start_matches(yellow);
            if bare.starts_with("warning ") || bare.contains(": warning: ") {
                assert!(line.starts_with(yellow), "{line:?}");
                seen[0] += 1;
            } else if bare.starts_with("error ") {
                assert!(line.starts_with(red), "{line:?}");
                seen[1] += 1;
            }
        }
    }
    assert!(seen[0] > 0 && seen[1] > 0, "{seen:?}");

    // The daemon's log is for whoever started it there.
    for (plain, has_colours) in [("", true), ("1", false)] {
        let mut daemon = fleet.command(&["daemon"]);
        daemon.env("NO_COLOR", plain);
        let daemon = Screen::of(daemon);
        until("it has said something", || {
            daemon.shown().contains('\n').then_some(())
        });
        let pid = Pid::from_raw(daemon.pid().cast_signed());
        until("it is heard of", || {
            let status = fleet.ok(&["status", "--json"]);
            (status["hosts"][0]["pid"].as_u64() == Some(daemon.pid().into())).then_some(())
        });
        kill(pid, Signal::SIGTERM).unwrap();
        let (code, shown) = daemon.ended();
        assert_eq!(code, Some(0), "{shown:?}");
        assert_eq!(is_coloured(&shown), has_colours, "{shown:?}");
    }
}

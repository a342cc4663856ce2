//! What an operator can write or type wrongly: every file, every flag. Each mistake exits as
//! `carson --help` says, tells what, where and what next, and leaves everything as it was.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use carson_tests::fleet::{REPO, Ran, TestFleet};
use carson_tests::judge::{judge, sound, state};

/// Runs all cases before it says what went wrong. Nothing may change, so one fleet serves them all.
fn each<C>(
    cases: &[C],
    name: impl Fn(&C) -> String,
    run: impl Fn(&TestFleet, &C) -> Result<(), String>,
) {
    let fleet = sound().with_program("claude", "");
    let before = state(&fleet);
    let mut wrong = Vec::new();
    for case in cases {
        if let Err(problem) = run(&fleet, case) {
            wrong.push(format!("--- {}: {problem}", name(case)));
        }
        assert_eq!(state(&fleet), before, "{} changed something", name(case));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where a text goes.
enum Put {
    /// Below what carson.toml has.
    Settings(&'static str),
    /// In place of carson.toml.
    AllSettings(&'static str),
    /// Below what role.toml has.
    Role(&'static str),
    /// In place of role.toml.
    AllRole(&'static str),
    /// A file in the home, readable by everyone.
    File(&'static str, &'static str),
    /// A directory in the home.
    Dir(&'static str),
    /// Nothing: this path of the home goes.
    Gone(&'static str),
    /// A variable of the environment.
    Env(&'static str, &'static str),
}

use Put::{AllRole, AllSettings, Dir, Env, File, Gone, Role, Settings};

/// Breaks the files of a home; the variables that go with it.
fn put(fleet: &TestFleet, what: &[Put]) -> Vec<(&'static str, &'static str)> {
    let home = fleet.home();
    let (settings, role) = (home.join("carson.toml"), home.join("roles/hand/role.toml"));
    let add = |path: &Path, text: &str| {
        let old = fs::read_to_string(path).unwrap();
        fs::write(path, format!("{old}{text}")).unwrap();
    };
    let mut env = Vec::new();
    for one in what {
        match one {
            Settings(text) => add(&settings, text),
            AllSettings(text) => fs::write(&settings, text).unwrap(),
            Role(text) => add(&role, text),
            AllRole(text) => fs::write(&role, text).unwrap(),
            File(path, text) => {
                let path = home.join(path);
                fs::write(&path, text).unwrap();
                fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
            }
            Dir(path) => fs::create_dir_all(home.join(path)).unwrap(),
            Gone(path) => remove(&home.join(path)),
            Env(name, value) => env.push((*name, *value)),
        }
    }
    env
}

fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).unwrap();
    } else if path.exists() {
        fs::remove_file(path).unwrap();
    }
}

/// Puts the two files back that [`put`] may have broken, and nothing else.
fn mend(fleet: &TestFleet, settings: &str, role: &str) {
    let home = fleet.home();
    for path in ["carson.toml", "roles", "t"] {
        remove(&home.join(path));
    }
    fs::create_dir_all(home.join("roles/hand")).unwrap();
    fs::write(home.join("carson.toml"), settings).unwrap();
    fs::write(home.join("roles/hand/role.toml"), role).unwrap();
}

/// Broken files, and what must be said of them.
#[rustfmt::skip]
const FILES: &[(&[Put], &[&str])] = &[
    (&[Gone("carson.toml")], &["carson.toml: the file does not exist", "hint: run `carson init`"]),
    (&[Gone("carson.toml"), Dir("carson.toml")], &["carson.toml: it cannot be read"]),
    (&[AllSettings("[fleet\nname = 1\n")], &["carson.toml:1: this is not TOML"]),
    (&[AllSettings("")], &["carson.toml has no \"widget\"", "it has none"]),
    (&[Settings("[flet]\n")], &["flet: there is no such key", "did you mean fleet?"]),
    (&[Settings("[page]\nlisten = \"x\"\n")], &["page.listen: \"x\" is not an address with a port"]),
    (&[Settings("[accounts.play]\nengine = \"rehearsal\"\n")], &["this is not TOML: duplicate key"]),
    (&[Settings("[accounts.Play]\nengine = \"claude\"\n")], &["\"Play\" is not a usable name"]),
    (&[Settings("[accounts.x]\n")], &["accounts.x: engine is missing", "engine = \"claude\""]),
    (&[Settings("[accounts.x]\nengine = \"gpt\"\n")], &["\"gpt\" is not one of claude, codex, command, rehearsal"]),
    (&[Settings("[accounts.x]\nengine = \"gemni\"\n")], &["\"gemni\" is not one of", "did you mean \"gemini\"?"]),
    (&[Settings("[slack]\ntrusted = [\"U1\"]\n")], &["slack: it needs token_file or webhook_file"]),
    (&[Settings("[accounts.x]\nengine = \"claude\"\nreserve = \"110%\"\n")],
     &["accounts.x.reserve", "is not a share in quotes"]),
    (&[Settings("[accounts.x]\nengine = \"claude\"\nspeaks = \"codex\"\n")],
     &["accounts.x.speaks: only a program of engine \"command\" needs it"]),
    (&[Settings("[accounts.x]\nengine = \"command\"\n")], &["needs a binary", "binary = "]),
    (&[Settings("[accounts.x]\nengine = \"rehearsal\"\n")], &["needs a script", "script = "]),
    (&[Settings("[repos.x]\n")], &["repos.x: url is missing", "url = "]),
    (&[Settings("[repos.x]\nurl = \"--upload-pack=id\"\n")], &["repos.x.url", "is an option, not an address"]),
    (&[Settings("[repos.x]\nurl = \"y\"\nbase = \"-b\"\n")], &["repos.x.base", "\"-b\" is not a branch"]),
    (&[Settings("[repos.x]\nurl = \"y\"\nforge = \"github\"\n")],
     &["slug \"\" is not owner/name", "needs a [github] section"]),
    (&[Settings("[repos.x]\nurl = \"y\"\nprotected = [\"a\", 1]\n")],
     &["repos.x.protected", "is not a list of texts"]),
    (&[Settings("[github]\n")], &["token_file or token_command, one of them"]),
    (&[Settings("[github]\ntoken_file = \"t\"\n"), File("t", "secret")],
     &["github.token_file", "mode 0644", "chmod 600"]),
    (&[Settings("[github]\ntoken_file = \"t\"\n")], &["github.token_file", "cannot be read"]),
    (&[Settings("[slack]\n")], &["token_file or webhook_file, one of them"]),
    (&[Settings("[webhook]\n")], &["webhook: it needs url_file or url, one of them"]),
    (&[Settings("[database]\nurl = \"mysql://u:hunter2@h/d\"\n")],
     &["database.url: it is no database", "postgres://"]),
    (&[AllSettings( "[fleet]\nname = 7\nzone = \"Mars/Base\"\nmax_firing = 2\n")],
     &["carson.toml:2: fleet.name: 7 is not a text in quotes", "carson.toml:3: fleet.zone", "IANA zone", "did you mean fleet.max_firings?"]),
    (&[Env("CARSON_FLEET__ZONE", "Mars/Base")], &["environment CARSON_FLEET__ZONE", "IANA zone"]),
    (&[Env("CARSON_FLEET__MAX_FIRINGS", "NaN")], &["environment CARSON_FLEET__MAX_FIRINGS", "whole number"]),
    (&[Env("CARSON_FLEET__MAX_FIRINGS", "-1")], &["environment CARSON_FLEET__MAX_FIRINGS", "at least 1"]),
    (&[Env("CARSON_FLEET__NOPE", "1")], &["environment CARSON_FLEET__NOPE", "no such key"]),
    (&[Gone("roles/hand/role.toml")], &["roles/hand/role.toml: the file does not exist", "needs a role.toml"]),
    (&[Gone("roles"), File("roles", "")], &["roles: it cannot be read", "one directory for each role"]),
    (&[Dir("roles/Bad_Role")], &["roles/Bad_Role", "is not a usable name", "rename the directory"]),
    (&[AllRole("title = \n")], &["role.toml:1: this is not TOML"]),
    (&[AllRole( "cadence = [\"61 * * * *\"]\nengines = [\"play\"]\nrepos = [\"widget\"]\n")],
     &["role.toml:1: cadence", "not a cron line", "five fields"]),
    (&[AllRole( "zone = \"Berlin\"\nengines = [\"play\"]\nrepos = [\"widget\"]\n")],
     &["role.toml:1: zone", "Europe/Berlin"]),
    (&[AllRole("engines = [\"plai\"]\nrepos = [\"widgit\"]\n")],
     &["has no \"plai\"", "did you mean \"play\"?", "did you mean \"widget\"?"]),
    (&[AllRole("engines = []\nrepos = []\n")], &["at least one account", "at least one repository"]),
    (&[AllRole( "engines = [\"play\", \"play\"]\nrepos = [\"widget\"]\n")],
     &["engines: \"play\" is named twice"]),
    (&[AllRole( "engines = [\"play\"]\nrepos = [\"widget\"]\nstages = [\"review\", \"deploy\"]\n")],
     &["\"deploy\" is not a stage", "review needs plan"]),
    (&[AllRole( "engines = [\"play\"]\nrepos = [\"widget\"]\nwork = { from = \"queue\" }\n")],
     &["\"queue\" is not built yet"]),
    (&[AllRole( "engines = [\"play\"]\nrepos = [\"widget\"]\nwork = { label = \" \" }\n")],
     &["work.label: the label is empty"]),
    (&[AllRole( "engines = [\"play\"]\nrepos = [\"widget\"]\nwork = { label = \"carson:done\" }\n")],
     &["work.label: \"carson:done\" keeps every role away", "label = \"carson:ready\""]),
    (&[AllRole( "engines = [\"play\"]\nrepos = [\"widget\"]\nwork = { label = \"Needs:Human\" }\n")],
     &["work.label: \"Needs:Human\" keeps every role away"]),
    (&[Role("[limits]\nwall_clock = \"0s\"\n")], &["limits.wall_clock", "a duration above 0"]),
    (&[Role("[limits]\nwall_clock = 45\n")], &["limits.wall_clock", "a duration in quotes"]),
    (&[Role("[limits]\nmax_cost_usd = nan\n")], &["limits.max_cost_usd", "an amount above 0"]),
    (&[Role("[promise]\n")], &["promise.run: it is missing", "run = "]),
    (&[AllRole("engines = [\"play\"]\nrepos = [\"widget\"]\nstages = [\"execute\"]\n[promise]\nrun = \"true\"\n")],
     &["promise: no stage runs it", "add \"verify\" to stages"]),
    (&[File("roles/hand/plan.md", "Look.\nDo {{ tsak }}.\n")],
     &["plan.md:2: the prompt names tsak, which there is not", "did you mean task?"]),
    (&[File("roles/hand/plan.md", "{% if %}")], &["plan.md:1: the prompt: ", "{% if plan %}"]),
    (&[File("roles/hand/execute.md", " \n")], &["execute.md: the prompt is empty", "remove the file"]),
    (&[Settings("[repos.x]\nurl = 1\n"), Role("silence = 1\n[limits]\nsilence = 1\n")],
     &["3 findings", "repos.x.url: 1 is not a text", "silence: there is no such key", "did you mean limits.silence?", "limits.silence: 1 is not a duration"]),
];

#[test]
fn every_broken_file_is_told_with_its_place_and_a_way_out() {
    each(
        FILES,
        |(_, says)| format!("{says:?}"),
        |fleet, (what, says)| {
            let read = |path| fs::read_to_string(fleet.home().join(path)).unwrap();
            let (settings, role) = (read("carson.toml"), read("roles/hand/role.toml"));
            let env = put(fleet, what);
            let run = |args: &[&str]| -> Ran {
                let mut command = fleet.command(args);
                command.envs(env.iter().copied()).output().unwrap().into()
            };
            let (fired, checked) = (run(&["fire", "hand"]), run(&["config", "check"]));
            mend(fleet, &settings, &role);
            if fired.stderr.contains("hunter2") {
                return Err("a password is shown".into());
            }
            judge(&fired, 2, says)?;
            // The same findings, word for word.
            let findings = fired.stderr.split_once('\n').unwrap_or_default().1;
            match checked.code == Some(2) && checked.stdout == findings {
                true => Ok(()),
                false => Err(format!("config check says something else: {checked:?}")),
            }
        },
    );
}

#[test]
fn every_number_in_a_file_has_bounds() {
    let counts = [
        "max_turns",
        "max_turns_read",
        "max_tool_calls",
        "max_attempts",
        "max_firings_per_day",
        "max_output_mb",
        "max_open_prs",
        "fail_streak",
        "max_work_attempts",
    ];
    let fleet = sound();
    let role = fleet.home().join("roles/hand/role.toml");
    let good = fs::read_to_string(&role).unwrap();
    for key in counts {
        for value in [
            "-1",
            "0",
            "4294967296",
            "99999999999999999999",
            "nan",
            "inf",
            "1.5",
            "\"1\"",
            "true",
        ] {
            fs::write(&role, format!("{good}[limits]\n{key} = {value}\n")).unwrap();
            let line = good.lines().count() + 2;
            let ran = fleet.carson(&["fire", "hand"]);
            judge(&ran, 2, &[&format!("role.toml:{line}")])
                .unwrap_or_else(|why| panic!("{key} = {value}: {why}"));
        }
    }
    // The largest that is allowed is allowed, and nothing computed from it overflows.
    let huge: Vec<String> = counts
        .iter()
        .map(|key| format!("{key} = 4294967295\n"))
        .collect();
    fs::write(
        &role,
        format!("{good}[limits]\n{}wall_clock = \"3650d\"\n", huge.concat()),
    )
    .unwrap();
    for args in [
        &["roles", "show", "hand"][..],
        &["fire", "hand", "--dry-run"],
        &["why", "hand"],
    ] {
        judge(&fleet.carson(args), 0, &[]).unwrap_or_else(|why| panic!("{args:?}: {why}"));
    }
}

/// Command lines that are wrong in themselves or name what is not there.
#[rustfmt::skip]
const LINES: &[(&[&str], i32, &[&str])] = &[
    (&[], 2, &["Usage: carson"]),
    (&["--nope"], 2, &["unexpected argument '--nope'", "--help"]),
    (&["fir"], 2, &["unrecognized subcommand 'fir'", "fire"]),
    (&["fire"], 2, &["<ROLE>", "--help"]),
    (&["fire", "hand", "--wrok", "1"], 2, &["unexpected argument '--wrok'", "'--work'"]),
    (&["fire", "nobody"], 2, &["there is no role \"nobody\"", "there are: hand"]),
    (&["fire", "../hand"], 2, &["there is no role \"../hand\""]),
    (&["fire", ""], 2, &["there is no role \"\""]),
    (&["fire", "hand", "--repo", "nope"], 2, &["there is no repository \"nope\"", "widget"]),
    (&["why", "nobody"], 2, &["there is no role", "hand"]),
    (&["roles", "show", "nobody"], 2, &["there is no role", "hand"]),
    (&["firings", "--role", "nobody"], 2, &["there is no role", "hand"]),
    (&["breaker", "reset", "nobody"], 2, &["there is no role", "hand"]),
    (&["block", "set", "nobody"], 2, &["there is no account \"nobody\"", "play"]),
    (&["block", "clear", "nobody"], 2, &["there is no account \"nobody\"", "play"]),
    (&["pause", "--account", "nobody"], 2, &["there is no account", "play"]),
    (&["resume", "--repo", "nobody"], 2, &["there is no repository", REPO]),
    (&["pause", "--role", "hand", "--repo", REPO], 2, &["cannot be used with"]),
    (&["firings", "ffffffff", "--role", "hand"], 2, &["cannot be used with"]),
    (&["firings", "ffffffff"], 1, &["there is no firing \"ffffffff\"", "`carson firings`"]),
    (&["logs", "ffffffff"], 1, &["there is no firing", "`carson firings`"]),
    (&["firing", "run", "ffffffff"], 2, &["\"ffffffff\" is not a firing's id"]),
    (&["firing", "run", "01a1fd20-ee1e-7592-9ffb-f4b33024e764"], 1, &["no firing has the id"]),
    (&["issue", "create", " "], 2, &["a title or a label is empty", "hint:"]),
    (&["issue", "create", "x", "--label", ""], 2, &["a title or a label is empty"]),
    (&["issue", "list", "--repo", "nope"], 2, &["there is no repository"]),
    (&["issue", "show", "99"], 1, &["issues/0099.md does not exist", "hint: `carson issue list`"]),
    (&["pr", "show", "99"], 1, &["pulls/0099.md does not exist", "hint: `carson issue list`"]),
    (&["init"], 1, &["exists already", "hint:"]),
    (&["--home", "new", "init"], 2, &["which repository?", "carson init --repo"]),
    (&["--home", "new", "init", "--repo", "nowhere"], 2, &["neither a directory nor an address", "hint:"]),
    (&["--home", "new", "init", "--repo", "operator"], 2, &["is not a git repository", "hint:"]),
    (&["--home", "new", "init", "--repo", "remote.git", "--forge", "github"], 2, &["--slug"]),
    (&["--home", "new", "init", "--repo", "remote.git", "--forge", "github", "--slug", "x"], 2,
     &["slug \"x\" is not owner/name", "--slug OWNER/NAME"]),
    (&["--home", "new", "init", "--repo", "remote.git", "--base", "-x"], 2, &["unexpected argument '-x'"]),
    (&["--home", "new", "init", "--repo", "remote.git", "--base=a..b"], 2,
     &["there is no branch \"a..b\"", "the repository has: main"]),
    (&["--home", "", "status"], 2, &["a value is required for '--home"]),
    (&["--home", "nowhere", "status"], 2, &["the file does not exist", "`carson init`"]),
    (&["--home", "/proc/nowhere", "init", "--repo", "remote.git"], 1, &["hint:", "--home"]),
    (&["demo", "--engine", "gpt"], 2, &["possible values: claude, codex, rehearsal"]),
    (&["demo", "--repo", "nowhere"], 2, &["--repo nowhere"]),
    (&["completions", "cobol"], 2, &["possible values"]),
    (&["config", "nope"], 2, &["unrecognized subcommand"]),
    (&["hook", "explain"], 2, &["<COMMAND>"]),
    (&["rehearsal", "nowhere.toml"], 2, &["nowhere.toml"]),
];

#[test]
fn every_wrong_command_line_says_what_is_right() {
    each(
        LINES,
        |(args, ..)| format!("{args:?}"),
        |fleet, (args, code, says)| {
            judge(&fleet.carson(args), *code, says)?;
            match fleet.root().join("new/carson.toml").exists() {
                true => Err("half a home was left".into()),
                false => Ok(()),
            }
        },
    );
}

#[test]
fn every_number_and_duration_on_the_command_line_has_bounds() {
    let numbers: [&[&str]; 5] = [
        &["fire", "hand", "--work"],
        &["firings", "--limit"],
        &["demo", "--seconds"],
        &["issue", "show"],
        &["pr", "show"],
    ];
    let spans: [&[&str]; 3] = [
        &["firings", "--since"],
        &["block", "set", "play", "--for"],
        &["pause", "--for"],
    ];
    let no_number = [
        "-1",
        "0",
        "99999999999999999999999",
        "NaN",
        "",
        "1.5",
        "0x10",
        "١",
    ];
    let no_span = [
        "-1h",
        "999999999999999999999d",
        "3651d",
        "NaN",
        "",
        "1.5h",
        "1",
        "h",
        "1h1h",
    ];
    let fleet = sound();
    let before = state(&fleet);
    let wrong = |start: &[&str], values: &[&str]| {
        for value in values {
            let args = [start, &[value]].concat();
            judge(&fleet.carson(&args), 2, &["error: "])
                .unwrap_or_else(|why| panic!("{args:?}: {why}"));
        }
    };
    numbers.iter().for_each(|start| wrong(start, &no_number));
    spans.iter().for_each(|start| wrong(start, &no_span));
    spans[1..].iter().for_each(|start| wrong(start, &["0s"]));
    assert_eq!(state(&fleet), before);
    let status = fleet.ok(&["status", "--json"]);
    assert_eq!(
        (&status["pauses"], &status["blocks"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
}

#[test]
fn errors_are_json_where_json_was_asked_for() {
    let fleet = sound();
    let ran = fleet.carson(&["issue", "show", "99", "--json"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.json()["error"]
            .as_str()
            .unwrap()
            .contains("does not exist"),
        "{ran:?}"
    );
    assert!(ran.json()["hints"][0].is_string(), "{ran:?}");
    fs::write(fleet.home().join("carson.toml"), "[fleet\n").unwrap();
    let findings = fleet.carson(&["config", "check", "--json"]);
    assert_eq!(
        (findings.code, &findings.json()["findings"][0]["line"]),
        (Some(2), &1.into())
    );
}

//! `carson stories` as a person types it, and `ralph.sh` as its users do: the binary, its exit codes, its files; killed at any
//! moment.

#![expect(clippy::disallowed_methods, reason = "it runs the binary under test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use carson_tests::Dice;
use carson_tests::fleet::{Ran, binary};
use carson_tests::until;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A repository, and nothing of the machine's own but `PATH`: no fleet, no home.
struct Here {
    dir: TempDir,
}

impl Here {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("tree")).unwrap();
        fs::create_dir(dir.path().join("bin")).unwrap();
        let here = Self { dir };
        here.git("init -q -b main");
        here.write("AGENTS.md", "Be short.\n");
        here.write("src/keep", "keep\n");
        here.git("add .");
        here.git("commit -q -m first");
        here
    }

    fn tree(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    fn command(&self, program: impl AsRef<Path>, args: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        let path = std::env::var_os("PATH").unwrap();
        let dirs = [self.dir.path().join("bin")]
            .into_iter()
            .chain(std::env::split_paths(&path));
        command.args(args).current_dir(self.tree()).env_clear();
        command
            .env("PATH", std::env::join_paths(dirs).unwrap())
            .env("OUT", self.dir.path())
            .env("HOME", self.dir.path())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "t")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "t@t")))
            .stdin(Stdio::null());
        command
    }

    fn carson(&self, args: &[&str]) -> Ran {
        let args = [&["stories"], args].concat();
        self.command(binary(), &args).output().unwrap().into()
    }

    fn git(&self, words: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        let done = self.command("git", &words).output().unwrap();
        assert!(done.status.success(), "git {words:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.tree().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.tree().join(name)).unwrap()
    }

    /// A program on `PATH`.
    fn program(&self, name: &str, script: &str) {
        let path = self.dir.path().join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// A plan of so many stories with a scope of `docs/`, and a program that does them.
    fn plan(&self, stories: usize, executor: &str) {
        self.program("doer", executor);
        let story = |n: usize| json!({"id": format!("S-{n}"), "priority": 1, "title": format!("Story {n}"), "prompt": "Do it.", "scope": ["docs/"]});
        let stories: Vec<Value> = (1..=stories).map(story).collect();
        let plan = json!({"version": 1, "project": "test", "executor": "doer", "stories": stories});
        self.write("stories.json", &format!("{plan:#}\n"));
    }
}

/// What the pages show.
fn page(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    fs::read_to_string(docs.join(name)).unwrap()
}

/// The first block of a page that begins so.
fn block(page: &str, begins: &str) -> String {
    let blocks = page.split("```").skip(1).step_by(2);
    let mut texts = blocks.filter_map(|block| Some(block.split_once('\n')?.1));
    texts
        .find(|text| text.starts_with(begins))
        .unwrap_or_else(|| panic!("no block begins with {begins}"))
        .to_owned()
}

/// Times differ.
fn timeless(text: &str) -> String {
    let line = |line: &str| match line.split_once(" changed, ") {
        Some((before, _)) => format!("{before} changed, …)\n"),
        None => format!("{}\n", line.trim_end()),
    };
    text.lines().map(line).collect()
}

#[test]
fn the_page_shows_what_is_printed() {
    let page = page("STORIES.md");
    let here = Here::new();
    here.write("stories.json", &block(&page, "{"));
    // It does the first story only the second time, and looks at more than it should in the second.
    here.program(
        "claude",
        r#"
        [ "$1" = --version ] && exit
        case "$(cat)" in
          *S-1*) if [ -e "$OUT/once" ]; then echo 'Hello, world' > hello.txt; else touch "$OUT/once"; echo hi > hello.txt; fi ;;
          *) mkdir audit; echo '# Nobody calls f.' > audit/S-2.md; echo 'f()' >> src/keep ;;
        esac"#,
    );
    let mut shown = String::new();
    for (line, code) in [
        ("stories check", 0),
        ("stories run", 13),
        ("stories status", 0),
        ("stories status --tsv", 0),
        ("stories replay --check", 0),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let ran: Ran = here.command(binary(), &args).output().unwrap().into();
        assert_eq!(ran.code, Some(code), "{line}: {ran:#?}");
        assert_eq!(ran.stderr, "", "{line}");
        if line == "stories replay --check" {
            assert_eq!(ran.stdout, here.file("stories.json"));
        } else {
            shown += &format!("$ carson {line}\n{}", ran.stdout);
        }
    }
    let tree = here.tree().canonicalize().unwrap().display().to_string();
    let shown = shown.replace(&tree, "~/src/widget");
    assert_eq!(
        timeless(&shown),
        timeless(&block(&page, "$ carson stories check"))
    );
    // What did not pass is a patch, and the rest is as it was.
    assert_eq!(here.file("src/keep"), "keep\n");
    let patch = here.file(".carson/stories/attempts/S-2-1.patch");
    assert!(
        patch.contains("+f()") && patch.contains("+# Nobody calls f."),
        "{patch}"
    );
    assert_eq!(
        here.git("status --porcelain"),
        "?? hello.txt\n?? stories.json\n"
    );
}

#[test]
fn every_end_has_its_exit_code() {
    let here = Here::new();
    for (args, code, says) in [
        (
            &["check"][..],
            2,
            "there is no stories.json and no prd.json here",
        ),
        (&["run", "none.json"], 2, "none.json: No such file"),
        (&["check", "src"], 2, "src is no file"),
        (&["check", "--schema"], 0, "\"title\": \"stories.json\""),
    ] {
        let ran = here.carson(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {ran:#?}");
        assert!(
            format!("{ran:#?}").contains(&says.replace('"', "\\\"")),
            "{args:?}: {ran:#?}"
        );
    }
    here.plan(3, "echo x > docs-$CARSON_STORY_ID; exit 1");
    for (args, code, says) in [
        (&["replay"][..], 1, "there are no events of stories.json"),
        (
            &["run", "1", "--mode", "fixing"],
            2,
            "\"fixing\" is not one of fix, audit",
        ),
        (&["run", "--", "--validate-prd"], 2, "add --compat ralph"),
        (
            &["run", "--timeout", "soon"],
            2,
            "write it as 300s, 15m or 1h",
        ),
        (
            &["run", "1", "--max-attempts", "0"],
            2,
            "0 is not in 1..=100",
        ),
        (
            &["run", "--executor", "no-such-agent"],
            13,
            "exit code 127: ",
        ),
        (&["run", "--executor", "no-such-agent"], 13, "no-such-agent"),
        (
            &["run", "1"],
            13,
            "1 taken: 0 passed, 1 failed; 2 still open",
        ),
        (
            &[
                "run",
                "--fail-fast",
                "--executor",
                "false",
                "--max-attempts",
                "1",
            ],
            13,
            "1 still open",
        ),
        (
            &["run", "--executor", "true"],
            0,
            "1 taken: 1 passed, 0 failed; 0 still open",
        ),
        (&["run"], 13, "0 taken: 0 passed, 0 failed; 0 still open"),
        (
            &["status"],
            0,
            " out_of_scope: docs-S-1 (added) is outside of its scope ",
        ),
    ] {
        let ran = here.carson(args);
        assert_eq!(ran.code, Some(code), "{args:?}: {ran:#?}");
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains(says), "{args:?}: {all}");
    }
    // All that is wrong at once, each with its place.
    here.write("bad.json", r#"{"version": 2, "project": "", "stories": [{"id": "a b", "scope": ["../x"], "more": 1}]}"#);
    let ran = here.carson(&["check", "bad.json"]);
    assert_eq!(ran.code, Some(2));
    for at in [
        "/version: ",
        "/project: ",
        "/stories/0/id: ",
        "/stories/0/scope/0: ",
        "/stories/0/more: ",
        "/stories/0: has no `title`",
    ] {
        assert!(ran.stdout.contains(at), "{at}: {}", ran.stdout);
    }
}

#[test]
fn a_signal_undoes_the_attempt_and_ends_it_with_10() {
    let here = Here::new();
    here.plan(
        1,
        "echo half > docs; echo x > src/out; touch \"$OUT/there\"; sleep 1000",
    );
    // What it had half done when it was stopped is nobody's fault: the story is open again.
    for executor in ["touch $OUT/there; exec sleep 1000", "doer"] {
        let args = ["stories", "run", "--executor", executor];
        let child = here
            .command(binary(), &args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let there = here.dir.path().join("there");
        until("the executor", || there.exists().then_some(()));
        fs::remove_file(&there).unwrap();
        let pid = nix::unistd::Pid::from_raw(child.id().try_into().unwrap());
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert_eq!(ran.code, Some(10), "{ran:#?}");
        assert_eq!(here.git("status --porcelain"), "?? stories.json\n");
        let plan: Value = serde_json::from_str(&here.file("stories.json")).unwrap();
        assert_eq!(
            plan["stories"][0]["status"].as_str().unwrap_or("open"),
            "open"
        );
    }
}

/// So often it is killed here; a longer run says so.
const KILLS: &str = "CARSON_TEST_STORIES_KILLS";

/// Each story is done by parts: files in its scope and outside of it, a commit, then what passes. Whenever the run is killed,
/// the plan is JSON and what its events make; and what comes of all runs is what one run makes that nobody kills.
#[test]
fn killed_at_any_moment_it_leaves_a_plan_that_is_right_and_goes_on() {
    let kills: u32 = std::env::var(KILLS).map_or(25, |count| count.parse().unwrap());
    let here = Here::new();
    here.plan(
        4,
        r#"
        mkdir -p docs; echo x >> "docs/$CARSON_STORY_ID"; echo out > "src/out-$CARSON_STORY_ID"; rm src/keep
        sleep 0.0$((CARSON_STORY_ATTEMPT % 5)); git add docs; git commit -q -m "$CARSON_STORY_ID"; sleep 0.03
        rm "src/out-$CARSON_STORY_ID"; echo keep > src/keep; echo y >> "docs/$CARSON_STORY_ID""#,
    );
    let args = ["stories", "run", "--interrupted", "restore"];
    let mut dice = Dice::new(7);
    let mut was_killed = 0;
    let mut edited = String::new();
    for kill in 0..kills {
        let mut run = here.command(binary(), &args);
        let mut child = run
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20 + dice.roll(250)));
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        was_killed += u32::from(ended.signal() == Some(9));
        let plan: Value = serde_json::from_str(&here.file("stories.json")).unwrap();
        assert_eq!(plan["stories"].as_array().unwrap().len(), 4, "{kill}");
        let replayed = here.carson(&["replay", "--check"]);
        let is_right = replayed.code == Some(0) || replayed.stderr.contains("there are no events");
        // A run that was killed before it read the plan has not taken an edit up yet.
        let is_right = is_right || here.file("stories.json") == edited;
        assert!(is_right, "{kill}: {replayed:#?}");
        // Two in five are begun anew, so that there is something to be killed.
        if dice.roll(5) < 2 {
            edited = here.file("stories.json").replace("\"passing\"", "\"open\"");
            here.write("stories.json", &edited);
        }
    }
    assert!(was_killed > kills / 4, "{was_killed} of {kills}");
    // What was killed last is settled before the plan is edited.
    let settled = here.carson(&args[1..]);
    assert_eq!(settled.code, Some(0), "{settled:#?}");
    let text = here.file("stories.json").replace("\"passing\"", "\"open\"");
    here.write("stories.json", &text);
    let ran = here.carson(&args[1..]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        ran.stdout
            .contains("4 taken: 4 passed, 0 failed; 0 still open"),
        "{ran:#?}"
    );
    assert_eq!(here.file("src/keep"), "keep\n");
    let status = here.git("status --porcelain --untracked-files=all");
    let untracked = status.lines().filter(|line| line.starts_with("??"));
    assert!(untracked.eq(["?? stories.json"]), "{status}");
    let out: Vec<_> = fs::read_dir(here.tree().join("src")).unwrap().collect();
    assert_eq!(out.len(), 1, "{out:?}");
    for n in 1..=4 {
        // Whole attempts, each of both lines: half of one is nowhere.
        let text = here.file(&format!("docs/S-{n}"));
        assert_eq!(text.replace("x\ny\n", ""), "", "S-{n}");
    }
    assert_eq!(here.carson(&["replay", "--check"]).code, Some(0));
}

#[test]
fn what_threw_its_environment_away_is_ended_before_a_killed_attempt_is_undone() {
    let here = Here::new();
    let late = "env -i setsid -f sh -c 'echo $$ > docs/pid; mv docs/pid docs/late; exec sleep 774' > /dev/null 2>&1";
    here.plan(1, &format!("mkdir -p docs; {late}; sleep 1000"));
    let mut first = here
        .command(binary(), &["stories", "run"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the executor", || {
        here.tree().join("docs/late").exists().then_some(())
    });
    let late: i32 = here.file("docs/late").trim().parse().unwrap();
    first.kill().unwrap();
    first.wait().unwrap();
    here.program("doer", "mkdir -p docs; echo x > docs/x");
    let ran = here.carson(&["run"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(carson_proc::ProcessId::of(late), None);
    assert!(!here.tree().join("docs/late").exists());
}

#[test]
fn a_run_with_nothing_open_does_not_say_that_all_is_well() {
    let here = Here::new();
    here.plan(1, "exit 1");
    assert_eq!(here.carson(&["run"]).code, Some(13));
    let again = here.carson(&["run"]);
    assert_eq!(again.code, Some(13), "{again:#?}");
    assert!(again.stdout.contains("1 failed before"), "{again:#?}");
}

#[test]
fn a_link_in_the_place_of_the_lock_leads_nobody_anywhere() {
    let here = Here::new();
    here.plan(1, "true");
    let important = here.dir.path().join("important");
    fs::write(&important, "important").unwrap();
    for name in ["lock", "events.jsonl", "mark", "attempts", "contents"] {
        let dir = here.tree().join(".carson/stories");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        std::os::unix::fs::symlink(&important, dir.join(name)).unwrap();
        let ran = here.carson(&["run"]);
        assert_eq!(ran.code, Some(1), "{name}: {ran:#?}");
        assert!(ran.stderr.contains("is a link"), "{name}: {ran:#?}");
        assert_eq!(fs::read_to_string(&important).unwrap(), "important");
    }
}

#[test]
fn one_run_at_a_time() {
    let here = Here::new();
    here.plan(1, "touch \"$OUT/there\"; sleep 1000");
    let mut first = here
        .command(binary(), &["stories", "run"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the executor", || {
        here.dir.path().join("there").exists().then_some(())
    });
    let second = here.carson(&["run"]);
    assert_eq!(second.code, Some(1), "{second:#?}");
    let says = format!(
        "is held by carson stories run stories.json (pid {}",
        first.id()
    );
    assert!(second.stderr.contains(&says), "{second:#?}");
    let status = here.carson(&["status"]);
    assert!(
        status
            .stdout
            .contains("\ncarson stories run stories.json (pid "),
        "{status:#?}"
    );
    let pid = nix::unistd::Pid::from_raw(first.id().try_into().unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    assert_eq!(first.wait().unwrap().code(), Some(10));
}

/// ralph-loop's own layout, with `deploy/compat/ralph.sh` in the place of its script and a Codex that is one.
struct Ralph {
    here: Here,
}

impl Ralph {
    fn new() -> Self {
        let here = Here::new();
        let shim = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/compat/ralph.sh");
        fs::copy(shim, here.tree().join("ralph.sh")).unwrap();
        here.write("CODEX.md", "# Policy\n");
        let story = |id: &str, mode: &str, scope: &str| {
            json!({"id": id, "title": format!("Story {id}"), "priority": 1, "mode": mode, "scope": [scope],
            "acceptance_criteria": [format!("Created audit/{id}.md with it")], "passes": false})
        };
        let prd = json!({
            "schema_version": "1.0.0", "project": "test",
            "defaults": {
                "mode_default": "audit", "max_stories_default": "all_open", "model_default": "gpt", "reasoning_effort_default": "high",
                "report_dir": "audit", "lint_detection_order": ["Makefile"],
                "sandbox_by_mode": {"audit": "read-only", "linting": "read-only", "fixing": "workspace-write"}
            },
            "stories": [story("AUDIT-001", "audit", "**/*"), story("FIX-001", "fixing", "docs/**"), story("AUDIT-002", "audit", "**/*")]
        });
        here.write("prd.json", &format!("{prd:#}\n"));
        here.program(
            "codex",
            r##"cat > "$OUT/prompt"; last=; for word in "$@"; do [ "$last" = --output-last-message ] && message="$word"; last="$word"; done
            [ -z "$SPILL" ] || echo x > "$OUT/tree/src/spill"
            echo "# done" > "$message""##,
        );
        Self { here }
    }

    /// The script, from somewhere else.
    fn run(&self, env: &[(&str, &str)], args: &[&str]) -> Ran {
        let mut command = self.here.command(self.here.tree().join("ralph.sh"), args);
        command.current_dir(self.here.dir.path());
        command
            .env("CARSON_BIN", binary())
            .envs(env.iter().copied());
        command.output().unwrap().into()
    }
}

#[test]
fn ralph_sh_is_what_it_was() {
    let ralph = Ralph::new();
    let listed = ralph.run(&[], &["--list-stories"]);
    assert_eq!(
        listed.stdout,
        "AUDIT-001\t1\taudit\tStory AUDIT-001\nAUDIT-002\t1\taudit\tStory AUDIT-002\n"
    );
    assert_eq!(
        ralph.run(&[], &["--validate-prd"]).stdout,
        "[ralph] PRD validation passed.\n"
    );
    let ran = ralph.run(&[("MODE", "audit")], &["1"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        ran.stdout
            .contains("[ralph] summary processed=1 passed=1 remaining=1 mode=audit tool=codex\n"),
        "{ran:#?}"
    );
    assert!(!ran.stdout.contains("COMPLETE"));
    assert_eq!(ralph.here.file("audit/AUDIT-001.md"), "# done\n");
    let ran = ralph.run(&[("MODE", "audit")], &["-q"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "<promise>COMPLETE</promise>\n"),
        "{ran:#?}"
    );

    // A fix that leaves its scope ends the run, and its files stay.
    let ran = ralph.run(&[("SPILL", "1")], &["--mode", "fixing", "1"]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.stderr.starts_with(
            "[ralph][ERROR] Story FIX-001 modified files outside scope:\n- src/spill\n"
        ),
        "{ran:#?}"
    );
    assert_eq!(ralph.here.file("src/spill"), "x\n");
    assert!(
        !ralph.here.tree().join(".carson").exists()
            && !ralph.here.tree().join(".runtime/.run.lock").exists()
    );

    // The same by its own name, and by Carson's other verbs.
    let ran = ralph.here.carson(&[
        "run",
        "prd.json",
        "1",
        "--mode",
        "fixing",
        "--",
        "--no-search",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let status = ralph.here.carson(&["status", "--tsv"]);
    assert_eq!(
        status.stdout,
        "AUDIT-001\t1\taudit\tpassing\t0\taudit/AUDIT-001.md\tStory AUDIT-001\nAUDIT-002\t1\taudit\tpassing\t0\taudit/AUDIT-002.md\tStory AUDIT-002\nFIX-001\t1\tfixing\tpassing\t0\taudit/FIX-001.md\tStory FIX-001\n"
    );
    assert_eq!(ralph.here.carson(&["check"]).code, Some(0));
    assert_eq!(ralph.here.carson(&["replay"]).code, Some(2));

    let none = ralph.run(&[("CARSON_BIN", "/no/such/carson")], &["1"]);
    assert_eq!(none.code, Some(127));
    assert_eq!(
        none.stderr,
        "[ralph][ERROR] /no/such/carson is not on PATH: install Carson, or name its binary with CARSON_BIN\n"
    );
}

/// One that throws its environment away and leaves its parent ends with the call that started it.
#[test]
fn nothing_outlives_a_call_of_ralph_sh() {
    let ralph = Ralph::new();
    ralph.here.program(
        "codex",
        r#"cat > /dev/null; for word in "$@"; do message="$word"; done; echo r > "$message"
        env -i setsid -f sh -c "echo \$\$ > '$OUT/daemon.new'; mv '$OUT/daemon.new' '$OUT/daemon'; exec sleep 300" > /dev/null 2>&1
        while ! test -e "$OUT/daemon"; do sleep 0.01; done"#,
    );
    let ran = ralph.run(&[("MODE", "audit")], &["1"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let pid = fs::read_to_string(ralph.here.dir.path().join("daemon")).unwrap();
    let pid = nix::unistd::Pid::from_raw(pid.trim().parse().unwrap());
    assert!(nix::sys::signal::kill(pid, None).is_err(), "{pid} runs on");
}

/// It is killed in the midst of a call: the lock is of nobody any more, and the PRD is whole.
#[test]
fn ralph_sh_that_was_killed_is_taken_over() {
    let ralph = Ralph::new();
    ralph
        .here
        .program("codex", "cat > /dev/null; touch \"$OUT/there\"; sleep 1000");
    let mut command = ralph
        .here
        .command(ralph.here.tree().join("ralph.sh"), &["1"]);
    let mut child = command
        .env("CARSON_BIN", binary())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("codex", || {
        ralph.here.dir.path().join("there").exists().then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let left = fs::read_to_string(ralph.here.tree().join(".runtime/.run.lock/pid")).unwrap();
    assert_eq!(left, format!("{}\n", child.id()));
    ralph.here.program(
        "codex",
        r#"for word in "$@"; do message="$word"; done; cat > /dev/null; echo r > "$message""#,
    );
    let ran = ralph.run(&[], &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(
        ran.stdout.contains("processed=2 passed=2 remaining=0"),
        "{ran:#?}"
    );
}

//! `carson loop` as a person types it: the binary, its exit codes, its files; killed, raced, in the background.

#![expect(clippy::disallowed_methods, reason = "it runs the binary under test")]

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use carson_tests::Dice;
use carson_tests::fleet::{Ran, binary};
use carson_tests::until;
use serde_json::Value;
use tempfile::TempDir;

/// A directory, and nothing of the machine's own but `PATH`: no fleet, no home.
struct Here {
    dir: TempDir,
}

impl Here {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("tree")).unwrap();
        Self { dir }
    }

    fn tree(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    fn command(&self, at: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.arg("loop").args(args).current_dir(at).env_clear();
        command
            .env("PATH", std::env::var_os("PATH").unwrap())
            .stdin(Stdio::null());
        command
    }

    fn carson(&self, args: &[&str]) -> Ran {
        self.command(&self.tree(), args).output().unwrap().into()
    }

    fn json(&self, args: &[&str]) -> Value {
        let ran = self.carson(&[args, &["--json"]].concat());
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:#?}");
        ran.json()
    }

    fn begun(&self, args: &[&str]) -> Child {
        let mut command = self.command(&self.tree(), args);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.tree().join(name)).unwrap()
    }

    /// Every JSON document of the loop is one, and the state is that of the events.
    /// A run that is killed once its task has written down whom it left, in `pids`.
    fn killed_at_work(&self, until_kept: &str, task: &str) {
        let mut child = self.begun(&["run", "--until", until_kept, "--task", task]);
        until("the attempt runs", || {
            self.tree().join("pids").exists().then_some(())
        });
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn assert_valid(&self, when: &str) {
        let mut todo = vec![self.tree().join(".carson/loop")];
        while let Some(dir) = todo.pop() {
            for item in fs::read_dir(&dir).unwrap().map(|item| item.unwrap()) {
                let (path, name) = (item.path(), item.file_name().into_string().unwrap());
                if item.file_type().unwrap().is_dir() {
                    todo.push(path);
                } else if name.ends_with(".json") && !name.starts_with('.') {
                    let text = fs::read(&path).unwrap();
                    let read = serde_json::from_slice::<Value>(&text);
                    assert!(read.is_ok(), "{when}: {}: {read:?}", path.display());
                }
            }
        }
    }
}

/// What was done may not be so a week later: it is asked, and gone on with as if it had never been done.
#[test]
fn what_was_done_is_asked_again_and_mended_again() {
    let here = Here::new();
    let init = [
        "init",
        "--promise",
        "test -e done",
        "--task",
        "touch done",
        "--max-attempts",
        "1",
    ];
    assert_eq!(here.carson(&init).code, Some(0));
    for week in 1..=3 {
        let ran = here.carson(&["run"]);
        assert_eq!(ran.code, Some(0), "{week}: {ran:#?}");
        let said = format!("done: the promise was kept after attempt {week}\n");
        assert_eq!(ran.stdout, said, "{ran:#?}");
        let again = here.carson(&["run"]);
        assert_eq!(again.code, Some(0), "{week}: {again:#?}");
        assert!(again.stdout.contains("the promise is kept"), "{again:#?}");
        assert!(!again.stderr.contains("attempt "), "{again:#?}");
        fs::remove_file(here.tree().join("done")).unwrap();
    }
}

#[test]
fn two_commands_mend_a_failing_suite_and_say_how() {
    let here = Here::new();
    fs::write(here.tree().join("n"), "0\n").unwrap();
    fs::create_dir(here.tree().join("below")).unwrap();
    let promise = "n=$(cat n); echo \"$n of 3 pass\"; test $n = 3";
    let task = "grep -q 'of 3 pass' && echo mending; echo $(($(cat n) + 1)) > n";
    let made = here.carson(&["init", "--promise", promise, "--task", task]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    let ran = here.carson(&["run"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(ran.stdout, "done: the promise was kept after attempt 3\n");
    for line in [
        "attempt 3 of 10\n",
        "  | mending\n",
        "  check failed: exit code 1",
        "2 of 3 pass\n",
        "1 path changed\n",
    ] {
        assert!(ran.stderr.contains(line), "{line:?}: {}", ran.stderr);
    }
    let status = here.json(&["status"]);
    let keys =
        ["status", "attempt", "max_attempts", "promise_fulfilled"].map(|key| status[key].clone());
    assert_eq!(
        keys,
        [Value::from("done"), 3.into(), 10.into(), true.into()]
    );
    let state: Value = serde_json::from_str(&here.file(".carson/loop/state.json")).unwrap();
    for key in [
        "status",
        "attempt",
        "max_attempts",
        "last_output_hash",
        "promise_fulfilled",
    ] {
        assert_eq!(state[key], status[key], "{key}");
    }
    let config: Value = serde_json::from_str(&here.file(".carson/loop/config.json")).unwrap();
    assert_eq!(
        (&config["timeout_seconds"], &config["total_seconds"]),
        (&300.into(), &3600.into())
    );
    let history = here.json(&["history", "1"]);
    assert_eq!(history["attempts"][0]["attempt"], 3);
    assert_eq!(history["attempts"][0]["outcome"], "passed");
    let told = here.carson(&["history", "2"]).stdout;
    assert!(told.starts_with("1 older attempt is left out\n"), "{told}");
    // From a directory below, the same loop.
    let below: Ran = here
        .command(&here.tree().join("below"), &["rollback", "1"])
        .output()
        .unwrap()
        .into();
    assert_eq!(below.code, Some(0), "{below:#?}");
    assert_eq!(here.file("n"), "1\n");
    let again = here.carson(&["test"]);
    assert_eq!(again.code, Some(1));
    assert!(
        again
            .stdout
            .contains("1 of 3 pass\nthe promise is not kept: exit code 1"),
        "{again:#?}"
    );
}

#[test]
fn every_end_has_its_exit_code() {
    for (args, code, says) in [
        (&["--until", "true", "--", "true"][..], 0, "already_done: "),
        (
            &["--until", "false", "--max-attempts", "2", "--", "true"],
            13,
            "exhausted: 2 attempts failed",
        ),
        (
            &["--until", "false", "--task", "echo same"],
            13,
            "stagnated: output matches attempt 2",
        ),
        (
            &["--until", "false", "--", "no-such-agent"],
            13,
            "failed: the task `no-such-agent` cannot be started",
        ),
        (
            &["--until", "false", "--total", "1s", "--task", "sleep 60"],
            14,
            "timed_out: its whole time of 1 s is over",
        ),
    ] {
        let here = Here::new();
        let ran = here.carson(&[&["run", "--quiet"], args].concat());
        assert_eq!(ran.code, Some(code), "{ran:#?}");
        assert!(ran.stdout.starts_with(says), "{ran:#?}");
        if code == 13 && !says.starts_with("failed") {
            let again = here.carson(&["run"]);
            assert_eq!(again.code, Some(1), "{again:#?}");
            assert!(
                again.stderr.contains("--more N") && again.stderr.contains("--fresh"),
                "{again:#?}"
            );
        }
    }
    let here = Here::new();
    for wrong in [
        &["run"][..],
        &["init", "--promise", "true"],
        &["init", "--promise", "", "--task", "x"],
        &["run", "--until", "true", "--task", "x", "--", "y"],
        &[
            "run",
            "--until",
            "true",
            "--task",
            "x",
            "--max-attempts",
            "0",
        ],
        &["run", "--until", "true", "--task", "x", "--timeout", "soon"],
        &["rollback", "x"],
        &["update", "--max-attempts", "3"],
    ] {
        let ran = here.carson(wrong);
        assert_eq!(ran.code, Some(2), "{wrong:?}: {ran:#?}");
    }
    assert!(!here.tree().join(".carson").exists());
}

#[test]
fn one_in_the_background_outlives_who_began_it_is_told_and_stopped() {
    let here = Here::new();
    let task = "echo $CARSON_LOOP_ATTEMPT >> n; sh -c 'sleep 1000' & sleep 1000";
    let began = here.json(&["start", "--until", "false", "--task", task]);
    assert_eq!(began["status"], "running");
    let pid = began["pid"].as_i64().unwrap();
    until("the first attempt runs", || {
        here.tree().join("n").exists().then_some(())
    });
    let status = here.json(&["status"]);
    assert_eq!(
        (&status["status"], &status["owner"]["pid"]),
        (&"running".into(), &pid.into())
    );
    for racing in [&["run"][..], &["start"], &["rollback", "0"]] {
        let ran = here.carson(racing);
        assert_eq!(ran.code, Some(1), "{ran:#?}");
        assert!(
            ran.stderr.contains(&format!("carson loop run (pid {pid}")),
            "{ran:#?}"
        );
    }
    let told = here.carson(&["update", "--task", "true"]);
    assert!(
        told.stdout.contains("from the next attempt on"),
        "{told:#?}"
    );
    let stopped = here.json(&["stop"]);
    assert_eq!(stopped["status"], "stopped");
    let status = here.json(&["status"]);
    assert_eq!(
        (&status["attempt"], &status["last_attempt"]),
        (&0.into(), &1.into())
    );
    let nobody = here.carson(&["stop"]);
    assert_eq!(nobody.code, Some(1), "{nobody:#?}");
    let log = here.file(".carson/loop/loop.log");
    assert!(
        log.contains("attempt 1 of 10") && log.contains("stopped in attempt 1"),
        "{log}"
    );

    // Behind the attempt that runs.
    let began = here.json(&[
        "start",
        "--fresh",
        "--until",
        "false",
        "--task",
        "echo $CARSON_LOOP_ATTEMPT >> m; until test -e go; do sleep 0.02; done",
    ]);
    assert_eq!(began["status"], "running");
    until("the attempt runs", || {
        here.tree().join("m").exists().then_some(())
    });
    here.json(&["stop", "--after-attempt"]);
    fs::write(here.tree().join("go"), "").unwrap();
    let status = until("it has stopped", || {
        let status = here.json(&["status"]);
        (status["status"] != "running").then_some(status)
    });
    assert_eq!(
        (&status["status"], &status["attempt"]),
        (&"stopped".into(), &1.into())
    );
    assert!(
        here.tree()
            .join(".carson/loop/runs/001/attempts/001/meta.json")
            .exists()
    );
}

#[test]
fn an_interrupt_at_the_terminal_is_a_stop() {
    let here = Here::new();
    let mut child = here.begun(&[
        "run",
        "--until",
        "false",
        "--task",
        "echo x > n; sleep 1000",
    ]);
    until("the attempt runs", || {
        here.tree().join("n").exists().then_some(())
    });
    let pid = nix::unistd::Pid::from_raw(i32::try_from(child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(10));
    assert_eq!(here.json(&["status"])["status"], "stopped");
}

/// So often it is killed here; a longer run says so.
const KILLS: &str = "CARSON_TEST_KILLS";

#[test]
fn killed_at_any_moment_it_leaves_valid_files_and_goes_on() {
    let kills: u32 = std::env::var(KILLS).map_or(25, |count| count.parse().unwrap());
    let here = Here::new();
    let made = here.carson(&[
        "init",
        "--promise",
        "cat n; exit 1",
        "--task",
        "echo $CARSON_LOOP_ATTEMPT >> n; echo attempt $CARSON_LOOP_ATTEMPT",
        "--max-attempts",
        "1000000",
        "--stagnation-limit",
        "1000000",
        "--total",
        "24h",
    ]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    fs::write(here.tree().join("n"), "").unwrap();
    let mut dice = Dice::new(7);
    let (mut last, mut window) = (0, 60_000);
    for kill in 0..kills {
        let mut child = here.begun(&["run", "--quiet"]);
        // Anywhere from before its lock to its third attempt.
        std::thread::sleep(Duration::from_micros(dice.roll(window)));
        child.kill().unwrap();
        let ended = child.wait().unwrap();
        assert_eq!(ended.signal(), Some(9), "{kill}: {ended:?}");
        here.assert_valid(&format!("kill {kill}"));
        let status = here.json(&["status"]);
        let attempt = status["last_attempt"].as_u64().unwrap();
        assert!(attempt >= last, "{kill}: numbers rise: {status:#}");
        if attempt == last {
            // It came too early: the machine is slower than that.
            window += 20_000;
        }
        last = attempt;
    }
    assert!(
        last > u64::from(kills) / 5,
        "it was killed before it did anything: {last}"
    );
    // And it is one whole history in the end.
    let done = here.carson(&["run", "--quiet", "--max-attempts", "1"]);
    assert_eq!(done.code, Some(13), "{done:#?}");
    let history = here.json(&["history"]);
    let numbers: Vec<u64> = history["attempts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["attempt"].as_u64().unwrap())
        .collect();
    let last = *numbers.last().unwrap();
    assert_eq!(numbers, (1..=last).collect::<Vec<_>>());
}

#[test]
fn what_a_dead_run_left_behind_is_ended_before_it_goes_on() {
    let here = Here::new();
    let task = "test -e pids && touch done && exit; setsid sleep 1000 & echo $! $$ > pid; mv pid pids; sleep 1000";
    here.killed_at_work("test -e done", task);
    let status = here.carson(&["status"]);
    assert!(
        status.stdout.contains("died; `carson loop run`"),
        "{status:#?}"
    );
    let ran = here.carson(&["run"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let told = "processes that it left behind were ended\nattempt 1 was interrupted; it counts\n";
    assert!(ran.stderr.contains(told), "{ran:#?}");
    for pid in here.file("pids").split_whitespace() {
        assert_eq!(
            carson_proc::ProcessId::of(pid.parse().unwrap()),
            None,
            "{pid}"
        );
    }
}

#[test]
fn what_a_dead_run_left_behind_is_ended_by_a_stop() {
    let here = Here::new();
    here.killed_at_work("false", "echo $$ > pid; mv pid pids; sleep 1000");
    let stop = here.carson(&["stop"]);
    assert_eq!(stop.code, Some(0), "{stop:#?}");
    assert!(stop.stdout.contains("stopped"), "{stop:#?}");
    let pid = here.file("pids").trim().parse().unwrap();
    assert_eq!(carson_proc::ProcessId::of(pid), None);
}

#[test]
fn what_threw_its_environment_away_is_found_after_a_kill_too() {
    let here = Here::new();
    let task = "env -i setsid -f sleep 774 > /dev/null 2>&1; touch begun; sleep 100";
    here.carson(&["init", "--promise", "false", "--task", task]);
    let mut first = here.begun(&["run"]);
    until("the attempt runs", || {
        here.tree().join("begun").exists().then_some(())
    });
    first.kill().unwrap();
    first.wait().unwrap();
    let ran = here.carson(&["run", "--timeout", "1s", "--max-attempts", "1"]);
    // The shell, its sleep, and the one without an environment.
    let ended = "3 processes that it left behind were ended";
    assert!(ran.stderr.contains(ended), "{ran:#?}");
}

#[test]
fn a_stop_signals_nobody_whom_only_the_lock_names() {
    let here = Here::new();
    let mut bystander = Command::new("sleep").arg("100").spawn().unwrap();
    let pid = bystander.id();
    let forge = format!(
        "s=$(cut -d' ' -f22 /proc/{pid}/stat)\n\
         sed \"s/\\\"pid\\\":[0-9]*/\\\"pid\\\":{pid}/; s/\\\"start\\\":[0-9]*/\\\"start\\\":$s/\" .carson/loop/lock > l\n\
         cat l > .carson/loop/lock; touch begun; sleep 100\n"
    );
    fs::write(here.tree().join("forge.sh"), forge).unwrap();
    let task = "sh forge.sh";
    here.carson(&["init", "--promise", "false", "--task", task]);
    let mut run = here.begun(&["run"]);
    until("the attempt runs", || {
        here.tree().join("begun").exists().then_some(())
    });
    let refused = here.carson(&["stop"]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    assert!(
        refused
            .stderr
            .contains("held by a process that is not named in it"),
        "{refused:#?}"
    );
    assert_eq!(bystander.try_wait().unwrap(), None);
    bystander.kill().unwrap();
    bystander.wait().unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    // What it left is ended, and the dead bystander is in nobody's way.
    let ran = here.carson(&["run", "--task", "true", "--max-attempts", "1"]);
    assert!(ran.stderr.contains("left behind"), "{ran:#?}");
}

#[test]
fn a_loop_that_was_halted_hears_a_stop() {
    let here = Here::new();
    let task = "touch begun; kill -STOP $PPID; sleep 100";
    here.carson(&["init", "--promise", "false", "--task", task]);
    let mut run = here.begun(&["run"]);
    until("the attempt runs", || {
        here.tree().join("begun").exists().then_some(())
    });
    let stopped = here.carson(&["stop"]);
    assert_eq!(stopped.code, Some(0), "{stopped:#?}");
    run.wait().unwrap();
}

#[test]
fn a_status_believes_no_more_than_a_run_does_and_a_lock_that_went_is_no_loss() {
    let here = Here::new();
    let forge = "sed -i 's/\"promise_fulfilled\": false/\"promise_fulfilled\": true/; s/\"running\"/\"done\"/' \
                 .carson/loop/state.json";
    let ran = here.carson(&["run", "--promise", "false", "--task", forge]);
    assert_eq!(ran.code, Some(10), "{ran:#?}");
    let status = here.json(&["status"]);
    assert_eq!(
        (&status["status"], &status["promise_fulfilled"]),
        (&"stopped".into(), &false.into())
    );
    let told = here.carson(&["status"]).stdout;
    assert!(
        told.starts_with("stopped: ") && told.contains("state.json is not believed"),
        "{told}"
    );

    let here = Here::new();
    let ran = here.carson(&[
        "run",
        "--promise",
        "false",
        "--task",
        "rm .carson/loop/lock",
    ]);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(
        ran.stderr.contains("lock was taken away")
            && ran.stderr.contains("all that it had kept is there"),
        "{ran:#?}"
    );
    let told = here.carson(&["history"]).stdout;
    assert!(told.contains("attempt 1 has begun"), "{told}");
}

#[test]
fn who_prints_without_end_has_no_more_time_than_others() {
    let here = Here::new();
    let began = std::time::Instant::now();
    let args = [
        "run",
        "--quiet",
        "--promise",
        "false",
        "--task",
        "yes",
        "--timeout",
        "1s",
    ];
    let ran = here.carson(&[&args[..], &["--max-attempts", "1"]].concat());
    assert_eq!(ran.code, Some(13), "{ran:#?}");
    let took: u64 = here.json(&["history"])["attempts"][0]["took_ms"]
        .as_u64()
        .unwrap();
    assert!(
        (1_000..3_000).contains(&took),
        "{took} of {:?}",
        began.elapsed()
    );
}

#[test]
fn two_that_begin_at_once_are_one() {
    for round in 0..5 {
        let here = Here::new();
        let args = [
            "run",
            "--quiet",
            "--until",
            "false",
            "--task",
            "echo x >> n; sleep 0.1",
            "--max-attempts",
            "1",
        ];
        let mut both = [here.begun(&args), here.begun(&args)];
        let codes = both.each_mut().map(|child| child.wait().unwrap().code());
        let ran = codes.iter().filter(|code| **code == Some(13)).count();
        // The slower one may come when the first has ended, and is told so.
        assert!(ran == 1 && codes.contains(&Some(1)), "{round}: {codes:?}");
        assert_eq!(here.file("n"), "x\n");
    }
}

#[test]
fn what_alpf_left_is_taken_over_or_gone_on_with() {
    let config = r#"{"promise": "test -e done", "task": "touch done", "max_attempts": 4, "timeout_seconds": 20, "mode": "x"}"#;
    let here = Here::new();
    fs::create_dir(here.tree().join(".alpf")).unwrap();
    fs::write(here.tree().join(".alpf/config.json"), config).unwrap();
    assert_eq!(here.json(&["status"])["status"], "idle");
    let none = here.carson(&["rollback", "0"]);
    assert!(
        none.code == Some(2) && none.stderr.contains("nothing was attempted yet"),
        "{none:#?}"
    );
    let ran = here.carson(&["run"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(here.json(&["status"])["max_attempts"], 4);
    let left: Vec<_> = fs::read_dir(here.tree().join(".alpf")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing else is written there");
    assert_eq!(here.file(".alpf/config.json"), config);

    fs::remove_file(here.tree().join("done")).unwrap();
    fs::remove_dir_all(here.tree().join(".carson")).unwrap();
    let ran = here.carson(&["run", "--compat", "alpf"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(!here.tree().join(".carson").exists());
    let state: Value = serde_json::from_str(&here.file(".alpf/state.json")).unwrap();
    assert_eq!(
        (&state["status"], &state["attempt"]),
        (&"done".into(), &1.into())
    );
    assert_eq!(
        here.json(&["status", "--compat", "alpf"])["promise_fulfilled"],
        true
    );
    let updated = here.carson(&["update", "--max-attempts", "5", "--compat", "alpf"]);
    assert_eq!(updated.code, Some(0), "{updated:#?}");
    assert!(here.file(".alpf/config.json").contains("\"mode\": \"x\""));
    // It is the loop of the directory without the flag, too.
    assert_eq!(here.json(&["status"])["status"], "done");
    assert_eq!(here.json(&["history"])["attempts"][0]["attempt"], 1);
    assert!(!here.tree().join(".carson").exists());
}

/// As SEEDS has it: bounds, and nothing of what is to be done.
#[test]
fn what_alpf_was_not_told_is_said_once() {
    let bounds = "{\"timeout_seconds\": 300, \"max_attempts\": 10}";
    let said = ["--promise", "test -e done", "--task", "touch done"];
    let alpf = ["--compat", "alpf"];
    for (verb, compat) in [
        ("init", &alpf[..]),
        ("update", &alpf[..]),
        ("run", &alpf[..]),
        ("run", &alpf[2..]),
    ] {
        let here = Here::new();
        fs::create_dir(here.tree().join(".alpf")).unwrap();
        fs::write(here.tree().join(".alpf/config.json"), bounds).unwrap();
        let none = here.carson(&[&["run"][..], compat].concat());
        assert_eq!(none.code, Some(2), "{none:#?}");
        assert!(
            none.stderr
                .contains("config.json says no promise and no task"),
            "{none:#?}"
        );
        let hint = format!(
            "hint: say it once: carson loop run{} --promise",
            match compat {
                [] => "",
                _ => " --compat alpf",
            }
        );
        assert!(none.stderr.contains(&hint), "{none:#?}");
        let done = here.carson(&[&[verb][..], &said, compat].concat());
        assert_eq!(done.code, Some(0), "{verb}: {done:#?}");
        if verb != "run" {
            let ran = here.carson(&[&["run"][..], compat].concat());
            assert_eq!(ran.code, Some(0), "{verb}: {ran:#?}");
        }
        assert!(here.tree().join("done").exists());
        let config = here.file(".alpf/config.json");
        match compat {
            [] => assert_eq!(config, bounds),
            _ => assert!(
                config.starts_with(
                    "{\n  \"timeout_seconds\": 300,\n  \"max_attempts\": 10,\n  \"promise\""
                ),
                "{config}"
            ),
        }
        assert_eq!(here.json(&["status"])["status"], "done");
    }
}

#[test]
fn behind_walls_a_task_writes_the_tree_and_not_the_loop_s_own_files() {
    let here = Here::new();
    // The first lies in a /tmp of its own, the second where nobody hides anything.
    let elsewhere = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outside = [here.dir.path(), elsewhere.path()].map(|dir| dir.join("outside"));
    let task = format!(
        "echo in > in; for out in {} {}; do echo out > $out && echo wrote $out; done; \
         echo '{{}}' > .carson/loop/config.json && echo wrote config; \
         cat \"$CARSON_LOOP_FEEDBACK\" > heard; echo t > \"$TMPDIR/t\" && echo wrote temp",
        outside[0].display(),
        outside[1].display()
    );
    let ran = here.carson(&["run", "--sandbox", "--until", "test -e in", "--task", &task]);
    if ran.code == Some(2) && ran.stderr.contains("has no such sandbox") {
        // A machine without: nothing was run.
        assert!(!here.tree().join("in").exists());
        return;
    }
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let output = here.file(".carson/loop/attempts/001/output");
    assert!(output.contains("wrote temp"), "{output}");
    let wrote = format!("wrote {}", outside[1].display());
    assert!(
        !output.contains(&wrote) && !output.contains("wrote config"),
        "{output}"
    );
    assert!(outside.iter().all(|file| !file.exists()), "{output}");
    assert!(here.file("heard").contains("<<<DATA "));
}

//! Faults of the agent CLI: it dies, it does not die, it leaves company behind, it talks nonsense.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::{WAITS, Waiting, fire, fleet, nothing_lost};

/// Work in every state that git knows; the contents are [`WORK`].
const WORKS: &str = r#"
printf 'committed\n' > committed.txt; git add committed.txt; git commit --quiet -m 'First half'
printf 'staged\n' > staged.txt; git add staged.txt
printf '# Widget\nunstaged\n' > README.md
mkdir -p deep; printf 'untracked\n' > deep/untracked.txt
"#;
const WORK: [&str; 4] = [
    "committed\n",
    "staged\n",
    "# Widget\nunstaged\n",
    "untracked\n",
];

fn works(then: &str) -> String {
    format!("{WORKS}\n{then}")
}

fn expect(row: &Value, outcome: &str, reason: &str) {
    assert_eq!(row["outcome"], outcome, "{row:#}");
    let said = row["reason"].as_str().unwrap_or_default();
    assert!(said.contains(reason), "{reason:?} is not in {said:?}");
}

/// The processes of the fleet's firings whose command line has these words.
fn running(fleet: &TestFleet, words: &str) -> Vec<i32> {
    let says = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line)
            .replace('\0', " ")
            .contains(words)
    };
    fleet.descendants().into_iter().filter(says).collect()
}

#[test]
fn f2_a_cli_that_is_killed_leaves_its_work() {
    let fleet = fleet(&works("sleep 600 & touch reached; sleep 601"), "");
    let mut command = fleet.command(&["fire", "hand", "--json"]);
    let firing = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let firing = firing.unwrap();
    until("the agent to sleep", || {
        (!running(&fleet, "sleep 601").is_empty()).then_some(())
    });
    for pid in running(&fleet, "cli/agent") {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    let output = firing.wait_with_output().unwrap();
    let row: Value = serde_json::from_slice(&output.stdout).unwrap();
    expect(&row, "FAILED", "");
    nothing_lost(&fleet, &row, &WORK);
}

#[test]
fn f3_a_cli_that_ignores_sigterm_ends_all_the_same() {
    let agent = works("trap '' TERM; while :; do sleep 0.2 || :; done");
    let fleet = fleet(&agent, "[limits]\nwall_clock = \"2s\"\n");
    let row = fire(&fleet);
    expect(&row, "TIMED_OUT", "");
    nothing_lost(&fleet, &row, &WORK);
}

/// Away from the group, the session, the parent, the pipes and the environment's marker.
const DAEMONS: &str = r#"
(setsid sleep 603 >/dev/null 2>&1 &)
nohup sleep 603 >/dev/null 2>&1 &
(setsid bash -c '(sleep 603 </dev/null >/dev/null 2>&1 &)' &)
perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; close STDIN; close STDOUT; close STDERR; exec qw(sleep 603)'
perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; for (1..20) { exit if fork; select undef, undef, undef, 0.01 } exec qw(sleep 603)'
env -i /bin/sleep 603 >/dev/null 2>&1 &
"#;

#[test]
fn f4_daemons_that_it_leaves_behind_are_ended() {
    let agent = works(&format!(
        "for i in 1 2 3 4 5; do {DAEMONS} done\necho '[PARTIAL] more to do'"
    ));
    let fleet = fleet(&agent, "");
    let row = fire(&fleet);
    expect(&row, "PARTIAL", "");
    nothing_lost(&fleet, &row, &WORK);
    let any = fs::read_dir("/proc").unwrap().filter_map(|item| {
        let path = item.ok()?.path();
        let line = fs::read(path.join("cmdline")).ok()?;
        let cwd = fs::read_link(path.join("cwd")).ok()?;
        (line == b"sleep\x00603\x00" && cwd.starts_with(fleet.root())).then_some(path)
    });
    assert_eq!(any.collect::<Vec<_>>(), Vec::<std::path::PathBuf>::new());
}

#[test]
fn f5_a_grandchild_that_holds_the_output_open_does_not_hold_the_firing() {
    let agent = "echo done > done.txt; git add .; git commit --quiet -m Done\n\
                 sleep 604 &\n echo '[OK] done'";
    let fleet = fleet(agent, "[limits]\nwall_clock = \"5m\"\n");
    let row = fire(&fleet);
    expect(&row, "OK", "");
    nothing_lost(&fleet, &row, &["done\n"]);
}

#[test]
fn f6_what_nobody_reads_on_stderr_blocks_nobody() {
    let agent = "head -c 2000000 /dev/zero | tr '\\0' x >&2\n\
                 echo done > done.txt; git add .; git commit --quiet -m Done; echo '[OK] done'";
    let fleet = fleet(agent, "");
    expect(&fire(&fleet), "OK", "");
}

/// What a model may print. The last line of each is the sentinel of the case.
#[test]
fn f8_bytes_that_are_no_text_change_no_outcome() {
    let commit = "echo done > done.txt; git add .; git commit --quiet -m Done";
    for (says, outcome) in [
        (
            r"printf '\377\376\000\033[31m\033]0;title\007 \r\n[OK] done\n'",
            "OK",
        ),
        (r"printf '\342\200\256[PARTIAL]\n[OK] done'", "OK"),
        // Quoted is not said.
        (r"printf '[PARTIAL] half\n```\n[OK] done\n```\n'", "PARTIAL"),
        // The last one counts.
        (r"printf '[OK] done\n[PARTIAL] half\n'", "PARTIAL"),
        // Written in two pieces.
        (r"printf '[O'; sleep 0.2; printf 'K] done\n'", "OK"),
        // Nothing at all, and half a word.
        ("true", "FAILED"),
        ("printf '[O'", "FAILED"),
    ] {
        let fleet = fleet(&format!("{commit}\n{says}"), "");
        let row = fire(&fleet);
        expect(&row, outcome, "");
        nothing_lost(&fleet, &row, &["done\n"]);
        let log = fleet.carson(&["logs", row["id"].as_str().unwrap()]);
        assert!(!log.stdout.contains('\u{1b}'), "{:?}", log.stdout);
    }
}

#[test]
fn f9_exit_0_with_nothing_is_never_ok() {
    for agent in ["true", "echo '{\"type\":\"result\",\"subtype\":\"succ'"] {
        let fleet = fleet(agent, "");
        let row = fire(&fleet);
        expect(&row, "FAILED", "");
        nothing_lost(&fleet, &row, &[]);
    }
}

#[test]
fn f10_a_diff_of_megabytes_arrives_whole_and_a_task_says_what_is_left_out() {
    let agent = r#"
case $CARSON_STAGE in
    execute)
        asked=$(grep -c 'A line of the task.' "$CARSON_TMP/prompt")
        bytes=$(wc -c < "$CARSON_TMP/prompt")
        if [ "$asked" -lt 4000 ] || ! grep -q 'The last line of the task.' "$CARSON_TMP/prompt" ||
            ! grep -q 'bytes are left out here' "$CARSON_TMP/prompt" || [ "$bytes" -gt 96000 ]; then
            echo "[BLOCKED] $asked lines arrived, $bytes bytes"; exit
        fi
        seq 1 400000 > big.txt; seq 1 100000 > shown.txt
        git add .; git commit --quiet -m Big; echo '[OK] done' ;;
    *) echo '[APPROVE]' ;;
esac"#;
    let fleet = fleet(agent, "[limits]\nmax_diff_lines = 600000\n");
    // No reviewer reads three megabytes in one prompt; half of one, any does.
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let allowed = "[repos.widget]\nallow_unshown = [\"big.txt\"]";
    fs::write(&settings, text.replace("[repos.widget]", allowed)).unwrap();
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(
        role,
        text.replace("[\"execute\"]", "[\"execute\", \"diff-review\"]"),
    )
    .unwrap();
    let body = "A line of the task.\n".repeat(15_000) + "The last line of the task.\n";
    let path = fleet.home().join("forge/widget/issues/0001.md");
    let issue = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{issue}\n{body}")).unwrap();
    let row = fire(&fleet);
    expect(&row, "OK", "");
}

#[test]
fn f35_a_cli_that_asks_gets_no_answer_and_no_wait() {
    let agent = "if read -r answer; then echo \"[PARTIAL] somebody said $answer\"; fi\n\
                 echo done > done.txt; git add .; git commit --quiet -m Done; echo '[OK] done'";
    let fleet = fleet(agent, "");
    expect(&fire(&fleet), "OK", "");
}

#[test]
fn f35_a_cli_that_is_replaced_while_it_runs_ends_as_it_began() {
    let works = |what: &str| {
        format!("echo {what} > {what}.txt; git add .; git commit --quiet -m Work; echo '[OK] done'")
    };
    let fleet = fleet(&format!("{WAITS}\n{}", works("old")), "");
    let waiting = Waiting::of(&fleet);
    let program = fleet.root().join("cli/agent");
    let newer = fleet.root().join("cli/newer");
    fs::write(
        &newer,
        format!("#!/bin/bash\ncat >/dev/null\n{}\n", works("new")),
    )
    .unwrap();
    fs::set_permissions(&newer, PermissionsExt::from_mode(0o755)).unwrap();
    fs::rename(newer, program).unwrap();
    let row = waiting.goes_on();
    expect(&row, "OK", "");
    nothing_lost(&fleet, &row, &["old\n"]);
    fleet.issue("hand", "More work", "To do.");
    let row = fire(&fleet);
    expect(&row, "OK", "");
    let branch = row["branch"].as_str().unwrap();
    assert_eq!(fleet.git(&["show", &format!("{branch}:new.txt")]), "new\n");
}

#[test]
fn f37_a_session_that_takes_every_processor_holds_up_no_other_firing() {
    let agent = "echo done > done.txt; git add .; git commit --quiet -m Done\n\
                 if [ \"$CARSON_ROLE\" = other ]; then echo '[OK] done'; exit; fi\n\
                 for each in $(seq $(nproc)); do (while :; do :; done) & done\n\
                 touch \"$HOME/begun\"; wait";
    let fleet = fleet(agent, "[limits]\nwall_clock = \"6s\"\n");
    fleet.role("other", "sh", "stages = [\"execute\"]\n");
    fleet.issue("other", "Other work", "To do.");
    let busy = Waiting::of(&fleet);
    let other = fleet.fire("other").json();
    expect(&other, "OK", "");
    assert_eq!(fleet.carson(&["status"]).code, Some(0));
    expect(&busy.ends(), "TIMED_OUT", "");
    assert_eq!(fleet.descendants(), Vec::<i32>::new());
    assert_eq!(fleet.benches(), Vec::<std::path::PathBuf>::new());
}

//! A process number that is given twice, in a process namespace of its own, where that can be had at will.

use std::process::{Output, Stdio};

use carson_tests::fleet::TestFleet;

use super::{WAITS, Waiting, fleet, nothing_lost};

/// Half of its work, and then it waits.
const HALF: &str = "echo half > half.txt; git add .; git commit --quiet -m Half\n\
                    touch \"$HOME/begun\"; sleep 600";

/// The firing's process is killed in the middle of a session, and its number is given to somebody else, who is
/// alive after everything that an operator does about the firing.
const SCRIPT: &str = r#"
"$1" fire hand --json >/dev/null 2>&1 &
firing=$!
until ls "$CARSON_HOME"/benches/*/home/begun >/dev/null 2>&1; do sleep 0.05; done
kill -9 $firing
wait $firing
until [ "$newcomer" = $firing ]; do
    [ -z "$newcomer" ] || kill $newcomer
    echo $((firing - 1)) >/proc/sys/kernel/ns_last_pid
    sleep 600 &
    newcomer=$!
done
"$1" status
"$1" stop "$("$1" firings --json | grep -o '"id": *"[^"]*"' | head -1 | cut -d'"' -f4)"
"$1" prune
kill -0 $newcomer && grep -z sleep /proc/$newcomer/cmdline && echo "the newcomer lives"
"#;

/// What a shell says of this script, where processes have other numbers; `$1` is `carson`.
fn apart(fleet: &TestFleet, script: &str) -> Output {
    let envs = fleet.command(&[]);
    #[expect(
        clippy::disallowed_methods,
        reason = "the system's own tool makes the namespace"
    )]
    let mut inside = std::process::Command::new("unshare");
    let envs = envs
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    inside
        .env_clear()
        .envs(envs)
        .args([
            "--user",
            "--map-root-user",
            "--pid",
            "--fork",
            "--mount-proc",
        ])
        .args(["--kill-child", "--", "sh", "-c", script, "sh"])
        .arg(fleet.binary())
        .stdin(Stdio::null());
    inside.output().unwrap()
}

#[test]
fn f26_whoever_got_the_number_of_a_dead_firing_is_neither_believed_nor_ended() {
    let fleet = fleet(HALF, "");
    let said = apart(&fleet, SCRIPT);
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("its process is gone"), "{said:?}");
    assert!(text.contains("the newcomer lives"), "{said:?}");
    let row = fleet.ok(&["firings", "--json"])[0].clone();
    assert_eq!(row["outcome"], "CRASHED", "{row:#}");
    nothing_lost(&fleet, &row, &["half\n"]);
}

/// A container that has the home, too, sees no process of the firing, and takes it for dead no sooner than it is.
#[test]
fn who_looks_from_another_process_namespace_takes_nobody_for_dead() {
    let works = "date +%N > work.txt; git add .; git commit --quiet -m Work; echo '[OK] done'";
    let fleet = fleet(&format!("{WAITS}\n{works}"), "");
    let newest = || fleet.ok(&["firings", "--json"])[0].clone();
    let waiting = Waiting::of(&fleet);
    let id = newest()["id"].as_str().unwrap().to_owned();
    let looks = format!("\"$1\" status; \"$1\" prune; \"$1\" stop {id} 2>&1");
    let said = apart(&fleet, &looks);
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        text.contains("running ") && !text.contains("its process is gone"),
        "{said:?}"
    );
    assert!(
        text.contains("it runs in another namespace of processes: ask there"),
        "{said:?}"
    );
    assert!(fleet.firing(&id)["ended_at"].is_null(), "{said:?}");
    let row = waiting.goes_on();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    nothing_lost(&fleet, &row, &[]);

    // One that was killed is concluded from there at once.
    fleet.issue("hand", "More", "");
    let mut waiting = Waiting::of(&fleet);
    waiting.firing.kill().unwrap();
    waiting.firing.wait().unwrap();
    let said = apart(&fleet, "\"$1\" status; \"$1\" prune");
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("its process is gone"), "{said:?}");
    let row = newest();
    assert_eq!(row["outcome"], "CRASHED", "{row:#} {said:?}");
}

//! Noise never hides a repeat; a real change is never called one; time is linear whatever stands in a line.

use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;

use super::{Places, normalised};

fn places() -> Places {
    Places::new([PathBuf::from("/srv/work")], [PathBuf::from("/tmp")])
}

fn plain(text: &str) -> String {
    normalised(text.as_bytes(), &places())
}

#[test]
fn what_programs_print_of_the_same_run_is_the_same() {
    for (one, other) in [
        // cargo, pytest, Jest, Mocha, go, Gradle, Maven, time
        (
            "test result: FAILED. finished in 0.00s",
            "test result: FAILED. finished in 12.31s",
        ),
        (
            "== 1 failed in 0.12s (0:00:01) ==",
            "== 1 failed in 112.1s (0:01:52) ==",
        ),
        ("Time:        1.234 s", "Time:        98 ms"),
        ("Time:        1.234 s, est", "Time:   12.234 s, est"),
        ("  ✓ adds (2 ms)", "  ✓ adds (12 ms)"),
        ("--- FAIL: TestX (0.00s)", "--- FAIL: TestX (1.20s)"),
        ("BUILD FAILED in 1m 2s", "BUILD FAILED in 59s"),
        ("Total time:  01:02 min", "Total time:  01:02 min"),
        ("real\t0m0.005s", "real\t1m12.105s"),
        ("after 3 minutes 2 seconds", "after 12 seconds"),
        ("  duration_ms: 6.005081", "  duration_ms: 87"),
        ("# duration_ms 87.1", "# duration_ms 1087.123456"),
        ("\"durationMs\":12,", "\"durationMs\":1.5,"),
        ("Time elapsed: 0.5, x", "Time elapsed: 12, x"),
        // dates
        ("[2026-01-02T03:04:05.678Z] x", "[2027-11-12T13:14:15Z] x"),
        (
            "2026-01-02 03:04:05,123 INFO x",
            "2026-10-22 23:04:05,9 INFO x",
        ),
        ("2026/01/02 03:04:05 x", "2026/02/02 13:04:05 x"),
        ("Jan  2 03:04:05 x", "Dec 12 13:14:15 x"),
        (
            "Mon, 02 Jan 2026 03:04:05 GMT",
            "Tue, 13 Feb 2027 13:04:05 GMT",
        ),
        ("Mon Jan  2 03:04:05 2026 x", "Tue Feb 12 13:04:05 2027 x"),
        ("at 3:04:05 PM.", "at 11:04:05 AM."),
        ("Finished at 3:03 PM", "Finished at 11:14 AM"),
        ("at 3:03\u{202f}PM", "at 3:04\u{202f}PM"),
        ("ts=1700000000123456789", "ts=1712345678123456789"),
        ("took 1700000000123456 to", "took 1712345678901234 to"),
        ("timestamp: 1700000000", "timestamp: 1712345678"),
        ("[1700000000.123456] x", "[1712345678.923] x"),
        ("stamp 1700000000123", "stamp 1712345678901"),
        (
            "2026-01-02T03_04_05_678Z-debug-0.log",
            "2026-11-02T13_04_05_078Z-debug-0.log",
        ),
        // processes
        ("pid 12 died", "pid 31242 died"),
        ("(pid=12)", "(pid=999)"),
        ("==12== Invalid read", "==31337== Invalid read"),
        ("(node:4242) Warning", "(node:17) Warning"),
        (
            "thread 'main' (4242) panicked",
            "thread 'main' (17) panicked",
        ),
        ("goroutine 7 [running]:", "goroutine 19 [running]:"),
        // hashes and ids
        ("HEAD is now at 1a2b3c4 x", "HEAD is now at 4c3b2a1 x"),
        ("deps/foo-0123456789abcdef", "deps/foo-fedcba9876543210"),
        ("at 0x7ffd12345678", "at 0x55d9aabbccdd"),
        ("commit 1234567", "commit 7654321"),
        ("request_id=1000000", "request_id=1000001"),
        ("no such id (1000000)", "no such id (1000001)"),
        (
            "id 123e4567-e89b-12d3-a456-426614174000",
            "id 00000000-e89b-12d3-a456-000000000000",
        ),
        ("req V1StGXR8Z5jdHi6B", "req x9Yz8W7v6U5t4S3r"),
        ("index.a1b2c3d4.js", "index.d4c3b2a1.js"),
        // places
        ("/tmp/tmp.8sd/x.txt: no", "/tmp/other/x.txt: no"),
        // terminals
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("10%\r20%\r100%\ndone", "100%\ndone"),
        ("ends \n\n", "ends"),
    ] {
        assert_eq!(plain(one), plain(other), "{one:?} and {other:?}");
    }
    assert_eq!(plain("at /srv/work/src/a.rs:3"), "at <tree>/src/a.rs:3");
}

#[test]
fn what_means_something_is_told_apart() {
    for (one, other) in [
        ("src/a.rs:12:34: error", "src/a.rs:12:35: error"),
        ("src/a.rs:12:34:56", "src/a.rs:12:34:57"),
        ("3 failed, 4 passed", "2 failed, 5 passed"),
        ("left: 4294967295", "left: 4294967294"),
        ("expected 12345678, got 1", "expected 12345679, got 1"),
        ("left: 2.71828182e5", "left: 2.71828182e6"),
        ("items[3]: wrong", "items[4]: wrong"),
        (
            "failed to process 12 records",
            "failed to process 13 records",
        ),
        ("test handler2 ... FAILED", "test handler3 ... FAILED"),
        (
            "test parse_utf8_abcdef1 ... FAILED",
            "test parse_utf8_abcdef2 ... FAILED",
        ),
        ("on 2026-01-02", "on 2026-01-03"),
        ("version 1.2.3", "version 1.2.4"),
        ("0x1f != 0x20", "0x1f != 0x21"),
        ("1048576B of 2", "1048577B of 2"),
        ("0b10101010", "0b10101011"),
        ("5m long", "6m long"),
        ("exit code 1", "exit code 2"),
        ("no such id (100000)", "no such id (100001)"),
        ("id, 1000000", "id, 1000001"),
        ("left: 1700000000", "left: 1700000001"),
        ("a.rs:3:03", "a.rs:3:04"),
        ("at 3:03", "at 3:04"),
        ("/srv/work/src/a.rs", "/srv/work/src/b.rs"),
        ("/srv/works/x", "/srv/workt/x"),
        ("a\nb", "b\na"),
        ("assertion failed: defaced", "assertion failed: effaced"),
        ("12 seconds of 3 tests", "12 seconds of 4 tests"),
        ("timeout_ms: 500", "timeout_ms: 600"),
        ("duration of 3", "duration of 4"),
        ("duration 1.2.3", "duration 1.2.4"),
    ] {
        assert_ne!(plain(one), plain(other), "{one:?} and {other:?}");
    }
}

/// Something that is noise, in two forms of the same kind.
fn noise() -> impl Strategy<Value = (String, String)> {
    fn twice(form: &str) -> BoxedStrategy<(String, String)> {
        let one = || proptest::string::string_regex(form).unwrap();
        (one(), one()).boxed()
    }
    let clock = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]";
    let day = "20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9])";
    prop_oneof![
        twice(clock),
        twice(&format!("{day}T{clock}(\\.[0-9]{{1,9}})?Z")),
        twice(&format!("{day} {clock}(,[0-9]{{3}})?")),
        twice("[0-9]{1,6}(\\.[0-9]{1,6})? ?(ms|s|ns|us|seconds|minutes)"),
        twice("[0-9]{1,2}m ?[0-9]{1,2}(\\.[0-9]{1,3})?s"),
        twice("(1[0-2]|[1-9]):[0-5][0-9] ?[AP]M"),
        twice("ts=1[5-9][0-9]{8}"),
        twice("1[5-9][0-9]{17}"),
        twice("pid [1-9][0-9]{0,6}"),
        twice("\\(pid=[1-9][0-9]{0,6}\\)"),
        twice("id \\([0-9]{7,12}"),
        twice("commit [0-9]{7,12}"),
        twice("seed=[0-9]{7,12}"),
        twice("[0-9a-f]{3}[a-f][0-9][0-9a-f]{2,35}"),
        twice("0x[0-9a-f]{7,16}"),
        twice("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"),
        twice("/tmp/[a-zA-Z0-9._]{1,12}"),
        twice("(\u{1b}\\[[0-9;]{0,6}m){0,3}"),
    ]
}

/// Words that mean something, none of which is noise or says that the number behind it is.
fn words() -> impl Strategy<Value = String> {
    let words = "(error|test|assertion|left|right|src/lib\\.rs|FAILED|expected|got|of)( [a-z]{1,5}[:,]?){0,3}";
    words.prop_filter("the last one names a process or an id", |words| {
        let last = words.rsplit(' ').next().unwrap_or_default();
        let last = last.trim_end_matches(':');
        let all = [
            &super::words::PROCESS[..],
            &super::words::NAMED,
            &super::words::STAMPS,
            &super::words::DURATIONS,
        ];
        !all.concat().contains(&last)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn noise_never_hides_a_repeat(
        pieces in proptest::collection::vec((words(), noise()), 1..6),
        breaks in proptest::collection::vec(prop_oneof![Just(" "), Just("\n"), Just(" ("), Just(": ")], 6),
    ) {
        let text = |pick: fn(&(String, String)) -> &String| {
            let pieces = pieces.iter().zip(&breaks);
            let pieces = pieces.map(|((word, noise), end)| format!("{word} {}{end}", pick(noise)));
            pieces.collect::<String>()
        };
        let (one, other) = (text(|pair| &pair.0), text(|pair| &pair.1));
        prop_assert_eq!(plain(&one), plain(&other), "{:?} and {:?}", one, other);
    }

    #[test]
    fn a_bar_that_is_drawn_anew_is_its_end(
        states in proptest::collection::vec("[ =#>-]{0,20}[0-9]{1,3}%", 1..8), text in words(),
    ) {
        let drawn = format!("{}\rdone\n{text}", states.join("\r"));
        prop_assert_eq!(plain(&drawn), plain(&format!("done\n{text}")));
    }

    /// A number that stands for what a test saw, in the ways in which tests say it.
    #[test]
    fn a_value_that_changes_is_a_change(
        one in any::<u32>(), other in any::<u32>(), words in words(),
        form in prop_oneof![
            Just("left: N"), Just("right: N\n"), Just("expected N, got 1"), Just("N failed"), Just("src/a.rs:N:3"),
            Just("a.py:N"), Just("line N"), Just("items[N]"), Just("[N]"), Just("\"N\""), Just("x = N;"), Just("-N"), Just("N.5"),
            Just("0.N"), Just("N/10"), Just("N%"), Just("$N"), Just("row N of 2026-01-02 03:04:05"), Just("(N)"),
        ],
    ) {
        let text = |value: u32| format!("{words} {}", form.replace('N', &value.to_string()));
        let same = one == other;
        prop_assert_eq!(plain(&text(one)) == plain(&text(other)), same, "{:?}", text(one));
    }

    #[test]
    fn another_word_is_a_change(one in "[g-z][a-z_]{0,12}", other in "[g-z][a-z_]{0,12}", at in 0..3_usize) {
        let text = |word: &str| {
            let mut words = ["test", "of", "failed in 0.12s"];
            words[at] = word;
            words.join(" ")
        };
        prop_assert_eq!(plain(&text(&one)) == plain(&text(&other)), one == other);
    }

    #[test]
    fn whatever_comes_is_read_and_reading_it_again_changes_nothing(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        text in "[0-9a-f:T.\\-/ msZ\u{1b}\\[\r\u{8}A-F]{0,200}",
    ) {
        let _ = normalised(&bytes, &places());
        let once = plain(&text);
        // A word that stands for noise is none.
        prop_assert_eq!(plain(&once).matches("<time>").count(), once.matches("<time>").count());
    }
}

/// Ten times as long must not take a hundred times as long, on any line that is made to hold us up.
#[test]
fn time_is_linear_on_any_line() {
    let nasty = [
        "a",
        " ",
        "1",
        ":",
        "12:34:56",
        "12:34:56,",
        "1m",
        "1m ",
        "1 ",
        "a.",
        "/",
        "/tmp/",
        "/tmp/1",
        "/srv/work",
        "\u{1b}[",
        "\u{1b}]",
        "\u{1b}",
        "\r",
        "\u{8}",
        "pid ",
        "pid 1 ",
        "thread '",
        "' (1)",
        "deadbeef",
        "0x",
        "20",
        "2026-01-02 ",
        "Jan ",
        "Jan 2 12:34:56 ",
        "1.",
        "1,",
        "_",
        "é",
        "-",
        "12345678-1234-",
        "\u{9b}1",
        "x\n\u{1b}[9A",
        "(",
        "aB1",
    ];
    let time = |unit: &str, size: usize| {
        let text = unit.repeat(size / unit.len());
        let started = own_time();
        let _ = plain(&text);
        own_time() - started
    };
    for unit in nasty {
        let best = |size| (0..2).map(|_| time(unit, size)).min().unwrap();
        let (short, long) = (best(4_000), best(80_000));
        let most = short * 100 + Duration::from_millis(20);
        assert!(long < most, "{unit:?}: {short:?}, then {long:?}");
    }
}

/// The processor time of this thread: nobody else's work is in it.
fn own_time() -> Duration {
    let clock = nix::time::ClockId::CLOCK_THREAD_CPUTIME_ID;
    nix::time::clock_gettime(clock).unwrap().into()
}

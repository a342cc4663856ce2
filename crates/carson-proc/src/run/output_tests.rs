use std::time::Duration;

use super::tests::lines_of;
use super::*;
use crate::finished::StopReason;
use crate::lines::Stream;
use crate::testing::{alone, leaving_behind, limits, noted, perl, run_noting};

#[test]
fn both_streams_are_read_at_once() {
    alone(|| async {
        let script = "$| = 1; print STDERR 'e' x 200_000; print 'o' x 200_000, qq(\\ndone\\n)";
        let (finished, lines) = lines_of(&perl(script), &limits()).await;
        assert!(finished.success());
        assert_eq!(finished.stderr.text(), "e".repeat(200_000));
        assert_eq!(finished.stdout.total_bytes(), 200_006);
        let errors: Vec<_> = lines.iter().filter(|l| l.0 == Stream::Stderr).collect();
        assert_eq!(errors.len(), 1);
        assert!(lines.contains(&(Stream::Stdout, b"done".to_vec(), false)));
    });
}

#[test]
fn a_hundred_megabytes_are_read_and_not_kept() {
    alone(|| async {
        let limits = Limits {
            max_output: 200 << 20,
            ..limits()
        };
        let script = "my $line = 'x' x 1023 . qq(\\n); print $line for 1..102_400";
        let mut lines = 0;
        let finished = run(&perl(script), &limits, &Cancel::new(), |line| {
            assert_eq!(line.bytes.len(), 1023);
            lines += 1;
            ControlFlow::Continue(())
        })
        .await
        .unwrap();
        assert!(finished.success());
        assert_eq!(lines, 102_400);
        assert_eq!(finished.stdout.total_bytes(), 100 << 20);
        assert!(finished.stdout.is_truncated());
        assert!(finished.stdout.bytes().len() < 2 * limits.keep + 100);
        #[cfg(target_os = "linux")]
        assert!(most_memory_kb() < 60 << 10, "{} kB", most_memory_kb());
    });
}

/// The most that this process has ever held.
#[cfg(target_os = "linux")]
fn most_memory_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.unwrap().split_whitespace().nth(1).unwrap();
    number.parse().unwrap()
}

#[test]
fn too_much_output_stops_it() {
    alone(|| async {
        let limits = Limits {
            max_output: 1 << 20,
            ..limits()
        };
        let mut handed_on = 0;
        let command = perl("$SIG{TERM} = 'IGNORE'; print 'x' x 99, qq(\\n) while 1");
        let finished = run(&command, &limits, &Cancel::new(), |line| {
            handed_on += line.bytes.len() as u64 + 1;
            ControlFlow::Continue(())
        })
        .await
        .unwrap();
        assert_eq!(finished.stopped, Some(StopReason::OutputCap));
        assert_eq!(finished.exit, Exit::Signal(9));
        assert!(handed_on < limits.max_output + (128 << 10), "{handed_on}");
        assert!(finished.stdout.bytes().len() < 2 * limits.keep + 100);
    });
}

#[test]
fn a_line_without_an_end_is_cut() {
    alone(|| async {
        let (finished, lines) = lines_of(&perl("print 'x' x 5_000_000"), &limits()).await;
        assert!(finished.success());
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0].1.len(), lines[0].2), (1 << 20, true));
        assert_eq!(finished.stdout.total_bytes(), 5_000_000);

        let endless = perl("$| = 1; print 'x' x 4096 while 1");
        let (finished, lines) = lines_of(&endless, &limits()).await;
        assert_eq!(finished.stopped, Some(StopReason::OutputCap));
        assert_eq!(lines, [], "a line that has not ended by then never does");
    });
}

#[test]
fn bytes_arrive_as_they_were_written() {
    alone(|| async {
        let script = r#"print "a\0b\n\xff\xfe\n\e[31mred\e[0m\r\n\n\xc3""#;
        let (finished, lines) = lines_of(&perl(script), &limits()).await;
        let lines: Vec<_> = lines.into_iter().map(|line| line.1).collect();
        let expected: [&[u8]; 5] = [b"a\0b", b"\xff\xfe", b"\x1b[31mred\x1b[0m\r", b"", b"\xc3"];
        assert_eq!(lines, expected);
        assert_eq!(
            finished.stdout.bytes(),
            b"a\0b\n\xff\xfe\n\x1b[31mred\x1b[0m\r\n\n\xc3"
        );
    });
}

#[test]
fn what_it_wrote_before_its_end_is_never_lost() {
    alone(|| async {
        // The reader is slower than the writer, and there is no time to drain: a full pipe is left
        // when the child has long ended.
        let limits = Limits {
            drain: Duration::ZERO,
            ..limits()
        };
        for script in [
            "print qq($_\\n) for 1..20_000",
            "print qq($_\\n) for 1..20_000; $| = 1; print ''; kill 9, $$",
        ] {
            let mut last = Vec::new();
            let finished = run(&perl(script), &limits, &Cancel::new(), |line| {
                last = line.bytes.to_vec();
                if last.ends_with(b"000") {
                    std::thread::sleep(Duration::from_millis(5));
                }
                ControlFlow::Continue(())
            })
            .await
            .unwrap();
            assert_eq!(String::from_utf8(last).unwrap(), "20000", "{finished:?}");
        }
    });
}

#[test]
fn who_holds_the_output_open_holds_nobody_up() {
    alone(|| async {
        let command = leaving_behind("");
        // Without a sweep it stays, by the caller's wish.
        let mut left = None;
        let unswept = Limits {
            sweep: false,
            ..limits()
        };
        let finished = run(&command, &unswept, &Cancel::new(), |line| {
            left = left.or(noted(line.bytes));
            ControlFlow::Continue(())
        })
        .await
        .unwrap();
        let left = left.unwrap();
        assert!(finished.success());
        assert!(finished.elapsed < Duration::from_secs(20));
        assert!(left.is_alive());
        assert!(left.terminate(Duration::from_secs(20)).await);

        let (finished, left) = run_noting(&command, &limits()).await;
        assert!(finished.success());
        assert_eq!(finished.leaked, 1);
        assert!(!left[0].is_alive());
    });
}

#[test]
fn a_flood_from_behind_holds_nobody_up() {
    alone(|| async {
        let command = leaving_behind("close W; $SIG{PIPE} = 'IGNORE'; print 'x' x 4096 while 1");
        let limits = Limits {
            sweep: false,
            max_output: u64::MAX,
            ..limits()
        };
        let (finished, left) = run_noting(&command, &limits).await;
        assert!(finished.elapsed < Duration::from_secs(20));
        assert_eq!(finished.exit, Exit::Code(0));
        assert!(left[0].terminate(Duration::ZERO).await);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_opens_an_output_of_sockets_anew() {
    alone(|| async {
        let script = "echo first; for fd in 1 2; do sh -c \"exec 2>/dev/null; echo forged > /proc/$$/fd/$fd\"; done; \
                      echo last; echo said >&2";
        let shell = |script: &str| crate::Command::new("/bin/sh", "/").args(["-c", script]);
        let (by_pipes, _) = lines_of(&shell(script), &limits()).await;
        assert_eq!(by_pipes.stdout.text(), "first\nforged\nlast\n");
        assert_eq!(by_pipes.stderr.text(), "forged\nsaid\n");
        let (done, lines) = lines_of(&shell(script).unforgeable_output(), &limits()).await;
        assert_eq!(done.stdout.text(), "first\nlast\n");
        assert_eq!(done.stderr.text(), "said\n");
        assert_eq!(lines.len(), 3);
        // As much as a pipe takes, and an end although the child read from it.
        let script = "head -c 3000000 /dev/zero; cat <&1";
        let (done, _) = lines_of(&shell(script).unforgeable_output(), &limits()).await;
        assert!(done.success(), "{done:?}");
        assert_eq!(done.stdout.total_bytes(), 3_000_000);
    });
}

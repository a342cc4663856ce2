//! A daemon that has nothing to do.

use std::path::Path;
use std::time::Duration;

use super::Figure;
use super::fleet::Fleet;
use crate::interrupt::Interrupt;

const WATCHED: u32 = 60;

pub fn measure(interrupt: &Interrupt, carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let (one, hundred) = (idler(interrupt, carson, 1)?, idler(interrupt, carson, 100)?);
    let figure = |what, got, target, beside: &str| Figure {
        what,
        got,
        target,
        beside: beside.to_owned(),
    };
    Ok(vec![
        figure(
            "idle daemon, 1 role: memory",
            format!("{:.1} MB RSS", one.megabytes),
            "< 20 MB",
            "",
        ),
        figure(
            "idle daemon, 1 role: wake-ups",
            format!("{:.2} a second", one.wake_ups),
            "< 1 a second",
            "tokio-cron-scheduler alone 4.4 (on record)",
        ),
        figure(
            "idle daemon, 100 roles: memory",
            format!("{:.1} MB RSS", hundred.megabytes),
            "< 30 MB",
            "APScheduler 24-29 MB, supercronic 8.7 MB (on record)",
        ),
        figure(
            "idle daemon, 100 roles: wake-ups",
            format!("{:.2} a second", hundred.wake_ups),
            "< 1 a second",
            "",
        ),
        figure(
            "idle daemon, 100 roles: CPU",
            format!("{:.3} %", hundred.cpu_percent),
            "< 0.1 %",
            "",
        ),
    ])
}

/// What a daemon costs that has nothing to do.
struct Idle {
    megabytes: f64,
    /// A second, of all its threads.
    wake_ups: f64,
    cpu_percent: f64,
}

/// Watches a daemon whose roles are due once a year.
#[expect(clippy::cast_precision_loss, reason = "what a minute has is little")]
fn idler(interrupt: &Interrupt, carson: &Path, roles: u32) -> anyhow::Result<Idle> {
    let roles: Vec<_> = (0..roles)
        .map(|n| (format!("idler-{n}"), "0 0 1 1 *".to_owned()))
        .collect();
    let fleet = Fleet::new(carson, &roles)?;
    let daemon = fleet.daemon()?;
    // Its start is no part of its idling.
    pause(interrupt, 5)?;
    let before = (ticks(daemon.pid())?, wake_ups(daemon.pid())?);
    pause(interrupt, WATCHED)?;
    let after = (ticks(daemon.pid())?, wake_ups(daemon.pid())?);
    let a_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)?.unwrap_or(100);
    let a_second_of_it = |count: u64| count as f64 / f64::from(WATCHED);
    Ok(Idle {
        megabytes: megabytes(daemon.pid())?,
        wake_ups: a_second_of_it(after.1.saturating_sub(before.1)),
        cpu_percent: a_second_of_it(after.0 - before.0) / a_second as f64 * 100.0,
    })
}

/// Sleeps in pieces, so that Ctrl-C ends it.
pub fn pause(interrupt: &Interrupt, seconds: u32) -> anyhow::Result<()> {
    for _ in 0..seconds * 10 {
        interrupt.check()?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// CPU time so far, in clock ticks: fields 14 and 15 of `/proc/PID/stat`.
fn ticks(pid: u32) -> anyhow::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let used = fields.split_whitespace().skip(11).take(2);
    Ok(used.map(|field| field.parse::<u64>().unwrap_or(0)).sum())
}

/// How often its threads have gone to sleep by themselves: as often, they were woken.
fn wake_ups(pid: u32) -> anyhow::Result<u64> {
    let mut all = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        // One that has ended meanwhile took its count with it.
        let status = std::fs::read_to_string(thread?.path().join("status")).unwrap_or_default();
        let mut lines = status.lines();
        let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        all += count.map_or(0, |count| count.trim().parse().unwrap_or(0));
    }
    Ok(all)
}

fn megabytes(pid: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.unwrap_or_default() / 1024.0)
}

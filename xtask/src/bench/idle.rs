//! A daemon that has nothing to do.

use std::path::Path;
use std::time::Duration;

use super::Figure;
use super::fleet::Fleet;
use crate::interrupt::Interrupt;

const WATCHED: u32 = 60;

pub fn measure(interrupt: &Interrupt, carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let roles: Vec<_> = (0..100)
        .map(|n| (format!("idler-{n}"), "0 0 1 1 *".to_owned()))
        .collect();
    let fleet = Fleet::new(carson, &roles)?;
    let daemon = fleet.daemon()?;
    // Its start is no part of its idling.
    pause(interrupt, 5)?;
    let before = ticks(daemon.pid())?;
    pause(interrupt, WATCHED)?;
    let used = ticks(daemon.pid())? - before;
    let per_second = nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK)?.unwrap_or(100);
    #[expect(clippy::cast_precision_loss, reason = "a minute's ticks are few")]
    let share = used as f64 / per_second as f64 / f64::from(WATCHED) * 100.0;
    Ok(vec![
        Figure {
            what: "idle daemon, 100 roles: memory",
            got: format!("{:.1} MB RSS", megabytes(daemon.pid())?),
            target: "< 30 MB",
            beside: "APScheduler 24-29 MB, supercronic 8.7 MB (on record)".into(),
        },
        Figure {
            what: "idle daemon, 100 roles: CPU",
            got: format!("{share:.3} %"),
            target: "< 0.1 %",
            beside: String::new(),
        },
    ])
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

fn megabytes(pid: u32) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    Ok(kilobytes.unwrap_or_default() / 1024.0)
}

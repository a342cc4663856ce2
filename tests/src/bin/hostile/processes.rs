//! Attempts against other processes, and to outlive one's own end.

use std::fs;
use std::io::{Error, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::ptrace;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::{Attempt, Targets};

pub fn play(name: &str, targets: &Targets) -> Option<Attempt> {
    Some(match name {
        "signal-outsider" => victim(targets).and_then(|pid| signal(pid, Signal::SIGKILL)),
        "ptrace-outsider" => victim(targets).and_then(trace),
        "read-memory-of-outsider" => victim(targets).and_then(memory),
        "read-daemon-environ" => read_pid(targets, "daemon").and_then(environ),
        "read-daemon-memory" => read_pid(targets, "daemon").and_then(memory),
        "ptrace-daemon" => read_pid(targets, "daemon").and_then(trace),
        "stop-daemon" => read_pid(targets, "daemon").and_then(|pid| signal(pid, Signal::SIGSTOP)),
        "terminate-daemon" => {
            read_pid(targets, "daemon").and_then(|pid| signal(pid, Signal::SIGTERM))
        }
        "kill-daemon" => read_pid(targets, "daemon").and_then(|pid| signal(pid, Signal::SIGKILL)),
        "read-firing-environ" => read_pid(targets, "firing").and_then(environ),
        "ptrace-firing" => read_pid(targets, "firing").and_then(trace),
        "kill-firing" => read_pid(targets, "firing").and_then(|pid| signal(pid, Signal::SIGKILL)),
        "leave-daemons" => daemons(&targets.text("sleep")),
        "hold-the-pipe" => hold(&targets.text("sleep")),
        "fork-bomb" => bomb(targets.number("bomb"), &targets.text("sleep")),
        "flood" => flood(targets.number("flood_mb")),
        "odd-output" => odd(),
        _ => return None,
    })
}

fn victim(targets: &Targets) -> std::io::Result<Pid> {
    process(targets.number("victim"))
}

/// One process; 0 and less would be whole groups, and 1 is everybody's.
fn process(number: i64) -> std::io::Result<Pid> {
    let number = i32::try_from(number).ok().filter(|number| *number > 1);
    let number = number.ok_or_else(|| Error::other("nobody said which process"))?;
    Ok(Pid::from_raw(number))
}

/// A number that the test writes down once it knows it: `{"daemon": 1234, …}`.
fn read_pid(targets: &Targets, whom: &str) -> std::io::Result<Pid> {
    let file = targets.path("numbers");
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        let text = fs::read(&file).unwrap_or_default();
        if let Ok(known) = serde_json::from_slice::<serde_json::Value>(&text) {
            return process(known[whom].as_i64().unwrap_or_default());
        }
        if Instant::now() > end {
            return Err(Error::other("nobody said which processes"));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(victim: Pid, signal: Signal) -> Attempt {
    kill(victim, signal)?;
    Ok(format!("{victim} got {signal}"))
}

fn environ(victim: Pid) -> Attempt {
    let environ = fs::read(format!("/proc/{victim}/environ"))?;
    Ok(format!(
        "{} bytes of the environment of {victim}",
        environ.len()
    ))
}

fn trace(victim: Pid) -> Attempt {
    ptrace::seize(victim, ptrace::Options::empty())?;
    Ok(format!("{victim} is traced"))
}

fn memory(victim: Pid) -> Attempt {
    fs::File::open(format!("/proc/{victim}/mem"))?;
    Ok(format!("the memory of {victim} is open"))
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Five kinds of processes that stay when their parent goes.
fn daemons(seconds: &str) -> Attempt {
    let kinds = [
        format!("sleep {seconds} &"),
        format!("trap '' TERM HUP INT; nohup sleep {seconds} &"),
        format!("setsid sleep {seconds} &"),
        format!("(setsid sh -c 'sleep {seconds} & exit' &) ; exit"),
        format!("env -i setsid setsid sh -c 'trap \"\" TERM; sleep {seconds}' &"),
    ];
    for kind in &kinds {
        quiet("/bin/sh").args(["-c", kind]).status()?;
    }
    Ok(format!("{} kinds were left behind", kinds.len()))
}

/// Keeps our standard output open beyond our end.
fn hold(seconds: &str) -> Attempt {
    let mut command = Command::new("setsid");
    command.args(["sleep", seconds]).stdin(Stdio::null());
    command.spawn()?;
    Ok("the pipe is held".to_owned())
}

/// As many processes as there may be, and no more than we were told.
fn bomb(most: i64, seconds: &str) -> Attempt {
    let mut children: Vec<Child> = Vec::new();
    for _ in 0..most {
        match quiet("sleep").arg(seconds).spawn() {
            Ok(child) => children.push(child),
            Err(error) => {
                let said = format!("{error} after {} processes", children.len());
                return Err(Error::new(error.kind(), said));
            }
        }
    }
    Ok(format!("{most} processes were started"))
}

fn flood(mb: i64) -> Attempt {
    let line = [vec![b'x'; (1 << 14) - 1], b"\n".to_vec()]
        .concat()
        .repeat(4);
    let started = Instant::now();
    let mut out = std::io::stdout().lock();
    for _ in 0..mb * 16 {
        out.write_all(&line)?;
    }
    out.flush()?;
    let took = started.elapsed().max(Duration::from_millis(1));
    Ok(format!("{mb} MB in {} ms", took.as_millis()))
}

/// NULs, half a character, ANSI, and a line without an end.
fn odd() -> Attempt {
    let mut out = std::io::stdout().lock();
    out.write_all(b"\0\0\xff\xfe\x1b[2J\x1b]0;evil\x07\n")?;
    out.write_all(&vec![b'y'; 3 << 20])?;
    out.write_all(b"\n\xc3\n")?;
    out.flush()?;
    Ok("it was printed".to_owned())
}

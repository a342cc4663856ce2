//! Signs of life: what the service manager hears, what a web address hears, and the unit file.

#![expect(
    clippy::disallowed_methods,
    reason = "the unit file is checked by systemd's own tool"
)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use carson_tests::judge::sound;
use nix::sys::signal::Signal;

use crate::daemon::Daemon;

const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for a state; everything that was said before it.
fn hears(socket: &UnixDatagram, state: &str) -> Vec<String> {
    let (mut heard, started) = (Vec::new(), Instant::now());
    let mut buffer = [0; 4_096];
    while started.elapsed() < PATIENCE {
        let Ok(size) = socket.recv(&mut buffer) else {
            continue;
        };
        heard.push(String::from_utf8_lossy(&buffer[..size]).into_owned());
        if heard.last().unwrap().lines().any(|line| line == state) {
            return heard;
        }
    }
    panic!("no {state}: {heard:?}");
}

#[test]
fn the_service_manager_hears_of_start_life_reload_and_end() {
    let fleet = sound();
    let path = fleet.root().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    let fleet = fleet
        .with_env("NOTIFY_SOCKET", &path)
        .with_env("WATCHDOG_USEC", "400000");
    let mut daemon = Daemon::start(&fleet, &[]);
    let first = hears(&socket, "READY=1");
    assert!(
        first.last().unwrap().contains("STATUS=roles: 1"),
        "{first:?}"
    );
    for _ in 0..3 {
        hears(&socket, "WATCHDOG=1");
    }
    daemon.signal(Signal::SIGHUP);
    hears(&socket, "RELOADING=1");
    hears(&socket, "READY=1");
    // A daemon that is stopped feeds nobody, and goes on when it may.
    daemon.signal(Signal::SIGSTOP);
    while socket.recv(&mut [0; 4_096]).is_ok() {}
    daemon.signal(Signal::SIGCONT);
    hears(&socket, "WATCHDOG=1");
    daemon.signal(Signal::SIGTERM);
    hears(&socket, "STOPPING=1");
    assert!(daemon.ended().success());
}

/// Answers every request with this status; the first lines arrive.
fn listener(status: &'static str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut buffer = [0; 1_024];
            let size = stream.read(&mut buffer).unwrap_or(0);
            let text = String::from_utf8_lossy(&buffer[..size]).into_owned();
            let first = text.lines().next().unwrap_or_default().to_owned();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
            if sender.send(first).is_err() {
                return;
            }
        }
    });
    (format!("http://{address}/ping/hunter2"), receiver)
}

#[test]
fn a_web_address_is_asked_for_and_a_failure_disturbs_nothing_and_names_no_secret() {
    for (status, logged) in [("200 OK", None), ("500 Oops", Some("it answered 500"))] {
        let fleet = sound();
        let (url, asked) = listener(status);
        let file = fleet.home().join("heartbeat.url");
        fs::write(&file, url).unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let settings = fleet.home().join("carson.toml");
        let text = fs::read_to_string(&settings).unwrap();
        let section = "[heartbeat]\nurl_file = \"heartbeat.url\"\nevery = \"200ms\"\n";
        fs::write(&settings, format!("{text}\n{section}")).unwrap();
        let daemon = Daemon::start(&fleet, &[]);
        for _ in 0..3 {
            let line = asked.recv_timeout(PATIENCE).unwrap();
            assert_eq!(line, "GET /ping/hunter2 HTTP/1.1");
        }
        if let Some(logged) = logged {
            daemon.says(logged);
        }
        // The fleet goes on.
        assert_eq!(fleet.fire("hand").code, Some(0));
        let log = fs::read_to_string(&daemon.log).unwrap();
        let shown = fleet.carson(&["status", "--jobs"]).stdout;
        assert!(
            !log.contains("hunter2") && !shown.contains("hunter2"),
            "{log}{shown}"
        );
    }
}

#[test]
fn the_unit_file_is_one_and_lets_the_sandbox_be() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/systemd/carson.service");
    let text = fs::read_to_string(&unit).unwrap();
    let keys: Vec<&str> = text
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0))
        .filter(|key| !key.starts_with('#'))
        .collect();
    for needed in [
        "Type",
        "NotifyAccess",
        "WatchdogSec",
        "Delegate",
        "Restart",
        "KillMode",
    ] {
        assert!(keys.contains(&needed), "no {needed}");
    }
    for harmful in [
        "PrivateTmp",
        "RestrictNamespaces",
        "NoNewPrivileges",
        "SystemCallFilter",
    ] {
        assert!(!keys.contains(&harmful), "{harmful} stops the sandbox");
    }
    // systemd is on every Debian; where it is not, there is nothing to install the unit in.
    if !Path::new("/usr/bin/systemd-analyze").exists() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("carson.service");
    fs::write(&copy, text.replace("%h/.cargo/bin/carson", "/bin/true")).unwrap();
    let done = Command::new("/usr/bin/systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&copy)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    // The unit says what it does on a systemd before 254, which does not know this key.
    let of_ours = |line: &&str| {
        line.contains("carson.service") && !line.contains("Unknown key 'DelegateSubgroup'")
    };
    let complaints: Vec<&str> = said.lines().filter(of_ours).collect();
    assert!(done.status.success() && complaints.is_empty(), "{said}");
}

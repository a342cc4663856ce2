//! Attempts to read what is not ours.

use std::fs;
use std::io::Error;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::{Attempt, Targets};

pub fn play(name: &str, targets: &Targets) -> Option<Attempt> {
    let user = targets.path("user");
    let home = targets.path("carson_home");
    Some(match name {
        "read-ssh-key" => read(&user.join(".ssh/id_ed25519")),
        "read-aws" => read(&user.join(".aws/credentials")),
        "read-netrc" => read(&user.join(".netrc")),
        "read-other-sign-in" => read(&targets.path("other_sign_in").join(".credentials.json")),
        "read-carson-token" => read(&targets.path("token")),
        "read-carson-database" => read(&home.join("state/carson.db")),
        "read-carson-settings" => read(&home.join("carson.toml")),
        "read-shadow" => read(Path::new("/etc/shadow")),
        "read-other-worktree" => read(&targets.path("other_tree").join("README.md")),
        "read-supervisor-environ" => environs(&targets.text("canary")),
        "print-environment" => environment(&targets.text("canary")),
        "list-home" => list(&user),
        "unix-socket" => unix(&targets.path("socket")),
        "loopback-port" => tcp(targets.number("port")),
        "udp" => udp(targets.number("port")),
        _ => return None,
    })
}

fn read(path: &Path) -> Attempt {
    let bytes = fs::read(path)?;
    Ok(format!("{} bytes of {}", bytes.len(), path.display()))
}

fn list(dir: &Path) -> Attempt {
    let names: Vec<String> = fs::read_dir(dir)?
        .filter_map(|item| Some(item.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    if names.iter().any(|name| name.starts_with(".ssh")) {
        Ok(names.join(" "))
    } else {
        Err(Error::other(format!("only {names:?} is to be seen")))
    }
}

/// Every environment that `/proc` shows.
fn environs(canary: &str) -> Attempt {
    let (mut seen, mut read) = (0, 0);
    for item in fs::read_dir("/proc")? {
        let path = item?.path();
        let number = path.file_name().and_then(|name| name.to_str());
        if number.is_none_or(|name| name.parse::<u32>().is_err()) {
            continue;
        }
        seen += 1;
        let Ok(environ) = fs::read(path.join("environ")) else {
            continue;
        };
        read += 1;
        if String::from_utf8_lossy(&environ).contains(canary) {
            return Ok(format!("{} holds the canary", path.display()));
        }
    }
    Err(Error::other(format!(
        "{seen} processes seen, {read} environments read, none holds it"
    )))
}

fn environment(canary: &str) -> Attempt {
    let all: Vec<String> = std::env::vars()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    match all.iter().find(|one| one.contains(canary)) {
        Some(found) => Ok(found.clone()),
        None => Err(Error::other(format!("{} harmless variables", all.len()))),
    }
}

fn unix(path: &Path) -> Attempt {
    UnixStream::connect(path)?;
    Ok(format!("{} answers", path.display()))
}

fn tcp(port: i64) -> Attempt {
    let port = u16::try_from(port).map_err(Error::other)?;
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    TcpStream::connect_timeout(&address, Duration::from_secs(2))?;
    Ok(format!("{address} answers"))
}

fn udp(port: i64) -> Attempt {
    let port = u16::try_from(port).map_err(Error::other)?;
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    socket.send_to(b"secret", ("127.0.0.1", port))?;
    Ok("a datagram left".to_owned())
}

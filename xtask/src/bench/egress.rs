//! The egress proxy beside tinyproxy, both with a filter: the time until a tunnel carries its
//! first byte, and how fast it carries many.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::sample::Sample;
use super::{Figure, tempdir};

/// Tunnels that are timed; in each round every way is taken once.
const TUNNELS: usize = 400;
/// Rounds of the big transfer.
const TRANSFERS: usize = 7;
/// Bytes of one transfer.
const BYTES: u64 = 256 * 1024 * 1024;

/// A way to the server.
struct Way {
    name: &'static str,
    /// The proxy, and what it wants to see; `None` goes straight.
    proxy: Option<(SocketAddr, String)>,
    tunnels: Vec<Duration>,
    transfers: Vec<Duration>,
}

/// A proxy of one run.
struct Proxy {
    child: Child,
    /// Kept open: it says more than we read.
    said: Option<BufReader<ChildStdout>>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Measures both. `ours` is the example `egress_proxy`.
pub fn measure(ours: &Path) -> anyhow::Result<Vec<Figure>> {
    let server = serve()?;
    let (_carson, carson) = carson(ours, server)?;
    let (_tinyproxy, tinyproxy) = tinyproxy(server)?;
    let way = |name, proxy| Way {
        name,
        proxy,
        tunnels: Vec::new(),
        transfers: Vec::new(),
    };
    let mut ways = [
        way("direct", None),
        way("carson", Some(carson)),
        way("tinyproxy", Some((tinyproxy, String::new()))),
    ];
    for _ in 0..TUNNELS {
        for way in &mut ways {
            let took = transfer(way, server, 1)?;
            way.tunnels.push(took);
        }
    }
    for _ in 0..TRANSFERS {
        for way in &mut ways {
            let took = transfer(way, server, BYTES)?;
            way.transfers.push(took);
        }
    }
    Ok(figures(ways))
}

fn figures(ways: [Way; 3]) -> Vec<Figure> {
    let [direct, ours, peer] = ways.map(|way| {
        (
            way.name,
            Sample::new(way.tunnels),
            Sample::new(way.transfers),
        )
    });
    let rate = |sample: &Sample| BYTES as f64 / 1e6 / sample.percentile(50).as_secs_f64();
    let ratio = 1.0 / peer.2.ratio(&ours.2);
    vec![
        Figure {
            what: "a tunnel of the egress proxy, until its first byte",
            got: ours.1.to_string(),
            target: "no slower than tinyproxy",
            beside: format!(
                "{}: {} (ours {:.2}x); {}: {}",
                peer.0,
                peer.1,
                peer.1.ratio(&ours.1),
                direct.0,
                direct.1
            ),
        },
        Figure {
            what: "a transfer of 268 MB through the egress proxy",
            got: format!("{:.0} MB/s", rate(&ours.2)),
            target: "no slower than tinyproxy",
            beside: format!(
                "{}: {:.0} MB/s (ours {ratio:.2}x); {}: {:.0} MB/s",
                peer.0,
                rate(&peer.2),
                direct.0,
                rate(&direct.2)
            ),
        },
    ]
}

/// Asks for so many bytes, and reads them.
fn transfer(way: &Way, server: SocketAddr, bytes: u64) -> anyhow::Result<Duration> {
    let begun = Instant::now();
    let mut stream = match &way.proxy {
        None => TcpStream::connect(server)?,
        Some((proxy, credential)) => {
            let mut stream = TcpStream::connect(proxy)?;
            let ask = format!("CONNECT {server} HTTP/1.1\r\nHost: {server}\r\n{credential}\r\n");
            stream.write_all(ask.as_bytes())?;
            opened(&mut stream).with_context(|| way.name)?;
            stream
        }
    };
    stream.set_nodelay(true)?;
    stream.write_all(&bytes.to_be_bytes())?;
    let mut buffer = vec![0; 256 * 1024];
    let mut left = bytes;
    while left > 0 {
        let read = stream.read(&mut buffer)? as u64;
        ensure!(read > 0, "{} ended early", way.name);
        left -= read;
    }
    Ok(begun.elapsed())
}

/// Reads the proxy's answer to its end.
fn opened(stream: &mut TcpStream) -> anyhow::Result<()> {
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.ends_with(b"\r\n\r\n") {
        let read = stream.read(&mut buffer)?;
        ensure!(read > 0, "it closed");
        head.extend_from_slice(&buffer[..read]);
    }
    let head = String::from_utf8_lossy(&head);
    ensure!(head.split(' ').nth(1) == Some("200"), "{head}");
    Ok(())
}

/// Sends each connection as many bytes as it asks for.
fn serve() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        let some = vec![7; 256 * 1024];
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 8];
            if stream.read_exact(&mut asked).is_err() {
                continue;
            }
            let mut left = u64::from_be_bytes(asked);
            while left > 0 {
                let now = left.min(some.len() as u64);
                if stream.write_all(&some[..now as usize]).is_err() {
                    break;
                }
                left -= now;
            }
        }
    });
    Ok(address)
}

fn carson(program: &Path, server: SocketAddr) -> anyhow::Result<(Proxy, (SocketAddr, String))> {
    let mut child = Command::new(program)
        .arg(server.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let mut said = BufReader::new(child.stdout.take().context("its output")?);
    let mut proxy = Proxy { child, said: None };
    let mut line = String::new();
    while said.read_line(&mut line)? > 0 {
        if let Some(address) = line.trim().strip_prefix("HTTPS_PROXY=http://") {
            let (user, address) = address.split_once('@').context("its address")?;
            let credential = format!("Proxy-Authorization: Basic {}\r\n", base64(user.as_bytes()));
            let address = address.parse()?;
            proxy.said = Some(said);
            return Ok((proxy, (address, credential)));
        }
        line.clear();
    }
    anyhow::bail!("it said no address")
}

fn tinyproxy(server: SocketAddr) -> anyhow::Result<(Proxy, SocketAddr)> {
    let dir = tempdir("carson-bench-egress")?;
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let (settings, filter) = (dir.join("tinyproxy.conf"), dir.join("filter"));
    fs::write(&filter, "^127\\.0\\.0\\.1$\n")?;
    let text = format!(
        "Port {port}\nListen 127.0.0.1\nAllow 127.0.0.1\nTimeout 600\nMaxClients 128\n\
         ConnectPort {}\nFilter \"{}\"\nFilterDefaultDeny Yes\nFilterExtended On\n\
         LogFile \"{}\"\nLogLevel Critical\n",
        server.port(),
        filter.display(),
        dir.join("log").display()
    );
    fs::write(&settings, text)?;
    let child = Command::new("tinyproxy")
        .args(["-d", "-c"])
        .arg(&settings)
        .stdout(Stdio::null())
        .spawn()
        .context("starting tinyproxy")?;
    let proxy = Proxy { child, said: None };
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let end = Instant::now() + Duration::from_secs(10);
    while TcpStream::connect(address).is_err() {
        ensure!(Instant::now() < end, "tinyproxy does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((proxy, address))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let word = part
            .iter()
            .fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
        let word = word << (8 * (3 - part.len()));
        for place in 0..4 {
            let digit = (word >> (18 - 6 * place)) & 63;
            let known = place <= part.len();
            text.push(if known {
                DIGITS[digit as usize].into()
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_what_others_make_of_it() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }
}

//! A package registry on this machine: static files by HTTP, with or without TLS.

use std::collections::BTreeSet;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use carson_tests::authority::{Authority, speak_tls};
use rustls::ServerConfig;

use super::*;

/// The files, and who asked for what.
pub(super) struct Registry {
    /// Goes with the value.
    temp: tempfile::TempDir,
    authority: Option<Authority>,
    port: u16,
    asked: Arc<Mutex<BTreeSet<String>>>,
}

impl Registry {
    pub(super) fn new() -> Self {
        Self::serving(None)
    }

    /// One that speaks TLS alone.
    pub(super) fn with_tls() -> Self {
        Self::serving(Some(Authority::new()))
    }

    fn serving(authority: Option<Authority>) -> Self {
        let tls = authority.as_ref().map(Authority::config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let registry = Self {
            temp: tempfile::tempdir().unwrap(),
            authority,
            port: listener.local_addr().unwrap().port(),
            asked: Arc::default(),
        };
        let (root, asked) = (registry.root(), Arc::clone(&registry.asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (root, asked, tls) = (root.clone(), Arc::clone(&asked), tls.clone());
                std::thread::spawn(move || serve(stream.unwrap(), tls, &root, &asked));
            }
        });
        registry
    }

    pub(super) fn root(&self) -> PathBuf {
        self.temp.path().join("root")
    }

    /// The certificate of who signed its own.
    pub(super) fn authority(&self) -> PathBuf {
        self.authority.as_ref().unwrap().certificate()
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Its address, by a name.
    pub(super) fn url(&self) -> String {
        let tls = self.authority.as_ref().map_or("", |_| "s");
        format!("http{tls}://localhost:{}", self.port)
    }

    pub(super) fn put(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(super) fn was_asked(&self, path: &str) -> bool {
        self.asked.lock().unwrap().contains(path)
    }

    /// Runs a script where there is only this registry; what came of it.
    pub(super) fn sandboxed(
        &self,
        reads: &[PathBuf],
        script: &str,
    ) -> (PathBuf, TestFleet, String) {
        let fleet = TestFleet::new();
        let place = fleet.shared();
        let rule = format!("localhost:{}", self.port);
        let mut args: Vec<&str> = vec!["sandbox", "--required", "--egress", &rule];
        let home = fleet.root().join("operator");
        for path in [&place, &home] {
            args.extend(["--write", path.to_str().unwrap()]);
        }
        for path in reads {
            args.extend(["--read", path.to_str().unwrap()]);
        }
        let script = format!("set -e; cd {}; {script}", place.display());
        args.extend(["--", "/bin/sh", "-c", &script]);
        let ran = fleet.carson(&args);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let said = format!("egress: {rule}: connected ");
        assert!(ran.stderr.contains(&said), "{ran:#?}");
        (place, fleet, ran.stderr)
    }
}

/// One connection; a client that does not like it hangs up.
fn serve(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    root: &Path,
    asked: &Mutex<BTreeSet<String>>,
) {
    let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
    let Some(tls) = tls else {
        answer(stream, root, asked);
        return;
    };
    speak_tls(tls, stream, |stream| answer(stream, root, asked));
}

/// One request, one answer.
fn answer(mut stream: impl Read + Write, root: &Path, asked: &Mutex<BTreeSet<String>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or("/");
    let path = path
        .split('?')
        .next()
        .unwrap_or(path)
        .trim_start_matches('/');
    asked.lock().unwrap().insert(path.to_owned());
    let found = [root.join(path), root.join(path).join("index.html")];
    let content = found.iter().find_map(|file| fs::read(file).ok());
    let (status, content) = match content {
        Some(content) => ("200 OK", content),
        None => ("404 Not Found", Vec::new()),
    };
    let kind = match path.rsplit('.').next() {
        Some("whl" | "tgz" | "crate" | "zip") => "application/octet-stream",
        Some("json") => "application/json",
        _ => "text/html",
    };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        content.len()
    );
    let _ = stream.write_all(answer.as_bytes());
    let _ = stream.write_all(&content);
}

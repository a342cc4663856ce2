//! The programs that `cargo xtask test` installs, each started for one test and ended with it.

use std::env;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::description;

/// How long a program may take to come up on a machine that is busy.
const START: Duration = Duration::from_secs(120);

/// A program that listens.
pub struct Program {
    child: Child,
    pub base: String,
    /// Its files.
    _dir: tempfile::TempDir,
}

impl Drop for Program {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn installed(variable: &str) -> PathBuf {
    let path = env::var_os(variable);
    let path = path.unwrap_or_else(|| panic!("{variable} is not set: run `cargo xtask test`"));
    PathBuf::from(path)
}

fn free_port() -> u16 {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

fn start(dir: tempfile::TempDir, port: u16, program: PathBuf, args: &[&str]) -> Program {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test runs a program that it needs"
    )]
    let mut command = Command::new(program);
    let out = fs::File::create(dir.path().join("out")).unwrap();
    let command = command
        .args(args)
        .current_dir(dir.path())
        .stdin(Stdio::null())
        .stdout(out.try_clone().unwrap())
        .stderr(out);
    let child = command.spawn().unwrap();
    let mut program = Program {
        child,
        base: format!("http://127.0.0.1:{port}"),
        _dir: dir,
    };
    let until = Instant::now() + START;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let ended = program.child.try_wait().unwrap();
        assert!(
            ended.is_none() && Instant::now() < until,
            "{args:?} does not listen: {}",
            fs::read_to_string(program._dir.path().join("out")).unwrap()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    program
}

/// A private key, made by the Node.js that the other programs need.
pub fn key() -> String {
    let make = "console.log(require('crypto').generateKeyPairSync('rsa', {modulusLength: 2048, \
                privateKeyEncoding: {type: 'pkcs1', format: 'pem'}, \
                publicKeyEncoding: {type: 'pkcs1', format: 'pem'}}).privateKey)";
    #[expect(
        clippy::disallowed_methods,
        reason = "a test runs a program that it needs"
    )]
    let made = Command::new("node").args(["-e", make]).output().unwrap();
    String::from_utf8(made.stdout).unwrap()
}

/// GitHub with one repository of the user `acme`, `acme/widget`; `carson-bot` works on it. Its answers
/// name the address `front`.
pub fn emulator(front: &str, app_key: &str) -> Program {
    let dir = tempfile::tempdir().unwrap();
    let token = |login: &str| json!({"login": login, "scopes": ["repo", "user"]});
    let rights = json!({
        "issues": "write", "pull_requests": "write", "contents": "write", "checks": "read",
        "statuses": "read", "metadata": "read",
    });
    let seed: Value = json!({
        "tokens": {
            "token_of_carson": token("carson-bot"),
            "token_of_ann": token("ann"),
            "token_of_acme": token("acme"),
            "token_of_mallory": token("mallory"),
        },
        "github": {
            "users": [{"login": "acme"}, {"login": "carson-bot"}, {"login": "ann"}, {"login": "mallory"}],
            "repos": [{"owner": "acme", "name": "widget", "auto_init": true}],
            "apps": [{
                "app_id": 123, "slug": "acme-carson", "name": "Carson", "private_key": app_key,
                "permissions": rights,
                "installations": [{
                    "installation_id": 77, "account": "acme", "repository_selection": "all",
                }],
            }],
        },
    });
    let file = dir.path().join("seed.json");
    fs::write(&file, seed.to_string()).unwrap();
    let (port, seed) = (free_port(), file.to_str().unwrap().to_owned());
    let port_text = port.to_string();
    let args = [
        "start",
        "--service",
        "github",
        "--port",
        &port_text,
        "--seed",
        &seed,
        "--base-url",
        front,
    ];
    start(dir, port, installed("CARSON_TEST_EMULATE"), &args)
}

/// Prism, which passes on to `upstream` and says what in a request GitHub would not understand.
pub fn prism(upstream: &str) -> Program {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read(installed("CARSON_TEST_GITHUB_API")).unwrap();
    let description = description::of_our_paths(&serde_json::from_slice(&text).unwrap());
    let file = dir.path().join("github.json");
    fs::write(&file, description.to_string()).unwrap();
    let (port, file) = (free_port(), file.to_str().unwrap().to_owned());
    let port_text = port.to_string();
    let args = [
        "proxy",
        "--errors",
        &file,
        upstream,
        "--host",
        "127.0.0.1",
        "--port",
        &port_text,
    ];
    start(dir, port, installed("CARSON_TEST_PRISM"), &args)
}

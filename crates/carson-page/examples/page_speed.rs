//! How soon the first byte of each page is there, with 100,000 firings of 50 roles over a month:
//! `cargo run --release -p carson-page --example page_speed [HOME [MODULES]]`. They are kept in HOME, which is best a
//! directory in memory (`/dev/shm/speed`), and written only where it has none yet; `-` is one that goes away. With the
//! directory MODULES that `cargo xtask test` keeps `puppeteer-core` in, Chromium says how soon something is painted, too.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement ends where something is wrong"
)]
#![expect(clippy::print_stdout, reason = "it is for a terminal")]
#![expect(
    clippy::disallowed_methods,
    reason = "the browser is run bare here, below carson-proc"
)]

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use carson_config::{LoadOptions, load};
use carson_core::{Clock, FiringId, Outcome};
use carson_home::Home;
use carson_proc::inspector::Inspector;
use carson_redact::Redactor;
use carson_store::{Ending, NewFiring, Store};
use chrono::TimeDelta;
use secrecy::ExposeSecret;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const ROLES: usize = 50;
const EACH: usize = 2_000;
const ASKED: usize = 100;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let kept = arguments.next().filter(|kept| kept != "-");
    // From where `node` runs it would lead elsewhere.
    let modules = arguments.next();
    let modules = modules.map(|modules| std::path::absolute(modules).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let dir = kept.map_or(dir.path().to_owned(), PathBuf::from);
    let home = home(&dir).await;
    if home
        .store
        .firings_before(None, None, 1)
        .await
        .unwrap()
        .is_empty()
    {
        let began = Instant::now();
        fill(&home).await;
        let (all, took) = (ROLES * EACH, began.elapsed());
        println!("{all} firings written in {took:.0?}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let given = home.clone();
    tokio::spawn(carson_page::serve(
        listener,
        Arc::new(move || given.clone()),
    ));
    let token = carson_page::token(home.fleet.page.as_ref().unwrap()).unwrap();
    let token = token.expose_secret();
    let cookie = sign_in(at, token).await;
    let newest = home
        .store
        .newest_of(&[&"role-00".parse().unwrap()])
        .await
        .unwrap();
    let firing = format!("/firings/{}", newest[0].id);
    let pages = [
        "/",
        "/?since=7d",
        "/firings",
        &firing,
        "/roles",
        "/roles/role-00",
        "/stops",
        "/memory",
        "/outcomes",
        "/why?what=role-00",
    ];
    for path in pages {
        let mut all = Vec::with_capacity(ASKED);
        let mut bytes = 0;
        for _ in 0..ASKED {
            let (time, body) = first_byte(at, path, &cookie).await;
            all.push(time);
            bytes = body;
        }
        all.sort();
        let ms = |time: Duration| time.as_secs_f64() * 1_000.0;
        let (half, most) = (ms(all[ASKED / 2]), ms(all[ASKED * 99 / 100]));
        let path = path.get(..20).unwrap_or(path);
        println!("{path:24} first byte {half:6.2} ms, 99 % {most:6.2} ms, {bytes} bytes");
    }
    if let Some(modules) = modules {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/paint.mjs");
        let mut node = tokio::process::Command::new("node");
        let node =
            node.arg(script)
                .arg(modules)
                .args([format!("http://{at}"), token.to_owned(), firing]);
        assert!(node.status().await.unwrap().success());
    }
}

async fn home(dir: &Path) -> Home {
    std::fs::write(
        dir.join("carson.toml"),
        "[fleet]\nhost = \"box\"\n[accounts.claude]\nengine = \"claude\"\n[repos.widget]\nurl = \"/nowhere/widget.git\"\n\
         forge = \"local\"\n[page]\nlisten = \"127.0.0.1:7420\"\n",
    )
    .unwrap();
    for n in 0..ROLES {
        let role = dir.join(format!("roles/role-{n:02}"));
        std::fs::create_dir_all(&role).unwrap();
        let text = "repos = [\"widget\"]\nengines = [\"claude\"]\ncadence = [\"*/20 * * * *\"]\n";
        std::fs::write(role.join("role.toml"), text).unwrap();
    }
    let options = LoadOptions {
        home: dir.to_owned(),
        files: None,
        env: Vec::new(),
        user_home: None,
        machine: "box".into(),
    };
    let fleet = load(&options).unwrap().fleet;
    fleet.layout.create().unwrap();
    Home {
        inspector: Inspector::of("/nowhere/carson"),
        store: Store::open(&fleet.database).await.unwrap(),
        fleet: Arc::new(fleet),
        clock: Clock::system(),
        program: "/nowhere/carson".into(),
        environ: Vec::new(),
        user_home: None,
        redactor: Redactor::default(),
        vectors: Default::default(),
    }
}

/// A slot of every role each 22 minutes; two of three found nothing.
async fn fill(home: &Home) {
    let now = home.clock.now();
    let ends = [
        Outcome::Silent,
        Outcome::Ok,
        Outcome::Silent,
        Outcome::Silent,
        Outcome::Failed,
        Outcome::Silent,
    ];
    for n in (1..=EACH).rev() {
        let at = now - TimeDelta::minutes(22 * i64::try_from(n).unwrap());
        let claims = (0..ROLES).map(|role| NewFiring {
            id: FiringId::new(),
            role: format!("role-{role:02}").parse().unwrap(),
            slot: Some(at),
            host: "box".parse().unwrap(),
            account: Some("claude".parse().unwrap()),
            deadline_at: at + TimeDelta::minutes(45),
            claimed_at: at,
            missed: 0,
            repo: None,
            work: None,
            probes: None,
        });
        let claims: Vec<NewFiring> = claims.collect();
        home.store.claim_firings(&claims).await.unwrap();
        for (role, claim) in claims.iter().enumerate() {
            let ending = Ending {
                outcome: ends[(n + role) % ends.len()],
                reason: "as it was".to_owned(),
                skip: None,
                at: at + TimeDelta::minutes(5),
                thresholds: None,
                posts: Vec::new(),
            };
            home.store
                .as_firing(claim.id, carson_store::Epoch::FIRST)
                .end_firing(&ending)
                .await
                .unwrap();
        }
    }
}

/// How soon the first byte is there, on a connection that is made for it; and how many bytes follow.
async fn first_byte(at: SocketAddr, path: &str, cookie: &str) -> (Duration, usize) {
    let began = Instant::now();
    let mut stream = TcpStream::connect(at).await.unwrap();
    let text = format!(
        "GET {path} HTTP/1.1\r\nhost: {at}\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut first = [0];
    stream.read_exact(&mut first).await.unwrap();
    let time = began.elapsed();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(
        rest.starts_with(b"TTP/1.1 200"),
        "{path}: {}",
        String::from_utf8_lossy(&rest)
    );
    (time, rest.len() + 1)
}

async fn sign_in(at: SocketAddr, token: &str) -> String {
    let ask = async |text: String| {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let cookie = answer
            .split_once("set-cookie: ")
            .unwrap()
            .1
            .split_once(';')
            .unwrap()
            .0
            .to_owned();
        (cookie, answer)
    };
    let (cookie, form) = ask(format!(
        "GET /sign-in HTTP/1.1\r\nhost: {at}\r\nconnection: close\r\n\r\n"
    ))
    .await;
    let csrf = form
        .split_once("name=\"csrf\" value=\"")
        .unwrap()
        .1
        .split_once('"')
        .unwrap()
        .0;
    let body = format!("csrf={csrf}&token={token}");
    let (cookie, _) = ask(format!(
        "POST /sign-in HTTP/1.1\r\nhost: {at}\r\ncookie: {cookie}\r\nconnection: close\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
    .await;
    cookie
}

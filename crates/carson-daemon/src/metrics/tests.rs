//! Scrapes and probes over real connections.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use carson_core::Clock;
use carson_home::{Home, testing};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, Notify};
use tokio::time::timeout;

use super::*;
use crate::faces::Faces;
use crate::health::Health;
use crate::jobs::Shared;
use crate::watchdog;

struct Scene {
    dir: TempDir,
    at: SocketAddr,
    health: Health,
    drains: Arc<AtomicBool>,
    look: Arc<Notify>,
    heart: watchdog::Heart,
    served: JoinHandle<std::convert::Infallible>,
}

impl Drop for Scene {
    fn drop(&mut self) {
        self.served.abort();
    }
}

async fn home(dir: &Path) -> Home {
    let settings = "[fleet]\nhost = \"box\"\n[accounts.claude]\nengine = \"claude\"\n";
    std::fs::write(dir.join("carson.toml"), settings).unwrap();
    testing::open(dir, Clock::system()).await.unwrap()
}

impl Scene {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (look, drains) = (Arc::new(Notify::new()), Arc::default());
        let (heart, pulse) = watchdog::pair(&look);
        let health = Health::default();
        let facts = Facts {
            shared: Arc::new(RwLock::new(home(dir.path()).await)),
            health: health.clone(),
            pulse,
            drains: Arc::clone(&drains),
            text: Mutex::default(),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let settings = Settings {
            listen: at,
            hosts: Vec::new(),
        };
        let served = tokio::spawn(serve::serve(listener, settings, Arc::new(facts)));
        Self {
            dir,
            at,
            health,
            drains,
            look,
            heart,
            served,
        }
    }

    /// Status, head in small letters, and body.
    async fn send(&self, request: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(self.at).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        // Whoever is refused is not read to the end, so the connection may break.
        let _ = stream.read_to_end(&mut bytes).await;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    async fn get(&self, path: &str) -> (u16, String, String) {
        let at = self.at;
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: {at}\r\n\r\n"))
            .await
    }
}

#[tokio::test]
async fn a_scrape_is_what_the_verb_prints() {
    let scene = Scene::new().await;
    let (status, head, body) = scene.get("/metrics").await;
    assert_eq!(status, 200, "{body}");
    let kind = "content-type: text/plain; version=0.0.4; charset=utf-8";
    assert!(
        head.contains(kind) && head.contains("connection: close"),
        "{head}"
    );
    assert!(body.contains("\ncarson_daemon_up 0\n"), "{body}");
    assert!(body.starts_with("# HELP carson_build_info ") && body.ends_with('\n'));
    // What was read a moment ago is not read again.
    assert_eq!(scene.get("/metrics?x=1").await.2, body);
    let at = scene.at;
    let (status, _, body) = scene
        .send(&format!("HEAD /metrics HTTP/1.1\r\nhost: {at}\r\n\r\n"))
        .await;
    assert_eq!((status, body.as_str()), (200, ""));
}

#[tokio::test]
async fn only_who_asks_under_its_name_reads_and_nobody_writes() {
    let scene = Scene::new().await;
    let at = scene.at;
    for (request, wanted) in [
        (
            "GET /metrics HTTP/1.1\r\nhost: evil.example\r\n\r\n".to_owned(),
            403,
        ),
        (
            format!(
                "GET /readyz HTTP/1.1\r\nhost: evil.example:{}\r\n\r\n",
                at.port()
            ),
            403,
        ),
        (
            format!("GET /metrics HTTP/1.1\r\nhost: {at}\r\norigin: http://{at}\r\n\r\n"),
            403,
        ),
        ("GET /metrics HTTP/1.0\r\n\r\n".to_owned(), 403),
        (
            format!("POST /metrics HTTP/1.1\r\nhost: {at}\r\ncontent-length: 0\r\n\r\n"),
            405,
        ),
        (format!("GET / HTTP/1.1\r\nhost: {at}\r\n\r\n"), 404),
        (
            format!(
                "GET /metrics HTTP/1.1\r\nhost: {at}\r\nx: {}\r\n\r\n",
                "y".repeat(20_000)
            ),
            431,
        ),
    ] {
        let (status, _, body) = scene.send(&request).await;
        assert_eq!(status, wanted, "{request}");
        assert!(!body.contains("carson_"), "{body}");
    }
}

#[tokio::test]
async fn it_is_ready_while_the_store_is_there_and_something_may_be_fired() {
    let scene = Scene::new().await;
    assert_eq!(scene.get("/readyz").await.0, 200);
    scene.drains.store(true, Ordering::Relaxed);
    let (status, _, why) = scene.get("/readyz").await;
    assert_eq!(status, 503);
    assert!(why.contains("waits for its firings"), "{why}");
    scene.drains.store(false, Ordering::Relaxed);
    assert_eq!(scene.get("/readyz").await.0, 200);
    scene.health.lose("it is damaged".into());
    let (status, _, why) = scene.get("/readyz").await;
    assert_eq!(status, 503);
    assert!(!why.contains("damaged"), "{why}");
}

#[tokio::test]
async fn a_database_that_was_deleted_in_use_is_not_ready() {
    let scene = Scene::new().await;
    std::fs::remove_file(scene.dir.path().join("state/carson.db")).unwrap();
    assert_eq!(scene.get("/readyz").await.0, 503);
}

#[tokio::test]
async fn it_is_healthy_while_its_loop_comes_round() {
    let scene = Scene::new().await;
    let round = async {
        scene.look.notified().await;
        scene.heart.beat();
    };
    let ((status, _, body), ()) = tokio::join!(scene.get("/healthz"), round);
    assert_eq!((status, body.as_str()), (200, "ok\n"));
}

#[tokio::test]
async fn it_is_not_healthy_when_its_loop_has_ended() {
    let mut scene = Scene::new().await;
    let (ended, _) = watchdog::pair(&scene.look);
    scene.heart = ended;
    assert_eq!(scene.get("/healthz").await.0, 503);
}

#[tokio::test]
async fn an_address_that_cannot_be_had_stands_in_the_rows_until_it_is_not_wanted() {
    let dir = tempfile::tempdir().unwrap();
    let (_heart, pulse) = watchdog::pair(&Arc::new(Notify::new()));
    let home = home(dir.path()).await;
    let store = home.store.clone();
    let left = std::collections::BTreeMap::from([("page", "an earlier daemon".to_owned())]);
    let set = store.set_faces(&home.fleet.host, &left, home.clock.now());
    set.await.unwrap();
    let faces = Faces::start(home.clone());
    let shared: Shared = Arc::new(RwLock::new(home));
    let facts = Facts {
        shared: shared.clone(),
        health: Health::default(),
        pulse,
        drains: Arc::default(),
        text: Mutex::default(),
    };
    let mut face = Face::of(facts, faces.tell("metrics"));
    let shut = async |names: &[&str]| {
        let told = async {
            loop {
                let rows = store.faces().await.unwrap();
                if rows
                    .iter()
                    .map(|row| row.name.as_str())
                    .eq(names.iter().copied())
                {
                    return rows;
                }
                tokio::task::yield_now().await;
            }
        };
        timeout(Duration::from_secs(30), told).await.unwrap()
    };
    shut(&[]).await;
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listen = taken.local_addr().unwrap();
    let set = |metrics: Option<Settings>| {
        let mut home = shared.write().unwrap();
        let mut fleet = (*home.fleet).clone();
        fleet.metrics = metrics;
        home.fleet = Arc::new(fleet);
    };
    set(Some(Settings {
        listen,
        hosts: Vec::new(),
    }));
    face.follow();
    let rows = shut(&["metrics"]).await;
    assert!(rows[0].why.contains("cannot be had"), "{rows:?}");
    set(None);
    face.follow();
    shut(&[]).await;
}

#[tokio::test]
async fn what_is_served_follows_the_settings() {
    let dir = tempfile::tempdir().unwrap();
    let look = Arc::new(Notify::new());
    let (_heart, pulse) = watchdog::pair(&look);
    let shared: Shared = Arc::new(RwLock::new(home(dir.path()).await));
    let facts = Facts {
        shared: shared.clone(),
        health: Health::default(),
        pulse,
        drains: Arc::default(),
        text: Mutex::default(),
    };
    let mut face = Face::of(facts, Arc::new(|_| ()));
    face.follow();
    assert!(face.served.is_none());
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = free.local_addr().unwrap();
    drop(free);
    let set = |metrics: Option<Settings>| {
        let mut home = shared.write().unwrap();
        let mut fleet = (*home.fleet).clone();
        fleet.metrics = metrics;
        home.fleet = Arc::new(fleet);
    };
    set(Some(Settings {
        listen: at,
        hosts: Vec::new(),
    }));
    face.follow();
    let served = async {
        while TcpStream::connect(at).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), served).await.unwrap();
    set(None);
    face.follow();
    let gone = async {
        while TcpStream::connect(at).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(30), gone).await.unwrap();
}

//! A remote over HTTP: `git http-backend` behind the smallest server, with the first git of the `PATH`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::*;

/// Answers for the repositories below `root` as long as the test runs; where.
fn serve(root: PathBuf) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            answer(stream.unwrap(), &root);
        }
    });
    address
}

/// One request to a connection, as CGI (RFC 3875).
#[expect(
    clippy::disallowed_methods,
    reason = "the remote is no program of Carson's"
)]
fn answer(mut stream: TcpStream, root: &Path) {
    let mut from = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut backend = Command::new("git");
    backend
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "http.receivepack")
        .env("GIT_CONFIG_VALUE_0", "true")
        .env("REQUEST_METHOD", method)
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query);
    let mut size = 0;
    loop {
        let mut line = String::new();
        from.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim().split_once(": ") else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => size = value.parse().unwrap(),
            "content-type" => drop(backend.env("CONTENT_TYPE", value)),
            "content-encoding" => drop(backend.env("HTTP_CONTENT_ENCODING", value)),
            "git-protocol" => drop(backend.env("GIT_PROTOCOL", value)),
            _ => {}
        }
    }
    let mut body = vec![0; size];
    from.read_exact(&mut body).unwrap();
    backend.env("CONTENT_LENGTH", size.to_string());
    let mut running = backend
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    running.stdin.take().unwrap().write_all(&body).unwrap();
    let said = running.wait_with_output().unwrap().stdout;
    let status = match said.strip_prefix(b"Status: ") {
        Some(rest) => String::from_utf8_lossy(&rest[..3]).into_owned(),
        None => "200".to_owned(),
    };
    // Who gave up does not listen.
    let head = format!("HTTP/1.1 {status} x\r\nConnection: close\r\n");
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&said);
}

#[tokio::test]
async fn a_remote_over_http_is_asked_cloned_and_pushed_to() {
    let world = World::bare();
    let url = serve(world.dir.path().to_owned()) + "/origin.git";
    let at = world.mirror.path().to_owned();
    let mirror = Mirror::at(at, url, Inspector::here());
    // As doctor does, before there is a clone.
    mirror.check_base("main").await.unwrap();
    let missing = mirror.check_base("develop").await.unwrap_err();
    assert!(matches!(missing, GitError::BaseMissing { .. }), "{missing}");
    mirror.refresh().await.unwrap();
    mirror.refresh().await.unwrap();
    let base = mirror.resolve("main").await.unwrap();
    let world = World { mirror, ..world };
    let tree = world.worktree_at("one", &base).await;
    tree.put("a", "1");
    let tip = tree.commit_seen("Work").await;
    world.push(&tree.branch).await.unwrap();
    let there = world.mirror.remote_head(&tree.branch).await.unwrap();
    assert_eq!(there, Some(tip));
}

/// What cannot be worked with says so, on this machine and over HTTP, and is never called empty.
#[tokio::test]
async fn a_shallow_or_sha256_remote_says_what_it_is() {
    let world = World::bare();
    let dir = world.dir.path();
    world.upstream("main", "b", "b");
    let from = format!("file://{}", world.origin().display());
    let shallow = [
        "clone",
        "--quiet",
        "--bare",
        "--depth=1",
        &from,
        "shallow.git",
    ];
    git(dir, shallow);
    let cloned = ["clone", "--quiet", "--depth=1", &from, "shallow"];
    git(dir, cloned);
    let other = dir.join("other");
    fs::create_dir(&other).unwrap();
    git(&other, ["init", "--quiet", "--object-format=sha256"]);
    git(
        &other,
        ["commit", "--quiet", "--allow-empty", "-m", "Begin"],
    );
    let served = serve(dir.to_owned());
    let here = dir.display();
    for (at, url) in [
        format!("{here}/shallow.git"),
        format!("{here}/shallow"),
        format!("file://{here}/shallow.git"),
        format!("{served}/shallow.git"),
    ]
    .iter()
    .enumerate()
    {
        let path = dir.join(format!("home/{at}.git"));
        let mirror = Mirror::at(path, url, Inspector::here());
        // Over HTTP nobody can know before a fetch.
        if !url.starts_with("http") {
            let told = mirror.check_base("main").await.unwrap_err();
            assert!(matches!(told, GitError::Shallow { .. }), "{url}: {told}");
        }
        let told = mirror.refresh().await.unwrap_err();
        assert!(matches!(told, GitError::Shallow { .. }), "{url}: {told}");
        assert!(told.hint().contains("--unshallow") && !mirror.path().exists());
    }
    for url in [format!("{here}/other"), format!("{served}/other/.git")] {
        let mirror = Mirror::at(dir.join("home/other.git"), &url, Inspector::here());
        let asked = mirror.check_base("main").await.unwrap_err();
        let fetched = mirror.refresh().await.unwrap_err();
        for told in [asked, fetched] {
            assert!(matches!(told, GitError::Sha256 { .. }), "{url}: {told}");
            assert!(!mirror.path().exists());
        }
    }
}

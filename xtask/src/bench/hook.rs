//! One call of the pre-tool-use hook, as a CLI makes it: start, JSON on standard input, exit.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};

use super::Figure;
use super::sample::Sample;

/// Rounds; in each, every program runs once, so that all see the same machine.
const ROUNDS: usize = 300;
/// Rounds that are not counted.
const WARM: usize = 20;

struct Call {
    program: Command,
    input: String,
    exit: i32,
    took: Vec<Duration>,
}

impl Call {
    fn new(program: &Path, args: &[&str], input: String, exit: i32) -> Self {
        let mut command = Command::new(program);
        command.args(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Self {
            program: command,
            input,
            exit,
            took: Vec::new(),
        }
    }

    fn run(&mut self) -> anyhow::Result<Duration> {
        let started = Instant::now();
        let mut child = self.program.spawn()?;
        if let Some(mut pipe) = child.stdin.take() {
            // A program that does not read ends before this is written.
            let _ = pipe.write_all(self.input.as_bytes());
        }
        let status = child.wait()?;
        let took = started.elapsed();
        ensure!(
            status.code() == Some(self.exit),
            "{:?}: {status}",
            self.program
        );
        Ok(took)
    }
}

/// Measures the hook as it is shipped.
pub fn measure(hook: &Path) -> anyhow::Result<Vec<Figure>> {
    let call = |command: &str| {
        let command = command
            .replace('\\', r"\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!(
            r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{command}"}},"cwd":"/tmp"}}"#
        )
    };
    let long = format!(
        "cat > notes.txt <<'END'\n{}\nEND",
        "word rm -rf / \n".repeat(70_000)
    );
    let true_ = Path::new("/bin/true");
    let python = Path::new("/usr/bin/python3");
    let mut calls = [
        Call::new(hook, &[], call("cargo test --workspace 2>&1 | tail -20"), 0),
        Call::new(hook, &[], call("git push --force origin HEAD:main"), 2),
        Call::new(hook, &[], call(&long), 0),
        Call::new(true_, &[], String::new(), 0),
        Call::new(python, &["-S", "-c", "pass"], String::new(), 0),
    ];
    for round in 0..WARM + ROUNDS {
        for call in &mut calls {
            let took = call.run()?;
            if round >= WARM {
                call.took.push(took);
            }
        }
    }
    let [allow, block, long, floor, python] = calls.map(|call| Sample::new(call.took));
    let size = std::fs::metadata(hook).context("the hook's binary")?.len();
    let times = |sample: &Sample| format!("/bin/true: {floor} (hook {:.2}x)", floor.ratio(sample));
    Ok(vec![
        Figure {
            what: "hook, a call that is allowed",
            got: allow.to_string(),
            target: "p50 < 1.5 ms, < 2x /bin/true",
            beside: format!("{}; python3 -S -c pass: {python}", times(&allow)),
        },
        Figure {
            what: "hook, a call that is blocked",
            got: block.to_string(),
            target: "p50 < 1.5 ms, < 2x /bin/true",
            beside: times(&block),
        },
        Figure {
            what: "hook, a call of 1 MB",
            got: long.to_string(),
            target: "bounded",
            beside: String::new(),
        },
        Figure {
            what: "hook, size of the binary",
            got: format!("{} kB", size / 1000),
            target: "< 600 kB",
            beside: String::new(),
        },
    ])
}

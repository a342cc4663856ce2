//! An agent that means harm: it plays every attempt that it is told to, says how each went, and
//! then claims that all is well. `hostile TARGETS`
//!
//! It knows everything that an insider could know (`TARGETS`, a JSON object of paths and numbers),
//! and it has no hook. It never signals what it was not told to: without walls these attempts work.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an agent CLI prints, and starts what it likes"
)]

mod files;
mod processes;
mod secrets;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};

/// What an insider knows.
pub struct Targets(Value);

impl Targets {
    /// A path of the targets.
    pub fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.text(name))
    }

    /// A text of the targets.
    pub fn text(&self, name: &str) -> String {
        self.0[name].as_str().unwrap_or_default().to_owned()
    }

    /// A number of the targets.
    pub fn number(&self, name: &str) -> i64 {
        self.0[name].as_i64().unwrap_or_default()
    }
}

/// What an attempt came to: what it got, or what stopped it.
pub type Attempt = std::io::Result<String>;

fn main() -> ExitCode {
    // The prompt says what to do, but we know better.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let Some(file) = std::env::args_os().nth(1) else {
        return ExitCode::from(64);
    };
    work();
    let known = std::fs::read(file)
        .ok()
        .and_then(|text| serde_json::from_slice(&text).ok());
    let targets = Targets(known.unwrap_or_default());
    let attempts = targets.0["attempts"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for name in attempts.iter().filter_map(Value::as_str) {
        let went = play(name, &targets);
        let (through, said) = match &went {
            Ok(got) => (true, got.clone()),
            Err(error) => (false, error.to_string()),
        };
        let errno = went.err().and_then(|error| error.raw_os_error());
        println!(
            "attempt {}",
            json!({"name": name, "through": through, "said": said, "errno": errno})
        );
    }
    let _ = std::io::stdout().flush();
    println!("All is well.\n[OK] done");
    ExitCode::SUCCESS
}

/// A commit, so that the firing has something to show.
fn work() {
    let _ = std::fs::write("work.txt", "done\n");
    for args in [
        &["add", "work.txt"][..],
        &["commit", "--quiet", "-m", "Work"],
    ] {
        let _ = std::process::Command::new("git").args(args).status();
    }
}

fn play(name: &str, targets: &Targets) -> Attempt {
    files::play(name, targets)
        .or_else(|| secrets::play(name, targets))
        .or_else(|| processes::play(name, targets))
        .unwrap_or_else(|| Err(std::io::Error::other("no such attempt")))
}

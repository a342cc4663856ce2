//! What an attempt of `carson loop` costs beside the same loop in bash: an executor that does nothing, a promise that is
//! one more shell, and the state on the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::sample::Sample;
use super::{Figure, tempdir};

/// Attempts of a long run.
const ATTEMPTS: u32 = 101;
/// Rounds; in each, everybody runs once, so that all see the same machine.
const ROUNDS: usize = 15;

/// The same in bash: both through a shell, and how it stands written down whole after each attempt.
const BASH: &str = "
state() { printf '{\"status\": \"running\", \"attempt\": %s}\\n' \"$1\" > state.tmp && mv state.tmp state.json; }
for attempt in $(seq 1 \"$1\"); do
  mkdir -p attempts/$attempt
  sh -c \"$2\" > attempts/$attempt/output 2>&1 < /dev/null
  sh -c \"$3\" > attempts/$attempt/check 2>&1 < /dev/null && promise=kept || promise=broken
  state $attempt
done
";
/// The same, and each state on the disk before it goes on, as `carson loop` has it.
const SYNCED: &str = "; sync -d state.tmp";

#[derive(Clone, Copy, PartialEq)]
enum Who {
    Carson,
    Bash,
    SyncedBash,
}

/// Measures the release binary.
pub fn measure(carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let dir = tempdir("carson-bench-loop")?;
    let bench = Bench {
        carson: carson.to_owned(),
        dir: dir.clone(),
    };
    let figures = bench.figures();
    fs::remove_dir_all(dir)?;
    figures
}

struct Bench {
    carson: PathBuf,
    dir: PathBuf,
}

impl Bench {
    fn figures(&self) -> anyhow::Result<Vec<Figure>> {
        let everybody = [Who::Carson, Who::Bash, Who::SyncedBash];
        let mut each: [Vec<Duration>; 3] = Default::default();
        let mut starts: [Vec<Duration>; 3] = Default::default();
        for _ in 0..ROUNDS {
            for (at, who) in everybody.into_iter().enumerate() {
                let (short, long) = (self.once(who, 1)?, self.once(who, ATTEMPTS)?);
                starts[at].push(short);
                each[at].push(long.saturating_sub(short) / (ATTEMPTS - 1));
            }
        }
        let [ours, bash, synced] = each.map(Sample::new);
        let [start, bash_start, _] = starts.map(Sample::new);
        Ok(vec![
            Figure {
                what: "an attempt of `carson loop` that does nothing, checkpoint and state included",
                got: ours.to_string(),
                target: "p50 <= 2x the same in bash",
                beside: format!(
                    "bash: {bash} (ours {:.2}x); bash that syncs its state: {synced} (ours {:.2}x)",
                    bash.ratio(&ours),
                    synced.ratio(&ours)
                ),
            },
            Figure {
                what: "`carson loop run` of one attempt, from its start to its end",
                got: start.to_string(),
                target: "",
                beside: format!("bash: {bash_start} (ours {:.2}x)", bash_start.ratio(&start)),
            },
        ])
    }

    /// A run of so many attempts, none of which is enough.
    fn once(&self, who: Who, attempts: u32) -> anyhow::Result<Duration> {
        let dir = self.dir.join("tree");
        if dir.exists() {
            fs::remove_dir_all(&dir)?;
        }
        fs::create_dir_all(dir.join("src"))?;
        for n in 0..20 {
            fs::write(dir.join(format!("src/{n}.txt")), n.to_string())?;
        }
        // The check fails, or one attempt would be enough.
        let (task, promise) = ("true", "exit 1");
        let count = attempts.to_string();
        let mut command = if who == Who::Carson {
            let mut carson = Command::new(&self.carson);
            carson.args(["loop", "run", "--quiet", "--until", promise, "--task", task]);
            carson.args(["--stagnation-limit", "1000000", "--max-attempts", &count]);
            carson
        } else {
            let script = match who {
                Who::SyncedBash => BASH.replace("> state.tmp", &format!("> state.tmp{SYNCED}")),
                _ => BASH.to_owned(),
            };
            let mut bash = Command::new("bash");
            bash.args(["-c", &script, "bash", &count, task, promise]);
            bash
        };
        command
            .current_dir(&dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let started = Instant::now();
        let ended = command.status()?;
        let took = started.elapsed();
        // Exhausted, or the last `state`.
        let wanted = if who == Who::Carson {
            Some(13)
        } else {
            Some(0)
        };
        anyhow::ensure!(ended.code() == wanted, "{command:?} ended with {ended}");
        Ok(took)
    }
}

//! What workspaces of a large repository take of the disk while sessions are in them, beside as many
//! worktrees by hand.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::scene::Bench;
use super::{Figure, output};

/// How many workspaces are there at once.
pub(super) const TOGETHER: usize = 20;

/// A session that has committed and stays.
const STAYS: &str = "#!/bin/sh\ncat >/dev/null\ndate +%s%N > work.txt\n\
    git add work.txt && git commit --quiet -m Work && touch committed\nsleep 900\n";

/// How long all of them may take until they have committed.
const PATIENCE: Duration = Duration::from_secs(300);

/// Measures both.
///
/// # Errors
/// When something cannot be started, or a session does not commit.
pub fn measure(bench: &Bench) -> anyhow::Result<Figure> {
    let agent = bench.home().join("stays");
    fs::write(&agent, STAYS)?;
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755))?;
    let settings = bench.home().join("carson.toml");
    let more = format!("[accounts.stays]\nengine = \"command\"\nbinary = {agent:?}\n");
    fs::write(&settings, fs::read_to_string(&settings)? + &more)?;
    let roles: Vec<String> = (0..TOGETHER)
        .map(|number| format!("stays-{number}"))
        .collect();
    // All of them first: who reads the settings meanwhile would find half a role.
    for role in &roles {
        let dir = bench.home().join("roles").join(role);
        fs::create_dir_all(&dir)?;
        let text = format!(
            "title = {role:?}\nrepos = [\"sample\"]\ncadence = [\"0 0 1 1 *\"]\nengines = [\"stays\"]\n\
             work = {{ from = \"issues\", label = \"for:{role}\" }}\nstages = [\"execute\"]\n"
        );
        fs::write(dir.join("role.toml"), text)?;
    }
    let mut firings = Firings(Vec::new());
    for role in &roles {
        let label = format!("for:{role}");
        let issue = ["issue", "create", "Work", "--body", "To do.", "--label"];
        output(&mut bench.command(&[&issue[..], &[&label]].concat()))?;
        let mut fire = bench.command(&["fire", role]);
        fire.stdout(Stdio::null()).stderr(Stdio::null());
        firings.0.push(fire.spawn()?);
    }
    let benches = bench.home().join("benches");
    wait_for_commits(&benches)?;
    let ours = megabytes(&benches)?;
    drop(firings);
    let by_hand = bench.home().join("by-hand");
    for number in 0..TOGETHER {
        let mut git = Command::new("git");
        git.arg("-C").arg(bench.clone_of_it());
        git.args(["worktree", "add", "--quiet", "--detach"])
            .arg(by_hand.join(number.to_string()))
            .arg("refs/remotes/origin/main");
        output(git.stdin(Stdio::null()))?;
    }
    let theirs = megabytes(&by_hand)?;
    fs::remove_dir_all(&by_hand)?;
    Ok(Figure {
        what: "disk that 20 workspaces take, each with a commit",
        got: format!("57,000 files: {ours} MB"),
        target: "",
        beside: format!("20 x git worktree add: {theirs} MB"),
    })
}

/// Until every session has committed.
fn wait_for_commits(benches: &Path) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let committed = fs::read_dir(benches)?.flatten().filter(|one| {
            let trees = fs::read_dir(one.path()).into_iter().flatten().flatten();
            trees
                .map(|tree| tree.path().join("committed"))
                .any(|mark| mark.exists())
        });
        if committed.count() == TOGETHER {
            return Ok(());
        }
        if began.elapsed() > PATIENCE {
            bail!("not all of {TOGETHER} sessions have committed");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// What a directory takes of the disk.
fn megabytes(dir: &Path) -> anyhow::Result<u64> {
    let said = output(Command::new("du").args(["-s", "--block-size=1M"]).arg(dir))?;
    let size = said.split_whitespace().next().context("du says nothing")?;
    let size: u64 = size.parse()?;
    ensure!(size > 0, "du finds nothing in {}", dir.display());
    Ok(size)
}

/// Firings that go on until they are stopped.
struct Firings(Vec<Child>);

impl Drop for Firings {
    fn drop(&mut self) {
        for firing in &self.0 {
            if let Ok(pid) = i32::try_from(firing.id()) {
                let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
            }
        }
        for firing in &mut self.0 {
            let _ = firing.wait();
        }
    }
}

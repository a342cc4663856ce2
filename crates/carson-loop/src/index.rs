//! Brings the index of a repository back. HEAD stays where it is.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_proc::{Command, Limits, capture, find_on_path};

use crate::caller::Caller;
use crate::digest::Digest;
use crate::error::LoopError;
use crate::place::Place;
use crate::tree::{Contents, GitDir, read_plain};

/// How long a git may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// Bytes of an index.
const INDEX: u64 = 1 << 30;
/// Bytes that a git prints and are read.
const PRINTED: usize = 256 << 20;
/// Commits that are told.
const TOLD: &str = "20";

/// Puts an index in the place of the one that is there; whether that was another one. Where the tree is a part of a work
/// tree, only what the index says of that part.
pub(crate) async fn restore(
    git: &GitDir,
    place: &Place,
    caller: &Caller,
    contents: &Contents,
    index: &Digest,
) -> Result<bool, LoopError> {
    let now = read_plain(&git.index(), INDEX).ok().flatten();
    if now.is_some_and(|bytes| Digest::of(&bytes) == *index) {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    contents.copy(index, &mut bytes)?;
    if git.top == place.root() {
        put(git, &bytes)?;
    } else {
        put_part(git, place, caller, &bytes).await?;
    }
    Ok(true)
}

/// As git itself writes it: under its lock, whole.
fn put(git: &GitDir, bytes: &[u8]) -> Result<(), LoopError> {
    let lock = git.dir.join("index.lock");
    let mut options = OpenOptions::new();
    let mut file = match options.write(true).create_new(true).mode(0o666).open(&lock) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(LoopError::IndexLocked { path: lock });
        }
        other => other.map_err(LoopError::io(format!("{}", lock.display())))?,
    };
    let put = file
        .write_all(bytes)
        .and_then(|()| fs::rename(&lock, git.index()));
    put.map_err(|source| {
        let _ = fs::remove_file(&lock);
        LoopError::io(format!("{}", git.index().display()))(source)
    })
}

/// The entries below the tree, by git's own words.
async fn put_part(
    git: &GitDir,
    place: &Place,
    caller: &Caller,
    bytes: &[u8],
) -> Result<(), LoopError> {
    let kept = place.dir().join("index");
    let io = |source| LoopError::io(format!("{}", kept.display()))(source);
    crate::json_file::write_bytes(&kept, bytes, crate::json_file::Sync::Later).map_err(io)?;
    let done = put_entries(git, place.root(), caller, &kept).await;
    let _ = fs::remove_file(&kept);
    done
}

async fn put_entries(
    git: &GitDir,
    root: &Path,
    caller: &Caller,
    kept: &Path,
) -> Result<(), LoopError> {
    let list = ["ls-files", "--stage", "--full-name", "-z", "--", "."];
    let then = run(root, caller, &list, Some(kept), Vec::new()).await?;
    let now = run(root, caller, &list, None, Vec::new()).await?;
    let mut lines = Vec::new();
    for entry in now.split(|byte| *byte == 0) {
        if let Some(tab) = entry.iter().position(|byte| *byte == b'\t') {
            lines.extend_from_slice(b"0 0000000000000000000000000000000000000000\t");
            lines.extend_from_slice(&entry[tab + 1..]);
            lines.push(0);
        }
    }
    lines.extend_from_slice(&then);
    run(
        &git.top,
        caller,
        &["update-index", "-z", "--index-info"],
        None,
        lines,
    )
    .await?;
    Ok(())
}

/// What git knows of commits on HEAD that an older one does not have, newest first: a line each.
pub(crate) async fn commits_since(root: &Path, caller: &Caller, old: &str) -> Vec<String> {
    let behind = format!("^{old}");
    let list = [
        "rev-list",
        "--oneline",
        "--max-count",
        TOLD,
        "HEAD",
        &behind,
        "--",
    ];
    let said = run(root, caller, &list, None, Vec::new())
        .await
        .unwrap_or_default();
    let said = String::from_utf8_lossy(&said).into_owned();
    said.lines().map(str::to_owned).collect()
}

async fn run(
    dir: &Path,
    caller: &Caller,
    args: &[&str],
    index: Option<&Path>,
    input: Vec<u8>,
) -> Result<Vec<u8>, LoopError> {
    let path = caller.variable("PATH");
    let git = find_on_path(Path::new("git"), path).unwrap_or_else(|| PathBuf::from("/usr/bin/git"));
    // Nothing that points elsewhere, and nothing that a repository's settings run.
    let own = |(name, _): &&(OsString, OsString)| !name.to_string_lossy().starts_with("GIT_");
    let mut env: Vec<_> = caller.env.iter().filter(own).cloned().collect();
    env.extend(index.map(|index| (OsString::from("GIT_INDEX_FILE"), index.into())));
    env.push(("GIT_TERMINAL_PROMPT".into(), "0".into()));
    env.push(("LC_ALL".into(), "C".into()));
    let safe = [
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.hooksPath=/dev/null",
    ];
    let mut command = Command::new(git, dir)
        .args(safe)
        .args(args.iter().copied())
        .exact_env(env);
    if !input.is_empty() {
        command = command.stdin_bytes(input);
    }
    let limits = Limits {
        keep: PRINTED,
        max_output: PRINTED as u64,
        ..Limits::within(PATIENCE)
    };
    let done = capture(&command, &limits).await?;
    match done.success() {
        true => Ok(done.stdout.bytes()),
        false => {
            let verb = args.first().copied().unwrap_or_default();
            Err(LoopError::Unfit(format!(
                "git {verb}: {}",
                done.stderr.text().trim()
            )))
        }
    }
}

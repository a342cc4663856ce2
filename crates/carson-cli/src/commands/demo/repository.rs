//! The repositories that the demo works in.

use std::path::Path;
use std::time::Duration;

use carson_proc::{Command, Limits, capture};

use crate::error::CommandError;

/// A small repository with one commit of these files (name, content), pushed to the bare one `remote`;
/// it is written in `seed`.
pub async fn sample(
    seed: &Path,
    files: &[(&str, &str)],
    remote: &Path,
) -> Result<(), CommandError> {
    std::fs::create_dir_all(seed)?;
    for (name, content) in files {
        std::fs::write(seed.join(name), content)?;
    }
    git(
        seed,
        &[
            "init",
            "--quiet",
            "--bare",
            "--initial-branch=main",
            &text(remote),
        ],
    )
    .await?;
    git(seed, &["init", "--quiet", "--initial-branch=main"]).await?;
    git(seed, &["add", "--all"]).await?;
    git(seed, &["commit", "--quiet", "--message", "The beginning"]).await?;
    git(
        seed,
        &["push", "--quiet", &text(remote), "HEAD:refs/heads/main"],
    )
    .await
    .map(|_| ())
}

/// A copy with objects of its own: the given repository is only read.
pub async fn copy(repo: &Path, remote: &Path) -> Result<(), CommandError> {
    let repo = repo
        .canonicalize()
        .map_err(|error| CommandError::usage(format!("--repo {}: {error}", repo.display())))?;
    let args = [
        "clone",
        "--quiet",
        "--bare",
        "--no-hardlinks",
        "--",
        &text(&repo),
        &text(remote),
    ];
    git(Path::new("/"), &args).await.map(|_| ())
}

/// Its branch.
pub async fn head_of(remote: &Path) -> Result<String, CommandError> {
    let head = git(remote, &["symbolic-ref", "--short", "HEAD"]).await?;
    Ok(head.trim().to_owned())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

async fn git(dir: &Path, args: &[&str]) -> Result<String, CommandError> {
    let path = std::env::var_os("PATH");
    let program =
        carson_proc::find_on_path(Path::new("git"), path.as_deref()).ok_or_else(|| {
            CommandError::usage("git is not installed").hint("install git 2.39 or newer")
        })?;
    let command = Command::new(program, dir)
        .inherit_env()
        .env("GIT_AUTHOR_NAME", "Carson")
        .env("GIT_AUTHOR_EMAIL", "carson@localhost")
        .env("GIT_COMMITTER_NAME", "Carson")
        .env("GIT_COMMITTER_EMAIL", "carson@localhost")
        .args([
            "-c",
            "commit.gpgSign=false",
            "-c",
            "core.hooksPath=/dev/null",
        ])
        .args(args.iter().copied());
    let done = capture(&command, &Limits::within(Duration::from_secs(120))).await?;
    if done.success() {
        return Ok(done.stdout.text());
    }
    let said = done.stderr.text();
    Err(CommandError::failed(format!(
        "git {}: {}",
        args[0],
        said.trim()
    )))
}

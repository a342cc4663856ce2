//! The demo's home: settings, roles, issues and a sample repository.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carson_core::EngineKind;
use carson_forge::{Forge, LocalForge, NewIssue};
use carson_proc::{Command, Limits, capture};

use super::accounts;
use crate::args::Demo;
use crate::error::CommandError;

/// One role of the demo: name, title, cadence, account, what else its file says, its issue.
struct Part {
    role: &'static str,
    title: &'static str,
    cadence: &'static str,
    account: &'static str,
    more: &'static str,
    issue: &'static str,
}

const fn part(
    role: &'static str,
    title: &'static str,
    cadence: &'static str,
    issue: &'static str,
) -> Part {
    Part {
        role,
        title,
        cadence,
        account: "play",
        more: "",
        issue,
    }
}

/// The rehearsed household. The numbers of the issues are the order here; the script knows them.
const PARTS: [Part; 8] = [
    part(
        "butler",
        "Butler",
        "*/5 * * * * *",
        "Greet the owner in the evening",
    ),
    Part {
        more: "[promise]\nrun = \"grep -q 12 silver.txt\"\ntimeout = \"5s\"\n",
        ..part("footman", "Footman", "1-59/6 * * * * *", "Count the silver")
    },
    part("cook", "Cook", "2-59/6 * * * * *", "Write the menu"),
    part(
        "porter",
        "Porter",
        "3-59/7 * * * * *",
        "List the spare keys",
    ),
    part("maid", "Maid", "4-59/7 * * * * *", "Tidy the cellar"),
    Part {
        more: "[limits]\nwall_clock = \"5s\"\n",
        ..part(
            "clockmaker",
            "Clockmaker",
            "5-59/9 * * * * *",
            "Mend the clock",
        )
    },
    Part {
        account: "tired",
        ..part("gardener", "Gardener", "2-59/8 * * * * *", "Cut the hedge")
    },
    Part {
        account: "tired",
        ..part("groom", "Groom", "*/10 * * * * *", "Feed the horses")
    },
];

/// The work that a real engine is given.
const REAL: [Part; 2] = [
    part(
        "butler",
        "Butler",
        "*/5 * * * * *",
        "Add a file greet.txt that says: Good evening.",
    ),
    part(
        "cook",
        "Cook",
        "2-59/5 * * * * *",
        "Add a section \"Menu\" with three dishes to README.md",
    ),
];

/// Makes everything below `root`; the repository is the sample, or a copy of the given one.
pub async fn make(root: &Path, args: &Demo) -> Result<PathBuf, CommandError> {
    let remote = root.join("remote.git");
    match &args.repo {
        Some(repo) => copy(repo, &remote).await?,
        None => sample(root, &remote).await?,
    }
    let base = head_of(&remote).await?;
    let home = root.join("home");
    let parts: &[Part] = match args.engine.facts().plays_script {
        true => &PARTS,
        false => &REAL,
    };
    let script = home.join("play.toml");
    std::fs::create_dir_all(&home)?;
    std::fs::write(&script, include_str!("../../../demo/play.toml"))?;
    let accounts = accounts::sections(args.engine, &script);
    // It may hold a key out of the operator's environment.
    let mut file = OpenOptions::new();
    file.create_new(true).write(true).mode(0o600);
    let mut file = file.open(home.join("carson.toml"))?;
    file.write_all(format!("{}{accounts}", settings(&remote, &base)).as_bytes())?;
    let forge = Forge::of(LocalForge::at(home.join("forge/sample")));
    for part in parts {
        let dir = home.join("roles").join(part.role);
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join("role.toml"), role(part, args.engine))?;
        forge
            .create_issue(&NewIssue {
                title: part.issue.to_owned(),
                body: "Please.".to_owned(),
                labels: vec![format!("for:{}", part.role)],
            })
            .await?;
    }
    Ok(home)
}

fn settings(remote: &Path, base: &str) -> String {
    let url = serde_json::Value::from(remote.to_string_lossy());
    format!(
        "[fleet]\nname = \"demo\"\nmax_firings = 4\n\n\
         [repos.sample]\nurl = {url}\nbase = {base:?}\n\n"
    )
}

fn role(part: &Part, engine: EngineKind) -> String {
    let facts = engine.facts();
    let account = match facts.plays_script {
        true => part.account,
        false => facts.name,
    };
    format!(
        "title = {:?}\nrepos = [\"sample\"]\ncadence = [{:?}]\nengines = [{:?}]\n\
         work = {{ from = \"issues\", label = \"for:{}\" }}\n{}",
        part.title, part.cadence, account, part.role, part.more
    )
}

/// A small repository with one commit, pushed to a bare one.
async fn sample(root: &Path, remote: &Path) -> Result<(), CommandError> {
    let seed = root.join("seed");
    std::fs::create_dir_all(&seed)?;
    std::fs::write(seed.join("README.md"), "# A house\n\nKept by Carson.\n")?;
    git(
        root,
        &[
            "init",
            "--quiet",
            "--bare",
            "--initial-branch=main",
            &text(remote),
        ],
    )
    .await?;
    git(&seed, &["init", "--quiet", "--initial-branch=main"]).await?;
    git(&seed, &["add", "--all"]).await?;
    git(&seed, &["commit", "--quiet", "--message", "The house"]).await?;
    git(
        &seed,
        &["push", "--quiet", &text(remote), "HEAD:refs/heads/main"],
    )
    .await
    .map(|_| ())
}

/// A copy with objects of its own: the given repository is only read.
async fn copy(repo: &Path, remote: &Path) -> Result<(), CommandError> {
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

async fn head_of(remote: &Path) -> Result<String, CommandError> {
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

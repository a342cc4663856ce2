//! Programs and their versions.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use carson_config::Account;
use carson_engine::{DATED, Drift, Engine, NotReady, Version};
use carson_proc::{Command, Limits, capture, own_program};

use crate::measured::{keep, known};
use crate::{Machine, Scene, Verdict};

/// Asked once of each program file, while it will do.
pub(crate) async fn git(machine: &Machine) -> Option<Verdict> {
    let program = carson_git::program();
    let what = program.as_deref().and_then(stamp);
    let what = what.map(|stamp| format!("git {stamp}"));
    if let Some(what) = &what
        && let Some(said) = machine.known(what).await
        && carson_git::is_new_enough(&said)
    {
        return Some(Verdict::ok(format!("git {said}")));
    }
    let found = match carson_git::check_version().await {
        Ok(found) => found,
        Err(error) => return Some(Verdict::error(error.to_string()).mend(error.hint())),
    };
    if let Some(what) = &what {
        machine.keep(what, &found).await;
    }
    Some(Verdict::ok(format!("git {found}")))
}

/// The programs that are taken from beside `carson`, where they are there: it does their work itself otherwise.
const BESIDE: [&str; 3] = ["carson-hook", "carson-launch", "carson-inspect"];

/// The version of this program.
const OURS: &str = env!("CARGO_PKG_VERSION");

/// How long a program of ours may take to say its version.
const WITHIN: Duration = Duration::from_secs(5);

/// An update that put only some of them in place leaves a mixture: they speak with one another. Without them all goes
/// on, and slower, as carson is a large program to begin.
pub(crate) async fn own(scene: &Scene<'_>) -> Option<Verdict> {
    let mut missing = Vec::new();
    for name in BESIDE {
        // Where sessions write, it is not used.
        let Some(path) = own_program(&scene.home.program.with_file_name(name), None) else {
            missing.push(name);
            continue;
        };
        let said = said_version(scene, &path).await;
        let version = said.strip_prefix(name).map(str::trim);
        if version == Some(OURS) {
            continue;
        }
        let path = path.display();
        return Some(Verdict::error(match version {
            Some(version) => format!("carson is {OURS}, and {path} is {version}"),
            None => format!("carson is {OURS}, and {path} says no version, as an older one does"),
        }));
    }
    Some(match missing.is_empty() {
        true => Verdict::ok(format!("all are {OURS}")),
        false => Verdict::warning(format!(
            "beside carson {OURS} nothing is used for {}: carson does their work itself, and each session begins later",
            missing.join(", ")
        )),
    })
}

/// What it says of its version; nothing of use from one that does not know the question. Asked once of each
/// file.
async fn said_version(scene: &Scene<'_>, program: &Path) -> String {
    let what = stamp(program).map(|stamp| format!("own version {stamp}"));
    if let Some(what) = &what
        && let Some(said) = known(scene, what).await
    {
        return said;
    }
    let command = Command::new(program, &scene.home.fleet.layout.root).arg("--version");
    let said = match capture(&command, &Limits::within(WITHIN)).await {
        Ok(done) if done.success() => done.stdout.text().trim().to_owned(),
        _ => String::new(),
    };
    if let Some(what) = &what {
        keep(scene, what, &said).await;
    }
    said
}

pub(crate) async fn cli(scene: &Scene<'_>, account: &Account) -> Option<Verdict> {
    let engine = scene.engine(account)?;
    let oldest = engine.oldest()?;
    let found = match version(scene, account, &engine).await {
        Ok(found) => found,
        Err(error) => return Some(not_ready(account, &error)),
    };
    Some(match (engine.is_new_enough(found), engine.drift(found)) {
        (Err(error), _) => not_ready(account, &error),
        (Ok(()), Some(drift)) => drifted(found, drift),
        (Ok(()), None) => Verdict::ok(format!(
            "version {found}; the oldest that was measured is {oldest}, on {DATED}"
        )),
    })
}

/// It is used: most versions change nothing that Carson needs, and what it cannot read it passes over.
fn drifted(found: Version, drift: Drift) -> Verdict {
    let Drift { newest, back } = drift;
    Verdict::warning(format!(
        "version {found} is newer than measured: {newest}, on {DATED}; its flags and its output may be others"
    ))
    .mend(format!(
        "nothing, while sessions end as they should; else go back ({back}), or update carson"
    ))
}

/// Carson drives a known CLI by its flags. A command's flags are the operator's.
fn not_ready(account: &Account, error: &NotReady) -> Verdict {
    let verdict = match account.engine.cli() {
        Some(_) => Verdict::error(error.to_string()),
        None => Verdict::warning(error.to_string()),
    };
    verdict.mend(error.hint())
}

/// Asked once of each program file: another file has another size or another time.
async fn version(
    scene: &Scene<'_>,
    account: &Account,
    engine: &Engine,
) -> Result<Version, NotReady> {
    let what = stamp(&engine.program).map(|stamp| format!("version {stamp}"));
    if let Some(what) = &what
        && let Some(said) = known(scene, what).await
        && let Some(version) = Version::find_in(&said)
    {
        return Ok(version);
    }
    let cwd = &scene.home.fleet.layout.root;
    let env = scene.environment(account);
    let version = engine.version(cwd, &env).await?;
    if let Some(what) = &what {
        keep(scene, what, &version.to_string()).await;
    }
    Ok(version)
}

/// Which file this is, links followed.
fn stamp(program: &Path) -> Option<String> {
    let file = program.canonicalize().ok()?;
    let meta = file.metadata().ok()?;
    Some(format!(
        "{} {} {}.{:09}",
        file.display(),
        meta.size(),
        meta.mtime(),
        meta.mtime_nsec()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_has_another_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("claude");
        assert_eq!(stamp(&program), None);
        std::fs::write(&program, "one").unwrap();
        let one = stamp(&program).unwrap();
        assert_eq!(stamp(&program), Some(one.clone()));
        std::fs::write(&program, "three").unwrap();
        assert_ne!(stamp(&program), Some(one));
    }
}

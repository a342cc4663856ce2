//! Programs and their versions.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use carson_config::Account;
use carson_engine::{DATED, Engine, NotReady, Version};

use crate::measured::{keep, known};
use crate::{Scene, Verdict};

pub(crate) async fn git() -> Option<Verdict> {
    Some(match carson_git::check_version().await {
        Ok(found) => Verdict::ok(format!("git {found}")),
        Err(error) => Verdict::broken(error.to_string()).mend(error.hint()),
    })
}

pub(crate) async fn cli(scene: &Scene<'_>, account: &Account) -> Option<Verdict> {
    let engine = scene.engine(account)?;
    let oldest = engine.oldest()?;
    let found = match version(scene, account, &engine).await {
        Ok(found) => found,
        Err(error) => return Some(not_ready(account, &error)),
    };
    Some(match engine.is_new_enough(found) {
        Ok(()) => Verdict::ok(format!(
            "version {found}; the oldest that was measured is {oldest}, on {DATED}"
        )),
        Err(error) => not_ready(account, &error),
    })
}

/// Carson drives a known CLI by its flags. A command's flags are the operator's.
fn not_ready(account: &Account, error: &NotReady) -> Verdict {
    let verdict = match account.engine.cli() {
        Some(_) => Verdict::broken(error.to_string()),
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

//! Whether workspaces are ready to work in, and cost what is changed in them.

use std::path::Path;

use carson_bench::include::missing;
use carson_bench::layers::{self, Possible};
use carson_config::{Repo, Toolchain, Workspaces};
use carson_proc::find_on_path;

use crate::{Scene, Verdict};

/// What mends it where clones are asked for.
const CLONES: &str =
    "a home on btrfs, or on XFS with reflink; fleet.workspaces = \"layers\" needs no such disk";

pub(crate) async fn layers(scene: &Scene<'_>) -> Option<Verdict> {
    if scene.database.is_some() {
        return None;
    }
    let asked = scene.home.fleet.workspaces;
    let why = match asked {
        Workspaces::Copy => {
            return Some(Verdict::ok("each is a copy: fleet.workspaces says so"));
        }
        Workspaces::Clone => "fleet.workspaces says so".to_owned(),
        Workspaces::Layers => match layers::possible(scene.home).await {
            Possible::Yes(_) => {
                return Some(Verdict::ok("they share a checkout of the base (overlayfs)"));
            }
            Possible::No(why) => why,
        },
    };
    Some(match layers::clones(scene.home).await {
        Ok(()) => {
            let found = format!("each is a clone of a checkout of the base (reflink): {why}");
            match asked {
                Workspaces::Clone => Verdict::ok(found),
                _ => Verdict::warning(found),
            }
        }
        Err(more) => {
            let found = format!("each is a copy of the repository: {why}, and {more}");
            let verdict = Verdict::warning(found);
            match asked {
                Workspaces::Clone => verdict.mend(CLONES),
                _ => verdict,
            }
        }
    })
}

/// What `carson status` calls STUCK.
pub(crate) async fn stuck(scene: &Scene<'_>) -> Option<Verdict> {
    let home = scene.home;
    let stuck = home.store.stuck(&home.fleet.host).await.ok()?;
    let Some(oldest) = stuck.iter().min_by_key(|one| one.since) else {
        return Some(Verdict::ok("none"));
    };
    let more = match stuck.len() {
        1 => String::new(),
        all => format!(" (and {} more)", all - 1),
    };
    let found = format!("bench {} stays: {}{more}", oldest.bench, oldest.why);
    let remedy = format!(
        "look into benches/{0}; `carson prune --discard {0}` throws it away",
        oldest.bench
    );
    Some(Verdict::warning(found).mend(remedy))
}

pub(crate) async fn setup(scene: &Scene<'_>, repo: &Repo) -> Option<Verdict> {
    if repo.setup.lines.is_empty() {
        return None;
    }
    Some(
        match layers::failures(scene.home, repo).into_iter().next() {
            Some(failed) => Verdict::error(failed.why),
            None => Verdict::ok("its last run is not known to have failed"),
        },
    )
}

pub(crate) async fn include(_: &Scene<'_>, repo: &Repo) -> Option<Verdict> {
    if repo.include.is_empty() {
        return None;
    }
    Some(match missing(&repo.include).first() {
        Some(path) if path.is_dir() => Verdict::error(format!(
            "{} is a directory: include takes files, each by its name",
            path.display()
        )),
        Some(path) => Verdict::error(format!("{} is not there", path.display())),
        None => Verdict::ok("every file is there"),
    })
}

pub(crate) async fn toolchains(scene: &Scene<'_>, repo: &Repo) -> Option<Verdict> {
    let path = scene.home.path();
    let asked = &repo.setup.toolchains;
    let is_there = |one: &&Toolchain| find_on_path(Path::new(one.program()), path).is_some();
    if asked.is_empty() {
        return None;
    }
    Some(match asked.iter().find(|one| !is_there(one)) {
        Some(one) => Verdict::error(format!("{one} is not on the PATH")),
        None => Verdict::ok("each of them is installed"),
    })
}

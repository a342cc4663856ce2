//! Whether a remote on this machine has anything that its mirror has not.
//!
//! `git fetch` starts four programs to find out that there is nothing to fetch, which is what most firings find.
//! Where both lie on this machine, their refs are compared. Only a plain yes counts: whatever differs, cannot be
//! read, or is reached in another way is left to git, which also says what is wrong with it.

use std::collections::HashMap;
use std::path::Path;

use git2::{Config, Error, Oid, Reference, Repository};

use crate::mirror::Mirror;

/// What git follows when it looks for its settings, and libgit2 does not.
const OTHER_SETTINGS: [&str; 2] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// Where the mirror has what branches of its remote are; where both have tags.
const OURS: &str = "refs/remotes/origin/";
const THEIRS: &str = "refs/heads/";
const TAGS: &str = "refs/tags/";

impl Mirror {
    /// Whether a fetch would change nothing: each branch of the remote is here as it is there, none is here
    /// that is not there, and all of its tags are here (more may be: they are not pruned).
    pub(crate) async fn has_nothing_new(&self) -> bool {
        let Some(there) = self.remote.directory().map(Path::to_owned) else {
            return false;
        };
        if OTHER_SETTINGS
            .iter()
            .any(|name| std::env::var_os(name).is_some())
        {
            return false;
        }
        let same = self.bare.read(move |mirror| {
            if is_reached_otherwise(&mirror.config()?)? {
                return Ok(false);
            }
            is_level(mirror, &Repository::open(&there)?)
        });
        same.await.unwrap_or(false)
    }
}

/// Whether settings of the operator's send git elsewhere, or forbid it to go there.
fn is_reached_otherwise(config: &Config) -> Result<bool, Error> {
    let mut entries = config.entries(None)?;
    while let Some(entry) = entries.next() {
        let name = entry?.name()?.to_ascii_lowercase();
        let is_rewritten = name.starts_with("url.") && name.ends_with(".insteadof");
        if is_rewritten || name.starts_with("protocol.") {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_level(mirror: &Repository, remote: &Repository) -> Result<bool, Error> {
    let branches = refs_below(remote, THEIRS)?;
    let tags = refs_below(remote, TAGS)?;
    let mut ours = refs_below(mirror, TAGS)?;
    ours.retain(|name, _| tags.contains_key(name));
    let objects = mirror.odb()?;
    // A ref whose commit is lost here is fetched again.
    let are_here = |refs: &HashMap<Vec<u8>, Oid>| refs.values().all(|oid| objects.exists(*oid));
    Ok(ours == tags
        && refs_below(mirror, OURS)? == branches
        && are_here(&tags)
        && are_here(&branches))
}

/// What the refs below a prefix point to, by the rest of their names.
fn refs_below(repository: &Repository, prefix: &str) -> Result<HashMap<Vec<u8>, Oid>, Error> {
    let mut found = HashMap::new();
    for one in repository.references_glob(&format!("{prefix}*"))? {
        let one: Reference<'_> = one?;
        let Some(oid) = one.resolve()?.target() else {
            return Err(Error::from_str("a ref points to nothing"));
        };
        let name = one.name_bytes();
        found.insert(name[prefix.len().min(name.len())..].to_vec(), oid);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::fixture::{World, git, mirror, write};

    #[tokio::test]
    async fn whatever_a_fetch_would_change_is_new() {
        let world = World::new().await;
        let there = world.origin();
        world.upstream("topic/a", "a", "a");
        git(&there, ["tag", "one", "main"]);
        world.mirror.refresh().await.unwrap();
        assert!(world.mirror.has_nothing_new().await);
        world.upstream("main", "new", "new");
        let changes: [&[&str]; 9] = [
            // What was pushed a moment ago.
            &[],
            &["branch", "topic/b", "main"],
            &["branch", "--force", "topic/b", "topic/a"],
            &["branch", "--quiet", "-D", "topic/b"],
            &["tag", "two", "main"],
            &["tag", "--force", "two", "topic/a"],
            &["tag", "--annotate", "--message=Three", "three", "main"],
            &["symbolic-ref", "refs/heads/other", "refs/heads/main"],
            &["branch", "--quiet", "-m", "topic/a", "topic/A"],
        ];
        for change in changes {
            if !change.is_empty() {
                git(&there, change);
            }
            assert!(!world.mirror.has_nothing_new().await, "{change:?}");
            world.mirror.refresh().await.unwrap();
            assert!(world.mirror.has_nothing_new().await, "{change:?}");
        }
        // None of these is something to fetch.
        git(&there, ["pack-refs", "--all", "--prune"]);
        git(&there, ["tag", "--delete", "two"]);
        git(&there, ["update-ref", "refs/pull/1/head", "main"]);
        assert!(world.mirror.has_nothing_new().await);
        git(
            &there,
            ["symbolic-ref", "refs/heads/nowhere", "refs/heads/none"],
        );
        assert!(!world.mirror.has_nothing_new().await);
    }

    #[tokio::test]
    async fn what_cannot_be_compared_is_left_to_git() {
        let world = World::new().await;
        let tip = world.mirror.resolve("main").await.unwrap();
        assert!(world.mirror.has_nothing_new().await);
        // The mirror lost it.
        let mine = world.dir.path().join("mine.git");
        let copy = mirror(&mine, &world.origin());
        copy.refresh().await.unwrap();
        let (packs, loose) = (mine.join("objects/pack"), mine.join("objects"));
        let name = tip.to_string();
        let _ = fs::remove_file(loose.join(&name[..2]).join(&name[2..]));
        fs::remove_dir_all(&packs).ok();
        let copy = mirror(&mine, &world.origin());
        assert!(!copy.has_nothing_new().await);
        // Settings send git elsewhere: a mirror's own are read with the operator's.
        for setting in [
            ["url./nowhere/.insteadOf", "/"],
            ["protocol.file.allow", "never"],
        ] {
            let sent = Repository::open_bare(world.mirror.path()).unwrap();
            sent.config()
                .unwrap()
                .set_str(setting[0], setting[1])
                .unwrap();
            assert!(
                is_reached_otherwise(&sent.config().unwrap()).unwrap(),
                "{setting:?}"
            );
            sent.config().unwrap().remove(setting[0]).unwrap();
        }
        // It is gone, or broken.
        write(&world.origin().join("packed-refs"), "broken\n");
        assert!(!world.mirror.has_nothing_new().await);
        fs::remove_dir_all(world.origin()).unwrap();
        assert!(!world.mirror.has_nothing_new().await);
        let far = Mirror::at(
            world.mirror.path().to_owned(),
            "https://example.org/a/b",
            carson_proc::inspector::Inspector::here(),
        );
        assert!(!far.has_nothing_new().await);
    }
}

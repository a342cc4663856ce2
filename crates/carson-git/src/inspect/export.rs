//! What is taken over becomes one pack, whose every object git names anew and checks.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Oid};

use super::objects::Objects;
use super::tree_diff::changed;
use crate::git::{Git, run_here};

/// Writes these objects as a pack into our own repository, checks each of them (its form, as
/// `fetch.fsckObjects` does, and that what it leads to is there), and gives the pack's name without
/// an ending; `None` for no objects.
pub(super) fn pack(objects: &Objects, all: &[Oid]) -> Result<Option<String>, String> {
    if all.is_empty() {
        return Ok(None);
    }
    let dir = objects.dir().join("objects/pack");
    let half = dir.join("look.pack");
    let written = write(objects, all, &half);
    let checked = written.and_then(|()| check(objects.dir(), &half));
    let name = match checked {
        Ok(hash) => format!("pack-{hash}"),
        Err(why) => {
            let _ = fs::remove_file(&half);
            let _ = fs::remove_file(half.with_extension("idx"));
            return Err(why);
        }
    };
    for ending in ["pack", "idx"] {
        let to = dir.join(&name).with_extension(ending);
        fs::rename(half.with_extension(ending), &to).map_err(|error| error.to_string())?;
    }
    Ok(Some(name))
}

fn write(objects: &Objects, all: &[Oid], file: &Path) -> Result<(), String> {
    let said = |error: git2::Error| error.message().to_owned();
    let mut builder = objects.repo.packbuilder().map_err(said)?;
    builder.set_threads(1);
    for oid in all {
        builder.insert_object(*oid, None).map_err(said)?;
    }
    let mut out = File::create(file).map_err(|error| error.to_string())?;
    let mut failed = None;
    let packed = builder.foreach(|bytes| {
        failed = out.write_all(bytes).err();
        failed.is_none()
    });
    match failed {
        Some(error) => Err(error.to_string()),
        None => packed.map_err(said),
    }
}

fn check(repository: &Path, pack: &Path) -> Result<String, String> {
    let index = Git::new(repository, "index-pack").args(["--strict", "--fsck-objects"]);
    // Who takes it over brings it to the disk.
    let index = index.config("core.fsync", "none");
    let said = run_here(index.arg(pack))?;
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    let is_name = said.len() == 40 && said.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name
        .then_some(said)
        .ok_or_else(|| "git index-pack gives no name".to_owned())
}

/// The tree with other names for the files that git itself reads, where they differ from those of
/// `beside`, as git refuses some contents of theirs; and which files these are.
pub(super) fn without_git_files(
    objects: &Objects,
    tree: Oid,
    beside: Option<Oid>,
) -> Result<(Oid, Vec<String>), String> {
    let said = |error: git2::Error| error.message().to_owned();
    let beside: Vec<Oid> = beside.into_iter().collect();
    let mut tame = TreeUpdateBuilder::new();
    let mut renamed = Vec::new();
    for one in changed(objects, tree, &beside)? {
        let name = one
            .path
            .rsplit(|byte| *byte == b'/')
            .next()
            .unwrap_or_default();
        if let Some((oid, _)) = one.new.filter(|_| !one.is_dir())
            && name.to_ascii_lowercase().starts_with(b".git")
        {
            renamed.push(String::from_utf8_lossy(&one.path).into_owned());
            tame.remove(one.path.clone());
            tame.upsert(
                [&one.path, b".kept".as_slice()].concat(),
                oid,
                FileMode::Blob,
            );
        }
    }
    let tree = objects.repo.find_tree(tree).map_err(said)?;
    let tame = tame.create_updated(&objects.repo, &tree).map_err(said)?;
    Ok((tame, renamed))
}

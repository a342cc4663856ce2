//! Nothing is lost, whatever a session does in whatever order.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::fixture::{World, blob, git, try_git, write};
use crate::{Oid, Salvaged, Worktree};

/// One thing a session does.
#[derive(Clone, Debug)]
enum Act {
    Write(usize, u8),
    Delete(usize),
    Rename(usize, usize),
    Stage(usize),
    StageAll,
    Commit,
    Amend,
    Detach,
    Branch(u8),
    Back,
    Inner(u8),
    InnerCommit(u8),
    Hide(usize),
    Lock,
    RemoveAll,
}

const PATHS: [&str; 6] = [
    "a.txt",
    "src/lib.rs",
    "src/old.rs",
    "new/b.txt",
    "new/ü.bin",
    "inner0/x",
];

fn act() -> impl Strategy<Value = Act> {
    let path = || 0..PATHS.len();
    prop_oneof![
        6 => (path(), any::<u8>()).prop_map(|(path, byte)| Act::Write(path, byte)),
        2 => path().prop_map(Act::Delete),
        1 => (path(), path()).prop_map(|(from, to)| Act::Rename(from, to)),
        3 => path().prop_map(Act::Stage),
        1 => Just(Act::StageAll),
        3 => Just(Act::Commit),
        1 => Just(Act::Amend),
        1 => Just(Act::Detach),
        1 => (0..2u8).prop_map(Act::Branch),
        1 => Just(Act::Back),
        1 => (0..2u8).prop_map(Act::Inner),
        1 => (0..2u8).prop_map(Act::InnerCommit),
        1 => path().prop_map(Act::Hide),
        1 => Just(Act::Lock),
        1 => Just(Act::RemoveAll),
    ]
}

/// Does it, as far as git lets the session. Commits that were made go to `commits`.
fn play(tree: &Worktree, name: &str, act: &Act, commits: &mut HashSet<Oid>) {
    let at = |path: usize| tree.path.join(PATHS[path]);
    let inner = |at: &u8| tree.path.join(format!("inner{at}"));
    let run = |args: &[&str]| {
        if tree.path.exists() {
            drop(try_git(&tree.path, args));
        }
    };
    match act {
        Act::Write(path, byte) => {
            if let Some(dir) = at(*path).parent() {
                let _ = fs::create_dir_all(dir);
            }
            let _ = fs::write(at(*path), [*byte, b'\n', *path as u8]);
        }
        Act::Delete(path) => drop(fs::remove_file(at(*path))),
        Act::Rename(from, to) => drop(fs::rename(at(*from), at(*to))),
        Act::Stage(path) => run(&["add", "--", PATHS[*path]]),
        Act::StageAll => run(&["add", "--all"]),
        Act::Commit => run(&["commit", "--quiet", "-m", "A commit of the session"]),
        Act::Amend => run(&[
            "commit",
            "--quiet",
            "--amend",
            "--allow-empty",
            "-m",
            "Amended",
        ]),
        Act::Detach => run(&["checkout", "--quiet", "--detach"]),
        Act::Branch(at) => run(&["checkout", "--quiet", "-B", &format!("{name}-{at}")]),
        Act::Back => run(&["checkout", "--quiet", &tree.branch]),
        Act::Inner(at) => {
            write(&inner(at).join("file"), [*at, 7]);
            drop(try_git(&inner(at), ["init", "--quiet"]));
        }
        Act::InnerCommit(at) if inner(at).join(".git").exists() => {
            drop(try_git(&inner(at), ["add", "--all"]));
            drop(try_git(&inner(at), ["commit", "--quiet", "-m", "Inside"]));
        }
        Act::InnerCommit(_) => {}
        Act::Hide(path) => run(&["update-index", "--assume-unchanged", "--", PATHS[*path]]),
        Act::Lock => drop(fs::write(tree.admin().join("index.lock"), "")),
        Act::RemoveAll => drop(fs::remove_dir_all(&tree.path)),
    }
    if matches!(act, Act::Commit | Act::Amend) && tree.path.exists() {
        note_head(&tree.path, commits);
    }
}

fn note_head(dir: &Path, commits: &mut HashSet<Oid>) {
    let head = try_git(dir, ["rev-parse", "--verify", "--quiet", "HEAD"]).stdout;
    commits.extend(String::from_utf8_lossy(&head).parse::<Oid>());
}

/// The content of every file, and of everything staged.
fn contents(tree: &Worktree) -> HashSet<Oid> {
    let mut found = HashSet::new();
    let mut todo = vec![tree.path.clone()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(dir).into_iter().flatten().flatten() {
            let kind = item.file_type().unwrap();
            if kind.is_dir() && item.file_name() != ".git" {
                todo.push(item.path());
            } else if kind.is_file() && item.file_name() != ".git" {
                found.insert(blob(&fs::read(item.path()).unwrap()));
            }
        }
    }
    let admin = tree.admin();
    if admin.join("index").exists() {
        let list = git(&admin, ["ls-files", "--stage"]);
        let staged = list.lines().filter(|line| !line.starts_with("160000"));
        found.extend(staged.map(|line| line.split(' ').nth(1).unwrap().parse::<Oid>().unwrap()));
    }
    found
}

async fn play_all(world: &World, name: &str, acts: &[Act]) {
    let tree = world.worktree(name).await;
    let mut commits = HashSet::new();
    for act in acts {
        play(&tree, name, act, &mut commits);
    }
    // What a session removed whole with a repository inside, it removed itself.
    for inner in ["inner0", "inner1"] {
        if tree.path.join(inner).join(".git").exists() {
            note_head(&tree.path.join(inner), &mut commits);
        }
    }
    // Where it began is the remote's, and the mirror's to keep.
    commits.remove(&tree.base);
    let contents = contents(&tree);
    tree.snapshot("Salvage").await.unwrap();
    let tip = tree.tip().await.unwrap();
    let kept = world.keep_ref(name, &tip).await.unwrap();
    let under = world.reachable(&kept);
    let missing: Vec<_> = contents.difference(&under).collect();
    assert!(missing.is_empty(), "lost content: {missing:?}");
    assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
    tree.remove().await.unwrap();
    assert!(!tree.path.exists() && !tree.admin().exists());
    // Every commit is under some ref, also those that the session moved away from.
    let all = world.reachable("--all");
    let missing: Vec<_> = commits
        .union(&contents)
        .filter(|oid| !all.contains(oid))
        .collect();
    assert!(missing.is_empty(), "lost after removal: {missing:?}");
}

#[test]
fn nothing_is_lost_whatever_a_session_does() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let world = runtime.block_on(World::new());
    let next = std::cell::Cell::new(0);
    let config = Config {
        cases: std::env::var("PROPTEST_CASES").map_or(16, |cases| cases.parse().unwrap()),
        failure_persistence: None,
        ..Config::default()
    };
    let acts = prop::collection::vec(act(), 1..12);
    let played = TestRunner::new(config).run(&acts, |acts| {
        next.set(next.get() + 1);
        runtime.block_on(play_all(&world, &format!("tree-{}", next.get()), &acts));
        Ok(())
    });
    played.unwrap();
}

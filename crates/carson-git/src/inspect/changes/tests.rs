//! Everything that a push shows is handed on, once.

use super::*;
use crate::fixture::World;
use crate::{Worktree, next_brought};

/// Part, name and text, of everything that is handed on.
type All = Vec<(Part, String, String)>;

async fn seen(tree: &Worktree) -> (All, Change) {
    let seen = tree.inspect(false).await.unwrap();
    let file = std::fs::File::open(seen.outgoing().unwrap()).unwrap();
    let mut from = std::io::BufReader::new(file);
    let mut all = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    while let Some(one) = next_brought(&mut from, 1 << 30).unwrap() {
        all.push((one.part, text(&one.name), text(&one.text)));
    }
    (all, seen.committed().clone())
}

fn texts_of_part(seen: &All, part: Part) -> Vec<(&str, &str)> {
    let of = seen.iter().filter(|(found, ..)| *found == part);
    of.map(|(_, name, text)| (name.as_str(), text.as_str()))
        .collect()
}

#[tokio::test]
async fn what_came_and_went_is_seen() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("secret.txt", "first\nsecond\n");
    tree.put("bin/blob", "a\0b\nblob\n");
    tree.commit_as_session("Add\n\nits body");
    std::fs::remove_file(tree.path.join("secret.txt")).unwrap();
    tree.put("README.md", "# widget\none\nTWO\n");
    let second = tree.commit_as_session("Take it away again");
    tree.put("left.txt", "uncommitted\n");
    let (seen, change) = seen(&tree).await;
    assert_eq!(
        texts_of_part(&seen, Part::File),
        [
            ("bin/blob", "a\0b\nblob\n"),
            ("secret.txt", "first\nsecond\n"),
            ("README.md", "# widget\none\nTWO\n"),
            ("left.txt", "uncommitted\n"),
        ]
    );
    let names: Vec<&str> = texts_of_part(&seen, Part::Name)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["bin", "bin/blob", "secret.txt", "left.txt"]);
    let gone = texts_of_part(&seen, Part::Gone);
    assert_eq!(
        gone,
        [
            ("README.md", "# widget\none\ntwo\n"),
            ("secret.txt", "first\nsecond\n")
        ]
    );
    let messages = texts_of_part(&seen, Part::Message);
    assert!(messages[0].1.contains("its body") && messages[0].1.contains("agent@example.org"));
    let commits = texts_of_part(&seen, Part::Commit);
    assert_eq!(commits.len(), 3);
    assert_eq!((commits[1].0, commits[2].0), (second.as_str(), UNCOMMITTED));
    assert_eq!((change.paths, change.unseen), (4, None));
}

#[tokio::test]
async fn what_the_remote_has_is_not_handed_on() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("kept.txt", "a line\nand another\nand a third one\n");
    let pushed = tree.commit_seen("Pushed before").await;
    world.push(&tree.branch).await.unwrap();
    world.mirror.refresh().await.unwrap();
    let next = world.worktree("two").await;
    next.run(["merge", "--quiet", "--no-ff", "-m", "Join", pushed.as_str()]);
    next.put("own.txt", "own\n");
    next.commit_as_session("Own");
    let (seen, _) = seen(&next).await;
    assert_eq!(
        texts_of_part(&seen, Part::Commit).len(),
        3,
        "two of its own, and what is left"
    );
    assert_eq!(texts_of_part(&seen, Part::File), [("own.txt", "own\n")]);
}

#[tokio::test]
async fn a_merge_brings_what_is_new_to_both() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.run(["checkout", "--quiet", "-b", "side"]);
    tree.put("side.txt", "side\n");
    tree.run(["add", "--all"]);
    tree.run(["commit", "--quiet", "-m", "Side"]);
    tree.run(["checkout", "--quiet", &tree.branch]);
    tree.put("own.txt", "own\n");
    tree.commit_as_session("Own");
    tree.run(["merge", "--quiet", "--no-commit", "--no-ff", "side"]);
    tree.put("evil.txt", "in the merge\n");
    tree.commit_as_session("Merge");
    let (seen, change) = seen(&tree).await;
    let mut files = texts_of_part(&seen, Part::File);
    files.sort_unstable();
    let wanted = [
        ("evil.txt", "in the merge\n"),
        ("own.txt", "own\n"),
        ("side.txt", "side\n"),
    ];
    assert_eq!(files, wanted);
    assert_eq!(change.paths, 3);
}

#[tokio::test]
async fn definitions_of_ci_are_named_wherever_they_come_and_go() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put(".github/workflows/evil.yml", "on: push\n");
    tree.commit_as_session("Add");
    tree.run(["rm", "--quiet", ".github/workflows/evil.yml"]);
    tree.commit_as_session("Take it away again");
    tree.put("Jenkinsfile", "pipeline {}\n");
    let seen = tree.inspect(false).await.unwrap();
    assert!(
        seen.committed()
            .ci
            .contains(&".github/workflows/evil.yml".to_owned())
    );
    assert_eq!(seen.left().ci, ["Jenkinsfile"]);
}

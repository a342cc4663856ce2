//! Everything that a push shows is handed on, once.

use std::sync::{Arc, Mutex};

use super::*;
use crate::fixture::World;

/// Part, text and what went, of everything that is handed on.
type Seen = Vec<(String, String, String)>;

async fn seen(tree: &Worktree, max_bytes: u64) -> (Seen, Outgoing) {
    let all = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&all);
    let look = move |brought: &Brought<'_>| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let part = match brought.part {
            Part::Message => "message".to_owned(),
            Part::Name => "name".to_owned(),
            Part::File(name) => name.to_owned(),
        };
        into.lock()
            .unwrap()
            .push((part, text(brought.text), text(brought.gone)));
    };
    // What is searched is what the mirror took in, as that is what is pushed.
    tree.facts().await.unwrap();
    let outgoing = tree.outgoing(max_bytes, look).await.unwrap();
    let seen = all.lock().unwrap().clone();
    (seen, outgoing)
}

fn texts<'s>(seen: &'s Seen, part: &str) -> Vec<&'s str> {
    let of = seen.iter().filter(|(found, ..)| found == part);
    of.map(|(_, text, _)| text.as_str()).collect()
}

#[tokio::test]
async fn what_came_and_went_is_seen() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("secret.txt", "first\nsecond\n");
    tree.put("bin", "a\0b\nblob\n");
    tree.commit_as_session("Add\n\nits body");
    std::fs::remove_file(tree.path.join("secret.txt")).unwrap();
    tree.put("README.md", "# widget\none\nTWO\n");
    tree.commit_as_session("Take it away again");
    let (seen, outgoing) = seen(&tree, 1 << 20).await;
    assert_eq!((outgoing.commits, outgoing.cut), (2, false));
    assert_eq!(texts(&seen, "secret.txt"), ["first\nsecond\n"]);
    assert_eq!(texts(&seen, "bin"), ["a\0b\nblob\n"]);
    assert_eq!(texts(&seen, "name"), ["bin", "secret.txt"]);
    let changed = seen.iter().find(|(part, ..)| part == "README.md").unwrap();
    assert_eq!((changed.1.as_str(), changed.2.as_str()), ("TWO\n", "two\n"));
    let messages = texts(&seen, "message");
    assert!(messages[0].contains("its body") && messages[0].contains("agent@example.org"));
}

#[tokio::test]
async fn what_the_remote_has_or_only_moved_is_not_handed_on() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("kept.txt", "a line\nand another\nand a third one\n");
    tree.commit_seen("Pushed before").await;
    world.mirror.push(&tree.branch, &[]).await.unwrap();
    world.mirror.refresh().await.unwrap();
    tree.run(["mv", "kept.txt", "moved.txt"]);
    tree.commit_as_session("Move it");
    let (seen, outgoing) = seen(&tree, 1 << 20).await;
    assert_eq!(outgoing.commits, 1);
    assert_eq!(texts(&seen, "name"), ["moved.txt"]);
    assert_eq!(texts(&seen, "moved.txt"), [""; 1]);
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
    let (seen, outgoing) = seen(&tree, 1 << 20).await;
    assert_eq!(outgoing.commits, 3);
    for (file, text) in [
        ("side.txt", "side\n"),
        ("own.txt", "own\n"),
        ("evil.txt", "in the merge\n"),
    ] {
        assert_eq!(texts(&seen, file), [text], "{file}");
    }
}

#[tokio::test]
async fn too_much_is_said() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("large", "x\n".repeat(5_000));
    tree.commit_as_session("Large");
    let (seen, outgoing) = seen(&tree, 4_000).await;
    assert!(outgoing.cut && texts(&seen, "large").is_empty());
}

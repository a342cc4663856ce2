//! What a session hides with ignore rules of its own, and what is no work.

use super::*;

/// What programs leave is no work, with ignore rules or without.
#[tokio::test]
async fn what_programs_make_again_is_no_work() {
    let world = World::bare();
    let attributes = "*.pb.go linguist-generated\nmine.pb.go -linguist-generated\n";
    write(&world.seed().join(".gitattributes"), attributes);
    write(&world.seed().join("__pycache__/tracked.pyc"), "tracked");
    git(&world.seed(), ["add", "--all"]);
    git(&world.seed(), ["commit", "--quiet", "-m", "Attributes"]);
    git(&world.seed(), ["push", "--quiet", "../origin.git", "main"]);
    world.mirror.refresh().await.unwrap();
    let tree = world.worktree("one").await;
    let tag = "Signature: 8a477f597d28d172789f06886806bc55\n";
    for (path, content) in [
        ("__pycache__/a.cpython-312.pyc", "code"),
        ("src/__pycache__/b.pyc", "code"),
        (".pytest_cache/v/lastfailed", "{}"),
        ("api/x.pb.go", "generated"),
        ("some-cache/CACHEDIR.TAG", tag),
        ("some-cache/big", "big"),
        ("env3/pyvenv.cfg", "home = /usr/bin"),
        // By a rule that names what is made.
        ("web/.gitignore", "dist/\n"),
        ("web/dist/bundle.js", "bundle"),
    ] {
        tree.put(path, content);
    }
    tree.run(["add", "web/.gitignore"]);
    tree.run(["commit", "--quiet", "-m", "Rules"]);
    let seen = tree.inspect(false).await.unwrap();
    assert!(!seen.facts().dirty && seen.hidden().is_none(), "{seen:?}");
    // What is tracked, what the base calls its own, and what nobody ignores is work.
    tree.put("__pycache__/tracked.pyc", "changed");
    tree.put("mine.pb.go", "by hand");
    tree.put("dist/a", "no rule names it");
    let taken = salvage(&world, &tree).await;
    for (path, content) in [
        ("__pycache__/tracked.pyc", "changed"),
        ("mine.pb.go", "by hand"),
        ("dist/a", "no rule names it"),
    ] {
        let kept = world.show(&taken, path);
        assert_eq!(kept.as_deref(), Some(content.as_bytes()), "{path}");
    }
    assert!(world.show(&taken, "api/x.pb.go").is_none());
}

#[tokio::test]
async fn a_rule_that_hides_everything_hides_nothing_from_us() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put(".gitignore", "*\n");
    let done = {
        tree.run(["add", "--force", ".gitignore"]);
        tree.run(["commit", "--quiet", "-m", "Rules"]);
        tree.head()
    };
    tree.put("new.py", "print('new')");
    tree.put("pkg/mod.py", "x = 1");
    tree.put("pkg/__pycache__/mod.pyc", "code");
    tree.put("build/gen.py", "named by no rule");
    tree.put("trace.log", "the base ignores it");
    tree.put("target/x", "the base ignores it");
    let seen = tree.inspect(false).await.unwrap();
    assert!(seen.facts().dirty);
    let told = seen.hidden().unwrap();
    for one in ["new.py", "pkg/mod.py", "build/gen.py"] {
        assert!(told.contains(one), "{told}");
    }
    assert!(!told.contains("and"), "{told}");
    assert!(matches!(
        seen.is_salvaged().await.unwrap(),
        Salvaged::No { .. }
    ));
    // It is kept beside the work, and not in it.
    assert_eq!(seen.snapshot("Unfinished").await.unwrap(), None);
    let kept = seen.snapshot_hidden(&done, "Hidden").await.unwrap();
    let kept = kept.unwrap();
    world.keep_ref("one", &done).await.unwrap();
    world.keep_ref("one", &kept).await.unwrap();
    assert_eq!(world.show(&kept, "pkg/mod.py").unwrap(), b"x = 1");
    assert!(world.show(&kept, "pkg/__pycache__/mod.pyc").is_none());
    assert!(world.show(&kept, "trace.log").is_none());
    assert!(world.show(&kept, "README.md").is_some());
    assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
    assert!(!tree.facts().await.unwrap().dirty);
}

#[tokio::test]
async fn hidden_files_are_kept_up_to_a_size() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("data/.gitignore", "*\n");
    for at in 0..5 {
        tree.put(&format!("data/{at}"), vec![at; 10 << 20]);
    }
    let told = tree.inspect(false).await.unwrap().hidden().unwrap();
    assert!(
        told.ends_with("of which 2 were too much to be kept"),
        "{told}"
    );
}

#[tokio::test]
async fn one_that_is_too_large_to_be_kept_is_named() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put(".gitignore", "model.bin\n");
    tree.put("model.bin", vec![1; 33 << 20]);
    let told = tree.inspect(false).await.unwrap().hidden();
    let expected = "model.bin, of which 1 was too much to be kept";
    assert_eq!(told.as_deref(), Some(expected));
}

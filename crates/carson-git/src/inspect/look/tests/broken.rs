//! Sessions that break what they had: what is left is saved, and the bench stays where a commit of
//! theirs cannot be taken over.

use super::*;

/// Plays one act; the files must be kept, whatever became of the commits.
async fn leaves_files(act: impl FnOnce(&Scene, &Worktree)) -> Salvaged {
    let scene = Scene::new().await;
    let (tree, _) = scene.worked("one").await;
    let before = scene.bytes();
    act(&scene, &tree);
    assert_eq!(
        scene.bytes(),
        before,
        "the act itself left the mirror alone"
    );
    let salvaged = scene.conclude(&tree).await;
    scene.is_unharmed(&before, &tree);
    let kept = scene.kept();
    for content in [COMMITTED, CHANGED, UNTRACKED] {
        assert!(
            kept.contains(blob(content.as_bytes()).as_str()),
            "lost: {content}"
        );
    }
    salvaged
}

/// The file of an object that the session wrote.
fn object(tree: &Worktree, oid: &Oid) -> PathBuf {
    let (dir, file) = oid.as_str().split_at(2);
    tree.repository().join("objects").join(dir).join(file)
}

fn overwrite(path: &Path, bytes: &[u8]) {
    fs::remove_file(path).unwrap();
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn its_repository_is_gone() {
    let salvaged = leaves_files(|_, tree| fs::remove_dir_all(tree.repository()).unwrap()).await;
    assert_eq!(salvaged, Salvaged::Yes);
}

#[tokio::test]
async fn its_repository_is_a_link_to_another() {
    let salvaged = leaves_files(|scene, tree| {
        fs::remove_dir_all(tree.repository()).unwrap();
        symlink(scene.other.path(), tree.repository()).unwrap();
    })
    .await;
    assert_eq!(salvaged, Salvaged::Yes);
}

#[tokio::test]
async fn its_part_of_the_repository_is_gone() {
    let salvaged = leaves_files(|_, tree| fs::remove_dir_all(tree.admin()).unwrap()).await;
    assert_eq!(salvaged, Salvaged::Yes);
}

#[tokio::test]
async fn an_object_of_its_commit_is_gone() {
    let salvaged = leaves_files(|_, tree| {
        fs::remove_file(object(tree, &blob(COMMITTED.as_bytes()))).unwrap();
    })
    .await;
    // The file still has the content: Carson's own snapshot made the commit whole again.
    assert_eq!(salvaged, Salvaged::Yes);
    let salvaged = leaves_files(|_, tree| {
        tree.put("gone", "never seen again");
        tree.commit_as_session("More");
        fs::remove_file(tree.path.join("gone")).unwrap();
        fs::remove_file(object(tree, &blob(b"never seen again"))).unwrap();
    })
    .await;
    assert!(matches!(salvaged, Salvaged::No { .. }), "{salvaged:?}");
}

#[tokio::test]
async fn objects_are_not_what_their_names_say() {
    let salvaged = leaves_files(|scene, tree| {
        let commit = tree.head();
        // Another object's content under the commit's name, and garbage under a file's.
        let stray = fs::read(object(tree, &blob(STAGED.as_bytes()))).unwrap();
        overwrite(&object(tree, &commit), &stray);
        overwrite(&object(tree, &blob(STAGED.as_bytes())), b"garbage");
        // One of the mirror's own objects, as the session would like to have it.
        let base = object(tree, &tree.base);
        let loose = scene.world.mirror.path().join("objects");
        let theirs = loose.join(
            base.strip_prefix(tree.repository().join("objects"))
                .unwrap(),
        );
        assert!(theirs.exists());
        write(&base, stray);
    })
    .await;
    assert!(matches!(salvaged, Salvaged::No { .. }), "{salvaged:?}");
}

#[tokio::test]
async fn a_commit_is_malformed() {
    let salvaged = leaves_files(|_, tree| {
        // A tree with an entry that would lie in a repository's own directory.
        let entry = format!("100644 blob {}\t.git\n", blob(COMMITTED.as_bytes()));
        let list = tree.path.join("target/list");
        write(&list, entry);
        let made = Command::new("sh")
            .args(["-c", "git mktree < target/list"])
            .current_dir(&tree.path)
            .output()
            .unwrap();
        assert!(made.status.success());
        let made = String::from_utf8(made.stdout).unwrap();
        let commit = tree.run(["commit-tree", "-p", "HEAD", "-m", "Evil", made.trim()]);
        tree.run(["update-ref", "HEAD", &commit]);
        fs::remove_file(list).unwrap();
    })
    .await;
    let Salvaged::No { why } = salvaged else {
        panic!("it may not go")
    };
    assert!(why.contains("cannot be taken over"), "{why}");
}

#[tokio::test]
async fn the_worktree_is_a_link() {
    let scene = Scene::new().await;
    let (tree, commit) = scene.worked("one").await;
    let before = scene.bytes();
    fs::rename(&tree.path, tree.path.with_file_name("moved")).unwrap();
    symlink(scene.world.seed(), &tree.path).unwrap();
    assert_eq!(scene.conclude(&tree).await, Salvaged::Yes);
    scene.is_unharmed(&before, &tree);
    let kept = scene.kept();
    assert!(kept.contains(commit.as_str()));
    assert!(kept.contains(blob(STAGED.as_bytes()).as_str()));
    assert!(scene.world.seed().join("README.md").exists());
}

#[tokio::test]
async fn very_many_refs_are_bounded() {
    let scene = Scene::new().await;
    let (tree, commit) = scene.worked("one").await;
    let before = scene.bytes();
    let dir = tree.repository().join("refs/heads/many");
    fs::create_dir(&dir).unwrap();
    for at in 0..5_000 {
        fs::write(dir.join(at.to_string()), format!("{commit}\n")).unwrap();
    }
    let begun = Instant::now();
    let facts = tree.facts().await.unwrap();
    assert_eq!(facts.commits, 1);
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(scene.conclude(&tree).await, Salvaged::Yes);
    scene.is_unharmed(&before, &tree);
}

#[tokio::test]
async fn our_own_index_is_cut_off() {
    // As a power cut leaves it.
    for left in [&b""[..], b"DIRC\0\0"] {
        let salvaged = leaves_files(|_, tree| fs::write(tree.began().index, left).unwrap()).await;
        assert_eq!(salvaged, Salvaged::Yes);
    }
}

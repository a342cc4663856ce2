//! What a person has in git since: a way back names it, and loses nothing of it; and repositories in the tree.

use std::fs;

use carson_loop::api::{self, Mine, RolledBack};
use carson_loop::config::Changes;
use carson_loop::error::LoopError;
use carson_loop::place::Layout;
use carson_loop::run::{self, Options, Step, Wish};

use crate::scene::{Scene, git};

/// A repository with `f` in its first commit, in which one attempt of a task was made.
async fn attempted(promise: &str, task: &str) -> Scene {
    let scene = Scene::new(promise, task);
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.write("f", "0\n");
    scene.repository().await;
    scene.run().await;
    scene
}

async fn back(scene: &Scene, mine: Mine) -> Result<RolledBack, LoopError> {
    api::rollback(&scene.place, &scene.caller, 0, mine).await
}

/// What a way back refuses to touch.
async fn refused(scene: &Scene) -> Vec<String> {
    match back(scene, Mine::Refuse).await {
        Err(LoopError::Edited { paths }) => paths,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_a_person_staged_since_is_refused_kept_or_given_up() {
    let scene = attempted("false", "echo 1 > g; git add g").await;
    // The only copy is in the index.
    scene.write("f", "precious\n");
    scene.git(&["add", "f"]).await;
    scene.write("f", "0\n");
    assert_eq!(refused(&scene).await, ["f (staged)"]);
    assert_eq!(scene.git(&["show", ":f"]).await, "precious\n");
    assert!(scene.has("g"), "nothing was done");
    let done = back(&scene, Mine::Keep).await.unwrap();
    assert_eq!(
        (done.kept, done.index),
        (vec!["f (staged)".to_owned()], true)
    );
    assert_eq!(scene.git(&["show", ":f"]).await, "precious\n");
    assert_eq!(scene.git(&["ls-files"]).await, "f\n", "g is of the attempt");
    scene.git(&["fsck"]).await;
    // It is a person's still.
    assert_eq!(refused(&scene).await, ["f (staged)"]);
    let done = back(&scene, Mine::Overwrite).await.unwrap();
    assert!(done.index && done.missed.is_empty(), "{done:?}");
    assert_eq!(scene.git(&["show", ":f"]).await, "0\n");
}

/// Whoever wrote a repository's settings may say how what it lacks is fetched.
#[tokio::test]
async fn a_way_back_starts_nothing_that_the_repository_names() {
    let scene = attempted("false", "echo 1 > g; git add g").await;
    scene.write("f", "precious\n");
    scene.git(&["add", "f"]).await;
    let tree = scene.git(&["rev-parse", "HEAD^{tree}"]).await;
    let (first, rest) = tree.trim().split_at(2);
    fs::remove_file(
        scene
            .place
            .root()
            .join(format!(".git/objects/{first}/{rest}")),
    )
    .unwrap();
    let ran = scene.place.root().join("ran");
    let starts = format!("touch {}; false", ran.display());
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "ssh://nowhere.invalid/x"),
        ("core.sshCommand", starts.as_str()),
    ] {
        scene.git(&["config", key, value]).await;
    }
    // Nobody can say what HEAD has: all that was staged is a person's.
    assert!(refused(&scene).await.contains(&"f (staged)".to_owned()));
    let _ = back(&scene, Mine::Overwrite).await;
    assert!(!ran.exists(), "the repository's own command was started");
}

#[tokio::test]
async fn marks_in_the_index_are_a_persons_and_what_is_committed_is_not_lost() {
    for mark in [
        &["update-index", "--skip-worktree", "f"][..],
        &["update-index", "--assume-unchanged", "f"],
        &["rm", "--quiet", "--cached", "f"],
    ] {
        let scene = attempted("false", "true").await;
        scene.git(mark).await;
        assert_eq!(refused(&scene).await, ["f (staged)"], "{mark:?}");
    }
    let scene = attempted("false", "echo 1 > f").await;
    scene.write("new", "");
    scene.git(&["add", "--intent-to-add", "new"]).await;
    assert_eq!(refused(&scene).await, ["new", "new (staged)"]);
    back(&scene, Mine::Keep).await.unwrap();
    assert_eq!(scene.git(&["status", "--short"]).await, " A new\n");

    let scene = attempted("false", "echo 1 > f").await;
    scene
        .git(&["commit", "--quiet", "--all", "--message", "mine"])
        .await;
    let done = back(&scene, Mine::Refuse).await.unwrap();
    assert_eq!(done.commits_since.len(), 1);
    assert_eq!(scene.git(&["show", "HEAD:f"]).await, "1\n");
    assert_eq!(scene.git(&["show", ":f"]).await, "0\n");
}

#[tokio::test]
async fn what_the_check_itself_stages_is_nobodys() {
    let scene = attempted("git add --all; false", "echo 1 > f").await;
    assert_eq!(scene.git(&["show", ":f"]).await, "1\n");
    let done = back(&scene, Mine::Refuse).await.unwrap();
    assert!(done.index, "{done:?}");
    assert_eq!(scene.git(&["show", ":f"]).await, "0\n");
}

#[tokio::test]
async fn a_merge_that_came_under_way_is_refused_and_named() {
    let scene = attempted("false", "echo 1 > g").await;
    scene.git(&["checkout", "--quiet", "-b", "other"]).await;
    scene.write("f", "other\n");
    scene
        .git(&["commit", "--quiet", "--all", "--message", "other"])
        .await;
    scene.git(&["checkout", "--quiet", "-"]).await;
    scene
        .git(&["merge", "--no-commit", "--no-ff", "--quiet", "other"])
        .await;
    assert_eq!(refused(&scene).await, ["f", "f (staged)"]);
    let done = back(&scene, Mine::Overwrite).await.unwrap();
    assert_eq!(
        done.missed,
        [".git/MERGE_HEAD: it came since, and stays: look at `git status`"]
    );
    assert!(scene.has(".git/MERGE_HEAD"));
}

#[tokio::test]
async fn an_index_that_was_not_there_goes_and_commits_on_a_new_branch_are_named() {
    let scene = Scene::new(
        "false",
        "git add f; git -c user.name=t -c user.email=t@t commit -qm first",
    );
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.write("f", "0\n");
    scene.git(&["init", "--quiet"]).await;
    scene.run().await;
    let done = back(&scene, Mine::Refuse).await.unwrap();
    assert!(done.commits_since[0].ends_with(" first"), "{done:?}");
    assert_eq!(scene.git(&["ls-files"]).await, "");
    assert!(!scene.has(".git/index") && !scene.has(".git/index.lock"));
}

#[tokio::test]
async fn in_a_reftable_it_is_said_that_commits_since_are_not_known() {
    let scene = Scene::new("false", "true");
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene
        .git(&["init", "--quiet", "--ref-format=reftable"])
        .await;
    scene.repository().await;
    scene.run().await;
    let done = back(&scene, Mine::Refuse).await.unwrap();
    assert!(done.commits_since[0].contains("reftable"), "{done:?}");
}

#[tokio::test]
async fn of_a_split_index_no_part_is_put_back() {
    let scene = attempted("false", "echo 1 > g; git add g").await;
    scene.git(&["update-index", "--split-index"]).await;
    scene.write("f", "precious\n");
    scene.git(&["add", "f"]).await;
    scene.write("f", "0\n");
    assert_eq!(refused(&scene).await, [".git/index"]);
    let done = back(&scene, Mine::Keep).await.unwrap();
    assert_eq!(
        (done.index, done.kept),
        (false, vec![".git/index".to_owned()])
    );
    assert_eq!(scene.git(&["show", ":f"]).await, "precious\n");
    assert_eq!(refused(&scene).await, [".git/index"]);
    assert!(back(&scene, Mine::Overwrite).await.unwrap().index);
    assert_eq!(scene.git(&["show", ":f"]).await, "0\n");
}

#[tokio::test]
async fn of_a_part_of_a_repository_the_same_is_so_for_that_part() {
    let scene = Scene::new("false", "echo 1 > f; git add f new");
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.write("f", "0\n");
    scene.write("new", "new\n");
    let top = tempfile::tempdir().unwrap();
    let part = top.path().join("part");
    fs::rename(&scene.root, &part).unwrap();
    fs::write(top.path().join("outside"), "o\n").unwrap();
    let git = async |args: &[&str]| git(top.path(), args).await;
    git(&["init", "--quiet"]).await;
    git(&["add", "outside", "part/f"]).await;
    git(&["commit", "--quiet", "--message", "first"]).await;
    git(&["add", "--intent-to-add", "part/new"]).await;
    let place = api::find(&part, Layout::Native).unwrap();
    let options = Options::default();
    run::run(&place, &scene.caller, &options, &scene.cancel, &mut |_| {})
        .await
        .unwrap();
    let back = async |mine| api::rollback(&place, &scene.caller, 0, mine).await;
    fs::write(top.path().join("outside"), "later\n").unwrap();
    git(&["add", "outside"]).await;
    fs::write(part.join("f"), "precious\n").unwrap();
    git(&["add", "part/f"]).await;
    fs::write(part.join("f"), "1\n").unwrap();
    let error = back(Mine::Refuse).await.unwrap_err();
    assert!(
        matches!(&error, LoopError::Edited { paths } if *paths == ["f (staged)"]),
        "{error}"
    );
    back(Mine::Keep).await.unwrap();
    assert_eq!(git(&["show", ":part/f"]).await, "precious\n");
    let done = back(Mine::Overwrite).await.unwrap();
    assert!(done.index && done.missed.is_empty(), "{done:?}");
    assert_eq!(git(&["show", ":part/f"]).await, "0\n");
    assert_eq!(git(&["show", ":outside"]).await, "later\n");
    assert_eq!(
        git(&["status", "--short", "part/new"]).await,
        " A part/new\n",
        "that it was to be added came back, too"
    );
    fs::rename(&part, &scene.root).unwrap();
}

#[tokio::test]
async fn repositories_in_the_tree_that_go_or_come_are_named() {
    let scene = Scene::new(
        "false",
        "rm -rf n; git init --quiet m; echo 1 > m/f; echo 1",
    );
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.write("n/f", "0\n");
    git(&scene.root.join("n"), &["init", "--quiet"]).await;
    let mut gone = Vec::new();
    let mut watch = |step: Step<'_>| {
        if let Step::RepositoryGone(top) = step {
            gone.push(top.to_owned());
        }
    };
    scene.watched(Wish::default(), &mut watch).await.unwrap();
    assert_eq!(gone, ["n"]);
    let done = back(&scene, Mine::Refuse).await.unwrap();
    assert_eq!(scene.read("n/f"), "0\n");
    let missed = [
        "n/.git: it is gone, and nothing of it was kept",
        "m/.git: it came since, and stays as it is",
    ];
    assert_eq!(done.missed, missed);
    assert!(scene.has("m/.git") && !scene.has("m/f"));
    let there = api::rollback(&scene.place, &scene.caller, 1, Mine::Refuse).await;
    assert_eq!(there.unwrap().missed, Vec::<String>::new());
}

#[tokio::test]
async fn what_a_person_made_of_directories_is_a_persons() {
    let scene = attempted("false", "echo 1 > f").await;
    fs::create_dir_all(scene.root.join("mine/empty")).unwrap();
    assert_eq!(refused(&scene).await, ["mine/empty"]);
    let done = back(&scene, Mine::Keep).await.unwrap();
    assert!(
        scene.has("mine/empty") && done.kept == ["mine/empty"],
        "{done:?}"
    );

    let scene = Scene::new("false", "rm -r d");
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.write("d/x", "0\n");
    scene.run().await;
    scene.write("d", "mine\n");
    let done = back(&scene, Mine::Keep).await.unwrap();
    assert_eq!(
        done.missed,
        ["d/x: something else stands where its directory was"]
    );
    assert_eq!(scene.read("d"), "mine\n");
}

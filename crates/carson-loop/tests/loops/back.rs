//! The way back: the tree byte for byte, the index, modes, deletions.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use carson_loop::api::{self, Mine};
use carson_loop::config::Changes;
use carson_loop::error::LoopError;

use crate::scene::{Scene, git};

/// Everything in a tree: kind, mode and bytes by path, without what git and Carson have there.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let (mut todo, mut found) = (vec![root.to_owned()], BTreeMap::new());
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(&dir).unwrap().map(|item| item.unwrap().path()) {
            let name = item.strip_prefix(root).unwrap().display().to_string();
            if [".git", ".carson"].contains(&name.as_str()) {
                continue;
            }
            let meta = item.symlink_metadata().unwrap();
            let mode = meta.permissions().mode();
            let what = match () {
                () if meta.is_dir() => {
                    todo.push(item);
                    String::new()
                }
                () if meta.is_symlink() => format!("{:?}", fs::read_link(&item).unwrap()),
                () => format!("{:?}", fs::read(&item).unwrap()),
            };
            found.insert(name, format!("{mode:o} {what}"));
        }
    }
    found
}

/// What three attempts do: each kind of change there is.
const TASK: &str = "case $CARSON_LOOP_ATTEMPT in
1) echo one > tracked; echo new > new; chmod 755 script; mkdir -p d/e; echo deep > d/e/f; git add tracked ;;
2) rm gone; mv moved elsewhere; ln -sfn two link; rm -r d; echo file > d; git add --all; git commit -qm second; echo staged > new; git add new; echo not > new ;;
3) git reset -q --hard HEAD~1; git clean -fdq; echo '*.new' >> .gitignore; echo hidden > x.new; chmod 500 empty; rm -f blob ;;
esac; echo attempt $CARSON_LOOP_ATTEMPT";

async fn three_attempts() -> (Scene, Vec<BTreeMap<String, String>>, Vec<String>) {
    let scene = Scene::new("false", TASK);
    for (name, text) in [
        ("tracked", "zero\n"),
        ("gone", "gone\n"),
        ("moved", "moved\n"),
        ("script", "#!/bin/sh\n"),
        (".gitignore", "*.log\n/build/\n"),
        ("build/out", "built\n"),
        ("x.log", "log\n"),
    ] {
        scene.write(name, text);
    }
    symlink("one", scene.root.join("link")).unwrap();
    scene.repository().await;
    // What is in no commit.
    scene.write("untracked", "mine\n");
    fs::write(scene.root.join("blob"), [0_u8, 255, 13, 10, 0]).unwrap();
    fs::create_dir(scene.root.join("empty")).unwrap();
    scene.write("tracked", "staged\n");
    scene.git(&["add", "tracked"]).await;
    scene.write("tracked", "unstaged\n");
    let three = Changes {
        max_attempts: Some(3),
        ..Changes::default()
    };
    scene.change(&three);
    let (mut trees, mut indexes) = (vec![tree(&scene.root)], vec![index(&scene.root).await]);
    let (root, place) = (scene.root.clone(), scene.place.clone());
    // The tree as each attempt leaves it is seen before the next begins: here, by stopping in between.
    for attempt in 1..=3 {
        let stop = Changes {
            max_attempts: Some(attempt),
            ..Changes::default()
        };
        scene.change(&stop);
        let wish = carson_loop::run::Wish {
            more: (attempt > 1).then_some(1),
            fresh: false,
        };
        scene.run_again(wish).await.unwrap();
        assert!(place.attempt(attempt).join("meta.json").exists());
        trees.push(tree(&root));
        indexes.push(index(&root).await);
    }
    (scene, trees, indexes)
}

/// What git says of the index: entries, and what is staged.
async fn index(root: &Path) -> String {
    git(root, &["ls-files", "--stage"]).await
}

#[tokio::test]
async fn every_attempt_is_brought_back_byte_for_byte_and_head_stays() {
    let (scene, trees, indexes) = three_attempts().await;
    let head = scene.git(&["rev-parse", "HEAD"]).await;
    let branch = scene.git(&["symbolic-ref", "HEAD"]).await;
    for attempt in [0, 2, 1, 3, 0, 3, 2] {
        let done = api::rollback(&scene.place, &scene.caller, attempt, Mine::Refuse)
            .await
            .unwrap();
        assert_eq!(done.missed, Vec::<String>::new(), "{attempt}");
        let wanted = &trees[usize::try_from(attempt).unwrap()];
        let found = tree(&scene.root);
        // What the third one ignored stays, as no checkpoint has it.
        let ours = |name: &&String| name.as_str() != "x.new" || attempt == 3;
        assert!(scene.has("x.new"), "{attempt}");
        let found: BTreeMap<_, _> = found.iter().filter(|(name, _)| ours(name)).collect();
        assert_eq!(found, wanted.iter().collect(), "{attempt}");
        assert_eq!(
            index(&scene.root).await,
            indexes[usize::try_from(attempt).unwrap()],
            "{attempt}"
        );
        assert_eq!(scene.git(&["rev-parse", "HEAD"]).await, head);
        assert_eq!(scene.git(&["symbolic-ref", "HEAD"]).await, branch);
    }
    scene.mode("empty", 0o700);
}

#[tokio::test]
async fn commits_since_are_named_and_stay() {
    let scene = Scene::new(
        "false",
        "echo $CARSON_LOOP_ATTEMPT > n; git add n; git commit -qm \"commit $CARSON_LOOP_ATTEMPT\"; echo $CARSON_LOOP_ATTEMPT",
    );
    scene.write("n", "0\n");
    scene.repository().await;
    let two = Changes {
        max_attempts: Some(2),
        ..Changes::default()
    };
    scene.change(&two);
    scene.run().await;
    let done = api::rollback(&scene.place, &scene.caller, 0, Mine::Refuse)
        .await
        .unwrap();
    let named: Vec<&str> = done
        .commits_since
        .iter()
        .map(|line| line.split_once(' ').unwrap().1)
        .collect();
    assert_eq!(named, ["commit 2", "commit 1"]);
    assert_eq!(scene.read("n"), "0\n");
    assert_eq!(scene.git(&["show", "HEAD:n"]).await, "2\n");
    assert_eq!(
        scene.git(&["diff", "--cached", "--name-only"]).await,
        "n\n",
        "the index is of then"
    );
}

#[tokio::test]
async fn a_persons_newer_edits_are_refused_kept_or_given_up() {
    let scene = Scene::new(
        "false",
        "echo $CARSON_LOOP_ATTEMPT > a; echo $CARSON_LOOP_ATTEMPT > b; rm -f c; echo $CARSON_LOOP_ATTEMPT",
    );
    for name in ["a", "b", "c"] {
        scene.write(name, "0\n");
    }
    let two = Changes {
        max_attempts: Some(2),
        ..Changes::default()
    };
    scene.change(&two);
    scene.run().await;
    scene.write("a", "mine\n");
    scene.write("new/mine", "mine\n");
    let refused = api::rollback(&scene.place, &scene.caller, 1, Mine::Refuse)
        .await
        .unwrap_err();
    let LoopError::Edited { paths } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(paths, &["a", "new/mine"]);
    assert_eq!(
        (scene.read("a").as_str(), scene.read("b").as_str()),
        ("mine\n", "2\n")
    );
    let done = api::rollback(&scene.place, &scene.caller, 0, Mine::Keep)
        .await
        .unwrap();
    assert_eq!(done.kept, ["a", "new/mine"]);
    assert_eq!(
        (scene.read("a").as_str(), scene.read("b").as_str()),
        ("mine\n", "0\n")
    );
    assert_eq!(
        (scene.read("c").as_str(), scene.read("new/mine").as_str()),
        ("0\n", "mine\n")
    );
    // What was kept is a person's still.
    scene.write("b", "mine\n");
    let refused = api::rollback(&scene.place, &scene.caller, 0, Mine::Refuse)
        .await
        .unwrap_err();
    let LoopError::Edited { paths } = &refused else {
        panic!("{refused}")
    };
    assert_eq!(paths, &["a", "b", "new/mine"]);
    let done = api::rollback(&scene.place, &scene.caller, 0, Mine::Overwrite)
        .await
        .unwrap();
    assert_eq!(done.missed, Vec::<String>::new());
    assert_eq!(
        (scene.read("a").as_str(), scene.read("b").as_str()),
        ("0\n", "0\n")
    );
    assert!(!scene.has("new"));
}

#[tokio::test]
async fn ignored_files_are_not_touched_whoever_ignores_them_when() {
    let scene = Scene::new(
        "false",
        "case $CARSON_LOOP_ATTEMPT in 1) echo 'cache/' > .gitignore;; 2) : > .gitignore;; esac; echo $CARSON_LOOP_ATTEMPT >> n; echo $CARSON_LOOP_ATTEMPT",
    );
    scene.write(".gitignore", "modules/\n");
    scene.write("modules/lib", "installed");
    scene.write("n", "");
    scene.repository().await;
    let two = Changes {
        max_attempts: Some(2),
        ..Changes::default()
    };
    scene.change(&two);
    scene.run().await;
    // Nothing ignores it now; then it was ignored.
    scene.write("modules/more", "installed since");
    let done = api::rollback(&scene.place, &scene.caller, 0, Mine::Overwrite)
        .await
        .unwrap();
    assert_eq!(done.missed, Vec::<String>::new());
    assert_eq!(scene.read(".gitignore"), "modules/\n");
    assert!(scene.has("modules/lib") && scene.has("modules/more"));
    api::rollback(&scene.place, &scene.caller, 1, Mine::Refuse)
        .await
        .unwrap();
    assert_eq!(scene.read(".gitignore"), "cache/\n");
    scene.write("cache/made", "cached");
    api::rollback(&scene.place, &scene.caller, 0, Mine::Refuse)
        .await
        .unwrap();
    assert!(scene.has("cache/made"), "it was ignored when it came");
    // Nor does any later way back touch what the first one made visible, and what a person makes of it.
    scene.write("cache/made", "made anew");
    for attempt in [0, 2, 0] {
        let done = api::rollback(&scene.place, &scene.caller, attempt, Mine::Refuse).await;
        assert_eq!(done.unwrap().missed, Vec::<String>::new());
        assert_eq!(scene.read("cache/made"), "made anew");
    }
}

#[tokio::test]
async fn what_an_attempt_ignored_and_changed_is_left_and_told() {
    let scene = Scene::new(
        "false",
        "case $CARSON_LOOP_ATTEMPT in 1) mkdir d; echo 1 > d/kept; echo 1 > data; echo '*.new' > .gitignore; echo n > d/x.new;; \
         2) echo data >> .gitignore; echo 2 > data;; esac; echo $CARSON_LOOP_ATTEMPT",
    );
    let two = Changes {
        max_attempts: Some(2),
        ..Changes::default()
    };
    scene.change(&two);
    scene.run().await;
    // No checkpoint has what it is now.
    let back = async |attempt| {
        let done = api::rollback(&scene.place, &scene.caller, attempt, Mine::Refuse).await;
        let done = done.unwrap();
        [done.missed, done.paths].map(|told| told.join(", "))
    };
    let missed = "data: it is ignored, and was left as it is";
    assert_eq!(back(1).await, [missed, ".gitignore changed back"]);
    assert_eq!(back(1).await, [missed, ""]);
    assert_eq!(back(2).await, ["", ".gitignore changed back"]);
    assert_eq!(back(0).await, ["", ".gitignore went, d/kept went"]);
    assert!(!scene.has("d/kept"));
    assert_eq!(
        (scene.read("data").as_str(), scene.read("d/x.new").as_str()),
        ("2\n", "n\n")
    );
    // From the next attempt on they are files like others, and kept.
    let one = carson_loop::run::Wish {
        more: Some(1),
        fresh: false,
    };
    scene.run_again(one).await.unwrap();
    assert_eq!(back(1).await[0], "");
    assert_eq!(scene.read("data"), "1\n");
    assert_eq!(back(3).await[0], "");
    assert_eq!(scene.read("data"), "2\n");
}

#[tokio::test]
async fn without_a_repository_and_in_a_part_of_one_it_is_the_same() {
    for in_repository in [false, true] {
        let scene = Scene::new(
            "false",
            "echo $CARSON_LOOP_ATTEMPT > a; chmod 700 a; rm -f b; echo $CARSON_LOOP_ATTEMPT",
        );
        let top = tempfile::tempdir().unwrap();
        scene.write("a", "0\n");
        scene.write("b", "0\n");
        let one = Changes {
            max_attempts: Some(1),
            ..Changes::default()
        };
        scene.change(&one);
        let part = top.path().join("part");
        let moved = if in_repository {
            fs::rename(&scene.root, &part).unwrap();
            git(top.path(), &["init", "--quiet"]).await;
            fs::write(top.path().join("outside"), "o").unwrap();
            git(top.path(), &["add", "--all"]).await;
            api::find(&part, carson_loop::place::Layout::Native).unwrap()
        } else {
            scene.place.clone()
        };
        let before = tree(moved.root());
        let options = carson_loop::run::Options::default();
        carson_loop::run::run(&moved, &scene.caller, &options, &scene.cancel, &mut |_| {})
            .await
            .unwrap();
        assert_ne!(tree(moved.root()), before);
        if in_repository {
            git(top.path(), &["add", "--all"]).await;
            fs::write(top.path().join("outside"), "later").unwrap();
            git(top.path(), &["add", "outside"]).await;
        }
        // What a person staged since is given up.
        let done = api::rollback(&moved, &scene.caller, 0, Mine::Overwrite)
            .await
            .unwrap();
        assert_eq!(tree(moved.root()), before);
        assert_eq!(done.index, in_repository);
        if in_repository {
            let staged = git(top.path(), &["status", "--short", "part"]).await;
            assert_eq!(staged, "A  part/a\nA  part/b\n");
            let outside = git(top.path(), &["show", ":outside"]).await;
            assert_eq!(outside, "later", "what the index has elsewhere stays");
            fs::rename(&part, &scene.root).unwrap();
        }
    }
}

#[tokio::test]
async fn what_there_is_no_checkpoint_of_is_said() {
    let scene = Scene::new("false", "echo $CARSON_LOOP_ATTEMPT");
    let error = api::rollback(&scene.place, &scene.caller, 0, Mine::Refuse)
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("nothing was attempted yet"),
        "{error}"
    );
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    scene.run().await;
    let error = api::rollback(&scene.place, &scene.caller, 7, Mine::Refuse)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("there are 1 to 1"), "{error}");
}

#[tokio::test]
async fn odd_trees_hold_nothing_up_and_what_cannot_be_kept_is_told() {
    let scene = Scene::new(
        "false",
        "rm -f pipe closed/file; echo changed > closed-file; echo $CARSON_LOOP_ATTEMPT",
    );
    nix::unistd::mkfifo(&scene.root.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(scene.root.join("socket")).unwrap();
    scene.write("closed/file", "kept\n");
    scene.write("closed-file", "before\n");
    let sparse = fs::File::create(scene.root.join("sparse")).unwrap();
    sparse.set_len(8 << 30).unwrap();
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    let mut told = Vec::new();
    let mut watch = |step: carson_loop::run::Step<'_>| {
        if let carson_loop::run::Step::NotKept(count, first) = step {
            told.push(format!("{count} {first}"));
        }
    };
    scene
        .watched(carson_loop::run::Wish::default(), &mut watch)
        .await
        .unwrap();
    assert_eq!(told[0], "1 sparse: it has more than 1024 MiB", "{told:?}");
    scene.mode("closed", 0o500);
    let done = api::rollback(&scene.place, &scene.caller, 0, Mine::Overwrite)
        .await
        .unwrap();
    assert_eq!(done.missed, Vec::<String>::new());
    assert_eq!(scene.read("closed/file"), "kept\n");
    assert_eq!(scene.read("closed-file"), "before\n");
    let pipe = scene.root.join("pipe").symlink_metadata().unwrap();
    assert!(std::os::unix::fs::FileTypeExt::is_fifo(&pipe.file_type()));
}

#[tokio::test]
async fn a_repository_that_went_is_named_and_nothing_is_said_to_be_as_it_was() {
    let scene = Scene::new("false", "rm -rf .git; echo 1");
    scene.write("a", "a");
    scene.repository().await;
    let one = Changes {
        max_attempts: Some(1),
        ..Changes::default()
    };
    scene.change(&one);
    let mut told = Vec::new();
    let mut watch = |step: carson_loop::run::Step<'_>| {
        if let carson_loop::run::Step::RepositoryGone(top) = step {
            told.push(top.to_owned());
        }
    };
    let wish = carson_loop::run::Wish::default();
    scene.watched(wish, &mut watch).await.unwrap();
    assert_eq!(told, [scene.root.display().to_string()]);
    let back = async || {
        let done = api::rollback(&scene.place, &scene.caller, 0, Mine::Refuse).await;
        done.unwrap().missed
    };
    let missed = back().await;
    assert!(
        missed[0].starts_with(".git: the repository is gone"),
        "{missed:?}"
    );
    // Another one is not the one that was.
    scene.repository().await;
    assert_eq!(back().await, Vec::<String>::new());
}

#[tokio::test]
async fn no_checkpoint_brings_anything_into_a_repository_s_own_files() {
    for own in [
        ".git/hooks/post-checkout",
        "sub/.GIT/hooks/x",
        "git~1/config",
        ".carson/loop/config.json",
    ] {
        let scene = Scene::new("false", "echo 2 > g; echo 1");
        scene.write("f", "#!/bin/sh\n");
        scene.repository().await;
        let one = Changes {
            max_attempts: Some(1),
            ..Changes::default()
        };
        scene.change(&one);
        scene.run().await;
        let file = ".carson/loop/checkpoints/000.json";
        let forged = scene
            .read(file)
            .replace("\"path\":\"f\"", &format!("\"path\":\"{own}\""));
        scene.write(file, &forged);
        let before = scene.read("f");
        let done = api::rollback(&scene.place, &scene.caller, 0, Mine::Overwrite).await;
        let error = done.unwrap_err().to_string();
        assert!(error.contains("in no checkpoint"), "{error}");
        assert!(scene.read("f") == before && !scene.has(".git/hooks/post-checkout"));
    }
}

#[tokio::test]
async fn a_link_in_the_place_of_any_of_its_files_is_refused_and_leads_nobody_anywhere() {
    let victim = tempfile::tempdir().unwrap();
    let important = victim.path().join("rc");
    for name in [
        "lock",
        "edit.lock",
        "mark",
        "events.jsonl",
        "state.json",
        "config.json",
        "attempts",
        "checkpoints",
        "runs",
    ] {
        let scene = Scene::new("false", "echo hi");
        let one = Changes {
            max_attempts: Some(1),
            ..Changes::default()
        };
        scene.change(&one);
        if name == "runs" {
            scene.run().await;
        }
        fs::write(&important, "important").unwrap();
        let file = scene.place.dir().join(name);
        let is_dir = ["attempts", "checkpoints", "runs"].contains(&name);
        let _ = fs::remove_file(&file);
        let _ = fs::remove_dir_all(&file);
        let to = if is_dir {
            victim.path()
        } else {
            important.as_path()
        };
        std::os::unix::fs::symlink(to, &file).unwrap();
        let refused = match name {
            "edit.lock" => api::update(&scene.place, &scene.caller, &one).map(drop),
            "runs" => {
                let fresh = carson_loop::run::Wish {
                    more: None,
                    fresh: true,
                };
                scene.run_again(fresh).await.map(drop)
            }
            _ => scene
                .run_again(carson_loop::run::Wish::default())
                .await
                .map(drop),
        };
        let error = refused.unwrap_err().to_string();
        assert!(
            error.contains("is a link") && error.contains(name),
            "{name}: {error}"
        );
        assert_eq!(
            fs::read_to_string(&important).unwrap(),
            "important",
            "{name}"
        );
        assert_eq!(fs::read_dir(victim.path()).unwrap().count(), 1, "{name}");
    }
}

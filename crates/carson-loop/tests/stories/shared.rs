//! What a run shares with whoever works beside it: other work trees, remotes, the stash; and the index, which a person's next
//! commit is made of.

use carson_loop::stories::native::{Asked, Place, run};
use serde_json::json;

use crate::tree::{Ran, Tree, story};

async fn once(tree: &Tree, script: &str) -> Ran {
    let asked = Asked {
        max_attempts: Some(1),
        ..Asked::default()
    };
    tree.plan(&[story("S-1", json!({}))]);
    tree.run_as(script, asked).await
}

/// With a work tree `linked` beside it, on the branch `linked`; `here` is the one of the two that stories run in.
async fn two(here: &str) -> Tree {
    let tree = Tree::new().await;
    tree.git("worktree add -q ../linked -b linked").await;
    Tree {
        root: tree.outside().canonicalize().unwrap().join(here),
        ..tree
    }
}

/// What a person does in one work tree while an attempt that fails runs in the other.
#[tokio::test]
async fn who_works_in_another_work_tree_loses_nothing() {
    for (here, there) in [("linked", "tree"), ("tree", "linked")] {
        for (script, asked, right) in [
            (
                "echo staged > src/keep.txt; git add src/keep.txt; echo x > src/keep.txt",
                "show :src/keep.txt",
                "staged\n",
            ),
            (
                "git checkout -q -b side; echo s > s; git add s; git commit -q -m s; git checkout -q -; git commit -q \
                 --allow-empty -m m; git merge -q --no-commit side; git branch -D side",
                "log -1 --format=%s MERGE_HEAD",
                "s\n",
            ),
            (
                "echo u > src/u; git add src/u; git commit -q -m user",
                "log -1 --format=%s",
                "user\n",
            ),
            (
                "git commit -q --allow-empty -m user; git pack-refs --all",
                "log -1 --format=%s",
                "user\n",
            ),
            (
                "git checkout -q -b other; git commit -q --allow-empty -m user",
                "log -1 --format=%s other",
                "user\n",
            ),
        ] {
            for end in ["exit 1", "echo x > src/new"] {
                let tree = two(here).await;
                let before = tree.snapshot();
                let ran = once(&tree, &format!("(cd ../{there}; {script}) >&2; {end}")).await;
                let outcome = match end {
                    "exit 1" => "tool_failed",
                    _ => "out_of_scope",
                };
                assert_eq!(
                    ran.outcomes(),
                    [outcome],
                    "{here}: {script}: {:?}",
                    ran.why()
                );
                assert!(ran.came.is_ok(), "{here}: {script}: {:?}", ran.came);
                let said = tree.git(&format!("-C ../{there} {asked}")).await;
                assert_eq!(said, right, "{here}: {script}");
                assert!(tree.changes(&before).is_empty(), "{here}: {script}");
                tree.hold();
            }
        }
    }
}

/// A promise may run what the executor wrote: of what it does, a person's work beside it stays, and nothing else.
#[tokio::test]
async fn what_a_promise_does_to_refs_is_put_back_and_others_stay() {
    let tree = two("tree").await;
    let stashed = with_stashes(&tree).await;
    let promise = "git branch evil; git stash clear; git pack-refs --all; cd ../linked; git commit -q --allow-empty -m user";
    tree.plan(&[story("S-1", json!({"promise": promise}))]);
    let ran = tree.run("echo x > docs/x").await;
    assert_eq!(ran.outcomes(), ["passed"], "{:?} {:?}", ran.why(), ran.came);
    assert_eq!(tree.git("for-each-ref refs/heads/evil").await, "");
    let now = tree.git("log -g --format=%H,%gd,%gs refs/stash --").await;
    assert_eq!(now, stashed);
    assert_eq!(tree.git("log -1 --format=%s linked").await, "user\n");
    assert_eq!(tree.git("log -1 --format=%s main").await, "second\n");
}

/// Only branches of work trees that were there are theirs.
#[tokio::test]
async fn a_work_tree_that_an_executor_makes_hides_no_branch() {
    let tree = two("tree").await;
    let ran = once(&tree, "git worktree add -q ../made -b made").await;
    assert_eq!(ran.why(), ["refs/heads/made was changed"]);
    let refs = tree.git("for-each-ref refs/heads/made").await;
    assert_eq!(refs, "");
}

async fn with_stashes(tree: &Tree) -> String {
    for text in ["one", "two", "three"] {
        tree.write("docs/a.md", text);
        tree.git("stash -q").await;
    }
    tree.git("log -g --format=%H,%gd,%gs refs/stash --").await
}

#[tokio::test]
async fn nothing_that_was_stashed_is_lost_and_nothing_is_that_was_not() {
    for packed in [false, true] {
        for script in [
            "git stash clear",
            "git stash drop -q stash@{1}",
            "git stash drop -q",
            "git stash pop -q; git checkout -q docs",
            "echo x > docs/a.md; git stash -q",
            "git stash clear; echo x > docs/a.md; git stash -q; echo y > docs/a.md; git stash -q",
            "rm .git/logs/refs/stash",
        ] {
            let tree = Tree::new().await;
            let stashed = with_stashes(&tree).await;
            if packed {
                tree.git("pack-refs --all").await;
            }
            let ran = once(&tree, script).await;
            assert_eq!(ran.outcomes(), ["out_of_scope"], "{script}: {:?}", ran.came);
            let why = ran.why();
            assert!(
                why.contains(&"refs/stash was changed".to_owned()),
                "{script}: {why:?}"
            );
            assert!(ran.came.is_ok(), "{script}: {:?}", ran.came);
            let now = tree.git("log -g --format=%H,%gd,%gs refs/stash --").await;
            assert_eq!(now, stashed, "{script}, packed: {packed}");
            assert_eq!(
                tree.git("show stash@{1}:docs/a.md").await,
                "two",
                "{script}"
            );
            let kept = tree.git("for-each-ref refs/carson/stories").await;
            assert_eq!(
                kept.lines().count(),
                script.matches("git stash -q").count(),
                "{script}: {kept}"
            );
        }
    }
    // The first one there is, and it goes without a trace.
    let tree = Tree::new().await;
    let ran = once(&tree, "echo x > docs/a.md; git stash -q").await;
    assert_eq!(ran.why(), ["refs/stash was changed"]);
    assert_eq!(tree.git("stash list").await, "");
    assert!(!tree.has(".git/logs/refs/stash"));
    assert_eq!(
        tree.git("show refs/carson/stories/S-1-1:docs/a.md").await,
        "x\n"
    );
}

/// The refs, but those that keep what was undone.
async fn own_refs(tree: &Tree) -> Vec<String> {
    let refs = tree.git("for-each-ref").await;
    let own = refs.lines().filter(|line| !line.contains("refs/carson/"));
    own.map(str::to_owned).collect()
}

/// In a repository whose refs stand in tables, no ref is a file.
#[tokio::test]
async fn a_reftable_is_put_back_ref_by_ref() {
    let tree = Tree::bare();
    // Git has them since 2.45.
    let version = tree.git("--version").await;
    let minor = version
        .split('.')
        .nth(1)
        .and_then(|minor| minor.parse::<u32>().ok());
    if version.contains(" 2.") && minor.is_none_or(|minor| minor < 45) {
        return;
    }
    tree.git("init -q -b main --ref-format=reftable").await;
    tree.git("add .").await;
    tree.git("commit -q -m first").await;
    let stashed = with_stashes(&tree).await;
    let commit = "echo x >> docs/a.md; git commit -q -m in docs";
    let ran = once(&tree, commit).await;
    assert_eq!(ran.outcomes(), ["passed"], "{:?}", ran.why());
    assert_eq!(tree.git("log -1 --format=%s").await, "in\n");
    let refs = own_refs(&tree).await;
    for script in [
        "git branch other",
        "git checkout -q -b other",
        "git checkout -q --detach",
        "git reset -q --hard HEAD~1",
        "git stash clear",
        "git stash drop -q stash@{1}",
        "echo x > src/new; git add src; git commit -q -m out",
        "git tag v1; git gc -q",
    ] {
        let ran = once(&tree, script).await;
        assert_eq!(ran.outcomes(), ["out_of_scope"], "{script}: {:?}", ran.came);
        assert!(ran.came.is_ok(), "{script}: {:?}", ran.came);
        assert_eq!(tree.git("symbolic-ref HEAD").await, "refs/heads/main\n");
        let now = own_refs(&tree).await;
        assert_eq!(now, refs, "{script}");
        let now = tree.git("log -g --format=%H,%gd,%gs refs/stash --").await;
        assert_eq!(now, stashed, "{script}");
    }
}

#[tokio::test]
async fn what_a_fetch_moved_stays_moved() {
    for (end, outcome) in [("true", "passed"), ("exit 1", "tool_failed")] {
        let tree = Tree::new().await;
        tree.git("clone -q --bare . ../origin").await;
        tree.git("remote add origin ../origin").await;
        tree.git("fetch -q origin").await;
        tree.git("clone -q ../origin ../other").await;
        tree.git("-C ../other commit -q --allow-empty -m theirs")
            .await;
        tree.git("-C ../other push -q").await;
        let ran = once(
            &tree,
            &format!("git fetch -q origin; git pack-refs --all; {end}"),
        )
        .await;
        assert_eq!(ran.outcomes(), [outcome], "{:?} {:?}", ran.why(), ran.came);
        assert_eq!(tree.git("log -1 --format=%s origin/main").await, "theirs\n");
        assert_eq!(tree.git("log -1 --format=%s main").await, "second\n");
    }
}

/// What a git that was ended left would keep every other one from working.
#[tokio::test]
async fn no_lock_stays() {
    let tree = Tree::new().await;
    for lock in ["packed-refs.lock", "refs/heads/main.lock", "index.lock"] {
        let ran = once(&tree, &format!("touch .git/{lock}; exit 1")).await;
        assert_eq!(ran.outcomes(), ["tool_failed"], "{lock}: {:?}", ran.why());
        assert!(
            ran.came.is_ok() && !tree.has(&format!(".git/{lock}")),
            "{lock}"
        );
    }
}

/// Paths of commits and of the index are from the top of the work tree, those of a scope from the top of the stories' tree.
#[tokio::test]
async fn a_tree_below_the_top_has_its_own_paths() {
    let tree = Tree::new().await;
    let part = Tree {
        root: tree.root.join("part"),
        ..tree
    };
    part.write("docs/a.md", "a\n");
    part.git("add .").await;
    part.git("commit -q -m part").await;
    part.plan(&[story("S-1", json!({}))]);
    let place = Place::find(
        &part.root.join("stories.json"),
        Some(&part.root),
        &part.root,
    )
    .unwrap();
    for (script, right) in [
        (
            "git rm -q --cached ../src/keep.txt",
            Err("src/keep.txt (taken out in the index) is outside of its scope"),
        ),
        (
            "echo x > ../docs/a.md; git commit -q -m out ../docs",
            Err("a commit changes docs/a.md, which is outside of its scope"),
        ),
        (
            "echo x > docs/a.md; git add docs stories.json; git commit -q -m in",
            Ok(()),
        ),
    ] {
        part.plan(&[story("S-1", json!({}))]);
        let asked = Asked {
            executor: Some(part.executor(script)),
            max_attempts: Some(1),
            ..Asked::default()
        };
        let mut told = Vec::new();
        let came = run(&place, &asked, &part.given(), &mut |one| told.push(one)).await;
        let ran = Ran { came, told };
        match right {
            Ok(()) => assert_eq!(ran.outcomes(), ["passed"], "{:?} {:?}", ran.why(), ran.came),
            Err(why) => assert!(
                ran.why().contains(&why.to_owned()),
                "{script}: {:?}",
                ran.why()
            ),
        }
    }
}

#[tokio::test]
async fn a_name_for_the_branch_is_not_another_branch() {
    let tree = Tree::new().await;
    tree.git("symbolic-ref refs/heads/alias refs/heads/main")
        .await;
    let ran = once(&tree, "echo x >> docs/a.md; git commit -q -m in docs").await;
    assert_eq!(ran.outcomes(), ["passed"], "{:?}", ran.why());
    let ran = once(&tree, "git symbolic-ref refs/heads/alias refs/heads/none").await;
    assert_eq!(ran.why(), ["refs/heads/alias was changed"]);
    let named = tree.git("symbolic-ref refs/heads/alias").await;
    assert_eq!(named, "refs/heads/main\n");
}

/// What stands in the index out of the scope would be in the next commit that a person makes.
#[tokio::test]
async fn nothing_is_smuggled_through_the_index() {
    let tree = Tree::new().await;
    let staged = tree.git("ls-files --stage -v").await;
    for (script, right) in [
        (
            "git update-index --cacheinfo 100644,$(git hash-object -w docs/a.md),src/keep.txt",
            "src/keep.txt (changed in the index) is outside of its scope",
        ),
        (
            "git update-index --add --cacheinfo 100644,$(git hash-object -w docs/a.md),src/new",
            "src/new (added in the index) is outside of its scope",
        ),
        (
            "git rm -q --cached src/keep.txt",
            "src/keep.txt (taken out in the index) is outside of its scope",
        ),
        (
            "git update-index --chmod=+x src/keep.txt",
            "src/keep.txt (changed in the index) is outside of its scope",
        ),
        (
            "git update-index --assume-unchanged src/keep.txt",
            "src/keep.txt was hidden from git (assume-unchanged, skip-worktree)",
        ),
        (
            "echo x > docs/a.md; git update-index --skip-worktree docs/a.md",
            "docs/a.md was hidden from git (assume-unchanged, skip-worktree)",
        ),
        (
            "git update-index --add --cacheinfo 100644,$(git hash-object -w docs/a.md),stories.json",
            "stories.json (added in the index) is outside of its scope",
        ),
        (
            "rm .git/index",
            "src/keep.txt (taken out in the index) is outside of its scope",
        ),
        (
            "echo garbage > .git/index",
            "the index cannot be read any more",
        ),
    ] {
        let ran = once(&tree, script).await;
        assert_eq!(ran.outcomes(), ["out_of_scope"], "{script}: {:?}", ran.came);
        assert!(
            ran.why().contains(&right.to_owned()),
            "{script}: {:?}",
            ran.why()
        );
        assert_eq!(tree.git("ls-files --stage -v").await, staged, "{script}");
    }
    for script in [
        "echo x > docs/new; git add docs; git rm -q --cached docs/a.md",
        "git add -f stories.json; touch -d @1 src/keep.txt; git status",
    ] {
        let ran = once(&tree, script).await;
        assert_eq!(ran.outcomes(), ["passed"], "{script}: {:?}", ran.why());
    }
}

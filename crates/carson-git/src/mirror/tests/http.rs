//! A remote over HTTP.

#[path = "../../../../../tests/src/http_remote.rs"]
#[expect(
    unreachable_pub,
    reason = "it is public in the crate that it belongs to"
)]
mod http_remote;

use super::*;
use http_remote::serve;

#[tokio::test]
async fn a_remote_over_http_is_asked_cloned_and_pushed_to() {
    let world = World::bare();
    let url = serve(world.dir.path().to_owned()) + "/origin.git";
    let at = world.mirror.path().to_owned();
    let mirror = Mirror::at(at, url, Inspector::here());
    // As doctor does, before there is a clone.
    mirror.check_base("main").await.unwrap();
    let missing = mirror.check_base("develop").await.unwrap_err();
    assert!(matches!(missing, GitError::BaseMissing { .. }), "{missing}");
    mirror.refresh().await.unwrap();
    mirror.refresh().await.unwrap();
    let base = mirror.resolve("main").await.unwrap();
    let world = World { mirror, ..world };
    let tree = world.worktree_at("one", &base).await;
    tree.put("a", "1");
    let tip = tree.commit_seen("Work").await;
    world.push(&tree.branch).await.unwrap();
    let there = world.mirror.remote_head(&tree.branch).await.unwrap();
    assert_eq!(there, Some(tip));
}

/// What cannot be worked with says so, on this machine and over HTTP, and is never called empty.
#[tokio::test]
async fn a_shallow_or_sha256_remote_says_what_it_is() {
    let world = World::bare();
    let dir = world.dir.path();
    world.upstream("main", "b", "b");
    let from = format!("file://{}", world.origin().display());
    let shallow = [
        "clone",
        "--quiet",
        "--bare",
        "--depth=1",
        &from,
        "shallow.git",
    ];
    git(dir, shallow);
    let cloned = ["clone", "--quiet", "--depth=1", &from, "shallow"];
    git(dir, cloned);
    let other = dir.join("other");
    fs::create_dir(&other).unwrap();
    git(&other, ["init", "--quiet", "--object-format=sha256"]);
    git(
        &other,
        ["commit", "--quiet", "--allow-empty", "-m", "Begin"],
    );
    let served = serve(dir.to_owned());
    let here = dir.display();
    for (at, url) in [
        format!("{here}/shallow.git"),
        format!("{here}/shallow"),
        format!("file://{here}/shallow.git"),
        format!("{served}/shallow.git"),
    ]
    .iter()
    .enumerate()
    {
        let path = dir.join(format!("home/{at}.git"));
        let mirror = Mirror::at(path, url, Inspector::here());
        // Over HTTP nobody can know before a fetch.
        if !url.starts_with("http") {
            let told = mirror.check_base("main").await.unwrap_err();
            assert!(matches!(told, GitError::Shallow { .. }), "{url}: {told}");
        }
        let told = mirror.refresh().await.unwrap_err();
        assert!(matches!(told, GitError::Shallow { .. }), "{url}: {told}");
        assert!(told.hint().contains("--unshallow") && !mirror.path().exists());
    }
    for url in [format!("{here}/other"), format!("{served}/other/.git")] {
        let mirror = Mirror::at(dir.join("home/other.git"), &url, Inspector::here());
        let asked = mirror.check_base("main").await.unwrap_err();
        let fetched = mirror.refresh().await.unwrap_err();
        for told in [asked, fetched] {
            assert!(matches!(told, GitError::Sha256 { .. }), "{url}: {told}");
            assert!(!mirror.path().exists());
        }
    }
}

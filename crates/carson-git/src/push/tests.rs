//! Pushes to real remotes, and one real answer of a web server.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread::JoinHandle;

use carson_proc::inspector::Inspector;

use super::*;
use crate::fixture::{World, git, write};
use crate::{Credential, Remote};

#[tokio::test]
async fn a_push_says_what_it_did() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.commit_seen("First").await;
    assert_eq!(world.mirror.remote_head(&tree.branch).await.unwrap(), None);
    assert_eq!(world.push(&tree.branch).await.unwrap(), Pushed::Created);
    assert_eq!(world.push(&tree.branch).await.unwrap(), Pushed::UpToDate);
    tree.put("a", "2");
    let tip = tree.commit_seen("Second").await;
    assert_eq!(world.push(&tree.branch).await.unwrap(), Pushed::Updated);
    assert_eq!(
        world.mirror.remote_head(&tree.branch).await.unwrap(),
        Some(tip)
    );
}

#[tokio::test]
async fn a_branch_that_was_deleted_there_is_pushed_again() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.commit_seen("First").await;
    world.push(&tree.branch).await.unwrap();
    git(&world.origin(), ["branch", "--quiet", "-D", &tree.branch]);
    assert_eq!(world.push(&tree.branch).await.unwrap(), Pushed::Created);
}

#[tokio::test]
async fn a_protected_branch_is_refused_before_anybody_is_asked() {
    let world = World::bare();
    // There is not even a mirror: a process would have failed otherwise.
    let protected = ["main".to_owned(), "release/*".to_owned()];
    for branch in ["main", "release/1.0"] {
        let nothing = "0".repeat(40).parse().unwrap();
        let refused = world.kept().push(branch, &nothing, &protected).await;
        assert!(matches!(refused, Err(GitError::Protected { .. })));
    }
}

/// Work may start from another branch: what the forge shows first, and deploys, is not changed either.
#[tokio::test]
async fn the_default_branch_of_the_forge_is_protected_whatever_the_base_is() {
    let world = World::new().await;
    let before = world.upstream("trunk", "a", "1");
    world.upstream("develop", "a", "2");
    git(
        &world.origin(),
        ["symbolic-ref", "HEAD", "refs/heads/trunk"],
    );
    let tree = world.worktree("one").await;
    tree.put("b", "1");
    let tip = tree.commit_seen("Work").await;
    let protected = ["develop".to_owned()];
    let refused = world.kept().push("trunk", &tip, &protected).await;
    assert!(
        matches!(&refused, Err(GitError::Protected { branch }) if branch == "trunk"),
        "{refused:?}"
    );
    let refused = world
        .mirror
        .delete_branch("trunk", &before, &protected)
        .await;
    assert!(matches!(refused, Err(GitError::Protected { .. })));
    assert_eq!(
        world.mirror.remote_head("trunk").await.unwrap(),
        Some(before)
    );
    // A branch of somebody's, which their pull request offers, is none of those.
    let theirs = world.kept().push("feature/x", &tip, &protected).await;
    assert_eq!(theirs.unwrap(), Pushed::Created);
}

#[tokio::test]
async fn what_a_hook_of_the_remote_says_is_the_reason() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.commit_seen("Work").await;
    let hook = world.origin().join("hooks/pre-receive");
    write(
        &hook,
        "#!/bin/sh\necho 'no commits on Sundays' >&2\nexit 1\n",
    );
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let error = world.push(&tree.branch).await.unwrap_err();
    let GitError::PushRejected { detail, .. } = &error else {
        panic!("{error}")
    };
    assert!(detail.contains("no commits on Sundays"), "{detail}");
    assert!(detail.contains("pre-receive"), "{detail}");
}

/// The remote deals with the push of who was killed while the next one comes: theirs arrives first.
#[tokio::test]
async fn a_push_that_arrives_by_another_is_no_refusal() {
    let world = World::new().await;
    let other = world.upstream("main", "b", "2");
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let tip = tree.commit_seen("First").await;
    let hook = world.origin().join("hooks/update");
    let text = format!("#!/bin/sh\nunset GIT_QUARANTINE_PATH\nexec git update-ref $1 {tip}\n");
    write(&hook, &text);
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    // Its object is there already, as the other push brought it.
    git(
        &world.origin(),
        [
            "fetch",
            "--quiet",
            world.kept().path().to_str().unwrap(),
            &tree.branch,
        ],
    );
    assert_eq!(world.push(&tree.branch).await.unwrap(), Pushed::UpToDate);
    assert_eq!(
        world.mirror.remote_head(&tree.branch).await.unwrap(),
        Some(tip)
    );
    // Where something else arrived, it is one.
    let text = format!("#!/bin/sh\nunset GIT_QUARANTINE_PATH\nexec git update-ref $1 {other}\n");
    write(&hook, &text);
    tree.put("a", "2");
    tree.commit_seen("Second").await;
    let refused = world.push(&tree.branch).await;
    assert!(
        matches!(refused, Err(GitError::PushRejected { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn nothing_is_ever_forced() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    let theirs = world.upstream(&tree.branch, "theirs", "theirs");
    tree.put("a", "1");
    tree.commit_seen("Work").await;
    let error = world.push(&tree.branch).await.unwrap_err();
    assert!(matches!(error, GitError::PushRejected { .. }), "{error}");
    assert_eq!(
        world.mirror.remote_head(&tree.branch).await.unwrap(),
        Some(theirs)
    );
}

#[tokio::test]
async fn the_operators_checkout_is_left_alone() {
    let world = World::bare();
    let seed = world.seed();
    write(&seed.join("draft.txt"), "the operator's own work");
    let before = git(&seed, ["status", "--porcelain", "--branch"]);
    let mirror = Mirror::at(
        world.mirror.path().to_owned(),
        seed.to_str().unwrap(),
        Inspector::here(),
    );
    let world = World { mirror, ..world };
    world.mirror.refresh().await.unwrap();
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let tip = tree.commit_seen("Work").await;
    assert_eq!(world.push(&tree.branch).await.unwrap(), Pushed::Created);
    assert_eq!(
        world.mirror.remote_head(&tree.branch).await.unwrap(),
        Some(tip.clone())
    );
    assert_eq!(git(&seed, ["status", "--porcelain", "--branch"]), before);
    // Its checked-out branch it keeps, whatever the settings protect, and one with a name like ours, too.
    assert!(matches!(
        world.kept().push("main", &tip, &[]).await,
        Err(GitError::Protected { .. })
    ));
    git(&seed, ["checkout", "--quiet", "-b", "carson/one/held"]);
    assert!(matches!(
        world.kept().push("carson/one/held", &tip, &[]).await,
        Err(GitError::PushRejected { .. })
    ));
}

#[tokio::test]
async fn a_remote_that_is_gone_is_named() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.commit_seen("Work").await;
    fs::remove_dir_all(world.origin()).unwrap();
    let error = world.push(&tree.branch).await.unwrap_err();
    assert!(matches!(error, GitError::RemoteGone { .. }), "{error}");
    assert!(world.mirror.remote_head(&tree.branch).await.is_err());
}

/// Answers 401 until a request brings a credential, then 404; gives what was brought.
fn web_server() -> (String, JoinHandle<Option<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/acme/widget.git", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            let mut stream = stream.ok()?;
            let lines = BufReader::new(stream.try_clone().ok()?).lines();
            let head: Vec<String> = lines
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            let brought = head
                .iter()
                .find_map(|line| line.strip_prefix("Authorization: "));
            let status = match brought {
                Some(_) => "404 Not Found",
                None => "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"",
            };
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).ok()?;
            if brought.is_some() {
                return brought.map(str::to_owned);
            }
        }
        None
    });
    (url, server)
}

#[tokio::test]
async fn a_credential_reaches_the_server_and_stays_nowhere() {
    let world = World::new().await;
    let (url, server) = web_server();
    let credential = Credential {
        username: "bot".into(),
        password: "it's/secret".into(),
    };
    let remote = Remote {
        url,
        credential: Some(credential),
    };
    let mirror = Mirror::at(world.mirror.path().to_owned(), remote, Inspector::here());
    let error = mirror.remote_head("main").await.unwrap_err();
    assert!(matches!(error, GitError::RemoteGone { .. }), "{error}");
    // "bot:it's/secret" in base64.
    assert_eq!(
        server.join().unwrap().unwrap(),
        "Basic Ym90Oml0J3Mvc2VjcmV0"
    );
    let scratch = world.mirror.path().with_extension("scratch");
    assert_eq!(fs::read_dir(scratch).unwrap().count(), 0);
    let config = fs::read_to_string(world.mirror.path().join("config")).unwrap();
    assert!(!config.contains("secret"));
}

#[tokio::test]
async fn a_bench_holds_no_credential() {
    let world = World::new().await;
    let credential = Credential {
        username: "bot".into(),
        password: "correct-horse".into(),
    };
    let remote = Remote {
        url: "https://x:battery-staple@git.example/acme/widget".into(),
        credential: Some(credential),
    };
    let mirror = Mirror::at(world.mirror.path().to_owned(), remote, Inspector::here());
    let world = World { mirror, ..world };
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.commit_seen("Work").await;
    let (mut todo, mut read) = (vec![world.dir.path().to_owned()], 0);
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(dir).unwrap() {
            let path = item.unwrap().path();
            if path.is_dir() {
                todo.push(path);
                continue;
            }
            let bytes = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            for secret in ["correct-horse", "battery-staple"] {
                assert!(!bytes.contains(secret), "{}", path.display());
            }
            read += 1;
        }
    }
    assert!(read > 20, "the search looked at {read} files");
    let config = fs::read_to_string(tree.repository().join("config")).unwrap();
    assert!(!config.contains("remote"), "{config}");
}

#[tokio::test]
async fn being_refused_is_told_from_being_gone() {
    let world = World::new().await;
    let (url, server) = web_server();
    let mirror = Mirror::at(
        world.mirror.path().to_owned(),
        url.replace("//", "//x:hunter2@"),
        Inspector::here(),
    );
    // The address itself brings a credential; without one nobody asks the terminal.
    let error = mirror.remote_head("main").await.unwrap_err();
    assert!(!error.to_string().contains("hunter2"), "{error}");
    server.join().unwrap();
    let (url, server) = web_server();
    let mirror = Mirror::at(world.mirror.path().to_owned(), url, Inspector::here());
    let error = mirror.remote_head("main").await.unwrap_err();
    assert!(matches!(error, GitError::AuthFailed { .. }), "{error}");
    drop(server);
}

#[tokio::test]
async fn a_look_needs_no_clone_and_says_what_is_missing() {
    let world = World::new().await;
    let never = world.mirror.path().with_file_name("never.git");
    let mirror = Mirror::at(never.clone(), &world.mirror.remote.url, Inspector::here());
    mirror.check_base("main").await.unwrap();
    let missing = mirror.check_base("trunk").await.unwrap_err();
    assert!(
        matches!(&missing, GitError::BaseMissing { have, .. } if have == &["main"]),
        "{missing}"
    );
    let gone = Mirror::at(never.clone(), "/nowhere/at-all.git", Inspector::here());
    let gone = gone.check_base("main").await.unwrap_err();
    assert!(matches!(gone, GitError::RemoteGone { .. }), "{gone}");
    assert!(!never.exists());
}

#[tokio::test]
async fn a_branch_goes_only_with_the_commit_that_is_meant() {
    let world = World::new().await;
    let first = world.upstream("carson/hand/1", "one", "one");
    let delete = async |branch: &str, commit: &Oid, protected: &[String]| {
        let mirror = &world.mirror;
        mirror.delete_branch(branch, commit, protected).await
    };
    // Somebody pushed to it since.
    let theirs = world.upstream("carson/hand/1", "two", "two");
    let stays = delete("carson/hand/1", &first, &[]).await.unwrap();
    assert_eq!(stays, Deleted::Moved(theirs.clone()));
    // A rule of the remote's is told, and nothing goes.
    let hook = world.origin().join("hooks/pre-receive");
    write(&hook, "#!/bin/sh\nexit 1\n");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let refused = delete("carson/hand/1", &theirs, &[]).await;
    assert!(
        matches!(refused, Err(GitError::PushRejected { .. })),
        "{refused:?}"
    );
    fs::remove_file(&hook).unwrap();
    let protected = ["carson/*".to_owned()];
    let refused = delete("carson/hand/1", &theirs, &protected).await;
    assert!(matches!(refused, Err(GitError::Protected { .. })));
    let gone = delete("carson/hand/1", &theirs, &[]).await.unwrap();
    assert_eq!(gone, Deleted::Now);
    let again = delete("carson/hand/1", &theirs, &[]).await.unwrap();
    assert_eq!(again, Deleted::Before);
}

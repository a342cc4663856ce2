#![expect(
    clippy::disallowed_methods,
    reason = "the operator makes the key, who has no supervisor"
)]

use std::path::PathBuf;
use std::process::Stdio;

use proptest::prelude::*;

use super::*;
use crate::Salvaged;
use crate::fixture::{World, git};

/// A key of ssh's, and the file in which git looks up whose it is.
fn ssh_key(world: &World, name: &str) -> (SigningKey, PathBuf) {
    let file = world.dir.path().join(name);
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "carson", "-f"])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let public = std::fs::read_to_string(file.with_extension("pub")).unwrap();
    let signers = world.dir.path().join(format!("{name}.signers"));
    std::fs::write(&signers, format!("* {public}")).unwrap();
    (SigningKey::Ssh(file), signers)
}

fn signer(key: &SigningKey) -> Signer<'_> {
    Signer {
        key,
        name: "Acme Agent",
        email: "agent@acme.example",
    }
}

/// What git says of each commit's signature, newest first: `G` is good.
fn verdicts(world: &World, signers: &Path, range: &str) -> Vec<String> {
    let allowed = format!("gpg.ssh.allowedSignersFile={}", signers.display());
    let kept = world.kept();
    let said = git(kept.path(), ["-c", &allowed, "log", "--format=%G?", range]);
    said.lines().map(str::to_owned).collect()
}

/// The session's newest commit, after a look of Carson's.
async fn seen(tree: &Worktree) -> Oid {
    let tip = tree.head();
    tree.facts().await.unwrap();
    tip
}

/// Whatever stands in a commit beside parents and signature.
fn shape(world: &World, range: &str) -> String {
    let format = "--format=%T %an %ae %at %ct %B";
    git(world.kept().path(), ["log", format, range])
}

#[tokio::test]
async fn what_leaves_is_the_same_history_signed() {
    let world = World::new().await;
    let (key, signers) = ssh_key(&world, "key");
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    tree.commit_as_session("First: ümläut\n\nBody.\n\nIssue: #7");
    // A merge of a branch of the session's own.
    tree.run(["checkout", "--quiet", "-b", "side"]);
    tree.put("b", "2");
    tree.commit_as_session("Beside");
    tree.run(["checkout", "--quiet", &tree.branch]);
    tree.put("c", "3");
    tree.commit_as_session("Second");
    tree.run(["merge", "--quiet", "--no-edit", "side"]);
    let tip = seen(&tree).await;

    let copy = tree.signed(&tip, &signer(&key)).await.unwrap();

    let (before, after) = (
        format!("{}..{tip}", tree.base),
        format!("{}..{copy}", tree.base),
    );
    assert_eq!(verdicts(&world, &signers, &before), ["N"; 4]);
    assert_eq!(verdicts(&world, &signers, &after), ["G"; 4]);
    assert_eq!(shape(&world, &before), shape(&world, &after));
    let who = git(world.kept().path(), ["log", "--format=%cn <%ce>", &after]);
    assert_eq!(
        who.lines().collect::<Vec<_>>(),
        ["Acme Agent <agent@acme.example>"; 4]
    );
    let count = |range: &str| {
        git(
            world.kept().path(),
            ["rev-list", "--count", "--merges", range],
        )
    };
    assert_eq!(count(&after), "1");
    // Asked again, nothing new is made; nothing of it is lost when the bench goes.
    assert_eq!(tree.signed(&tip, &signer(&key)).await.unwrap(), copy);
    world.kept().push(&tree.branch, &copy, &[]).await.unwrap();
    assert_eq!(tree.is_salvaged().await.unwrap(), Salvaged::Yes);
    tree.remove().await.unwrap();
    assert!(!world.has_ref(&tree.branch_ref()) && !world.has_ref(&tree.signed_ref(&tip)));
}

#[tokio::test]
async fn a_signature_that_a_session_wrote_is_left_out_and_older_work_stays_as_it_is() {
    let world = World::new().await;
    let (key, signers) = ssh_key(&world, "key");
    let (SigningKey::Ssh(other), _) = ssh_key(&world, "other") else {
        unreachable!()
    };
    let older = world.upstream("older", "o", "1");
    world.mirror.refresh().await.unwrap();
    let tree = world
        .worktree_at("one", &world.mirror.resolve("main").await.unwrap())
        .await;
    tree.run(["fetch", "--quiet", "../../../origin.git", "older"]);
    tree.run(["merge", "--quiet", "--no-edit", "FETCH_HEAD"]);
    tree.put("a", "1");
    tree.run(["add", "--all"]);
    let file = format!("user.signingKey={}", other.display());
    tree.run([
        "-c",
        "gpg.format=ssh",
        "-c",
        &file,
        "commit",
        "--quiet",
        "-S",
        "-m",
        "Mine",
    ]);
    let tip = seen(&tree).await;

    let copy = tree.signed(&tip, &signer(&key)).await.unwrap();

    let header = git(world.kept().path(), ["cat-file", "commit", copy.as_str()]);
    assert_eq!(header.matches("gpgsig ").count(), 1);
    // What the remote has is not copied.
    let range = format!("{}..{copy}", tree.base);
    assert_eq!(verdicts(&world, &signers, &range), ["G", "N"]);
    let all = git(world.kept().path(), ["rev-list", copy.as_str()]);
    assert!(all.contains(older.as_str()));
}

#[tokio::test]
async fn without_a_key_nothing_is_made() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    tree.put("a", "1");
    let tip = tree.commit_seen("Work").await;
    let file = world.dir.path().join("none");
    for key in [
        SigningKey::Ssh(file),
        SigningKey::Gpg("nobody@example.org".into()),
    ] {
        let error = tree.signed(&tip, &signer(&key)).await.unwrap_err();
        assert!(matches!(error, GitError::NotSigned { .. }), "{error}");
        assert!(!world.has_ref(&tree.signed_ref(&tip)));
    }
}

#[tokio::test]
async fn that_it_must_be_signed_outlives_whoever_said_so() {
    let world = World::new().await;
    let tree = world.worktree("one").await;
    assert!(!tree.is_to_be_signed().await.unwrap());
    tree.must_be_signed().await.unwrap();
    tree.must_be_signed().await.unwrap();
    assert!(tree.is_to_be_signed().await.unwrap());
    tree.remove().await.unwrap();
    assert!(!tree.is_to_be_signed().await.unwrap());
}

const KEY: SigningKey = SigningKey::Gpg(String::new());

fn without_a_signature(raw: &[u8]) -> Option<Vec<u8>> {
    unsigned(raw, &HashMap::new(), &signer(&KEY)).map(|found| found.whole())
}

#[test]
fn headers_that_git_gives_no_such_commit_are_left_out() {
    let raw = "tree t\nparent 0123456789012345678901234567890123456789\nauthor A <a> 1 +0000\n\
        committer Boss <boss> x> 2 +0100\nencoding UTF-16\nmergetag object 1\n tag\nx-own y\n\nText\n";
    let copy = "tree t\nparent 0123456789012345678901234567890123456789\nauthor A <a> 1 +0000\n\
        committer Acme Agent <agent@acme.example> 2 +0100\n\nText\n";
    assert_eq!(
        without_a_signature(raw.as_bytes()).unwrap(),
        copy.as_bytes()
    );
    let latin = "tree t\nencoding ISO-8859-1\n\n\u{fc}\n";
    assert_eq!(
        without_a_signature(latin.as_bytes()).unwrap(),
        latin.as_bytes()
    );
    for broken in [
        "tree t\n more\n\n",
        "tree\n\n",
        "tree t\n",
        "parent x\n\n",
        "committer x\n\n",
    ] {
        assert_eq!(without_a_signature(broken.as_bytes()), None, "{broken:?}");
    }
}

proptest! {
    #[test]
    fn whatever_stands_in_a_commit_stays_but_signatures(
        headers in proptest::collection::vec("(tree|author) [!-~][ -~]{0,20}[!-~]\n", 1..5),
        signature in "gpgsig(-sha256)? [ -~]{0,20}(\n [ -~]{0,9}){0,3}\n",
        at in 0..5usize,
        message in "\n[ -~\n]{0,40}",
    ) {
        let mut lines = headers.clone();
        lines.insert(at.min(lines.len()), signature);
        let raw = format!("{}{message}", lines.concat());
        let found = without_a_signature(raw.as_bytes());
        prop_assert_eq!(found, Some(format!("{}{message}", headers.concat()).into_bytes()));
    }

    #[test]
    fn anything_at_all_is_copied_or_refused(raw in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = without_a_signature(&raw);
    }
}

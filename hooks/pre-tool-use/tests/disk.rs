//! What the hook learns from the disk: links, branches, upstreams, aliases. With real repositories.

#![cfg(test)]
#![expect(
    clippy::disallowed_methods,
    reason = "the repositories are made by git itself"
)]

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use carson_hook::{Call, Context, Sight, decide};

struct Bench {
    dir: PathBuf,
    ctx: Context,
}

impl Bench {
    /// A clone with a linked worktree on its own branch, as Carson makes it.
    fn new(name: &str) -> Self {
        let dir =
            std::env::temp_dir().join(format!("carson-hook-disk-{name}-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("tmp")).unwrap();
        let dir = dir.canonicalize().unwrap();
        let path = |rest: &str| dir.join(rest).to_str().unwrap().to_owned();
        let mut ctx = Context::new(&path("wt"));
        ctx.tmp = path("tmp");
        ctx.home = path("home");
        ctx.sight = Sight::Disk;
        let bench = Self { dir, ctx };
        bench.git(".", &["init", "-q", "-b", "main", "mirror"]);
        bench.git("mirror", &["commit", "-q", "--allow-empty", "-m", "x"]);
        bench.git(
            "mirror",
            &["remote", "add", "origin", "https://forge.example/a/b.git"],
        );
        bench.git(
            "mirror",
            &[
                "worktree",
                "add",
                "-q",
                "-b",
                "carson/7",
                &bench.ctx.worktree,
            ],
        );
        bench
    }

    fn git(&self, dir: &str, args: &[&str]) {
        let status = Command::new("git")
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(args)
            .current_dir(self.dir.join(dir))
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .status()
            .unwrap();
        assert!(status.success(), "git {args:?}");
    }

    fn rule(&self, command: &str) -> &'static str {
        let call = Call::shell(command, &self.ctx.worktree);
        decide(&call, &self.ctx)
            .block()
            .map_or("allowed", |block| block.rule.id)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

#[test]
fn a_bare_push_follows_the_branch_that_is_checked_out() {
    let bench = Bench::new("bare");
    assert_eq!(bench.rule("git push"), "allowed");
    assert_eq!(bench.rule("git push origin HEAD"), "allowed");
    assert_eq!(bench.rule("cd ../mirror && git push"), "protected-push");
    assert_eq!(bench.rule("git -C ../mirror push"), "protected-push");
    bench.git("mirror", &["switch", "-q", "-c", "elsewhere"]);
    assert_eq!(bench.rule("git -C ../mirror push"), "allowed");
    bench.git("wt", &["switch", "-q", "main"]);
    assert_eq!(bench.rule("git push"), "protected-push");
    assert_eq!(bench.rule("git push -u origin HEAD"), "protected-push");
    assert_eq!(bench.rule("git switch carson/7 && git push"), "allowed");
    bench.git("wt", &["checkout", "-q", "--detach"]);
    assert_eq!(
        bench.rule("git push"),
        "allowed",
        "git refuses a bare push without a branch"
    );
}

#[test]
fn a_bare_push_follows_upstream_and_push_settings() {
    let bench = Bench::new("upstream");
    bench.git("wt", &["config", "branch.carson/7.remote", "origin"]);
    bench.git(
        "wt",
        &["config", "branch.carson/7.merge", "refs/heads/main"],
    );
    assert_eq!(
        bench.rule("git push"),
        "allowed",
        "simple refuses another name"
    );
    assert_eq!(
        bench.rule("git -c push.default=upstream push"),
        "protected-push"
    );
    bench.git("wt", &["config", "push.default", "upstream"]);
    assert_eq!(bench.rule("git push"), "protected-push");
    bench.git("wt", &["config", "push.default", "current"]);
    assert_eq!(bench.rule("git push"), "allowed");
    bench.git(
        "wt",
        &["config", "remote.origin.push", "HEAD:refs/heads/main"],
    );
    assert_eq!(bench.rule("git push"), "protected-push");
    bench.git("wt", &["config", "--unset", "remote.origin.push"]);
    bench.git("wt", &["config", "remote.origin.mirror", "true"]);
    assert_eq!(bench.rule("git push"), "protected-push");
}

#[test]
fn aliases_of_the_repository_are_followed() {
    let bench = Bench::new("alias");
    bench.git("wt", &["config", "alias.ship", "push origin main"]);
    bench.git("wt", &["config", "alias.wipe", "!rm -rf /opt/x"]);
    bench.git("wt", &["config", "alias.st", "status --short"]);
    assert_eq!(bench.rule("git ship"), "protected-push");
    assert_eq!(bench.rule("git wipe"), "delete-outside");
    assert_eq!(bench.rule("git st"), "allowed");
}

#[test]
fn a_scratch_repository_may_be_pushed_to() {
    let bench = Bench::new("scratch");
    bench.git("tmp", &["init", "-q", "--bare", "r.git"]);
    bench.git("tmp", &["clone", "-q", "r.git", "work"]);
    assert_eq!(
        bench.rule("cd ../tmp/work && git push origin main"),
        "allowed"
    );
    assert_eq!(
        bench.rule("git -C ../tmp/work push --force origin HEAD:main"),
        "allowed"
    );
    bench.git(
        "tmp/work",
        &[
            "remote",
            "set-url",
            "origin",
            "https://forge.example/a/b.git",
        ],
    );
    assert_eq!(
        bench.rule("cd ../tmp/work && git push origin main"),
        "protected-push"
    );
}

#[test]
fn links_lead_where_they_lead() {
    let bench = Bench::new("links");
    let at = |rest: &str| bench.dir.join(rest);
    std::fs::create_dir_all(at("home/.ssh")).unwrap();
    std::fs::write(at("home/.ssh/id_rsa"), "k").unwrap();
    std::fs::create_dir_all(at("other/x")).unwrap();
    std::fs::create_dir_all(at("wt/real")).unwrap();
    symlink(at("home/.ssh/id_rsa"), at("wt/notes.txt")).unwrap();
    symlink(at("other"), at("wt/out")).unwrap();
    symlink("real", at("wt/near")).unwrap();
    assert_eq!(bench.rule("cat notes.txt"), "credential-read");
    assert_eq!(bench.rule("cp notes.txt copy"), "credential-read");
    assert_eq!(bench.rule("ls -l notes.txt"), "allowed");
    assert_eq!(
        bench.rule("rm -f notes.txt"),
        "allowed",
        "the link goes, not the key"
    );
    assert_eq!(bench.rule("rm -rf out"), "allowed");
    assert_eq!(bench.rule("rm -rf out/"), "delete-outside");
    assert_eq!(bench.rule("rm -rf out/x"), "delete-outside");
    assert_eq!(bench.rule("rm -rf out/*"), "delete-outside");
    assert_eq!(bench.rule("cd out && rm -rf x"), "delete-outside");
    assert_eq!(bench.rule("rm -rf near/x near/"), "allowed");
    let read = format!(
        r#"{{"tool_name":"Read","tool_input":{{"file_path":"notes.txt"}},"cwd":"{}"}}"#,
        bench.ctx.worktree
    );
    assert!(
        decide(&Call::from_json(&read).unwrap(), &bench.ctx)
            .block()
            .is_some()
    );
}

#[test]
fn a_worktree_reached_through_a_link_is_the_worktree() {
    let mut bench = Bench::new("through");
    let link = bench.dir.join("wt-link");
    symlink(bench.dir.join("wt"), &link).unwrap();
    let real = bench.ctx.worktree.clone();
    assert_eq!(bench.rule(&format!("rm -rf {real}/target")), "allowed");
    bench.ctx.worktree = link.to_str().unwrap().to_owned();
    assert_eq!(bench.rule("rm -rf target"), "allowed");
    assert_eq!(bench.rule("rm -rf ."), "delete-outside");
    assert_eq!(bench.rule(&format!("rm -rf {real}/target")), "allowed");
}

//! Strangers: from a clone to the first pull request, by what the README tells them to type and nothing else.
//!
//! The lines are the README's own, run by a shell in a home with a signed-in CLI in it. The CLI is a script that
//! speaks as Claude Code does.
#![expect(clippy::disallowed_methods, reason = "a stranger has a shell and git")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use carson_tests::authority::Authority;
use carson_tests::{fleet, http_remote, https_remote};
use serde_json::Value;
use tempfile::TempDir;

const CLAUDE: &str = r#"#!/bin/sh
case "$*" in *--version*) echo '2.1.329 (Claude Code)'; exit ;; esac
prompt=$(cat)
case $prompt in
    'You plan '*) says='1. Write hello.txt.\n[OK] planned' ;;
    'You do '*) echo 'Good evening.' > hello.txt; git add .; git commit --quiet -m 'Say hello'; says='[OK] it greets' ;;
    *) says='[APPROVE]' ;;
esac
printf '{"type":"system","subtype":"init","model":"claude-sonnet-5"}\n'
printf '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}\n' "$says"
printf '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"%s","total_cost_usd":0.01}\n' "$says"
"#;

const SIGN_IN: &str = r#"{"claudeAiOauth":{"accessToken":"sk-ant-oat01-test","refreshToken":"sk-ant-ort01-test","expiresAt":9999999999999}}"#;

/// Somebody who has just installed Carson.
pub(crate) struct Stranger {
    dir: TempDir,
}

impl Stranger {
    /// With a repository at `origin.git` whose one branch has this name.
    pub(crate) fn new(branch: &str) -> Self {
        let stranger = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let claude = stranger.at("bin/claude");
        fs::create_dir_all(stranger.at("bin")).unwrap();
        fs::write(&claude, CLAUDE).unwrap();
        fs::set_permissions(&claude, PermissionsExt::from_mode(0o755)).unwrap();
        let sign_in = stranger.at("home/.claude/.credentials.json");
        fs::create_dir_all(sign_in.parent().unwrap()).unwrap();
        fs::write(&sign_in, SIGN_IN).unwrap();
        fs::set_permissions(&sign_in, PermissionsExt::from_mode(0o600)).unwrap();
        fs::create_dir_all(stranger.at("home/src")).unwrap();
        fs::create_dir(stranger.at("seed")).unwrap();
        fs::write(stranger.at("seed/README.md"), "# Widget\n").unwrap();
        fs::write(stranger.at("seed/Makefile"), "test:\n\ttest -s README.md\n").unwrap();
        stranger.types(&format!(
            "set -e; cd ../seed; git init --quiet --initial-branch={branch}; git add .\n\
             git -c user.name=x -c user.email=x@localhost commit --quiet -m One\n\
             git clone --quiet --bare . ../origin.git"
        ));
        stranger
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// What a line for `sh` prints; it must succeed.
    pub(crate) fn types(&self, script: &str) -> String {
        let built = fleet::binary().parent().map(Path::to_owned).unwrap();
        let mut path = vec![self.at("bin"), built];
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        let mut sh = Command::new("/bin/sh");
        sh.args(["-c", script])
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .env("HOME", self.at("home"))
            .current_dir(self.at("home"))
            .stdin(Stdio::null());
        let Output {
            status,
            stdout,
            stderr,
        } = sh.output().unwrap();
        let (stdout, stderr) = (text(stdout), text(stderr));
        assert!(status.success(), "{script}\n{status}\n{stdout}\n{stderr}");
        stdout
    }

    /// From the clone to the first pull request; `init` is what is typed to make a home.
    pub(crate) fn begins(&self, clone: &str, init: &str) {
        let began = Instant::now();
        self.types(&format!("git clone --quiet {clone} src/widget"));
        let lines = first_firing().replace("carson init", init);
        let shown = self.types(&format!("set -e\n{lines}"));
        println!(
            "{init}: {:.1} s to the first pull request",
            began.elapsed().as_secs_f64()
        );
        assert!(shown.contains("+++ b/hello.txt"), "{shown}");
        let pulls: Value = serde_json::from_str(&self.types("carson pr list --json")).unwrap();
        let firings: Value = serde_json::from_str(&self.types("carson firings --json")).unwrap();
        assert_eq!(firings[0]["outcome"], "OK", "{firings:#}\n{shown}");
        assert_eq!(
            firings[0]["reason"], "1 commit, the check passes, the diff review approved",
            "{firings:#}"
        );
        assert_eq!(
            (&pulls[0]["number"], &pulls[0]["draft"]),
            (&2.into(), &false.into())
        );
        let stopped = self.types("carson status");
        assert!(stopped.contains("implementer"), "{stopped}");
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The README's lines between the installation and the daemon.
fn first_firing() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let (_, after) = readme.split_once("cargo xtask install ").unwrap();
    let (block, _) = after.split_once("carson daemon").unwrap();
    let (_, lines) = block.split_once('\n').unwrap();
    assert!(lines.matches("\ncarson ").count() > 3, "{lines}");
    lines.to_owned()
}

#[test]
fn of_a_local_repository() {
    let stranger = Stranger::new("main");
    let origin = stranger.at("origin.git");
    stranger.begins(&origin.display().to_string(), "carson init");
}

#[test]
fn of_a_repository_whose_base_is_master() {
    let stranger = Stranger::new("master");
    let origin = stranger.at("origin.git");
    stranger.begins(&origin.display().to_string(), "carson init");
}

/// From a remote with this address, which gets the branch of the first pull request.
fn of_a_remote(stranger: &Stranger, url: &str) {
    let url = format!("{url}/origin.git");
    print!("{}", stranger.types("git version"));
    stranger.begins(&url, &format!("carson init --repo {url}"));
    let origin = stranger.at("origin.git");
    let branches = stranger.types(&format!(
        "git --git-dir {} branch --list 'carson/*'",
        origin.display()
    ));
    assert_eq!(branches.lines().count(), 1, "{branches}");
}

#[test]
fn of_a_remote_over_http() {
    let stranger = Stranger::new("main");
    let url = http_remote::serve(stranger.dir.path().to_owned());
    of_a_remote(&stranger, &url);
}

/// Whom the stranger's own git trusts, Carson's git trusts, and nobody else.
#[test]
fn of_a_remote_over_https() {
    let (stranger, authority) = (Stranger::new("main"), Authority::new());
    let url = https_remote::serve(stranger.dir.path().to_owned(), &authority);
    let untrusted = stranger.types(&format!(
        "carson --home nowhere init --repo {url}/origin.git 2>&1 && exit 1; test ! -e nowhere"
    ));
    assert!(untrusted.contains("certificate"), "{untrusted}");
    let trusted = authority.certificate();
    let trust = format!("git config --global http.sslCAInfo {}", trusted.display());
    stranger.types(&trust);
    of_a_remote(&stranger, &url);
}

//! What leaves carries the operator's signature, which no session can make.

#![expect(
    clippy::disallowed_methods,
    reason = "the operator makes keys, and anybody looks at signatures"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::faults::{fire, fleet, nothing_lost};

/// One commit more each time; done with the second.
const STEP: &str = "echo step >> work.txt; git add .; git commit --quiet -m Step; \
    if [ $(wc -l < work.txt) -ge 2 ]; then echo '[OK] done'; else echo '[PARTIAL] half'; fi";

fn run(command: &mut Command) -> String {
    let done = command.stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "{command:?}: {done:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// A key of ssh's in the operator's own directory; the private half.
fn ssh_key(fleet: &TestFleet) -> PathBuf {
    let dir = fleet.root().join("operator/.ssh");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join("signing");
    let make = ["-q", "-t", "ed25519", "-N", "", "-C", "carson", "-f"];
    let _ = run(Command::new("ssh-keygen").args(make).arg(&file));
    file
}

/// A session that waits for a word of ours before it works.
const WAIT: &str = "touch \"$SHARED/began\"; while [ ! -e \"$SHARED/go\" ]; do sleep 0.1; done";

/// A fleet of such a session, whose role signs; its key, and the firing that has begun.
fn begun(script: &str) -> (TestFleet, PathBuf, Child) {
    let fleet = fleet(script, "");
    let key = ssh_key(&fleet);
    let shared = fleet.shared();
    role_says(&fleet, "ssh:~/.ssh/signing");
    let role = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&role).unwrap();
    fs::write(role, format!("{text}env = {{ SHARED = {shared:?} }}\n")).unwrap();
    let mut fire = fleet.command(&["fire", "hand", "--json"]);
    let firing = fire.stdout(Stdio::piped()).spawn().unwrap();
    let began = shared.join("began");
    until("the session to begin", || began.exists().then_some(()));
    (fleet, key, firing)
}

fn role_says(fleet: &TestFleet, sign: &str) {
    let file = fleet.home().join("roles/hand/role.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{text}[identity]\ngit_sign = {sign:?}\n")).unwrap();
}

/// What git says of the signatures of a branch's commits, newest first.
fn verdicts(fleet: &TestFleet, key: &Path, branch: &str) -> Vec<String> {
    let public = fs::read_to_string(key.with_extension("pub")).unwrap();
    let signers = fleet.root().join("signers");
    fs::write(&signers, format!("* {public}")).unwrap();
    let allowed = format!("gpg.ssh.allowedSignersFile={}", signers.display());
    let range = format!("main..{branch}");
    let said = fleet.git(&["-c", &allowed, "log", "--format=%G?", &range]);
    said.lines().map(str::to_owned).collect()
}

#[test]
fn every_commit_of_a_branch_is_signed_and_a_later_firing_goes_on_with_it() {
    let fleet = fleet(STEP, "");
    let key = ssh_key(&fleet);
    role_says(&fleet, "ssh:~/.ssh/signing");

    let half = fire(&fleet);
    assert_eq!(half["outcome"], "PARTIAL", "{half:#}");
    let branch = half["branch"].as_str().unwrap();
    assert_eq!(verdicts(&fleet, &key, branch), ["G"]);
    let first = fleet.tip(branch);
    let whole = fire(&fleet);
    assert_eq!(whole["outcome"], "OK", "{whole:#}");

    // The two steps, and where Carson joined the first with the base.
    assert_eq!(verdicts(&fleet, &key, branch), ["G", "G", "G"]);
    let _ = fleet.git(&["merge-base", "--is-ancestor", &first, branch]);
    let pulls = fleet.pulls();
    assert!(pulls.len() == 1 && pulls[0]["draft"] == false, "{pulls:#?}");
    // Nothing is left of either workspace, nor of what was made on the way.
    let benches = fs::read_dir(fleet.home().join("benches"));
    assert_eq!(benches.map_or(0, Iterator::count), 0);
    let store = fleet.store();
    let mut refs = Command::new("git");
    let refs = run(refs
        .arg("--git-dir")
        .arg(store)
        .args(["for-each-ref", "refs/carson/signed"]));
    assert_eq!(refs, "");
}

#[test]
fn a_key_that_does_not_sign_is_told_before_any_session_is_paid() {
    let fleet = fleet(STEP, "");
    let key = ssh_key(&fleet);
    role_says(&fleet, "ssh:~/.ssh/signing");
    fs::remove_file(&key).unwrap();

    let row = fire(&fleet);

    assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("does not sign"), "{reason}");
    assert!(fleet.branches().is_empty());
    let told = fleet.carson(&["doctor"]);
    assert!(told.stdout.contains("role.hand.signing"), "{told:#?}");
}

/// The key goes away while the session works.
#[test]
fn work_that_cannot_be_signed_stays_here_and_a_person_is_asked() {
    let (fleet, key, firing) = begun(&format!("{WAIT}; {STEP}"));
    let shared = fleet.shared();
    fs::remove_file(&key).unwrap();
    fs::write(shared.join("go"), "").unwrap();

    let done = firing.wait_with_output().unwrap();

    let row: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(row["outcome"], "BLOCKED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("does not sign"), "{reason}");
    // Where the key lies is nobody's business on the forge.
    let told = fleet.ok(&["issue", "show", "1", "--json"]).to_string();
    assert!(
        told.contains("does not sign") && !told.contains(".ssh"),
        "{told}"
    );
    assert!(fleet.branches().is_empty() && fleet.pulls().is_empty());
    assert!(fleet.labels(1).contains(&"needs:human".to_owned()));
    nothing_lost(&fleet, &row, &["step\n"]);
}

/// Its firing dies, and before anybody concludes it the settings have other roles.
#[test]
fn work_that_was_to_be_signed_never_leaves_without_whatever_becomes_of_its_role() {
    let (fleet, _, mut firing) = begun(&format!("{STEP} >/dev/null; {WAIT}"));
    let rows = fleet.ok(&["firings", "--json"]);
    let pid = i32::try_from(rows[0]["pid"].as_i64().unwrap()).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    let _ = firing.wait().unwrap();
    let roles = fleet.home().join("roles");
    fs::rename(roles.join("hand"), roles.join("other")).unwrap();

    let _ = fleet.carson(&["prune", "--json"]);

    let row = fleet.firing(rows[0]["id"].as_str().unwrap());
    assert!(!row["ended_at"].is_null(), "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(reason.contains("name no key for that now"), "{reason}");
    assert!(fleet.branches().is_empty() && fleet.pulls().is_empty());
    nothing_lost(&fleet, &row, &["step\n"]);
}

#[test]
fn a_key_of_gpg_signs_too() {
    let fleet = fleet(STEP, "");
    let home = fleet.root().join("gnupg");
    fs::create_dir(&home).unwrap();
    fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).unwrap();
    let gpg = |program: &str, args: &[&str]| {
        let mut command = Command::new(program);
        let _ = run(command.args(args).env("GNUPGHOME", &home));
    };
    let who = "Acme Agent <agent@acme.example>";
    let make = [
        "--batch",
        "--passphrase",
        "",
        "--quick-generate-key",
        who,
        "ed25519",
        "sign",
    ];
    gpg("gpg", &make);
    let fleet = fleet.with_env("GNUPGHOME", &home);
    role_says(&fleet, "gpg:agent@acme.example");

    let row = fire(&fleet);

    assert_eq!(row["outcome"], "PARTIAL", "{row:#}");
    let branch = row["branch"].as_str().unwrap();
    let mut log = Command::new("git");
    let log = log
        .arg("--git-dir")
        .arg(fleet.remote())
        .args(["log", "--format=%G? %GS"]);
    let said = run(log.arg(format!("main..{branch}")).env("GNUPGHOME", &home));
    assert_eq!(said, format!("G {who}\n"));
    // Its agent would outlive us.
    gpg("gpgconf", &["--kill", "gpg-agent"]);
}

#[test]
fn a_key_that_sessions_may_read_is_no_key() {
    let fleet = fleet(STEP, "");
    let key = fleet.shared().join("key");
    role_says(&fleet, &format!("ssh:{}", key.display()));
    let told = fleet.carson(&["config", "check"]);
    assert_eq!(told.code, Some(2), "{told:#?}");
    let said = format!("{}{}", told.stdout, told.stderr);
    assert!(said.contains("its sessions may read the key"), "{said}");
}

/// Links and other roles lead there as well.
#[test]
fn a_key_within_reach_of_any_session_is_told_before_one_is_paid() {
    let fleet = fleet(STEP, "");
    let key = ssh_key(&fleet);
    role_says(&fleet, "ssh:~/.ssh/signing");
    let (open, link) = (fleet.root().join("open"), fleet.root().join("link"));
    fs::create_dir(&open).unwrap();
    fs::rename(&key, open.join("signing")).unwrap();
    std::os::unix::fs::symlink(open.join("signing"), &key).unwrap();
    std::os::unix::fs::symlink(&open, &link).unwrap();
    let other = format!("[paths]\nread = [{link:?}]\n");
    let dir = fleet.home().join("roles/other");
    fs::create_dir(&dir).unwrap();
    let role = fs::read_to_string(fleet.home().join("roles/hand/role.toml")).unwrap();
    let (role, _) = role.split_once("[identity]").unwrap();
    let role: Vec<&str> = role
        .lines()
        .filter(|line| !line.starts_with("paths"))
        .collect();
    fs::write(
        dir.join("role.toml"),
        format!("{}\n{other}", role.join("\n")),
    )
    .unwrap();

    let row = fire(&fleet);

    assert_eq!(row["outcome"], "SKIPPED", "{row:#}");
    let reason = row["reason"].as_str().unwrap();
    assert!(
        reason.contains("is no secret: [paths] of role other"),
        "{reason}"
    );
}

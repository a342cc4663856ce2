//! What lies about in a scene.

#![expect(
    clippy::disallowed_methods,
    reason = "it starts what a test looks at from outside"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use carson_tests::fleet::TestFleet;

/// The same command where a directory is a small disk of its own, which goes with it.
pub fn on_a_small_disk(command: &Command, dir: &Path, mb: u32) -> Command {
    let mount = format!(
        "mount -t tmpfs -o size={mb}m none '{}' && exec \"$0\" \"$@\"",
        dir.display()
    );
    let mut small = Command::new("unshare");
    let root = nix::unistd::geteuid().is_root();
    small
        .arg(if root { "-m" } else { "-rm" })
        .args(["/bin/sh", "-c", &mount])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(dir);
    small
}

/// What an agent would like to have.
pub fn secrets(fleet: &TestFleet) {
    let operator = fleet.root().join("operator");
    for (path, text) in [
        ("operator/.bashrc", "# mine\n"),
        ("operator/.gitconfig", "[user]\n\tname = Operator\n"),
        (
            "operator/.ssh/id_ed25519",
            "-----BEGIN OPENSSH PRIVATE KEY-----\n",
        ),
        (
            "operator/.aws/credentials",
            "[default]\naws_secret_access_key = x\n",
        ),
        (
            "operator/.netrc",
            "machine example.com login x password x\n",
        ),
        ("operator/.claude-other/.credentials.json", "{}\n"),
        ("home/github.token", "ghp_0\n"),
    ] {
        let path = fleet.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    fs::create_dir_all(operator.join(".config")).unwrap();
}

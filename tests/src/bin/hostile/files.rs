//! Attempts to write where others read.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Error, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::{Attempt, Targets};

pub fn play(name: &str, targets: &Targets) -> Option<Attempt> {
    let user = targets.path("user");
    Some(match name {
        "write-home" => append(&user.join(".bashrc")),
        "create-in-home" => create(&user.join(".config/autostart")),
        "write-tmp-of-another" => append(&targets.path("tmp_of_another")),
        "write-mirror-ref" => create(&targets.path("mirror").join("refs/heads/evil")),
        "move-mirror-main" => update_ref(&targets.path("mirror")),
        "spoil-mirror-object" => spoil(&targets.path("mirror").join("objects")),
        "write-other-worktree" => append(&targets.path("other_tree").join("README.md")),
        "write-through-symlink" => through_symlink(&user.join(".bashrc")),
        "write-through-proc-fd" => through_proc(targets),
        "write-through-hardlink" => through_hardlink(&user.join(".bashrc")),
        "git-config-global" => git(&["config", "--global", "core.hooksPath", "/evil"]),
        "git-config-system" => git(&["config", "--system", "core.hooksPath", "/evil"]),
        "edit-dot-git" => edit_dot_git(),
        "write-carson-home" => create(&targets.path("carson_home").join("state/evil")),
        "write-settings" => append(&targets.path("carson_home").join("carson.toml")),
        "chmod-outside" => chmod(&user.join(".bashrc")),
        "write-system" => create(&targets.path("system")),
        "write-own-profile" => create(Path::new("../sandbox/000.json")),
        "mount" => mount(),
        "poison-own-repository" => poison(),
        "fill-disk" => fill(targets.number("fill_mb")),
        _ => return None,
    })
}

fn append(path: &Path) -> Attempt {
    OpenOptions::new()
        .append(true)
        .open(path)?
        .write_all(b"evil\n")?;
    Ok(format!("{} was written", path.display()))
}

fn create(path: &Path) -> Attempt {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    File::create(path)?.write_all(b"evil\n")?;
    Ok(format!("{} was made", path.display()))
}

fn chmod(path: &Path) -> Attempt {
    fs::set_permissions(path, fs::Permissions::from_mode(0o777))?;
    Ok(format!("{} has another mode", path.display()))
}

fn run(command: &mut Command) -> Attempt {
    let done = command.output()?;
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    if done.status.success() {
        Ok(format!("it worked; {said}"))
    } else {
        Err(Error::other(said))
    }
}

fn git(args: &[&str]) -> Attempt {
    run(Command::new("git").args(args))
}

fn update_ref(mirror: &Path) -> Attempt {
    let head = Command::new("git").args(["rev-parse", "HEAD"]).output()?;
    let head = String::from_utf8_lossy(&head.stdout).trim().to_owned();
    let mut command = Command::new("git");
    command.arg("--git-dir").arg(mirror);
    run(command.args(["update-ref", "refs/remotes/origin/main", &head]))
}

/// Overwrites the first object of a store, loose or packed.
fn spoil(objects: &Path) -> Attempt {
    let mut todo = vec![objects.to_owned()];
    while let Some(dir) = todo.pop() {
        for item in fs::read_dir(dir)? {
            let path = item?.path();
            if path.is_dir() {
                todo.push(path);
                continue;
            }
            // Objects are read-only; their owner can change that.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            fs::write(&path, "spoilt")?;
            return Ok(format!("{} is spoilt", path.display()));
        }
    }
    Err(Error::other("no object is to be seen"))
}

fn through_symlink(secret: &Path) -> Attempt {
    let link = Path::new("link");
    let _ = fs::remove_file(link);
    symlink(secret, link)?;
    let went = append(link);
    let _ = fs::remove_file(link);
    went
}

fn through_hardlink(secret: &Path) -> Attempt {
    let link = Path::new("hardlink");
    let _ = fs::remove_file(link);
    fs::hard_link(secret, link)?;
    let went = append(link);
    let _ = fs::remove_file(link);
    went
}

/// What was left open for us, and the ways out that `/proc` has.
fn through_proc(targets: &Targets) -> Attempt {
    let user = targets.path("user");
    let inside = user.strip_prefix("/").map_err(Error::other)?;
    let mut last = Error::other("/proc has no way out");
    for root in ["/proc/self/root", "/proc/1/root", "/proc/self/task/1/root"] {
        match append(&Path::new(root).join(inside).join(".bashrc")) {
            Ok(got) => return Ok(got),
            Err(error) => last = error,
        }
    }
    for item in fs::read_dir("/proc/self/fd")? {
        let path = item?.path();
        let Ok(leads) = fs::read_link(&path) else {
            continue;
        };
        if leads.is_dir() && leads != Path::new("/proc") && !leads.starts_with("/proc/") {
            return Ok(format!("a directory was left open: {}", leads.display()));
        }
    }
    Err(last)
}

/// Turns the worktree into one of the mirror's own.
fn edit_dot_git() -> Attempt {
    let dot = Path::new(".git");
    let text = fs::read_to_string(dot)?;
    match fs::write(dot, "gitdir: /evil\n") {
        Ok(()) => {
            fs::write(dot, text)?;
            Ok(".git was written".to_owned())
        }
        Err(error) => {
            // Another file in its place, then.
            if fs::rename(dot, "dot-git").is_ok() {
                fs::write(dot, text)?;
                return Ok(".git was replaced".to_owned());
            }
            Err(error)
        }
    }
}

/// Traps for whoever runs git here later, in our own repository: this is allowed, and must be
/// without effect outside.
fn poison() -> Attempt {
    let trap = std::env::temp_dir().join("sprung");
    let touch = format!("touch {}", trap.display());
    for (key, value) in [
        ("core.fsmonitor", touch.as_str()),
        ("core.sshCommand", &touch),
        ("diff.external", &touch),
        ("filter.x.clean", &touch),
        ("filter.x.smudge", &touch),
        ("core.hooksPath", "hooks"),
        ("alias.status", &format!("!{touch}")),
    ] {
        git(&["config", key, value])?;
    }
    fs::create_dir_all("hooks")?;
    for hook in [
        "pre-commit",
        "post-commit",
        "reference-transaction",
        "post-checkout",
    ] {
        let path = Path::new("hooks").join(hook);
        fs::write(&path, format!("#!/bin/sh\n{touch}\n"))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    fs::write(".gitattributes", "* filter=x diff=x\n")?;
    Ok("the traps are set".to_owned())
}

fn mount() -> Attempt {
    fs::create_dir_all("mnt")?;
    let went = run(Command::new("mount").args(["-t", "tmpfs", "none", "mnt"]));
    let _ = fs::remove_dir("mnt");
    went.or_else(|_| run(Command::new("unshare").args(["-Urm", "true"])))
}

/// Writes until nothing more fits, or so much.
fn fill(mb: i64) -> Attempt {
    let chunk = vec![0xaa_u8; 1 << 20];
    let mut file = File::create("filler")?;
    for written in 0..mb {
        if let Err(error) = file.write_all(&chunk) {
            return Err(io::Error::new(
                error.kind(),
                format!("{error} after {written} MB"),
            ));
        }
    }
    Ok(format!("{mb} MB were written"))
}

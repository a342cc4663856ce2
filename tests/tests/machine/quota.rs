//! A quota that is used up: the disk says that it has room, and takes nothing more.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use carson_tests::fleet::TestFleet;
use nix::sched::{CloneFlags, unshare};
use serde_json::Value;
use tempfile::TempDir;

use crate::tool;

/// A disk of its own under the home, whose subvolume may be limited. It goes with the test's mount
/// namespace.
struct Limited {
    images: TempDir,
    subvolume: String,
}

impl Limited {
    fn below(fleet: &TestFleet) -> Self {
        unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace needs root");
        tool(&["mount", "--make-rprivate", "/"]);
        let images = tempfile::tempdir().unwrap();
        let image = images.path().join("disk.img");
        let home = fleet.home();
        tool(&["truncate", "--size=1G", text(&image)]);
        tool(&["mkfs.btrfs", "--quiet", text(&image)]);
        let mut this = Self {
            images,
            subvolume: String::new(),
        };
        let top = this.top();
        fs::create_dir(&top).unwrap();
        tool(&["mount", "-o", "loop", text(&image), text(&top)]);
        tool(&["btrfs", "quota", "enable", text(&top)]);
        let inner = top.join("home");
        tool(&["btrfs", "subvolume", "create", text(&inner)]);
        let all = format!("{}/.", text(&home));
        tool(&["cp", "--archive", &all, text(&inner)]);
        tool(&["mount", "--bind", text(&inner), text(&home)]);
        tool(&["sync", "--file-system", text(&top)]);
        tool(&["btrfs", "quota", "rescan", "-w", text(&top)]);
        let id = tool(&["btrfs", "inspect-internal", "rootid", text(&inner)]);
        this.subvolume = format!("0/{}", id.trim());
        this
    }

    /// Asked at the top of the disk: below a limit that is used up there is no room to lift it.
    fn limit(&self, quota: &str) {
        let top = self.top();
        tool(&[
            "btrfs",
            "qgroup",
            "limit",
            quota,
            &self.subvolume,
            text(&top),
        ]);
    }

    fn top(&self) -> PathBuf {
        self.images.path().join("top")
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A fleet whose session commits half of its work, and then writes until it may not.
fn filling() -> TestFleet {
    use std::os::unix::fs::PermissionsExt;
    let fleet = TestFleet::new();
    let program = fleet.root().join("cli/agent");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let shared = fleet.shared();
    let script = format!(
        "#!/bin/bash\ncat >/dev/null\n\
         if [ -e {shared:?}/small ]; then file=more.txt; else file=half.txt; fi\n\
         echo half >$file; git add .; git commit --quiet -m Half\n\
         [ -e {shared:?}/small ] || dd if=/dev/zero of=\"$HOME/filler\" bs=64k 2>{shared:?}/said\n\
         echo '[OK] done'\n"
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    fleet.account("sh", &format!("engine = \"command\"\nbinary = {program:?}"));
    fleet.role("hand", "sh", "stages = [\"execute\"]\n");
    assert_eq!(fleet.issue("hand", "Work", "To do."), 1);
    fleet
}

#[test]
fn a_quota_that_a_session_uses_up_loses_nothing_and_the_next_firing_is_well() {
    let fleet = filling();
    let _ = fleet.ok(&["status", "--json"]);
    let disk = Limited::below(&fleet);
    disk.limit("60M");
    let ran = fleet.command(&["fire", "hand", "--json"]).output().unwrap();
    println!("the firing ended with {:?}: {ran:?}", ran.status);
    // A write-ahead log has memory that its processes share; a page of it that the disk has no room to copy
    // ends whoever touches it (SIGBUS). So there is none here.
    assert_eq!(ran.status.signal(), None, "{ran:?}");
    let said = fs::read_to_string(fleet.shared().join("said")).unwrap();
    assert!(said.contains("quota exceeded"), "{said}");
    assert!(
        !String::from_utf8_lossy(&ran.stderr).contains("panicked"),
        "{ran:?}"
    );

    disk.limit("none");
    fs::write(fleet.shared().join("small"), "").unwrap();
    let pruned = fleet.carson(&["prune"]);
    assert_eq!(pruned.code, Some(0), "{pruned:#?}");
    let rows = fleet.ok(&["firings", "--json"]);
    let rows: &Vec<Value> = rows.as_array().unwrap();
    println!("{rows:#?}");
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert!(rows[0]["ended_at"].is_string(), "{rows:#?}");
    let file = fleet.root().join("content");
    fs::write(&file, "half\n").unwrap();
    assert!(fleet.kept().contains(&fleet.blob(&file)), "{rows:#?}");
    assert!(fleet.benches().is_empty() && fleet.descendants().is_empty());
    assert_eq!(fleet.carson(&["backup", "make"]).code, Some(0));
    fleet.issue("hand", "More", "To do.");
    let next = fleet.fire("hand");
    assert_eq!(next.code, Some(0), "{next:#?}");
}

//! Attempts to use more than there is, to stay longer than allowed, and to confuse the reader.

use std::time::{Duration, Instant};

use super::less::{self, Kernel};
use super::scene::{Scene, peak_kb};
use super::table;

/// Five kinds of daemons, and one that keeps the session's output open.
fn left_behind(kernel: &Kernel, ordinary: bool) {
    let mut scene = Scene::on(kernel, "", ordinary);
    let started = Instant::now();
    let (row, all) = scene.attempt(&["leave-daemons", "hold-the-pipe"]);
    table::print(&format!("left behind, {kernel:?}"), &row, &all);
    assert_eq!(all.len(), 2, "{kernel:?}: {row:#}");
    assert!(all.iter().all(|went| went.through), "{all:?}");
    assert_eq!(scene.sleepers(), [0; 0], "{kernel:?}");
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "the pipe was waited for"
    );
    assert_eq!(row["outcome"], "OK", "{kernel:?}: {row:#}");
    let event = &row["events"][0]["kind"];
    assert_eq!(*event, "session.left_behind", "{kernel:?}: {row:#}");
    for name in ["leave-daemons", "hold-the-pipe"] {
        let killed = "found and killed when the session ends";
        let record = "event `session.left_behind`";
        table::is_said(kernel, ordinary, &row, name, killed, record);
    }
    kernel.is_in(&row);
    scene.is_healthy();
}

#[test]
fn who_is_left_behind_is_found_and_the_record_says_so() {
    for ordinary in less::users() {
        left_behind(&Kernel::FULL, ordinary);
    }
}

#[test]
fn who_is_left_behind_is_found_where_the_kernel_has_less() {
    for kernel in Kernel::LESS {
        left_behind(kernel, false);
    }
}

fn fork_bomb(kernel: &Kernel, ordinary: bool) {
    let limits = "[limits]\nmax_processes = 100\n";
    let mut scene = Scene::on(kernel, limits, ordinary);
    scene.more = serde_json::json!({"bomb": 400});
    let (row, all) = scene.attempt(&["fork-bomb"]);
    table::print(&format!("fork bomb, {kernel:?}"), &row, &all);
    let went = all.first().unwrap_or_else(|| panic!("{row:#}"));
    let bounded = !went.through && went.said.contains("Resource temporarily unavailable");
    table::holds(kernel, ordinary, &row, &all);
    let says = row["sandbox"]["weaker"].to_string();
    assert!(
        bounded || says.contains("the number of processes is not bounded"),
        "{kernel:?}: {all:?}: {row:#}"
    );
    assert_eq!(scene.sleepers(), [0; 0], "{kernel:?}");
    kernel.is_in(&row);
    scene.is_healthy();
}

#[test]
fn a_fork_bomb_ends_with_its_session() {
    for ordinary in less::users() {
        fork_bomb(&Kernel::FULL, ordinary);
    }
}

#[test]
fn a_fork_bomb_ends_with_its_session_where_the_kernel_has_less() {
    for kernel in Kernel::LESS {
        fork_bomb(kernel, false);
    }
}

fn large_file(kernel: &Kernel, ordinary: bool) {
    let mut scene = Scene::on(kernel, "[limits]\nmax_file_mb = 8\n", ordinary);
    scene.more = serde_json::json!({"fill_mb": 64});
    let (row, all) = scene.attempt(&["fill-disk"]);
    table::print(&format!("file size, {kernel:?}"), &row, &all);
    // SIGXFSZ ended the agent.
    assert!(all.is_empty(), "{all:?}");
    assert_eq!(row["outcome"], "FAILED", "{kernel:?}: {row:#}");
    assert!(
        row["reason"].as_str().unwrap().contains("signal 25"),
        "{row:#}"
    );
    let (name, stopped_by) = ("fill-disk, one large file", "file size limit (SIGXFSZ)");
    let record = "`FAILED`: `the CLI ended with signal 25`";
    table::is_said(kernel, ordinary, &row, name, stopped_by, record);
    kernel.is_in(&row);
    scene.is_healthy();
}

#[test]
fn a_file_has_a_largest_size() {
    for ordinary in less::users() {
        large_file(&Kernel::FULL, ordinary);
    }
}

/// The limits of a process need no wall at all; neither do those of its output.
#[test]
fn a_file_has_a_largest_size_where_the_kernel_has_nothing() {
    large_file(&Kernel::NOTHING, false);
}

fn odd_output(kernel: &Kernel, ordinary: bool) {
    let mut scene = Scene::on(kernel, "", ordinary);
    let (row, all) = scene.attempt(&["odd-output"]);
    table::print(&format!("odd output, {kernel:?}"), &row, &all);
    assert_eq!(row["outcome"], "OK", "{kernel:?}: {row:#}");
    assert!(all.first().is_some_and(|went| went.through), "{all:?}");
    let read = "nothing: it is read as it comes, and shown without control characters";
    table::is_said(kernel, ordinary, &row, "odd-output", read, "`OK`");
    kernel.is_in(&row);
    scene.is_healthy();
}

#[test]
fn odd_output_is_survived() {
    for ordinary in less::users() {
        odd_output(&Kernel::FULL, ordinary);
    }
}

#[test]
fn a_flood_of_output_costs_no_memory_and_its_end_is_read() {
    // `cargo xtask hostile` lets it be a gigabyte. What is held to is the same for any flood.
    let megabytes = std::env::var("CARSON_HOSTILE_FLOOD_MB");
    let megabytes: u64 = megabytes.map_or(96, |value| value.parse().unwrap());
    let mut scene = Scene::new("[limits]\nmax_output_mb = 2048\n", &[], false);
    let (quiet, _) = scene.attempt(&[]);
    assert_eq!(quiet["outcome"], "OK", "{quiet:#}");
    let base = peak_kb();
    scene.more = serde_json::json!({"flood_mb": megabytes});
    let (row, all) = scene.attempt(&["flood"]);
    let peak = peak_kb();
    table::print(
        &format!("flood: {base} kB before, {peak} kB with it"),
        &row,
        &all,
    );
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert!(peak < base + 16 * 1024, "{peak} kB, {base} kB without");
    let (name, stopped_by) = (
        "flood, less than allowed",
        "nothing: it is read in bounded memory",
    );
    table::is_said(&Kernel::FULL, false, &row, name, stopped_by, "`OK`");
    scene.is_healthy();
}

#[test]
fn odd_output_is_survived_where_the_kernel_has_nothing() {
    odd_output(&Kernel::NOTHING, false);
}

fn too_much_output(kernel: &Kernel, ordinary: bool) {
    let mut scene = Scene::on(kernel, "[limits]\nmax_output_mb = 16\n", ordinary);
    let (quiet, _) = scene.attempt(&[]);
    assert_eq!(quiet["outcome"], "OK", "{quiet:#}");
    let base = peak_kb();
    scene.more = serde_json::json!({"flood_mb": 64});
    let (row, all) = scene.attempt(&["flood"]);
    let peak = peak_kb();
    table::print(&format!("too much output, {kernel:?}"), &row, &all);
    assert_eq!(row["outcome"], "FAILED", "{kernel:?}: {row:#}");
    assert!(
        row["reason"].as_str().unwrap().contains("more than 16 MB"),
        "{row:#}"
    );
    assert!(peak < base + 16 * 1024, "{peak} kB, {base} kB without");
    let (name, stopped_by) = (
        "flood, more than allowed",
        "output limit: the session is ended",
    );
    let record = "`FAILED`: `printed more than 16 MB`";
    table::is_said(kernel, ordinary, &row, name, stopped_by, record);
    kernel.is_in(&row);
    scene.is_healthy();
}

#[test]
fn more_output_than_allowed_ends_the_session() {
    for ordinary in less::users() {
        too_much_output(&Kernel::FULL, ordinary);
    }
}

#[test]
fn more_output_than_allowed_ends_the_session_where_the_kernel_has_nothing() {
    too_much_output(&Kernel::NOTHING, false);
}

fn full_disk(kernel: &Kernel) {
    let mut scene = Scene::on(kernel, "", false);
    scene.more = serde_json::json!({"fill_mb": 128});
    scene.small_disk_mb = Some(48);
    // As small as it is, preflight must let the session begin.
    let settings = scene.fleet.home().join("carson.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let text = text.replace("[fleet]\n", "[fleet]\nmin_free_mb = 16\n");
    std::fs::write(settings, text).unwrap();
    let (row, all) = scene.attempt(&["fill-disk"]);
    table::print(&format!("full disk, {kernel:?}"), &row, &all);
    assert!(row["outcome"].is_string(), "{row:#}");
    let said = &all.first().unwrap_or_else(|| panic!("{row:#}")).said;
    assert!(said.contains("No space left"), "{kernel:?}: {said}");
    let (name, stopped_by) = ("fill-disk, a full disk", table::layer(&all[0]));
    let record = "its error, in the transcript; an outcome";
    table::is_said(kernel, false, &row, name, &stopped_by, record);
    kernel.is_in(&row);
    scene.small_disk_mb = None;
    scene.is_healthy();
}

#[test]
fn a_full_disk_ends_in_an_outcome() {
    full_disk(&Kernel::FULL);
}

#[test]
fn a_full_disk_ends_in_an_outcome_where_the_kernel_has_nothing() {
    full_disk(&Kernel::NOTHING);
}

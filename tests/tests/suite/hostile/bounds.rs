//! Attempts to use more than there is, to stay longer than allowed, and to confuse the reader.

use std::time::{Duration, Instant};

use super::scene::Scene;
use super::table;

#[test]
fn who_is_left_behind_is_found_and_the_record_says_so() {
    for ordinary in [false, true] {
        let mut scene = Scene::new("", &[], ordinary);
        let started = Instant::now();
        let (row, all) = scene.attempt(&["leave-daemons", "hold-the-pipe"]);
        table::print("left behind", &row, &all);
        assert!(all.iter().all(|went| went.through), "{all:?}");
        assert_eq!(scene.sleepers(), [0; 0]);
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "the pipe was waited for"
        );
        assert_eq!(row["outcome"], "OK", "{row:#}");
        assert_eq!(row["events"][0]["kind"], "session.left_behind", "{row:#}");
        scene.is_healthy();
    }
}

#[test]
fn a_fork_bomb_ends_with_its_session() {
    for ordinary in [false, true] {
        let limits = "[limits]\nmax_processes = 100\n";
        let mut scene = Scene::new(limits, &[], ordinary);
        scene.more = serde_json::json!({"bomb": 400});
        let (row, all) = scene.attempt(&["fork-bomb"]);
        table::print("fork bomb", &row, &all);
        let bounded = all.first().is_some_and(|went| !went.through);
        let says = row["sandbox"]["weaker"].to_string();
        assert!(bounded || says.contains("processes"), "{all:?}: {row:#}");
        assert_eq!(scene.sleepers(), [0; 0]);
        scene.is_healthy();
    }
}

#[test]
fn a_file_has_a_largest_size() {
    let mut scene = Scene::new("[limits]\nmax_file_mb = 8\n", &[], true);
    scene.more = serde_json::json!({"fill_mb": 64});
    let (row, all) = scene.attempt(&["fill-disk"]);
    table::print("file size", &row, &all);
    // SIGXFSZ ended the agent.
    assert!(all.is_empty(), "{all:?}");
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    assert!(
        row["reason"].as_str().unwrap().contains("Signal(25)"),
        "{row:#}"
    );
    scene.is_healthy();
}

#[test]
fn odd_output_is_survived() {
    let mut scene = Scene::new("", &[], false);
    let (row, all) = scene.attempt(&["odd-output"]);
    table::print("odd output", &row, &all);
    assert_eq!(row["outcome"], "OK", "{row:#}");
    scene.is_healthy();
}

#[test]
fn a_gigabyte_of_output_costs_no_memory_and_its_end_is_read() {
    let mut scene = Scene::new("[limits]\nmax_output_mb = 2048\n", &[], false);
    let (quiet, _) = scene.attempt(&[]);
    assert_eq!(quiet["outcome"], "OK", "{quiet:#}");
    let base = scene.peak_kb();
    scene.more = serde_json::json!({"flood_mb": 1024});
    let (row, all) = scene.attempt(&["flood"]);
    let peak = scene.peak_kb();
    table::print(
        &format!("flood: {base} kB before, {peak} kB with it"),
        &row,
        &all,
    );
    assert_eq!(row["outcome"], "OK", "{row:#}");
    assert!(peak < base + 16 * 1024, "{peak} kB, {base} kB without");
    scene.is_healthy();
}

#[test]
fn more_output_than_allowed_ends_the_session() {
    let mut scene = Scene::new("[limits]\nmax_output_mb = 16\n", &[], false);
    scene.more = serde_json::json!({"flood_mb": 64});
    let (row, _) = scene.attempt(&["flood"]);
    assert_eq!(row["outcome"], "FAILED", "{row:#}");
    assert!(
        row["reason"].as_str().unwrap().contains("more than 16 MB"),
        "{row:#}"
    );
    scene.is_healthy();
}

#[test]
fn a_full_disk_ends_in_an_outcome() {
    let mut scene = Scene::new("", &[], false);
    scene.more = serde_json::json!({"fill_mb": 128});
    scene.small_disk_mb = Some(48);
    // As small as it is, preflight must let the session begin.
    let settings = scene.fleet.home().join("carson.toml");
    let text = std::fs::read_to_string(&settings).unwrap();
    let text = text.replace("[fleet]\n", "[fleet]\nmin_free_mb = 16\n");
    std::fs::write(settings, text).unwrap();
    let (row, all) = scene.attempt(&["fill-disk"]);
    table::print("full disk", &row, &all);
    assert!(row["outcome"].is_string(), "{row:#}");
    let said = &all.first().unwrap_or_else(|| panic!("{row:#}")).said;
    assert!(said.contains("No space left"), "{said}");
    scene.small_disk_mb = None;
    scene.is_healthy();
}

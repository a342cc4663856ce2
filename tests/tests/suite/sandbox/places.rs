//! Where a home may lie.

use std::path::Path;

use carson_tests::fleet::TestFleet;

/// Shared memory is a place as any other, though every session has a `/dev` of its own.
#[test]
fn a_home_in_shared_memory_works() {
    let place = Path::new("/dev/shm");
    if !place.is_dir() {
        return; // This machine has none.
    }
    for force in ["{}", "{\"namespaces\":false}", "{\"landlock\":0}"] {
        let fleet = TestFleet::below(place).with_env("CARSON_SANDBOX_FORCE", force);
        fleet.script(
            "[[when]]\ndo = [{ edit = { path = \"a.txt\", content = \"a\\n\" } }, \
             { commit = \"A\" }, { say = \"[OK] done\" }]",
        );
        fleet.role("worker", "play", "stages = [\"execute\"]\n");
        fleet.issue("worker", "Work", "Well.");
        let fleet = fleet.as_ordinary_user();
        let ran = fleet.fire("worker");
        assert_eq!(
            (ran.code, &ran.json()["outcome"]),
            (Some(0), &"OK".into()),
            "{force}: {ran:#?}"
        );
        assert_eq!(fleet.pulls().len(), 1, "{force}");
    }
}

//! `carson undo`, as an operator types it.

use carson_tests::judge::sound;

#[test]
fn a_firing_is_taken_back_once_somebody_says_yes() {
    let fleet = sound();
    let before = fleet.labels(1);
    let row = fleet.fire("hand").json();
    assert_eq!(row["outcome"], "OK", "{row:#}");
    let id = row["id"].as_str().unwrap();
    // All ways to say which are named, also where they are not needed.
    for (args, names) in [
        (&["undo"][..], "<FIRING|--since <WHEN>>"),
        (&["logs"], "<ID|--since <WHEN>>"),
        (&["memory", "revert"], "<ID|--since <WHEN>|--firing"),
        (&["memory", "import"], "<FILE|--alfred"),
    ] {
        let ran = fleet.carson(args);
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(ran.stderr.contains(names), "{ran:#?}");
    }

    let shown = fleet.carson(&["undo", id]);
    assert_eq!(shown.code, Some(2), "{shown:#?}");
    assert!(shown.stdout.contains("  to do   close pull request #"));
    assert!(shown.stderr.contains("add --yes"), "{shown:#?}");
    assert_eq!(fleet.pulls()[0]["state"], "open");

    // Nobody touched what it wrote, so all of it goes.
    let undone = fleet.carson(&["undo", id, "--yes"]);
    assert_eq!(undone.code, Some(0), "{undone:#?}");
    assert!(!undone.stdout.contains("  left "), "{undone:#?}");
    assert_eq!(fleet.pulls()[0]["state"], "closed");
    assert_eq!(fleet.labels(1), before);
    let again = fleet.carson(&["undo", id, "--yes"]);
    assert_eq!(again.code, Some(0), "{again:#?}");
    assert!(again.stdout.contains("was taken back before"), "{again:#?}");
}

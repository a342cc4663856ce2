//! What sessions write into their outbox is hostile.

use super::{asks, comments, crew, ends, fire, in_people_s_place, reason};

/// What each of these sessions gets is a refusal that says why, and nothing is done.
#[test]
fn nothing_is_done_of_what_no_role_may_ask_for() {
    for (outbox, why) in [
        ("ln -s /etc/passwd \"$CARSON_OUTBOX\"", "no plain file"),
        ("mkfifo \"$CARSON_OUTBOX\"", "no plain file"),
        ("mkdir \"$CARSON_OUTBOX\"", "no plain file"),
        (
            "head -c 300000 /dev/zero >\"$CARSON_OUTBOX\"",
            "no plain file",
        ),
        ("printf '{' >\"$CARSON_OUTBOX\"", "EOF"),
        ("printf '\\377\\376' >\"$CARSON_OUTBOX\"", "UTF-8"),
        (
            "{ printf '{\"version\":1,\"effects\":['; yes '[' | head -c 200000 | tr -d '\\n'; } >\"$CARSON_OUTBOX\"",
            "cannot be read",
        ),
        (
            "printf '{\"version\":1,\"effects\":[{\"kind\":\"merge\",\"pull\":1}]}' >\"$CARSON_OUTBOX\"",
            "unknown variant",
        ),
        (
            "printf '{\"version\":1,\"effects\":[{\"kind\":\"label\",\"issue\":1,\"add\":[\"carson:done\"]}]}' >\"$CARSON_OUTBOX\"",
            "steers the fleet",
        ),
        (
            "printf '{\"version\":1,\"effects\":[{\"kind\":\"label\",\"issue\":1,\"remove\":[\"for:hand\"]}]}' >\"$CARSON_OUTBOX\"",
            "steers the fleet",
        ),
        (
            "printf '{\"version\":1,\"effects\":[{\"kind\":\"comment\",\"issue\":2,\"body\":\"b\"}]}' >\"$CARSON_OUTBOX\"",
            "was given #1",
        ),
        ("true", "asked for nothing"),
    ] {
        let fleet = crew(
            "triager",
            &format!("{outbox}\necho '[OK] asked'"),
            "[limits]\nmax_attempts = 1\n",
        );
        let row = fire(&fleet, "triager");
        assert!(reason(&row).contains(why), "{outbox}: {row:#}");
        assert!(
            ["BLOCKED", "FAILED"].contains(&row["outcome"].as_str().unwrap()),
            "{row:#}"
        );
        assert_eq!(fleet.labels(1), ["for:hand"], "{outbox}");
        assert!(comments(&fleet, 1).is_empty(), "{outbox}");
    }
}

#[test]
fn a_session_hears_what_was_refused_and_what_it_leaves_in_the_tree_is_not_done_well() {
    let session = "if grep -q 'are refused' \"$CARSON_TMP/prompt\"; then add=p2; else add=p9; fi\n\
                   printf '{\"version\":1,\"effects\":[{\"kind\":\"label\",\"issue\":1,\"add\":[\"%s\"]}]}' $add >\"$CARSON_OUTBOX\"\n\
                   echo '[OK] asked'";
    let fleet = crew("triager", session, "");
    let row = ends(&fleet, "triager", "OK");
    assert_eq!(row["attempts"], 2, "{row:#}");
    assert!(fleet.labels(1).contains(&"p2".to_owned()));
    let shown = fleet.firing(row["id"].as_str().unwrap());
    let blocked = shown["blocked_calls"].as_array().unwrap();
    assert!(blocked.iter().any(|one| one["tool"] == "outbox"), "{row:#}");

    let entries = r#"{"kind": "label", "issue": 1, "add": ["p2"]}"#;
    let fleet = crew("triager", &format!("date >mine.txt\n{}", asks(entries)), "");
    let row = ends(&fleet, "triager", "PARTIAL");
    assert!(reason(&row).contains("its role makes none"), "{row:#}");
    assert_eq!(fleet.labels(1), ["for:hand"]);
}

#[test]
fn no_grant_reaches_what_steers_the_fleet_and_no_branch_is_made_of_what_it_leaves() {
    for label in [
        "needs:human",
        "do-not-pickup",
        "do-not-review",
        "plan-pending-approval",
        "plan-approved",
        "Plan-Approved",
        "Carson:done",
    ] {
        let add = format!(r#"{{"kind": "label", "issue": 1, "add": ["{label}"]}}"#);
        let grant = "[limits]\nmax_attempts = 1\n[grant]\nlabels = [\"*\"]\n";
        let fleet = crew("triager", &asks(&add), grant);
        let row = ends(&fleet, "triager", "BLOCKED");
        assert!(reason(&row).contains("steers the fleet"), "{row:#}");
        assert_eq!(fleet.labels(1), ["for:hand"]);
    }
    let entries = r#"{"kind": "label", "issue": 1, "add": ["p2"]}"#;
    let commits = format!(
        "date >mine.txt; git add .; git commit --quiet -m Mine\n{}",
        asks(entries)
    );
    let fleet = crew("triager", &commits, "");
    let row = ends(&fleet, "triager", "PARTIAL");
    assert!(!row["salvage_ref"].is_null(), "{row:#}");
    assert_eq!(fleet.branches().len(), 0, "{:?}", fleet.branches());
}

#[test]
fn what_was_closed_meanwhile_is_left_alone() {
    let session = "printf '{\"version\":1,\"effects\":[{\"kind\":\"comment\",\"issue\":1,\"body\":\"b\"}]}' >\"$CARSON_OUTBOX\"\n\
                   sed -i 's/^state = \"open\"/state = \"closed\"/' \"$FORGE/issues/0001.md\"; echo '[OK] asked'";
    let fleet = crew("triager", session, "");
    in_people_s_place(&fleet, "triager");
    let row = ends(&fleet, "triager", "SKIPPED");
    assert!(reason(&row).contains("it was closed"), "{row:#}");
    assert!(comments(&fleet, 1).is_empty());
}

use super::{comments, crew, ends, in_people_s_place, prompt, reason};

#[test]
fn a_new_issue_is_judged_once_and_the_next_one_after_it() {
    let session = "printf '{\"version\":1,\"effects\":[{\"kind\":\"label\",\"issue\":%s,\"add\":[\"p1\"]},{\"kind\":\"comment\",\"issue\":%s,\"body\":\"Which version, @ann?\"}]}' \"$CARSON_WORK\" \"$CARSON_WORK\" >\"$CARSON_OUTBOX\"; echo '[OK] asked'";
    let fleet = crew("triager", session, "");
    assert_eq!(fleet.issue("nobody", "Second", "It is slow."), 2);
    let first = ends(&fleet, "triager", "OK");
    assert_eq!(first["work"], "issue-1");
    assert_eq!(reason(&first), "1 change of labels, 1 comment");
    assert!(fleet.labels(1).contains(&"p1".to_owned()));
    // Its queue's label is as it was: the issue is still to be worked on.
    assert!(fleet.labels(1).contains(&"for:hand".to_owned()));
    let said = comments(&fleet, 1);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("Which version, @\u{2060}ann?"), "{said:?}");
    assert!(
        prompt(&fleet, "triager").contains("Your role may ask for: 1 comment; labels among p0")
    );
    assert_eq!(ends(&fleet, "triager", "OK")["work"], "issue-2");
    let none = ends(&fleet, "triager", "SILENT");
    assert_eq!(reason(&none), "no work found");
    // Nothing of it is work of the implementer's, nor in its way.
    assert_eq!(ends(&fleet, "hand", "OK")["work"], "issue-1");
}

#[test]
fn what_people_did_meanwhile_stands_and_what_was_judged_is_left_alone_for_days() {
    let session = "printf '{\"version\":1,\"effects\":[{\"kind\":\"label\",\"issue\":1,\"add\":[\"p3\",\"needs-info\"]}]}' >\"$CARSON_OUTBOX\"\n\
                   sed -i 's/\\[\"for:hand\"\\]/[\"for:hand\", \"p0\"]/' \"$FORGE/issues/0001.md\"; echo '[OK] asked'";
    let fleet = crew("triager", session, "");
    in_people_s_place(&fleet, "triager");
    ends(&fleet, "triager", "OK");
    let labels = fleet.labels(1);
    assert!(
        labels.contains(&"p0".to_owned()) && labels.contains(&"needs-info".to_owned()),
        "{labels:?}"
    );
    assert!(!labels.contains(&"p3".to_owned()), "{labels:?}");
    let _ = fleet.ok(&["issue", "label", "1", "--remove", "p0", "--json"]);
    let left = ends(&fleet, "triager", "SILENT");
    assert!(
        reason(&left).ends_with("#1 is not taken: it was judged within the last 7 days"),
        "{left:#}"
    );
    let why = fleet.carson(&["why", "triager"]);
    assert!(
        why.stdout.contains("judged within the last 7 days"),
        "{why:#?}"
    );
}

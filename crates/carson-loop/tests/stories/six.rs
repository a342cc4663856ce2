//! Six stories: one leaves its scope, one lacks its report, one has a promise that holds only the second time.

use serde_json::json;

use carson_loop::stories::native::Asked;

use crate::tree::{Tree, story};

const EXECUTOR: &str = r#"
echo "$CARSON_STORY_ID $CARSON_STORY_ATTEMPT" >> "$OUT/calls"
cat > "$OUT/stdin"
cmp -s "$OUT/stdin" "$CARSON_STORY_PROMPT" || exit 99
case "$CARSON_STORY_ID" in
  S-1) echo one >> docs/a.md ;;
  S-2) echo two > docs/b.md; mkdir src/deep; echo outside > src/deep/evil; rm src/keep.txt ;;
  S-3) : ;;
  S-4) echo four > docs/four.md ;;
  S-10) mkdir audit || exit 98
    if [ "$CARSON_STORY_ATTEMPT" = 1 ]; then echo half > audit/r.md; exit 9; fi; echo r > audit/r.md ;;
esac
"#;

#[tokio::test]
async fn the_table_and_its_replay() {
    let tree = Tree::new().await;
    tree.plan(&[
        story(
            "S-10",
            json!({"mode": "audit", "acceptance": ["Created audit/r.md with findings"]}),
        ),
        story(
            "S-4",
            json!({"promise": "echo x >> \"$OUT/asked\"; [ \"$(wc -l < \"$OUT/asked\")\" -ge 2 ]"}),
        ),
        story("S-3", json!({"acceptance": ["Created docs/report.md"]})),
        story("S-2", json!({})),
        story("S-1", json!({"priority": 0})),
        story("S-5", json!({"status": "skipped"})),
    ]);
    let asked = Asked {
        max_attempts: Some(2),
        ..Asked::default()
    };
    let before = tree.snapshot();
    let ran = tree.run_as(EXECUTOR, asked).await;
    let rows = tree.rows();
    let row =
        |id: &str, status, attempts, last: &str| (id.to_owned(), status, attempts, last.to_owned());
    let right = [
        row("S-1", "passing", 1, "passed"),
        row("S-2", "failed", 1, "out_of_scope"),
        row("S-3", "failed", 2, "missing"),
        row("S-4", "passing", 2, "passed"),
        row("S-5", "skipped", 0, ""),
        row("S-10", "passing", 2, "passed"),
    ];
    assert_eq!(rows, right, "{:#?}", ran.told);
    assert_eq!(ran.came().failed, ["S-2", "S-3"]);
    assert_eq!(ran.came().open, 0);

    // One call for each attempt, in this order.
    let calls = std::fs::read_to_string(tree.outside().join("calls")).unwrap();
    assert_eq!(
        calls,
        "S-1 1\nS-2 1\nS-3 1\nS-3 2\nS-4 1\nS-4 2\nS-10 1\nS-10 2\n"
    );

    // Of stories that failed nothing is left in the tree, and their changes are kept.
    let changes = tree.changes(&before);
    let right = [
        "audit (added)",
        "audit/r.md (added)",
        "docs/a.md (changed)",
        "docs/four.md (added)",
        "docs (",
        "src (",
    ];
    assert!(
        changes
            .iter()
            .all(|change| right.iter().any(|one| change.starts_with(one))),
        "{changes:?}"
    );
    assert!(tree.has("src/keep.txt") && !tree.has("src/deep"));
    let patch = tree.read(".carson/stories/attempts/S-2-1.patch");
    for part in ["+two", "+outside", "-keep", "deleted file mode 100644"] {
        assert!(patch.contains(part), "{part}: {patch}");
    }
    let half = tree.read(".carson/stories/attempts/S-10-1.patch");
    assert!(half.contains("+half"), "{half}");
    assert_eq!(tree.read("audit/r.md"), "r\n");

    // The same story was asked the same, byte for byte.
    let events = tree.events();
    let hashes = |id: &str| -> Vec<_> {
        let began = events
            .iter()
            .filter(|event| event["event"] == "attempt_began" && event["story"] == id);
        began
            .map(|event| event["prompt_hash"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(hashes("S-3").len(), 2);
    assert_eq!(hashes("S-3")[0], hashes("S-3")[1]);
    let prompt = std::fs::read(tree.root.join(".carson/stories/attempts/S-3-1.prompt.md")).unwrap();
    assert_eq!(
        carson_loop::digest::Digest::of(&prompt).to_string(),
        hashes("S-3")[0]
    );
    tree.hold();

    // Nothing is left to be done, and what was given up is not taken up by itself.
    let again = tree.run(EXECUTOR).await;
    assert!(again.came().taken.is_empty());
    tree.hold();
}

#[tokio::test]
async fn without_a_repository_it_is_the_same() {
    let tree = Tree::bare();
    tree.plan(&[story("S-2", json!({})), story("S-1", json!({}))]);
    let before = tree.snapshot();
    let ran = tree
        .run("case $CARSON_STORY_ID in S-2) echo x > src/evil;; *) echo y > docs/y;; esac")
        .await;
    assert_eq!(ran.outcomes(), ["passed", "out_of_scope"]);
    let changes = tree.changes(&before);
    assert!(
        changes.contains(&"docs/y (added)".to_owned()) && !tree.has("src/evil"),
        "{changes:?}"
    );
    tree.hold();
}

#[tokio::test]
async fn bounds_are_kept() {
    let tree = Tree::bare();
    let stories: Vec<_> = (1..=4)
        .map(|n| story(&format!("S-{n}"), json!({})))
        .collect();
    tree.plan(&stories);
    let asked = |stories, fail_fast| Asked {
        max_attempts: Some(3),
        timeout: Some(1),
        stories,
        fail_fast,
        ..Asked::default()
    };
    // As many attempts as it gets, and no more; the run goes on.
    let ran = tree.run_as("exit 3", asked(Some(2), false)).await;
    assert_eq!(ran.outcomes(), ["tool_failed"; 6]);
    assert_eq!((ran.came().failed.len(), ran.came().open), (2, 2));
    // A time for each, and all that it started ends with it.
    let slow = "sleep 1000 & echo $! > \"$OUT/pid\"; wait";
    let ran = tree
        .run_as(
            slow,
            Asked {
                max_attempts: Some(1),
                ..asked(None, true)
            },
        )
        .await;
    assert_eq!(ran.outcomes(), ["timed_out"]);
    assert_eq!(ran.came().open, 1, "the first that fails ends it");
    let pid = std::fs::read_to_string(tree.outside().join("pid")).unwrap();
    assert_eq!(
        carson_proc::ProcessId::of(pid.trim().parse().unwrap()),
        None
    );
    // What cannot be started is nobody's failure.
    let ran = tree
        .run_as("exec no-such-program", asked(None, false))
        .await;
    let error = ran.came.unwrap_err().to_string();
    assert!(error.contains("cannot be run"), "{error}");
    assert_eq!(tree.rows()[3].1, "open");
    tree.hold();
}

#[tokio::test]
async fn a_promise_must_hold_as_often_as_is_wanted() {
    let tree = Tree::bare();
    let counted = "echo x >> \"$OUT/asked\"; [ \"$(wc -l < \"$OUT/asked\")\" != 2 ]";
    tree.plan(&[story("S-1", json!({"promise": counted}))]);
    let asked = Asked {
        verify_runs: Some(3),
        max_attempts: Some(1),
        ..Asked::default()
    };
    let ran = tree.run_as("echo x > docs/x", asked).await;
    assert_eq!(
        ran.why(),
        ["the promise did not hold in run 2 of 3: exit code 1"]
    );
    assert!(!tree.has("docs/x"));
}

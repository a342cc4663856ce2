//! The prompt as Codex reads it.

use super::super::prd::Step;
use super::*;

fn story(mode: Mode) -> Story {
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
    Story {
        id: "FIX-001".into(),
        title: "A title".into(),
        priority: 1.0,
        mode,
        scope: texts(&["*", "!**/*.tmp"]),
        acceptance: texts(&["Created audit/FIX-001.md with it", "fine"]),
        created: "Created audit/FIX-001.md with it".into(),
        passes: false,
        skipped: false,
        objective: "It is right.".into(),
        steps: vec![Step {
            id: String::new(),
            title: "Look".into(),
            actions: texts(&["a", "b"]),
            expected_evidence: texts(&["e"]),
            done_when: texts(&["d"]),
        }],
        verification: texts(&["v"]),
        out_of_scope: texts(&["o"]),
        notes: "N.".into(),
    }
}

fn of(story: &Story) -> Inputs<'_> {
    Inputs {
        story,
        report: "audit/FIX-001.md",
        sandbox: "workspace-write",
        day: "2026-01-02",
        must_name_sources: true,
        must_leave_learning: true,
        checks: &[],
        policy: "# Policy\n",
    }
}

#[test]
fn reads_so() {
    let story = story(Mode::Fixing);
    insta::assert_snapshot!(prompt(&of(&story)));
}

#[test]
fn what_is_empty_has_no_section() {
    let bare = Story {
        objective: String::new(),
        steps: Vec::new(),
        verification: Vec::new(),
        out_of_scope: Vec::new(),
        notes: String::new(),
        ..story(Mode::Audit)
    };
    let text = prompt(&Inputs {
        must_name_sources: false,
        ..of(&bare)
    });
    for section in [
        "objective",
        "Execution steps",
        "Verification",
        "Out of scope",
        "notes",
        "research",
        "candidates",
    ] {
        assert!(!text.contains(section), "{section}");
    }
    assert!(!text.contains("learnings.md"), "an audit leaves none");
    assert_eq!(
        text,
        prompt(&Inputs {
            must_name_sources: false,
            ..of(&bare)
        })
    );
}

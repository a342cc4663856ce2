//! The rules of SEEDS.md, one by one.

use super::*;

pub(crate) const PRD: &str = r#"{
  "schema_version": "1.0.0",
  "project": "p",
  "defaults": {
    "mode_default": "audit",
    "max_stories_default": "all_open",
    "model_default": "gpt",
    "reasoning_effort_default": "high",
    "report_dir": "./audit/",
    "sandbox_by_mode": {"audit": "read-only", "linting": "read-only", "fixing": "workspace-write"},
    "lint_detection_order": ["Makefile"]
  },
  "stories": [
    {
      "id": "FIX-002", "title": "t", "priority": 2, "mode": "fixing", "scope": ["docs/**"],
      "acceptance_criteria": ["Created audit/FIX-002.md with it", "fine"], "passes": false
    },
    {
      "id": "FIX-001", "title": "t", "priority": 2, "mode": "fixing", "scope": ["docs/**"],
      "acceptance_criteria": ["Created `./audit/FIX-001.md`"], "passes": false, "notes": "n"
    },
    {
      "id": "AUDIT-001", "title": "t", "priority": 1, "mode": "audit", "scope": ["**/*"],
      "acceptance_criteria": ["Created audit/AUDIT-001.md"], "passes": false
    }
  ]
}"#;

/// The PRD with a value at a place: `stories/0/title`; nothing takes the key away.
fn with(changes: &[(&str, &str)]) -> Json {
    let mut document = Json::parse(PRD).unwrap();
    for (path, value) in changes {
        let mut parts: Vec<&str> = path.split('/').collect();
        let key = parts.pop().unwrap();
        let mut at = &mut document;
        for part in parts {
            at = match part.parse::<usize>() {
                Ok(index) => &mut at.list_mut().unwrap()[index],
                Err(_) => at.object_mut().unwrap().get_mut(part).unwrap(),
            };
        }
        let object = at.object_mut().unwrap();
        match *value {
            "" => object.remove(key),
            value => object.set(key, Json::parse(value).unwrap()),
        }
    }
    document
}

fn said(changes: &[(&str, &str)]) -> Vec<String> {
    let findings = Prd::read(with(changes), &Contract::default());
    findings
        .err()
        .unwrap_or_default()
        .iter()
        .map(|one| one.at.to_string())
        .collect()
}

#[test]
fn what_is_refused_and_where() {
    let passes = ("stories/0/passes", "true");
    let when = ("stories/0/completed_at", "\"2026-01-02T03:04:05Z\"");
    let report = ("stories/0/report_path", "\"audit/x.md\"");
    for (changes, right) in [
        (&[][..], &[][..]),
        (&[("unexpected", "true")], &["/unexpected"]),
        (&[("schema_version", "\"1.0\"")], &["/schema_version"]),
        (&[("project", "\"\"")], &["/project"]),
        (
            &[("branch_name", "\"a\""), ("branchName", "\"b\"")],
            &["/branchName"],
        ),
        (&[("branch_name", "\"a\""), ("branchName", "\"a\"")], &[]),
        (&[("defaults/extra", "1")], &["/defaults/extra"]),
        (
            &[("defaults/model_default", "")],
            &["/defaults", "/defaults/model_default"],
        ),
        (
            &[("defaults/max_stories_default", "-1")],
            &["/defaults/max_stories_default"],
        ),
        (&[("defaults/max_stories_default", "2.0")], &[]),
        (
            &[("defaults/max_stories_default", "\"all\"")],
            &["/defaults/max_stories_default"],
        ),
        (
            &[("defaults/reasoning_effort_default", "\"max\"")],
            &["/defaults/reasoning_effort_default"],
        ),
        (
            &[("defaults/report_dir", "\"/audit\"")],
            &["/defaults/report_dir"],
        ),
        (
            &[("defaults/report_dir", "\"a/../b\"")],
            &["/defaults/report_dir"],
        ),
        (
            &[("defaults/sandbox_by_mode/audit", "\"workspace-write\"")],
            &["/defaults/sandbox_by_mode/audit"],
        ),
        (
            &[("defaults/sandbox_by_mode/other", "1")],
            &["/defaults/sandbox_by_mode/other"],
        ),
        (
            &[("defaults/lint_detection_order", "[]")],
            &["/defaults/lint_detection_order"],
        ),
        (&[("stories", "[]")], &["/stories"]),
        (
            &[("stories/0/unexpected", "true")],
            &["/stories/0/unexpected"],
        ),
        (&[("stories/0/id", "\"BAD/001\"")], &["/stories/0/id"]),
        (&[("stories/0/id", "\"FIX-1\"")], &["/stories/0/id"]),
        (&[("stories/0/id", "\"FIX-001\"")], &["/stories/1/id"]),
        (&[("stories/0/priority", "0")], &["/stories/0/priority"]),
        (&[("stories/0/priority", "1.5")], &["/stories/0/priority"]),
        (&[("stories/0/mode", "\"fix\"")], &["/stories/0/mode"]),
        (&[("stories/0/scope", "[123]")], &["/stories/0/scope/0"]),
        (&[("stories/0/scope", "[]")], &["/stories/0/scope"]),
        (
            &[("stories/0/acceptance_criteria", "[\"Created   \"]")],
            &["/stories/0/acceptance_criteria"],
        ),
        (
            &[(
                "stories/0/acceptance_criteria",
                "[\"Created a.md\", \"Created b.md\"]",
            )],
            &["/stories/0/acceptance_criteria"],
        ),
        (
            &[("stories/0/acceptance_criteria", "[\"Created a.md\", 7]")],
            &["/stories/0/acceptance_criteria/1"],
        ),
        (&[("stories/0/passes", "\"no\"")], &["/stories/0/passes"]),
        (&[("stories/0/passes", "")], &["/stories/0"]),
        (
            &[passes],
            &["/stories/0/report_path", "/stories/0/completed_at"],
        ),
        (&[passes, report], &["/stories/0/completed_at"]),
        (&[passes, report, when], &[]),
        (
            &[passes, when, ("stories/0/report_path", "\"audit/x.txt\"")],
            &["/stories/0/report_path"],
        ),
        (
            &[passes, when, ("stories/0/report_path", "\"../x.md\"")],
            &["/stories/0/report_path"],
        ),
        (&[report], &["/stories/0/report_path"]),
        (&[when], &["/stories/0/completed_at"]),
        (
            &[("stories/0/skipped", "true")],
            &["/stories/0/skip_reason", "/stories/0/skipped_at"],
        ),
        (
            &[
                ("stories/0/skipped", "true"),
                ("stories/0/skip_reason", "\"r\""),
                ("stories/0/skipped_at", "\"2026-01-02T03:04:05+01:00\""),
            ],
            &[],
        ),
        (
            &[("stories/0/skip_reason", "\"r\"")],
            &["/stories/0/skip_reason"],
        ),
        (
            &[(
                "stories/0/steps",
                r#"[{"title": "x", "actions": [], "expected_evidence": ["e"], "done_when": ["d"]}]"#,
            )],
            &["/stories/0/steps/0/actions"],
        ),
        (&[("stories/0/steps", "[]")], &["/stories/0/steps"]),
        (
            &[("stories/0/objective", "\"\"")],
            &["/stories/0/objective"],
        ),
        (&[("stories/0/notes", "\"\"")], &[]),
        (&[("stories/0/verification", "[]")], &[]),
        (
            &[("stories/0/out_of_scope", "[\"\"]")],
            &["/stories/0/out_of_scope/0"],
        ),
    ] {
        assert_eq!(said(changes), right, "{changes:?}");
    }
}

#[test]
fn all_of_it_at_once() {
    let found = said(&[
        ("project", "1"),
        ("stories/0/title", ""),
        ("stories/2/scope", "7"),
    ]);
    assert_eq!(
        found,
        [
            "/project",
            "/stories/0",
            "/stories/0/title",
            "/stories/2/scope"
        ]
    );
}

#[test]
fn a_contract_of_the_teams_own_is_kept() {
    let mut contract = Contract::default();
    contract.root.insert("unexpected".into());
    assert!(Prd::read(with(&[("unexpected", "1")]), &contract).is_ok());
    contract.defaults.insert("custom_required_key".into());
    let found = Prd::read(with(&[]), &contract).unwrap_err();
    assert_eq!(found[0].message, "has no `custom_required_key`");
}

#[test]
fn what_is_read_and_in_what_order() {
    let prd = Prd::read(with(&[("branchName", "\"b\"")]), &Contract::default()).unwrap();
    assert_eq!(
        (prd.defaults.report_dir.as_str(), prd.branch.as_deref()),
        ("audit", Some("b"))
    );
    let ids: Vec<&str> = prd
        .open(Mode::Fixing)
        .iter()
        .map(|story| story.id.as_str())
        .collect();
    assert_eq!(ids, ["FIX-001", "FIX-002"]);
    assert_eq!(
        report_of(&prd.stories[1].created),
        PathBuf::from("audit/FIX-001.md")
    );
}

#[test]
fn a_story_that_passed_or_was_skipped_keeps_the_rules_and_its_place() {
    let now = "2026-01-02T03:04:05Z";
    let prd = Prd::read(with(&[]), &Contract::default()).unwrap();
    let skipped = prd.clone().skipped("FIX-001", "why", now);
    assert!(skipped.story("FIX-001").unwrap().skipped);
    let passed = skipped.passed("FIX-001", "audit/FIX-001.md", now);
    assert!(passed.story("FIX-001").unwrap().passes);
    let again = Prd::read(passed.document.clone(), &Contract::default()).unwrap();
    assert_eq!(again, passed);
    let keys: Vec<&str> = passed
        .document
        .object()
        .unwrap()
        .entries()
        .map(|(key, _)| key)
        .collect();
    assert_eq!(keys, ["schema_version", "project", "defaults", "stories"]);
    let story = &passed.document.get("stories").unwrap().list().unwrap()[1];
    let keys: Vec<&str> = story
        .object()
        .unwrap()
        .entries()
        .map(|(key, _)| key)
        .collect();
    let right = [
        "id",
        "title",
        "priority",
        "mode",
        "scope",
        "acceptance_criteria",
        "passes",
        "notes",
        "skipped",
        "completed_at",
        "report_path",
    ];
    assert_eq!(keys, right);
}

#[test]
fn it_is_told_from_a_plan_of_carsons() {
    let is_one = |text: &str| Prd::is_one(&Json::parse(text).unwrap());
    assert!(is_one(PRD));
    assert!(is_one(
        r#"{"stories": [{"passes": false, "acceptance_criteria": []}]}"#
    ));
    assert!(!is_one(r#"{"version": 1, "project": "p", "stories": []}"#));
    assert!(!is_one("[]"));
}

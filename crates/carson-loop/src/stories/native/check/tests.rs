//! What is refused, and that nothing else is.

use proptest::prelude::*;

use super::*;

fn said(text: &str) -> Vec<String> {
    let document = Json::parse(text).unwrap();
    let findings = checked(&document).err().unwrap_or_default();
    findings.iter().map(ToString::to_string).collect()
}

/// A story with these entries in place of, or beside, what every story has.
fn with(entries: &[(&str, &str)]) -> Vec<String> {
    let mut document = Json::parse(SMALL).unwrap();
    let stories = document.object_mut().unwrap();
    let mut story = stories.get("stories").unwrap().list().unwrap()[0].clone();
    for (key, value) in entries {
        let object = story.object_mut().unwrap();
        match *value {
            "" => object.remove(key),
            value => object.set(key, Json::parse(value).unwrap()),
        }
    }
    stories.set("stories", Json::List(vec![story]));
    said(&document.pretty())
}

const SMALL: &str = r#"{
  "version": 1, "project": "p",
  "stories": [{"id": "S-1", "priority": 1, "title": "t", "prompt": "do it", "scope": ["src/"]}]
}"#;

#[test]
fn what_is_left_out_has_a_default() {
    let plan = checked(&Json::parse(SMALL).unwrap()).unwrap();
    let story = &plan.stories[0];
    assert_eq!((story.mode, story.attempts), (Mode::Fix, 0));
    assert_eq!(story.status.as_str(), "open");
    assert_eq!((&story.promise, &plan.executor), (&None, &None));
}

#[test]
fn all_that_is_wrong_is_said_at_once_and_where() {
    let found = said(
        r#"{
          "version": 2, "name": "x", "max_attempts": 0,
          "stories": [
            {"id": "S 1", "priority": -1, "title": "", "prompt": 7, "mode": "write", "scope": ["a", "../b"], "status": "done"},
            {"id": "S-2", "title": "t", "prompt": "p", "acceptance": ["Created /etc/x", "fine"], "attempts": 1.5, "attempts": 1.5},
            "S-3"
          ]
        }"#,
    );
    insta::assert_snapshot!(found.join("\n"));
}

#[test]
fn what_no_schema_can_say() {
    for (entries, right) in [
        (
            &[("scope", r#"["src/", ""]"#)][..],
            "/stories/0/scope/1: covers nothing: it is empty",
        ),
        (
            &[("scope", r##"["# x"]"##)],
            "/stories/0/scope/0: covers nothing",
        ),
        (
            &[("scope", r#"["[a"]"#)],
            "/stories/0/scope/0: is no pattern as in .gitignore",
        ),
        (&[("scope", "[]")], "/stories/0: may change nothing"),
        (
            &[("scope", r#"["!src/", "!docs/"]"#)],
            "/stories/0/scope: covers nothing",
        ),
        (
            &[("scope", r#"["src/", "/"]"#)],
            "/stories/0/scope/1: covers nothing",
        ),
        (
            &[("acceptance", r#"["Created docs/"]"#)],
            "/stories/0/acceptance/0: names a directory",
        ),
        (
            &[("mode", r#""audit""#)],
            "/stories/0: an audit leaves a report",
        ),
        (
            &[("acceptance", r#"["Created ../x"]"#)],
            "/stories/0/acceptance/0: leads out",
        ),
        (
            &[("acceptance", r#"["Created .git/x"]"#)],
            "/stories/0/acceptance/0: is git's",
        ),
        (
            &[("title", r#""a\nb""#)],
            "/stories/0/title: must be one line",
        ),
        (
            &[("title", r#""a\u202eb""#)],
            "/stories/0/title: holds U+202E",
        ),
        (
            &[("promise", r#""  ""#)],
            "/stories/0/promise: must not be empty",
        ),
        (
            &[("priority", "99999999999999999999")],
            "/stories/0/priority: must be a whole number",
        ),
        (
            &[("attempts", "4294967296")],
            "/stories/0/attempts: must be 4294967295 or less",
        ),
        (&[("id", r#""../x""#)], "/stories/0/id: must look like"),
        (&[("id", r#""-rf""#)], "/stories/0/id: must look like"),
        (
            &[("surprise", "1")],
            "/stories/0/surprise: is not known here (known are ",
        ),
        (&[("prompt", "")], "/stories/0: has no `prompt`"),
    ] {
        let found = with(entries);
        assert_eq!(found.len(), 1, "{entries:?}: {found:?}");
        assert!(found[0].starts_with(right), "{entries:?}: {found:?}");
    }
    for entries in [
        &[("scope", "[]"), ("acceptance", r#"["Created a.md"]"#)][..],
        &[
            ("mode", r#""audit""#),
            ("acceptance", r#"["Created `a b.md` well"]"#),
        ],
        &[("promise", "null"), ("prompt", r#""a\n\tb""#)],
        &[
            ("id", r#""FIX_2.b-3""#),
            ("status", r#""skipped""#),
            ("attempts", "7"),
        ],
    ] {
        assert_eq!(with(entries), [""; 0], "{entries:?}");
    }
}

#[test]
fn ids_that_differ_only_in_case_are_the_same() {
    let two = SMALL.replace(
        "[{",
        r#"[{"id": "s-1", "priority": 1, "title": "t", "prompt": "x", "scope": ["a"]}, {"#,
    );
    assert_eq!(
        said(&two),
        ["/stories/1/id: another story has the same id (s-1)"]
    );
}

/// Values that might stand anywhere.
fn any_value() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "null",
        "true",
        "0",
        "1",
        "-1",
        "1.5",
        "1e300",
        "\"\"",
        "\"x\"",
        "\"fix\"",
        "\"open\"",
        "[]",
        "{}",
        "[1]",
        "[\"a\"]",
        "[null]",
        "{\"id\": 1}",
    ])
}

proptest! {
    /// The schema's findings and the types that read never disagree: what has no finding is read.
    #[test]
    fn a_plan_without_findings_is_read(
        key in proptest::sample::select(vec![
            "id", "priority", "title", "prompt", "mode", "scope", "acceptance", "promise", "status", "attempts", "x",
        ]),
        value in any_value(),
        top in proptest::sample::select(vec![
            "version", "project", "executor", "policy", "max_attempts", "timeout_seconds", "verify_runs",
            "scope_ignore", "stories", "$schema", "y",
        ]),
        top_value in any_value(),
        which in 0..3,
    ) {
        let mut document = Json::parse(SMALL).unwrap();
        if which != 0 {
            document.object_mut().unwrap().set(top, Json::parse(top_value).unwrap());
        }
        if which != 1 && let Some(Json::List(stories)) = document.object_mut().unwrap().get("stories") {
            let mut stories = stories.clone();
            if let Some(story) = stories.first_mut().and_then(Json::object_mut) {
                story.set(key, Json::parse(value).unwrap());
            }
            document.object_mut().unwrap().set("stories", Json::List(stories));
        }
        let conforms = conforms::findings(schema(), &document);
        prop_assert_eq!(conforms.is_empty(), plan(&document).is_ok_and(|plan| bounds_hold(&plan)), "{:?}", conforms);
    }
}

/// What the types alone do not hold.
fn bounds_hold(plan: &Plan) -> bool {
    let filled = |text: &Option<String>| text.as_deref().is_none_or(|text| !text.trim().is_empty());
    let at_least_one = |count: Option<u32>| count.is_none_or(|count| count > 0);
    plan.version == 1
        && !plan.project.trim().is_empty()
        && !plan.stories.is_empty()
        && filled(&plan.executor)
        && filled(&plan.policy)
        && at_least_one(plan.max_attempts)
        && at_least_one(plan.timeout_seconds)
        && at_least_one(plan.verify_runs)
        && plan.stories.iter().all(|story| {
            !story.title.trim().is_empty()
                && !story.prompt.trim().is_empty()
                && filled(&story.promise)
                && story
                    .id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-')
                && !story.id.is_empty()
        })
}

#[test]
fn a_repeated_id_is_said_whatever_else_is_wrong() {
    let document =
        r#"{"version": 1, "project": "w", "x": 1, "stories": [{"id": "S-1"}, {"id": "s-1"}]}"#;
    let findings = checked(&Json::parse(document).unwrap()).unwrap_err();
    let found: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let says = "/stories/1/id: another story has the same id (S-1)";
    assert!(found.iter().any(|one| one == says), "{found:#?}");
}

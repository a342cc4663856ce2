//! Which keys a PRD may and must have. A team that added some of its own wrote them into its `prd.schema.json`;
//! that file says it here, too.

use std::collections::BTreeSet;

use crate::stories::json::Json;

/// Keys, by where they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Those of the document.
    pub root: BTreeSet<String>,
    /// Those of `defaults`: all of them must be there.
    pub defaults: BTreeSet<String>,
    /// Those that a story must have.
    pub story_required: BTreeSet<String>,
    /// Those that it may have.
    pub story: BTreeSet<String>,
    /// Those that a step may have.
    pub step: BTreeSet<String>,
}

const ROOT: [&str; 7] = [
    "$schema",
    "branchName",
    "branch_name",
    "defaults",
    "project",
    "schema_version",
    "stories",
];
const DEFAULTS: [&str; 7] = [
    "lint_detection_order",
    "max_stories_default",
    "mode_default",
    "model_default",
    "reasoning_effort_default",
    "report_dir",
    "sandbox_by_mode",
];
const REQUIRED: [&str; 7] = [
    "acceptance_criteria",
    "id",
    "mode",
    "passes",
    "priority",
    "scope",
    "title",
];
const OPTIONAL: [&str; 10] = [
    "completed_at",
    "notes",
    "objective",
    "out_of_scope",
    "report_path",
    "skip_reason",
    "skipped",
    "skipped_at",
    "steps",
    "verification",
];
const STEP: [&str; 5] = ["actions", "done_when", "expected_evidence", "id", "title"];

impl Default for Contract {
    fn default() -> Self {
        let set = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Self {
            root: set(&ROOT),
            defaults: set(&DEFAULTS),
            story_required: set(&REQUIRED),
            story: set(&[REQUIRED.as_slice(), &OPTIONAL].concat()),
            step: set(&STEP),
        }
    }
}

impl Contract {
    /// What a `prd.schema.json` says of keys; `None` when it says nothing of some.
    #[must_use]
    pub fn of_schema(schema: &Json) -> Option<Self> {
        let part = |name: &str| schema.get("$defs")?.get(name);
        Some(Self {
            root: keys(schema.get("properties")?)?,
            defaults: texts(part("defaults")?.get("required")?)?,
            story_required: texts(part("story")?.get("required")?)?,
            story: keys(part("story")?.get("properties")?)?,
            step: keys(part("story_step")?.get("properties")?)?,
        })
    }
}

fn keys(object: &Json) -> Option<BTreeSet<String>> {
    Some(
        object
            .object()?
            .entries()
            .map(|(key, _)| key.to_owned())
            .collect(),
    )
}

fn texts(list: &Json) -> Option<BTreeSet<String>> {
    let items = list.list()?.iter();
    items.map(|item| item.text().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_says_it() {
        let schema = r#"{"properties": {"project": {}, "custom": {}}, "$defs": {
            "defaults": {"required": ["mode_default", "more"]},
            "story": {"required": ["id"], "properties": {"id": {}, "own": {}}},
            "story_step": {"properties": {"title": {}}}}}"#;
        let read = Contract::of_schema(&Json::parse(schema).unwrap()).unwrap();
        assert!(read.root.contains("custom") && read.defaults.contains("more"));
        assert!(read.story.contains("own") && read.story_required.contains("id"));
        let less = Json::parse(&schema.replace("story_step", "other")).unwrap();
        assert_eq!(Contract::of_schema(&less), None);
    }
}

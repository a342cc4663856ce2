//! Which story comes next: a pure function of the plan.

use super::written::{Mode, Plan, Status, Story};
use crate::stories::natural::by_number;

/// The stories that are open, of one mode or of all, in the order in which they are done: by priority, then by
/// id.
#[must_use]
pub fn open(plan: &Plan, mode: Option<Mode>) -> Vec<&Story> {
    let of_mode = |story: &&Story| mode.is_none_or(|mode| story.mode == mode);
    let is_open = |story: &&Story| story.status == Status::Open;
    let mut open: Vec<&Story> = plan
        .stories
        .iter()
        .filter(of_mode)
        .filter(is_open)
        .collect();
    open.sort_by(|a, b| in_order(a, b));
    open
}

/// All stories, in the same order.
#[must_use]
pub fn in_turn(plan: &Plan) -> Vec<&Story> {
    let mut all: Vec<&Story> = plan.stories.iter().collect();
    all.sort_by(|a, b| in_order(a, b));
    all
}

fn in_order(a: &Story, b: &Story) -> std::cmp::Ordering {
    (a.priority.cmp(&b.priority)).then_with(|| by_number(&a.id, &b.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stories::json::Json;
    use crate::stories::native::check::checked;

    fn plan(stories: &[(&str, u32, &str, &str)]) -> Plan {
        let story = |(id, priority, mode, status): &(&str, u32, &str, &str)| {
            format!(
                r#"{{"id": "{id}", "priority": {priority}, "title": "t", "prompt": "p", "mode": "{mode}", "status": "{status}",
                "acceptance": ["Created a.md"]}}"#
            )
        };
        let stories: Vec<String> = stories.iter().map(story).collect();
        let text = format!(
            r#"{{"version": 1, "project": "p", "stories": [{}]}}"#,
            stories.join(",")
        );
        checked(&Json::parse(&text).unwrap()).unwrap()
    }

    #[test]
    fn the_smallest_priority_then_the_id_as_people_count() {
        let plan = plan(&[
            ("S-10", 1, "fix", "open"),
            ("S-3", 2, "fix", "open"),
            ("S-2", 1, "audit", "open"),
            ("S-1", 1, "fix", "passing"),
            ("A-9", 1, "fix", "failed"),
            ("Z-1", 0, "fix", "open"),
            ("S-4", 0, "fix", "skipped"),
        ]);
        let ids = |stories: Vec<&Story>| {
            stories
                .iter()
                .map(|story| story.id.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(open(&plan, None)), ["Z-1", "S-2", "S-10", "S-3"]);
        assert_eq!(ids(open(&plan, Some(Mode::Audit))), ["S-2"]);
        assert_eq!(
            ids(in_turn(&plan)),
            ["S-4", "Z-1", "A-9", "S-1", "S-2", "S-10", "S-3"]
        );
    }
}

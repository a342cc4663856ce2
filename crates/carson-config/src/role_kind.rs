//! What follows from a role's kind: its work, its stages, its grant.

use carson_core::Stage;
use carson_core::declared::Grant;
use carson_core::untrusted::is_hidden;
use carson_forge::is_reserved;

use crate::check::Check;
use crate::nearest::nearest;
use crate::role_file::{CommandSection, RoleFile};
use crate::work::{RoleKind, WorkFrom, WorkSection, WorkSource};

/// What a role is for, and whether its work is of that kind.
pub(crate) fn kind(raw: &RoleFile, check: &mut Check<'_>) -> RoleKind {
    let kind = kind_of(raw);
    if raw.work.from.is_some_and(|from| from != kind.works_on()) {
        let problem = format!(
            "the work of a role of kind {:?} comes from elsewhere",
            kind.as_str()
        );
        check.problem("work.from", problem, "leave it out: it follows from `kind`");
    }
    kind
}

/// The label by which it takes issues.
pub(crate) fn queue_of(raw: &RoleFile) -> Option<String> {
    let own = raw.work.label.clone();
    own.or_else(|| kind_of(raw).label().map(str::to_owned))
}

fn kind_of(raw: &RoleFile) -> RoleKind {
    match (raw.kind, raw.work.from) {
        (Some(kind), _) => kind,
        (None, Some(WorkFrom::None)) => RoleKind::Routine,
        (None, Some(WorkFrom::Stories)) => RoleKind::Stories,
        (None, _) => RoleKind::Implementer,
    }
}

/// What it files is for some role.
pub(crate) fn taken_by_somebody(grant: &Grant, labels: Option<&[String]>, check: &mut Check<'_>) {
    let label = grant.issue_label.trim();
    let Some(labels) = labels.filter(|_| grant.issues > 0 && !label.is_empty()) else {
        return;
    };
    let is_it = |own: &String| own.trim().eq_ignore_ascii_case(label);
    if !labels.iter().any(is_it) {
        let warning = format!(
            "no role takes issues with the label {label:?}, which all that it files carries"
        );
        check.warning(
            "grant.issue_label",
            warning,
            "the work.label of the role that is to work on them",
        );
    }
}

/// One that may merge nowhere does nothing.
pub(crate) fn merges(raw: &RoleFile, kind: RoleKind, merged: &[String], check: &mut Check<'_>) {
    let nowhere = !raw.repos.iter().any(|repo| merged.contains(repo));
    if kind == RoleKind::Merger && nowhere && !raw.repos.is_empty() {
        let warning = "none of its repositories lets the fleet merge, so it merges nothing";
        let hint = "policy = { merge = true } in [repos.NAME] of carson.toml";
        check.warning("repos", warning, hint);
    }
}

/// A command belongs to its kind.
pub(crate) fn command(raw: &RoleFile, kind: RoleKind, check: &mut Check<'_>) {
    const EXAMPLE: &str = "run = \"curl --fail https://acme.example/health\"";
    let is_its_kind = kind == RoleKind::Command;
    match &raw.command {
        None if is_its_kind => {
            check.problem("command", "a role of kind \"command\" needs one", EXAMPLE);
        }
        Some(_) if !is_its_kind => {
            let problem = format!("a role of kind {:?} runs none", kind.as_str());
            check.problem("command", problem, "kind = \"command\"");
        }
        Some(command) if command.run.trim().is_empty() => {
            check.problem("command.run", "it is missing", EXAMPLE);
        }
        Some(command)
            if command
                .commit
                .as_deref()
                .is_some_and(|text| text.trim().is_empty()) =>
        {
            let hint = "commit = \"Update dependencies\", or leave it out";
            check.problem("command.commit", "it is empty", hint);
        }
        _ => {}
    }
}

/// What is tested least is a tester's alone.
pub(crate) fn coverage(raw: &RoleFile, kind: RoleKind, check: &mut Check<'_>) {
    const EXAMPLE: &str = "run = \"cargo llvm-cov --lcov\"";
    let is_its_kind = kind == RoleKind::Tester;
    let coverage = match &raw.coverage {
        None if is_its_kind => {
            let problem = "a role of kind \"tester\" needs one";
            return check.problem("coverage", problem, EXAMPLE);
        }
        None => return,
        Some(_) if !is_its_kind => {
            let problem = format!("a role of kind {:?} measures none", kind.as_str());
            return check.problem("coverage", problem, "kind = \"tester\"");
        }
        Some(coverage) => coverage,
    };
    if coverage.run.trim().is_empty() {
        check.problem("coverage.run", "it is missing", EXAMPLE);
    }
    if !(1..=100).contains(&coverage.enough) {
        let problem = format!("{} is no percentage from 1 to 100", coverage.enough);
        check.problem("coverage.enough", problem, "enough = 90");
    }
    if coverage
        .tests
        .iter()
        .all(|pattern| pattern.trim().is_empty())
    {
        let problem = "it names no file, so nothing could change";
        check.problem("coverage.tests", problem, "tests = [\"tests/*\"]");
    }
}

/// What cannot be asked for is no grant.
pub(crate) fn grant(raw: Option<Grant>, kind: RoleKind, check: &mut Check<'_>) -> Grant {
    let Some(grant) = raw else {
        return kind.grant();
    };
    if grant.labels.iter().any(|label| label.trim().is_empty()) {
        check.problem("grant.labels", "a label is empty", "leave it out");
    }
    if let Some(label) = grant.labels.iter().find(|label| is_reserved(label)) {
        let problem =
            format!("{label:?} steers the fleet, and no session may give it or take it away");
        check.problem("grant.labels", problem, "leave it out");
    }
    if grant.issues > 0 && grant.issues_per_day == 0 {
        let problem = "it files issues, and none within a day";
        check.problem("grant.issues_per_day", problem, "issues_per_day = 20");
    }
    if is_reserved(&grant.issue_label) {
        let problem = format!(
            "{:?} keeps every role away from an issue",
            grant.issue_label
        );
        check.problem(
            "grant.issue_label",
            problem,
            "issue_label = \"carson:ready\"",
        );
    }
    if grant.approval && !kind.divides() {
        let problem = "only what a planner or an architect asks for waits for a person";
        check.problem(
            "grant.approval",
            problem,
            "kind = \"planner\", or leave it out",
        );
    }
    let reviews = kind.works_on() == WorkFrom::Pulls;
    if grant.review && !reviews {
        let problem = format!(
            "a role of kind {:?} is given no pull request",
            kind.as_str()
        );
        check.problem(
            "grant.review",
            problem,
            "kind = \"reviewer\", or leave it out",
        );
    }
    if grant.replies > 0 && kind != RoleKind::Fixer {
        let problem = format!(
            "a role of kind {:?} is given no threads of a review",
            kind.as_str()
        );
        check.problem(
            "grant.replies",
            problem,
            "kind = \"fixer\", or leave it out",
        );
    }
    if grant.pull && !kind.makes_commits() {
        let problem = format!("a role of kind {:?} makes no pull request", kind.as_str());
        check.problem("grant.pull", problem, "leave it out");
    }
    if kind == RoleKind::Command {
        of_a_command(&grant, check);
    } else if !kind.has_sessions() && !grant.is_empty() {
        check.problem("grant", "it has no sessions that could ask", "leave it out");
    }
    grant
}

/// What a command says is whether it failed: one issue.
fn of_a_command(grant: &Grant, check: &mut Check<'_>) {
    let issues_alone = Grant {
        issues: grant.issues,
        issues_per_day: grant.issues_per_day,
        issue_label: grant.issue_label.clone(),
        ..Grant::default()
    };
    if grant.issues > 1 || *grant != issues_alone {
        let problem = "a command files one issue when it fails, and asks for nothing else";
        check.problem("grant", problem, "issues = 1, issues_per_day, issue_label");
    }
}

/// What it works on.
pub(crate) fn work(raw: WorkSection, kind: RoleKind, check: &mut Check<'_>) -> WorkSource {
    let hint = "label = \"carson:ready\"";
    let takes_issues = kind.works_on() == WorkFrom::Issues;
    let label = raw
        .label
        .as_deref()
        .or(kind.label())
        .filter(|_| takes_issues);
    match label {
        Some(label) if label.trim().is_empty() => {
            check.problem("work.label", "the label is empty", hint);
        }
        Some(label) if is_reserved(label) => {
            let problem = format!("{label:?} keeps every role away from an issue, this one too");
            check.problem("work.label", problem, hint);
        }
        _ => {}
    }
    if raw.labels.iter().any(|label| label.trim().is_empty()) {
        let problem = "a label is empty, and no issue can carry it";
        check.problem("work.labels", problem, "leave it out");
    }
    plan(&raw, kind, check);
    WorkSource {
        file: raw.file.filter(|_| kind == RoleKind::Stories),
        from: kind.works_on(),
        label: label.map(str::to_owned),
        labels: raw.labels,
        min_age: raw.min_age.unwrap_or(kind.min_age()),
        task: raw.task,
    }
}

/// The file with the stories belongs to its kind.
fn plan(raw: &WorkSection, kind: RoleKind, check: &mut Check<'_>) {
    const EXAMPLE: &str = "work = { from = \"stories\", file = \"stories.json\" }";
    let file = match &raw.file {
        None if kind == RoleKind::Stories => {
            let problem = "a role that does stories needs the file with the plan";
            return check.problem("work.file", problem, EXAMPLE);
        }
        None => return,
        Some(_) if kind != RoleKind::Stories => {
            let problem = format!("a role of kind {:?} reads no plan", kind.as_str());
            let hint = "from = \"stories\" without `kind`, or leave it out";
            return check.problem("work.file", problem, hint);
        }
        Some(file) => file,
    };
    if let Some(problem) = no_file_of_a_repository(file) {
        let hint = "a path from the top of the repository, such as \"docs/stories.json\"";
        check.problem("work.file", problem, hint);
    }
    let of_issues = [
        ("work.label", raw.label.is_some()),
        ("work.labels", !raw.labels.is_empty()),
        ("work.min_age", raw.min_age.is_some()),
        ("work.task", !raw.task.is_empty()),
    ];
    for (key, _) in of_issues.iter().filter(|(_, is_set)| *is_set) {
        let problem = "a story has none: it says itself what is to be done";
        check.problem(key, problem, "leave it out");
    }
}

/// Why no file of a repository is called so.
fn no_file_of_a_repository(path: &str) -> Option<&'static str> {
    let is_own = |part: &str| {
        [".git", ".carson"]
            .iter()
            .any(|own| part.eq_ignore_ascii_case(own))
    };
    match path {
        _ if path.trim().is_empty() => Some("it is empty"),
        _ if path.chars().any(is_hidden) => Some("it has letters that nobody sees"),
        _ if path.starts_with(['/', '~']) => Some("it is a path of this machine"),
        _ if path.split('/').any(|part| part == "..") => Some("it leads out of the repository"),
        _ if path.split('/').any(|part| matches!(part, "" | ".")) => {
            Some("it has parts that name nothing")
        }
        _ if path.split('/').any(is_own) => Some("what is in .git or .carson is in no commit"),
        _ => None,
    }
}

/// The stages that it walks.
pub(crate) fn stages(raw: &RoleFile, kind: RoleKind, check: &mut Check<'_>) -> Vec<Stage> {
    let Some(wanted) = raw.stages.as_deref() else {
        let mut stages = kind.stages();
        // Where nothing is kept there is nothing to check.
        let keeps = |command: &CommandSection| command.commit.is_some();
        if kind == RoleKind::Command && !raw.command.as_ref().is_some_and(keeps) {
            stages.retain(|stage| *stage != Stage::Verify);
        }
        return stages;
    };
    if !kind.has_sessions() && !wanted.is_empty() {
        let problem = format!("a role of kind {:?} asks no model", kind.as_str());
        check.problem("stages", problem, "leave it out");
    }
    let mut stages = Vec::new();
    for name in wanted {
        match name.parse::<Stage>() {
            Ok(stage) if Stage::CHOSEN.contains(&stage) => stages.push(stage),
            _ => {
                let known: Vec<&str> = Stage::CHOSEN.iter().map(|stage| stage.as_str()).collect();
                let hint = match nearest(name, &known) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("stages: {}", known.join(", ")),
                };
                check.problem(
                    "stages",
                    format!("{name:?} is not a stage to choose"),
                    &hint,
                );
            }
        }
    }
    for (stage, needs) in [
        (Stage::Review, Stage::Plan),
        (Stage::Verify, Stage::Execute),
        (Stage::DiffReview, Stage::Execute),
    ] {
        if stages.contains(&stage) && !stages.contains(&needs) {
            check.problem("stages", format!("{stage} needs {needs}"), "");
        }
    }
    stages.sort();
    stages.dedup();
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_a_file_of_the_repository() {
        for file in ["stories.json", "docs/a b.json", ".github/plan.json", "a..b"] {
            assert_eq!(no_file_of_a_repository(file), None, "{file}");
        }
        for file in [
            "",
            " ",
            "/etc/passwd",
            "~/plan.json",
            "../plan.json",
            "docs/../../x",
            "./plan.json",
            "docs//x",
            "docs/",
            ".git/config",
            "sub/.GIT/x",
            ".carson/x.json",
            "a\u{202e}b",
            "a\nb",
        ] {
            assert!(no_file_of_a_repository(file).is_some(), "{file:?}");
        }
    }
}

//! What Codex is told of a story.
//!
//! Its sections have the names that ralph-loop gives them: policies (`CODEX.md`) and tests of its users speak of
//! them. It is a pure function of what it is given; the day and the checks are among that.

use super::checks::Check;
use super::prd::Story;
use super::settings::Mode;

/// All that a prompt depends on.
#[derive(Clone, Debug)]
pub struct Inputs<'i> {
    /// The story.
    pub story: &'i Story,
    /// Where its report will stand.
    pub report: &'i str,
    /// Codex's own sandbox.
    pub sandbox: &'i str,
    /// The day (UTC), `2026-01-02`.
    pub day: &'i str,
    /// The model may search, and must then name its sources.
    pub must_name_sources: bool,
    /// A fix must leave an entry in `learnings.md`.
    pub must_leave_learning: bool,
    /// The checks that the repository seems to have.
    pub checks: &'i [Check],
    /// The text of `CODEX.md`.
    pub policy: &'i str,
}

/// The prompt.
#[must_use]
pub fn prompt(inputs: &Inputs<'_>) -> String {
    let story = inputs.story;
    let mut text = head(inputs);
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text += &format!("{title}\n{}\n\n", lines.join("\n"));
        }
    };
    let listed = |items: &[String]| items.iter().map(|item| format!("- {item}")).collect();
    let whole = |words: &str| {
        if words.is_empty() {
            vec![]
        } else {
            vec![words.to_owned()]
        }
    };
    section(
        "Scope patterns:",
        story.scope.iter().map(|one| format!("- `{one}`")).collect(),
    );
    section("Acceptance criteria:", listed(&story.acceptance));
    section("Story objective:", whole(&story.objective));
    section("Execution steps (detailed):", steps(story));
    section("Verification checkpoints:", listed(&story.verification));
    section("Out of scope:", listed(&story.out_of_scope));
    section("Story notes:", whole(&story.notes));
    section("Mode guardrails:", guardrails(inputs));
    if inputs.must_name_sources {
        section("External research contract:", sources());
    }
    if story.mode != Mode::Audit {
        section(
            "Best-effort check command candidates (auto-detected):",
            checks(inputs.checks),
        );
    }
    section("Output contract:", output(inputs.report));
    text + "---\n\n" + inputs.policy
}

fn head(inputs: &Inputs<'_>) -> String {
    let story = inputs.story;
    format!(
        "# Ralph Story Run\n\nMode: {}\nStory ID: {}\nTitle: {}\nOutput report path: {}\nSandbox policy: {}\n\n\
         Today's UTC date: {}\n\n",
        story.mode.as_str(),
        story.id,
        story.title,
        inputs.report,
        inputs.sandbox,
        inputs.day
    )
}

fn steps(story: &Story) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, step) in story.steps.iter().enumerate() {
        let number = index + 1;
        let id = if step.id.is_empty() {
            format!("S{number}")
        } else {
            step.id.clone()
        };
        lines.push(format!("- Step {number} [{id}]: {}", step.title));
        let parts = [
            ("action", &step.actions),
            ("evidence", &step.expected_evidence),
            ("done_when", &step.done_when),
        ];
        for (word, items) in parts {
            lines.extend(items.iter().map(|item| format!("  {word}: {item}")));
        }
    }
    lines
}

fn guardrails(inputs: &Inputs<'_>) -> Vec<String> {
    let mut lines = match inputs.story.mode {
        Mode::Audit => vec![
            "- Read-only: change no file of the repository.",
            "- Report what you found, with its evidence and what it puts at risk.",
        ],
        Mode::Linting => vec![
            "- Read-only: change no file of the repository.",
            "- Run the checks that are proposed below as well as they run; where there are none, say so.",
        ],
        Mode::Fixing => vec![
            "- Change only files that the scope patterns cover: small, safe changes that this story asks for.",
            "- No refactoring beyond it, no new architecture, nothing of authentication or security design.",
        ],
    };
    if inputs.story.mode == Mode::Fixing && inputs.must_leave_learning {
        lines.push("- Add at least one entry that others can use to learnings.md: without it this story fails.");
    }
    lines.push("- Print no secrets: no tokens, no private keys, no values of .env files.");
    lines.into_iter().map(str::to_owned).collect()
}

fn sources() -> Vec<String> {
    [
        "- The web may be searched, so the report has a section `## External References`.",
        "- It links each source of what was read there (https URLs).",
        "- It says on which day each was read (YYYY-MM-DD).",
    ]
    .map(str::to_owned)
    .into()
}

fn checks(checks: &[Check]) -> Vec<String> {
    if checks.is_empty() {
        return vec![
            "- No checks were detected. Say so in the report, which stays a valid one.".to_owned(),
        ];
    }
    let line = |check: &Check| format!("- [{}] command: {}", check.source, check.command);
    checks.iter().map(line).collect()
}

fn output(report: &str) -> Vec<String> {
    vec![
        format!("- Your last message is the report {report}, in Markdown, and nothing else."),
        "- No words before or after it.".to_owned(),
        "- The same findings make the same report; each rests on evidence.".to_owned(),
    ]
}

#[cfg(test)]
mod tests;

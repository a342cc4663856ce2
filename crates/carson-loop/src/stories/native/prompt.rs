//! What an executor is told: a pure function of the story and the policy, byte for byte.
//!
//! No time, no attempt, no path of this machine is in it, so that its hash says whether two attempts were asked
//! the same.

use super::written::{Mode, Story};
use crate::digest::Digest;

/// A prompt and its fingerprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What the executor reads.
    pub text: String,
    /// Its SHA-256.
    pub hash: Digest,
}

/// The prompt of a story; `policy` is the text of the operator's file, for every story the same.
#[must_use]
pub fn prompt(story: &Story, policy: Option<&str>) -> Prompt {
    let text = text(story, policy);
    let hash = Digest::of(text.as_bytes());
    Prompt { text, hash }
}

fn text(story: &Story, policy: Option<&str>) -> String {
    let mut parts = vec![
        format!("# Story {}: {}", story.id, story.title),
        story.prompt.trim_end().to_owned(),
        may_change(story),
    ];
    if !story.acceptance.is_empty() {
        parts.push(format!(
            "## What must be so in the end\n\n{}",
            listed(&story.acceptance)
        ));
    }
    if let Some(promise) = &story.promise {
        let fenced = fenced(promise);
        parts.push(format!(
            "## The check\n\nThis command must end with 0; it is run afterwards:\n\n{fenced}"
        ));
    }
    if let Some(policy) = policy {
        parts.push(format!("## Rules for every story\n\n{}", policy.trim_end()));
    }
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

fn may_change(story: &Story) -> String {
    let mut text = "## What you may change\n\n".to_owned();
    let end = "A change of any other file, of git's own files or of the plan fails the story, and all of it is undone.";
    if story.mode == Mode::Audit {
        text += "Nothing: only look, and leave the files that are to be created. ";
    } else if story.scope.is_empty() {
        text += "Only the files that are to be created. ";
    } else {
        text += "Files that these patterns cover (as in .gitignore, the last one decides), and those that are to be created:\n\n";
        text += &listed(&story.scope);
        text += "\n\n";
    }
    text + end
}

fn listed(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
    items.join("\n")
}

/// A block that nothing inside can end.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}sh\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stories::native::written::Status;

    fn story() -> Story {
        Story {
            id: "S-1".into(),
            priority: 1,
            title: "Greet".into(),
            prompt: "Say hello in hello.txt.\n".into(),
            mode: Mode::Fix,
            scope: vec!["src/".into(), "!src/old/".into()],
            acceptance: vec!["Created hello.txt".into(), "It is polite".into()],
            promise: Some("grep -q '```' hello.txt".into()),
            status: Status::Open,
            attempts: 0,
        }
    }

    #[test]
    fn reads_so() {
        insta::assert_snapshot!(prompt(&story(), Some("Be brief.\n")).text);
    }

    #[test]
    fn equal_inputs_make_equal_bytes_whatever_else_is_so() {
        let first = prompt(&story(), None);
        let later = Story {
            priority: 9,
            status: Status::Failed,
            attempts: 4,
            ..story()
        };
        assert_eq!(prompt(&later, None), first);
        let other = Story {
            scope: vec!["src/".into()],
            ..story()
        };
        assert_ne!(prompt(&other, None).hash, first.hash);
        assert_ne!(prompt(&story(), Some("")).hash, first.hash);
    }
}

//! The lists of tools of a role: `"Read"`, `"Bash(git log *)"`, `"mcp__docs__search"`. What is none of these forms is
//! taken by no CLI, and a list that lacks the tool that was meant is found at the first firing.

use crate::check::Check;
use crate::role_file::RoleFile;

/// Tools that a CLI of a fleet has. Others may come: their names are a warning.
const KNOWN: &[&str] = &[
    "Agent",
    "AskUserQuestion",
    "Bash",
    "BashOutput",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillBash",
    "KillShell",
    "LS",
    "LSP",
    "ListMcpResourcesTool",
    "Monitor",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "ReadMcpResourceTool",
    "Skill",
    "SlashCommand",
    "Task",
    "TaskOutput",
    "TaskStop",
    "TodoWrite",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The lists and their keys.
pub(crate) fn of(raw: &RoleFile) -> [(&'static str, &[String]); 2] {
    [
        ("tools.read", raw.tools.read.as_slice()),
        ("tools.write", raw.tools.write.as_slice()),
    ]
}

/// Whether each entry is the name of a tool, with or without a pattern.
pub(crate) fn check(raw: &RoleFile, check: &mut Check<'_>) {
    for (key, tools) in of(raw) {
        for (at, tool) in tools.iter().enumerate() {
            let at = format!("{key}.{at}");
            let Some(name) = name_of(tool) else {
                let problem = format!("{tool:?} is neither a tool nor a tool with a pattern");
                let hint = "write \"Read\", \"Bash(git log *)\" or \"mcp__SERVER__TOOL\"";
                check.problem(&at, problem, hint);
                continue;
            };
            if !KNOWN.contains(&name) && !name.starts_with("mcp__") {
                let near = KNOWN.iter().find(|known| is_near(name, known));
                let hint = match near {
                    Some(near) => format!("{near:?} is one"),
                    None => format!("known are {}", KNOWN.join(", ")),
                };
                check.warning(&at, format!("no tool {name:?} is known"), &hint);
            }
        }
    }
}

/// The name of a tool in an entry of a list; `None` where the entry has none of the forms.
fn name_of(tool: &str) -> Option<&str> {
    let name = match tool.split_once('(') {
        None => tool,
        Some((name, pattern)) => {
            let pattern = pattern.strip_suffix(')')?;
            (!pattern.trim().is_empty()).then_some(name)?
        }
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_-*".contains(c);
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (begins && name.chars().all(is_part)).then_some(name)
}

/// Whether two names have the same letters, whatever their case and order.
fn is_near(name: &str, known: &str) -> bool {
    let letters = |name: &str| {
        let mut letters: Vec<char> = name.to_ascii_lowercase().chars().collect();
        letters.sort_unstable();
        letters
    };
    letters(name) == letters(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_a_name_with_or_without_a_pattern() {
        for (entry, name) in [
            ("Read", Some("Read")),
            ("Bash(git log *)", Some("Bash")),
            ("Bash(echo (x))", Some("Bash")),
            ("mcp__docs__search", Some("mcp__docs__search")),
            ("mcp__docs__*", Some("mcp__docs__*")),
            ("", None),
            (" ", None),
            ("Read)", None),
            ("Bash(git log *", None),
            ("Bash()", None),
            ("(x)", None),
            ("Read, Write", None),
        ] {
            assert_eq!(name_of(entry), name, "{entry}");
        }
        assert!(is_near("Bsah", "Bash") && is_near("read", "Read") && !is_near("Fly", "Bash"));
    }
}

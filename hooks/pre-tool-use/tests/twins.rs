//! Tools that are twins of commands: what edits, moves or deletes a hook, commits, merges, patches.

#![cfg(test)]

use carson_hook::{Call, Context, decide};

fn verdict(tool: &str, input: &str) -> String {
    let mut ctx = Context::new("/home/dev/wt");
    ctx.tmp = "/home/dev/tmp-7".to_owned();
    ctx.branch = "carson/7-fix".to_owned();
    ctx.home = "/home/dev".to_owned();
    let event = format!(r#"{{"tool_name":"{tool}","tool_input":{input},"cwd":"/home/dev/wt"}}"#);
    let call = Call::from_json(&event).unwrap();
    let decision = decide(&call, &ctx);
    decision
        .block()
        .map_or("allowed", |block| block.rule.id)
        .to_owned()
}

/// Tools that do what a refused command does: hooks, commits, merges, and odd members.
const TWINS_REFUSED: &[(&str, &str, &str)] = &[
    (
        "bypass-checks",
        "Write",
        r#"{"file_path":".git/hooks/pre-commit","content":"set -e\nexit 0\n"}"#,
    ),
    (
        "bypass-checks",
        "create_file",
        r#"{"path":"/home/dev/wt/.husky/pre-commit","contents":""}"#,
    ),
    (
        "bypass-checks",
        "Edit",
        r#"{"file_path":".git/hooks/pre-push","old_string":"cargo test","new_string":"exit 0"}"#,
    ),
    (
        "bypass-checks",
        "MultiEdit",
        r#"{"file_path":".husky/pre-commit","edits":[{"old_string":"a","new_string":"b"},{"old_string":"npm test","new_string":"exit 0"}]}"#,
    ),
    (
        "bypass-checks",
        "str_replace_based_edit_tool",
        r#"{"command":"insert","path":".git/hooks/pre-commit","insert_line":1,"insert_text":"exit 0"}"#,
    ),
    (
        "bypass-checks",
        "mcp__fs__move_file",
        r#"{"source":".git/hooks/pre-commit","destination":"x"}"#,
    ),
    (
        "bypass-checks",
        "mcp__fs__delete_file",
        r#"{"path":".husky/pre-commit"}"#,
    ),
    (
        "bypass-checks",
        "apply_patch",
        r#"{"input":"*** Begin Patch\n*** Delete File: .husky/pre-commit\n*** End Patch"}"#,
    ),
    (
        "bypass-checks",
        "apply_patch",
        r#"{"patch":"*** Begin Patch\n*** Update File: .git/hooks/pre-commit\n@@\n-cargo test\n+exit 0\n*** End Patch"}"#,
    ),
    (
        "bypass-checks",
        "mcp__git__git_commit",
        r#"{"message":"x","no_verify":true}"#,
    ),
    (
        "bypass-checks",
        "mcp__git__commit",
        r#"{"message":"x","noVerify":true}"#,
    ),
    (
        "delete-outside",
        "run_command",
        r#"{"CommandLine":"rm -rf /opt","Cwd":"/home/dev/wt"}"#,
    ),
    (
        "delete-outside",
        "shell",
        r#"{"input":["rm","-rf","/opt"]}"#,
    ),
    (
        "delete-outside",
        "mcp__x__exec",
        r#"{"argv":["rm","-rf","/opt"]}"#,
    ),
    (
        "delete-outside",
        "shell",
        r#"{"command":["apply_patch","*** Begin Patch\n*** Delete File: /opt/data/a\n*** End Patch"]}"#,
    ),
    (
        "credential-read",
        "shell",
        r#"{"command":["apply_patch","*** Begin Patch\n*** Update File: .env\n@@\n-A=1\n+A=2\n*** End Patch"]}"#,
    ),
    (
        "protected-push",
        "merge_pull_request",
        r#"{"pull_number":3}"#,
    ),
    ("protected-push", "accept_merge_request", r#"{"id":3}"#),
];

/// The same tools and members for what is fine.
const TWINS_ALLOWED: &[(&str, &str)] = &[
    (
        "Write",
        r#"{"file_path":".git/hooks/pre-commit","content":"set -e\ncargo test\n"}"#,
    ),
    (
        "Write",
        r#"{"file_path":"docs/pre-commit","content":"exit 0\n"}"#,
    ),
    (
        "Edit",
        r#"{"file_path":".husky/pre-commit","old_string":"npm test","new_string":"npm run check"}"#,
    ),
    (
        "MultiEdit",
        r#"{"file_path":"src/a.sh","edits":[{"old_string":"npm test","new_string":"exit 0"}]}"#,
    ),
    (
        "str_replace_based_edit_tool",
        r#"{"command":"view","path":".git/hooks/pre-commit"}"#,
    ),
    (
        "mcp__fs__move_file",
        r#"{"source":"src/a.rs","destination":"src/b.rs"}"#,
    ),
    ("mcp__fs__read_file", r#"{"path":".husky/pre-commit"}"#),
    (
        "apply_patch",
        r#"{"input":"*** Begin Patch\n*** Update File: .husky/pre-commit\n@@\n-npm test\n+npm run check\n*** End Patch"}"#,
    ),
    (
        "apply_patch",
        r#"{"input":"*** Begin Patch\n*** Update File: a.sh\n@@\n-make\n+exit 0\n*** Delete File: b.sh\n*** End Patch"}"#,
    ),
    (
        "mcp__git__git_commit",
        r#"{"message":"no_verify: true","no_verify":false}"#,
    ),
    (
        "run_command",
        r#"{"CommandLine":"rm -rf build","Cwd":"/home/dev/wt"}"#,
    ),
    ("shell", r#"{"input":["rm","-rf","build"]}"#),
    ("mcp__x__exec", r#"{"argv":["rm","-rf","build"]}"#),
    (
        "shell",
        r#"{"command":["apply_patch","*** Begin Patch\n*** Delete File: src/a.rs\n*** End Patch"]}"#,
    ),
    (
        "shell",
        r#"{"command":["grep","-n","apply_patch","*** Delete File: /opt/data/a"]}"#,
    ),
    ("get_pull_request", r#"{"pull_number":3}"#),
    ("update_pull_request_branch", r#"{"pull_number":3}"#),
];

#[test]
fn tools_agree_with_the_commands_that_do_the_same() {
    let allowed = TWINS_ALLOWED
        .iter()
        .map(|(tool, input)| ("allowed", *tool, *input));
    let mut wrong = Vec::new();
    for (rule, tool, input) in TWINS_REFUSED.iter().copied().chain(allowed) {
        let found = verdict(tool, input);
        if found != rule {
            wrong.push(format!("{tool} {input} was {found}, not {rule}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! The tools of a session, as the CLI's policy: what no rule allows is denied, and the model is not told of
//! tools that are denied whole.
//!
//! A rule for a command has a pattern for its arguments, which stand between NULs. Without one, the CLI would ask
//! before each command of git in a folder that is not trusted. It holds each part of a line (`a && b`) against the
//! rules, and refuses by itself what puts one command into another (`$(…)`) and what it cannot read.

use carson_core::ToolRule;
use toml::{Table, Value};

use crate::session::Access;

/// Ours come after the one that denies everything.
const DENY: i64 = 1;
const ALLOW: i64 = 500;

pub(super) const SHELL: &str = "run_shell_command";

/// The policy for these tools, in Carson's notation; a name that is none of it is the CLI's own.
pub(super) fn policy(tools: &[String], access: Access) -> String {
    let mut rules = vec![rule("*", "deny", DENY)];
    for entry in tools {
        match ToolRule::of(entry) {
            Some(ToolRule::Whole("Bash")) => rules.push(command("", access)),
            Some(ToolRule::Whole(name)) => {
                rules.extend(own(name).iter().map(|own| rule(own, "allow", ALLOW)));
                if own(name).is_empty() {
                    rules.push(rule(name, "allow", ALLOW));
                }
            }
            Some(ToolRule::Beginning(words)) => {
                let words = format!("\"{}(?:[ \"]|\\\\)", plain(words));
                rules.push(command(&words, access));
            }
            Some(ToolRule::Exactly(words)) => {
                rules.push(command(&format!("\"{}\"\\x00", plain(words)), access));
            }
            // The settings are not accepted with such a one.
            None => {}
        }
    }
    Table::from_iter([("rule".to_owned(), Value::Array(rules))]).to_string()
}

/// The CLI's own tools for one of Carson's notation.
fn own(name: &str) -> &'static [&'static str] {
    match name {
        "Read" => &["read_file", "read_many_files", "list_directory"],
        "Grep" => &["grep_search"],
        "Glob" => &["glob", "list_directory"],
        "Edit" => &["replace"],
        "Write" => &["write_file"],
        _ => &[],
    }
}

fn rule(tool: &str, decision: &str, priority: i64) -> Value {
    Value::Table(Table::from_iter([
        ("toolName".to_owned(), tool.into()),
        ("decision".to_owned(), decision.into()),
        ("priority".to_owned(), priority.into()),
    ]))
}

/// Who only reads writes no file by `>` either.
fn command(words: &str, access: Access) -> Value {
    let mut rule = rule(SHELL, "allow", ALLOW);
    if let Value::Table(rule) = &mut rule {
        let pattern = format!("\\x00\"command\":{words}");
        rule.insert("argsPattern".to_owned(), pattern.into());
        let redirects = access == Access::Write;
        rule.insert("allowRedirection".to_owned(), redirects.into());
    }
    rule
}

/// These words in a regular expression.
fn plain(words: &str) -> String {
    let mut plain = String::new();
    for letter in words.chars() {
        if !letter.is_ascii_alphanumeric() && !" _:=@,".contains(letter) {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

//! The text of a new role's `role.toml`.

use carson_config::ShippedRole;

use super::proposed_check::ProposedCheck;

/// A role with a task of its own.
const ROUTINE: &str = "\
title   = \"Routine\"
kind    = \"routine\"
repos   = []
cadence = [\"0 3 * * *\"]
engines = []

[work]
task    = \"\"

[limits]
max_turns = 60
wall_clock = \"45m\"
max_cost_usd = 5.0
max_open_prs = 1
";

/// What a new role is to be.
#[derive(Debug, Default)]
pub struct RoleText<'a> {
    /// The shipped role that it is like; else it has a task of its own.
    pub like: Option<&'static ShippedRole>,
    /// What people call it.
    pub title: Option<&'a str>,
    /// Its repository.
    pub repo: &'a str,
    /// Its account, where it asks a model.
    pub account: &'a str,
    /// When it fires.
    pub cadence: &'a [String],
    /// What it is to do.
    pub task: Option<&'a str>,
    /// What it runs.
    pub run: Option<&'a str>,
    /// What tests its repository.
    pub check: Option<&'a ProposedCheck>,
    /// Whether its account's CLI takes no list of tools.
    pub without_tools: bool,
}

impl RoleText<'_> {
    /// The file. One that makes no commits has nothing to check.
    pub fn toml(&self) -> String {
        let mut text = self.like.map_or(ROUTINE, ShippedRole::text).to_owned();
        set(&mut text, "repos", &format!("[{}]", quoted(self.repo)));
        set(&mut text, "engines", &format!("[{}]", quoted(self.account)));
        let given = [
            ("title", self.title),
            ("task", self.task),
            ("run", self.run),
        ];
        for (key, value) in given {
            if let Some(value) = value {
                set(&mut text, key, &quoted(value));
            }
        }
        if !self.cadence.is_empty() {
            let lines: Vec<String> = self.cadence.iter().map(|line| quoted(line)).collect();
            set(&mut text, "cadence", &format!("[{}]", lines.join(", ")));
        }
        if self.without_tools {
            leave_tools_out(&mut text);
        }
        let keeps_nothing = text.contains("[command]") && !text.contains("\ncommit ");
        let makes_commits = self.like.is_none_or(|role| role.kind.makes_commits());
        if makes_commits && !keeps_nothing {
            with_check(&mut text, self.check);
        }
        text
    }
}

/// A text of TOML. JSON's are, too, but for one letter that TOML wants escaped.
pub fn quoted(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{7f}', "\\u007f")
}

/// Gives the line of this key another value; a comment behind it stays.
fn set(text: &mut String, key: &str, value: &str) {
    let is_it = |line: &str| {
        let rest = line.strip_prefix(key).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('='))
    };
    let lines = text.lines().map(|line| match line.split_once("= ") {
        Some((head, old)) if is_it(line) => {
            let comment = old.find("      #").map_or("", |at| &old[at..]);
            format!("{head}= {value}{comment}\n")
        }
        _ => format!("{line}\n"),
    });
    *text = lines.collect();
}

/// Turns the section into a comment: what is not held to must not stand there as if it were.
fn leave_tools_out(text: &mut String) {
    const WHY: &str = "# Its account's CLI takes no list of tools, so this one is left out: the hook and the sandbox are\n\
                       # what holds its sessions.\n";
    let mut is_inside = false;
    let lines = text.lines().map(|line| {
        let begins = line == "[tools]";
        is_inside = begins || is_inside && !line.starts_with('[');
        match is_inside && !line.is_empty() {
            true => format!("{}# {line}\n", if begins { WHY } else { "" }),
            false => format!("{line}\n"),
        }
    });
    *text = lines.collect();
}

fn with_check(text: &mut String, check: Option<&ProposedCheck>) {
    text.push_str(&match check {
        Some(ProposedCheck { run, by }) => format!(
            "\n# The command that says whether work is done ({by}): Carson runs it itself, in the sandbox, on a\n\
             # fresh checkout of what would be pushed.\n\
             [promise]\nrun = {}\n",
            quoted(run)
        ),
        None => "\n# Nothing that tests this repository was found, so no check is run before a pull request is\n\
             # opened. Without the # this command must exit 0 first:\n\
             # [promise]\n# run = \"make test\"\n"
            .to_owned(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_one_of_toml() {
        let text: String = (0..0x100).filter_map(char::from_u32).collect();
        let written: toml::Table = format!("text = {}\n", quoted(&text)).parse().unwrap();
        assert_eq!(written["text"].as_str(), Some(text.as_str()));
    }

    #[test]
    fn a_list_of_tools_is_a_comment_where_nobody_holds_to_it() {
        let text = |without_tools| {
            let role = RoleText {
                like: ShippedRole::named("reviewer"),
                repo: "widget",
                account: "codex",
                without_tools,
                ..RoleText::default()
            };
            role.toml()
        };
        let lines = |text: &str, line: &str| text.lines().any(|found| found == line);
        assert!(lines(&text(false), "[tools]"));
        let left_out = text(true);
        assert!(!lines(&left_out, "[tools]"), "{left_out}");
        assert!(
            left_out.contains("\n# [tools]\n# write = [\"Read\""),
            "{left_out}"
        );
        assert!(lines(&left_out, "[limits]"), "{left_out}");
        assert!(lines(&left_out, "max_turns = 40"), "{left_out}");
    }
}

//! One tool call, as an agent CLI announces it.

use crate::json::{Json, JsonError};
use crate::marks;

/// The call a model wants to make.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool's name, as the CLI spells it.
    pub tool: String,
    /// The tool's input.
    pub input: Json,
    /// Directory in which the tool runs; empty when the CLI did not say.
    pub cwd: String,
}

/// What a tool does with its input, as far as the rules care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolKind {
    /// Runs a command line.
    Shell,
    /// Reads or edits the files its input names.
    Reads,
    /// Writes files without showing what was in them.
    Writes,
    /// Applies a patch in the `*** Begin Patch` format.
    Patch,
    /// Fetches a page.
    Fetch,
    /// Talks to people, plans, or anything else without a path or a command.
    Other,
    /// Nobody knows: its strings are read as possible commands and paths.
    Unknown,
}

impl Call {
    /// A shell call.
    pub fn shell(command: &str, cwd: &str) -> Self {
        let member = ("command".to_owned(), Json::Text(command.to_owned()));
        Self {
            tool: "Bash".to_owned(),
            input: Json::Map(vec![member]),
            cwd: cwd.to_owned(),
        }
    }

    /// Reads the event that Claude Code, Codex and Gemini write to a hook's stdin (CLIS.md §4).
    ///
    /// # Errors
    /// When the text is not JSON or names no tool.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        let json = Json::parse(text.trim_start_matches('\u{feff}'))?;
        let tool = json.text_at("tool_name").ok_or(JsonError {
            at: 0,
            problem: "no tool_name",
        })?;
        let input = json
            .get("tool_input")
            .cloned()
            .unwrap_or(Json::Map(Vec::new()));
        let cwd = json.text_at("cwd").unwrap_or_default();
        Ok(Self {
            tool: tool.to_owned(),
            input,
            cwd: cwd.to_owned(),
        })
    }

    /// The call in an event that is no JSON, or nested too deep, as far as its strings tell.
    pub(crate) fn from_loose(text: &str) -> Self {
        let all = Json::loose(text);
        let own = |key: &str| all.text_at(key).unwrap_or_default().to_owned();
        Self {
            tool: own("tool_name"),
            cwd: own("cwd"),
            input: all,
        }
    }

    /// The command line of a shell tool, or the code of a tool that runs code, as one.
    pub fn command(&self) -> Option<String> {
        let text = self.command_line().or_else(|| self.code())?;
        Some(marks::clean(&text))
    }

    /// The directory in which a shell tool runs: some tools carry their own.
    pub fn directory(&self) -> String {
        let keys = [
            "workdir",
            "working_directory",
            "dir_path",
            "directory",
            "cwd",
        ];
        let own = keys.into_iter().find_map(|key| self.input.text_at(key));
        match own.filter(|dir| !dir.is_empty()) {
            Some(dir) if dir.starts_with('/') => dir.to_owned(),
            Some(dir) => format!("{}/{dir}", self.cwd),
            None => self.cwd.clone(),
        }
    }

    /// The text shown in events and explanations.
    pub fn summary(&self) -> String {
        self.command().unwrap_or_else(|| spell(&self.input))
    }
}

/// A word in single quotes, so that a shell reads it back as one word.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn spell(json: &Json) -> String {
    match json {
        Json::Plain(word) | Json::Text(word) => word.clone(),
        Json::List(items) => items.iter().map(spell).collect::<Vec<_>>().join(", "),
        Json::Map(members) => {
            let pair = |(key, value): &(String, Json)| format!("{key}={}", spell(value));
            members.iter().map(pair).collect::<Vec<_>>().join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_clis_and_their_shells() {
        for (tool, input) in [
            ("Bash", r#"{"command":"ls -la","description":"list"}"#),
            ("run_shell_command", r#"{"command":"ls -la"}"#),
            ("shell", r#"{"command":["ls","-la"]}"#),
            ("mcp__box__execute", r#"{"command":"ls -la"}"#),
        ] {
            let text = format!(r#"{{"tool_name":"{tool}","tool_input":{input},"cwd":"/wt"}}"#);
            let call = Call::from_json(&text).unwrap();
            assert_eq!(call.kind(), ToolKind::Shell, "{tool}");
            assert_eq!(call.command().as_deref(), Some("ls -la"), "{tool}");
            assert_eq!(call.directory(), "/wt");
        }
    }

    #[test]
    fn a_list_of_words_is_quoted() {
        let text = r#"{"tool_name":"shell","tool_input":{"command":["bash","-lc","a 'b' && c"]}}"#;
        let call = Call::from_json(text).unwrap();
        assert_eq!(call.command().unwrap(), r"bash -lc 'a '\''b'\'' && c'");
    }

    #[test]
    fn an_event_without_a_tool_is_an_error() {
        assert!(Call::from_json(r#"{"cwd":"/wt"}"#).is_err());
        assert!(Call::from_json("[]").is_err());
    }
}

//! What tools are given: which of their strings are commands, code, paths or branches.
//!
//! One table of names says what a tool does; the members of its input say the rest. A tool that no
//! row knows is read as if every string that is not prose could be a command and a path.

use crate::call::{Call, ToolKind, quote};
use crate::json::Json;
use crate::words::Words;

/// Members that hold a command line, or its first word.
const COMMANDS: Words =
    Words("command cmd script program chars shell_command CommandLine executable");

/// Members that hold the words after it.
const WORDS: Words = Words("args arguments argv");

/// Members that hold prose, patterns or contents: data, whatever they say.
const PROSE: Words = Words(
    "description title body message content contents text prompt comment new_string old_string \
     new_str old_str pattern query summary thought file_text insert_text new_source edits todos \
     questions plan reason note notes subject instructions question answer explanation search \
     regex replacement labels label name branch base head channel repo owner skill data review \
     commit_message q topic substring_pattern code_edit diff fact value",
);

/// Names of tools by what they do; a name is compared without its server.
const KINDS: &[(ToolKind, Words)] = &[
    (
        ToolKind::Shell,
        Words(
            "bash shell run_shell_command local_shell exec_command exec execute_command \
             run_command terminal container.exec monitor run_terminal_cmd shell_command \
             unified_exec interact_with_process send_to_process write_stdin send_input powershell pwsh",
        ),
    ),
    (
        ToolKind::Writes,
        Words("write write_file create_file todowrite"),
    ),
    (ToolKind::Patch, Words("apply_patch")),
    (ToolKind::Fetch, Words("webfetch web_fetch fetch fetch_url")),
    (
        ToolKind::Other,
        Words(
            "websearch web_search google_web_search task agent skill askuserquestion \
             exitplanmode think slashcommand",
        ),
    ),
    (
        ToolKind::Reads,
        Words(
            "read edit multiedit notebookedit notebookread grep glob ls read_file \
             read_many_files replace list_directory list_dir view search_file_content \
             view_image",
        ),
    ),
];

impl Call {
    /// The tool's name without its server, in lower case.
    pub(crate) fn short_name(&self) -> String {
        let name = self.tool.rsplit("__").next().unwrap_or_default();
        name.to_ascii_lowercase()
    }

    /// Whether a server offers it, which calls its tools as it likes.
    pub(crate) fn is_a_server_s(&self) -> bool {
        self.tool.starts_with("mcp__")
    }

    /// What kind of tool this is. Unknown tools (MCP servers) are judged by their members.
    pub fn kind(&self) -> ToolKind {
        let name = self.short_name();
        if self.edits_by_verb() {
            return ToolKind::Reads;
        }
        // What harms nobody as a CLI's own tool may be called anything by a server.
        let may_be = |kind: ToolKind| kind != ToolKind::Other || !self.is_a_server_s();
        let known = KINDS
            .iter()
            .find(|(kind, names)| may_be(*kind) && names.has(&name));
        match known {
            Some((kind, _)) => *kind,
            None if self.command_member().is_some() => ToolKind::Shell,
            None => ToolKind::Unknown,
        }
    }

    /// Whether the text goes to a program that runs already.
    pub(crate) fn is_typed(&self) -> bool {
        matches!(
            self.short_name().as_str(),
            "write_stdin"
                | "send_input"
                | "send_keys"
                | "send_text"
                | "write_to_terminal"
                | "interact_with_process"
                | "send_to_process"
        )
    }

    /// An edit tool whose `command` is a verb: `view`, `create`, `str_replace`, `insert`.
    fn edits_by_verb(&self) -> bool {
        let verb = self.input.text_at("command").unwrap_or_default();
        let verbs = ["view", "create", "str_replace", "insert", "undo_edit"];
        self.input.get("path").is_some() && verbs.contains(&verb)
    }

    fn command_member(&self) -> Option<&Json> {
        let member = COMMANDS.iter().find_map(|key| self.input.get(key));
        let given = |json: &&Json| matches!(json, Json::Text(_) | Json::List(_));
        member
            .filter(given)
            .or_else(|| self.input.get("commands"))
            .or_else(|| self.input.get("argv").filter(given))
    }

    /// The command line of a shell tool. A list of words (Codex) is quoted back into one, and so is
    /// a program with its arguments; several commands stand on lines of their own.
    pub(crate) fn command_line(&self) -> Option<String> {
        if let Some(action) = self
            .input
            .get("action")
            .filter(|it| matches!(it, Json::Map(_)))
        {
            let inner = Self {
                tool: self.tool.clone(),
                input: action.clone(),
                cwd: self.cwd.clone(),
            };
            return inner.command_line();
        }
        let whole = matches!(self.input, Json::Text(_) | Json::List(_)).then_some(&self.input);
        let typed = || {
            self.input
                .get("input")
                .filter(|json| !matches!(json, Json::Map(_)))
        };
        let member = whole.or_else(|| self.command_member()).or_else(typed)?;
        if self
            .input
            .get("commands")
            .is_some_and(|all| std::ptr::eq(all, member))
        {
            return Some(lines(member));
        }
        let text = match member {
            Json::Text(text) => text.clone(),
            Json::List(words) => joined(words),
            _ => return None,
        };
        let words = WORDS.iter().find_map(|key| self.input.get(key));
        let text = match words {
            Some(Json::List(words))
                if words.first().and_then(Json::text) == Some(text.as_str()) =>
            {
                joined(words)
            }
            Some(Json::List(words)) => format!("{text} {}", joined(words)),
            Some(Json::Text(words)) => format!("{text} {words}"),
            _ => text,
        };
        let name = self.short_name();
        if matches!(name.as_str(), "powershell" | "pwsh") {
            return Some(format!("pwsh -Command {}", quote_always(&text)));
        }
        Some(text)
    }

    /// The code of a tool that runs it, as a command line.
    pub(crate) fn code(&self) -> Option<String> {
        let code = self.input.text_at("code")?;
        let language = self.input.text_at("language").unwrap_or_default();
        let quoted = quote_always(code);
        Some(match language.to_ascii_lowercase().as_str() {
            "bash" | "sh" | "shell" | "zsh" => code.to_owned(),
            "javascript" | "js" | "typescript" | "ts" | "node" => format!("node -e {quoted}"),
            "ruby" => format!("ruby -e {quoted}"),
            "perl" => format!("perl -e {quoted}"),
            "php" => format!("php -r {quoted}"),
            "powershell" | "pwsh" => format!("pwsh -Command {quoted}"),
            _ => format!("python3 -c {quoted}"),
        })
    }

    /// The text of a patch in the `*** Begin Patch` format, in whatever member it stands.
    pub(crate) fn patch(&self) -> Option<&str> {
        let applied = self.kind() == ToolKind::Patch;
        let by_shell = || self.command_line()?.contains("apply_patch").then_some(());
        let starts =
            |text: &&str| text.contains("*** Begin Patch") && (applied || by_shell().is_some());
        let whole = last_text(&self.input);
        let keys = ["input", "patch", "command"];
        let member = || {
            keys.into_iter()
                .find_map(|key| last_text(self.input.get(key)?))
        };
        whole.or_else(member).filter(starts)
    }

    /// Every string of the input that is no prose, with the member it stands in.
    pub(crate) fn plain_strings(&self) -> Vec<(&str, &str)> {
        let mut out = Vec::new();
        collect("", &self.input, &mut out);
        out
    }
}

fn collect<'j>(key: &'j str, json: &'j Json, out: &mut Vec<(&'j str, &'j str)>) {
    match json {
        _ if PROSE.has(key) || is_prose(key) => {}
        Json::Plain(_) => {}
        Json::Text(text) => out.push((key, text)),
        Json::List(items) => items.iter().for_each(|item| collect(key, item, out)),
        Json::Map(members) => {
            for (key, value) in members {
                collect(key, value, out);
            }
        }
    }
}

/// Whether a member called so holds prose: `commentBody`, `pageText`.
fn is_prose(key: &str) -> bool {
    Words("Body Comment Message Description Text Title Summary Note Content").any_in(key)
}

/// The text, or the last one of a list.
fn last_text(json: &Json) -> Option<&str> {
    match json {
        Json::List(items) => items.last().and_then(Json::text),
        other => other.text(),
    }
}

/// The words as one command line; a single word with blanks in it is a line already.
fn joined(words: &[Json]) -> String {
    if let [Json::Text(line)] = words
        && line.contains(' ')
    {
        return line.clone();
    }
    let quoted: Vec<_> = words.iter().filter_map(Json::text).map(quote).collect();
    quoted.join(" ")
}

/// `commands`: texts, lists of words, or objects with a `command`.
fn lines(commands: &Json) -> String {
    let Json::List(items) = commands else {
        return commands.text().unwrap_or_default().to_owned();
    };
    let line = |item: &Json| match item {
        Json::Text(text) => text.clone(),
        Json::List(words) => joined(words),
        Json::Map(_) => Call {
            tool: String::new(),
            input: item.clone(),
            cwd: String::new(),
        }
        .command_line()
        .unwrap_or_default(),
        Json::Plain(_) => String::new(),
    };
    items.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn quote_always(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

//! `[tools.mcp.NAME]` of a role: an MCP server of which its sessions have single tools.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use carson_core::Stage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use crate::check::Check;
use crate::duration::format_duration;
use crate::forms::{As, SomeTime};
use crate::nearest::nearest;
use crate::paths::Paths;

/// Most servers of a role.
const MOST: usize = 16;
/// Most tools of one.
const MOST_TOOLS: usize = 64;
/// Longest name: it stands before each of its tools'.
const NAME: usize = 20;
/// Longest name of a tool as models know it, `mcp__NAME__TOOL`.
const TOOL: usize = 64;
/// Longest time of a call.
const LONGEST: Duration = Duration::from_secs(10 * 60);

/// `[tools.mcp.NAME]`: a server that speaks the Model Context Protocol over standard input and output.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct McpSection {
    /// Required: its program, by its path or its name on PATH, and the arguments. It runs in the sandbox of each
    /// session, with the session's ways out.
    #[schemars(extend("examples" = [["docs-server", "--stdio"]]))]
    pub command: Vec<String>,
    /// Required: the tools that the sessions have, by exactly the names that the server gives them. No other one is
    /// shown to a session, or called.
    #[schemars(extend("examples" = [["search", "read_page"]]))]
    pub tools: Vec<String>,
    /// Stages whose sessions have it (`plan`, `review`, `execute`, `diff-review`); all of them without it.
    #[schemars(extend("examples" = [["plan", "execute"]]))]
    pub stages: Option<Vec<String>>,
    /// Variables that it sees. Beside these it has `PATH`, a home, places for temporary files and the ways out, and
    /// nothing else of the session's environment or of yours.
    #[schemars(extend("examples" = [{"DOCS_URL": "https://docs.example"}]))]
    pub env: BTreeMap<String, String>,
    /// Its secrets: files, mode 0600. The server finds a copy of each at the path that the variable of this name has;
    /// no environment has the secret itself, and it is taken out of what the server says.
    #[schemars(extend("examples" = [{"DOCS_TOKEN_FILE": "docs.token"}]))]
    pub secrets: BTreeMap<String, String>,
    /// How long one call may take, ten minutes at most.
    #[serde(with = "As::<SomeTime>")]
    #[schemars(extend("examples" = ["5m"]))]
    pub timeout: Duration,
}

impl Default for McpSection {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            tools: Vec::new(),
            stages: None,
            env: BTreeMap::new(),
            secrets: BTreeMap::new(),
            timeout: Duration::from_secs(60),
        }
    }
}

/// A server of which a role's sessions have single tools.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct McpServer {
    /// Its name: models know its tools as `mcp__NAME__TOOL`.
    pub name: String,
    /// Its program and arguments.
    pub command: Vec<String>,
    /// Which of its tools they have.
    pub tools: Vec<String>,
    /// In which stages.
    pub stages: Vec<Stage>,
    /// Variables that it sees. For people only their names are written.
    #[serde(serialize_with = "names")]
    pub env: BTreeMap<String, String>,
    /// Files with its secrets, by the variables that have the path of a copy.
    pub secrets: BTreeMap<String, PathBuf>,
    /// How long a call may take.
    #[serde(serialize_with = "as_written")]
    pub timeout: Duration,
}

fn names<S: Serializer>(env: &BTreeMap<String, String>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(env.keys())
}

fn as_written<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&format_duration(*time))
}

impl McpServer {
    /// Whether sessions of a stage have it.
    #[must_use]
    pub fn serves(&self, stage: Stage) -> bool {
        self.stages.contains(&stage.route())
    }
}

/// What a role grants of servers, as far as nothing is wrong with it.
pub(crate) fn servers(
    raw: BTreeMap<String, McpSection>,
    stages: &[Stage],
    at: &Paths<'_>,
    check: &mut Check<'_>,
) -> Vec<McpServer> {
    if raw.len() > MOST {
        let problem = format!("{} servers are too many", raw.len());
        check.problem("tools.mcp", problem, &format!("at most {MOST}"));
    }
    raw.into_iter()
        .map(|(name, section)| server(name, section, stages, at, check))
        .collect()
}

fn server(
    name: String,
    section: McpSection,
    stages: &[Stage],
    at: &Paths<'_>,
    check: &mut Check<'_>,
) -> McpServer {
    let key = format!("tools.mcp.{name}");
    if name.len() > NAME {
        let problem = format!("{name:?} is longer than {NAME} letters");
        check.problem(&key, problem, "its tools are called mcp__NAME__TOOL");
    }
    if section
        .command
        .first()
        .is_none_or(|program| program.trim().is_empty())
    {
        let hint = "command = [\"docs-server\", \"--stdio\"]";
        check.problem(&format!("{key}.command"), "it is missing", hint);
    }
    tools(&format!("{key}.tools"), &name, &section.tools, check);
    variables(&key, &section, check);
    if section.timeout > LONGEST {
        let problem = "no call takes longer than ten minutes";
        check.problem(&format!("{key}.timeout"), problem, "timeout = \"10m\"");
    }
    let secrets = section.secrets.iter().map(|(variable, file)| {
        let file = at.expand(file);
        check.secret(&format!("{key}.secrets.{variable}"), &file);
        (variable.clone(), file)
    });
    McpServer {
        secrets: secrets.collect(),
        command: section.command.iter().map(|word| at.tilde(word)).collect(),
        stages: chosen(&format!("{key}.stages"), section.stages, stages, check),
        tools: section.tools,
        env: section.env,
        timeout: section.timeout,
        name,
    }
}

/// Names are compared letter by letter, so one that a model could not write is nobody's.
fn tools(key: &str, server: &str, tools: &[String], check: &mut Check<'_>) {
    if tools.is_empty() {
        let problem = "it is missing: none of its tools would be anybody's";
        check.problem(key, problem, "tools = [\"search\"]");
    }
    if tools.len() > MOST_TOOLS {
        let problem = format!("{} tools are too many", tools.len());
        check.problem(key, problem, &format!("at most {MOST_TOOLS}"));
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let mut seen = BTreeSet::new();
    for (at, tool) in tools.iter().enumerate() {
        let key = format!("{key}.{at}");
        let hint = "letters, digits, - and _, as the server spells it";
        if tool.is_empty() || !tool.chars().all(plain) {
            check.problem(&key, format!("{tool:?} is no name of a tool"), hint);
        } else if format!("mcp__{server}__{tool}").len() > TOOL {
            let problem = format!("mcp__{server}__{tool} is longer than {TOOL} letters");
            check.problem(&key, problem, "give the server a shorter name");
        } else if !seen.insert(tool) {
            check.problem(&key, format!("{tool:?} is named twice"), "name it once");
        }
    }
}

fn variables(key: &str, section: &McpSection, check: &mut Check<'_>) {
    for (part, names) in [
        ("env", section.env.keys().collect::<Vec<_>>()),
        ("secrets", section.secrets.keys().collect()),
    ] {
        for name in names {
            let at = format!("{key}.{part}.{name}");
            let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            if name.is_empty() || !name.bytes().all(letter) || name.starts_with("CARSON_") {
                let problem = format!("{name:?} is no variable that it may have");
                check.problem(&at, problem, "letters, digits and _, and not Carson's own");
            } else if part == "env" && section.secrets.contains_key(name) {
                let problem = "it is among its secrets, too";
                check.problem(&at, problem, "name it once");
            } else if part == "env" && is_of_a_secret(name) {
                let problem = "a secret would stand here, and in an environment";
                let hint =
                    format!("a file with mode 0600: [{key}] secrets = {{ {name}_FILE = \"~/…\" }}");
                check.problem(&at, problem, &hint);
            }
        }
    }
}

/// Whether a variable of this name has a secret itself, and not where one lies.
fn is_of_a_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "APIKEY",
        "CREDENTIALS",
    ];
    let ends = ["_KEY", "_PASS", "_PAT"];
    let places = ["_FILE", "_PATH", "_DIR", "_URL"];
    let names =
        words.iter().any(|word| name.contains(word)) || ends.iter().any(|end| name.ends_with(end));
    names && !places.iter().any(|place| name.ends_with(place))
}

fn chosen(
    key: &str,
    named: Option<Vec<String>>,
    walked: &[Stage],
    check: &mut Check<'_>,
) -> Vec<Stage> {
    let all = Stage::ROUTED
        .into_iter()
        .filter(|stage| walked.contains(stage));
    let Some(named) = named else {
        return all.collect();
    };
    let mut chosen = Vec::new();
    for name in named {
        let stage = name.parse::<Stage>().ok();
        match stage.filter(|stage| Stage::ROUTED.contains(stage)) {
            Some(stage) if walked.contains(&stage) => chosen.push(stage),
            Some(stage) => {
                let problem = format!("the role does not walk the stage {stage}");
                check.problem(key, problem, "add it to stages, or leave it out here");
            }
            None => {
                let known = Stage::ROUTED.map(Stage::as_str);
                let hint = match nearest(&name, &known) {
                    Some(near) => format!("did you mean {near:?}?"),
                    None => format!("stages with sessions: {}", known.join(", ")),
                };
                let problem = format!("{name:?} is no stage with sessions of its own");
                check.problem(key, problem, &hint);
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_secret_is_told_from_what_names_its_place() {
        for name in ["DOCS_TOKEN", "api_key", "GITHUB_PAT", "Db_Password"] {
            assert!(is_of_a_secret(name), "{name}");
        }
        for name in ["DOCS_TOKEN_FILE", "DOCS_URL", "GITHUB_TOOLSETS", "KEYBOARD"] {
            assert!(!is_of_a_secret(name), "{name}");
        }
    }
}

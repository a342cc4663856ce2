//! The engines, one row each: what the settings and the command line need to know of them. How one is
//! driven stands in `carson-engine`, in a file of its own.

use std::fmt;

use crate::api::Api;

/// What is known of an engine before it is started.
#[derive(Debug)]
pub struct EngineFacts {
    /// Its word in the settings and in rows.
    pub name: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// What is started.
    pub program: Program,
    /// Whether a script plays the model, so that nobody signs in and nothing is paid.
    pub plays_script: bool,
    /// The API that it speaks, where that is always the same one.
    pub api: Option<Api>,
    /// The variable that names the directory with its sign-in, and where that lies by itself.
    pub sign_in_dir: Option<(&'static str, &'static str)>,
    /// Other variables that sign it in.
    pub sign_in_keys: &'static [&'static str],
    /// Variables of these that lead it to another provider than its API's own, or may.
    pub elsewhere: &'static [&'static str],
    /// How hard its model may be told to think, in its own words; none where it takes no such word.
    pub efforts: &'static [&'static str],
    /// Whether it asks an endpoint that has any models, so that an account must name one.
    pub needs_model: bool,
    /// What of the tools that a role lists it holds its sessions to.
    pub keeps_to: KeepsTo,
    /// Whether its output tells of each tool call. Of any program it may, by whose words it speaks.
    pub tells_calls: bool,
    /// Whether its sessions can be given MCP servers.
    pub takes_servers: bool,
    /// Whether it reads skills by itself, from a folder that it is told of; else they stand in the prompt.
    pub reads_skills: bool,
    /// Whether its models are named with whose they are: `provider/model`.
    pub provider_in_model: bool,
    /// The flags that Carson starts its sessions with, where the CLI takes them once or the last one holds: a
    /// second one breaks the command line, or takes a bound away.
    pub own_flags: &'static [&'static str],
}

/// What of a list of tools a CLI holds its sessions to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepsTo {
    /// Nothing: it takes no list.
    Nothing,
    /// Names of tools, and commands of the shell by their beginning. A tool that creates files is
    /// there where one is that only changes them, when it has both as one.
    Commands {
        /// Whether it has both as one.
        edits_as_one: bool,
    },
    /// The list as it stands, patterns and all.
    Patterns,
}

/// CLIs whose words a program may speak and that tell of each tool call.
pub const WORDS_WITH_CALLS: &[&str] = &["codex", "gemini", "opencode"];

/// What an engine starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// A CLI of this name, whose flags Carson knows.
    Cli(&'static str),
    /// Any program: the account names it, and its flags are the operator's.
    Any,
    /// Carson itself.
    Own,
}

/// Every engine. A new one is a row here, and a file and a line in `carson-engine/src/adapters/`.
pub const ENGINES: &[EngineFacts] = &[
    EngineFacts {
        name: "claude",
        title: "Claude Code",
        program: Program::Cli("claude"),
        plays_script: false,
        api: Some(Api::Anthropic),
        sign_in_dir: Some(("CLAUDE_CONFIG_DIR", "~/.claude")),
        sign_in_keys: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CODE_USE_FOUNDRY",
        ],
        elsewhere: &[
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CODE_USE_FOUNDRY",
        ],
        efforts: &["low", "medium", "high", "xhigh", "max"],
        needs_model: false,
        keeps_to: KeepsTo::Patterns,
        tells_calls: true,
        takes_servers: true,
        reads_skills: true,
        provider_in_model: false,
        own_flags: &[
            "--output-format",
            "--max-turns",
            "--max-budget-usd",
            "--permission-mode",
            "--settings",
            "--mcp-config",
            "--tools",
            "--allowedTools",
            "--append-system-prompt",
            "--model",
            "--effort",
        ],
    },
    EngineFacts {
        name: "codex",
        title: "Codex",
        program: Program::Cli("codex"),
        plays_script: false,
        api: Some(Api::OpenAi),
        sign_in_dir: Some(("CODEX_HOME", "~/.codex")),
        sign_in_keys: &["CODEX_API_KEY", "OPENAI_API_KEY"],
        // The settings there may name any provider, and a subscription has another one.
        elsewhere: &["CODEX_HOME"],
        efforts: &["minimal", "low", "medium", "high", "xhigh", "max", "ultra"],
        needs_model: false,
        keeps_to: KeepsTo::Nothing,
        tells_calls: true,
        takes_servers: true,
        reads_skills: false,
        provider_in_model: false,
        own_flags: &[
            "--json",
            "--disable",
            "--model",
            "-m",
            "--output-schema",
            "--sandbox",
            "-s",
            "--dangerously-bypass-approvals-and-sandbox",
        ],
    },
    EngineFacts {
        name: "command",
        title: "any program",
        program: Program::Any,
        plays_script: false,
        api: None,
        sign_in_dir: None,
        sign_in_keys: &[],
        elsewhere: &[],
        efforts: &[],
        needs_model: false,
        keeps_to: KeepsTo::Nothing,
        tells_calls: false,
        takes_servers: false,
        reads_skills: false,
        provider_in_model: false,
        own_flags: &[],
    },
    EngineFacts {
        name: "rehearsal",
        title: "the player of scripts",
        program: Program::Own,
        plays_script: true,
        api: None,
        sign_in_dir: None,
        sign_in_keys: &[],
        elsewhere: &[],
        efforts: &[],
        // It has none but what its script says.
        needs_model: false,
        keeps_to: KeepsTo::Patterns,
        tells_calls: true,
        takes_servers: false,
        reads_skills: false,
        provider_in_model: false,
        own_flags: &[],
    },
    EngineFacts {
        name: "agent",
        title: "carson-agent",
        program: Program::Cli("carson-agent"),
        plays_script: false,
        api: Some(Api::OpenAi),
        sign_in_dir: None,
        sign_in_keys: &["OPENAI_API_KEY"],
        elsewhere: &[],
        efforts: &[],
        needs_model: true,
        keeps_to: KeepsTo::Nothing,
        tells_calls: true,
        takes_servers: true,
        reads_skills: false,
        provider_in_model: false,
        own_flags: &[
            "--json",
            "--base-url",
            "--model",
            "--max-turns",
            "--max-iterations",
            "--max-tool-calls",
            "--wall-clock",
            "--silence",
            "--workdir",
            "--until",
            "--mcp",
            "--tools",
            "--api-key-env",
            "--api-key-file",
            "--preset",
        ],
    },
    EngineFacts {
        name: "gemini",
        title: "Gemini CLI",
        program: Program::Cli("gemini"),
        plays_script: false,
        api: Some(Api::Google),
        sign_in_dir: Some(("GEMINI_CLI_HOME", "~")),
        sign_in_keys: &[
            "GEMINI_API_KEY",
            "GOOGLE_API_KEY",
            "GOOGLE_GENAI_USE_VERTEXAI",
        ],
        // A sign-in with Google, and Vertex AI, are asked elsewhere than the API with keys.
        elsewhere: &["GEMINI_CLI_HOME", "GOOGLE_GENAI_USE_VERTEXAI"],
        efforts: &[],
        needs_model: false,
        keeps_to: KeepsTo::Commands {
            edits_as_one: false,
        },
        tells_calls: true,
        takes_servers: false,
        reads_skills: false,
        provider_in_model: false,
        own_flags: &[],
    },
    EngineFacts {
        name: "opencode",
        title: "opencode",
        program: Program::Cli("opencode"),
        plays_script: false,
        // Its model's name says whose.
        api: None,
        sign_in_dir: Some(("XDG_DATA_HOME", "~/.local/share")),
        sign_in_keys: &[
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "GOOGLE_GENERATIVE_AI_API_KEY",
            "OPENROUTER_API_KEY",
            "OPENCODE_API_KEY",
        ],
        elsewhere: &[],
        efforts: &["minimal", "low", "medium", "high", "xhigh", "max"],
        needs_model: false,
        keeps_to: KeepsTo::Commands { edits_as_one: true },
        tells_calls: true,
        takes_servers: false,
        reads_skills: false,
        provider_in_model: true,
        own_flags: &[],
    },
];

/// Their names, in the same order.
pub const ENGINE_NAMES: [&str; ENGINES.len()] = {
    let mut names = [""; ENGINES.len()];
    let mut row = 0;
    while row < ENGINES.len() {
        names[row] = ENGINES[row].name;
        row += 1;
    }
    names
};

/// An engine: a row of [`ENGINES`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct EngineKind(usize);

impl EngineKind {
    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ENGINE_NAMES
            .iter()
            .position(|known| *known == name)
            .map(Self)
    }

    /// The one that starts any program.
    #[must_use]
    pub fn any() -> Self {
        let any = |kind: &Self| kind.facts().program == Program::Any;
        Self::all().find(any).unwrap_or(Self(0))
    }

    /// Every one, in the order of the rows.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..ENGINES.len()).map(Self)
    }

    /// What is known of it.
    #[must_use]
    pub fn facts(self) -> &'static EngineFacts {
        &ENGINES[self.0]
    }

    /// Its place among the rows: below `ENGINES.len()`.
    #[must_use]
    pub fn row(self) -> usize {
        self.0
    }

    /// Whose model answers, as far as a name of an engine, or of what one speaks, tells it.
    #[must_use]
    pub fn vendor_of(name: &str) -> &str {
        match Self::named(name).and_then(|kind| kind.facts().api) {
            Some(api) => api.name(),
            None => name,
        }
    }

    /// Whether the output of its sessions tells of each tool call, as a program that speaks these words.
    #[must_use]
    pub fn tells_calls(self, speaks: Option<&str>) -> bool {
        let is_told = |words: &str| WORDS_WITH_CALLS.contains(&words);
        self.facts().tells_calls || speaks.is_some_and(is_told)
    }

    /// The name of its CLI's program, where Carson drives that by its flags.
    #[must_use]
    pub fn cli(self) -> Option<&'static str> {
        match self.facts().program {
            Program::Cli(name) => Some(name),
            Program::Any | Program::Own => None,
        }
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.facts().name)
    }
}

impl fmt::Debug for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_found_by_its_name_and_says_it() {
        for (kind, facts) in EngineKind::all().zip(ENGINES) {
            assert_eq!(EngineKind::named(facts.name), Some(kind));
            assert_eq!(kind.to_string(), facts.name);
        }
        assert_eq!(EngineKind::named("gpt"), None);
        for (name, vendor) in [
            ("claude", "anthropic"),
            ("codex", "openai"),
            ("gemini", "google"),
            ("opencode", "opencode"),
            ("x", "x"),
        ] {
            assert_eq!(EngineKind::vendor_of(name), vendor);
        }
        let any = EngineKind::any();
        assert!(any.tells_calls(Some("codex")) && !any.tells_calls(Some("openai")));
        assert!(!any.tells_calls(None));
        // Rows of old databases and settings have these words.
        for old in ["claude", "command", "rehearsal"] {
            assert!(EngineKind::named(old).is_some(), "{old}");
        }
    }
}

//! The engines of the kit: how each is started against the scripted model, how its provider refuses, and what it tells.

use std::path::PathBuf;
use std::time::Duration;

use carson_core::EngineKind;
use carson_engine::{Engine, cli};
use carson_tests::fleet::binary;
use carson_tests::model::{
    OPENCODE_MODEL, Reply, claude_binary, claude_env, codex_binary, codex_env, gemini_binary,
    gemini_env, opencode_binary, opencode_env, subscription_limit, too_many_requests,
};
use serde_json::json;

use super::desk::Desk;

/// One engine.
pub struct Subject {
    pub name: &'static str,
    program: fn() -> PathBuf,
    args: &'static [&'static str],
    model: &'static str,
    env: fn(&Desk<'_>) -> Vec<(String, String)>,
    speaks: Option<&'static str>,
    /// Whose words its provider refuses in.
    refuses: Refuses,
    /// Whether the hook is asked before its calls.
    pub has_hook: bool,
    /// Whether it tells which calls the hook refused.
    pub tells_denials: bool,
    /// Whether it tells its model.
    pub tells_model: bool,
    /// Whether it tells what it costs.
    pub tells_cost: bool,
    /// Whether its limit has an end; else it is waited for, until Carson's own patience ends.
    pub tells_reset: bool,
    /// Whether it waits for its provider no longer than Carson does, and tells that it was the provider.
    pub tells_silence: bool,
    /// How long it may say nothing before it begins.
    pub starts_within: Duration,
}

#[derive(Clone, Copy)]
enum Refuses {
    Anthropic,
    OpenAi,
    Plain,
    Google,
}

impl Subject {
    pub fn engine(&self, _desk: &Desk<'_>) -> Engine {
        Engine {
            kind: EngineKind::named(self.name).unwrap(),
            program: (self.program)(),
            args: self.args.iter().map(|arg| (*arg).to_owned()).collect(),
            model: Some(self.model.to_owned()),
            effort: None,
            script: None,
            limits: self.speaks.and_then(cli),
        }
    }

    pub fn env(&self, desk: &Desk<'_>) -> Vec<(String, String)> {
        (self.env)(desk)
    }

    /// The provider's limit, which ends at `reset`, two hours from now.
    pub fn limit(&self, reset: i64) -> Reply {
        match self.refuses {
            Refuses::Anthropic if self.name == "claude" => subscription_limit(reset),
            Refuses::Anthropic | Refuses::Plain => too_many_requests(7200),
            Refuses::OpenAi => openai(429, "usage_limit_reached", reset),
            Refuses::Google => google(
                429,
                "RESOURCE_EXHAUSTED",
                "Resource has been exhausted (e.g. check quota).",
                "7200s",
            ),
        }
    }

    /// The sign-in is not valid.
    pub fn auth(&self) -> Reply {
        match self.refuses {
            Refuses::OpenAi => openai(401, "invalid_api_key", 0),
            Refuses::Google => google(
                401,
                "UNAUTHENTICATED",
                "Request had invalid authentication credentials.",
                "",
            ),
            _ => Reply::error(401, "authentication_error", "invalid x-api-key"),
        }
    }

    /// The provider has too much to do.
    pub fn overload(&self) -> Reply {
        match self.refuses {
            Refuses::Anthropic => Reply::error(529, "overloaded_error", "Overloaded"),
            Refuses::OpenAi => openai(503, "server_is_overloaded", 0),
            Refuses::Plain => Reply::error(503, "overloaded_error", "Overloaded"),
            Refuses::Google => google(
                503,
                "UNAVAILABLE",
                "The model is overloaded. Please try again later.",
                "",
            ),
        }
    }
}

fn openai(code: u16, kind: &str, reset: i64) -> Reply {
    let error = json!({ "error": {
        "type": kind, "code": kind, "message": format!("{kind} was said"), "plan_type": "plus", "resets_at": reset,
    } });
    let body = error.to_string();
    Reply::Status { code, body }
}

fn google(code: u16, status: &str, message: &str, delay: &str) -> Reply {
    let info = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay });
    let details: Vec<_> = (!delay.is_empty()).then_some(info).into_iter().collect();
    let error = json!({ "error": { "code": code, "message": message, "status": status, "details": details } });
    let body = error.to_string();
    Reply::Status { code, body }
}

pub fn claude() -> Subject {
    Subject {
        name: "claude",
        program: || claude_binary().unwrap(),
        args: &[],
        model: "claude-sonnet-5",
        env: |desk| {
            let mut env = claude_env(&desk.model, &desk.at("home"));
            env.retain(|(name, _)| name != "ANTHROPIC_API_KEY");
            let token = ("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-test");
            env.push((token.0.to_owned(), token.1.to_owned()));
            env
        },
        speaks: None,
        refuses: Refuses::Anthropic,
        has_hook: true,
        tells_denials: true,
        tells_model: true,
        tells_cost: true,
        tells_reset: true,
        tells_silence: false,
        starts_within: Duration::from_secs(6),
    }
}

pub fn codex() -> Subject {
    Subject {
        name: "codex",
        program: || codex_binary().unwrap(),
        args: &[],
        model: "gpt-5.5",
        env: |desk| codex_env(&desk.model, &desk.at("codex")).unwrap(),
        speaks: None,
        refuses: Refuses::OpenAi,
        has_hook: true,
        tells_denials: false,
        tells_model: false,
        tells_cost: false,
        tells_reset: true,
        tells_silence: false,
        starts_within: Duration::from_secs(6),
    }
}

pub fn gemini() -> Subject {
    Subject {
        name: "gemini",
        program: || gemini_binary().unwrap(),
        args: &[],
        model: "gemini-2.5-pro",
        env: |desk| gemini_env(&desk.model),
        speaks: None,
        refuses: Refuses::Google,
        has_hook: true,
        tells_denials: true,
        tells_model: true,
        tells_cost: false,
        tells_reset: true,
        tells_silence: false,
        starts_within: Duration::from_secs(20),
    }
}

pub fn opencode() -> Subject {
    Subject {
        name: "opencode",
        program: || opencode_binary().unwrap(),
        args: &[],
        model: OPENCODE_MODEL,
        env: |desk| opencode_env(&desk.model),
        speaks: None,
        refuses: Refuses::Anthropic,
        has_hook: false,
        tells_denials: true,
        tells_model: false,
        tells_cost: true,
        tells_reset: false,
        tells_silence: false,
        starts_within: Duration::from_secs(30),
    }
}

/// Any program: here Codex, with the flags that an operator would give it.
pub fn command() -> Subject {
    Subject {
        name: "command",
        args: &[
            "exec",
            "--json",
            "--ephemeral",
            "--skip-git-repo-check",
            "--ignore-rules",
            "-c",
            "project_doc_max_bytes=0",
            "-c",
            "analytics.enabled=false",
            "-c",
            "skills.include_instructions=false",
            "--dangerously-bypass-approvals-and-sandbox",
            "-",
        ],
        speaks: Some("codex"),
        has_hook: false,
        ..codex()
    }
}

pub fn agent() -> Subject {
    Subject {
        name: "agent",
        program: || binary().with_file_name("carson-agent"),
        args: &[],
        model: "local-7b",
        env: |desk| {
            let base = format!("{}/v1", desk.model.base_url());
            let env = [
                ("OPENAI_API_KEY", "sk-test".to_owned()),
                ("OPENAI_BASE_URL", base),
            ];
            env.map(|(name, value)| (name.to_owned(), value)).into()
        },
        speaks: None,
        refuses: Refuses::Plain,
        has_hook: true,
        tells_denials: false,
        tells_model: false,
        tells_cost: false,
        tells_reset: true,
        tells_silence: true,
        starts_within: Duration::from_secs(4),
    }
}

//! Whose API a provider serves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The APIs that Carson can hold a key for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// Anthropic's.
    Anthropic,
    /// OpenAI's, and what is compatible with it.
    OpenAi,
    /// Google's, of the Gemini models.
    Google,
}

impl Api {
    /// Its word in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Google => "google",
        }
    }

    /// Whose it is.
    #[must_use]
    pub fn owner(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::Google => "Google",
        }
    }

    /// Where its provider serves it.
    #[must_use]
    pub fn upstream(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com",
            Self::Google => "https://generativelanguage.googleapis.com",
        }
    }

    /// The variables of its clients: the key's, and the address's with what stands behind the host.
    #[must_use]
    pub fn variables(self) -> (&'static str, (&'static str, &'static str)) {
        match self {
            Self::Anthropic => ("ANTHROPIC_API_KEY", ("ANTHROPIC_BASE_URL", "")),
            Self::OpenAi => ("OPENAI_API_KEY", ("OPENAI_BASE_URL", "/v1")),
            Self::Google => ("GEMINI_API_KEY", ("GOOGLE_GEMINI_BASE_URL", "")),
        }
    }
}

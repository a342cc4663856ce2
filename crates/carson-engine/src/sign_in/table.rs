//! The one table of directories that CLIs sign in from.

use super::{Age, Credential, Holders, Settings, SignIn};

/// Every directory that Carson knows. A variable that is not here names no sign-in, and what it
/// names is not granted.
pub static SIGN_INS: [SignIn; 4] = [
    // Claude Code. Hooks, `apiKeyHelper`, plugins and CLAUDE.md lie beside; `mcpOAuth` in the file
    // itself belongs to other services.
    SignIn {
        variable: "CLAUDE_CONFIG_DIR",
        own: "",
        credentials: &[Credential {
            file: ".credentials.json",
            keys: &["claudeAiOauth", "organizationUuid"],
            holders: Holders::At("/claudeAiOauth"),
            tokens: &["/accessToken", "/refreshToken"],
            age: Age::ExpiresMillis("/expiresAt"),
            same: &["/subscriptionType"],
        }],
        // The rest of that file is the history of all projects, and servers to start.
        settings: &[Settings {
            file: ".claude.json",
            keys: &["hasCompletedOnboarding", "oauthAccount", "userID"],
        }],
    },
    // Codex. Its settings name the provider and may start programs: they are the operator's, and
    // go in only.
    SignIn {
        variable: "CODEX_HOME",
        own: "",
        credentials: &[Credential {
            file: "auth.json",
            keys: &[],
            holders: Holders::At(""),
            tokens: &[
                "/tokens/id_token",
                "/tokens/access_token",
                "/tokens/refresh_token",
            ],
            age: Age::RenewedAt("/last_refresh"),
            same: &["/tokens/account_id", "/auth_mode", "/OPENAI_API_KEY"],
        }],
        // What names servers, programs and other projects stays outside, with the secrets in it.
        settings: &[Settings {
            file: "config.toml",
            keys: &[
                "model",
                "model_provider",
                "model_providers",
                "model_context_window",
                "model_max_output_tokens",
                "model_reasoning_effort",
                "model_reasoning_summary",
                "model_verbosity",
                "service_tier",
                "chatgpt_base_url",
                "openai_base_url",
                "forced_login_method",
                "preferred_auth_method",
                "cli_auth_credentials_store",
                "disable_response_storage",
                "check_for_update_on_startup",
                "analytics",
                "features",
                "oss_provider",
            ],
        }],
    },
    // Gemini CLI, whose directory is a home. Google's refresh tokens do not change.
    SignIn {
        variable: "GEMINI_CLI_HOME",
        own: ".gemini",
        credentials: &[Credential {
            file: ".gemini/oauth_creds.json",
            keys: &[],
            holders: Holders::At(""),
            tokens: &["/access_token", "/id_token"],
            age: Age::ExpiresMillis("/expiry_date"),
            same: &["/refresh_token", "/token_type", "/scope"],
        }],
        settings: &[
            Settings {
                file: ".gemini/settings.json",
                keys: &[],
            },
            Settings {
                file: ".gemini/google_accounts.json",
                keys: &[],
            },
        ],
    },
    // opencode: one member for each provider, with a key or with tokens.
    SignIn {
        variable: "XDG_DATA_HOME",
        own: "opencode",
        credentials: &[Credential {
            file: "opencode/auth.json",
            keys: &[],
            holders: Holders::Each,
            tokens: &["/access", "/refresh"],
            age: Age::ExpiresMillis("/expires"),
            same: &["/type", "/accountId", "/enterpriseUrl"],
        }],
        settings: &[],
    },
];

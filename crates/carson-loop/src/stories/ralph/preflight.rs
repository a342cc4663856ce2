//! Secrets in the environment, which a tool would get, are told before it gets them.

use super::ended::Ended;
use super::events::Events;
use super::settings::{Settings, Variables};
use super::voice::Voice;

/// Variables that hold secrets more often than not.
pub const WATCHED: [&str; 10] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "DATABASE_URL",
    "POSTGRES_URL",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "STRIPE_SECRET_KEY",
    "GITHUB_TOKEN",
    "GOOGLE_APPLICATION_CREDENTIALS",
];

/// Looks for them; their values are never said.
///
/// # Errors
/// When there are some, and the run is not to have them.
pub fn secrets(
    settings: &Settings,
    variables: &Variables,
    events: &Events,
    voice: &mut Voice<'_>,
) -> Result<(), Ended> {
    if !settings.security_preflight {
        return events.add("INFO security_preflight=disabled");
    }
    let is_set = |name: &&&str| variables.get(**name).is_some_and(|value| !value.is_empty());
    let found: Vec<&str> = WATCHED.iter().filter(is_set).copied().collect();
    if found.is_empty() {
        return events.add("INFO security_preflight=clean");
    }
    let names = found.join(",");
    events.add(&format!("WARN security_preflight=detected vars={names}"))?;
    voice.error(&format!(
        "[ralph][WARN] Security preflight detected sensitive environment variables: {names}"
    ));
    voice.error("[ralph][WARN] The tool would get them: unset those that it does not need.");
    match settings.fail_on_risk {
        true => Err(Ended::Failed(format!(
            "Security preflight blocked run due sensitive environment variables (vars={names})"
        ))),
        false => Ok(()),
    }
}

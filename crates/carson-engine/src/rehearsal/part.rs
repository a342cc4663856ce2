//! Which session it is that a script is played for.

use std::path::PathBuf;

/// Which session of which firing this is, as Carson's environment tells.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// `CARSON_ROLE`.
    pub role: String,
    /// `CARSON_STAGE`.
    pub stage: String,
    /// `CARSON_WORK`: an issue, or a pull request.
    pub issue: u64,
    /// `CARSON_ATTEMPT`.
    pub attempt: u32,
    /// `CARSON_STAGE_RUN`.
    pub run: u32,
    /// `CARSON_MAX_TURNS`.
    pub max_turns: u32,
    /// `CARSON_HOOK_COMMAND`.
    pub hook: Option<String>,
    /// `CARSON_OUTBOX`.
    pub outbox: Option<PathBuf>,
}

impl Part {
    /// Reads the part out of an environment.
    #[must_use]
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name: &str| {
            variable(name)
                .and_then(|text| text.parse().ok())
                .unwrap_or(0)
        };
        Self {
            role: variable("CARSON_ROLE").unwrap_or_default(),
            stage: variable("CARSON_STAGE").unwrap_or_default(),
            issue: variable("CARSON_WORK")
                .and_then(|text| text.parse().ok())
                .unwrap_or(0),
            attempt: number("CARSON_ATTEMPT"),
            run: number("CARSON_STAGE_RUN"),
            max_turns: variable("CARSON_MAX_TURNS")
                .and_then(|text| text.parse().ok())
                .unwrap_or(u32::MAX),
            hook: variable("CARSON_HOOK_COMMAND"),
            outbox: variable("CARSON_OUTBOX").map(PathBuf::from),
        }
    }
}

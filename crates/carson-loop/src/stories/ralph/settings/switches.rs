//! What is on or off: a variable, its default, and the flags that say it.

use super::Settings;

pub(super) struct Switch {
    /// Its variable.
    pub variable: &'static str,
    /// What it is where nobody says it.
    pub default: &'static str,
    /// The flag that turns it on; the one with `--no-` before turns it off.
    pub flag: Option<&'static str>,
    /// Another flag that turns it off.
    pub also_off: Option<&'static str>,
    /// Where it is kept.
    pub field: fn(&mut Settings) -> &mut bool,
}

const fn switch(
    variable: &'static str,
    default: &'static str,
    flag: Option<&'static str>,
    field: fn(&mut Settings) -> &mut bool,
) -> Switch {
    Switch {
        variable,
        default,
        flag,
        also_off: None,
        field,
    }
}

pub(super) const SWITCHES: [Switch; 13] = [
    switch(
        "RALPH_SEARCH_ENABLED_BY_DEFAULT",
        "false",
        Some("--search"),
        |s| &mut s.search,
    ),
    switch("RALPH_CAPTURE_CODEX_OUTPUT", "false", None, |s| {
        &mut s.capture_output
    }),
    switch(
        "RALPH_REQUIRE_EXTERNAL_REFERENCES_ON_SEARCH",
        "true",
        None,
        |s| &mut s.require_references,
    ),
    switch(
        "RALPH_MODEL_PREFLIGHT",
        "false",
        Some("--model-preflight"),
        |s| &mut s.model_preflight,
    ),
    switch(
        "RALPH_AUTO_ARCHIVE_ON_PROJECT_CHANGE",
        "false",
        Some("--auto-archive"),
        |s| &mut s.auto_archive,
    ),
    switch(
        "RALPH_REQUIRE_LEARNING_ENTRY_FOR_FIXING",
        "false",
        Some("--require-learning-entry"),
        |s| &mut s.require_learning,
    ),
    Switch {
        also_off: Some("--skip-security-check"),
        ..switch(
            "RALPH_SECURITY_PREFLIGHT",
            "true",
            Some("--security-preflight"),
            |s| &mut s.security_preflight,
        )
    },
    switch(
        "RALPH_SECURITY_PREFLIGHT_FAIL_ON_RISK",
        "false",
        None,
        |s| &mut s.fail_on_risk,
    ),
    switch(
        "RALPH_SYNC_BRANCH_FROM_PRD",
        "false",
        Some("--sync-branch"),
        |s| &mut s.sync_branch,
    ),
    switch("RALPH_AUTO_PROGRESS_LOG_APPEND", "true", None, |s| {
        &mut s.append_progress
    }),
    switch(
        "RALPH_AUTO_SYNC_AGENTS_FROM_LEARNINGS",
        "false",
        None,
        |s| &mut s.sync_agents,
    ),
    switch(
        "RALPH_STRICT_REPORT_DIR",
        "true",
        Some("--strict-report-dir"),
        |s| &mut s.strict_report_dir,
    ),
    switch("RALPH_AUTO_PROGRESS_REFRESH", "true", None, |s| {
        &mut s.refresh_progress
    }),
];

impl Switch {
    /// What a word says of it, if it is one of its flags.
    pub fn flag_says(&self, word: &str) -> Option<bool> {
        if self.also_off == Some(word) {
            return Some(false);
        }
        let flag = self.flag?;
        let off = word.strip_prefix("--no-");
        if word == flag {
            Some(true)
        } else if off.is_some() && off == flag.strip_prefix("--") {
            Some(false)
        } else {
            None
        }
    }
}

//! What Carson knows of one agent CLI, whoever starts it.

use crate::rules::RuleFile;
use crate::sign_in::SignIn;
use crate::version::Version;

/// An agent CLI: one that an adapter drives, or one whose words a program of `command` speaks.
#[derive(Debug)]
pub struct Cli {
    /// Its name in the settings, and that of its program.
    pub name: &'static str,
    /// Which versions of it were measured; `None` for what is no one program.
    pub(crate) release: Option<Release>,
    /// What it means when its provider refuses.
    pub(crate) rules: RuleFile,
    /// The directory that it signs in from.
    pub(crate) sign_in: Option<SignIn>,
}

/// The versions of a CLI that Carson works with.
#[derive(Debug)]
pub(crate) struct Release {
    /// The oldest one whose flags and events were measured.
    pub oldest: Version,
    /// The newest one.
    pub newest: Version,
    /// What makes it newer.
    pub update: &'static str,
    /// What brings back the newest one that was measured.
    pub back: &'static str,
}

//! What one engine's file says of it.

use carson_proc::Command;
use serde_json::Value;

use crate::cli::Cli;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::reader::Reader;
use crate::said::Said;
use crate::session::{Access, Session};
use crate::variables::Variables;

/// How one engine is driven. Beside this only its row in `carson_core::ENGINES` knows it.
#[derive(Debug)]
pub(crate) struct Adapter {
    /// Its name there.
    pub name: &'static str,
    /// The CLI, where it is always the same one.
    pub driven: Option<Driven>,
    /// What is started for a session.
    pub command: fn(&Engine, &Session<'_>) -> Result<Command, EngineError>,
    /// What reads its output.
    pub reader: fn(&Engine, &Session<'_>) -> Box<dyn Reader>,
    /// What a line of its output says to people who read it later; nothing where it is not known.
    pub says: fn(&Value) -> Vec<Said>,
    /// The variables that a session gets beside the environment that it is given, for people to see.
    /// A value of `…` is another one in each session.
    pub variables: fn(Access) -> Vec<(&'static str, &'static str)>,
    /// Whether its output tells of each tool call, and of those that the hook refused.
    pub tells_denials: bool,
}

/// The one CLI that an adapter drives.
#[derive(Debug)]
pub(crate) struct Driven {
    /// Which.
    pub cli: &'static Cli,
    /// Whether somebody may be signed in to it without a variable or a file that is known.
    pub signs_in_otherwise: fn(&Variables) -> bool,
    /// What a person does when nobody is signed in.
    pub sign_in_hint: &'static str,
}

impl Adapter {
    /// The CLI, where it is always the same one.
    pub fn cli(&self) -> Option<&'static Cli> {
        self.driven.as_ref().map(|driven| driven.cli)
    }
}

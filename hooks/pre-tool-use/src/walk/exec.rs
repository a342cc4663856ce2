//! One command as it would be executed: words expanded, wrappers taken off.

use crate::context::Context;
use crate::git::GitLine;
use crate::marks;
use crate::path;

use super::state::{State, World};

/// A command about to run.
#[derive(Debug, Clone, Default)]
pub struct Exec {
    /// Name and arguments. A word with several possible values gives several arguments.
    pub argv: Vec<String>,
    /// Assignments in front of it, outermost first.
    pub env: Vec<(String, String)>,
    /// What it reads.
    pub stdin: String,
}

impl Exec {
    /// A command without input or assignments.
    pub fn of(argv: Vec<String>) -> Self {
        Self {
            argv,
            ..Self::default()
        }
    }

    /// The same with another command line.
    pub fn with(&self, argv: Vec<String>) -> Self {
        Self {
            argv,
            env: self.env.clone(),
            stdin: self.stdin.clone(),
        }
    }

    /// The command's name without its directory.
    pub fn name(&self) -> &str {
        self.argv.first().map_or("", |first| path::name(first))
    }

    /// The arguments.
    pub fn args(&self) -> &[String] {
        self.argv.get(1..).unwrap_or_default()
    }
}

/// What a rule sees of a command.
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The firing.
    pub ctx: &'v Context,
    /// What the line did to the disk so far.
    pub world: &'v World,
    /// The shell's state.
    pub state: &'v State,
    /// The command.
    pub exec: &'v Exec,
}

impl View<'_> {
    /// The absolute paths a word may name; `None` among them means unknown.
    pub fn paths(&self, text: &str) -> Vec<Option<String>> {
        self.state
            .cwd
            .iter()
            .map(|cwd| self.state.absolute(text, cwd))
            .collect()
    }

    /// The command line of `git`, working where the variables in front of it say.
    pub fn git_line(&self) -> GitLine {
        let mut line = GitLine::read(self.exec.args());
        if line.elsewhere.is_none() {
            line.elsewhere = self.env("GIT_WORK_TREE").or_else(|| self.env("GIT_DIR"));
        }
        line
    }

    /// The value of an environment variable the command would see, if the line sets it.
    pub fn env(&self, name: &str) -> Option<String> {
        let inline = self.exec.env.iter().rev().find(|(key, _)| key == name);
        if let Some((_, value)) = inline {
            return Some(value.clone());
        }
        let var = self.state.var(name).filter(|var| var.exported)?;
        Some(var.values.first().cloned().unwrap_or_default())
    }

    /// What a file written by this line holds.
    pub fn content(&self, text: &str) -> Option<&str> {
        let files = &self.world.files;
        self.paths(text)
            .into_iter()
            .flatten()
            .find_map(|p| files.get(&p))
            .map(String::as_str)
    }

    /// Where the command runs, for messages.
    pub fn place_name(&self) -> String {
        let names: Vec<_> = self.state.cwd.iter().map(|cwd| marks::show(cwd)).collect();
        names.join(" or ")
    }
}

//! Choices that an operator has, each a word in the settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What becomes of a session when the kernel cannot confine it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Sandbox {
    /// It does not start.
    Required,
    /// It starts with what the kernel has, and the firing says what that is.
    #[default]
    BestEffort,
    /// Sessions are not confined at all.
    Off,
}

/// What becomes of finished work of which no test fails on the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unproven {
    /// Its pull request says so.
    #[default]
    Note,
    /// That of a fix is a draft.
    Draft,
    /// Nobody asks.
    Off,
}

/// Who pushes the firing's branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Push {
    /// Carson, from outside, after the firing settled.
    #[default]
    Carson,
    /// The agent may, with credentials that the operator hands it.
    Agent,
}

/// Whose network its sessions are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkUse {
    /// One of their own, wherever there is one to be had: what leaves it goes through the firing's
    /// proxy.
    #[default]
    Own,
    /// This machine's.
    Host,
}

/// What a role does with what a usage window would lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spare {
    /// An independent second try of the hardest work that has a first one.
    SecondTry,
}

/// Who waits first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// Goes on as long as it may.
    #[default]
    Normal,
    /// Waits when a usage window is nearly used up.
    Low,
}

/// What becomes of a tool call that the hook does not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HookFailure {
    /// It runs, and the firing says so.
    #[default]
    Open,
    /// It is refused.
    Closed,
}

/// What a firing's workspace is made of.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, Deserialize, Serialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Workspaces {
    /// What it changes, above a checkout that all share, wherever the machine can do that.
    #[default]
    Layers,
    /// A clone of that checkout, whose files share their blocks with it until they are written, where the
    /// disk can do that (btrfs, XFS, APFS). Without layers it is tried first in any case.
    Clone,
    /// A checkout of its own.
    Copy,
}

/// A program that says by files of the repository which tools its work needs, and where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Toolchain {
    /// mise: `mise.toml` and its other names, `.tool-versions`.
    Mise,
    /// asdf: `.tool-versions`.
    Asdf,
    /// direnv: `.envrc`.
    Direnv,
}

impl Toolchain {
    /// Its program.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            Self::Mise => "mise",
            Self::Asdf => "asdf",
            Self::Direnv => "direnv",
        }
    }

    /// What it reads at the top of a repository, by its documentation.
    #[must_use]
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Self::Mise => &[
                "mise.toml",
                ".mise.toml",
                "mise.lock",
                "mise/config.toml",
                ".mise/config.toml",
                ".config/mise.toml",
                ".config/mise/config.toml",
                ".tool-versions",
            ],
            Self::Asdf => &[".tool-versions"],
            Self::Direnv => &[".envrc"],
        }
    }
}

/// A package manager whose downloads on this machine every workspace finds.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::Display,
    Deserialize,
    Serialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Cache {
    /// npm.
    Npm,
    /// pnpm.
    Pnpm,
    /// Yarn, both of them.
    Yarn,
    /// Cargo.
    Cargo,
    /// pip.
    Pip,
    /// uv.
    Uv,
    /// Go.
    Go,
    /// Maven.
    Maven,
    /// Gradle.
    Gradle,
}

impl Cache {
    /// Where its downloads lie below `HOME`, by the tools' own documentation. None of these holds a
    /// sign-in.
    #[must_use]
    pub fn places(self) -> &'static [&'static str] {
        match self {
            Self::Npm => &[".npm/_cacache"],
            Self::Pnpm => &[".local/share/pnpm/store"],
            Self::Yarn => &[".cache/yarn", ".yarn/berry/cache"],
            Self::Cargo => &[".cargo/registry", ".cargo/git"],
            Self::Pip => &[".cache/pip"],
            Self::Uv => &[".cache/uv"],
            Self::Go => &["go/pkg/mod"],
            Self::Maven => &[".m2/repository"],
            Self::Gradle => &[".gradle/caches"],
        }
    }
}

/// What the clients of a server of the Model Context Protocol may change. It is given to the server, by who
/// starts it; no client has it by what it calls itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum McpGrant {
    /// Loops are started, stopped, rolled back and given other tasks.
    Loop,
    /// Issues are filed that roles take up.
    Queue,
    /// Lessons are proposed, which nobody is told before they are promoted.
    Memory,
}

impl McpGrant {
    /// Every one there is.
    pub const ALL: [Self; 3] = [Self::Loop, Self::Queue, Self::Memory];

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Queue => "queue",
            Self::Memory => "memory",
        }
    }

    /// The one with this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grant| grant.as_str() == word)
    }
}

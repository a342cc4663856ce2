//! The pinned agent CLIs, installed by npm into the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, on_path, output};

/// An npm package with a program. The versions are what Carson was measured against: a newer one is
/// a change to be reviewed, not to be met.
struct Agent {
    package: &'static str,
    version: &'static str,
    program: &'static str,
    /// The script of its own that puts the platform's program into place, if it has one.
    script: Option<&'static str>,
}

const CLAUDE: Agent = Agent {
    package: "@anthropic-ai/claude-code",
    version: "2.1.329",
    program: "claude",
    script: Some("install.cjs"),
};

const CODEX: Agent = Agent {
    package: "@openai/codex",
    version: "0.169.0",
    program: "codex",
    script: None,
};

const GEMINI: Agent = Agent {
    package: "@google/gemini-cli",
    version: "0.61.0",
    program: "gemini",
    script: None,
};

const OPENCODE: Agent = Agent {
    package: "opencode-ai",
    version: "1.18.33",
    program: "opencode",
    script: Some("postinstall.mjs"),
};

/// All of them, each with the variable that tells tests where it is.
const AGENTS: [(&str, Agent); 4] = [
    ("CARSON_TEST_CLAUDE", CLAUDE),
    ("CARSON_TEST_CODEX", CODEX),
    ("CARSON_TEST_GEMINI", GEMINI),
    ("CARSON_TEST_OPENCODE", OPENCODE),
];

/// Where they are.
pub struct Agents {
    dir: PathBuf,
}

impl Agents {
    /// The variables by which tests find them.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        AGENTS
            .iter()
            .map(|(name, agent)| (*name, agent.binary(&self.dir)))
    }

    /// Claude Code.
    pub fn claude(&self) -> PathBuf {
        CLAUDE.binary(&self.dir)
    }
}

/// Installs the pinned versions unless the cache has them.
///
/// # Errors
/// When npm is missing or fails, or what it installed is not a pinned version.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<Agents> {
    let dir = cache.dir("npm")?;
    if AGENTS.iter().any(|(_, agent)| !agent.is_in(&dir)) {
        install(interrupt, &dir)?;
    }
    Ok(Agents { dir })
}

/// What is there in the right version stays as it is: another run may be using it.
fn install(interrupt: &Interrupt, dir: &Path) -> anyhow::Result<()> {
    ensure!(
        on_path("npm"),
        "the tests need npm: install Node.js 20 or later, then try again"
    );
    for (
        _,
        Agent {
            package, version, ..
        },
    ) in &AGENTS
    {
        println!(
            "xtask: installing {package} {version} into {}",
            dir.display()
        );
    }
    fs::write(dir.join("package.json"), manifest()).context("cannot write package.json")?;
    npm_install(interrupt, dir)?;
    for (_, agent) in &AGENTS {
        if agent.found(dir).is_none() {
            agent.place(interrupt, dir)?;
        }
        if !agent.is_in(dir) {
            bail!(
                "{} says {:?}, not {}: remove {} and try again",
                agent.binary(dir).display(),
                agent.found(dir),
                agent.version,
                dir.display()
            );
        }
    }
    Ok(())
}

impl Agent {
    fn binary(&self, dir: &Path) -> PathBuf {
        dir.join("node_modules/.bin").join(self.program)
    }

    fn found(&self, dir: &Path) -> Option<String> {
        output(Command::new(self.binary(dir)).arg("--version"))
    }

    /// Its package says which version it is at once, where it itself takes seconds; what starts it is there.
    fn is_in(&self, dir: &Path) -> bool {
        let manifest = dir
            .join("node_modules")
            .join(self.package)
            .join("package.json");
        let manifest = fs::read_to_string(manifest).unwrap_or_default();
        let said = format!("\"version\": \"{}\"", self.version);
        let is_listed = manifest.contains(&said);
        match self.script {
            // The script puts the program there, and may not have been run.
            Some(_) => is_listed && self.found(dir).is_some_and(|said| self.is_pinned(&said)),
            None => is_listed && self.binary(dir).exists(),
        }
    }

    /// `2.1.329 (Claude Code)`, `codex-cli 0.169.0`.
    fn is_pinned(&self, said: &str) -> bool {
        said.split_whitespace().any(|word| word == self.version)
    }

    /// The package's own install script is not run where npm's configuration forbids scripts
    /// altogether.
    fn place(&self, interrupt: &Interrupt, dir: &Path) -> anyhow::Result<()> {
        let Some(script) = self.script else {
            return Ok(());
        };
        let package = dir.join("node_modules").join(self.package);
        interrupt.must(Command::new("node").arg(script).current_dir(package))
    }
}

/// Recent npm runs a package's install script only when the manifest allows it.
fn manifest() -> String {
    let wanted = AGENTS.map(|(_, it)| format!("\"{}\": \"{}\"", it.package, it.version));
    let scripts = AGENTS.into_iter().filter(|(_, it)| it.script.is_some());
    let scripts: Vec<String> = scripts
        .map(|(_, it)| format!("\"{}\": true", it.package))
        .collect();
    format!(
        "{{\n  \"private\": true,\n  \"dependencies\": {{ {} }},\n  \
         \"allowScripts\": {{ {} }}\n}}\n",
        wanted.join(", "),
        scripts.join(", ")
    )
}

/// Installs what the manifest of a directory names.
pub(crate) fn npm_install(interrupt: &Interrupt, dir: &Path) -> anyhow::Result<()> {
    let mut npm = Command::new("npm");
    npm.args([
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts=false",
    ])
    .current_dir(dir);
    interrupt.must(&mut npm).with_context(|| {
        format!(
            "npm could not install what {} names",
            dir.join("package.json").display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_version_will_do() {
        assert!(CLAUDE.is_pinned("2.1.329 (Claude Code)"));
        assert!(!CLAUDE.is_pinned("2.1.3290 (Claude Code)"));
        assert!(CODEX.is_pinned("codex-cli 0.169.0"));
        assert!(!CODEX.is_pinned("codex-cli 0.169.0-alpha.1"));
        assert!(!CODEX.is_pinned(""));
    }
}

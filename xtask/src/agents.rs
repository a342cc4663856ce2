//! The pinned agent CLIs, installed by npm into the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::interrupt::Interrupt;
use crate::workspace::{Cache, on_path, output};

/// An npm package with a program. The versions are what Carson was measured against: a newer one is
/// a change to be reviewed, not to be met. The adapters of `carson-engine` name the same ones.
struct Agent {
    package: &'static str,
    newest: &'static str,
    oldest: &'static str,
    program: &'static str,
    /// The script of its own that puts the platform's program into place, if it has one.
    script: Option<&'static str>,
}

const CLAUDE: Agent = Agent {
    package: "@anthropic-ai/claude-code",
    newest: "2.1.329",
    oldest: "2.1.309",
    program: "claude",
    script: Some("install.cjs"),
};

const CODEX: Agent = Agent {
    package: "@openai/codex",
    newest: "0.169.0",
    oldest: "0.169.0",
    program: "codex",
    script: None,
};

const GEMINI: Agent = Agent {
    package: "@google/gemini-cli",
    newest: "0.61.0",
    oldest: "0.57.0",
    program: "gemini",
    script: None,
};

const OPENCODE: Agent = Agent {
    package: "opencode-ai",
    newest: "1.18.33",
    oldest: "1.18.18",
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

/// Which of the versions that Carson was measured with.
#[derive(Clone, Copy)]
pub enum Age {
    /// What the suite runs.
    Newest,
    /// What preflight lets pass, too.
    Oldest,
}

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
pub fn ensure(interrupt: &Interrupt, cache: &Cache, age: Age) -> anyhow::Result<Agents> {
    let dir = cache.dir(match age {
        Age::Newest => "npm",
        Age::Oldest => "npm-oldest",
    })?;
    if AGENTS.iter().any(|(_, agent)| !agent.is_in(&dir, age)) {
        install(interrupt, &dir, age)?;
    }
    Ok(Agents { dir })
}

/// What is there in the right version stays as it is: another run may be using it.
fn install(interrupt: &Interrupt, dir: &Path, age: Age) -> anyhow::Result<()> {
    ensure!(
        on_path("npm"),
        "the tests need npm: install Node.js 20 or later, then try again"
    );
    for (_, agent) in &AGENTS {
        let (package, version) = (agent.package, agent.version(age));
        println!(
            "xtask: installing {package} {version} into {}",
            dir.display()
        );
    }
    fs::write(dir.join("package.json"), manifest(age)).context("cannot write package.json")?;
    npm_install(interrupt, dir)?;
    for (_, agent) in &AGENTS {
        if agent.found(dir).is_none() {
            agent.place(interrupt, dir)?;
        }
        if !agent.is_in(dir, age) {
            bail!(
                "{} says {:?}, not {}: remove {} and try again",
                agent.binary(dir).display(),
                agent.found(dir),
                agent.version(age),
                dir.display()
            );
        }
    }
    Ok(())
}

impl Agent {
    fn version(&self, age: Age) -> &'static str {
        match age {
            Age::Newest => self.newest,
            Age::Oldest => self.oldest,
        }
    }

    fn binary(&self, dir: &Path) -> PathBuf {
        dir.join("node_modules/.bin").join(self.program)
    }

    fn found(&self, dir: &Path) -> Option<String> {
        output(Command::new(self.binary(dir)).arg("--version"))
    }

    /// Its package says which version it is at once, where it itself takes seconds; what starts it is there.
    fn is_in(&self, dir: &Path, age: Age) -> bool {
        let manifest = dir
            .join("node_modules")
            .join(self.package)
            .join("package.json");
        let manifest = fs::read_to_string(manifest).unwrap_or_default();
        let said = format!("\"version\": \"{}\"", self.version(age));
        let is_listed = manifest.contains(&said);
        match self.script {
            // The script puts the program there, and may not have been run.
            Some(_) => {
                is_listed
                    && self
                        .found(dir)
                        .is_some_and(|said| self.is_pinned(age, &said))
            }
            None => is_listed && self.binary(dir).exists(),
        }
    }

    /// `2.1.329 (Claude Code)`, `codex-cli 0.169.0`.
    fn is_pinned(&self, age: Age, said: &str) -> bool {
        said.split_whitespace()
            .any(|word| word == self.version(age))
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
fn manifest(age: Age) -> String {
    let wanted = AGENTS.map(|(_, it)| format!("\"{}\": \"{}\"", it.package, it.version(age)));
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
    use crate::workspace::root;

    #[test]
    fn only_the_pinned_version_will_do() {
        let newest = |agent: Agent, said| agent.is_pinned(Age::Newest, said);
        assert!(newest(CLAUDE, "2.1.329 (Claude Code)"));
        assert!(!newest(CLAUDE, "2.1.3290 (Claude Code)"));
        assert!(newest(CODEX, "codex-cli 0.169.0"));
        assert!(!newest(CODEX, "codex-cli 0.169.0-alpha.1"));
        assert!(!newest(CODEX, ""));
    }

    #[test]
    fn the_adapters_name_the_versions_that_are_tested() {
        for (_, agent) in &AGENTS {
            let adapters = root()
                .join("crates/carson-engine/src/adapters")
                .join(agent.program);
            let files = [adapters.with_extension("rs"), adapters.join("mod.rs")];
            let adapter = files
                .iter()
                .find_map(|file| fs::read_to_string(file).ok())
                .unwrap();
            for (name, version) in [("oldest", agent.oldest), ("newest", agent.newest)] {
                let line = format!("{name}: Version([{}]),", version.replace('.', ", "));
                assert!(adapter.contains(&line), "{}: {line}", agent.program);
            }
        }
    }
    #[test]
    fn the_documents_want_the_oldest_version_that_is_tested() {
        let text = |file: &str| fs::read_to_string(root().join(file)).unwrap();
        let (readme, config) = (text("README.md"), text("docs/CONFIG.md"));
        let needs = readme.lines().find(|line| line.contains("or a newer one"));
        for (
            _,
            Agent {
                program, oldest, ..
            },
        ) in &AGENTS
        {
            assert!(needs.unwrap().contains(&format!(" {oldest}")), "{program}");
            let runs = format!("`engine = \"{program}\"` runs ");
            let mut about = config.lines().filter(|line| line.starts_with(&runs));
            let wanted = format!("({oldest} or newer)");
            assert!(about.all(|line| line.contains(&wanted)), "{program}");
        }
    }
}

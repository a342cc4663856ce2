//! What a role grants its sessions beside the tools of their CLI: MCP servers and skills. They lie in the bench while a
//! session runs, where it reads them and nobody writes, and are made anew for each.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use carson_config::{McpServer, Role, read_secret};
use carson_core::Stage;
use carson_engine::{ServerCommand, Servers};
use carson_home::Home;
use carson_home::halt::Hinted;
use carson_porter::{Granted, GrantedServer, PORTER};
use carson_proc::{own_path, own_program};
use secrecy::ExposeSecret as _;
use thiserror::Error;

use crate::bench::{Bench, MARKER};
use crate::private_dir::private_dir;
use crate::skill_files::{SKILL, SkillFiles};

/// Variables of a session that a server has, too. Its home is no session's: what a repository's setup left there would
/// say what runs here (`.npmrc`, `.config`, …), as its working directory would (`node_modules/.bin`).
const PASSED: [&str; 8] = [
    MARKER,
    "CARSON_WORKTREE",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "NODE_USE_ENV_PROXY",
    "XDG_RUNTIME_DIR",
];

/// What a session was granted, as its engine is told of it.
#[derive(Debug, Default)]
pub struct LaidOut {
    /// The servers.
    pub servers: Option<Servers>,
    /// The folder with the skills, and each with its name and text.
    pub skills: Option<(PathBuf, Vec<SkillText>)>,
}

/// A skill as a session finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillText {
    /// Its name.
    pub name: String,
    /// Where its copy lies.
    pub dir: PathBuf,
    /// What its `SKILL.md` says.
    pub text: String,
}

/// Why something that is granted cannot be given.
#[derive(Debug, Error)]
pub enum GrantError {
    /// A server's program.
    #[error(
        "the MCP server {server}: the program {program:?} is not installed where no session writes"
    )]
    NoProgram {
        /// Which server.
        server: String,
        /// Its program.
        program: String,
    },
    /// A server's secret.
    #[error("the MCP server {server}: {why}")]
    Secret {
        /// Which server.
        server: String,
        /// What is wrong with it.
        why: String,
    },
    /// A skill.
    #[error("the skill {skill}: {why}")]
    Skill {
        /// Which.
        skill: String,
        /// What is wrong with it.
        why: String,
    },
    /// The bench.
    #[error("what the role grants cannot be laid out: {0}")]
    Io(#[from] io::Error),
}

impl Hinted for GrantError {
    fn hint(&self) -> &str {
        match self {
            Self::NoProgram { .. } => {
                "install it, or name another one in [tools.mcp.NAME] of the role"
            }
            Self::Secret { .. } => "mend the file that [tools.mcp.NAME] secrets names",
            Self::Skill { .. } => "mend the folder; `carson doctor` says what a skill may be",
            Self::Io(error) => error.hint(),
        }
    }
}

impl Bench {
    /// Where it lies.
    #[must_use]
    pub fn granted(&self) -> PathBuf {
        self.root.join("granted")
    }

    /// Where servers of the newest session have their homes: a place of its own for each session, which goes with the
    /// bench.
    #[must_use]
    pub fn server_homes(&self) -> PathBuf {
        let all = self.root.join("servers");
        let sessions = std::fs::read_dir(&all).map_or(0, Iterator::count);
        all.join(sessions.to_string())
    }

    /// Lays out what a role grants the sessions of a stage, which have this environment.
    ///
    /// # Errors
    /// When something of it is not there, or cannot be copied.
    pub fn lay_out(
        &self,
        home: &Home,
        role: &Role,
        stage: Stage,
        env: &[(OsString, OsString)],
    ) -> Result<LaidOut, GrantError> {
        self.take_back()?;
        if role.servers.is_empty() && role.skills.is_empty() {
            return Ok(LaidOut::default());
        }
        let servers = role.servers.iter().filter(|one| one.serves(stage));
        let servers: Vec<&McpServer> = servers.collect();
        private_dir(&self.granted())?;
        let next = std::fs::read_dir(self.root.join("servers")).map_or(0, Iterator::count) + 1;
        private_dir(&self.root.join("servers").join(next.to_string()))?;
        Ok(LaidOut {
            servers: match servers.is_empty() {
                true => None,
                false => Some(self.lay_out_servers(home, &servers, env)?),
            },
            skills: match role.skills.is_empty() {
                true => None,
                false => Some(self.lay_out_skills(role)?),
            },
        })
    }

    /// Takes it back, secrets first of all.
    ///
    /// # Errors
    /// What the file system says.
    pub fn take_back(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(self.granted()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn lay_out_servers(
        &self,
        home: &Home,
        servers: &[&McpServer],
        env: &[(OsString, OsString)],
    ) -> Result<Servers, GrantError> {
        let file = self.granted().join("servers.json");
        let mut granted = Granted {
            events: Some(self.hook_events()),
            ..Granted::default()
        };
        let mut list = Vec::new();
        for server in servers {
            let own = self.server(home, server, env)?;
            granted.servers.insert(server.name.clone(), own);
            let porter = [
                home.program.clone().into_os_string(),
                PORTER.into(),
                file.clone().into_os_string(),
                server.name.clone().into(),
            ];
            list.push(ServerCommand {
                name: server.name.clone(),
                tools: server.tools.clone(),
                command: porter
                    .map(|word| word.to_string_lossy().into_owned())
                    .to_vec(),
                timeout: server.timeout,
            });
        }
        let text = serde_json::to_vec(&granted).map_err(io::Error::other)?;
        private_file(&file)?.write_all(&text)?;
        Ok(Servers {
            list,
            file: self.granted().join("cli.json"),
        })
    }

    fn server(
        &self,
        home: &Home,
        server: &McpServer,
        env: &[(OsString, OsString)],
    ) -> Result<GrantedServer, GrantError> {
        let mut words = server.command.iter();
        let named = words.next().map(String::as_str).unwrap_or_default();
        let program = own_program(Path::new(named), home.path());
        let program = program.ok_or_else(|| GrantError::NoProgram {
            server: server.name.clone(),
            program: named.to_owned(),
        })?;
        let at = self.server_homes().join(&server.name);
        let mut own = passed(env);
        own.extend(home_at(&at)?);
        let path = home.path().map(own_path).unwrap_or_default();
        own.insert("PATH".to_owned(), path.to_string_lossy().into_owned());
        own.extend(server.env.clone());
        let mut secrets = Vec::new();
        for (variable, file) in &server.secrets {
            let copy = self.secret(&server.name, variable, file)?;
            own.insert(variable.clone(), copy.to_string_lossy().into_owned());
            secrets.push(copy);
        }
        Ok(GrantedServer {
            program,
            args: words.cloned().collect(),
            cwd: at,
            env: own,
            tools: server.tools.clone(),
            secrets,
            call_ms: u64::try_from(server.timeout.as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// A copy of a secret, which its owner alone reads.
    fn secret(&self, server: &str, variable: &str, file: &Path) -> Result<PathBuf, GrantError> {
        let secret = read_secret(file).map_err(|error| GrantError::Secret {
            server: server.to_owned(),
            why: error.to_string(),
        })?;
        let dir = self.granted().join("secrets").join(server);
        private_dir(&dir)?;
        let copy = dir.join(variable);
        private_file(&copy)?.write_all(secret.expose_secret().as_bytes())?;
        Ok(copy)
    }

    fn lay_out_skills(&self, role: &Role) -> Result<(PathBuf, Vec<SkillText>), GrantError> {
        // As Claude Code wants a plugin to be: a manifest, and the skills beside it.
        let plugin = self.granted().join("skills");
        private_dir(&plugin.join(".claude-plugin"))?;
        let manifest = "{\"name\":\"carson\",\"version\":\"1.0.0\",\"description\":\"Skills that the role grants\"}";
        std::fs::write(plugin.join(".claude-plugin/plugin.json"), manifest)?;
        let mut texts = Vec::new();
        for skill in &role.skills {
            let wrong = |why: String| GrantError::Skill {
                skill: skill.name.clone(),
                why,
            };
            let files = SkillFiles::of(&skill.dir).map_err(wrong)?;
            let dir = plugin.join("skills").join(&skill.name);
            let copied = files.copy(&skill.dir, &dir);
            copied.map_err(|error| wrong(error.to_string()))?;
            let text = std::fs::read_to_string(dir.join(SKILL));
            texts.push(SkillText {
                name: skill.name.clone(),
                text: text.map_err(|error| wrong(error.to_string()))?,
                dir,
            });
        }
        Ok((plugin, texts))
    }
}

/// A home that nobody was in.
fn home_at(dir: &Path) -> io::Result<Vec<(String, String)>> {
    private_dir(dir)?;
    let mut variables = Vec::new();
    for (name, place) in [
        ("HOME", "home"),
        ("TMPDIR", "tmp"),
        ("XDG_CONFIG_HOME", "home/.config"),
        ("XDG_CACHE_HOME", "home/.cache"),
        ("XDG_DATA_HOME", "home/.local/share"),
        ("XDG_STATE_HOME", "home/.local/state"),
    ] {
        let place = dir.join(place);
        if matches!(name, "HOME" | "TMPDIR") {
            private_dir(&place)?;
        }
        variables.push((name.to_owned(), place.to_string_lossy().into_owned()));
    }
    Ok(variables)
}

/// What a server sees of the environment of its session: no sign-in, and nothing of Carson's but where the worktree is
/// and the mark by which everything that a firing started is found.
fn passed(env: &[(OsString, OsString)]) -> BTreeMap<String, String> {
    let is_passed = |name: &str| {
        let is_proxy = name.to_ascii_uppercase().ends_with("_PROXY");
        is_proxy || PASSED.contains(&name)
    };
    let known = env.iter().filter_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str()?);
        is_passed(name).then(|| (name.to_owned(), value.to_owned()))
    });
    known.collect()
}

fn private_file(path: &Path) -> io::Result<File> {
    File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_sees_no_sign_in() {
        let env = [
            ("HOME", "/h"),
            ("https_proxy", "http://carson:t@127.0.0.1:1"),
            ("ANTHROPIC_API_KEY", "sk"),
            ("CLAUDE_CONFIG_DIR", "/c"),
            ("AWS_PROFILE", "x"),
            ("CARSON_FIRING", "f"),
            ("CARSON_WORKTREE", "/w"),
            ("CARSON_OUTBOX", "/o"),
        ];
        let env = env.map(|(name, value)| (name.into(), value.into()));
        let names: Vec<String> = passed(&env).into_keys().collect();
        assert_eq!(names, ["CARSON_FIRING", "CARSON_WORKTREE", "https_proxy"]);
    }
}

//! `[mcp]`: what the daemon serves to agent CLIs and other clients of the Model Context Protocol.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::choices::McpGrant;
use crate::forms::{Maybe, OwnAddress};
use crate::paths::Paths;
use crate::secret::{SecretError, read_token};

/// What the daemon serves over the Model Context Protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mcp {
    /// Where it listens: an address of this machine itself.
    pub listen: SocketAddr,
    /// The file with the token that clients show, readable by its owner only.
    pub token_file: PathBuf,
    /// What clients may change.
    pub grant: Vec<McpGrant>,
    /// Directories below which loops are worked with.
    pub roots: Vec<PathBuf>,
}

impl Mcp {
    /// The token, as it is in its file at this moment.
    ///
    /// # Errors
    /// When the file cannot be read, others can read it too, or what is in it could be guessed.
    pub fn token(&self) -> Result<SecretString, String> {
        read_token(&self.token_file).map_err(|error| error.to_string())
    }
}

/// `[mcp]`
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct McpSection {
    /// The address of this machine itself at which the daemon serves tools over HTTP (streamable, at
    /// `/mcp`); it serves none without it.
    #[serde(with = "Maybe::<OwnAddress>")]
    #[schemars(extend("examples" = ["127.0.0.1:7421"]))]
    pub listen: Option<SocketAddr>,
    /// Required with `listen`: a file, mode 0600, with the token that clients show, of 32 characters or
    /// more. It is read at every request.
    #[schemars(extend("examples" = ["mcp.token"]))]
    pub token_file: Option<String>,
    /// What clients may change: `queue` is to file issues that roles take up, `loop` is to run and change
    /// loops, and so any command line as you, `memory` is to propose lessons, which nobody is told before they are promoted.
    #[schemars(extend("examples" = [["queue"]]))]
    pub grant: Vec<String>,
    /// Directories in which, and below which, clients may work with loops; in none without it.
    #[schemars(extend("examples" = [["~/src/widget"]]))]
    pub roots: Vec<String>,
}

/// What makes a token.
const MAKE_ONE: &str = "(umask 077; openssl rand -hex 32 > mcp.token)";

/// What follows where it cannot be had.
const NOBODY: &str = "no client is let in until that is mended; all else goes on";

pub(crate) fn mcp(raw: McpSection, paths: &Paths<'_>, check: &mut Check<'_>) -> Option<Mcp> {
    let grant = grants(&raw.grant, check);
    let roots = raw.roots.iter().map(|root| paths.expand(root)).collect();
    let Some(listen) = raw.listen else {
        let says_more = raw.token_file.is_some() || !raw.grant.is_empty() || !raw.roots.is_empty();
        if says_more {
            let warning = "without listen nothing is served, and the rest of it means nothing";
            check.warning("mcp", warning, "listen = \"127.0.0.1:7421\"");
        }
        return None;
    };
    let Some(file) = raw.token_file else {
        let hint =
            format!("token_file = \"mcp.token\", in Carson's home; {MAKE_ONE} there makes it");
        check.problem("mcp.token_file", "it is missing", &hint);
        return None;
    };
    let token_file = paths.expand(&file);
    if let Err(error) = read_token(&token_file) {
        let hint = match error {
            SecretError::Short { .. } | SecretError::Empty { .. } => {
                format!("{NOBODY}; {MAKE_ONE} makes one")
            }
            _ => NOBODY.to_owned(),
        };
        check.warning("mcp.token_file", error.to_string(), &hint);
    }
    Some(Mcp {
        listen,
        token_file,
        grant,
        roots,
    })
}

fn grants(words: &[String], check: &mut Check<'_>) -> Vec<McpGrant> {
    let mut grants = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match McpGrant::named(word) {
            Some(grant) => grants.push(grant),
            None => {
                let known = McpGrant::ALL.map(McpGrant::as_str).join(", ");
                let problem = format!("there is no grant {word:?}");
                check.problem(
                    &format!("mcp.grant.{at}"),
                    problem,
                    &format!("there are: {known}"),
                );
            }
        }
    }
    grants
}

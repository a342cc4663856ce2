//! `[page]`: the page that the daemon serves to browsers.

use std::net::SocketAddr;
use std::path::PathBuf;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::check::Check;
use crate::forms::{Address, Maybe};
use crate::paths::Paths;
use crate::secret::{SecretError, read_token};

/// The page that the daemon serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it listens.
    pub listen: SocketAddr,
    /// The file with the token that people sign in with. Who serves the page makes it where it is missing.
    pub token_file: PathBuf,
    /// What else it is called by, as browsers send it.
    pub hosts: Vec<String>,
}

impl Page {
    /// The token, as it is in its file at this moment.
    ///
    /// # Errors
    /// When the file cannot be read, others can read it too, or what is in it could be guessed.
    pub fn token(&self) -> Result<SecretString, String> {
        read_token(&self.token_file).map_err(|error| error.to_string())
    }
}

/// `[page]`
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PageSection {
    /// The address at which the daemon serves the page; it serves none without it. One that other machines reach needs
    /// `hosts`.
    #[serde(with = "Maybe::<Address>")]
    #[schemars(extend("examples" = ["127.0.0.1:7420"]))]
    pub listen: Option<SocketAddr>,
    /// A file, mode 0600, with the token that people sign in with, of 32 characters or more. It is made where it is missing.
    #[schemars(extend("examples" = ["~/.config/carson-page.token"]))]
    pub token_file: String,
    /// Names by which browsers reach it beside `listen` and `localhost`, with the port where they show one: those of a
    /// proxy that speaks TLS for it, or of this machine. A request that names another host is refused.
    #[schemars(extend("examples" = [["carson.example.net"]]))]
    pub hosts: Vec<String>,
}

impl Default for PageSection {
    fn default() -> Self {
        Self {
            listen: None,
            token_file: "page.token".to_owned(),
            hosts: Vec::new(),
        }
    }
}

pub(crate) fn page(raw: PageSection, paths: &Paths<'_>, check: &mut Check<'_>) -> Option<Page> {
    let listen = raw.listen;
    let Some(listen) = listen else {
        if !raw.hosts.is_empty() {
            let warning = "without listen no page is served, and the rest of it means nothing";
            check.warning("page", warning, "listen = \"127.0.0.1:7420\"");
        }
        return None;
    };
    for (at, host) in raw.hosts.iter().enumerate() {
        if !is_host(host) {
            let problem = format!("{host:?} is no name of a host");
            let hint = "write it as a browser shows it, without http:// and without a path: \"carson.example.net\"";
            check.problem(&format!("page.hosts.{at}"), problem, hint);
        }
    }
    if !listen.ip().is_loopback() {
        beyond(&raw.hosts, check);
    }
    let token_file = paths.expand(&raw.token_file);
    match read_token(&token_file) {
        Ok(_) => {}
        Err(SecretError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => check.warning("page.token_file", error.to_string(), NOBODY),
    }
    Some(Page {
        listen,
        token_file,
        hosts: raw.hosts,
    })
}

/// What follows where the token cannot be had.
const NOBODY: &str = "nobody is let in until that is mended; all else goes on";

/// Other machines reach it: somebody has to have meant that.
fn beyond(hosts: &[String], check: &mut Check<'_>) {
    let tunnel = "listen = \"127.0.0.1:7420\" and a tunnel of ssh (docs/PAGE.md) is the safe way";
    if hosts.is_empty() {
        let problem = "other machines reach that address, and hosts says no name for them";
        check.problem("page.listen", problem, tunnel);
    } else {
        let warning =
            "what goes there is not encrypted: whoever is on the way reads the token and all pages";
        check.warning("page.listen", warning, tunnel);
    }
}

/// What a browser sends as `Host`: a name or an address, and a port where it is not the usual one.
fn is_host(text: &str) -> bool {
    let of_host = |c: char| c.is_ascii_alphanumeric() || "-.:[]".contains(c);
    !text.is_empty() && text.len() <= 255 && text.chars().all(of_host)
}

//! What is proposed where the command line says nothing: the agent CLI that is signed in, the forge that the
//! repository's remote names, the time zone of this machine.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use carson_core::EngineKind;
use carson_engine::{Engine, installed, named_clis};
use carson_forge::OPENERS;
use chrono_tz::Tz;

use crate::args::Init;
use crate::error::CommandError;

/// Where the zone of this machine is named; the link first, which is what the C library reads.
const LOCALTIME: &str = "/etc/localtime";
const TIMEZONE: &str = "/etc/timezone";
/// What comes before a zone's name in the link.
const ZONEINFO: &str = "zoneinfo/";

/// The engine that was meant, or else the first CLI of the list that is installed, one that is signed in before one
/// that is not.
///
/// # Errors
/// When none is installed.
pub fn engine(said: Option<EngineKind>, has_program: bool) -> Result<EngineKind, CommandError> {
    if let Some(said) = said {
        return Ok(said);
    }
    let clis = named_clis();
    // A program without a word of whose it is: the first one's.
    if has_program && let Some((first, _)) = clis.first() {
        return Ok(*first);
    }
    let environ: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let installed: Vec<EngineKind> = installed().into_iter().map(|(engine, _)| engine).collect();
    let signed_in = installed
        .iter()
        .find(|engine| is_signed_in(**engine, &environ));
    let first = signed_in.or(installed.first()).copied();
    first.ok_or_else(|| none_installed(&clis))
}

fn none_installed(clis: &[(EngineKind, &str)]) -> CommandError {
    let names: Vec<&str> = clis.iter().map(|(_, program)| *program).collect();
    CommandError::failed(format!(
        "no agent CLI is installed: none of {} is on PATH",
        names.join(", ")
    ))
    .hint("install one and sign in with it (docs/engines.md says which versions), then run `carson init` again")
    .hint("carson init --engine ENGINE --binary PATH takes one that lies elsewhere; --engine agent takes an endpoint")
    .hint("`carson demo` shows Carson at work without any")
}

/// Whether somebody is signed in to it where an account that `init` writes looks.
fn is_signed_in(engine: EngineKind, environ: &[(OsString, OsString)]) -> bool {
    let given = |name: &str| {
        let mut all = environ.iter();
        all.find(|(own, _)| own == name).map(|(_, value)| value)
    };
    let facts = engine.facts();
    let mut env: Vec<(OsString, OsString)> = facts
        .sign_in_keys
        .iter()
        .filter_map(|key| Some((OsString::from(key), given(key)?.clone())))
        .collect();
    if let (Some((variable, dir)), Some(home)) = (facts.sign_in_dir, given("HOME")) {
        let below = dir.trim_start_matches('~').trim_start_matches('/');
        env.push((variable.into(), Path::new(home).join(below).into()));
    }
    let account = Engine {
        kind: engine,
        program: PathBuf::new(),
        args: Vec::new(),
        model: None,
        effort: None,
        script: None,
        limits: None,
    };
    account
        .signed_in(&env)
        .is_some_and(|signed_in| signed_in.is_ok())
}

/// Where issues and pull requests are to live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosted {
    /// Its name in the list of forges.
    pub forge: &'static str,
    /// The repository's name there.
    pub slug: Option<String>,
    /// Whether the repository's address says so, and nobody else.
    pub is_found: bool,
}

impl Hosted {
    /// Files under the home.
    pub const LOCAL: Self = Self {
        forge: "local",
        slug: None,
        is_found: false,
    };

    /// What the command line says of it; `None` if nothing. `url` is the repository's own address, which knows its
    /// name there.
    ///
    /// # Errors
    /// When nobody says the name that it needs, or it needs none of what was said.
    pub fn said(args: &Init, url: Option<&str>) -> Result<Option<Self>, CommandError> {
        let takes_slugs = |name: &&carson_forge::Opener| name.slug.is_some();
        let opener = match &args.forge {
            Some(name) => OPENERS.iter().find(|opener| opener.name == name),
            // Only one of those has a name for it, a token or an address.
            None if args.slug.is_some() || args.token_file.is_some() || args.api_base.is_some() => {
                OPENERS.iter().find(takes_slugs)
            }
            None => return Ok(None),
        };
        let Some(opener) = opener else {
            return Ok(None);
        };
        let by_address = || {
            let found = url.and_then(Self::at);
            found.filter(|found| found.forge == opener.name)?.slug
        };
        if opener.slug.is_none() {
            of_no_host(args, opener.name)?;
        }
        if let Some(base) = args.api_base.as_deref().filter(|base| !is_address(base)) {
            let wrong = format!("--api-base {base}: this is no address");
            return Err(CommandError::usage(wrong).hint(
                "it begins with https://, as in --api-base https://github.example.com/api/v3",
            ));
        }
        let slug = match opener.slug {
            None => None,
            Some(check) => {
                let missing = || {
                    let forge = opener.name;
                    CommandError::usage(format!("which repository is it on {forge}?"))
                        .hint(format!("carson init --forge {forge} --slug OWNER/NAME"))
                };
                let said = args.slug.clone();
                let slug = said.or_else(by_address).ok_or_else(missing)?;
                check(&slug)
                    .map_err(|wrong| CommandError::usage(wrong).hint("--slug OWNER/NAME"))?;
                Some(slug)
            }
        };
        Ok(Some(Self {
            forge: opener.name,
            slug,
            is_found: false,
        }))
    }

    /// The forge whose public address a repository has.
    pub fn at(url: &str) -> Option<Self> {
        OPENERS.iter().find_map(|opener| {
            let slug = slug_at(url, opener.host?)?;
            let check = opener.slug?;
            check(&slug).ok()?;
            Some(Self {
                forge: opener.name,
                slug: Some(slug),
                is_found: true,
            })
        })
    }
}

/// A forge of files has no name, no token and no address: whoever gives one means another.
fn of_no_host(args: &Init, forge: &str) -> Result<(), CommandError> {
    let given = [
        ("--slug", args.slug.is_some()),
        ("--token-file", args.token_file.is_some()),
        ("--api-base", args.api_base.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(CommandError::usage(format!(
            "{option} is of no use with --forge {forge}, whose issues are files"
        ))
        .hint(format!(
            "leave {option} out, or name the forge that it is for"
        ))),
    }
}

fn is_address(base: &str) -> bool {
    let rest = base
        .strip_prefix("https://")
        .or(base.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'))
}

/// `owner/name` of `https://HOST/owner/name.git`, `git@HOST:owner/name` and `ssh://git@HOST/owner/name`.
fn slug_at(url: &str, host: &str) -> Option<String> {
    let (before, rest) = match url.split_once("://") {
        Some((_, rest)) => rest.split_once('/')?,
        None => url.split_once(':')?,
    };
    let at = before.rsplit('@').next()?;
    let at = at.split(':').next()?;
    if !at.eq_ignore_ascii_case(host) {
        return None;
    }
    let slug = rest.trim_matches('/');
    Some(slug.strip_suffix(".git").unwrap_or(slug).to_owned())
}

/// The IANA name of this machine's time zone; `UTC` where it has none.
pub fn zone() -> String {
    let said = std::env::var("TZ").ok();
    let link = std::fs::read_link(LOCALTIME).ok();
    let text = std::fs::read_to_string(TIMEZONE).ok();
    zone_of(
        said.as_deref(),
        link.as_deref().map(Path::as_os_str),
        text.as_deref(),
    )
}

fn zone_of(said: Option<&str>, link: Option<&OsStr>, text: Option<&str>) -> String {
    let linked = link
        .and_then(OsStr::to_str)
        .and_then(|link| link.split_once(ZONEINFO))
        .map(|(_, name)| name);
    let names = [
        said.map(|said| said.trim_start_matches(':')),
        linked,
        text.map(str::trim),
    ];
    let known = names
        .into_iter()
        .flatten()
        .find(|name| name.parse::<Tz>().is_ok());
    match known {
        None | Some("Etc/UTC") => "UTC".to_owned(),
        Some(known) => known.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forge_is_known_by_the_address_of_a_repository() {
        for (url, slug) in [
            ("git@github.com:acme/widget.git", Some("acme/widget")),
            ("https://github.com/acme/widget", Some("acme/widget")),
            (
                "https://x:secret@GitHub.com/acme/widget.git/",
                Some("acme/widget"),
            ),
            (
                "ssh://git@github.com:22/acme/widget.git",
                Some("acme/widget"),
            ),
            ("https://github.com.evil.example/acme/widget", None),
            ("https://example.com/github.com/acme/widget", None),
            ("git@example.com:acme/widget.git", None),
            ("https://github.com/acme", None),
            ("https://github.com/acme/widget/tree/main", None),
            ("/srv/github.com/acme/widget.git", None),
            ("", None),
        ] {
            let found = Hosted::at(url).and_then(|hosted| hosted.slug);
            assert_eq!(found.as_deref(), slug, "{url}");
        }
    }

    #[test]
    fn the_zone_is_the_machine_s() {
        let link = |name: &'static str| Some(OsStr::new(name));
        for (said, linked, text, zone) in [
            (
                Some("Asia/Tokyo"),
                link("/usr/share/zoneinfo/Europe/Berlin"),
                None,
                "Asia/Tokyo",
            ),
            (Some(":Asia/Tokyo"), None, None, "Asia/Tokyo"),
            (
                Some("CET-1CEST"),
                link("/usr/share/zoneinfo/Europe/Berlin"),
                None,
                "Europe/Berlin",
            ),
            (
                None,
                link("../usr/share/zoneinfo/America/Indiana/Knox"),
                None,
                "America/Indiana/Knox",
            ),
            (
                None,
                link("/somewhere"),
                Some("Europe/Rome\n"),
                "Europe/Rome",
            ),
            (None, None, Some("nowhere"), "UTC"),
            (None, None, None, "UTC"),
        ] {
            assert_eq!(zone_of(said, linked, text), zone);
        }
    }

    #[test]
    fn a_cli_is_signed_in_by_its_own_file_or_by_a_key() {
        let home = tempfile::tempdir().unwrap();
        let signed_in = |engine: &str, more: &[(&str, &str)]| {
            let mut env = vec![(OsString::from("HOME"), home.path().as_os_str().to_owned())];
            env.extend(more.iter().map(|(name, value)| (name.into(), value.into())));
            is_signed_in(EngineKind::named(engine).unwrap(), &env)
        };
        for engine in ["claude", "codex", "gemini", "opencode"] {
            assert!(!signed_in(engine, &[]), "{engine}");
        }
        assert!(signed_in("codex", &[("OPENAI_API_KEY", "k")]));
        let dir = home.path().join(".claude");
        std::fs::create_dir(&dir).unwrap();
        assert!(!signed_in("claude", &[]), "a directory is no sign-in");
        std::fs::write(dir.join(".credentials.json"), "{}").unwrap();
        assert!(signed_in("claude", &[]));
    }
}

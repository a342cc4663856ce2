//! From files and environment to a fleet, or to all findings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use carson_core::RoleName;
use figment::Figment;
use figment::providers::{Format, Toml};
use figment::value::Value;

use crate::finding::{Finding, Findings};
use crate::fleet::{Fleet, Prompts};
use crate::home::Home;
use crate::keys::{self, Document};
use crate::provenance::Provenance;
use crate::raw::{RoleFile, Settings};
use crate::resolve;
use crate::shipped;
use crate::sources::Sources;

/// Where to read from.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// `CARSON_HOME`.
    pub home: PathBuf,
    /// Where `carson.toml` and `roles/` are, when not in the home itself.
    pub files: Option<PathBuf>,
    /// The process's environment.
    pub env: Vec<(OsString, OsString)>,
    /// What `~` stands for.
    pub user_home: Option<PathBuf>,
    /// The machine's name for itself.
    pub machine: String,
}

/// A fleet, and where each of its values came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The fleet.
    pub fleet: Fleet,
    /// Value by value.
    pub provenance: Provenance,
    /// What it was made from.
    pub sources: Sources,
}

/// A role as it was read.
pub(crate) struct ReadRole {
    pub name: RoleName,
    pub file: PathBuf,
    pub document: Document,
    pub raw: RoleFile,
    pub prompts: Prompts,
}

/// Reads and checks everything.
///
/// # Errors
/// All findings, over all files.
pub fn load(options: &LoadOptions) -> Result<Loaded, Findings> {
    let home = Home::at(&options.home);
    let files = Home::at(options.files.as_ref().unwrap_or(&options.home));
    let mut sources = Sources::default();
    let mut findings = Vec::new();
    let overrides = overrides(&options.env, &mut findings);
    let settings = read_settings(&files, &mut sources, &overrides, &mut findings);
    let roles = read_roles(&files, &mut sources, &mut findings);
    let Some((document, raw)) = settings else {
        return Err(Findings(findings));
    };
    let provenance = Provenance::of(&files.settings(), &document, &overrides, &raw);
    let fleet = resolve::fleet(options, home, &document, raw, roles, &mut findings);
    if findings.is_empty() {
        Ok(Loaded {
            fleet,
            provenance,
            sources,
        })
    } else {
        Err(Findings(findings))
    }
}

/// `CARSON_FLEET__MAX_FIRINGS=3` is `fleet.max_firings`. Names without `__` are not settings.
fn overrides(
    env: &[(OsString, OsString)],
    findings: &mut Vec<Finding>,
) -> BTreeMap<String, String> {
    let mut overrides = BTreeMap::new();
    for (name, value) in env {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
            continue;
        };
        let Some(rest) = name
            .strip_prefix("CARSON_")
            .filter(|rest| rest.contains("__"))
        else {
            continue;
        };
        let path = rest.to_lowercase().replace("__", ".");
        if keys::is_setting(&path) {
            overrides.insert(path, value.to_owned());
        } else {
            let file = PathBuf::from(format!("environment {name}"));
            findings.push(
                Finding::new(&file, None, &path, "there is no such key".into())
                    .hint("CARSON_<SECTION>__<KEY> overrides a key of carson.toml"),
            );
        }
    }
    overrides
}

fn read_settings(
    files: &Home,
    sources: &mut Sources,
    overrides: &BTreeMap<String, String>,
    findings: &mut Vec<Finding>,
) -> Option<(Document, Settings)> {
    let file = files.settings();
    let text = match sources.read(&files.root, &file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let finding = Finding::new(&file, None, "", "the file does not exist".into());
            findings.push(finding.hint("run `carson init`, or name another home with --home"));
            return None;
        }
        Err(error) => {
            findings.push(Finding::new(
                &file,
                None,
                "",
                format!("it cannot be read: {error}"),
            ));
            return None;
        }
    };
    let before = findings.len();
    let document = Document::parse(&file, &text, findings);
    document.check(&file, keys::SETTINGS, findings);
    if findings.len() > before {
        return None;
    }
    let mut figment = Figment::from(Toml::string(&text));
    for (path, value) in overrides {
        let value: Value = value.parse().unwrap_or_else(|never| match never {});
        figment = figment.merge((path.as_str(), value));
    }
    extract(&figment, &file, findings).map(|settings| (document, settings))
}

fn extract<T: serde::de::DeserializeOwned>(
    figment: &Figment,
    file: &Path,
    findings: &mut Vec<Finding>,
) -> Option<T> {
    match figment.extract() {
        Ok(value) => Some(value),
        Err(error) => {
            for error in error {
                let key = error.path.join(".");
                findings.push(Finding::new(file, None, &key, error.kind.to_string()));
            }
            None
        }
    }
}

fn read_roles(files: &Home, sources: &mut Sources, findings: &mut Vec<Finding>) -> Vec<ReadRole> {
    let mut roles = Vec::new();
    let Ok(items) = std::fs::read_dir(files.roles()) else {
        return roles;
    };
    let mut dirs: Vec<PathBuf> = items.filter_map(|item| Some(item.ok()?.path())).collect();
    dirs.retain(|dir| dir.is_dir());
    dirs.sort();
    for dir in dirs {
        roles.extend(read_role(&dir, &files.root, sources, findings));
    }
    roles
}

fn read_role(
    dir: &Path,
    root: &Path,
    sources: &mut Sources,
    findings: &mut Vec<Finding>,
) -> Option<ReadRole> {
    let file = dir.join("role.toml");
    let name = dir.file_name()?.to_string_lossy().into_owned();
    let name: RoleName = match name.parse() {
        Ok(name) => name,
        Err(error) => {
            let problem = format!("{error}");
            findings.push(Finding::new(dir, None, "", problem).hint("rename the directory"));
            return None;
        }
    };
    let text = match sources.read(root, &file) {
        Ok(text) => text,
        Err(error) => {
            let problem = format!("it cannot be read: {error}");
            let hint = "every directory under roles/ is a role and needs a role.toml";
            findings.push(Finding::new(&file, None, "", problem).hint(hint));
            return None;
        }
    };
    let before = findings.len();
    let document = Document::parse(&file, &text, findings);
    document.check(&file, keys::ROLE, findings);
    if findings.len() > before {
        return None;
    }
    let raw = extract(&Figment::from(Toml::string(&text)), &file, findings)?;
    let prompts = prompts(dir, &name, root, sources, findings);
    Some(ReadRole {
        name,
        file,
        document,
        raw,
        prompts,
    })
}

/// A prompt that lies beside `role.toml` counts; a missing one is the shipped role's.
fn prompts(
    dir: &Path,
    name: &RoleName,
    root: &Path,
    sources: &mut Sources,
    findings: &mut Vec<Finding>,
) -> Prompts {
    let mut prompts = shipped::prompts_of(name.as_str());
    for (file, prompt) in [
        ("plan.md", &mut prompts.plan),
        ("review.md", &mut prompts.review),
        ("revise.md", &mut prompts.revise),
        ("execute.md", &mut prompts.execute),
        ("diff-review.md", &mut prompts.diff_review),
    ] {
        let path = dir.join(file);
        match sources.read(root, &path) {
            Ok(text) => *prompt = text,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                findings.push(Finding::new(
                    &path,
                    None,
                    "",
                    format!("it cannot be read: {error}"),
                ));
            }
        }
    }
    prompts
}

//! From files and environment to a fleet, or to all findings.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use carson_core::RoleName;
use figment::Figment;
use figment::providers::{Format, Toml};

use crate::document::Document;
use crate::finding::{Finding, Findings, Severity};
use crate::fleet::{Fleet, Prompts};
use crate::home::Home;
use crate::keys;
use crate::outside::Paths;
use crate::overrides::Overrides;
use crate::prompt;
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
    /// What is allowed, and somebody should look at.
    pub warnings: Vec<Finding>,
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
    let overrides = Overrides::read(&options.env, &mut findings);
    let settings = read_settings(&files, &mut sources, &overrides, &mut findings);
    let roles = read_roles(&files, &mut sources, &mut findings);
    // What was written wrongly is left out of what follows, so that one round shows every finding.
    // Left out is not missing: a second finding about the same key would be wrong.
    let written = findings.len();
    let loaded = match settings {
        Some((document, raw)) => {
            let provenance = Provenance::of(&files.settings(), &document, &overrides, &raw);
            let fleet = resolve::fleet(options, home, &document, raw, roles, &mut findings);
            Some(Loaded {
                fleet,
                provenance,
                sources,
                warnings: Vec::new(),
            })
        }
        None => {
            let paths = Paths {
                home: &home.root,
                user: options.user_home.as_deref(),
            };
            resolve::roles_alone(paths, roles, &mut findings);
            None
        }
    };
    let mut meant = findings.split_off(written);
    meant.retain(|finding| !findings.iter().any(|known| known.covers(finding)));
    findings.append(&mut meant);
    // By file and line, as an editor shows them; what has no line is about the whole file.
    findings.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    let (warnings, errors): (Vec<_>, Vec<_>) = findings
        .into_iter()
        .partition(|finding| finding.severity == Severity::Warning);
    match loaded {
        Some(loaded) if errors.is_empty() => Ok(Loaded { warnings, ..loaded }),
        _ => Err(Findings([errors, warnings].concat())),
    }
}

fn read_settings(
    files: &Home,
    sources: &mut Sources,
    overrides: &Overrides,
    findings: &mut Vec<Finding>,
) -> Option<(Document, Settings)> {
    let file = files.settings();
    let text = match sources.read(&files.root, &file) {
        Ok(text) => text,
        Err(error) => {
            let finding = if error.kind() == ErrorKind::NotFound {
                let finding = Finding::new(&file, None, "", "the file does not exist".into());
                finding.hint("run `carson init`, or name another home with --home")
            } else {
                unreadable(&file, &error)
            };
            findings.push(finding);
            return None;
        }
    };
    let document = Document::parse(&file, &text, findings)?;
    let sound = document.check(&file, keys::SETTINGS, findings);
    let mut figment = Figment::from(Toml::string(&sound));
    for literal in overrides.literals() {
        figment = figment.merge(Toml::string(&literal));
    }
    extract(&figment, &file, findings).map(|settings| (document, settings))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Finding {
    let finding = Finding::new(file, None, "", format!("it cannot be read: {error}"));
    finding.hint("it must be a file of UTF-8 text that you may read")
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
    let items = match std::fs::read_dir(files.roles()) {
        Ok(items) => items,
        Err(error) if error.kind() == ErrorKind::NotFound => return roles,
        Err(error) => {
            let problem = format!("it cannot be read: {error}");
            let finding = Finding::new(&files.roles(), None, "", problem);
            findings.push(finding.hint("it must be a directory with one directory for each role"));
            return roles;
        }
    };
    let mut dirs: Vec<PathBuf> = items.filter_map(|item| Some(item.ok()?.path())).collect();
    // What version control and file managers leave there is no role.
    let hidden = |dir: &Path| {
        dir.file_name()
            .is_some_and(|name| name.as_encoded_bytes()[0] == b'.')
    };
    dirs.retain(|dir| dir.is_dir() && !hidden(dir));
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
            findings.push(if error.kind() == ErrorKind::NotFound {
                let finding = Finding::new(&file, None, "", "the file does not exist".into());
                finding.hint("every directory under roles/ is a role and needs a role.toml")
            } else {
                unreadable(&file, &error)
            });
            return None;
        }
    };
    let document = Document::parse(&file, &text, findings)?;
    let sound = document.check(&file, keys::ROLE, findings);
    let raw = extract(&Figment::from(Toml::string(&sound)), &file, findings)?;
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
    for (file, own) in [
        ("plan.md", &mut prompts.plan),
        ("review.md", &mut prompts.review),
        ("revise.md", &mut prompts.revise),
        ("execute.md", &mut prompts.execute),
        ("diff-review.md", &mut prompts.diff_review),
        ("confirm.md", &mut prompts.confirm),
    ] {
        let path = dir.join(file);
        match sources.read(root, &path) {
            Ok(text) if text.trim().is_empty() => {
                let finding = Finding::new(&path, None, "", "the prompt is empty".into());
                findings.push(finding.hint("write it, or remove the file to take the shipped one"));
            }
            Ok(text) => {
                prompt::check(&path, &text, findings);
                *own = text;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => findings.push(unreadable(&path, &error)),
        }
    }
    prompts
}

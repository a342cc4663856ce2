//! The files, each by itself: held against the table of keys, and read into plain structs.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use carson_core::RoleName;
use figment::Figment;
use figment::providers::{Format, Toml};

use crate::document::Document;
use crate::finding::Finding;
use crate::fleet::Prompts;
use crate::keys::{ROLE, SETTINGS};
use crate::layout::Layout;
use crate::listed;
use crate::overrides::Overrides;
use crate::prompt;
use crate::raw::Settings;
use crate::role_dirs;
use crate::role_file::RoleFile;
use crate::shape;
use crate::shipped;
use crate::sources::Sources;
use crate::work::RoleKind;

/// A role as it was read.
pub(crate) struct ReadRole {
    pub name: RoleName,
    pub file: PathBuf,
    pub document: Document,
    pub raw: RoleFile,
    pub prompts: Prompts,
}

pub(crate) fn settings(
    files: &Layout,
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
    let mut document = Document::parse(&file, &text, findings)?;
    let sound = shape::check(&mut document, &file, &SETTINGS, findings);
    let mut figment = Figment::from(Toml::string(&sound));
    for literal in overrides.literals() {
        figment = figment.merge(Toml::string(&literal));
    }
    let mut settings: Settings = extract(&figment, &file, findings)?;
    settings.listed = listed::read(&figment);
    Some((document, settings))
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

pub(crate) fn roles(
    files: &Layout,
    sources: &mut Sources,
    findings: &mut Vec<Finding>,
) -> Vec<ReadRole> {
    let places = match role_dirs::found_in(&files.roles(), findings) {
        Ok(places) => places,
        Err(finding) => {
            // Where there is no home, it is not its roles that are missing.
            findings.extend(files.settings().exists().then_some(finding));
            return Vec::new();
        }
    };
    let mut roles = Vec::new();
    for dir in places {
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
    let mut document = Document::parse(&file, &text, findings)?;
    let sound = shape::check(&mut document, &file, &ROLE, findings);
    let raw: RoleFile = extract(&Figment::from(Toml::string(&sound)), &file, findings)?;
    let prompts = prompts(dir, (&name, raw.kind), root, sources, findings);
    document.rest();
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
    (name, kind): (&RoleName, Option<RoleKind>),
    root: &Path,
    sources: &mut Sources,
    findings: &mut Vec<Finding>,
) -> Prompts {
    let mut prompts = shipped::prompts_of(name.as_str(), kind);
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
                *own = text.into();
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => findings.push(unreadable(&path, &error)),
        }
    }
    prompts
}

//! Which roles there are: one directory each, below `roles/`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::finding::Finding;

/// What to do about a fleet without roles.
const FIRST: &str = "`carson init --role implementer` makes the one that comes with Carson; docs/CONFIG.md says how to \
     write one";

/// The directories of all roles. What looks like a role and is not read is a finding, and so is a
/// fleet without any: it would wait for ever, and nobody would know why.
pub(crate) fn found_in(roles: &Path, findings: &mut Vec<Finding>) -> Result<Vec<PathBuf>, Finding> {
    let items = match std::fs::read_dir(roles) {
        Ok(items) => items,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let problem = "the directory does not exist, so there is no role and nothing fires";
            let finding = Finding::new(roles, None, "", problem.into());
            return Err(finding.warning().hint(FIRST));
        }
        Err(error) => {
            let problem = format!("it cannot be read: {error}");
            let finding = Finding::new(roles, None, "", problem);
            return Err(finding.hint("it must be a directory with one directory for each role"));
        }
    };
    let mut dirs = Vec::new();
    for path in items.filter_map(|item| Some(item.ok()?.path())) {
        match is_role(&path) {
            Ok(true) => dirs.push(path),
            Ok(false) => {}
            Err(finding) => findings.push(finding),
        }
    }
    if dirs.is_empty() {
        let problem = "there is no role in it, so nothing fires";
        let finding = Finding::new(roles, None, "", problem.into());
        findings.push(finding.warning().hint(FIRST));
    }
    dirs.sort();
    Ok(dirs)
}

/// Whether it is a role's directory. What version control and file managers leave there is none.
fn is_role(path: &Path) -> Result<bool, Finding> {
    let name = path.file_name().unwrap_or_default();
    if name.as_encoded_bytes().starts_with(b".") {
        return Ok(false);
    }
    match path.metadata() {
        Ok(there) if there.is_dir() => Ok(true),
        Ok(_) if path.extension().is_some_and(|end| end == "toml") => {
            let role = path.with_extension("");
            let problem = "it is read by nobody: a role is a directory";
            let finding = Finding::new(path, None, "", problem.into());
            let hint = format!("move it to {}/role.toml", role.display());
            Err(finding.warning().hint(hint))
        }
        Ok(_) => Ok(false),
        Err(error) => {
            let problem = format!("the role's directory cannot be reached: {error}");
            let finding = Finding::new(path, None, "", problem);
            Err(finding.hint("put it back where the link leads, or remove the link"))
        }
    }
}

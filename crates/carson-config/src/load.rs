//! From files and environment to a fleet, or to all findings.

use std::path::PathBuf;

use crate::finding::{Finding, Findings, Severity};
use crate::fleet::Fleet;
use crate::layout::Layout;
use crate::options::LoadOptions;
use crate::overrides::Overrides;
use crate::paths::Paths;
use crate::provenance::Provenance;
use crate::sources::Sources;
use crate::{read, resolve};

/// A fleet, and what it was made from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The fleet.
    pub fleet: Fleet,
    /// What it was made from.
    pub sources: Sources,
    /// What is allowed, and somebody should look at.
    pub warnings: Vec<Finding>,
}

/// Reads and checks everything.
///
/// # Errors
/// All findings, over all files.
pub fn load(options: &LoadOptions) -> Result<Loaded, Findings> {
    load_with(options, None)
}

/// Where each value of a fleet came from: more than a firing has to remember, with a thousand roles.
///
/// # Errors
/// As for [`load`].
pub fn provenance(options: &LoadOptions) -> Result<Provenance, Findings> {
    let mut told = Provenance::default();
    read_and_check(options, None, Some(&mut told)).map(|_| told)
}

/// The same as [`load`], as if one file held another text.
pub(crate) fn load_with(
    options: &LoadOptions,
    instead: Option<(PathBuf, String)>,
) -> Result<Loaded, Findings> {
    read_and_check(options, instead, None)
}

fn read_and_check(
    options: &LoadOptions,
    instead: Option<(PathBuf, String)>,
    provenance: Option<&mut Provenance>,
) -> Result<Loaded, Findings> {
    let layout = Layout::at(&options.home);
    let files = Layout::at(options.files.as_ref().unwrap_or(&options.home));
    let mut sources = Sources::with(instead);
    let mut findings = Vec::new();
    let overrides = Overrides::read(&options.env, &mut findings);
    let settings = read::settings(&files, &mut sources, &overrides, &mut findings);
    let roles = read::roles(&files, &mut sources, &mut findings);
    // What was written wrongly is left out of what follows, so that one round shows every finding.
    // Left out is not missing: a second finding about the same key would be wrong.
    let written = findings.len();
    let loaded = match settings {
        Some((document, raw)) => {
            if let Some(provenance) = provenance {
                *provenance = Provenance::of(&files.settings(), &document, &overrides, &raw);
                roles.iter().for_each(|role| provenance.add_role(role));
            }
            let fleet = resolve::fleet(options, layout, &document, raw, roles, &mut findings);
            Some(Loaded {
                fleet,
                sources,
                warnings: Vec::new(),
            })
        }
        None => {
            let paths = Paths {
                home: &layout.root,
                user: options.user_home.as_deref(),
            };
            resolve::roles_alone(paths, roles, &mut findings);
            None
        }
    };
    let mut meant = findings.split_off(written);
    let wrong = |known: &&Finding| known.severity == Severity::Error;
    meant.retain(|found| {
        !findings
            .iter()
            .filter(wrong)
            .any(|known| known.covers(found))
    });
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

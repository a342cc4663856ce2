//! Where a report goes, and that it goes nowhere else.

use std::fs;
use std::path::{Path, PathBuf};

use super::ended::Ended;
use super::place::Place;
use super::prd::report_of;
use crate::json_file::{Sync, write_bytes};
use crate::own_file::make_dir;

/// What decides about a report's place.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'r> {
    /// Where the repository is.
    pub place: &'r Place,
    /// `defaults.report_dir`, without `./` before and `/` behind.
    pub report_dir: &'r str,
    /// Reports stand there, all of them.
    pub strict: bool,
}

impl Rules<'_> {
    /// The report of a line `Created PATH …`, from the top of the repository.
    ///
    /// # Errors
    /// When no report may stand there.
    pub fn report(&self, created: &str) -> Result<String, Ended> {
        let path = report_of(created);
        let text = path.to_string_lossy().into_owned();
        let refused = |message: &str| Err(Ended::Failed(format!("{message}: {text}")));
        if text.is_empty() {
            return Err(Ended::Failed(format!(
                "Could not parse report path from Created-line: {created}"
            )));
        }
        if path.is_absolute() {
            return refused("Report path must be repository-relative, got absolute path");
        }
        if text.split('/').any(|part| part == "..") {
            return refused("Report path must not traverse outside repository");
        }
        if !text.ends_with(".md") {
            return refused("Report path must end with .md");
        }
        let is_reports = self.is_reports(&text);
        if self.strict && !is_reports {
            let dir = self.report_dir;
            return refused(&format!(
                "Report path must stay under defaults.report_dir ({dir})"
            ));
        }
        // What is not a report is nobody's to write over.
        if !is_reports && fs::symlink_metadata(self.place.root.join(&path)).is_ok() {
            return refused("Refusing to overwrite existing non-report file");
        }
        Ok(text)
    }

    fn is_reports(&self, text: &str) -> bool {
        let rest = text
            .strip_prefix(self.report_dir)
            .and_then(|rest| rest.strip_prefix('/'));
        rest.is_some_and(|rest| !rest.is_empty())
    }
}

/// Writes a report, whole or not at all.
///
/// # Errors
/// When its place leads out of the repository, a link stands in the state of runs, or the disk says no.
pub fn write(place: &Place, report: &str, text: &[u8]) -> Result<(), Ended> {
    let path = place.root.join(report);
    let dir = path.parent().unwrap_or(&place.root);
    confined(place, &path, report)?;
    if path.starts_with(&place.state) || report.split('/').any(|part| part == ".runtime") {
        // There nothing is written by way of a link, wherever it leads.
        make_dir(dir).map_err(Ended::io("make the report's directory", dir))?;
        return write_bytes(&path, text, Sync::Now).map_err(Ended::io("write the report", &path));
    }
    fs::create_dir_all(dir).map_err(Ended::io("make the report's directory", dir))?;
    confined(place, &path, report)?;
    // Without links, so that a late one leads nowhere.
    let real = dir
        .canonicalize()
        .map_err(Ended::io("find the report's directory", dir))?;
    if !real.starts_with(&place.real_root) {
        return Err(outside(report));
    }
    let target = real.join(path.file_name().unwrap_or_default());
    write_bytes(&target, text, Sync::Now).map_err(Ended::io("write the report", &target))
}

fn outside(report: &str) -> Ended {
    Ended::Failed(format!("Report path resolves outside repository: {report}"))
}

/// Whether a path stays in the repository, links followed, as far as it is there.
fn confined(place: &Place, path: &Path, report: &str) -> Result<(), Ended> {
    let mut known: PathBuf = path.to_owned();
    let mut rest = Vec::new();
    while fs::symlink_metadata(&known).is_err() {
        rest.push(known.file_name().unwrap_or_default().to_owned());
        if !known.pop() {
            return Err(outside(report));
        }
    }
    // The last part alone may be a link to a file: it is replaced, not followed.
    if rest.is_empty() && !known.is_dir() {
        known.pop();
    }
    let real = known.canonicalize().map_err(|_| outside(report))?;
    match real.starts_with(&place.real_root) {
        true => Ok(()),
        false => Err(outside(report)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn place() -> (tempfile::TempDir, Place) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("repo");
        fs::create_dir(&root).unwrap();
        let place = Place::find(&root.join("prd.json"), None, Some(&root)).unwrap();
        (dir, place)
    }

    #[test]
    fn which_places_are_a_reports() {
        let (_dir, place) = place();
        fs::create_dir(place.root.join("audit")).unwrap();
        for name in ["audit/old.md", "README.md"] {
            fs::write(place.root.join(name), "x").unwrap();
        }
        symlink("nowhere", place.root.join("dangling.md")).unwrap();
        for (line, strict, right) in [
            ("Created audit/a.md with it", true, Ok("audit/a.md")),
            ("Created ././audit/a.md", true, Ok("audit/a.md")),
            ("Created `audit/a.md` with it", true, Ok("audit/a.md")),
            ("Created audit/old.md", true, Ok("audit/old.md")),
            (
                "Created docs/a.md",
                true,
                Err("Report path must stay under defaults.report_dir (audit): docs/a.md"),
            ),
            (
                "Created auditing/a.md",
                true,
                Err("Report path must stay under defaults.report_dir (audit): auditing/a.md"),
            ),
            ("Created docs/a.md", false, Ok("docs/a.md")),
            (
                "Created README.md",
                false,
                Err("Refusing to overwrite existing non-report file: README.md"),
            ),
            (
                "Created dangling.md",
                false,
                Err("Refusing to overwrite existing non-report file: dangling.md"),
            ),
            (
                "Created /etc/a.md",
                false,
                Err("Report path must be repository-relative, got absolute path: /etc/a.md"),
            ),
            (
                "Created audit/../a.md",
                true,
                Err("Report path must not traverse outside repository: audit/../a.md"),
            ),
            (
                "Created audit/a.txt",
                true,
                Err("Report path must end with .md: audit/a.txt"),
            ),
        ] {
            let rules = Rules {
                place: &place,
                report_dir: "audit",
                strict,
            };
            let found = rules.report(line).map_err(|error| error.to_string());
            assert_eq!(found.as_deref().map_err(String::as_str), right, "{line:?}");
        }
    }

    #[test]
    fn a_report_stays_in_the_repository() {
        let (dir, place) = place();
        fs::create_dir(dir.path().join("outside")).unwrap();
        symlink(dir.path().join("outside"), place.root.join("audit")).unwrap();
        let error = write(&place, "audit/a.md", b"x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "Report path resolves outside repository: audit/a.md"
        );
        let error = write(&place, "audit/new/a.md", b"x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "Report path resolves outside repository: audit/new/a.md"
        );
        assert_eq!(fs::read_dir(dir.path().join("outside")).unwrap().count(), 0);

        // In the state of runs no link is followed, not even one that stays in the repository.
        fs::create_dir(place.root.join("src")).unwrap();
        symlink("../src", place.state.join("reports")).unwrap();
        let said = write(&place, ".runtime/reports/a.md", b"x").unwrap_err();
        assert!(said.to_string().contains("is a link"), "{said}");
        assert_eq!(fs::read_dir(place.root.join("src")).unwrap().count(), 0);
        write(&place, ".runtime/audit/a.md", b"x").unwrap();
        assert_eq!(fs::read(place.state.join("audit/a.md")).unwrap(), b"x");

        fs::create_dir(place.root.join("inner")).unwrap();
        symlink("inner", place.root.join("link")).unwrap();
        write(&place, "link/a.md", b"x").unwrap();
        assert_eq!(fs::read(place.root.join("inner/a.md")).unwrap(), b"x");
        // A link in its place is replaced, and nothing behind it is written.
        let secret = dir.path().join("outside/secret");
        fs::write(&secret, "s").unwrap();
        symlink(&secret, place.root.join("inner/b.md")).unwrap();
        write(&place, "inner/b.md", b"y").unwrap();
        assert_eq!(fs::read(&secret).unwrap(), b"s");
        assert_eq!(fs::read(place.root.join("inner/b.md")).unwrap(), b"y");
        write(&place, "inner/b.md", b"again").unwrap();
        assert_eq!(fs::read(place.root.join("inner/b.md")).unwrap(), b"again");
    }
}

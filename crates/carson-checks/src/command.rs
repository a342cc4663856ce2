//! Whether a role's command is where its walls let it be seen.

use std::path::{Path, PathBuf};

use carson_config::{Role, Sandbox};
use carson_proc::sandbox::Profile;

use crate::{Scene, Verdict};

/// Only of a line that begins with a place: what a shell makes of others, only running it says.
pub(crate) async fn seen(_: &Scene<'_>, role: &Role) -> Option<Verdict> {
    let line = &role.command.as_ref()?.run;
    let program = line.split_whitespace().next()?.trim_matches(['"', '\'']);
    if program.starts_with("~/") {
        let found =
            format!("{program}: there, ~ is a home of the firing's own, with nothing in it");
        return Some(
            Verdict::error(found).mend("write the whole path, and [paths] read = [its folder]"),
        );
    }
    let path = Path::new(program);
    if !path.is_absolute() {
        return None;
    }
    let Ok(real) = path.canonicalize() else {
        return Some(Verdict::error(format!("{program} is not there")));
    };
    let confinement = &role.confinement;
    if confinement.sandbox == Sandbox::Off || is_visible(&real, role) {
        return Some(Verdict::ok(program));
    }
    let dir = real.parent().unwrap_or(&real).display();
    let found = format!("{program}: its walls hide it");
    let mend = format!(
        "[paths] read = [{:?}] in its role.toml, and whatever else of yours the program reads",
        dir.to_string()
    );
    Some(Verdict::error(found).mend(mend))
}

fn is_visible(real: &Path, role: &Role) -> bool {
    let (read, write) = (&role.confinement.read, &role.confinement.write);
    let granted: Vec<PathBuf> = read.iter().chain(write).cloned().collect();
    let mut all = granted.into_iter().chain(Profile::system_reads());
    all.any(|root| real.starts_with(root.canonicalize().unwrap_or(root)))
}

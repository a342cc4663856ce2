//! `write_file`: a whole file, new or in place of what was there.

use std::io::{self, Read as _};
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::tool::{Done, Tool, pass};
use crate::approve::Approval;
use crate::gate::Gate;
use crate::place::Place;
use crate::toolbox::{Effect, Observation};

pub(super) const TOOL: Tool = Tool {
    name: "write_file",
    description: "Writes a whole file.",
    arguments: &[
        ("path", "string", "the file", true),
        ("content", "string", "all of its text", true),
    ],
    effect: Effect::Changes,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    path: String,
    content: String,
}

pub(super) async fn call(place: &Place, gate: &Gate, approval: &Approval, args: Args) -> Done {
    let path = place.to_write(&args.path).map_err(Observation::error)?;
    pass(
        gate,
        "Write",
        &json!({ "file_path": path, "content": args.content }),
    )?;
    let failed = |error: std::io::Error| Observation::error(format!("{}: {error}", args.path));
    let before = before(place, &path).map_err(failed)?;
    ask(approval, place, &path, &before, &args.content).await?;
    place.replace(&path, &args.content).map_err(failed)?;
    Ok(Observation::well(format!(
        "wrote {} bytes to {}",
        args.content.len(),
        place.name_of(&path)
    )))
}

/// What is there now, as far as anybody is shown it.
fn before(place: &Place, path: &Path) -> io::Result<String> {
    const SHOWN: u64 = 4 * 1024 * 1024;
    let file = match place.open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("is no file"));
    }
    let mut bytes = Vec::new();
    file.take(SHOWN).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Shows who is asked what would change.
pub(super) async fn ask(
    approval: &Approval,
    place: &Place,
    path: &Path,
    before: &str,
    after: &str,
) -> Result<(), Observation> {
    match approval.ask(&place.name_of(path), before, after).await {
        true => Ok(()),
        false => Err(Observation::refused("the person at the terminal said no")),
    }
}

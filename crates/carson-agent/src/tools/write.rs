//! `write_file`: a whole file, new or in place of what was there.

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
    let about = std::fs::metadata(&path);
    if about.as_ref().is_ok_and(|about| !about.is_file()) {
        return Err(Observation::error(format!("{}: is no file", args.path)));
    }
    let before = about.and_then(|_| std::fs::read(&path)).unwrap_or_default();
    let before = String::from_utf8_lossy(&before);
    ask(approval, place, &path, &before, &args.content).await?;
    if let Some(above) = path.parent() {
        std::fs::create_dir_all(above).map_err(failed)?;
    }
    std::fs::write(&path, &args.content).map_err(failed)?;
    Ok(Observation::well(format!(
        "wrote {} bytes to {}",
        args.content.len(),
        place.name_of(&path)
    )))
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

//! What makes vectors of lessons on this machine (`memory.embedder_dir`).

use std::path::Path;

use carson_home::EMBEDDER;

use crate::{Scene, Verdict};

/// What its model lies in.
const FILES: [&str; 2] = ["model.safetensors", "tokenizer.json"];

pub(crate) async fn installed(scene: &Scene<'_>) -> Option<Verdict> {
    let dir = scene.home.fleet.memory.embedder.as_ref()?.dir.as_ref()?;
    Some(match scene.home.embedder_program() {
        Some(program) => model_in(dir).unwrap_or_else(|| {
            let program = program.display();
            Verdict::ok(format!("{program} has its model in {}", dir.display()))
        }),
        None => Verdict::error(format!(
            "{EMBEDDER} is neither beside carson nor on PATH, so lessons are found by words alone"
        ))
        .mend("cargo install --path embedder, or remove memory.embedder_dir"),
    })
}

/// What is wrong with the model.
fn model_in(dir: &Path) -> Option<Verdict> {
    let missing = FILES.into_iter().find(|file| !dir.join(file).is_file())?;
    let found = format!("{} has no {missing}", dir.display());
    Some(Verdict::error(found).mend("docs/MEMORY.md says where the model comes from"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Health;

    #[test]
    fn a_directory_without_the_model_is_said_by_the_first_file_that_it_lacks() {
        let dir = tempfile::tempdir().unwrap();
        let missing = |file: &str| {
            let verdict = model_in(dir.path()).unwrap();
            assert_eq!(verdict.health, Health::Error);
            assert!(verdict.found.ends_with(file), "{}", verdict.found);
        };
        missing("model.safetensors");
        std::fs::write(dir.path().join("model.safetensors"), "").unwrap();
        missing("tokenizer.json");
        std::fs::write(dir.path().join("tokenizer.json"), "").unwrap();
        assert!(model_in(dir.path()).is_none());
    }
}

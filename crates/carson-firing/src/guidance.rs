//! What a repository tells agents about itself, as its base commit has it: never as a branch changed it.

use carson_git::{Mirror, Oid};

/// Files that are read, in this order.
const FILES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", ".github/copilot-instructions.md"];
/// Bytes of all of them together.
const MOST: usize = 16 * 1024;

/// Their text; empty where a repository has none of them.
pub(crate) async fn of_base(mirror: &Mirror, base: &Oid) -> String {
    let mut all = String::new();
    let mut seen: Vec<String> = Vec::new();
    for file in FILES {
        let left = MOST.saturating_sub(all.len());
        let Some(text) = mirror.text_at(base, file, left).await else {
            continue;
        };
        let text = text.trim().to_owned();
        // Many repositories have the same under two names.
        if text.is_empty() || seen.contains(&text) {
            continue;
        }
        all.push_str(&format!("{file}:\n\n{text}\n\n"));
        seen.push(text);
    }
    if all.len() >= MOST {
        all.push_str("(the rest is left out)");
    }
    all.trim_end().to_owned()
}

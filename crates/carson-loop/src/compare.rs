//! What differed between two attempts: what went in, or only what came out.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::LoopError;
use crate::json_file;
use crate::meta::Meta;
use crate::place::Place;

/// Something that goes into an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Differs {
    /// The task, or what it was told.
    Input,
    /// The tree as it was found.
    Tree,
    /// The program that ran.
    Executor,
}

/// Two attempts beside each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Compared {
    /// One.
    pub a: String,
    /// The other.
    pub b: String,
    /// What of that which went in differs; nothing is an empty list.
    pub differs: Vec<Differs>,
    /// Whether both left the same tree, printed the same and had the same end.
    pub same_result: bool,
    /// What to make of it.
    pub says: String,
    /// What is known of one.
    pub meta_a: Meta,
    /// What is known of the other.
    pub meta_b: Meta,
}

/// Holds two attempts against each other. Each is a number, or `RUN/NUMBER` of a run that was put away (`001/3`).
///
/// # Errors
/// When there is no such attempt.
pub fn compare(place: &Place, a: &str, b: &str) -> Result<Compared, LoopError> {
    let (meta_a, meta_b) = (meta(place, a)?, meta(place, b)?);
    let mut differs = Vec::new();
    if meta_a.prompt_hash != meta_b.prompt_hash {
        differs.push(Differs::Input);
    }
    if meta_a.tree_before_hash != meta_b.tree_before_hash {
        differs.push(Differs::Tree);
    }
    if meta_a.executor_version != meta_b.executor_version {
        differs.push(Differs::Executor);
    }
    let result = |meta: &Meta| (meta.tree_hash, meta.output_hash, meta.outcome, meta.exit);
    let same_result = result(&meta_a) == result(&meta_b);
    Ok(Compared {
        a: a.to_owned(),
        b: b.to_owned(),
        says: says(&differs, same_result).to_owned(),
        differs,
        same_result,
        meta_a,
        meta_b,
    })
}

fn says(differs: &[Differs], same_result: bool) -> &'static str {
    match (differs, same_result) {
        ([], true) => "nothing differed, and the result is the same",
        ([], false) => {
            "nothing that went in differed, and the result does: it is the executor's own doing, or of something that is \
             neither in the tree nor in the prompt"
        }
        (_, true) => "what went in differed, and the result is the same",
        (_, false) => "what went in differed, and so does the result",
    }
}

fn meta(place: &Place, named: &str) -> Result<Meta, LoopError> {
    let none = || LoopError::NoAttempt {
        attempt: named.to_owned(),
        known: "name one by its number, or as RUN/NUMBER of those in runs/".to_owned(),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (dir, number) = match named.rsplit_once('/') {
        Some((run, number)) => {
            let run = run.strip_prefix("runs/").unwrap_or(run);
            let run = digits(run).then_some(run).ok_or_else(none)?;
            (
                place.runs().join(format!("{run:0>3}")).join("attempts"),
                number,
            )
        }
        None => (place.attempts(), named),
    };
    let number: u32 = number.parse().map_err(|_| none())?;
    let file = dir.join(format!("{number:03}")).join("meta.json");
    json_file::read_if_there(&file)?.ok_or_else(none)
}

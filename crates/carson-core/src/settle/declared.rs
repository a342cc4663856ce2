//! What becomes of a firing whose result is what it asks for.

use super::settled::{Settled, settled};
use crate::declared::Admitted;
use crate::effect::Effect;
use crate::outcome::Outcome;
use crate::text::counted;

/// Who says what is to be done has said it in its outbox, or nowhere.
pub(super) fn settle_declared(declared: &Admitted) -> Settled {
    // What people read of a pull request is nothing that is done.
    let Admitted {
        effects,
        refused,
        pull: _,
    } = declared;
    let no = refused.first().map(|first| {
        let more = match refused.len() {
            1 => String::new(),
            all => format!(" (and {} more)", all - 1),
        };
        format!(
            "{} of its outbox was refused: {}{more}",
            first.kind, first.why
        )
    });
    match (effects.len(), no) {
        (0, None) => {
            let why = "the session said [OK] but asked for nothing in its outbox";
            settled(Outcome::Failed, why)
        }
        (0, Some(no)) => settled(Outcome::Blocked, no),
        (_, None) => settled(Outcome::Ok, told(effects)),
        (_, Some(no)) => settled(Outcome::Ok, format!("{}; {no}", told(effects))),
    }
}

/// What is done on the forge, in a few words.
fn told(effects: &[Effect]) -> String {
    let mut words: Vec<(&str, u32)> = Vec::new();
    for effect in effects {
        let word = match effect {
            Effect::Comment { .. } => "comment",
            Effect::SetLabels { .. } => "change of labels",
            Effect::FileIssue { topic: Some(_), .. } => "new issue about what fails",
            Effect::FileIssue { .. } => "new issue",
            Effect::Review { ship: true, .. } => "review: ship-ready",
            Effect::Review { ship: false, .. } => "review: not ship-ready",
            Effect::CloseIssue { .. } => "closed issue",
            Effect::MergePull { .. } => "merge",
            Effect::HandOver { .. } => "given to people",
            _ => continue,
        };
        match words.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => words.push((word, 1)),
        }
    }
    let words = words.into_iter().map(|(word, count)| match word {
        "given to people" => word.to_owned(),
        "change of labels" if count > 1 => format!("{count} changes of labels"),
        word => counted(count, word),
    });
    words.collect::<Vec<_>>().join(", ")
}

//! The roles that come with Carson.

use crate::fleet::Prompts;

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct ShippedRole {
    /// Its name.
    pub name: &'static str,
    /// Its files: name and text.
    pub files: &'static [(&'static str, &'static str)],
}

macro_rules! role {
    ($name:literal: $($file:literal),+) => {
        ShippedRole {
            name: $name,
            files: &[$(($file, include_str!(concat!("../../../roles/", $name, "/", $file)))),+],
        }
    };
}

const SHIPPED: [ShippedRole; 1] = [role!(
    "implementer": "role.toml", "plan.md", "review.md", "revise.md", "execute.md", "diff-review.md",
    "confirm.md"
)];

/// All of them; the first is the one whose prompts others inherit.
#[must_use]
pub fn shipped_roles() -> &'static [ShippedRole] {
    &SHIPPED
}

/// The prompts of the shipped role of this name, else of the first.
pub(crate) fn prompts_of(name: &str) -> Prompts {
    let role = SHIPPED
        .iter()
        .find(|role| role.name == name)
        .unwrap_or(&SHIPPED[0]);
    let text = |wanted: &str| {
        let file = role.files.iter().find(|(file, _)| *file == wanted);
        file.map_or_else(String::new, |(_, text)| (*text).to_owned())
    };
    Prompts {
        plan: text("plan.md"),
        review: text("review.md"),
        revise: text("revise.md"),
        execute: text("execute.md"),
        diff_review: text("diff-review.md"),
        confirm: text("confirm.md"),
    }
}

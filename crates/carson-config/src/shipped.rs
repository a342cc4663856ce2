//! The roles that come with Carson.

use crate::fleet::Prompts;
use crate::work::RoleKind;

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

const SHIPPED: [ShippedRole; 6] = [
    role!(
        "implementer": "role.toml", "plan.md", "review.md", "revise.md", "execute.md", "diff-review.md",
        "confirm.md"
    ),
    role!("planner": "role.toml", "execute.md"),
    role!("triager": "role.toml", "execute.md"),
    role!("reviewer": "role.toml", "execute.md"),
    role!("fixer": "role.toml", "execute.md"),
    role!("merger": "role.toml"),
];

/// All of them; the first is the one whose prompts others inherit.
#[must_use]
pub fn shipped_roles() -> &'static [ShippedRole] {
    &SHIPPED
}

/// The prompts of the shipped role of this name, else of its kind; those that it lacks are the first's.
pub(crate) fn prompts_of(name: &str, kind: Option<RoleKind>) -> Prompts {
    let named = |name: &str| SHIPPED.iter().find(|role| role.name == name);
    let of_kind = kind.and_then(|kind| named(kind.as_str()));
    let role = of_kind.or_else(|| named(name)).unwrap_or(&SHIPPED[0]);
    let text = |wanted: &str| {
        let both = role.files.iter().chain(SHIPPED[0].files);
        let file = both.into_iter().find(|(file, _)| *file == wanted);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_named_after_its_kind_and_says_so() {
        for role in shipped_roles() {
            let kind = RoleKind::named(role.name).unwrap();
            let (_, text) = role
                .files
                .iter()
                .find(|(file, _)| *file == "role.toml")
                .unwrap();
            let says = text.contains(&format!("kind    = {:?}", kind.as_str()));
            assert!(says || kind == RoleKind::Implementer, "{}", role.name);
            // What its kind has in prompts, it has, or inherits.
            let prompts = prompts_of("mine", Some(kind));
            assert!(
                !kind.has_sessions() || !prompts.execute.is_empty(),
                "{}",
                role.name
            );
        }
    }
}

//! The roles that come with Carson.

use std::borrow::Cow;

use crate::fleet::Prompts;
use crate::work::RoleKind;

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct ShippedRole {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub kind: RoleKind,
    /// Its files: name and text.
    pub files: &'static [(&'static str, &'static str)],
}

macro_rules! role {
    ($name:literal, $kind:ident: $($file:literal),+) => {
        ShippedRole {
            name: $name,
            kind: RoleKind::$kind,
            files: &[$(($file, include_str!(concat!("../../../roles/", $name, "/", $file)))),+],
        }
    };
}

const SHIPPED: [ShippedRole; 12] = [
    role!(
        "implementer", Implementer: "role.toml", "plan.md", "review.md", "revise.md", "execute.md", "diff-review.md",
        "confirm.md"
    ),
    role!("planner", Planner: "role.toml", "execute.md"),
    role!("architect", Architect: "role.toml", "execute.md"),
    role!("triager", Triager: "role.toml", "execute.md"),
    role!("reviewer", Reviewer: "role.toml", "execute.md"),
    role!("fixer", Fixer: "role.toml", "execute.md"),
    role!("merger", Merger: "role.toml"),
    role!("tester", Tester: "role.toml", "execute.md"),
    role!("smoke", Command: "role.toml"),
    role!("deploy-health", Command: "role.toml"),
    role!("warden", Command: "role.toml"),
    role!("steward", Steward: "role.toml"),
];

impl ShippedRole {
    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        SHIPPED.iter().find(|role| role.name == name)
    }

    /// Its `role.toml`, without repositories, accounts and a command.
    #[must_use]
    pub fn text(&self) -> &'static str {
        let mut files = self.files.iter();
        let file = files.find(|(file, _)| *file == "role.toml");
        file.map_or("", |(_, text)| text)
    }
}

/// All of them; the first is the one whose prompts others inherit.
#[must_use]
pub fn shipped_roles() -> &'static [ShippedRole] {
    &SHIPPED
}

/// The prompts of the shipped role of this name, else of its kind; those that it lacks are the first's.
pub(crate) fn prompts_of(name: &str, kind: Option<RoleKind>) -> Prompts {
    let of_kind = kind.and_then(|kind| ShippedRole::named(kind.as_str()));
    let role = of_kind.or_else(|| ShippedRole::named(name));
    let role = role.unwrap_or(&SHIPPED[0]);
    let text = |wanted: &str| {
        let both = role.files.iter().chain(SHIPPED[0].files);
        let file = both.into_iter().find(|(file, _)| *file == wanted);
        Cow::Borrowed(file.map_or("", |(_, text)| text))
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
    fn each_says_its_kind_and_has_its_prompts() {
        for role in shipped_roles() {
            let says = format!("kind    = {:?}", role.kind.as_str());
            let is_said = role.text().contains(&says);
            assert!(
                is_said || role.kind == RoleKind::Implementer,
                "{}",
                role.name
            );
            let prompts = prompts_of("mine", Some(role.kind));
            let has_prompts = !prompts.execute.is_empty();
            assert!(!role.kind.has_sessions() || has_prompts, "{}", role.name);
        }
    }
}

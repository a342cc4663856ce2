//! Branch names: of firings, and protected ones.

use carson_core::text::matches;

/// What the branches of firings begin with.
const OURS: &str = "carson/";

/// The longest that one part may be.
const SLUG_MAX: usize = 40;

/// `carson/<role>/<work>-<firing>`: unique to the firing, and a valid ref (git-check-ref-format)
/// whatever the parts are. No word of an issue is in it: a branch's name stands in prompts, logs and
/// commands, where nothing fences it.
#[must_use]
pub fn branch_name(role: &str, work: &str, firing: &str) -> String {
    let parts = [slug(work), slug(firing)];
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|p| !p.is_empty())
        .collect();
    let role = slug(role);
    let role = if role.is_empty() { "role" } else { &role };
    let rest = if parts.is_empty() {
        "work".to_owned()
    } else {
        parts.join("-")
    };
    format!("{OURS}{role}/{rest}")
}

/// Whether a branch has a name as firings give it.
pub(crate) fn is_of_a_firing(branch: &str) -> bool {
    branch.starts_with(OURS)
}

/// Lower-case letters and digits with single dashes between.
fn slug(part: &str) -> String {
    let mut slug = String::new();
    for c in part.chars() {
        if slug.len() >= SLUG_MAX {
            break;
        }
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_end_matches('-').to_owned()
}

/// Whether a branch matches one of the patterns; `*` stands for anything, also for `/`.
#[must_use]
pub fn is_protected(patterns: &[String], branch: &str) -> bool {
    patterns.iter().any(|pattern| matches(pattern, branch))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_branch_is_named_after_role_work_and_firing() {
        let name = branch_name("implementer", "issue-7", "1a2b3c4d");
        assert_eq!(name, "carson/implementer/issue-7-1a2b3c4d");
        assert_eq!(branch_name("r", "\u{202e}\n", "ff"), "carson/r/ff");
    }

    #[test]
    fn patterns_protect() {
        let patterns = vec![
            "main".to_owned(),
            "release/*".to_owned(),
            "*-stable".to_owned(),
        ];
        for branch in ["main", "release/1", "release/1/x", "v2-stable"] {
            assert!(is_protected(&patterns, branch), "{branch}");
        }
        for branch in ["mainline", "carson/x/main", "releases/1", "stable"] {
            assert!(!is_protected(&patterns, branch), "{branch}");
        }
    }

    proptest! {
        #[test]
        fn any_part_makes_a_valid_ref(
            work in "issue-[0-9]{1,9}|\\PC*|[\\x00-\\x7f]{0,80}|--upload-pack=.*|@\\{-1\\}|.*\\.lock|\\.\\./.*",
            role in "[a-z-]{1,20}|\\PC*|\\.\\.",
        ) {
            let name = branch_name(&role, &work, "1a2b3c4d");
            prop_assert!(git2::Reference::is_valid_name(&format!("refs/heads/{name}")), "{}", name);
            prop_assert!(name.len() < 160 && name.is_ascii() && name.ends_with("1a2b3c4d"));
        }
    }
}

//! Where the property tests begin.

use std::env;
use std::process::Command;

use crate::workspace::{output, root};

/// The variable that proptest reads.
pub const VARIABLE: &str = "PROPTEST_RNG_SEED";

/// The seed that the environment gives, else one that follows from what is committed: each commit
/// tries other cases, and the same commit the same ones on every machine, so that what failed there
/// fails here.
pub fn of_this_tree() -> String {
    if let Ok(given) = env::var(VARIABLE) {
        return given;
    }
    let mut tree = Command::new("git");
    tree.args(["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]);
    let tree = output(tree.current_dir(root()));
    from_tree(&tree.unwrap_or_default()).to_string()
}

/// The first 60 bits of its name; 0 where there is none.
fn from_tree(tree: &str) -> u64 {
    let digits = tree.trim().get(..15).unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tree_has_its_own_seed() {
        assert_eq!(from_tree("00000000000000f0123456789\n"), 15);
        assert_ne!(
            from_tree("4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
            from_tree("5b825dc642cb6eb9a060e54bf8d69288fbee4904")
        );
        assert_eq!(from_tree(""), 0);
    }
}

//! As whom the tests of the walls are run.

use std::env;

use nix::unistd::geteuid;

/// Says that the tests of the walls are run once more, by an ordinary user.
const FOLLOWS: &str = "CARSON_TEST_ORDINARY_FOLLOWS";

/// Whether a test of the walls plays an ordinary user beside the one that runs it: as root, unless
/// that user's own run follows (`cargo xtask test`) and would only say the same.
#[must_use]
pub fn plays_nobody_too() -> bool {
    geteuid().is_root() && env::var_os(FOLLOWS).is_none()
}

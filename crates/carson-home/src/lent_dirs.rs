//! Which directories of a sign-in sessions get a copy of.

use std::path::{Path, PathBuf};

use carson_config::{Account, Role};
use carson_engine::sign_in::SignIn;

/// The directories that an account, or a role in its place, signs in from.
pub fn operators(account: &Account, role: &Role) -> Vec<(&'static SignIn, PathBuf)> {
    let mut found: Vec<(&'static SignIn, PathBuf)> = Vec::new();
    for (name, value) in account.env.iter().chain(&role.identity) {
        if let Some(known) = is_lent(name, value) {
            found.retain(|(other, _)| other.variable != known.variable);
            found.push((known, PathBuf::from(value)));
        }
    }
    found
}

/// Whether a variable names a directory of which sessions get a copy.
pub fn is_lent(name: &str, value: &str) -> Option<&'static SignIn> {
    SignIn::named(name).filter(|_| Path::new(value).is_absolute())
}

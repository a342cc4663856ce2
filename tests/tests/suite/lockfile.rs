//! What may never enter the build, whoever asks for it. `deny.toml` says the same to cargo-deny,
//! which not every machine has.

use std::fs;
use std::path::Path;

/// A second crypto library, a second TLS library, a second SQLite.
const REFUSED: [&str; 6] = [
    "aws-lc-rs",
    "aws-lc-sys",
    "native-tls",
    "openssl",
    "openssl-sys",
    "rusqlite",
];

fn values(key: &str) -> Vec<String> {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let prefix = format!("{key} = \"");
    let lock = fs::read_to_string(lock).unwrap();
    let lines = lock
        .lines()
        .filter_map(|line| line.strip_prefix(&prefix)?.strip_suffix('"'));
    lines.map(str::to_owned).collect()
}

#[test]
fn no_refused_crate_is_locked() {
    let names = values("name");
    assert!(
        names.iter().any(|name| name == "rustls"),
        "the lock file was not understood"
    );
    let found: Vec<&String> = names
        .iter()
        .filter(|name| REFUSED.contains(&name.as_str()))
        .collect();
    assert!(
        found.is_empty(),
        "refused in deny.toml: {found:?} (cargo tree -i NAME says who asks)"
    );
}

#[test]
fn every_crate_comes_from_the_registry() {
    let sources = values("source");
    assert!(!sources.is_empty(), "the lock file was not understood");
    let foreign: Vec<_> = sources
        .iter()
        .filter(|it| !it.starts_with("registry+"))
        .collect();
    assert!(foreign.is_empty(), "{foreign:?}");
}

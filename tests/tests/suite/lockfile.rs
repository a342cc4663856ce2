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

/// What `deny.toml` allows.
fn allowed() -> Vec<spdx::Licensee> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deny.toml");
    let file: toml::Table = fs::read_to_string(file).unwrap().parse().unwrap();
    let listed = file["licenses"]["allow"].as_array().unwrap();
    let each = listed.iter().map(|one| one.as_str().unwrap());
    each.map(|one| spdx::Licensee::parse(one).unwrap())
        .collect()
}

#[test]
fn every_crate_has_a_licence_that_is_allowed() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut ask = cargo_metadata::MetadataCommand::new();
    // What is built here; nothing else was fetched.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let options = ["--locked", "--offline", "--filter-platform", &platform];
    ask.manifest_path(manifest)
        .other_options(options.map(str::to_owned));
    let all = ask.exec().unwrap().packages;
    assert!(all.len() > 100, "the metadata was not understood");
    let allowed = allowed();
    let is_allowed = |text: &str| {
        let expression = spdx::Expression::parse_mode(text, spdx::ParseMode::LAX).unwrap();
        expression.evaluate(|one| allowed.iter().any(|has| has.satisfies(one)))
    };
    let foreign: Vec<String> = all
        .iter()
        .filter(|package| !package.license.as_deref().is_some_and(is_allowed))
        .map(|package| format!("{}: {:?}", package.name, package.license))
        .collect();
    assert!(
        foreign.is_empty(),
        "deny.toml allows none of these: {foreign:#?}"
    );
}

//! The diagram is the directory: dependencies between our crates only point down.

use std::collections::BTreeMap;

use cargo_metadata::MetadataCommand;

/// Floor of each crate (docs/ARCHITECTURE.md).
const FLOORS: [(&str, u32); 26] = [
    ("carson-core", 0),
    ("carson-hook", 0),
    ("carson-redact", 0),
    ("carson-config", 1),
    ("carson-door", 1),
    ("carson-proc", 1),
    ("carson-store", 1),
    ("carson-git", 1),
    ("carson-egress", 1),
    ("carson-engine", 1),
    ("carson-forge", 1),
    ("carson-notify", 1),
    ("carson-porter", 1),
    ("carson-agent", 2),
    ("carson-loop", 2),
    ("carson-home", 2),
    ("carson-memory", 2),
    ("carson-bench", 3),
    ("carson-checks", 3),
    ("carson-firing", 4),
    ("carson-operator", 5),
    ("carson-mcp", 6),
    ("carson-page", 6),
    ("carson-chat", 6),
    ("carson-daemon", 6),
    ("carson-cli", 7),
];

/// The only arrows within a floor.
const LEVEL: [(&str, &str); 11] = [
    // What an operator may write about a sink or a forge stands beside it.
    ("carson-config", "carson-forge"),
    ("carson-config", "carson-notify"),
    // The checks look at what a session would be given.
    ("carson-checks", "carson-bench"),
    // The open home keeps what a process read of lessons' vectors.
    ("carson-home", "carson-memory"),
    // It starts the faces that are served.
    ("carson-daemon", "carson-mcp"),
    ("carson-daemon", "carson-page"),
    ("carson-daemon", "carson-chat"),
    ("carson-egress", "carson-proc"),
    ("carson-git", "carson-proc"),
    ("carson-engine", "carson-proc"),
    ("carson-porter", "carson-proc"),
];

/// May see everything.
const ABOVE: [&str; 2] = ["carson-tests", "xtask"];

#[test]
fn arrows_only_point_down() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let floors: BTreeMap<&str, u32> = FLOORS.into();
    for package in metadata.packages {
        let name = package.name.as_str();
        if ABOVE.contains(&name) {
            continue;
        }
        let floor = floors
            .get(name)
            .unwrap_or_else(|| panic!("{name} has no floor yet"));
        for dependency in &package.dependencies {
            let Some(below) = floors.get(dependency.name.as_str()) else {
                continue;
            };
            let allowed = below < floor || LEVEL.contains(&(name, dependency.name.as_str()));
            assert!(allowed, "{name} must not depend on {}", dependency.name);
        }
    }
}

#[test]
fn the_hook_has_no_dependencies() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let hook = metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == "carson-hook");
    assert!(hook.unwrap().dependencies.is_empty());
}

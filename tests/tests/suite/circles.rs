//! Within a crate, files only know the files below them: no two import each other, not even by way
//! of others. What stands in a circle can only be read, tested and moved as a whole.

mod graph;
mod source;
mod tarjan;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cargo_metadata::MetadataCommand;

/// Crates whose circles are not open yet. It only gets shorter.
const ALLOWED: [&str; 1] = ["carson-hook"];

#[test]
fn no_crate_has_a_circle_of_files() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let mut found = Vec::new();
    let mut open = BTreeSet::from(ALLOWED);
    for package in metadata.packages {
        let manifest = Path::new(package.manifest_path.as_str());
        let circles = circles_of(&manifest.parent().unwrap().join("src"));
        let name = package.name.as_str();
        if circles.is_empty() || !open.remove(name) {
            found.extend(circles.iter().map(|files| format!("{name}: {files}")));
        }
    }
    assert!(found.is_empty(), "circles of files:\n{}", found.join("\n"));
    assert!(
        open.is_empty(),
        "no circle is left in {open:?}: take it out of ALLOWED"
    );
}

/// One line for each circle of the crate whose sources are in `src`: its files.
fn circles_of(src: &Path) -> Vec<String> {
    let roots = ["lib.rs", "main.rs"].map(|name| src.join(name));
    let Some(root) = roots.iter().find(|root| root.exists()) else {
        return Vec::new();
    };
    let graph = graph::build_graph(&source::read(root));
    let circles = tarjan::circles(&graph);
    let line = |files: &Vec<&str>| format!("{} files: {}", files.len(), files.join(" "));
    circles.iter().map(line).collect()
}

#[test]
fn a_planted_circle_is_found() {
    let arrows = [
        ("a", "b"),
        ("b", "c"),
        ("c", "a"),
        ("c", "d"),
        ("d", "e"),
        ("top", "a"),
        ("x", "y"),
        ("y", "x"),
    ];
    let mut graph = graph::Graph::new();
    for (from, to) in arrows {
        graph
            .entry(from.to_owned())
            .or_default()
            .insert(to.to_owned());
    }
    assert_eq!(
        tarjan::circles(&graph),
        [vec!["a", "b", "c"], vec!["x", "y"]]
    );
    graph.get_mut("c").unwrap().remove("a");
    assert_eq!(tarjan::circles(&graph), [["x", "y"]]);
}

#[test]
fn a_planted_circle_of_files_is_found_behind_re_exports() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d; pub use b::B;"),
        ("a.rs", "use crate::B; pub struct A { b: B }"),
        ("b/mod.rs", "mod inner; pub use inner::B;"),
        (
            "b/inner.rs",
            "pub struct B; fn f() { /* crate::c::f() */ super::super::a::g(\"crate::c\") }",
        ),
        (
            "c.rs",
            "use crate::{a::A, b::{self}}; fn f() -> b::B { inside::f() } mod inside { use super::f; }",
        ),
        (
            "d.rs",
            "mod below; fn f() { below::f() } #[cfg(test)] mod tests { use crate::e::E; }",
        ),
        ("d/below.rs", "use super::f; #[cfg(test)] use crate::a::A;"),
    ];
    let src = tempfile::tempdir().unwrap();
    fs::create_dir_all(src.path().join("b")).unwrap();
    fs::create_dir_all(src.path().join("d")).unwrap();
    for (name, text) in files {
        fs::write(src.path().join(name), text).unwrap();
    }
    assert_eq!(circles_of(src.path()), ["2 files: a.rs b/inner.rs"]);
}

//! The worked examples in the folder of each role, played by the rehearsal engine in real firings: the shipped
//! bounds and prompts, a scene on a local forge, and what a good session does. So none of them shows what Carson
//! would refuse.

mod form;
mod good;
mod scene;

use std::fs;
use std::path::{Path, PathBuf};

use carson_config::{RoleKind, ShippedRole, shipped_roles};

use self::form::Example;

/// The folder of the shipped roles.
fn roles() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("roles")
}

/// The files of a role's examples, in their order; none where it has no such folder.
fn files_of(role: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(roles().join(role).join("examples")) else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Plays all examples of a role; each that does not end as it says is told by its name.
fn play_all(role: &str) {
    for file in files_of(role) {
        let example = Example::read(&file);
        let name = format!("{role}/{}", file.file_name().unwrap().display());
        let played = scene::play(role, &example);
        good::holds(&name, &played, &example.good);
    }
}

#[test]
fn each_shipped_role_has_three_examples_in_the_form() {
    // What runs a command, or tells what was, has no answer to show.
    let judge = |role: &&ShippedRole| ![RoleKind::Command, RoleKind::Steward].contains(&role.kind);
    for role in shipped_roles().iter().filter(judge) {
        let files = files_of(role.name);
        assert_eq!(files.len(), 3, "{}: {files:?}", role.name);
        let asks_a_model = role.kind.has_sessions();
        for (n, file) in (1..).zip(files) {
            let name = file.file_name().unwrap().to_str().unwrap();
            let starts = format!("{n}-");
            assert!(
                name.starts_with(&starts) && name.ends_with(".toml"),
                "{name}"
            );
            let example = Example::read(&file);
            assert!(example.about.ends_with('.'), "{name}: {}", example.about);
            assert_eq!(example.answer.is_some(), asks_a_model, "{name}");
        }
    }
}

#[test]
fn an_example_with_an_unknown_word_is_none() {
    let text = "about = \"a.\"\n[input]\ntitle = \"t\"\nbody = \"b\"\n[good]\noutcome = \"OK\"\n";
    assert!(Example::parse(text).is_ok());
    for (from, to) in [
        ("about", "abuot"),
        ("[input]\n", "[input]\nfile = {}\n"),
        ("[good]\n", "[good]\nlabel = []\n"),
        ("[good]\n", "[answer]\nsay = \"[OK]\"\n[good]\n"),
        (
            "[good]\n",
            "[input.pull]\nfiles = {}\nship = true\n[good]\n",
        ),
    ] {
        assert!(
            Example::parse(&text.replacen(from, to, 1)).is_err(),
            "{to:?}"
        );
    }
}

#[test]
fn the_implementer_s_examples_end_as_they_say() {
    play_all("implementer");
}

#[test]
fn the_planner_s_examples_end_as_they_say() {
    play_all("planner");
}

#[test]
fn the_architect_s_examples_end_as_they_say() {
    play_all("architect");
}

#[test]
fn the_triager_s_examples_end_as_they_say() {
    play_all("triager");
}

#[test]
fn the_reviewer_s_examples_end_as_they_say() {
    play_all("reviewer");
}

#[test]
fn the_fixer_s_examples_end_as_they_say() {
    play_all("fixer");
}

#[test]
fn the_tester_s_examples_end_as_they_say() {
    play_all("tester");
}

#[test]
fn the_merger_s_examples_end_as_they_say() {
    play_all("merger");
}

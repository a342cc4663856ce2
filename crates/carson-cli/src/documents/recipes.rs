//! The recipes of docs/ROLES.md, each as a role of a home.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use carson_config::{LoadOptions, load};

use super::{blocks, document};

/// What a home has beside it.
const IMPLEMENTER: &str = "repos = [\"widget\"]\ncadence = []\nengines = [\"claude\"]\n\
     [promise]\nrun = \"npm test\"\n";

/// The recipes: what stands in the blocks of TOML that begin with their file.
fn recipes() -> Vec<(String, String)> {
    let page = document("docs/ROLES.md");
    let (_, cookbook) = page.split_once("\n## Recipes\n").unwrap();
    let mut found = Vec::new();
    for (_, lines) in blocks(cookbook, &["toml"]) {
        let first = lines.first().unwrap_or(&"");
        let name = first
            .strip_prefix("# roles/")
            .and_then(|rest| rest.strip_suffix("/role.toml"));
        let name = name.unwrap_or_else(|| panic!("{first:?} names no roles/NAME/role.toml"));
        found.push((name.to_owned(), lines.join("\n")));
    }
    found
}

#[test]
fn every_recipe_is_a_role_without_a_finding() {
    let recipes = recipes();
    assert!(recipes.len() >= 6, "{recipes:#?}");
    for (name, text) in recipes {
        let dir = tempfile::tempdir().unwrap();
        let role = dir.path().join("roles").join(&name);
        fs::create_dir_all(&role).unwrap();
        fs::write(role.join("role.toml"), &text).unwrap();
        // For whom an issue may be filed.
        let other = dir.path().join("roles/implementer");
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("role.toml"), IMPLEMENTER).unwrap();
        let hook = dir.path().join("hook");
        fs::write(&hook, "https://hooks.example/x").unwrap();
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o600)).unwrap();
        let settings = format!(
            "[fleet]\nhost = \"box\"\n[repos.widget]\nurl = \"/srv/widget.git\"\nforge = \"local\"\n\
             base = \"main\"\n[accounts.claude]\nengine = \"claude\"\n\
             [accounts.codex]\nengine = \"codex\"\n[webhook]\nurl_file = {hook:?}\n"
        );
        fs::write(dir.path().join("carson.toml"), settings).unwrap();
        let options = LoadOptions {
            home: dir.path().to_owned(),
            files: None,
            env: Vec::new(),
            user_home: None,
            machine: "box".into(),
        };
        let loaded = load(&options).unwrap_or_else(|error| panic!("{name}: {error:#?}\n{text}"));
        assert!(
            loaded.warnings.is_empty(),
            "{name}: {:#?}\n{text}",
            loaded.warnings
        );
        let known = loaded.fleet.roles.keys();
        assert!(
            known.map(ToString::to_string).any(|one| one == name),
            "{name}"
        );
    }
}

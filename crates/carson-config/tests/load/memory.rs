//! `[memory]`: what is off stays off, whatever somebody meant.

use carson_config::{AutoPromote, Loaded, load};
use carson_core::lesson::Scope;

use super::{ROLE, SETTINGS, options, write};

fn loaded(memory: &str, env: &[(&str, &str)]) -> Loaded {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), "carson.toml", &format!("{SETTINGS}\n{memory}"));
    write(home.path(), "github.token", "x");
    write(home.path(), "roles/implementer/role.toml", ROLE);
    load(&options(home.path(), env)).unwrap()
}

#[test]
fn promoting_by_itself_is_off_but_for_exactly_true() {
    let widget: Scope = "repo:widget".parse().unwrap();
    for (written, on) in [
        ("", false),
        ("auto_promote = true", true),
        ("auto_promote = false", false),
        ("auto_promote = \"true\"", false),
        ("auto_promote = \"yes\"", false),
        ("auto_promote = 1", false),
        ("auto_promote = []", false),
        ("auto_promote = { on = true }", false),
        ("auto_promote = true\nkill_switch = true", false),
        ("auto_promote = true\nkill_switch = \"off\"", false),
        ("auto_promote = true\nkill_switch = 0", false),
        ("auto_promote = true\nkill_switch = false", true),
        (
            "auto_promote = true\nauto_promote_scopes = [\"repo:widget\"]",
            true,
        ),
        (
            "auto_promote = true\nauto_promote_scopes = [\"repo:gadget\"]",
            false,
        ),
        ("auto_promote = true\nauto_promote_scopes = []", false),
    ] {
        let fleet = loaded(&format!("[memory]\n{written}"), &[]).fleet;
        assert_eq!(fleet.memory.promotes(&widget), on, "{written}");
    }
    let by_variable = |value| {
        loaded("", &[("CARSON_MEMORY__AUTO_PROMOTE", value)])
            .fleet
            .memory
            .auto
    };
    assert_eq!(by_variable("true"), AutoPromote::Everywhere);
    assert_eq!(by_variable("on"), AutoPromote::Off);
}

#[test]
fn a_switch_that_is_neither_is_told() {
    let loaded = loaded(
        "[memory]\nauto_promote = \"yes\"\nkill_switch = \"no\"",
        &[],
    );
    let told: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let told = told.join("\n");
    assert!(
        told.contains("only true is on") && told.contains("only false is off"),
        "{told}"
    );
}

#[test]
fn scopes_in_which_nothing_is_promoted_are_told() {
    let told = |written: &str| {
        let loaded = loaded(&format!("[memory]\nauto_promote = true\n{written}"), &[]);
        let told: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
        told.join("\n")
    };
    assert!(told("auto_promote_scopes = []").contains("an empty list means nowhere"));
    let unknown = told("auto_promote_scopes = [\"repo:gadget\"]");
    assert!(
        unknown.contains("there is no repository gadget"),
        "{unknown}"
    );
    assert_eq!(told("auto_promote_scopes = [\"repo:widget\"]"), "");
}

#[test]
fn our_own_embedder_has_an_address_of_this_machine() {
    let at = |written: &str| {
        loaded(&format!("[memory]\n{written}"), &[])
            .fleet
            .memory
            .embedder
    };
    let own = at("embedder_dir = \"/models/minilm\"").unwrap();
    assert_eq!(own.url, "http://127.0.0.1:11435/v1");
    assert_eq!(own.model, "all-MiniLM-L6-v2");
    assert_eq!(own.listen.unwrap().port(), 11_435);
    let other = at("embedder_dir = \"/m\"\nembedder_url = \"http://127.0.0.1:7/v1\"").unwrap();
    assert_eq!(other.listen.unwrap().port(), 7);
    let elsewhere = at("embedder_url = \"http://127.0.0.1:7/v1\"\nembedder_model = \"m\"").unwrap();
    assert_eq!((elsewhere.dir, elsewhere.listen), (None, None));
    let home = tempfile::tempdir().unwrap();
    let far = "[memory]\nembedder_dir = \"/m\"\nembedder_url = \"http://models.example/v1\"";
    write(home.path(), "carson.toml", &format!("{SETTINGS}\n{far}"));
    write(home.path(), "github.token", "x");
    write(home.path(), "roles/implementer/role.toml", ROLE);
    let refused = load(&options(home.path(), &[])).unwrap_err().to_string();
    assert!(refused.contains("memory.embedder_url"), "{refused}");
}

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
    assert_eq!(by_variable("true"), AutoPromote::On(Vec::new()));
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

//! `[metrics]`: on this machine alone, unless somebody says under which names others ask.

use carson_config::{Findings, Loaded, load};

use super::{ROLE, SETTINGS, options, write};

fn read(metrics: &str) -> Result<Loaded, Findings> {
    let home = tempfile::tempdir().unwrap();
    write(
        home.path(),
        "carson.toml",
        &format!("{SETTINGS}\n[metrics]\n{metrics}\n"),
    );
    write(home.path(), "github.token", "x");
    write(home.path(), "roles/implementer/role.toml", ROLE);
    load(&options(home.path(), &[]))
}

#[test]
fn nothing_is_served_unless_it_is_said() {
    assert_eq!(read("").unwrap().fleet.metrics, None);
    let loaded = read("listen = \"127.0.0.1:9420\"").unwrap();
    let metrics = loaded.fleet.metrics.unwrap();
    assert_eq!(metrics.listen.to_string(), "127.0.0.1:9420");
    assert!(metrics.hosts.is_empty());
    let loaded = read("hosts = [\"attic.lan\"]").unwrap();
    assert!(loaded.fleet.metrics.is_none());
    let said = loaded.warnings[0].to_string();
    assert!(said.contains("without listen"), "{said}");
}

#[test]
fn other_machines_are_let_in_by_name_only() {
    let refused = read("listen = \"0.0.0.0:9420\"").unwrap_err().to_string();
    assert!(
        refused.contains("metrics.listen: other machines reach 0.0.0.0:9420"),
        "{refused}"
    );
    let open = "listen = \"0.0.0.0:9420\"\nhosts = [\"Attic.lan\", \"10.0.0.7\", \"[fe80::1]\"]";
    let metrics = read(open).unwrap().fleet.metrics.unwrap();
    assert_eq!(metrics.hosts, ["attic.lan", "10.0.0.7", "[fe80::1]"]);
    for wrong in [
        "http://attic.lan",
        "attic.lan:9420",
        "",
        "a b",
        "fe80::1",
        "[x]",
        "*",
    ] {
        let written = format!("listen = \"127.0.0.1:9420\"\nhosts = [{wrong:?}]");
        let refused = read(&written).unwrap_err().to_string();
        assert!(refused.contains("metrics.hosts.0: "), "{wrong}: {refused}");
    }
    let refused = read("listen = \"9420\"").unwrap_err().to_string();
    assert!(
        refused.contains("is not an address with a port"),
        "{refused}"
    );
}

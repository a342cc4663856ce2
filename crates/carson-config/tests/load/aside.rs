//! Secrets that only a face or a sink needs: what is wrong with them stops no fleet.

use std::os::unix::fs::PermissionsExt;

use carson_config::{known_secret, load};

use crate::{good_home, options, write};

const ASIDE: &str = "[page]\nlisten = \"127.0.0.1:7420\"\ntoken_file = \"t\"\n\
    [mcp]\nlisten = \"127.0.0.1:7421\"\ntoken_file = \"t\"\n\
    [slack]\ntoken_file = \"t\"\n\
    [webhook]\nurl_file = \"t\"\nheader_file = \"t\"\n\
    [heartbeat]\nurl_file = \"t\"\n\
    [memory]\nembedder_url = \"http://127.0.0.1:1/v1\"\nembedder_model = \"m\"\nembedder_key_file = \"t\"\n";

const KEYS: [&str; 7] = [
    "heartbeat.url_file",
    "mcp.token_file",
    "memory.embedder_key_file",
    "page.token_file",
    "slack.token_file",
    "webhook.header_file",
    "webhook.url_file",
];

/// The keys that are warned of, in the order of the alphabet.
fn warned(text: &str, mode: u32) -> Vec<String> {
    let dir = good_home();
    write(
        dir.path(),
        "carson.toml",
        &format!("{}\n{ASIDE}", crate::SETTINGS),
    );
    write(dir.path(), "t", text);
    let file = dir.path().join("t");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
    let loaded = load(&options(dir.path(), &[])).unwrap();
    let says = "all else goes on";
    assert!(loaded.fleet.page.is_some() && loaded.fleet.mcp.is_some());
    assert_eq!(loaded.fleet.sinks.len(), 2, "they are tried again");
    for one in &loaded.warnings {
        let hint = one.hint.as_deref().unwrap_or_default();
        assert!(hint.contains(says) || text == "guess", "{one}");
    }
    let mut keys: Vec<String> = loaded.warnings.into_iter().map(|one| one.key).collect();
    keys.sort();
    keys
}

#[test]
fn a_face_or_a_sink_without_its_secret_stops_nobody() {
    assert_eq!(
        warned("https://x.example/0123456789abcdef0123456789", 0o644),
        KEYS
    );
    assert_eq!(warned("", 0o600), KEYS);
    let short = [
        "heartbeat.url_file",
        "mcp.token_file",
        "page.token_file",
        "webhook.url_file",
    ];
    assert_eq!(warned("guess", 0o600), short);
}

#[test]
fn what_others_can_read_is_still_known_as_a_secret() {
    let dir = good_home();
    write(dir.path(), "t", " hush \n");
    let file = dir.path().join("t");
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    assert!(known_secret(&file).is_some());
    assert!(known_secret(&dir.path().join("gone")).is_none());
}

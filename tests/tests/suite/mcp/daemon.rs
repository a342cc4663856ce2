//! What the daemon serves over HTTP, by its settings.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use carson_tests::fleet::TestFleet;
use carson_tests::until;
use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::scene::fleet;
use crate::daemon::Daemon;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "fedcba9876543210fedcba9876543210";

/// A daemon that serves.
pub struct Served {
    daemon: Daemon,
    settings: PathBuf,
    without: String,
    port: u16,
}

impl Served {
    /// With this beside where it listens.
    pub fn by(fleet: &TestFleet, more: &str) -> Self {
        write_token(fleet, TOKEN);
        let settings = fleet.home().join("carson.toml");
        let without = fs::read_to_string(&settings).unwrap();
        fs::write(&settings, section(&without, more)).unwrap();
        let daemon = Daemon::start(fleet, &[]);
        let port = until("the daemon to serve", || {
            let log = fs::read_to_string(&daemon.log).unwrap();
            let (_, address) = log.rsplit_once("MCP is served over HTTP address=127.0.0.1:")?;
            address.split_whitespace().next()?.parse().ok()
        });
        Self {
            daemon,
            settings,
            without,
            port,
        }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    pub fn token(&self) -> &'static str {
        TOKEN
    }

    pub fn bearer(&self) -> String {
        format!("Bearer {TOKEN}")
    }

    /// Gives it other settings, and waits until they are in force.
    fn change(&self, settings: &str) {
        let reloaded = || {
            fs::read_to_string(&self.daemon.log)
                .unwrap()
                .matches("settings reloaded")
                .count()
        };
        let before = reloaded();
        fs::write(&self.settings, settings).unwrap();
        until("the settings to be read", || {
            (reloaded() > before).then_some(())
        });
    }

    /// What it answers to this call with this token: the status, and the text of the tool.
    async fn call(&self, token: &str, tool: &str, arguments: Value) -> (u16, String) {
        let message = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            } },
        });
        let request = reqwest::Client::new()
            .post(self.url())
            .bearer_auth(token)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", tool)
            .json(&message);
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.text().await.unwrap())
    }
}

fn write_token(fleet: &TestFleet, token: &str) {
    let file = fleet.home().join("mcp.token");
    fs::write(&file, format!("{token}\n")).unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
}

fn section(settings: &str, more: &str) -> String {
    format!("{settings}\n[mcp]\nlisten = \"127.0.0.1:0\"\ntoken_file = \"mcp.token\"\n{more}")
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_and_the_token_are_those_of_this_moment_and_without_the_section_nothing_is_served() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let fleet = fleet();
    let mut served = Served::by(&fleet, "");
    let (status, text) = served.call(TOKEN, "fleet_status", json!({})).await;
    assert!(
        status == 200 && text.contains("\\\"fleet\\\":\\\"test\\\""),
        "{text}"
    );
    assert_eq!(served.call(OTHER, "fleet_status", json!({})).await.0, 401);
    let (_, text) = served.call(TOKEN, "queue_add", json!({"title": "t"})).await;
    assert!(text.contains("has not the grant"), "{text}");

    served.change(&section(&served.without, "grant = [\"queue\"]\n"));
    let (_, text) = served
        .call(TOKEN, "queue_add", json!({"title": "Wind the clocks"}))
        .await;
    assert!(
        text.contains("Wind the clocks") && text.contains("\"isError\":false"),
        "{text}"
    );

    write_token(&fleet, OTHER);
    assert_eq!(served.call(TOKEN, "fleet_status", json!({})).await.0, 401);
    assert_eq!(served.call(OTHER, "fleet_status", json!({})).await.0, 200);
    let file = fleet.home().join("mcp.token");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    assert_eq!(served.call(OTHER, "fleet_status", json!({})).await.0, 503);
    // One that could be guessed is none, also where it became that later.
    for short in ["", "guess"] {
        write_token(&fleet, short);
        assert_eq!(served.call(short, "fleet_status", json!({})).await.0, 503);
    }
    write_token(&fleet, OTHER);
    assert_eq!(served.call(OTHER, "fleet_status", json!({})).await.0, 200);

    served.change(&served.without);
    let gone = reqwest::Client::new().get(served.url()).send().await;
    assert!(gone.unwrap_err().is_connect());
    served.daemon.signal(Signal::SIGTERM);
    assert!(served.daemon.ended().success());
}

//! The binary, as a client starts it.

use std::fs;

use carson_tests::fleet::TestFleet;
use carson_tests::judge::judge;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::scene::{Server, calls, fleet, holds};

#[test]
fn every_tool_answers_and_the_end_of_its_input_ends_it() {
    let fleet = fleet();
    let mut server = Server::begun(fleet.command(&["mcp", "--grant", "loop,queue"]));
    for (tool, arguments, wanted) in calls() {
        let (text, refuses) = server.call(tool, arguments);
        assert!(!refuses && holds(&text, wanted), "{tool}: {text}");
    }
    server.leave();
    assert_eq!(server.ended().code(), Some(0));
}

#[test]
fn without_a_grant_what_changes_something_is_listed_and_refused() {
    let fleet = fleet();
    let mut server = Server::begun(fleet.command(&["mcp"]));
    let listed = server.ask("tools/list", json!({}));
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for tool in carson_mcp::TOOLS {
        assert!(tool.names().all(|name| names.contains(&name)), "{names:?}");
        let Some(grant) = tool.grant else { continue };
        for name in tool.names() {
            let (text, refuses) = server.call(name, json!({}));
            let wanted = format!(
                "refused: this server has not the grant {:?}",
                grant.as_str()
            );
            assert!(refuses && text.starts_with(&wanted), "{name}: {text}");
        }
    }
}

#[test]
fn without_a_fleet_it_serves_and_makes_none() {
    let fleet = TestFleet::new();
    let home = fleet.root().join("nowhere");
    let mut command = fleet.command(&["mcp", "--grant", "queue"]);
    command.env("CARSON_HOME", &home);
    let mut server = Server::begun(command);
    for (tool, arguments) in [
        ("fleet_status", json!({})),
        ("fleet_why", json!({"what": "hand"})),
        ("queue_add", json!({"title": "t"})),
    ] {
        let (text, refuses) = server.call(tool, arguments);
        assert!(refuses && text.contains("there is no fleet here"), "{text}");
        assert!(text.contains("carson init"), "{text}");
    }
    assert!(!home.exists());
    // One that comes into being meanwhile is served.
    fs::rename(fleet.home(), &home).unwrap();
    let (text, refuses) = server.call("fleet_status", json!({}));
    assert!(!refuses && text.contains("\"fleet\":\"test\""), "{text}");
}

#[test]
fn settings_that_are_wrong_are_said_and_the_server_goes_on() {
    let fleet = TestFleet::new();
    let mut server = Server::begun(fleet.command(&["mcp"]));
    let settings = fleet.home().join("carson.toml");
    let before = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, format!("{before}\n[fleet]\nnmae = 1\n")).unwrap();
    let (text, refuses) = server.call("fleet_status", json!({}));
    assert!(
        refuses && text.contains("the settings are not right"),
        "{text}"
    );
    fs::write(&settings, before).unwrap();
    assert!(!server.call("fleet_status", json!({})).1);
}

#[test]
fn it_ends_when_it_is_told_to_whatever_its_client_does() {
    let fleet = TestFleet::new();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut server = Server::begun(fleet.command(&["mcp"]));
        kill(Pid::from_raw(server.pid()), signal).unwrap();
        assert_eq!(server.ended().code(), Some(0), "{signal}");
    }
}

#[test]
fn what_it_cannot_be_given_is_said_before_anything_is_served() {
    let fleet = TestFleet::new();
    for (args, says) in [
        (
            vec!["mcp", "--grant", "all"],
            "[possible values: loop, queue]",
        ),
        (
            vec!["mcp", "--root", "nowhere"],
            "--root nowhere: there is no such directory",
        ),
        (
            vec!["mcp", "--root", "home/carson.toml"],
            "there is no such directory",
        ),
    ] {
        judge(&fleet.carson(&args), 2, &[says]).unwrap();
    }
    // Nobody there is nobody's fault.
    judge(&fleet.carson(&["mcp"]), 0, &[]).unwrap();
}

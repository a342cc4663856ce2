//! The binary, as a client starts it.

use std::fs;

use carson_loop::api;
use carson_loop::status::Status;
use carson_tests::fleet::TestFleet;
use carson_tests::judge::judge;
use carson_tests::until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use super::scene::{Server, calls, errand, fleet, holds, make_loop, mcp};

#[test]
fn every_tool_answers_and_the_end_of_its_input_ends_it() {
    let fleet = fleet();
    let mut server = Server::begun(mcp(&fleet, &["--grant", "loop,queue,memory"]));
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
    let mut server = Server::begun(mcp(&fleet, &[]));
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
    let mut command = mcp(&fleet, &["--grant", "queue"]);
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
    let mut server = Server::begun(mcp(&fleet, &[]));
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
        let mut server = Server::begun(mcp(&fleet, &[]));
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
            "[possible values: loop, queue, memory]",
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

/// Says who it is, and stays.
const HANGS: &str = "echo $$ > hangs.new; mv hangs.new hangs; exec sleep 300";

#[test]
fn what_a_call_started_ends_with_the_server_however_that_ends() {
    for by_signal in [true, false] {
        let fleet = TestFleet::new();
        make_loop(&fleet, HANGS, "true", 1);
        let mut server = Server::begun(mcp(&fleet, &["--grant", "loop"]));
        let call = json!({"name": "loop_test_promise", "arguments": {}});
        server.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}));
        let pid = until("the promise to hang", || {
            fs::read_to_string(errand(&fleet).join("hangs")).ok()
        });
        let promise = Pid::from_raw(pid.trim().parse().unwrap());
        assert_eq!(kill(promise, None), Ok(()));
        match by_signal {
            true => kill(Pid::from_raw(server.pid()), Signal::SIGTERM).unwrap(),
            false => server.leave(),
        }
        assert_eq!(server.ended().code(), Some(0));
        until("the promise to end", || {
            kill(promise, None).is_err().then_some(())
        });
    }
}

#[test]
fn a_cancelled_promise_ends_and_is_not_answered() {
    let fleet = TestFleet::new();
    make_loop(&fleet, HANGS, "true", 1);
    let mut server = Server::begun(mcp(&fleet, &["--grant", "loop"]));
    let call = json!({"name": "loop_test_promise", "arguments": {}});
    server.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}));
    let pid = until("the promise to hang", || {
        fs::read_to_string(errand(&fleet).join("hangs")).ok()
    });
    let promise = Pid::from_raw(pid.trim().parse().unwrap());
    server.say(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
    );
    until("the promise to end", || {
        kill(promise, None).is_err().then_some(())
    });
    // The next line is the answer to the next request.
    assert_eq!(server.ask("ping", json!({})), json!({}));
}

#[test]
fn a_loop_goes_on_when_the_server_that_began_it_ends() {
    let fleet = TestFleet::new();
    let task = "while ! test -f go; do sleep 0.02; done; touch kept";
    let place = make_loop(&fleet, "test -f kept", task, 3);
    let mut server = Server::begun(mcp(&fleet, &["--grant", "loop"]));
    let (text, refuses) = server.call("alpf_start", json!({}));
    assert!(
        !refuses && text.contains("\"status\":\"running\""),
        "{text}"
    );
    let (text, refuses) = server.call("loop_start", json!({}));
    assert!(
        refuses && text.contains("carson loop"),
        "a second one: {text}"
    );
    kill(Pid::from_raw(server.pid()), Signal::SIGKILL).unwrap();
    server.ended();
    let mut next = Server::begun(mcp(&fleet, &[]));
    let (text, _) = next.call("alpf_status", json!({}));
    assert!(text.contains("\"status\":\"running\""), "{text}");
    fs::write(errand(&fleet).join("go"), "").unwrap();
    until("the loop to be done", || {
        (api::status(&place).unwrap().status == Status::Done).then_some(())
    });
    let (text, _) = next.call("alpf_status", json!({}));
    assert!(text.contains("\"promise_fulfilled\":true"), "{text}");
}

#[test]
fn a_server_that_is_started_in_a_subfolder_means_the_loop_above_it() {
    let fleet = TestFleet::new();
    make_loop(&fleet, "true", "true", 1);
    let below = errand(&fleet).join("some/where");
    fs::create_dir_all(&below).unwrap();
    let mut command = mcp(&fleet, &[]);
    command.current_dir(&below);
    let mut server = Server::begun(command);
    let (text, refuses) = server.call("loop_status", json!({}));
    assert!(!refuses && text.contains("\"status\":\"idle\""), "{text}");
    let (text, refuses) = server.call("loop_status", json!({"directory": "."}));
    assert!(!refuses && text.contains("\"status\":\"idle\""), "{text}");
    let elsewhere = tempfile::tempdir().unwrap();
    let (text, refuses) = server.call("loop_status", json!({"directory": elsewhere.path()}));
    assert!(refuses, "a folder that nobody named: {text}");
}

//! The hook and the real Codex CLI, in full trust: a scripted model tries each rule with real git, a
//! real remote and real files; then the hook is missing, killed, slow and broken.

use carson_config::HookFailure;
use carson_tests::model::{Reply, tool, write};
use serde_json::json;

use crate::hook_desk::{Cli, Desk};
use crate::{hook_firing, hook_plays};

const CLI: Cli = Cli::Codex;

#[tokio::test]
async fn a_protected_branch_stays_where_it_is() {
    hook_plays::a_protected_branch_stays_where_it_is(CLI).await;
}

#[tokio::test]
async fn the_repositorys_own_hooks_stay_on() {
    hook_plays::the_repositorys_own_hooks_stay_on(CLI).await;
}

#[tokio::test]
async fn what_lies_outside_is_not_deleted() {
    hook_plays::what_lies_outside_is_not_deleted(CLI).await;
}

#[tokio::test]
async fn no_credential_reaches_the_model() {
    hook_plays::no_credential_reaches_the_model(CLI, own_reading_tools).await;
}

/// Its shell tool runs in a directory of its own where the model says so.
fn own_reading_tools(desk: &Desk) -> Vec<Reply> {
    let elsewhere = json!({ "cmd": "cat id_rsa", "workdir": desk.at("home/.ssh") });
    vec![tool("exec_command", elsewhere)]
}

#[tokio::test]
async fn a_download_does_not_run_unseen() {
    hook_plays::a_download_does_not_run_unseen(CLI).await;
}

#[tokio::test]
async fn the_cli_itself_lets_calls_run_without_an_answer() {
    hook_plays::without_an_answer(CLI, HookFailure::Open).await;
}

#[tokio::test]
async fn a_guarded_hook_refuses_calls_without_an_answer() {
    hook_plays::without_an_answer(CLI, HookFailure::Closed).await;
}

#[tokio::test]
async fn the_hooks_own_failure_is_an_event() {
    hook_plays::the_hooks_own_failure_is_an_event(CLI).await;
}

#[test]
fn a_firing_reports_that_its_hook_failed_open() {
    hook_firing::a_firing_reports_that_its_hook_failed_open(CLI);
}

#[test]
fn the_remotes_own_branch_is_not_pushed_by_a_session() {
    hook_firing::the_remotes_own_branch_is_not_pushed_by_a_session(CLI);
}

#[test]
fn a_closed_role_stops_at_a_hook_that_is_gone() {
    hook_firing::a_closed_role_stops_at_a_hook_that_is_gone(CLI);
}

/// The hook sees a patch too, and lets it pass.
#[tokio::test]
async fn a_patch_is_applied() {
    let desk = Desk::new(CLI);
    let file = desk.at("tree/notes.txt");

    let results = desk.try_calls(vec![write(&file, "never rm -rf /\n")]).await;

    assert!(!results[0].is_error, "{results:#?}");
    assert_eq!(std::fs::read_to_string(file).unwrap(), "never rm -rf /\n");
}

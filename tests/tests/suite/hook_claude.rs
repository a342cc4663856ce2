//! The hook and the real Claude Code CLI: a scripted model tries each rule with real git, a real
//! remote and real files; then the hook is missing, killed, slow and broken.

use carson_config::HookFailure;
use carson_tests::model::{Reply, tool};
use serde_json::json;

use crate::hook_desk::{Cli, Desk};
use crate::{hook_firing, hook_plays};

const CLI: Cli = Cli::Claude;

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

fn own_reading_tools(desk: &Desk) -> Vec<Reply> {
    let env = desk.at("tree/.env");
    let look = json!({ "pattern": "TOKEN", "path": env, "output_mode": "content" });
    vec![
        tool("Read", json!({ "file_path": desk.at("home/.ssh/id_rsa") })),
        tool("Read", json!({ "file_path": env })),
        tool("Grep", look),
    ]
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

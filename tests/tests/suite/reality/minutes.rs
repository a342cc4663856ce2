//! Strangers whose repository is on GitHub, or who have no agent CLI: by the README's lines, timed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use carson_tests::http_remote;

use super::github::GitHub;
use crate::cold_start::Stranger;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_a_clone_of_github_to_the_first_pull_request() {
    let github = GitHub::start(false).await;
    let stranger = Stranger::new("main");
    github.back.has_branches_of(&stranger.at("origin.git"));
    let url = http_remote::serve(stranger.at("")) + "/origin.git";
    let token = stranger.at("home/github.token");
    fs::write(&token, "token_of_carson").unwrap();
    fs::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
    let init = format!(
        "carson init --forge github --slug acme/widget --api-base {} --token-file ~/github.token; carson labels bootstrap",
        github.base
    );
    stranger.begins(&url, &init);
    let pulls = github.all("pulls?state=open").await;
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    let head = pulls[0]["head"]["ref"].as_str().unwrap();
    assert!(head.starts_with("carson/implementer/"), "{pulls:#?}");
    let labels = github.all("issues/1/labels").await;
    assert_eq!(labels[0]["name"], "carson:pr-open", "{labels:#?}");
}

/// Says at once what is missing, leaves nothing, and the same line works once it is there.
#[test]
fn without_an_agent_cli_it_says_what_is_missing_and_goes_on_once_it_is_there() {
    let stranger = Stranger::new("main");
    let (claude, later) = (stranger.at("bin/claude"), stranger.at("later"));
    fs::rename(&claude, &later).unwrap();
    let began = Instant::now();
    // Whatever CLIs this machine has.
    let said = stranger.types(
        "c=$(command -v carson); PATH=/usr/bin:/bin; carson() { \"$c\" \"$@\"; }\n\
         git clone --quiet ../origin.git src/widget && cd src/widget\n\
         carson init 2>&1 && exit 1; test ! -e ~/.carson || exit 1\n\
         carson doctor 2>&1 && exit 1; carson status 2>&1 && exit 1\n\
         ls -A ~ > ../../before; carson fire implementer --dry-run 2>&1 || exit 1\n\
         ls -A ~ | diff - ../../before && test ! -e ~/.carson",
    );
    for line in [
        "no agent CLI is installed",
        "`carson demo` shows Carson at work without any",
        "agents.installed: none of claude, codex, gemini, opencode is on PATH",
        "run `carson init`, or name another home with --home",
        // The look ahead needs neither: it shows the life of a firing, and what would stop it.
        "this is what `carson init` would make here, with an issue made up; nothing of it is kept",
        "work starts from main; issues are files",
        "implementer: would be skipped: preflight: account.claude.program: the claude CLI claude of account claude",
        "#1 An example: say in the README what this is for",
        "stages: plan → review → execute → verify → diff-review",
        "prompt of the plan session:",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    // There is nothing to bring back into a home that is not there.
    assert!(!said.contains("init --role"), "{said}");
    println!(
        "no CLI: {:.1} s to what is missing",
        began.elapsed().as_secs_f64()
    );
    fs::rename(&later, &claude).unwrap();
    stranger.types("rm -rf src/widget");
    let origin = stranger.at("origin.git");
    stranger.begins(&origin.display().to_string(), "carson init");
}

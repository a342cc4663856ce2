//! The crew around a pull request on GitHub: it is reviewed, mended and merged once, whatever is lost on the way
//! and whoever dies.

use std::fs;

use carson_tests::SetClock;
use carson_tests::fleet::TestFleet;
use chrono::TimeDelta;
use serde_json::{Value, json};

use super::front::Fault;
use super::whole::Scene;
use crate::crew::fixer::MENDS;
use crate::crew::planner::upkeep_later;
use crate::crew::whole::REVIEWS;
use crate::crew::{ends, fire, member, reason};

/// What a role does not wait for.
const AT_ONCE: &str = "work = { min_age = \"0s\" }\n";

/// A session that has nothing against what it reads.
const APPROVES: &str = "printf '{\"version\":1,\"effects\":[{\"kind\":\"review\",\"pull\":%s,\"head\":\"%s\",\"verdict\":\"approve\",\"body\":\"Fine.\"}]}' \
    \"$CARSON_WORK\" \"$(git rev-parse HEAD)\" >\"$CARSON_OUTBOX\"; echo '[OK] reviewed'";

/// What may become of any request.
const ILLS: [Fault; 5] = [
    Fault::BadGateway,
    Fault::TooMany,
    Fault::LostAnswer,
    Fault::LostInGateway,
    Fault::Late,
];

/// A fleet that reviews so, mends and may merge.
async fn begin(reviews: &str) -> Scene {
    let scene = Scene::begin().await;
    let fleet = &scene.fleet;
    let often = "[limits]\nmax_firings_per_day = 100\n";
    member(fleet, "reviewer", reviews, &format!("{AT_ONCE}{often}"));
    let stages = "stages = [\"execute\"]\n";
    member(fleet, "fixer", MENDS, &format!("{stages}{AT_ONCE}{often}"));
    fleet.role_of_kind("merger", &[], &format!("{AT_ONCE}{often}"));
    let settings = fleet.home().join("carson.toml");
    let text = fs::read_to_string(&settings).unwrap();
    let allowed = "[repos.widget]\npolicy = { merge = true }\n";
    fs::write(&settings, text.replace("[repos.widget]\n", allowed)).unwrap();
    scene
}

/// A pull request of the fleet's, and its branch.
async fn open(scene: &Scene) -> (u64, String) {
    scene.issue("Work", "To do.", &["for:hand"]).await;
    let row = ends(&scene.fleet, "hand", "OK");
    let number = row["pr_number"].as_u64().unwrap();
    let branch = pull(scene, number).await["head"]["ref"].clone();
    (number, branch.as_str().unwrap().to_owned())
}

async fn pull(scene: &Scene, number: u64) -> Value {
    let path = format!("pulls/{number}");
    scene.github.does("acme", "GET", &path, &Value::Null).await
}

/// What the fleet said of whole commits.
async fn reviews(scene: &Scene, number: u64) -> Vec<Value> {
    let path = format!("pulls/{number}/reviews?per_page=100");
    let mut all = scene.github.all(&path).await;
    all.retain(|one| one["user"]["login"] == "carson-bot");
    all
}

/// A check of a commit ends so.
async fn check(scene: &Scene, sha: &str, conclusion: &str) {
    let run = json!({
        "name": "build", "head_sha": sha, "status": "completed", "conclusion": conclusion,
        "completed_at": "2026-01-01T00:01:00Z",
    });
    scene.github.does("acme", "POST", "check-runs", &run).await;
}

/// A person says yes or no to a pull request.
async fn judges(scene: &Scene, number: u64, event: &str) {
    let path = format!("pulls/{number}/reviews");
    let review = json!({"event": event, "body": "So."});
    scene.github.does("ann", "POST", &path, &review).await;
}

/// A person's commit of long ago on top of a branch, which is nowhere yet.
fn commit_on(fleet: &TestFleet, branch: &str) -> String {
    let tip = fleet.tip(branch);
    let tree = fleet.git(&["rev-parse", &format!("{tip}^{{tree}}")]);
    let who = "Operator <operator@localhost> 1780000000 +0000";
    let tree = tree.trim();
    let text = format!("tree {tree}\nparent {tip}\nauthor {who}\ncommitter {who}\n\nBy a person\n");
    let file = fleet.root().join("commit");
    fs::write(&file, text).unwrap();
    let made = fleet.git(&["hash-object", "-t", "commit", "-w", file.to_str().unwrap()]);
    made.trim().to_owned()
}

fn moves(fleet: &TestFleet, branch: &str, to: &str) {
    let _ = fleet.git(&["update-ref", &format!("refs/heads/{branch}"), to]);
}

/// How many commits this one has that the other has not.
fn ahead(fleet: &TestFleet, of: &str, commit: &str) -> usize {
    let count = fleet.git(&["rev-list", "--count", &format!("{of}..{commit}")]);
    count.trim().parse().unwrap()
}

/// It finds nothing to do, for this reason.
fn leaves(fleet: &TestFleet, role: &str, why: &str) {
    let before = fleet.tip("main");
    let row = ends(fleet, role, "SILENT");
    assert!(reason(&row).contains(why), "{why}: {row:#}");
    assert_eq!(fleet.tip("main"), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn each_commit_is_reviewed_once_whoever_looks_and_whatever_is_lost() {
    let scene = begin(APPROVES).await;
    let (fleet, front) = (&scene.fleet, &scene.github.front);
    let roles = fleet.home().join("roles");
    fs::create_dir(roles.join("second")).unwrap();
    fs::copy(
        roles.join("reviewer/role.toml"),
        roles.join("second/role.toml"),
    )
    .unwrap();
    let (number, branch) = open(&scene).await;
    for (at, ill) in ILLS.into_iter().enumerate() {
        front.fail("POST", "/reviews", ill);
        ends(fleet, "reviewer", "OK");
        upkeep_later(fleet);
        assert_eq!(front.unmet(), [], "{ill:?}");
        let all = reviews(&scene, number).await;
        assert_eq!(all.len(), at + 1, "{ill:?}: {all:#?}");
        let (tip, last) = (fleet.tip(&branch), &all[at]);
        assert_eq!(last["commit_id"], tip, "{ill:?}");
        let body = last["body"].as_str().unwrap();
        assert!(
            body.contains(&format!("Reviewed-head-sha: {tip}")),
            "{body}"
        );
        leaves(fleet, "second", "is reviewed");
        leaves(fleet, "reviewer", "is reviewed");
        moves(fleet, &branch, &commit_on(fleet, &branch));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn what_stands_against_it_is_mended_and_answered_once_whatever_is_lost() {
    let scene = begin(APPROVES).await;
    let (fleet, github) = (&scene.fleet, &scene.github);
    let (number, branch) = open(&scene).await;
    leaves(fleet, "fixer", "nothing stands against it");
    for (at, ill) in ILLS.into_iter().enumerate() {
        let before = fleet.tip(&branch);
        github.back.status(&before, "lint", "pending");
        leaves(fleet, "fixer", "its checks have not ended");
        github.back.status(&before, "lint", "failure");
        check(&scene, &before, "failure").await;
        github.back.say(number, "Why not a month?");
        let reply = "addPullRequestReviewThreadReply";
        github.front.fail("POST", reply, ill);
        let row = ends(fleet, "fixer", "OK");
        upkeep_later(fleet);
        assert_eq!(github.front.unmet(), [], "{ill:?}");
        assert_eq!(row["pr_number"], number, "{ill:?}");
        // On the same branch, on top of what was there.
        let after = fleet.tip(&branch);
        assert_eq!(ahead(fleet, &before, &after), 1, "{ill:?}");
        assert_eq!(pull(&scene, number).await["head"]["sha"], after);
        let said = github.back.said_by("carson-bot", number);
        assert_eq!(said.len(), at + 1, "{ill:?}: {said:?}");
        let fixed = format!("Fixed in {after}");
        assert!(said[at].contains(&fixed), "{ill:?}: {said:?}");
        let told = github.all(&format!("issues/{number}/comments")).await;
        let told = told.iter().filter(|one| {
            let body = one["body"].as_str().unwrap();
            body.contains(&fixed)
        });
        assert_eq!(told.count(), 1, "{ill:?}");
        leaves(fleet, "fixer", "nothing stands against it");
    }
    assert_eq!(github.all("pulls?state=all").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn what_anything_stands_against_is_not_merged_and_what_moved_at_the_last_moment_neither() {
    let scene = begin(APPROVES).await;
    let (fleet, github) = (&scene.fleet, &scene.github);
    let (number, branch) = open(&scene).await;
    let head = fleet.tip(&branch);
    leaves(fleet, "merger", "nobody has reviewed its newest commit");
    ends(fleet, "reviewer", "OK");
    leaves(fleet, "merger", "no check was run on it");
    check(&scene, &head, "failure").await;
    leaves(fleet, "merger", "its check build failed");
    check(&scene, &head, "success").await;
    github.back.say(number, "Why not a month?");
    leaves(fleet, "merger", "1 of its review threads are open");
    github.back.settle(number);
    judges(&scene, number, "REQUEST_CHANGES").await;
    leaves(fleet, "merger", "ann asked for changes");
    judges(&scene, number, "APPROVE").await;
    let other = commit_on(fleet, &branch);
    moves(fleet, &branch, &other);
    leaves(fleet, "merger", "commits that the fleet did not push");
    moves(fleet, &branch, &head);

    // Somebody pushes between the last look and the merge: GitHub itself refuses it.
    let main = fleet.tip("main");
    let file = fleet.remote().join("refs/heads").join(&branch);
    let push = move || fs::write(file, other).unwrap();
    github.front.before("PUT", "/merge", push);
    let row = ends(fleet, "merger", "PARTIAL");
    assert!(reason(&row).starts_with("not merged: "), "{row:#}");
    assert_eq!(fleet.tip("main"), main);
    assert_eq!(pull(&scene, number).await["merged"], false);
    moves(fleet, &branch, &head);
    leaves(fleet, "merger", "it is tried again at");

    let named = ["fire", "merger", "--work", &number.to_string(), "--json"];
    assert_eq!(reason(&fleet.ok(&named)), "1 merge");
    let merged = pull(&scene, number).await;
    assert_eq!(
        (&merged["merged"], &merged["head"]["sha"]),
        (&json!(true), &json!(head))
    );
    assert_eq!(merged["merge_commit_sha"], fleet.tip("main"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn exactly_the_reviewed_commit_is_merged_once_whatever_is_lost() {
    let scene = begin(APPROVES).await;
    let (fleet, front) = (&scene.fleet, &scene.github.front);
    for ill in ILLS {
        let (number, branch) = ready(&scene).await;
        let (main, head) = (fleet.tip("main"), fleet.tip(&branch));
        front.fail("PUT", "/merge", ill);
        let row = ends(fleet, "merger", "OK");
        assert_eq!(reason(&row), "1 merge", "{ill:?}");
        assert_eq!(front.unmet(), [], "{ill:?}");
        is_merged_once(&scene, (number, &branch), &main).await;
        assert_eq!(fleet.tip(&branch), head, "{ill:?}");
        leaves(fleet, "merger", "no work found");
    }
    let done = scene
        .github
        .all("issues?state=closed&labels=carson:done")
        .await;
    assert_eq!(done.len(), ILLS.len(), "{done:#?}");
}

/// A pull request against which nothing stands.
async fn ready(scene: &Scene) -> (u64, String) {
    let (number, branch) = open(scene).await;
    check(scene, &scene.fleet.tip(&branch), "success").await;
    ends(&scene.fleet, "reviewer", "OK");
    (number, branch)
}

/// One commit came into the base since then, with all that the branch had.
async fn is_merged_once(scene: &Scene, (number, branch): (u64, &str), main: &str) {
    let fleet = &scene.fleet;
    assert_eq!(pull(scene, number).await["merged"], true);
    let now = fleet.tip("main");
    assert_eq!(ahead(fleet, main, &now), 1);
    let _ = fleet.git(&["diff", "--exit-code", &now, &format!("refs/heads/{branch}")]);
}

/// Kills a role after each of its writes, each time over work of its own; then it is gone on with to the end.
async fn dies_after_each(role: &str) {
    let scene = begin(APPROVES).await;
    let mut writes = 1;
    let mut at = 0;
    while at <= writes {
        let (number, branch) = work_of(&scene, role).await;
        let (main, head) = (scene.fleet.tip("main"), scene.fleet.tip(&branch));
        if at == 0 {
            let before = scene.github.front.writes();
            ends(&scene.fleet, role, "OK");
            writes = scene.github.front.writes() - before;
        } else {
            assert!(scene.killed_after(role, at), "{at} of {writes}");
            goes_on(&scene, role, at);
        }
        match role {
            "reviewer" => assert_eq!(reviews(&scene, number).await.len(), 1, "{at}"),
            "fixer" => {
                let said = scene.github.back.said_by("carson-bot", number);
                assert_eq!(said.len(), 1, "{at}: {said:?}");
                let after = scene.fleet.tip(&branch);
                assert_eq!(ahead(&scene.fleet, &head, &after), 1, "{at}");
            }
            _ => is_merged_once(&scene, (number, &branch), &main).await,
        }
        at += 1;
    }
    assert!(writes > 0);
}

/// What there is for one to do.
async fn work_of(scene: &Scene, role: &str) -> (u64, String) {
    if role == "merger" {
        return ready(scene).await;
    }
    let (number, branch) = open(scene).await;
    if role == "fixer" {
        check(scene, &scene.fleet.tip(&branch), "failure").await;
        scene.github.back.say(number, "Why not a month?");
    }
    (number, branch)
}

/// Who comes next concludes it, and does what is left.
fn goes_on(scene: &Scene, role: &str, at: usize) {
    for _ in 0..4 {
        upkeep_later(&scene.fleet);
        if fire(&scene.fleet, role)["work"].is_null() {
            return;
        }
    }
    panic!("after {at}: it goes on for ever");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_reviewer_that_is_killed_after_any_write_reviews_once() {
    dies_after_each("reviewer").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_fixer_that_is_killed_after_any_write_mends_and_answers_once() {
    dies_after_each("fixer").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_merger_that_is_killed_after_any_write_merges_once() {
    dies_after_each("merger").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn from_issue_to_merge_on_a_github_that_is_ill_nothing_is_there_twice() {
    let mut scene = begin(REVIEWS).await;
    let (fleet, mut clock) = SetClock::of(scene.fleet);
    scene.fleet = fleet;
    let main = scene.fleet.tip("main");
    scene.issue("Work", "To do.", &["for:hand"]).await;
    scene.github.front.is_ill(16);
    let mut merged = false;
    for at in 0..20 {
        if at == 15 {
            scene.github.front.is_well();
        }
        for role in ["hand", "reviewer", "fixer", "merger"] {
            let _ = fire(&scene.fleet, role);
        }
        upkeep_later(&scene.fleet);
        let Some(pull) = scene.github.all("pulls?state=all").await.pop() else {
            continue;
        };
        merged = !pull["merged_at"].is_null();
        if merged {
            break;
        }
        check(&scene, pull["head"]["sha"].as_str().unwrap(), "success").await;
        clock.set_ahead(TimeDelta::hours(at + 1));
    }
    assert!(merged);
    let pulls = scene.github.all("pulls?state=all").await;
    assert_eq!(pulls.len(), 1, "{pulls:#?}");
    assert_eq!(ahead(&scene.fleet, &main, &scene.fleet.tip("main")), 1);
    let number = pulls[0]["number"].as_u64().unwrap();
    // A no, and a yes once it was mended.
    let said = reviews(&scene, number).await;
    assert_eq!(said.len(), 2, "{said:#?}");
    assert_ne!(said[0]["commit_id"], said[1]["commit_id"]);
    assert_eq!(said[1]["commit_id"], pulls[0]["head"]["sha"]);
}

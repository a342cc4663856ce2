//! Accounts of a fleet, and what of it a verb writes.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use carson_core::admission::{Block, UsageWindow};
use carson_core::{BlockKind, Stage};
use carson_home::Home;
use carson_store::BlockSetter;
use chrono::TimeDelta;
use tempfile::TempDir;

use super::*;
use crate::refusal::Refusal;
use crate::tests::home_with;
use crate::verb::Ask;

const MORE: &str = "[accounts.codex]\nengine = \"codex\"\nmodel = \"gpt-5\"\n\
     [accounts.spare]\nengine = \"claude\"\nenv = { ANTHROPIC_API_KEY = \"sk-x\" }\n\
     [repos.widget]\nurl = \"/nowhere/widget.git\"\nforge = \"local\"\n";

async fn home() -> (TempDir, Home) {
    home_with(MORE, &[("hand", "hand:ready")]).await
}

fn set(accounts: &[&str], stage: Option<&str>) -> Set {
    Set {
        role: "hand".to_owned(),
        accounts: accounts.iter().map(ToString::to_string).collect(),
        stage: stage.map(str::to_owned),
        model: None,
        effort: None,
        reset: false,
    }
}

/// The home as the next command finds it.
fn again(home: &Home) -> Home {
    let fleet = carson_home::testing::fleet(&home.fleet.layout.root).unwrap();
    Home {
        fleet: std::sync::Arc::new(fleet),
        ..home.clone()
    }
}

#[tokio::test]
async fn a_route_is_written_and_a_model_stays_with_its_vendor() {
    let (_dir, home) = home().await;
    let review = Some("review");
    let done = Set {
        model: Some("claude-opus-5".into()),
        effort: Some("high".into()),
        ..set(&["spare"], review)
    };
    let done = done.answer(&home).await.unwrap();
    assert!(done.changed && done.file == "roles/hand/role.toml");
    assert_eq!(
        (done.before.accounts.len(), done.stage),
        (0, Some(Stage::Review))
    );
    assert_eq!(done.now.model.as_deref(), Some("claude-opus-5"));

    let home = again(&home);
    let same = set(&["claude", "spare"], review)
        .answer(&home)
        .await
        .unwrap();
    assert_eq!(same.now.effort.as_deref(), Some("high"));
    let home = again(&home);
    let other = set(&["codex"], review).answer(&home).await.unwrap();
    assert_eq!(other.before.model.as_deref(), Some("claude-opus-5"));
    assert_eq!((other.now.model, other.now.effort), (None, None));
    let home = again(&home);
    let reset = Set {
        reset: true,
        ..set(&[], review)
    };
    let reset = reset.answer(&home).await.unwrap();
    assert_eq!(reset.now, Uses::default());
    let all = set(&["codex", "claude"], None)
        .answer(&again(&home))
        .await
        .unwrap();
    assert_eq!(all.now.accounts.len(), 2);
    let same = set(&["codex", "claude"], None)
        .answer(&again(&home))
        .await
        .unwrap();
    assert!(!same.changed);
}

#[tokio::test]
async fn what_cannot_be_meant_is_refused_and_nothing_is_written() {
    let (dir, home) = home().await;
    let file = dir.path().join("roles/hand/role.toml");
    let before = fs::read_to_string(&file).unwrap();
    let with = |change: fn(&mut Set)| {
        let mut ask = set(&[], None);
        change(&mut ask);
        ask
    };
    let cases = [
        (
            set(&["clod"], None),
            "there is no account \"clod\"",
            "there are: claude, codex, spare",
        ),
        (
            set(&["codex"], Some("reveiw")),
            "there is no stage with accounts of its own \"reveiw\"",
            "diff-review",
        ),
        (set(&[], None), "nothing is to be changed", "which accounts"),
        (
            with(|ask| ask.role = "foot".into()),
            "there is no role \"foot\"",
            "there are: hand",
        ),
        (
            with(|ask| ask.model = Some("m".into())),
            "model: it is that of a stage",
            "",
        ),
        (
            with(|ask| ask.effort = Some("low".into())),
            "effort: it is that of a stage",
            "",
        ),
        (
            with(|ask| ask.reset = true),
            "reset: say of which stage",
            "",
        ),
        (
            with(|ask| {
                ask.stage = Some("execute".into());
                ask.effort = Some("enormous".into());
            }),
            "knows no effort \"enormous\"",
            "name other accounts",
        ),
        (
            set(&["codex", "codex"], None),
            "named twice",
            "name other accounts",
        ),
    ];
    for (ask, says, hint) in cases {
        let refusal: Refusal = ask.answer(&home).await.unwrap_err();
        assert!(refusal.to_string().contains(says), "{refusal}");
        assert!(refusal.is_of_the_ask(), "{refusal}");
        let told = refusal.hint().unwrap_or_default();
        assert!(told.contains(hint), "{refusal}: {told}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
}

#[tokio::test]
async fn an_account_tells_what_stands_in_its_way_and_who_uses_it() {
    let (_dir, home) = home().await;
    let home = {
        set(&["codex", "claude"], Some("review"))
            .answer(&home)
            .await
            .unwrap();
        again(&home)
    };
    let now = home.clock.now();
    let block = Block {
        account: "codex".parse().unwrap(),
        until: Some(now + TimeDelta::hours(2)),
        reason: "not reached".into(),
        kind: Some(BlockKind::Outage),
    };
    let by = BlockSetter::Firing(carson_core::FiringId::new());
    home.store.set_block(&block, by, now).await.unwrap();
    let window = UsageWindow {
        account: "claude".parse().unwrap(),
        name: "five_hour".into(),
        utilization: 0.4,
        resets_at: Some(now - TimeDelta::minutes(1)),
        seen_at: now - TimeDelta::hours(1),
    };
    home.store.note_window(&window).await.unwrap();

    let lines = Status {}.answer(&home).await.unwrap();

    let names: Vec<&str> = lines.iter().map(|line| line.account.as_str()).collect();
    assert_eq!(names, ["claude", "codex", "spare"]);
    let (claude, codex, spare) = (&lines[0], &lines[1], &lines[2]);
    assert_eq!(codex.outage, Some(OutageState::Waits));
    assert_eq!(codex.blocks[0].reason, "not reached");
    assert!(claude.blocks.is_empty() && claude.outage.is_none());
    assert!(!claude.windows[0].stands, "it has started again");
    let health = |word: &Option<Word>| word.as_ref().map(|word| word.health);
    assert_eq!(health(&spare.sign_in), Some(carson_checks::Health::Ok));
    assert_eq!(health(&claude.sign_in), Some(carson_checks::Health::Error));
    let of = |line: &AccountLine, stage: Stage| {
        line.used_by
            .iter()
            .find(|place| place.stage == stage)
            .and_then(|place| place.order)
    };
    assert_eq!(
        (of(codex, Stage::Review), of(codex, Stage::Execute)),
        (Some(1), None)
    );
    assert_eq!(
        (of(claude, Stage::Review), of(claude, Stage::Execute)),
        (Some(2), Some(1))
    );
    assert!(spare.used_by.is_empty());
}

#[tokio::test]
async fn programs_are_found_asked_and_judged() {
    let programs = tempfile::tempdir().unwrap();
    let program = |name: &str, says: &str| {
        let path = programs.path().join(name);
        fs::write(&path, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    };
    let old = program("old-codex", "codex-cli 0.1.0");
    program("codex", "codex-cli 99.0.0");
    let more = format!(
        "[accounts.old]\nengine = \"codex\"\nbinary = {old:?}\n\
         [accounts.any]\nengine = \"command\"\nbinary = \"nowhere-to-be-found\"\n"
    );
    let (_dir, home) = home_with(&more, &[]).await;
    let mut path = programs.path().as_os_str().to_owned();
    path.push(":/usr/bin:/bin");
    let home = Home {
        environ: vec![("PATH".into(), path)],
        ..home
    };

    let lines = List {}.answer(&home).await.unwrap();

    let of = |engine: &str| lines.iter().find(|line| line.engine == engine).unwrap();
    let codex: Vec<_> = of("codex").programs.iter().collect();
    let found: Vec<Option<&str>> = codex.iter().map(|one| one.version.as_deref()).collect();
    assert_eq!(found, [None, Some("99.0.0")], "{codex:#?}");
    let problem = codex[0].problem.as_deref().unwrap();
    assert!(problem.contains("is version 0.1.0"), "{problem}");
    assert!(codex[0].remedy.is_some() && codex[1].problem.is_none());
    assert!(
        codex[1]
            .measured
            .as_ref()
            .is_some_and(|one| !one.oldest.is_empty())
    );
    let any = &of("command").programs[0];
    assert_eq!(
        any.problem.as_deref(),
        Some("nowhere-to-be-found is not installed")
    );
    assert_eq!(any.accounts[0].as_str(), "any");
    // What nobody uses is no problem where it is missing.
    let agent = &of("agent").programs[0];
    assert!(agent.path.is_none() && agent.problem.is_none());
    assert!(of("rehearsal").programs[0].version.is_some());
}

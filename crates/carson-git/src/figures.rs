//! Times, for people: `cargo test -p carson-git --release figures -- --ignored --nocapture`.
use crate::fixture::{World, git, write};
use std::time::Instant;

async fn lap(files: usize, rounds: usize) {
    let world = World::bare();
    let seed = world.seed();
    for at in 0..files {
        write(
            &seed.join(format!("d{}/f{at}.txt", at % 60)),
            format!("line {at}\n").repeat(40),
        );
    }
    if files > 0 {
        git(&seed, ["add", "--all"]);
        git(&seed, ["commit", "--quiet", "-m", "Many"]);
        git(&seed, ["push", "--quiet", "../origin.git", "main"]);
    }
    world.mirror.refresh().await.unwrap();
    let mut times: Vec<(&str, Vec<f64>)> = Vec::new();
    let mut note = |name: &'static str, since: Instant| {
        let ms = since.elapsed().as_secs_f64() * 1e3;
        match times.iter_mut().find(|(known, _)| *known == name) {
            Some((_, list)) => list.push(ms),
            None => times.push((name, vec![ms])),
        }
    };
    for round in 0..rounds {
        let t = Instant::now();
        let tree = world.worktree(&format!("r{round}")).await;
        note("1 set-up", t);
        let t = Instant::now();
        tree.facts().await.unwrap();
        note("2 facts, clean", t);
        let t = Instant::now();
        tree.is_salvaged().await.unwrap();
        note("3 gate, clean", t);
        tree.put("a.txt", format!("{round}"));
        tree.commit_as_session("Work");
        let t = Instant::now();
        tree.facts().await.unwrap();
        note("4 facts, one commit", t);
        let t = Instant::now();
        tree.facts().await.unwrap();
        note("5 facts, seen", t);
        tree.put("b.txt", format!("{round}"));
        let t = Instant::now();
        tree.snapshot("x").await.unwrap();
        note("6 snapshot", t);
        let tip = tree.tip().await.unwrap();
        world
            .mirror
            .keep_ref(&format!("f{round}"), &tip)
            .await
            .unwrap();
        let t = Instant::now();
        tree.remove().await.unwrap();
        note("7 remove", t);
    }
    for (name, mut list) in times {
        list.sort_by(f64::total_cmp);
        eprintln!(
            "{files:>5} files  {name:<22} p50 {:>7.1} ms  min {:>7.1}",
            list[list.len() / 2],
            list[0]
        );
    }
}

#[tokio::test]
#[ignore = "figures"]
async fn figures() {
    lap(0, 30).await;
    lap(3000, 10).await;
}

//! A whole firing whose agent commits one file, in a small repository and in a large one, beside the
//! same git work by hand.

use std::path::Path;
use std::time::Duration;

use super::Figure;
use super::disk::{self, TOGETHER};
use super::sample::Sample;
use super::scene::Bench;

/// A worktree by hand, and nothing else.
const WORKTREE: &str =
    "git -C \"$1\" worktree add --quiet -b \"$3\" \"$2\" refs/remotes/origin/main";
/// It goes again.
const REMOVED: &str = "git -C \"$1\" worktree remove --force \"$2\"";

/// Repositories: what they are called, how many files they have, how often is fired in them.
const PLACES: [(&str, usize, usize); 2] = [("10 files", 10, 20), ("57,000 files", LARGE, 3)];

/// Files of the large one.
const LARGE: usize = 57_000;

/// Measures firings in both, with and without a promise.
///
/// # Errors
/// When something cannot be built or started, or a firing did not end OK.
pub fn measure(carson: &Path) -> anyhow::Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, files, runs) in PLACES {
        println!("bench: {runs} firings in a repository of {name}, thrice");
        let (by_hand, worktree) = by_hand(carson, files, runs)?;
        let mut ready = Vec::new();
        for role in ["plain", "promised", "reviewed"] {
            // Each in a home of its own: git looks at every branch and pack that those before it left.
            let bench = Bench::new(carson, files)?;
            // The first ones clone, and judge the base.
            bench.fire(role)?;
            bench.fire(role)?;
            let ours = sample(runs, |_| {
                let (took, workspace) = bench.fire(role)?;
                ready.push(workspace);
                Ok(took)
            })?;
            figures.push(Figure {
                what: match role {
                    "plain" => "a firing, whole process",
                    "promised" => "the same with a promise (`true`), in its clean room",
                    _ => "the same with plan, review and diff review, too",
                },
                got: format!("{name}: {ours}"),
                target: "",
                beside: format!(
                    "by hand: {by_hand} (a firing takes {:.1}x)",
                    by_hand.ratio(&ours)
                ),
            });
            if files == LARGE && role == "reviewed" {
                println!("bench: {TOGETHER} workspaces of it at once");
                figures.push(disk::measure(&bench)?);
            }
        }
        let ready = Sample::new(ready);
        figures.push(Figure {
            what: "its workspace is ready",
            got: format!("{name}: {ready}"),
            target: "p50 at most 50 ms",
            beside: format!(
                "git worktree add: {worktree} (ours takes {:.2}x)",
                worktree.ratio(&ready)
            ),
        });
    }
    Ok(figures)
}

/// The same git work without Carson, and its worktree alone.
fn by_hand(carson: &Path, files: usize, runs: usize) -> anyhow::Result<(Sample, Sample)> {
    let bench = Bench::new(carson, files)?;
    let by_hand = sample(runs, |number| bench.by_hand(number))?;
    let worktree = sample(runs, |number| {
        let (branch, at) = (format!("tree-{number}"), bench.root.join("by-hand"));
        let took = bench.shell(WORKTREE, &at, &branch)?;
        bench.shell(REMOVED, &at, &branch)?;
        Ok(took)
    })?;
    Ok((by_hand, worktree))
}

fn sample(
    runs: usize,
    mut once: impl FnMut(usize) -> anyhow::Result<Duration>,
) -> anyhow::Result<Sample> {
    (0..runs)
        .map(&mut once)
        .collect::<anyhow::Result<_>>()
        .map(Sample::new)
}

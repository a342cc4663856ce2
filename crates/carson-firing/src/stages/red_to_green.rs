//! Whether a change was needed: the tests that it adds or alters are run on the base, too, in a clean room
//! with nothing of the work but them. Those that fail there and pass on the work say what it is good for.
//!
//! Nobody is stopped by a runner that is not there: then it is not known, and the pull request says so.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use carson_bench::bench::Bench;
use carson_config::Unproven;
use carson_core::settle::Halt;
use carson_core::work::WorkKey;
use carson_core::{Proof, Stage};
use carson_git::{ChangedTest, Seen, TestRunner};
use carson_home::halt::OrBroken;
use carson_proc::inspector::{Bounds, Desk};
use carson_proc::{Finished, StopReason};
use tracing::{info, warn};

use super::facts::Findings;
use super::verify::{described_line, in_short, keep_output};
use crate::clean_rooms::{self, Holds};
use crate::ctx::Ctx;
use crate::placed::Placed;
use crate::record::Record;
use crate::room_command::RoomCommand;
use crate::test_results::{Compare, Compared};

/// Bytes of what a runner prints, from its head and from its tail: what is longer is not read.
const KEEP: usize = 2 << 20;
/// Runs on each of base and work.
const RUNS: usize = 8;
/// Tests that are named.
const NAMED: usize = 5;
/// How long the comparison may take.
const WITHIN: Duration = Duration::from_secs(20);

/// Finds it out of work that is finished otherwise.
pub(crate) async fn run(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    mut found: Findings,
) -> Result<Findings, Halt> {
    let asked = &placed.taken.repo.red_to_green;
    // Tests of what is there pass on the base, too.
    let is_tester = ctx.role.coverage.is_some();
    if asked.unproven == Unproven::Off || is_tester || !found.is_finished() {
        return Ok(found);
    }
    let seen = placed.place.inspect().await;
    let seen = seen.or_broken("looking at the worktree")?;
    if seen.facts().commits == 0 {
        return Ok(found);
    }
    found.proof = match seen.tests().iter().any(|test| test.is_test) {
        false => Proof::NoTests,
        true => {
            ctx.enter(Stage::Verify).await;
            prove(ctx, rec, placed, &seen).await?
        }
    };
    info!(firing.id = %ctx.id, proof = ?found.proof, "tests were run on the base");
    if found.proof.is_missing() && asked.unproven == Unproven::Draft {
        found.must_prove = is_fix(ctx, placed).await;
    }
    Ok(found)
}

/// Whether the issue's labels ask for a fix. A forge that does not answer now has not said so.
async fn is_fix(ctx: &Ctx<'_>, placed: &Placed<'_, '_>) -> bool {
    let taken = placed.taken;
    let WorkKey::Issue(number) = taken.work.key else {
        return false;
    };
    let fixes = &taken.repo.red_to_green.fixes;
    match taken.forge.issue(number).await {
        Ok(issue) => fixes.iter().any(|label| issue.has(label)),
        Err(error) => {
            warn!(firing.id = %ctx.id, work.issue = number, %error, "nobody knows whether the issue asks for a fix");
            false
        }
    }
}

/// One call of a runner.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    /// Whose output it is; `None` for the operator's own line, of which only the exit is known.
    runner: Option<TestRunner>,
    line: String,
    args: Vec<String>,
}

impl Call {
    /// What people call it.
    fn told(&self) -> &str {
        match self.runner {
            Some(runner) => name(runner),
            None => &self.line,
        }
    }
}

async fn prove(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &mut Placed<'_, '_>,
    seen: &Seen,
) -> Result<Proof, Halt> {
    let asked = &placed.taken.repo.red_to_green;
    let calls = match calls(seen.tests(), asked.run.as_deref()) {
        Ok(calls) => calls,
        Err(why) => return Ok(Proof::Unable(why)),
    };
    let until = Instant::now() + asked.timeout.min(ctx.remaining());
    let (base, tip) = (placed.place.worktree.base.clone(), seen.tip().clone());
    let on_base = Holds {
        commit: &base,
        tests: seen.tests(),
    };
    let mut printed = String::new();
    let mut all = Vec::new();
    for (place, holds) in [("the base", on_base), ("the work", Holds::only(&tip))] {
        let room = match clean_rooms::ready(ctx, rec, placed, seen, holds).await {
            Ok(Ok(room)) => room,
            Ok(Err(said)) => return Ok(Proof::Unable(format!("on {place} {}", in_short(&said)))),
            // The work is what it is, whatever keeps its tests from being laid over the base.
            Err(Halt::Broken(why)) => return Ok(Proof::Unable(why)),
            Err(halt) => return Err(halt),
        };
        let mut ran = Vec::new();
        for call in &calls {
            let done = made(ctx, rec, placed, (call, &room, place, until)).await?;
            let words = described_line(ctx, &call.line, &done);
            printed.push_str(&format!("on {place}: {words}\n"));
            keep_output(ctx, rec, "red-to-green", &printed);
            if let Some(stopped) = done.stopped {
                return Ok(Proof::Unable(no_end(ctx, (call, stopped), place)));
            }
            ran.push((done, words));
        }
        all.push(ran);
    }
    let [on_base, on_work] = all.as_slice() else {
        return Ok(Proof::NotAsked);
    };
    let mut ends = Vec::new();
    for ((call, (base, _)), (work, said)) in calls.iter().zip(on_base).zip(on_work) {
        let compared = match call.runner {
            None => None,
            Some(runner) => match compare(ctx, seen, (runner, base, work)).await {
                Ok(compared) => Some(compared),
                Err(why) => return Ok(Proof::Unable(why)),
            },
        };
        ends.push(Ends {
            base: base.success(),
            work: work.success(),
            said: in_short(said),
            compared,
        });
    }
    Ok(concluded(&ends))
}

/// How a call ended on both.
struct Ends {
    base: bool,
    work: bool,
    /// The end of what it printed on the work.
    said: String,
    /// What it said of each test, where that is known.
    compared: Option<Compared>,
}

/// What all calls have shown.
fn concluded(all: &[Ends]) -> Proof {
    let known = || all.iter().filter_map(|one| one.compared.as_ref());
    // What fails nowhere as a whole says of no test that it fails.
    let failed = all.iter().filter(|one| !one.base);
    let failed: Vec<&Compared> = failed.filter_map(|one| one.compared.as_ref()).collect();
    let tests = failed.iter().map(|one| one.red).sum();
    if tests > 0 {
        let names = failed.iter().flat_map(|one| one.names.clone());
        let names = names.take(NAMED).collect();
        return Proof::Red { tests, names };
    }
    // Nor does one that passes as a whole.
    let broken = all.iter().filter(|one| !one.work);
    let broken = broken.filter_map(|one| one.compared.as_ref());
    let failing = broken.map(|one| one.failing).sum();
    if failing > 0 {
        return Proof::Failing(failing);
    }
    if let Some(bad) = all.iter().find(|one| !one.work) {
        return Proof::Unable(bad.said.clone());
    }
    if all.iter().any(|one| one.compared.is_none() && !one.base) {
        return Proof::RedCommand;
    }
    if known().any(|one| one.unbuilt > 0) {
        return Proof::Unbuilt;
    }
    match known().all(|one| one.pass == 0) && known().next().is_some() {
        true => Proof::Unable("the runner names no test that passes".to_owned()),
        false => Proof::Green,
    }
}

/// How the tests are run, the same on base and work; why not.
fn calls(tests: &[ChangedTest], own: Option<&str>) -> Result<Vec<Call>, String> {
    let tests = tests.iter().filter(|test| test.is_test);
    if let Some(line) = own {
        return Ok(vec![Call {
            runner: None,
            line: line.to_owned(),
            args: tests.map(|test| format!("./{}", test.path)).collect(),
        }]);
    }
    let mut asked: BTreeMap<(TestRunner, &str), Vec<&Vec<String>>> = BTreeMap::new();
    for test in tests {
        let Some(run) = &test.run else {
            return Err(format!(
                "no runner is known for {}: set red_to_green.run of the repository",
                test.path
            ));
        };
        let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !Path::new(&run.dir).components().all(plain) {
            return Err(format!("{} is no directory of the repository", run.dir));
        }
        let asks = asked.entry((run.runner, &run.dir)).or_default();
        if !asks.contains(&&run.asks) {
            asks.push(&run.asks);
        }
    }
    if asked.len() > RUNS {
        return Err(format!("it changes tests of more than {RUNS} packages"));
    }
    let calls = asked.into_iter().map(|((runner, dir), asks)| Call {
        runner: Some(runner),
        line: format!("cd \"./$1\" && shift && {}", line_of(runner)),
        args: std::iter::once(dir.to_owned())
            .chain(asks.into_iter().flatten().cloned())
            .collect(),
    });
    Ok(calls.collect())
}

/// What is run of each: it says of every test how it went, in words that [`Compare`] knows.
fn line_of(runner: TestRunner) -> &'static str {
    match runner {
        TestRunner::Cargo => "cargo test --no-fail-fast \"$@\" 2>&1",
        TestRunner::Pytest => {
            "if [ -x .venv/bin/python ]; then python=.venv/bin/python; else python=python3; fi && \
             \"$python\" -m pytest -q -rfEp --color=no --tb=no --show-capture=no \
             -o cache_dir=\"${TMPDIR:-/tmp}/pytest\" \"$@\""
        }
        TestRunner::Jest => {
            "npm_config_update_notifier=false npx --no-install jest --ci --json --runTestsByPath \"$@\""
        }
        TestRunner::Vitest => {
            "npm_config_update_notifier=false npx --no-install vitest run --reporter=json \"$@\""
        }
        TestRunner::Go => "go test -json \"$@\"",
    }
}

async fn made(
    ctx: &Ctx<'_>,
    rec: &mut Record,
    placed: &Placed<'_, '_>,
    (call, room, place, until): (&Call, &Bench, &str, Instant),
) -> Result<Finished, Halt> {
    let command = RoomCommand {
        line: &call.line,
        args: call.args.clone(),
        told: &format!("{} on {place}, for red to green", call.told()),
        within: until.saturating_duration_since(Instant::now()),
        keep: KEEP,
    };
    command.run(ctx, rec, placed, room).await
}

/// Why it is not known how a call ends.
fn no_end(ctx: &Ctx<'_>, (call, stopped): (&Call, StopReason), place: &str) -> String {
    let who = call.told();
    match stopped {
        StopReason::WallClock if ctx.remaining().is_zero() => {
            format!("the firing's own time ended while {who} ran on {place}")
        }
        StopReason::WallClock => format!(
            "{who} did not end in time on {place}; red_to_green.timeout is for base and work together"
        ),
        StopReason::OutputCap => format!("{who} printed too much on {place}"),
        stopped => format!("{who} was stopped on {place} ({stopped:?})"),
    }
}

fn name(runner: TestRunner) -> &'static str {
    match runner {
        TestRunner::Cargo => "cargo",
        TestRunner::Pytest => "pytest",
        TestRunner::Jest => "Jest",
        TestRunner::Vitest => "Vitest",
        TestRunner::Go => "go",
    }
}

async fn compare(
    ctx: &Ctx<'_>,
    seen: &Seen,
    (runner, base, work): (TestRunner, &Finished, &Finished),
) -> Result<Compared, String> {
    if work.stdout.is_truncated() || base.stdout.is_truncated() {
        return Err(format!("{} printed too much to be read", name(runner)));
    }
    let own = seen.dir().ok_or("the bench is gone")?;
    let question = Compare {
        runner,
        base: base.stdout.text(),
        work: work.stdout.text(),
    };
    let desk = Desk {
        own: own.to_owned(),
        ..Desk::default()
    };
    let bounds = Bounds {
        wall_clock: WITHIN,
        memory_mb: 512,
        file_size_mb: 1,
        answer: 64 << 10,
    };
    let compared = ctx.home.inspector.ask(&question, &desk, &bounds).await;
    compared.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use carson_git::{TestPart, TestRun};

    use super::*;

    fn test(path: &str, run: Option<(TestRunner, &str, &[&str])>) -> ChangedTest {
        ChangedTest {
            path: path.to_owned(),
            part: TestPart::File,
            is_test: true,
            run: run.map(|(runner, dir, asks)| TestRun {
                runner,
                dir: dir.to_owned(),
                asks: asks.iter().map(|ask| (*ask).to_owned()).collect(),
            }),
        }
    }

    #[test]
    fn a_runner_is_called_once_in_each_package() {
        let lib = Some((TestRunner::Cargo, "", &["--lib"][..]));
        let tests = [
            test("src/a.rs", lib),
            test("src/b.rs", lib),
            test(
                "tests/c.rs",
                Some((TestRunner::Cargo, "", &["--test", "c"])),
            ),
            test(
                "py/test_d.py",
                Some((TestRunner::Pytest, "py", &["./test_d.py"])),
            ),
        ];
        let found = calls(&tests, None).unwrap();
        let args: Vec<_> = found.iter().map(|call| call.args.join(" ")).collect();
        assert_eq!(args, [" --lib --test c", "py ./test_d.py"]);
        let own = calls(&tests, Some("make tests")).unwrap();
        assert_eq!(own.len(), 1);
        assert_eq!(own[0].args[0], "./src/a.rs");
        let unknown = calls(&[test("spec/a_spec.rb", None)], None).unwrap_err();
        assert!(
            unknown.contains("spec/a_spec.rb") && unknown.contains("red_to_green.run"),
            "{unknown}"
        );
    }

    #[test]
    fn what_is_red_counts_before_what_could_not_be_run() {
        let ends = |base, work, (pass, red, unbuilt, failing)| Ends {
            base,
            work,
            said: "it broke".into(),
            compared: Some(Compared {
                pass,
                red,
                names: vec!["a".into(); red as usize],
                unbuilt,
                failing,
            }),
        };
        let command = |base, work| Ends {
            compared: None,
            ..ends(base, work, (0, 0, 0, 0))
        };
        let red = |tests: u32| Proof::Red {
            tests,
            names: vec!["a".into(); tests as usize],
        };
        for (all, proof) in [
            (
                vec![
                    ends(false, true, (9, 2, 0, 0)),
                    ends(false, true, (9, 1, 4, 0)),
                ],
                red(3),
            ),
            // Others in the same files fail as they did.
            (vec![ends(false, false, (9, 1, 0, 2))], red(1)),
            // The base as a whole does not fail: what is printed proves nothing.
            (vec![ends(true, true, (9, 1, 0, 0))], Proof::Green),
            (vec![ends(false, false, (9, 0, 0, 1))], Proof::Failing(1)),
            (vec![ends(true, true, (9, 0, 0, 1))], Proof::Green),
            (
                vec![
                    ends(false, true, (9, 0, 4, 0)),
                    ends(true, true, (1, 0, 0, 0)),
                ],
                Proof::Unbuilt,
            ),
            (vec![ends(true, true, (9, 0, 1, 0))], Proof::Unbuilt),
            (vec![ends(true, true, (9, 0, 0, 0))], Proof::Green),
            (vec![command(false, true)], Proof::RedCommand),
            (vec![command(true, true)], Proof::Green),
            (
                vec![command(false, false)],
                Proof::Unable("it broke".into()),
            ),
            (
                vec![ends(true, true, (0, 0, 0, 0))],
                Proof::Unable("the runner names no test that passes".into()),
            ),
        ] {
            assert_eq!(concluded(&all), proof);
        }
    }
}

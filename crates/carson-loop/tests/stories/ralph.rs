//! ralph-loop's contract (SEEDS.md), case by case, with a Codex that is a script.

mod bench;
mod table;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use bench::Bench;
use carson_loop::stories::ralph::findings;
use carson_proc::{Cancel, ProcessId};

#[tokio::test]
async fn table() {
    for case in table::cases() {
        let bench = Bench::new(&case);
        let name = case.name;
        let ran = bench
            .run(&case.words, &case.env, case.codex, &Cancel::new())
            .await;
        let all = format!("{}{}", ran.output, ran.errors);
        assert_eq!(ran.code, case.code, "{name}\n{all}");
        for said in case.says {
            assert!(all.contains(said), "{name}: {said:?}\n{all}");
        }
        for unsaid in case.never {
            assert!(!all.contains(unsaid), "{name}: {unsaid:?}\n{all}");
        }
        let events = bench.read(".runtime/events.log");
        for event in case.events {
            assert!(events.contains(event), "{name}: {event:?}\n{events}");
        }
        for (file, text) in case.files {
            let there = bench.read(file);
            assert!(there.contains(text), "{name}: {file}\n{there}");
        }
        for file in case.gone {
            assert!(!bench.has(file), "{name}: {file}");
        }
        let stories = bench.stories();
        for (id, state) in case.stories {
            assert_eq!(
                stories.get(*id).map(String::as_str),
                Some(*state),
                "{name}: {id}"
            );
        }
        if !case.says.iter().any(|said| said.contains("lock is a link")) {
            assert!(!bench.has(".runtime/.run.lock"), "{name}");
        }
        // Prompts and messages are gone, whatever became of the run; words that nobody knows leave no state at all.
        let left = fs::read_dir(bench.root.join(".runtime"))
            .into_iter()
            .flatten()
            .map(|one| one.unwrap().file_name());
        let left: Vec<_> = left
            .filter(|name| name.to_string_lossy().contains("-00"))
            .collect();
        assert!(left.is_empty(), "{name}: {left:?}");
        assert!(!bench.has(".carson"), "{name}");
    }
}

/// One table for a PRD and for plans of Carson's own: `stories check` and a run say the same.
#[tokio::test]
async fn letters_that_nobody_sees_are_refused() {
    let case = table::audit();
    let bench = Bench::new(&case);
    let words = ["--validate-prd".to_owned()];
    let run = async || bench.run(&words, &[], "none", &Cancel::new()).await;
    for letter in [
        "\u{200b}",
        "\u{200d}",
        "\u{2060}",
        "\u{feff}",
        "\u{ad}",
        "\u{200e}",
        "\u{61c}",
        "\u{2028}",
        "\u{e0041}",
        "\u{202e}",
        "\u{2066}",
        "\u{7f}",
        "\u{85}",
    ] {
        bench.set("stories/0/title", &format!("\"a{letter}b\""));
        let ran = run().await;
        assert_eq!(ran.code, 1, "{letter:?}: {}", ran.output);
        let said = "disallowed hidden/control/bidi characters (first paths): stories.0.title";
        assert!(ran.errors.contains(said), "{letter:?}: {}", ran.errors);
        assert_eq!(
            findings(&bench.root.join("prd.json")).unwrap().len(),
            1,
            "{letter:?}"
        );
    }
    bench.set("stories/0/title", "\"a\\tb\\nc \u{e9}\"");
    let ran = run().await;
    assert_eq!(ran.code, 0, "{}", ran.errors);
}

/// Who keeps the PRD elsewhere, and leads there by a link, finds there what became of the stories.
#[tokio::test]
async fn a_prd_that_is_a_link_is_written_where_it_leads() {
    let bench = Bench::new(&table::audit());
    let (prd, real) = (bench.root.join("prd.json"), bench.root.join("real.json"));
    fs::rename(&prd, &real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.json", &prd).unwrap();
    let ran = bench
        .run(&["1".to_owned()], &[], "report x", &Cancel::new())
        .await;
    assert_eq!(ran.code, 0, "{}", ran.errors);
    assert!(fs::symlink_metadata(&prd).unwrap().is_symlink());
    let found = fs::symlink_metadata(&real).unwrap();
    assert!(found.is_file());
    assert_eq!(found.permissions().mode() & 0o777, 0o640);
    assert!(bench.read("real.json").contains("\"passes\": true"));
}

/// A title of two lines is one line of the list.
#[tokio::test]
async fn a_list_is_a_line_for_each_story() {
    let bench = Bench::new(&table::audit());
    bench.set("stories/0/title", "\"a\\tb\\nc\"");
    let words = ["--list-stories".to_owned()];
    let ran = bench.run(&words, &[], "none", &Cancel::new()).await;
    let lines: Vec<&str> = ran
        .output
        .lines()
        .filter(|line| line.contains('\t'))
        .collect();
    assert!(
        lines.iter().all(|line| line.split('\t').count() == 4),
        "{lines:?}"
    );
    assert!(lines[0].ends_with("\ta b c"), "{lines:?}");
}

/// The prompt is what Codex reads, and its words are the ones that ralph-loop gives it.
#[tokio::test]
async fn what_codex_is_called_with() {
    let case = table::fixing();
    let bench = Bench::new(&case);
    let script = r#"printf '%s\n' "$@" > "$OUT/argv"; cp "$OUT/prompt" "$OUT/kept"; echo "$CODEX_INTERNAL_ORIGINATOR_OVERRIDE $PWD" > "$OUT/env"; report x"#;
    let words = ["--search", "--model", "m", "--reasoning-effort", "low", "1"].map(str::to_owned);
    let env = [("RALPH_REQUIRE_EXTERNAL_REFERENCES_ON_SEARCH", "false")];
    let ran = bench.run(&words, &env, script, &Cancel::new()).await;
    assert_eq!(ran.code, 0, "{}{}", ran.output, ran.errors);
    let out = |name: &str| fs::read_to_string(bench.outside().join(name)).unwrap();
    let (argv, root) = (out("argv"), bench.root.display());
    let argv: Vec<&str> = argv.lines().collect();
    let right = format!(
        "-a never --search exec -C {root} -s workspace-write -m m -c model_reasoning_effort=\"low\" --output-last-message"
    );
    assert_eq!(argv[..argv.len() - 1].join(" "), right);
    assert!(
        argv[argv.len() - 1].contains("/.runtime/.last-message.FIX-001."),
        "{argv:?}"
    );
    assert_eq!(out("env"), format!("codex_cli_rs {root}\n"));
    let prompt = out("kept");
    for part in [
        "Mode: fixing\n",
        "Story ID: FIX-001\n",
        "Output report path: audit/FIX-001.md\n",
        "- `docs/**`\n",
        "# The policy",
    ] {
        assert!(prompt.contains(part), "{part:?}: {prompt}");
    }
}

#[tokio::test]
async fn a_call_that_hangs_gets_sigint_and_its_children_end_with_it() {
    let case = table::audit();
    let bench = Bench::new(&case);
    let script = r#"trap 'echo int > "$OUT/signal"; exit 3' INT; setsid sleep 1000 & echo $! > "$OUT/pid"; while :; do sleep 0.02; done"#;
    let env = [("CODEX_TIMEOUT_SECONDS", "1")];
    let ran = bench
        .run(&["1".to_owned()], &env, script, &Cancel::new())
        .await;
    assert_eq!(ran.code, 1);
    assert!(ran.errors.contains("rc=124"), "{}", ran.errors);
    let out = |name: &str| fs::read_to_string(bench.outside().join(name)).unwrap();
    assert_eq!(out("signal"), "int\n");
    assert_eq!(ProcessId::of(out("pid").trim().parse().unwrap()), None);
}

#[tokio::test]
async fn a_signal_ends_it_with_130_and_gives_the_lock_back() {
    let case = table::audit();
    let bench = Bench::new(&case);
    let (cancel, marker) = (Cancel::new(), bench.outside().join("there"));
    let stopping = async {
        while !marker.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let script = r#"touch "$OUT/there"; exec sleep 1000"#;
    let words = ["1".to_owned()];
    let (ran, ()) = tokio::join!(bench.run(&words, &[], script, &cancel), stopping);
    assert_eq!(ran.code, 130);
    assert_eq!(
        ran.errors,
        "[ralph] interrupted\n[ralph] aborted (exit=130)\n"
    );
    assert!(!bench.has(".runtime/.run.lock"));
    assert_eq!(bench.stories()["AUDIT-001"], "open");
}

#[tokio::test]
async fn a_lock_of_somebody_who_lives_is_waited_for() {
    let case = table::audit();
    let bench = Bench::new(&case);
    let lock = bench.root.join(".runtime/.run.lock");
    fs::create_dir_all(&lock).unwrap();
    fs::write(lock.join("pid"), "1\n").unwrap();
    let cancel = Cancel::new();
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let words = ["0".to_owned()];
    let (ran, ()) = tokio::join!(bench.run(&words, &[], "", &cancel), stopping);
    assert_eq!(ran.code, 130);
    let waits = "(pid=1): it is waited for\n";
    assert!(
        ran.errors.matches(waits).count() == 1 && ran.output.is_empty(),
        "{}{}",
        ran.output,
        ran.errors
    );
    assert_eq!(
        fs::read_to_string(lock.join("pid")).unwrap(),
        "1\n",
        "it is left alone"
    );
}

#[tokio::test]
async fn the_branch_that_the_prd_names_is_made_and_checked_out() {
    let case = table::audit();
    let bench = Bench::new(&case);
    bench.git(&["init", "-q", "-b", "main"]).await;
    bench
        .git(&["commit", "-q", "--allow-empty", "-m", "seed"])
        .await;
    let env = [("RALPH_SYNC_BRANCH_FROM_PRD", "true")];
    let words = ["0".to_owned()];
    for (branch, right, event) in [
        (
            "\"ralph/new\"",
            "ralph/new",
            "branch_sync_created branch=ralph/new base=main",
        ),
        (
            "\"ralph/new\"",
            "ralph/new",
            "branch_sync_already_on_target",
        ),
        (
            "\"main\"",
            "main",
            "branch_sync_checked_out_existing branch=main",
        ),
        ("null", "main", ""),
    ] {
        bench.set("branch_name", branch);
        let ran = bench.run(&words, &env, "", &Cancel::new()).await;
        assert_eq!(ran.code == 0, branch != "null", "{branch}: {}", ran.errors);
        assert_eq!(
            bench.git(&["symbolic-ref", "--short", "HEAD"]).await.trim(),
            right
        );
        assert!(bench.read(".runtime/events.log").contains(event), "{event}");
    }
    // A name that git would take for something else.
    bench.set("branch_name", "\"--orphan\"");
    let ran = bench.run(&words, &env, "", &Cancel::new()).await;
    assert!(
        ran.code == 1 && ran.errors.contains("is no name of one"),
        "{}",
        ran.errors
    );
}

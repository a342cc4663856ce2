//! The cases.

/// A repository, a run in it, and what must be so afterwards.
pub struct Case {
    pub name: &'static str,
    pub mode: &'static str,
    /// Stories: id, mode, scope, and what else stands in them.
    pub plan: &'static [(&'static str, &'static str, &'static str, &'static str)],
    /// What else is set in the PRD.
    pub prd: &'static [(&'static str, &'static str)],
    /// Files that are there.
    pub there: &'static [(&'static str, &'static str)],
    pub words: Vec<String>,
    pub env: Vec<(&'static str, &'static str)>,
    /// What Codex does; `report WORDS` leaves a last message, `count` says how often it was called.
    pub codex: &'static str,
    pub code: u8,
    pub says: &'static [&'static str],
    pub never: &'static [&'static str],
    pub events: &'static [&'static str],
    pub files: &'static [(&'static str, &'static str)],
    pub gone: &'static [&'static str],
    pub stories: &'static [(&'static str, &'static str)],
}

const AUDIT: &[(&str, &str, &str, &str)] = &[("AUDIT-001", "audit", "[\"**/*\"]", "{}")];
const FIX: &[(&str, &str, &str, &str)] = &[("FIX-001", "fixing", "[\"docs/**\"]", "{}")];
const MIXED: &[(&str, &str, &str, &str)] = &[
    ("AUDIT-010", "audit", "[\"**/*\"]", "{}"),
    ("AUDIT-002", "audit", "[\"**/*\"]", "{}"),
    ("AUDIT-001", "audit", "[\"**/*\"]", "{\"priority\": 2}"),
    ("FIX-001", "fixing", "[\"docs/**\"]", "{}"),
    ("LINT-001", "linting", "[\"**/*\"]", "{}"),
    (
        "AUDIT-003",
        "audit",
        "[\"**/*\"]",
        "{\"passes\": true, \"report_path\": \"audit/a.md\", \"completed_at\": \"2026-01-02T03:04:05Z\"}",
    ),
    (
        "AUDIT-004",
        "audit",
        "[\"**/*\"]",
        "{\"skipped\": true, \"skip_reason\": \"r\", \"skipped_at\": \"2026-01-02T03:04:05Z\"}",
    ),
];
const TWO_FIXES: &[(&str, &str, &str, &str)] = &[
    ("FIX-001", "fixing", "[\"docs/a/**\"]", "{}"),
    ("FIX-002", "fixing", "[\"docs/b/**\"]", "{}"),
];
const ALL_FIX: &[(&str, &str, &str, &str)] =
    &[("FIX-001", "fixing", "[\"**/*\", \"!**/*.tmp\"]", "{}")];
const LEARN: &[(&str, &str, &str, &str)] = &[(
    "FIX-001",
    "fixing",
    "[\"learnings.md\", \"AGENTS.md\"]",
    "{}",
)];

fn case(
    name: &'static str,
    mode: &'static str,
    plan: &'static [(&'static str, &'static str, &'static str, &'static str)],
) -> Case {
    Case {
        name,
        mode,
        plan,
        prd: &[],
        there: &[],
        words: vec!["1".to_owned()],
        env: Vec::new(),
        codex: "report done",
        code: 0,
        says: &[],
        never: &[],
        events: &[],
        files: &[],
        gone: &[],
        stories: &[],
    }
}

pub fn audit() -> Case {
    case("audit", "audit", AUDIT)
}

pub fn fixing() -> Case {
    case("fixing", "fixing", FIX)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

pub fn cases() -> Vec<Case> {
    [
        runs(),
        reports(),
        scope(),
        failures(),
        search(),
        preflights(),
        files(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Which stories, how many, and what is said.
fn runs() -> Vec<Case> {
    vec![
        Case {
            says: &[
                "[ralph] Processing story 1/1 (AUDIT-001)",
                "<promise>COMPLETE</promise>\n",
                "summary processed=1 passed=1 remaining=0 mode=audit tool=codex",
            ],
            events: &[
                "RUN_START mode=audit tool=codex max_stories=1 sandbox=read-only search=false",
                "STORY_START id=AUDIT-001 mode=audit report=audit/AUDIT-001.md",
                "STORY_COMPLETE id=AUDIT-001 report=audit/AUDIT-001.md",
                "RUN_END processed=1",
            ],
            files: &[
                ("audit/AUDIT-001.md", "# done\n"),
                ("progress.log.md", "UTC | AUDIT-001"),
            ],
            stories: &[("AUDIT-001", "passes audit/AUDIT-001.md")],
            ..case("one story passes", "audit", AUDIT)
        },
        Case {
            words: words(&["2"]),
            codex: r#"report "$(count) $story""#,
            says: &["remaining=1 mode=audit"],
            never: &["COMPLETE"],
            files: &[
                ("audit/AUDIT-002.md", "# 1 AUDIT-002"),
                ("audit/AUDIT-010.md", "# 2 AUDIT-010"),
            ],
            gone: &["audit/AUDIT-001.md"],
            stories: &[
                ("AUDIT-001", "open"),
                ("FIX-001", "open"),
                ("LINT-001", "open"),
                ("AUDIT-003", "passes audit/a.md"),
                ("AUDIT-004", "skipped r"),
            ],
            ..case(
                "by priority, then by id, of one mode, and no more than N",
                "audit",
                MIXED,
            )
        },
        Case {
            words: words(&["0"]),
            codex: "none",
            says: &["start mode=audit tool=codex max_stories=0"],
            events: &["tool dependency check skipped"],
            stories: &[("AUDIT-001", "open")],
            ..case("N of 0 needs no codex", "audit", AUDIT)
        },
        Case {
            codex: "none",
            env: vec![("PATH", "/nowhere")],
            code: 1,
            says: &[
                "[ralph][ERROR] Missing required dependency: codex",
                "[ralph] aborted (exit=1)",
            ],
            ..case("N of 1 needs it", "audit", AUDIT)
        },
        Case {
            words: words(&[]),
            says: &[
                "no N provided; processing all remaining open stories for mode=audit (count=3)",
            ],
            ..case("without N all that are open", "audit", MIXED)
        },
        Case {
            words: words(&[]),
            prd: &[("defaults/max_stories_default", "1")],
            says: &[
                "no N provided; using defaults.max_stories_default=1 for mode=audit",
                "remaining=2",
            ],
            ..case("without N as many as the PRD says", "audit", MIXED)
        },
        Case {
            words: words(&["0"]),
            says: &["mode=linting"],
            ..case("the mode of the PRD", "linting", MIXED)
        },
        Case {
            words: words(&["0"]),
            env: vec![("MODE", "fixing")],
            says: &["mode=fixing tool=codex max_stories=0 sandbox=workspace-write"],
            ..case("a variable is stronger than the PRD", "linting", MIXED)
        },
        Case {
            words: words(&["--mode", "audit", "0"]),
            env: vec![("MODE", "fixing")],
            says: &["mode=audit"],
            ..case("a flag is stronger than a variable", "linting", MIXED)
        },
        Case {
            words: words(&["--list-stories"]),
            says: &[
                "AUDIT-002\t1\taudit\tStory AUDIT-002\nAUDIT-010\t1\taudit\tStory AUDIT-010\nAUDIT-001\t2\taudit\tStory AUDIT-001\n",
            ],
            never: &["FIX-001", "AUDIT-003", "AUDIT-004"],
            ..case("a list of what is open", "audit", MIXED)
        },
        Case {
            words: words(&["--validate-prd"]),
            says: &["[ralph] PRD validation passed."],
            ..case("a PRD that is right", "audit", MIXED)
        },
        Case {
            words: words(&["--validate-prd"]),
            prd: &[("stories/0/scope", "[123]"), ("project", "\"\"")],
            code: 1,
            says: &[
                "Invalid prd.json structure or story constraints",
                "/stories/0/scope/0",
                "/project",
            ],
            ..case("one that is not, with all findings", "audit", MIXED)
        },
        Case {
            words: words(&["0"]),
            prd: &[("stories/0/title", "\"bad\\u202Etitle\"")],
            code: 1,
            says: &["disallowed hidden/control/bidi characters (first paths): stories.0.title"],
            ..case("hidden letters", "audit", AUDIT)
        },
        Case {
            words: words(&["-q", "1"]),
            says: &["<promise>COMPLETE</promise>"],
            never: &["[ralph]"],
            ..case("quiet", "audit", AUDIT)
        },
        Case {
            words: words(&["--nonsense"]),
            code: 1,
            says: &["[ralph][ERROR] Unknown argument: --nonsense"],
            never: &["aborted"],
            ..case("a word that nobody knows", "audit", AUDIT)
        },
        Case {
            words: words(&["0"]),
            there: &[(
                "prd.schema.json",
                r#"{"properties": {}, "$defs": {"defaults": {"required": []}, "story": {"required": [], "properties": {}}, "story_step": {"properties": {}}}}"#,
            )],
            code: 1,
            says: &["Invalid prd.json", "/project: is not known here"],
            ..case("the team's own schema counts", "audit", AUDIT)
        },
    ]
}

/// Where reports may go.
fn reports() -> Vec<Case> {
    const ELSEWHERE: &[(&str, &str, &str, &str)] = &[(
        "AUDIT-001",
        "audit",
        "[\"**/*\"]",
        "{\"acceptance_criteria\": [\"Created docs/new.md with it\"]}",
    )];
    const README: &[(&str, &str, &str, &str)] = &[(
        "AUDIT-001",
        "audit",
        "[\"**/*\"]",
        "{\"acceptance_criteria\": [\"Created README.md with it\"]}",
    )];
    const DOTTED: &[(&str, &str, &str, &str)] = &[(
        "AUDIT-001",
        "audit",
        "[\"**/*\"]",
        "{\"acceptance_criteria\": [\"Created `././audit/x.md` with it\"]}",
    )];
    vec![
        Case {
            there: &[("audit/AUDIT-001.md", "old")],
            files: &[("audit/AUDIT-001.md", "# done")],
            ..case("a report under report_dir is overwritten", "audit", AUDIT)
        },
        Case {
            code: 1,
            says: &["Report path must stay under defaults.report_dir (audit): docs/new.md"],
            gone: &["docs/new.md"],
            ..case("outside of it none may stand", "audit", ELSEWHERE)
        },
        Case {
            env: vec![("RALPH_SKIP_AFTER_FAILURES", "1")],
            code: 1,
            stories: &[("AUDIT-001", "open")],
            ..case(
                "and that is no failure to be skipped after",
                "audit",
                ELSEWHERE,
            )
        },
        Case {
            env: vec![("RALPH_STRICT_REPORT_DIR", "false")],
            files: &[("docs/new.md", "# done")],
            ..case("unless it is not strict", "audit", ELSEWHERE)
        },
        Case {
            words: words(&["--no-strict-report-dir", "1"]),
            code: 1,
            says: &["Refusing to overwrite existing non-report file: README.md"],
            files: &[("README.md", "base\n")],
            ..case("but then no other file is overwritten", "audit", README)
        },
        Case {
            files: &[("audit/x.md", "# done")],
            stories: &[("AUDIT-001", "passes audit/x.md")],
            ..case("./ and backticks mean nothing", "audit", DOTTED)
        },
        Case {
            there: &[("audit", "-> elsewhere"), ("../elsewhere/there", "")],
            code: 1,
            says: &["Report path resolves outside repository: audit/AUDIT-001.md"],
            gone: &["../elsewhere/AUDIT-001.md"],
            stories: &[("AUDIT-001", "open")],
            ..case("links are followed, and none leads out", "audit", AUDIT)
        },
    ]
}

/// What a fix may change.
fn scope() -> Vec<Case> {
    vec![
        Case {
            codex: "echo ok >> docs/allowed.md; mkdir -p docs/a/b; echo x > docs/a/b/c; report fixed",
            events: &["INFO fixing_state_method=full requested=auto"],
            files: &[("docs/allowed.md", "ok")],
            stories: &[("FIX-001", "passes audit/FIX-001.md")],
            ..case("a fix within its scope", "fixing", FIX)
        },
        Case {
            codex: "mkdir src; echo x > src/outside.txt; report fixed",
            code: 1,
            says: &["Story FIX-001 modified files outside scope:\n- src/outside.txt"],
            files: &[("src/outside.txt", "x")],
            gone: &["audit/FIX-001.md"],
            stories: &[("FIX-001", "open")],
            ..case(
                "one outside ends the run, and its files stay",
                "fixing",
                FIX,
            )
        },
        Case {
            codex: "echo x >> .env; report fixed",
            there: &[(".gitignore", ".env\n")],
            code: 1,
            says: &["outside scope:\n- .env"],
            ..case("what git ignores counts", "fixing", FIX)
        },
        Case {
            codex: "mkdir src; echo x > src/outside.txt; exit 9",
            env: vec![("RALPH_SKIP_AFTER_FAILURES", "1")],
            code: 1,
            says: &["modified files outside scope"],
            never: &["exec failed"],
            stories: &[("FIX-001", "open")],
            ..case("even when the tool failed", "fixing", FIX)
        },
        Case {
            words: words(&["2"]),
            env: vec![("RALPH_SKIP_AFTER_FAILURES", "1")],
            codex: "if [ $story = FIX-001 ]; then mkdir -p docs/a; echo half > docs/a/half; exit 9; fi; mkdir -p docs/b; echo x > docs/b/x; report fixed",
            stories: &[
                ("FIX-001", "skipped Skipped after 1 failed runs (last_rc=9)"),
                ("FIX-002", "passes audit/FIX-002.md"),
            ],
            ..case(
                "what a skipped story left is no change of the next one",
                "fixing",
                TWO_FIXES,
            )
        },
        Case {
            codex: "echo x >> README.md; report fixed",
            ..case("**/* covers what is at the top", "fixing", ALL_FIX)
        },
        Case {
            codex: "echo x >> cache.tmp; report fixed",
            code: 1,
            says: &["- cache.tmp"],
            ..case("and ! takes out", "fixing", ALL_FIX)
        },
        Case {
            codex: "echo x >> docs/allowed.md; report fixed",
            env: vec![("RALPH_FIXING_STATE_METHOD", "full")],
            events: &["fixing_state_method=full requested=full"],
            ..case("all files are looked at where that is said", "fixing", FIX)
        },
        Case {
            codex: "if grep -q 'npm run lint' \"$OUT/prompt\"; then report found; else mkdir -p docs; report none; fi",
            there: &[("package.json", "{\"scripts\": {\"lint\": \"x\"}}")],
            files: &[("audit/FIX-001.md", "")],
            ..case("checks are proposed", "fixing", FIX)
        },
        Case {
            codex: "mkdir src; echo x > src/outside.txt; report looked",
            stories: &[("AUDIT-001", "passes audit/AUDIT-001.md")],
            ..case(
                "what an audit may write is its sandbox's to say",
                "audit",
                AUDIT,
            )
        },
    ]
}

/// A tool that fails, and how often.
fn failures() -> Vec<Case> {
    vec![
        Case {
            codex: "echo 'Authorization: Bearer topsecret-token'; echo 'API_KEY=supersecret' >&2; exit 42",
            code: 1,
            says: &[
                "codex exec failed for story AUDIT-001 (rc=42, see ",
                "[ralph] codex failure excerpt (redacted, last 25 lines):",
                "[ralph][codex] Authorization: Bearer [REDACTED]",
                "API_KEY=[REDACTED]",
            ],
            never: &["topsecret", "supersecret"],
            events: &[
                "STORY_FAIL id=AUDIT-001 mode=audit rc=42",
                "ERROR codex exec failed",
            ],
            files: &[(".runtime/run.log", "[REDACTED]")],
            stories: &[("AUDIT-001", "open")],
            ..case(
                "the first failure ends the run, and no secret is shown",
                "audit",
                AUDIT,
            )
        },
        Case {
            codex: "[ $(count) -ge 2 ] || exit 9; report recovered",
            env: vec![("RALPH_MAX_ATTEMPTS_PER_STORY", "2")],
            events: &[
                "WARN story=AUDIT-001 tool_attempt_failed rc=9 attempt=1 max=2",
                "tool_retry_recovered attempt=2 max=2",
            ],
            files: &[
                ("../count", "x\nx\n"),
                ("audit/AUDIT-001.md", "# recovered"),
            ],
            ..case("as many attempts as it gets", "audit", AUDIT)
        },
        Case {
            codex: "count; exit 9",
            code: 1,
            files: &[("../count", "x\n")],
            ..case("one without being told", "audit", AUDIT)
        },
        Case {
            codex: ": > \"$message\"",
            code: 1,
            says: &["rc=44"],
            events: &["WARN story=AUDIT-001 empty_last_message attempt=1 max=1"],
            ..case("an empty last message is 44", "audit", AUDIT)
        },
        Case {
            codex: "exit 17",
            env: vec![("RALPH_SKIP_AFTER_FAILURES", "2")],
            code: 1,
            says: &["codex exec failed for story AUDIT-001 (rc=17, failure_count=1 skip_after=2)"],
            files: &[(".runtime/.story-failures.tsv", "AUDIT-001\t1\n")],
            stories: &[("AUDIT-001", "open")],
            ..case("failures are counted over runs", "audit", AUDIT)
        },
        Case {
            codex: "exit 17",
            there: &[(".runtime/.story-failures.tsv", "AUDIT-001\t1\n")],
            env: vec![("RALPH_SKIP_AFTER_FAILURES", "2")],
            says: &[
                "skipped after repeated failures (count=2 rc=17)",
                "<promise>COMPLETE</promise>",
            ],
            events: &["STORY_SKIPPED id=AUDIT-001 reason=Skipped after 2 failed runs (last_rc=17)"],
            stories: &[(
                "AUDIT-001",
                "skipped Skipped after 2 failed runs (last_rc=17)",
            )],
            ..case("and a story is skipped after enough", "audit", AUDIT)
        },
        Case {
            codex: "echo 'all is well TOKEN=abc'; report done",
            env: vec![("RALPH_CAPTURE_CODEX_OUTPUT", "true")],
            files: &[(".runtime/run.log", "all is well TOKEN=[REDACTED]\n")],
            ..case(
                "what a tool printed is kept where that is said",
                "audit",
                AUDIT,
            )
        },
    ]
}

/// The search contract.
fn search() -> Vec<Case> {
    let searching = |name, codex, code, says| Case {
        words: words(&["--search", "1"]),
        codex,
        code,
        says,
        ..case(name, "audit", AUDIT)
    };
    vec![
        searching("no section is 41", "report none", 1, &["rc=41"]),
        searching(
            "no link is 42",
            r"printf '# r\n## External References\n' > $message",
            1,
            &["rc=42"],
        ),
        searching(
            "no day is 43",
            r"printf '# r\n## External References\n- https://a.example\n' > $message",
            1,
            &["rc=43"],
        ),
        searching(
            "all of it is right",
            r"printf '# r\n## External References\n- https://a.example 2026-02-17\n' > $message",
            0,
            &["COMPLETE"],
        ),
        Case {
            env: vec![("RALPH_REQUIRE_EXTERNAL_REFERENCES_ON_SEARCH", "false")],
            ..searching("unless nobody asks for it", "report none", 0, &["COMPLETE"])
        },
        Case {
            words: words(&["1"]),
            env: vec![("RALPH_SEARCH_ENABLED_BY_DEFAULT", "true")],
            ..searching("a variable turns it on", "report none", 1, &["rc=41"])
        },
    ]
}

/// What is asked before the first story.
fn preflights() -> Vec<Case> {
    let secret = vec![("OPENAI_API_KEY", "sk-test-secret")];
    vec![
        Case {
            words: words(&["0"]),
            env: secret.clone(),
            says: &[
                "[ralph][WARN] Security preflight detected sensitive environment variables: OPENAI_API_KEY",
            ],
            never: &["sk-test-secret"],
            events: &["WARN security_preflight=detected vars=OPENAI_API_KEY"],
            ..case("secrets in the environment are told", "audit", AUDIT)
        },
        Case {
            words: words(&["--skip-security-check", "0"]),
            env: secret.clone(),
            never: &["Security preflight"],
            events: &["security_preflight=disabled"],
            ..case("unless nobody wants to hear it", "audit", AUDIT)
        },
        Case {
            words: words(&["0"]),
            env: [
                secret,
                vec![("RALPH_SECURITY_PREFLIGHT_FAIL_ON_RISK", "true")],
            ]
            .concat(),
            code: 1,
            says: &[
                "Security preflight blocked run due sensitive environment variables (vars=OPENAI_API_KEY)",
            ],
            never: &["sk-test-secret"],
            ..case("and may end the run", "audit", AUDIT)
        },
        Case {
            words: words(&["--model-preflight", "1"]),
            codex: "if grep -q MODEL_PREFLIGHT_OK \"$OUT/prompt\"; then echo MODEL_PREFLIGHT_OK > $message; else report done; fi",
            events: &["INFO model_preflight_ok tool=codex model=gpt"],
            stories: &[("AUDIT-001", "passes audit/AUDIT-001.md")],
            ..case("a model that answers is asked", "audit", AUDIT)
        },
        Case {
            words: words(&["--model-preflight", "1"]),
            codex: "echo NOT_OK > $message",
            code: 1,
            says: &["Model preflight check returned unexpected output for model=gpt"],
            stories: &[("AUDIT-001", "open")],
            ..case("one that answers something else is not", "audit", AUDIT)
        },
        Case {
            words: words(&["--model-preflight", "1"]),
            codex: "exit 3",
            code: 1,
            says: &["Model preflight check failed (tool=codex model=gpt rc=3)"],
            ..case("nor one that does not", "audit", AUDIT)
        },
    ]
}

/// Learnings, progress, archive, lock.
fn files() -> Vec<Case> {
    let learning = |name, codex, code| Case {
        there: &[
            ("learnings.md", "# Learnings\n"),
            ("AGENTS.md", "# Agents\n"),
        ],
        env: vec![
            ("RALPH_REQUIRE_LEARNING_ENTRY_FOR_FIXING", "true"),
            ("RALPH_AUTO_SYNC_AGENTS_FROM_LEARNINGS", "true"),
        ],
        codex,
        code,
        ..case(name, "fixing", LEARN)
    };
    vec![
        Case {
            says: &["requires at least one new learnings.md entry"],
            gone: &["audit/FIX-001.md"],
            stories: &[("FIX-001", "open")],
            ..learning("a fix without a learning fails", "report fixed", 1)
        },
        Case {
            files: &[("AGENTS.md", "## Learned Patterns\n\n- Note: keep it\n")],
            events: &["INFO agents_synced_from_learnings"],
            stories: &[("FIX-001", "passes audit/FIX-001.md")],
            ..learning(
                "one with it passes, and AGENTS.md has it",
                "echo '- Note: keep it' >> learnings.md; report fixed",
                0,
            )
        },
        Case {
            env: vec![("RALPH_REQUIRE_LEARNING_ENTRY_FOR_FIXING", "true")],
            code: 1,
            says: &["requires learnings.md update, but file is missing"],
            ..case("nor without the file", "fixing", FIX)
        },
        Case {
            env: vec![("RALPH_REQUIRE_LEARNING_ENTRY_FOR_FIXING", "true")],
            codex: "echo '- Note: keep it' >> learnings.md; report fixed",
            stories: &[("FIX-001", "passes audit/FIX-001.md")],
            ..case("who must leave a learning may", "fixing", FIX)
        },
        Case {
            codex: "echo '- Note: keep it' >> learnings.md; report fixed",
            code: 1,
            says: &["outside scope:\n- learnings.md"],
            ..case("and nobody else", "fixing", FIX)
        },
        Case {
            there: &[
                ("../victim", "important"),
                (".runtime/events.log", "-> victim"),
            ],
            code: 1,
            says: &["it is a link"],
            files: &[("../victim", "important")],
            gone: &["audit/AUDIT-001.md"],
            ..case("no link in the place of the events", "audit", AUDIT)
        },
        Case {
            there: &[
                ("../victim", "important"),
                (".runtime/run.log", "-> victim"),
            ],
            code: 1,
            says: &["it is a link"],
            ..case("nor of the log", "audit", AUDIT)
        },
        Case {
            there: &[("../elsewhere/there", ""), (".runtime", "-> elsewhere")],
            code: 1,
            says: &["it is a link"],
            gone: &["../elsewhere/events.log", "../elsewhere/run.log"],
            ..case("nor of the directory of both", "audit", AUDIT)
        },
        Case {
            there: &[
                ("../elsewhere/pid", "2147483000\n"),
                (".runtime/.run.lock", "-> elsewhere"),
            ],
            code: 1,
            says: &["The run lock is a link"],
            files: &[("../elsewhere/pid", "2147483000")],
            ..case("nor of the lock", "audit", AUDIT)
        },
        Case {
            words: words(&["0"]),
            there: &[
                (
                    ".runtime/.prompt.AUDIT-000.0.md",
                    "of a run that was killed",
                ),
                (".runtime/.last-message.AUDIT-000.0.md", "the same"),
            ],
            ..case("what killed runs left goes", "audit", AUDIT)
        },
        Case {
            there: &[("progress.txt", "old")],
            files: &[
                ("progress.txt", "- Stories passed: `1/1`\n"),
                ("progress.txt", "- [x] `AUDIT-001`"),
            ],
            events: &["progress_snapshot_refreshed"],
            ..case(
                "progress.txt is kept up to date where it is",
                "audit",
                AUDIT,
            )
        },
        Case {
            env: vec![("RALPH_AUTO_PROGRESS_LOG_APPEND", "false")],
            gone: &["progress.txt", "progress.log.md"],
            ..case("and not made", "audit", AUDIT)
        },
        Case {
            words: words(&["--auto-archive", "0"]),
            there: &[
                (".runtime/.last-project", "Old one\n"),
                ("audit/a.md", "r"),
                ("learnings.md", "l"),
            ],
            files: &[(".runtime/.last-project", "test\n")],
            events: &["auto_archive_on_project_change previous=Old one current=test"],
            ..case("state is put away when the project changes", "audit", AUDIT)
        },
        Case {
            there: &[(".runtime/.run.lock/pid", "2147483000\n")],
            stories: &[("AUDIT-001", "passes audit/AUDIT-001.md")],
            ..case("a lock of the dead is taken over", "audit", AUDIT)
        },
        Case {
            there: &[(".runtime/.run.lock/pid", "nobody\n")],
            env: vec![("RALPH_STALE_LOCK_NO_PID_SECONDS", "0")],
            ..case("and one without an owner, after a while", "audit", AUDIT)
        },
    ]
}

//! What `--help` says.

pub(super) const USAGE: &str = "\
Usage: ./ralph.sh [N] [OPTIONS]

Does up to N open stories of prd.json, by priority and id; without N as many as defaults.max_stories_default says.
This is Carson in the place of ralph.sh: `carson stories run prd.json --compat ralph -- [N] [OPTIONS]`.

  --mode <mode>              audit | linting | fixing                    MODE
  --tool <tool>              codex                                       RALPH_TOOL
  --search, --no-search      The model may search the web                RALPH_SEARCH_ENABLED_BY_DEFAULT
  --model <model>            Its name                                    RALPH_MODEL, CODEX_MODEL
  --reasoning-effort <level> low | medium | high                         RALPH_REASONING_EFFORT, CODEX_REASONING_EFFORT
  --timeout-seconds <secs>   Of one call; 900, and 0 is no bound         CODEX_TIMEOUT_SECONDS
  --[no-]model-preflight     Ask the model a known question first        RALPH_MODEL_PREFLIGHT
  --[no-]security-preflight  Tell of secrets in the environment          RALPH_SECURITY_PREFLIGHT
  --skip-security-check      The same as --no-security-preflight
  --[no-]auto-archive        Put state away when the project changes     RALPH_AUTO_ARCHIVE_ON_PROJECT_CHANGE
  --[no-]require-learning-entry
                             A fix adds to learnings.md                  RALPH_REQUIRE_LEARNING_ENTRY_FOR_FIXING
  --[no-]sync-branch         Check out the PRD's branch_name             RALPH_SYNC_BRANCH_FROM_PRD
  --[no-]strict-report-dir   Reports stand under defaults.report_dir     RALPH_STRICT_REPORT_DIR
  -q, --quiet; -v, --verbose How much is said                            RALPH_VERBOSITY
  --validate-prd             Only look whether prd.json is right
  --list-stories             Only list what is open, tab-separated
  -h, --help                 This

By variables alone: RALPH_REPO_ROOT, RALPH_MAX_ATTEMPTS_PER_STORY (1), RALPH_SKIP_AFTER_FAILURES (0: never),
RALPH_REQUIRE_EXTERNAL_REFERENCES_ON_SEARCH (true), RALPH_SECURITY_PREFLIGHT_FAIL_ON_RISK (false),
RALPH_CAPTURE_CODEX_OUTPUT (false), RALPH_FIXING_STATE_METHOD (auto | full | git), RALPH_STALE_LOCK_NO_PID_SECONDS (30),
RALPH_AUTO_PROGRESS_LOG_APPEND (true), RALPH_AUTO_PROGRESS_REFRESH (true), RALPH_AUTO_SYNC_AGENTS_FROM_LEARNINGS (false),
CODEX_INTERNAL_ORIGINATOR_OVERRIDE (codex_cli_rs). A flag is stronger than a variable, a variable than prd.json.
";

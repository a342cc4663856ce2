//! Every row, the promises it is about, and the tests that hold it.

/// A row of the table: what it is about, and who holds it: `file::test` of this suite, or
/// `crate: file::test` of a crate.
pub(super) struct Fault {
    pub row: &'static str,
    pub promises: &'static str,
    pub held_by: &'static [&'static str],
}

const fn fault(
    row: &'static str,
    promises: &'static str,
    held_by: &'static [&'static str],
) -> Fault {
    Fault {
        row,
        promises,
        held_by,
    }
}

/// Rows that no test holds yet.
pub(super) const OPEN: [&str; 1] = ["F34"];

pub(super) const TABLE: &[Fault] = &[
    // SIGKILL of the supervisor, of the firing, in every stage.
    fault(
        "F1",
        "P1 P2 P3 P7",
        &[
            "kill::in_preflight",
            "kill::in_pick_with_the_claim",
            "kill::in_workspace_with_a_worktree",
            "kill::in_workspace_with_half_a_worktree",
            "kill::in_execute",
            "kill::in_salvage_before_the_push",
            "kill::in_salvage_after_the_push_before_the_pull_request",
            "kill::in_report_with_a_pull_request_nobody_noted",
            "kill::in_report_with_the_forge_told",
            "kill::in_teardown",
            "kill::within_the_execute_session",
            "kill::no_stage_is_left_out",
            "daemon::a_killed_daemon_leaves_its_firings_to_their_true_outcome",
            "daemon::a_firing_that_died_with_its_daemon_is_concluded_and_done_again",
            "soak::fifty_roles_survive_random_kills",
        ],
    ),
    // SIGKILL of the CLI.
    fault(
        "F2",
        "P1 P2",
        &["faults::agent::f2_a_cli_that_is_killed_leaves_its_work"],
    ),
    // SIGTERM is ignored.
    fault(
        "F3",
        "P2",
        &["faults::agent::f3_a_cli_that_ignores_sigterm_ends_all_the_same"],
    ),
    // Daemons that are left behind.
    fault(
        "F4",
        "P2",
        &[
            "faults::agent::f4_daemons_that_it_leaves_behind_are_ended",
            "hostile::bounds::who_is_left_behind_is_found_and_the_record_says_so",
        ],
    ),
    // A grandchild holds the output.
    fault(
        "F5",
        "P2",
        &[
            "faults::agent::f5_a_grandchild_that_holds_the_output_open_does_not_hold_the_firing",
            "crates/carson-proc/src/run/output_tests.rs::who_holds_the_output_open_holds_nobody_up",
        ],
    ),
    // Standard error that nobody reads.
    fault(
        "F6",
        "P2",
        &["faults::agent::f6_what_nobody_reads_on_stderr_blocks_nobody"],
    ),
    // A flood of output, a line without an end.
    fault(
        "F7",
        "P2",
        &[
            "crates/carson-proc/src/run/output_tests.rs::a_hundred_megabytes_are_read_and_not_kept",
            "crates/carson-proc/src/run/output_tests.rs::a_line_without_an_end_is_cut",
            "crates/carson-proc/src/run/output_tests.rs::too_much_output_stops_it",
            "hostile::bounds::a_flood_of_output_costs_no_memory_and_its_end_is_read",
            "hostile::bounds::more_output_than_allowed_ends_the_session",
        ],
    ),
    // Bytes that are no text; sentinels that are none.
    fault(
        "F8",
        "P4",
        &["faults::agent::f8_bytes_that_are_no_text_change_no_outcome"],
    ),
    // No result.
    fault(
        "F9",
        "P4 P9",
        &["faults::agent::f9_exit_0_with_nothing_is_never_ok"],
    ),
    // Prompts and diffs of megabytes.
    fault(
        "F10",
        "P2",
        &["faults::agent::f10_a_task_and_a_diff_of_megabytes_arrive_whole"],
    ),
    // The disk is full.
    fault(
        "F11",
        "P1 P2",
        &[
            "full_disk::below_the_floor_nothing_is_claimed_it_is_said_once_and_it_goes_on_by_itself",
            "full_disk::a_database_without_room_stops_the_firing_and_loses_nothing",
            "full_disk::without_names_for_more_files_nothing_is_claimed_and_it_goes_on_by_itself",
            "full_disk::room_is_made_of_what_can_be_made_again",
            "hostile::bounds::a_full_disk_ends_in_an_outcome",
            "doctor::preflight::it_is_told_once_and_once_that_it_is_over",
        ],
    ),
    // The forge is ill.
    fault(
        "F12",
        "P1 P3",
        &[
            "crates/carson-forge/src/github/limit_tests.rs::a_short_limit_is_waited_for",
            "crates/carson-forge/src/github/limit_tests.rs::a_long_limit_is_told_at_once_and_nobody_asks_again",
            "crates/carson-forge/src/github/limit_tests.rs::what_a_limit_refused_was_not_made_and_is_made_then",
            "crates/carson-forge/src/github/fault_tests.rs::an_answer_that_breaks_off_is_asked_for_again",
            "crates/carson-forge/src/github/fault_tests.rs::an_answer_that_never_ends_is_given_up_in_time",
            "crates/carson-forge/src/github/fault_tests.rs::an_answer_that_is_too_long_is_not_kept",
            "crates/carson-forge/src/github/fault_tests.rs::what_is_no_json_is_no_answer",
            "crates/carson-forge/src/github/fault_tests.rs::the_token_follows_no_redirect",
            "crates/carson-forge/src/github/fault_tests.rs::what_may_have_been_made_is_not_made_again",
            "kill::what_the_forge_does_not_take_now_is_owed_and_done_later",
        ],
    ),
    // The chat is away for an hour.
    fault(
        "F13",
        "P10",
        &[
            "crates/carson-daemon/src/outbox/tests.rs::after_an_hour_away_everything_arrives_once_and_in_its_order",
            "chat::a_firing_has_one_thread",
        ],
    ),
    // The clock is set.
    fault(
        "F14",
        "P3 P5",
        &[
            "faults::clock::f14_a_clock_that_was_set_back_neither_silences_nor_repeats",
            "faults::clock::f14_a_clock_that_was_set_forward_fires_on",
            "crates/carson-core/src/cadence/tests.rs::clock_jumps_never_repeat_a_slot",
        ],
    ),
    // Summer time, and a machine that slept.
    fault(
        "F15",
        "P3",
        &[
            "faults::clock::f15_a_machine_that_slept_fires_once_for_what_it_missed",
            "crates/carson-core/src/cadence/tests.rs::a_wall_clock_time_keeps_its_hour_over_both_changes",
            "crates/carson-core/src/cadence/tests.rs::a_time_in_the_gap_fires_once_right_after_it",
            "crates/carson-core/src/cadence/tests.rs::a_time_that_exists_twice_fires_once",
            "crates/carson-core/src/cadence/tests.rs::every_half_hour_goes_on_through_the_doubled_hour",
        ],
    ),
    // Three days off.
    fault(
        "F16",
        "P3 P5",
        &[
            "faults::clock::f16_three_days_off_cost_one_firing",
            "chat::a_daemon_that_was_away_for_long_says_so_in_the_chat",
        ],
    ),
    // A run that is longer than its period.
    fault(
        "F17",
        "P3 P5",
        &["faults::clock::f17_a_run_that_is_longer_than_its_period_is_no_failure"],
    ),
    // The database is locked, read-only, corrupt, gone.
    fault(
        "F18",
        "P1 P10",
        &[
            "bad_world::a_database_that_is_no_database_stays_as_it_is",
            "bad_world::a_home_that_cannot_be_written_is_told",
            "keep::a_database_that_is_deleted_under_the_daemon_is_saved_and_can_be_restored",
            "keep::damaged_pages_keep_the_daemon_from_starting",
            "keep::a_locked_database_delays_firings_and_loses_none",
            "tests/tests/machine/read_only.rs::a_disk_that_turns_read_only_stops_firings_and_no_daemon_and_loses_nothing",
        ],
    ),
    // The power goes. These need root and loop devices: `cargo xtask machine` runs them.
    fault(
        "F19",
        "P1 P3",
        &[
            "tests/tests/machine/power.rs::a_fleet_whose_forge_is_elsewhere_survives_power_cuts",
            "tests/tests/machine/power.rs::a_fleet_with_its_own_forge_survives_power_cuts",
            "crates/carson-git/src/stale.rs::locks_of_the_dead_keep_nobody_from_fetching_or_keeping_work",
            "crates/carson-config/src/sources.rs::a_set_that_lost_its_content_is_written_again",
        ],
    ),
    // Two supervisors.
    fault(
        "F20",
        "P3",
        &[
            "daemon::a_second_daemon_is_refused_with_the_name_of_the_first",
            "postgres::of_many_processes_one_fires_on_sqlite",
            "postgres::of_many_processes_one_fires_on_postgres",
            "keep::of_a_hundred_daemons_that_start_together_one_runs_and_is_named_by_the_others",
        ],
    ),
    // Settings break while it runs.
    fault(
        "F21",
        "P10",
        &[
            "daemon::broken_settings_are_said_and_the_last_good_ones_stay",
            "daemon::a_firing_whose_role_was_removed_is_still_concluded",
            "bad_input::every_broken_file_is_told_with_its_place_and_a_way_out",
        ],
    ),
    // The worktree goes, or turns elsewhere.
    fault(
        "F22",
        "P1 P2",
        &[
            "faults::place::f22_a_worktree_that_is_deleted_keeps_its_commits",
            "faults::place::f22_a_session_without_its_worktree_is_stopped",
            "faults::place::f22_a_head_that_moved_keeps_every_commit",
        ],
    ),
    // Locks of git are left behind.
    fault(
        "F23",
        "P1",
        &[
            "faults::place::f23_locks_that_are_left_behind_keep_nothing_from_being_saved",
            "crates/carson-git/src/stale.rs::locks_of_the_dead_keep_nobody_from_fetching_or_keeping_work",
            "crates/carson-git/src/stale.rs::a_lock_stays_while_somebody_works_there",
        ],
    ),
    // The push is refused.
    fault(
        "F24",
        "P1",
        &[
            "faults::place::f24_a_push_that_is_refused_keeps_the_work_here",
            "faults::place::f24_a_branch_that_somebody_took_is_never_overwritten",
            "bad_world::a_branch_that_cannot_be_pushed_keeps_its_work_and_the_issue_its_place",
        ],
    ),
    // No network.
    fault(
        "F25",
        "P5",
        &[
            "bad_world::a_remote_that_is_away_costs_the_work_nothing",
            "doctor::preflight::a_forge_that_does_not_answer_is_nobodys_failure",
            "doctor::preflight::a_refused_firing_asks_no_model",
        ],
    ),
    // A number of a process is given again.
    fault(
        "F26",
        "P3",
        &[
            "crates/carson-proc/src/process_id/tests.rs::we_are_alive_and_the_number_alone_is_not_us",
            "crates/carson-proc/src/process_id/tests.rs::whoever_got_the_number_later_is_not_killed",
        ],
    ),
    // Ten thousand orphans.
    fault(
        "F27",
        "P1",
        &["bulk::very_many_benches_are_pruned_and_none_loses_work"],
    ),
    // The block flag is wrong.
    fault(
        "F28",
        "P6",
        &[
            "crates/carson-store/tests/store/stops.rs::a_block_only_grows_but_for_the_operator",
            "limits::codex_through_command_blocks_its_account_until_the_time_that_it_names",
        ],
    ),
    // Hostile titles.
    fault(
        "F29",
        "P4 P8",
        &["bad_world::hostile_titles_are_only_ever_words"],
    ),
    // Links, filters and settings of the agent's.
    fault(
        "F30",
        "P8",
        &[
            "crates/carson-git/src/snapshot/tests.rs::a_link_in_the_directorys_place_is_not_followed",
            "claude_firing::what_the_repository_wants_to_run_does_not_run",
            "hostile::walls::nothing_outside_is_reached_by_whoever_runs_the_tests",
            "hostile::walls::nothing_outside_is_reached_as_an_ordinary_user",
            "hostile::repository::hooks_submodules_and_planted_filters_do_not_run_outside",
            "hostile::repository::a_worktree_that_leads_elsewhere_harms_only_itself",
        ],
    ),
    // Secrets in what the agent says and commits.
    fault(
        "F31",
        "P8",
        &[
            "secrets::what_a_session_leaks_is_nowhere",
            "secrets::a_secret_that_was_added_and_removed_is_not_pushed",
            "secrets::a_value_of_the_home_is_not_pushed_in_any_form",
        ],
    ),
    // The hook fails.
    fault(
        "F32",
        "P8 P10",
        &[
            "doctor::every_problem_of_a_broken_home_is_told_with_its_remedy",
            "hook_claude::the_cli_itself_lets_calls_run_without_an_answer",
            "hook_claude::a_firing_reports_that_its_hook_failed_open",
            "hook_claude::a_closed_role_stops_at_a_hook_that_is_gone",
            "hooks/pre-tool-use/tests/program.rs::a_stuck_input_ends_by_the_watchdog",
            "hooks/pre-tool-use/tests/program.rs::a_megabyte_is_answered",
        ],
    ),
    // Provider limits.
    fault(
        "F33",
        "P6",
        &[
            "claude_firing::a_used_up_subscription_stops_other_roles_before_they_ask_the_model",
            "claude_firing::a_long_retry_after_blocks_the_account_and_counts_no_attempt",
            "limits::a_limit_at_the_first_session_moves_on_to_the_next_account",
            "limits::a_sign_in_or_a_bill_blocks_until_a_person_acts_and_says_how",
        ],
    ),
    // The judge and the embedder: there is no memory yet.
    fault("F34", "P4", &[]),
    // The CLI asks, or knows no turn cap.
    fault(
        "F35",
        "P2",
        &[
            "faults::agent::f35_a_cli_that_asks_gets_no_answer_and_no_wait",
            "bad_world::claude_code_must_be_new_enough_and_signed_in",
            "claude_firing::the_turn_ceiling_ends_a_session_and_what_it_did_becomes_a_draft",
        ],
    ),
    // The daemon ends with firings alive.
    fault(
        "F36",
        "P1 P2",
        &[
            "daemon::sigterm_ends_the_daemon_and_no_firing",
            "daemon::draining_waits_for_the_firings_and_starts_none",
            "tests/tests/machine/service.rs::it_is_started_when_it_is_ready_and_stops_without_its_sessions",
            "tests/tests/machine/service.rs::a_daemon_that_hangs_is_ended_and_the_next_one_finds_its_firings",
            "tests/tests/machine/service.rs::a_restart_with_a_session_alive_finds_it_again",
        ],
    ),
    // Fork bombs and 20 GB.
    fault(
        "F37",
        "P2 P8",
        &["hostile::bounds::a_fork_bomb_ends_with_its_session"],
    ),
    // Logs and rows without end.
    fault(
        "F38",
        "P2 P10",
        &["crates/carson-store/tests/store/jobs.rs::only_old_rows_go"],
    ),
];

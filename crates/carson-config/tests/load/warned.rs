//! What is allowed and means nothing, or leaves something out without a word.

use std::fs;

use carson_config::{Loaded, load, provenance};

use super::{ROLE, SETTINGS, findings, good_home, options, write};

/// The warnings of a home that loads, each in one line.
fn warnings(home: &std::path::Path) -> Vec<String> {
    let Loaded { warnings, .. } = load(&options(home, &[])).unwrap();
    let shown = |text: String| text.replace(&home.display().to_string(), "HOME");
    let each = warnings.iter().map(|one| shown(one.to_string()));
    each.map(|text| text.replace("\n  ", " ")).collect()
}

#[test]
fn a_fleet_without_roles_is_said() {
    let dir = good_home();
    let roles = dir.path().join("roles");
    assert_eq!(warnings(dir.path()), Vec::<String>::new());

    std::fs::rename(roles.join("implementer"), dir.path().join("away")).unwrap();
    let hint = "hint: `carson init --role implementer` makes the one that comes with Carson; docs/CONFIG.md \
                says how to write one";
    let none = format!("HOME/roles: warning: there is no role in it, so nothing fires {hint}");
    assert_eq!(warnings(dir.path()), std::slice::from_ref(&none));

    // A file in the place of a role's directory is none.
    write(dir.path(), "roles/porter.toml", ROLE);
    let unread = "HOME/roles/porter.toml: warning: it is read by nobody: a role is a directory \
                  hint: move it to HOME/roles/porter/role.toml";
    assert_eq!(warnings(dir.path()), [none, unread.to_owned()]);

    std::fs::remove_dir_all(&roles).unwrap();
    let gone = "HOME/roles: warning: the directory does not exist, so there is no role and nothing \
                fires";
    assert_eq!(warnings(dir.path()), [format!("{gone} {hint}")]);
}

#[test]
fn a_role_whose_directory_is_away_is_a_finding() {
    let dir = good_home();
    let role = dir.path().join("roles/porter");
    std::os::unix::fs::symlink(dir.path().join("not-mounted"), &role).unwrap();
    let found = findings(dir.path());
    let says = "HOME/roles/porter: the role's directory cannot be reached: No such file";
    assert!(found.starts_with(says), "{found}");
}

#[test]
fn a_role_that_verifies_nothing_is_warned_of() {
    let dir = good_home();
    let role = |more: &str| {
        let small = "repos = [\"widget\"]\nengines = [\"claude\"]\n";
        write(
            dir.path(),
            "roles/implementer/role.toml",
            &format!("{small}{more}"),
        );
        warnings(dir.path())
    };
    let says = "\"verify\" has nothing to run: no check says whether the work is done \
                hint: [promise] with run = \"cargo test\", check of the repository, or stages without \"verify\"";
    let file = "HOME/roles/implementer/role.toml";
    // It is among the stages that a role has by default.
    assert_eq!(role(""), [format!("{file}: stages: warning: {says}")]);
    assert_eq!(
        role("stages = [\"execute\", \"verify\"]"),
        [format!("{file}:3: stages: warning: {says}")]
    );
    for sound in ["stages = [\"execute\"]", "[promise]\nrun = \"make test\""] {
        assert_eq!(role(sound), Vec::<String>::new());
    }
}

#[test]
fn bounds_that_contradict_each_other_are_warned_of() {
    let dir = good_home();
    let fleet = "[fleet]\nmax_cost_usd_per_day = 4.0\nmax_cost_usd_per_month = 3.0";
    write(
        dir.path(),
        "carson.toml",
        &SETTINGS.replace("[fleet]", fleet),
    );
    let limits = "[limits]\nsilence = \"1h\"\nmax_cost_usd_per_day = 4.5";
    let role = ROLE
        .replace("[limits]", limits)
        .replace("timeout = \"10m\"", "timeout = \"50m\"");
    write(dir.path(), "roles/implementer/role.toml", &role);
    let found: Vec<String> = warnings(dir.path());
    let found: Vec<&str> = found
        .iter()
        .map(|one| {
            one.split(" hint")
                .next()
                .unwrap()
                .split_once(": ")
                .unwrap()
                .1
        })
        .collect();
    assert_eq!(
        found,
        [
            "fleet.max_cost_usd_per_day: warning: 4 USD is more than fleet.max_cost_usd_per_month (3 USD), which ends it first",
            "limits.silence: warning: 1h is longer than limits.wall_clock (45m), which ends it first",
            "limits.max_cost_usd_per_day: warning: 4.5 USD is more than fleet.max_cost_usd_per_day (4 USD), which ends it first",
            "limits.max_cost_usd: warning: 5 USD is more than limits.max_cost_usd_per_day (4.5 USD), which ends it first",
            "limits.max_cost_usd: warning: 5 USD is more than fleet.max_cost_usd_per_day (4 USD), which ends it first",
            "promise.timeout: warning: 50m is longer than limits.wall_clock (45m), which ends it first",
        ]
    );

    // A default that is longer than a short wall clock is nobody's mistake.
    write(dir.path(), "carson.toml", SETTINGS);
    let short = ROLE
        .replace("\"45m\"", "\"1m\"")
        .replace("timeout = \"10m\"", "");
    write(dir.path(), "roles/implementer/role.toml", &short);
    assert_eq!(warnings(dir.path()), Vec::<String>::new());
}

#[test]
fn a_cron_line_that_never_comes_is_said() {
    let dir = good_home();
    let lines = "cadence = [\n  \"0 0 29 2 *\",\n  \"0 0 31 2 *\",\n  \"0 0 31 2 MON\",\n  \"0 3 31 4,6 *\",\n]";
    let role = ROLE.replace("cadence = [\"*/20 * * * *\"]", lines);
    write(dir.path(), "roles/implementer/role.toml", &role);
    let found = warnings(dir.path());
    let found: Vec<&str> = found
        .iter()
        .filter_map(|one| one.split_once("role.toml:"))
        .map(|(_, rest)| rest)
        .collect();
    let says = |at: &str, line: &str| {
        format!("{at}: warning: {line:?} never comes: the calendar has no such day")
    };
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with(&says("6: cadence.1", "0 0 31 2 *")),
        "{found:?}"
    );
    assert!(
        found[1].starts_with(&says("8: cadence.3", "0 3 31 4,6 *")),
        "{found:?}"
    );
}

#[test]
fn every_wrong_cron_line_is_found_with_its_field() {
    let dir = good_home();
    let lines = "cadence = [\n  \"61 25 * * *\",\n  \"0 7 * * 1-5\",\n  \"0 0 32 * *\",\n  \"0 0 0 1 1 * 2020\",\n]";
    let role = ROLE.replace("cadence = [\"*/20 * * * *\"]", lines);
    write(dir.path(), "roles/implementer/role.toml", &role);
    let found = findings(dir.path());
    for says in [
        "role.toml:5: cadence.0: \"61 25 * * *\" is not a cron line: minute is \"61\", and goes \
         from 0 to 59; hour is \"25\", and goes from 0 to 23\n",
        "role.toml:7: cadence.2: \"0 0 32 * *\" is not a cron line: day is \"32\", and goes from \
         1 to 31, or L\n",
        "role.toml:8: cadence.3: \"0 0 0 1 1 * 2020\" is not a cron line: it has 7 fields, and needs ",
    ] {
        assert!(found.contains(says), "{found}");
    }
}

#[test]
fn a_word_that_is_nearly_one_is_suggested() {
    let dir = good_home();
    let settings = SETTINGS.replace("engine = \"claude\"", "engine = \"cluade\"");
    write(dir.path(), "carson.toml", &settings);
    let role = ROLE.replace("\"verify\",", "\"verfy\",");
    write(
        dir.path(),
        "roles/implementer/role.toml",
        &role.replace("[promise]", "[promise]\n"),
    );
    let settings = fs::read_to_string(dir.path().join("carson.toml")).unwrap();
    let caches = "[repos.widget]\ncaches = [\"npm\", \"crago\"]\n";
    let settings = settings.replace("[repos.widget]\n", caches);
    write(dir.path(), "carson.toml", &settings);
    let found = findings(dir.path());
    for says in [
        "repos.widget.caches: \"crago\" is not one of npm, pnpm, ",
        "hint: did you mean \"cargo\"?",
        "accounts.claude.engine: \"cluade\" is not one of claude, codex, ",
        "hint: did you mean \"claude\"?",
        "stages: \"verfy\" is not a stage to choose\n  hint: did you mean \"verify\"?",
    ] {
        assert!(found.contains(says), "{found}");
    }
}

#[test]
fn roles_are_shown_with_where_each_value_came_from() {
    let dir = good_home();
    let role = ROLE.replace("AWS_PROFILE", "API_TOKEN");
    write(dir.path(), "roles/implementer/role.toml", &role);
    let all = provenance(&options(dir.path(), &[])).unwrap();
    let of = |key: &str| {
        let (value, origin) = &all.0[&format!("roles.implementer.{key}")];
        let origin = origin.to_string();
        let file = origin
            .rsplit_once('/')
            .map_or(origin.as_str(), |(_, file)| file);
        format!("{value} {file}")
    };
    assert_eq!(of("limits.max_attempts"), "3 role.toml:15");
    assert_eq!(of("limits.silence"), "\"15m\" default");
    assert_eq!(of("work.label"), "\"carson:ready\" role.toml:5");
    assert_eq!(of("identity.env.API_TOKEN"), "\"[given]\" role.toml:23");
}

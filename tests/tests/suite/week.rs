//! A week of a household: six roles on their cadences, issues that arrive, a person who answers, and a world
//! in which everything fails once.
//!
//! The hours pass as fast as the work of each is done: when no firing runs any more, the clock is set to just
//! before the next hour ([`SetClock`](carson_tests::SetClock)). Cadences, cooldowns, blocks, lateness and
//! days are what they are in the settings; a firing takes as long as it takes. The daemon, the firings, the forge and
//! git are real, the home lies on a small disk of its own, and the CLI is a script that speaks as Codex does.
//!
//! At the end the books are read: each slot that fired nothing, or whose firing did not do its work, costs the
//! hours to the role's next slot. They are the world's when the world has just then taken away what the firing
//! would have needed, and else they are lost by Carson.
//!
//! The suite plays the first hours of Monday; `cargo xtask week --seed 3` the whole week.

mod books;
mod household;
mod person;
mod plan;
mod small_disk;
mod troubles;
mod world;

use crate::soak;
use books::Books;
use plan::HOURS_OF_THE_SUITE;
use world::World;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

#[test]
fn only_what_the_world_took_away_is_lost() {
    let Some(disk) = small_disk::reached("week::only_what_the_world_took_away_is_lost") else {
        return;
    };
    let hours = setting("CARSON_WEEK_HOURS", HOURS_OF_THE_SUITE);
    let seed = setting("CARSON_WEEK_SEED", 7);
    let mut world = World::begin(&disk, hours, seed);
    for hour in 0..hours {
        world.pass(hour);
    }
    let last = world.drain(hours);
    let rows = world.rows();
    let books = Books::of(&world, &rows, hours);
    println!(
        "{hours} hours and {} until all was done, seed {seed}",
        last - hours
    );
    println!("{books}");

    assert_eq!(books.lost_by_carson(), Vec::<String>::new());
    assert_eq!(soak::lost(&world.fleet, &rows), Vec::<String>::new());
    assert_eq!(
        soak::duplicates(&rows, person::refuses),
        Vec::<String>::new()
    );
    assert_eq!(world.issues_without_a_state(), Vec::<String>::new());
    assert_eq!(world.fleet.descendants(), Vec::<i32>::new());
    assert_eq!(world.fleet.benches(), Vec::<std::path::PathBuf>::new());
    // What was planned has happened.
    assert_eq!(books.faults_without_a_trace(), Vec::<String>::new());
}

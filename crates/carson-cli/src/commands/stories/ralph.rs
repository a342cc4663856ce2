//! `carson stories run --compat ralph`

use std::path::PathBuf;

use carson_core::Clock;
use carson_loop::stories::ralph::{self, Given, To};

use super::until_a_signal;
use crate::args::stories::Run;
use crate::error::CommandError;
use crate::print;

pub async fn run(prd: PathBuf, args: Run) -> Result<u8, CommandError> {
    let given = Given {
        prd,
        policy: args.policy.clone().map(std::path::absolute).transpose()?,
        executor: args.executor.clone(),
        env: std::env::vars_os().collect(),
        cwd: std::env::current_dir()?,
        clock: Clock::system(),
        redactor: print::redactor(),
        cancel: until_a_signal()?,
    };
    let mut say = |to: To, text: &str| match to {
        To::Output => print::line(text),
        To::Error => print::error(text),
    };
    Ok(ralph::run(&words(args), &given, &mut say).await)
}

/// Our own options as ralph.sh's; what follows behind `--` is stronger.
fn words(args: Run) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(args.mode.map(|mode| format!("--mode={mode}")));
    words.extend(args.n.map(|n| n.to_string()));
    words.extend(args.words);
    words
}

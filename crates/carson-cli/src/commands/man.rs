//! `carson man`: the manual, made of what `--help` says.

use std::path::Path;

use clap::CommandFactory as _;

use crate::args::Args;
use crate::error::CommandError;
use crate::print;

/// Prints the page of a command, or writes a page of each into a directory.
pub fn run(command: &[String], into: Option<&Path>) -> Result<u8, CommandError> {
    if let Some(dir) = into {
        let written = clap_mangen::generate_to(Args::command(), dir);
        written.map_err(|error| {
            CommandError::failed(format!("{} cannot be written: {error}", dir.display()))
                .hint("name a directory that is there and is yours")
        })?;
        print::line(&format!("the manual is in {}", dir.display()));
        return Ok(0);
    }
    print::raw(page(command)?.trim_end());
    Ok(0)
}

fn page(command: &[String]) -> Result<String, CommandError> {
    let mut found = Args::command();
    found.build();
    for word in command {
        let next = found.find_subcommand(word).cloned();
        found = next.ok_or_else(|| {
            CommandError::usage(format!("there is no command {:?}", command.join(" ")))
                .hint("carson --help lists them")
        })?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(found)
        .render(&mut text)
        .map_err(|error| CommandError::caused_by(&error))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_a_page_by_its_whole_name() {
        let dir = tempfile::tempdir().unwrap();
        run(&[], Some(dir.path())).unwrap();
        for name in ["carson", "carson-fire", "carson-memory-promote"] {
            let page = std::fs::read_to_string(dir.path().join(format!("{name}.1"))).unwrap();
            assert!(page.contains(".SH SYNOPSIS"), "{name}: {page}");
        }
        let page = page(&["memory".to_owned(), "promote".to_owned()]).unwrap();
        assert!(page.contains("carson memory promote"), "{page}");
        assert!(super::page(&["nothing".to_owned()]).is_err());
    }
}

//! What can be typed, held against what an operator can ask.

use std::collections::BTreeSet;

use carson_operator::VERBS;
use clap::CommandFactory;

use super::Args;

/// Verbs that are typed in another way.
const TYPED: [(&str, &str); 5] = [
    ("firings older", "firings"),
    ("firings show", "firings id"),
    ("timeline", "firings"),
    ("tally", "cost"),
    ("transcript", "show transcript"),
];

/// Commands that are no verbs, and why.
const ONLY_HERE: [(&str, &str); 40] = [
    ("man", "is about this version, not about a fleet"),
    ("init", "makes the home that verbs are asked in"),
    ("agent new", "writes into the home, as an editor would"),
    (
        "demo",
        "makes a home of its own, and shows it on this terminal",
    ),
    ("daemon", "is the supervisor's process"),
    ("service install", "is about this machine's service manager"),
    (
        "service uninstall",
        "is about this machine's service manager",
    ),
    ("service status", "is about this machine's service manager"),
    ("service print", "is about this machine's service manager"),
    ("doctor", "examines this machine, even without a home"),
    ("backup restore", "nobody may have the database open"),
    (
        "config check",
        "the settings may be wrong: there is no fleet to ask",
    ),
    ("config show", "reads the files of the settings"),
    ("config schema", "is about this version, not about a fleet"),
    ("hook explain", "tries the rules, without a fleet"),
    ("hook list", "shows the rules of this version"),
    ("hook run", "agent CLIs call it"),
    (
        "mcp",
        "is a server's process, for clients of another protocol",
    ),
    ("page", "says how a browser of this machine is signed in"),
    ("sandbox", "tries the walls of this machine"),
    ("stories run", "works on a tree of files, without a home"),
    ("stories status", "works on a tree of files, without a home"),
    ("stories check", "reads a file, without a home"),
    ("stories replay", "works on a tree of files, without a home"),
    ("firing run", "is the firing's process"),
    ("rehearsal", "is a session's process"),
    ("completions", "is for a shell"),
    ("hosts list", "is `hosts`, for who types it so"),
    ("roles list", "is `roles`, for who types it so"),
    ("version", "is about this program, not about a fleet"),
    ("loop init", "is about a directory, not about a fleet"),
    ("loop run", "is about a directory, not about a fleet"),
    ("loop start", "is about a directory, not about a fleet"),
    ("loop stop", "is about a directory, not about a fleet"),
    ("loop status", "is about a directory, not about a fleet"),
    ("loop history", "is about a directory, not about a fleet"),
    ("loop rollback", "is about a directory, not about a fleet"),
    ("loop update", "is about a directory, not about a fleet"),
    ("loop test", "is about a directory, not about a fleet"),
    ("loop compare", "is about a directory, not about a fleet"),
];

/// Every command without commands below it, by its words.
fn leaves(command: &clap::Command, words: &str, found: &mut BTreeSet<String>) {
    let below: Vec<&clap::Command> = command.get_subcommands().collect();
    if below.is_empty() || !command.is_subcommand_required_set() && !words.is_empty() {
        found.insert(words.to_owned());
    }
    for one in below {
        leaves(one, format!("{words} {}", one.get_name()).trim(), found);
    }
}

/// The command of these words; the last of them may be one of its arguments.
fn typed<'a>(command: &'a clap::Command, words: &[&str]) -> Option<&'a clap::Command> {
    let Some((first, rest)) = words.split_first() else {
        return Some(command);
    };
    if let Some(below) = command.find_subcommand(first) {
        return typed(below, rest);
    }
    let id = first.replace('-', "_");
    let mut arguments = command.get_arguments();
    let is_argument = arguments.any(|argument| argument.get_id() == id.as_str());
    (rest.is_empty() && is_argument).then_some(command)
}

#[test]
fn every_verb_can_be_typed_and_every_command_is_a_verb_or_says_why_not() {
    let args = Args::command();
    let mut commands = BTreeSet::new();
    leaves(&args, "", &mut commands);
    for (command, _) in ONLY_HERE {
        assert!(commands.remove(command), "there is no command {command:?}");
    }
    for verb in VERBS {
        let other = TYPED.iter().find(|(name, _)| *name == verb.name);
        let words = other.map_or(verb.name, |(_, words)| *words);
        let words: Vec<&str> = words.split(' ').collect();
        assert!(
            typed(&args, &words).is_some(),
            "{} cannot be typed",
            verb.name
        );
        commands.remove(verb.name);
    }
    assert!(
        commands.is_empty(),
        "neither verbs nor in ONLY_HERE: {commands:?}"
    );
}

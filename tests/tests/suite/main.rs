//! The tests that see all of Carson at once: one binary, one module per subject.

#![cfg(test)]

mod arrows;
mod bad_input;
mod bad_world;
mod bulk;
mod chat;
mod circles;
mod claude_firing;
mod codex_firing;
mod daemon;
mod demo;
mod doctor;
mod egress;
mod environment;
mod faults;
mod full_disk;
mod help;
mod hook_claude;
mod hook_codex;
mod hook_desk;
mod hook_firing;
mod hook_plays;
mod hostile;
mod keep;
mod kill;
mod limits;
mod listed;
mod lockfile;
mod older;
mod output;
mod postgres;
mod routine;
mod sandbox;
mod scripted_model;
mod secrets;
mod signs;
mod soak;
mod stages;
mod stop;
mod upkeep;
mod verbs;
mod walls;
mod why;
mod why_stops;
mod workspaces;

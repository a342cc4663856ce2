//! The tests that see all of Carson at once: one binary, one module per subject.

#![cfg(test)]

mod arrows;
mod bad_input;
mod bad_world;
mod chat;
mod claude_firing;
mod daemon;
mod demo;
mod help;
mod hook_claude;
mod kill;
mod limits;
mod listed;
mod lockfile;
mod output;
mod postgres;
mod scripted_model;

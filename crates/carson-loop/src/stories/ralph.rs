//! The drop-in for ralph-loop.

mod checks;
mod contract;
mod pattern;
mod prd;
mod prompt;
mod redact;
mod references;
mod settings;

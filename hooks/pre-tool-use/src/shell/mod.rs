//! A reader of shell command lines: text in, syntax tree out.
//!
//! It reads bash, which contains what `sh`, `dash` and most of `zsh` write. It never fails: a quote
//! that does not end ends with the text, a stray `fi` is a command called `fi`. A shell would
//! refuse such a line, so reading it as the most it could mean is the safe side.
//!
//! Reading order: [`syntax`] (the tree), [`cursor`] (the text), [`words`], [`params`], [`parser`],
//! [`compound`], [`heredoc`].

mod compound;
mod cursor;
mod heredoc;
mod params;
mod parser;
pub mod syntax;
mod words;

pub use parser::{COPROCESS, parse};
pub use words::unescape;

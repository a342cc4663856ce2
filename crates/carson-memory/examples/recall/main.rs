//! How well and how fast lessons are found: `cargo xtask bench memory` gives it what it needs.
//!
//! `quality` finds definitions of one dictionary by those of another ([`dictionaries`], [`quality`]); `fill` makes a memory of
//! 100,000 lessons, `index` puts its vectors into the server's own index, and `ask` asks it, in a process of its own, whose
//! memory is then the daemon's ([`large`]). Each prints rows of a table.

#![expect(clippy::print_stdout, reason = "it prints its figures")]

mod dictionaries;
mod instant;
mod large;
mod quality;

use std::path::Path;

use anyhow::bail;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let provider = rustls::crypto::ring::default_provider();
    let _ = provider.install_default();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let read = |webster, wordnet| dictionaries::read(Path::new(webster), Path::new(wordnet));
    match args[..] {
        ["quality", webster, wordnet, embedder, dir] => {
            quality::measure(&read(webster, wordnet)?, embedder, Path::new(dir)).await
        }
        ["fill", webster, wordnet, database, count] => {
            large::fill(&read(webster, wordnet)?, database, count.parse()?).await
        }
        ["index", _, _, database] => large::index(database).await,
        ["ask", webster, wordnet, database] => large::ask(&read(webster, wordnet)?, database).await,
        _ => bail!(
            "quality WEBSTER WORDNET EMBEDDER DIR | fill WEBSTER WORDNET DATABASE COUNT | index WEBSTER WORDNET DATABASE \
             | ask WEBSTER WORDNET DATABASE"
        ),
    }
}

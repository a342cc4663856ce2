//! `carson show`

use carson_engine::Said;
use carson_operator::Ask;
use carson_operator::show::{Papers, Show};

use crate::app::App;
use crate::args;
use crate::error::CommandError;
use crate::print;

/// Lines of an answer that are shown; the transcript has the rest.
const LINES: usize = 12;
/// Characters of one of them.
const LETTERS: usize = 300;

pub async fn run(app: &App, args: args::Show) -> Result<u8, CommandError> {
    let args::Show {
        firing,
        prompt,
        diff,
        transcript,
    } = args;
    if !(prompt || diff || transcript) {
        return super::firings::one(app, firing).await;
    }
    let home = app.home_in_any_case().await?;
    let ask = Show {
        firing,
        prompt,
        diff,
        transcript,
    };
    let papers = ask.answer(&home).await?;
    if app.json {
        print::json(&papers);
        return Ok(0);
    }
    for one in &papers.prompts {
        print::line(&format!("== what {} was told", one.session));
        print::line(one.text.trim_end());
    }
    for one in &papers.transcripts {
        print::line(&format!("== {}", one.session));
        one.said.iter().for_each(say);
    }
    match &papers.diff {
        Some(text) => print::line(text.trim_end()),
        None if diff => print::error("it changed nothing, or what it changed is not here any more"),
        None => {}
    }
    missing(&papers, prompt, transcript);
    Ok(0)
}

fn missing(papers: &Papers, prompt: bool, transcript: bool) {
    if prompt && papers.prompts.is_empty() {
        print::error("no prompt of it is kept: it had no session, or they were cleaned up");
    }
    if transcript && papers.transcripts.is_empty() {
        print::error("no transcript of it is kept: it had no session, or they were cleaned up");
    }
}

fn say(said: &Said) {
    match said {
        Said::Text(text) => print::line(text.trim_end()),
        Said::Call { tool, call } => print::line(&format!("▸ {tool}: {call}")),
        Said::Result { text, failed } => {
            let failed = if *failed { " failed" } else { "" };
            shortened(text)
                .iter()
                .enumerate()
                .for_each(|(index, line)| {
                    let mark = if index == 0 { failed } else { "" };
                    print::line(&format!("   {mark} {line}"));
                });
        }
    }
}

/// The beginning of an answer, and how much is left out.
fn shortened(text: &str) -> Vec<String> {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let shown = all.iter().take(LINES).map(|line| {
        let mut cut: String = line.chars().take(LETTERS).collect();
        if cut.len() < line.len() {
            cut.push('…');
        }
        cut
    });
    let more = all.len().saturating_sub(LINES);
    let rest = (more > 0).then(|| format!("… {more} more lines"));
    shown.chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_says_what_is_left_out() {
        let text = "a line\n".repeat(20);
        let shown = shortened(&text);
        assert_eq!(shown.len(), LINES + 1);
        assert_eq!(shown[LINES], "… 8 more lines");
        assert_eq!(shortened(&"x".repeat(400))[0].chars().count(), LETTERS + 1);
    }
}

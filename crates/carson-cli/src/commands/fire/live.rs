//! A firing as it passes, on standard error: a line for each stage, and one live line on a terminal.

use std::path::Path;
use std::time::Duration;

use carson_core::admission::Spent;
use carson_core::text::counted;
use carson_core::{FiringId, Stage};
use carson_firing::Step;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::print;
use crate::terminal::{self, Stream};

/// Where what a setup prints can be followed.
pub(super) fn output_in(log: Option<&Path>) -> String {
    log.map_or_else(String::new, |log| {
        format!("; its output: {}", log.display())
    })
}

/// Shows each step until the firing has ended.
pub async fn show(id: FiringId, mut steps: UnboundedReceiver<Step>) {
    let mut screen = Screen::new(terminal::is_live(Stream::Error));
    print::error(&format!("firing {}", id.short()));
    let mut clock = interval(Duration::from_secs(1));
    clock.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            step = steps.recv() => match step {
                Some(step) => screen.see(step),
                None => break,
            },
            _ = clock.tick(), if screen.live => {}
        }
        screen.redraw();
    }
    screen.close_stage();
}

/// What is shown.
struct Screen {
    /// Whether there is a line that is written anew.
    live: bool,
    stage: Option<Standing>,
    /// What the firing used before this stage.
    used: Used,
}

/// The stage that the firing is in.
struct Standing {
    stage: Stage,
    since: Instant,
    calls: u32,
    /// What it used.
    used: Used,
    /// What it does at the moment.
    current: String,
}

#[derive(Clone, Copy, Default)]
struct Used {
    turns: u32,
    cost_usd: Option<f64>,
    estimated: bool,
}

impl Screen {
    fn new(live: bool) -> Self {
        Self {
            live,
            stage: None,
            used: Used::default(),
        }
    }

    fn see(&mut self, step: Step) {
        match step {
            Step::Stage(stage) => {
                self.close_stage();
                if !self.live {
                    self.say(&format!("  {stage}"));
                }
                self.stage = Some(Standing {
                    stage,
                    since: Instant::now(),
                    calls: 0,
                    used: Used::default(),
                    current: String::new(),
                });
            }
            Step::Took { repo, issue, title } => {
                let issue = issue.map_or_else(String::new, |number| format!("#{number} "));
                self.say(&format!("  work: {issue}{title} in {repo}"));
            }
            Step::Setup { repo, log } => {
                let log = output_in(log.as_deref());
                self.does(format!("the setup of {repo} runs{log}"));
            }
            Step::WaitsForSetup(repo) => self.does(format!(
                "another firing runs the setup of {repo}: waiting for it"
            )),
            Step::Check(command) => self.does(format!("check: {command}")),
            Step::Warned(text) => self.say(&format!("  warning: {text}")),
            Step::Call { tool, call } => {
                if let Some(standing) = &mut self.stage {
                    standing.calls += 1;
                }
                self.does(format!("{tool}: {call}"));
            }
            Step::Used {
                turns,
                cost_usd,
                estimated,
            } => {
                let now = Used {
                    turns,
                    cost_usd,
                    estimated,
                };
                let before = std::mem::replace(&mut self.used, now);
                if let Some(standing) = &mut self.stage {
                    standing.used = standing.used.and(now.since(before));
                }
            }
        }
    }

    /// What happens at the moment: on the live line, or a line of its own.
    fn does(&mut self, what: String) {
        let what = print::harmless(&what).replace(['\n', '\t'], " ");
        match &mut self.stage {
            Some(standing) if self.live => standing.current = what,
            _ => self.say(&format!("    {what}")),
        }
    }

    fn say(&self, line: &str) {
        print::error(line);
    }

    /// A stage that passed, in one line. Without a live line it was named when it began.
    fn close_stage(&mut self) {
        let passed = self.stage.take();
        if let Some(standing) = passed.filter(|one| self.live || one.used.turns > 0) {
            self.say(&standing.line());
        }
    }

    fn redraw(&self) {
        if let Some(standing) = self.stage.as_ref().filter(|_| self.live) {
            let line = print::shown(&standing.line_now());
            terminal::live(&line);
        }
    }
}

impl Standing {
    fn line(&self) -> String {
        let mut line = format!("  {:<12} {}", self.stage, took(self.since.elapsed()));
        if self.used.turns > 0 {
            line.push_str(&format!("  {}", counted(self.used.turns, "turn")));
        }
        if self.calls > 0 {
            line.push_str(&format!("  {}", counted(self.calls, "tool call")));
        }
        if let Some(usd) = self.used.cost_usd {
            let estimated = self.used.estimated;
            line.push_str(&format!("  {}", Spent { usd, estimated }));
        }
        line
    }

    fn line_now(&self) -> String {
        match self.current.as_str() {
            "" => self.line(),
            current => format!("{}  {current}", self.line()),
        }
    }
}

impl Used {
    /// What came since then.
    fn since(self, before: Self) -> Self {
        Self {
            turns: self.turns.saturating_sub(before.turns),
            cost_usd: self
                .cost_usd
                .map(|cost| cost - before.cost_usd.unwrap_or(0.0)),
            estimated: self.estimated,
        }
    }

    fn and(self, more: Self) -> Self {
        let known = self.cost_usd.is_some() || more.cost_usd.is_some_and(|cost| cost > 0.0);
        let both = self.cost_usd.unwrap_or(0.0) + more.cost_usd.unwrap_or(0.0);
        Self {
            turns: self.turns + more.turns,
            cost_usd: known.then_some(both),
            // What was estimated while a session ran is told exactly at its end.
            estimated: more.estimated,
        }
    }
}

/// Minutes and seconds, as a clock has them.
fn took(span: Duration) -> String {
    let seconds = span.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(turns: u32, cost_usd: Option<f64>) -> Step {
        Step::Used {
            turns,
            cost_usd,
            estimated: false,
        }
    }

    #[test]
    fn what_a_session_uses_moves_while_it_runs_and_its_end_has_the_last_word() {
        let mut screen = Screen::new(true);
        screen.see(Step::Stage(Stage::Plan));
        let so_far = |turns, cost| Step::Used {
            turns,
            cost_usd: Some(cost),
            estimated: true,
        };
        let line = |screen: &Screen| screen.stage.as_ref().unwrap().line_now();
        screen.see(so_far(1, 0.25));
        assert_eq!(line(&screen), "  plan         0:00  1 turn  ~$0.25");
        screen.see(so_far(2, 0.75));
        assert_eq!(line(&screen), "  plan         0:00  2 turns  ~$0.75");
        screen.see(used(2, Some(0.5)));
        assert_eq!(line(&screen), "  plan         0:00  2 turns  $0.50");
    }

    #[test]
    fn a_stage_has_what_came_since_it_began() {
        let mut screen = Screen::new(true);
        screen.see(Step::Stage(Stage::Plan));
        screen.see(used(0, None));
        screen.see(used(3, Some(0.25)));
        screen.see(Step::Stage(Stage::Execute));
        screen.see(Step::Call {
            tool: "Bash".to_owned(),
            call: "printf '\u{1b}[2J'\nls".to_owned(),
        });
        screen.see(used(10, Some(0.75)));
        let line = screen.stage.as_ref().unwrap().line_now();
        assert_eq!(
            line,
            "  execute      0:00  7 turns  1 tool call  $0.50  Bash: printf '\u{fffd}[2J' ls"
        );
        assert_eq!(took(Duration::from_secs(754)), "12:34");
    }
}

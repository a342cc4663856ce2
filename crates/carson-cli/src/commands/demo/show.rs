//! What the demo shows: a live table, and the summary.

use std::collections::BTreeMap;
use std::path::Path;

use carson_core::text::counted;
use carson_core::{FiringId, Outcome};
use carson_home::Home;
use carson_operator::approve::Approved;
use carson_operator::firings::state;
use carson_store::Firing;
use serde_json::json;

use super::story::{Story, is_of_crew};
use super::{EVERY_ROW, crew};
use crate::app::App;
use crate::commands::firings::{HEADER, table_row};
use crate::error::CommandError;
use crate::print;

/// Rows of the table that are drawn, the newest: one that is higher than the terminal cannot be drawn
/// anew, and the lowest have 24 lines.
const MOST_DRAWN: usize = 20;

/// The table while it runs: drawn anew on a terminal, else a line for each change.
pub struct Live {
    terminal: bool,
    drawn: usize,
    shown: usize,
    /// What the operator did, and after how many firings.
    acts: Vec<(usize, Vec<String>)>,
    seen: BTreeMap<FiringId, String>,
}

impl Live {
    pub fn new(terminal: bool) -> Self {
        Self {
            terminal,
            drawn: 0,
            shown: 0,
            acts: Vec::new(),
            seen: BTreeMap::new(),
        }
    }

    /// What was done in the operator's place: they approved a plan.
    pub fn approved(&mut self, plan: &Approved) {
        let (who, what) = ("you", "approved");
        let typed = crew::approval(&plan.filed);
        if self.terminal {
            let work = format!("#{} {}", plan.issue, crew::TITLE);
            let cells = ["", who, what, &work, "", "", "", &typed];
            let cells = cells.map(str::to_owned).to_vec();
            self.acts.push((self.shown, cells));
        } else {
            print::line(&format!(
                "{:8}  {who:<11} {what:<14} {}  {typed}",
                "",
                crew::TITLE
            ));
        }
    }

    pub async fn draw(&mut self, home: &Home) {
        let Ok(mut rows) = home.store.firings(&EVERY_ROW).await else {
            return;
        };
        // Firings that found no work are the silence of a quiet night.
        let is_quiet =
            |row: &Firing| matches!(row.outcome, Some(Outcome::Silent | Outcome::Skipped));
        rows.retain(|row| row.work.is_some() && !is_quiet(row));
        rows.reverse();
        if self.terminal {
            self.redraw(home, &rows);
        } else {
            self.changes(&rows);
        }
    }

    fn redraw(&mut self, home: &Home, rows: &[Firing]) {
        if self.drawn > 0 {
            // Up over the last table, and clear to the end of the screen (ECMA-48).
            print::raw(&format!("\u{1b}[{}A\u{1b}[J\u{1b}[A", self.drawn + 1));
        }
        let now = home.clock.now();
        let mut rows: Vec<_> = rows.iter().map(|row| table_row(row, now)).collect();
        self.shown = rows.len();
        for (before, act) in self.acts.iter().rev() {
            rows.insert(*before, act.clone());
        }
        rows.drain(..rows.len().saturating_sub(MOST_DRAWN));
        self.drawn = rows.len() + 1;
        print::table(&HEADER, rows);
    }

    fn changes(&mut self, rows: &[Firing]) {
        for row in rows {
            let now = state(row);
            if self.seen.get(&row.id) == Some(&now) {
                continue;
            }
            let work = row.title.as_deref().unwrap_or_default();
            let why = row.reason.as_deref().unwrap_or_default();
            let (id, role) = (row.id.short(), &row.role);
            print::line(&format!("{id}  {role:<11} {now:<14} {work}  {why}"));
            self.seen.insert(row.id, now);
        }
    }
}

/// How many benches there are.
pub fn benches(home: &Home) -> usize {
    std::fs::read_dir(home.fleet.layout.benches()).map_or(0, Iterator::count)
}

/// Every firing with what became of its work; exit code 0 when some work was done and none lost.
pub async fn summary(app: &App, home: &Home, root: &Path) -> Result<u8, CommandError> {
    let mut rows = home.store.firings(&EVERY_ROW).await?;
    rows.reverse();
    let quiet = rows
        .iter()
        .filter(|row| row.outcome == Some(Outcome::Silent))
        .count();
    let skipped: Vec<&Firing> = rows
        .iter()
        .filter(|row| row.outcome == Some(Outcome::Skipped))
        .collect();
    let story = match home.fleet.roles.values().any(crew::has) {
        true => Some(Story::of(home).await?),
        false => None,
    };
    let worked: Vec<&Firing> = rows.iter().filter(|row| row.work.is_some()).collect();
    let left = benches(home);
    let lost = worked.iter().filter(|row| row.outcome.is_none()).count();
    let ok = worked.iter().any(|row| row.outcome == Some(Outcome::Ok)) && lost == 0 && left == 0;
    if app.json {
        print::json(&json!({
            "root": root, "firings": worked, "quiet": quiet, "skipped": skipped.len(),
            "benches_left": left, "unfinished": lost, "crew": story,
        }));
        return Ok(u8::from(!ok));
    }
    print::line("\nWhat happened:");
    for row in worked.iter().filter(|row| !is_of_crew(row)) {
        print_firing(home, row).await?;
    }
    if let Some(story) = &story {
        story.print();
    }
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for row in &skipped {
        *reasons
            .entry(row.reason.clone().unwrap_or_default())
            .or_default() += 1;
    }
    let quiet = counted(quiet as u64, "firing");
    print::line(&format!("\n{quiet} found no work, and said nothing."));
    for (reason, count) in reasons {
        print::line(&format!("{} skipped: {reason}", counted(count, "slot")));
    }
    let (lost, left) = (
        counted(lost as u64, "firing"),
        counted(left as u64, "worktree"),
    );
    print::line(&format!("{lost} without an end, {left} left behind."));
    print::line("\nLook around:");
    let dir = home.fleet.layout.root.display();
    print::line(&format!("  carson --home {dir} status"));
    for repo in home.fleet.repos.keys() {
        print::line(&format!(
            "  carson --home {dir} pr list --repo {repo} --all"
        ));
    }
    print::line(&format!(
        "  git -C {} log --oneline --graph --all",
        root.join("remote.git").display()
    ));
    print::line(&format!("All of it goes with: rm -rf {}", root.display()));
    Ok(u8::from(!ok))
}

async fn print_firing(home: &Home, row: &Firing) -> Result<(), CommandError> {
    let outcome = state(row);
    let title = row.title.as_deref().unwrap_or_default();
    print::line(&format!("\n  {:<12} {} — {title}", outcome, row.role));
    let mut facts = vec![row.reason.clone().unwrap_or_default()];
    facts.extend(
        row.branch
            .as_ref()
            .filter(|_| row.pr_url.is_some())
            .map(|b| format!("branch {b}")),
    );
    facts.extend(row.pr_url.as_ref().map(|url| {
        let kind = if row.outcome == Some(Outcome::Ok) {
            "pull request"
        } else {
            "draft"
        };
        format!("{kind} {url}")
    }));
    facts.extend(
        row.salvage_ref
            .as_ref()
            .map(|kept| format!("kept under {kept}")),
    );
    for call in home.store.blocked_calls(row.id).await? {
        facts.push(format!("blocked: {} ({})", call.call, call.rule));
    }
    for fact in facts.iter().filter(|fact| !fact.is_empty()) {
        print::line(&format!("               {fact}"));
    }
    Ok(())
}

//! `carson memory`

mod shown;

use carson_home::Home;
use carson_operator::Ask;
use carson_operator::memory::{audit, decide, exchange, gate, lift, list, propose, recall, revert};

use crate::app::App;
use crate::args::memory::{Memory, Propose, Recall, Revert};
use crate::error::CommandError;
use crate::print;

pub async fn run(app: &App, action: Memory) -> Result<u8, CommandError> {
    let home = app.home_in_any_case().await?;
    match action {
        Memory::List {
            state,
            source,
            known_at,
            scope,
            limit,
        } => {
            let ask = list::List {
                state,
                source,
                scope,
                known_at,
                limit,
            };
            let lessons = ask.answer(&home).await?;
            print::list(
                app.json,
                &lessons,
                "nothing is remembered",
                &shown::HEADER,
                shown::row,
            );
        }
        Memory::Show { id } => {
            let lesson = list::Show { id }.answer(&home).await?;
            shown::lesson(app.json, &lesson);
        }
        Memory::Recall(asked) => recalled(app, &home, asked).await?,
        Memory::Propose(asked) => {
            let lesson = ask_of(asked).answer(&home).await?;
            let id = lesson.id.short();
            let next = "nobody is told it before it is promoted (carson memory promote";
            print::done(app.json, &format!("candidate {id}: {next} {id})"), &lesson);
        }
        Memory::Promote {
            id,
            confidence,
            reason,
        } => {
            let ask = decide::Promote {
                id,
                confidence,
                reason,
            };
            let lesson = ask.answer(&home).await?;
            let (id, sure) = (lesson.id.short(), lesson.confidence);
            let text = format!("lesson {id}: sessions are told it from now on ({sure:.2})");
            print::done(app.json, &text, &lesson);
        }
        Memory::Hold { id, reason, reject } => {
            let lesson = decide::Hold { id, reason, reject }.answer(&home).await?;
            let text = format!(
                "lesson {} is {}: nobody is told it",
                lesson.id.short(),
                lesson.state
            );
            print::done(app.json, &text, &lesson);
        }
        Memory::Revert(asked) => reverted(app, &home, asked).await?,
        Memory::Audit { id } => {
            let chain = audit::Audit { id }.answer(&home).await?;
            shown::chain(app.json, &chain);
        }
        Memory::Import { file, alfred } => {
            let done = exchange::Import { file, alfred }.answer(&home).await?;
            shown::imported(app.json, &done);
        }
        Memory::Export => {
            let exported = exchange::Export {}.answer(&home).await?;
            exported.lines.iter().for_each(|line| print::raw(line));
        }
        Memory::Gate { dry_run } => {
            let run = gate::Gate { dry_run }.answer(&home).await?;
            shown::gate(app.json, &run, dry_run);
        }
        Memory::Reindex { most } => {
            let done = gate::Reindex { most }.answer(&home).await?;
            let more = done
                .stopped
                .as_deref()
                .map_or_else(String::new, |why| format!("; it stopped: {why}"));
            let text = format!(
                "{} made: {} of {} lessons have a vector{more}",
                done.made, done.indexed, done.lessons
            );
            print::done(app.json, &text, &done);
            if done.stopped.is_some() {
                return Ok(1);
            }
        }
        Memory::Lift { since } => {
            let lifted = lift::Lift { since }.answer(&home).await?;
            shown::lift(app.json, &lifted);
        }
    }
    Ok(0)
}

async fn recalled(app: &App, home: &Home, asked: Recall) -> Result<(), CommandError> {
    let explain = asked.explain;
    let ask = recall::Recall {
        query: asked.query,
        limit: asked.limit,
        repo: asked.repo,
        role: asked.role,
        as_of: asked.as_of,
        known_at: asked.known_at,
        explain,
    };
    let known = ask.answer(home).await?;
    match (app.json, explain) {
        (true, true) => print::json(&known),
        (true, false) => print::json(&known.lessons),
        (false, _) => shown::known(&known, explain),
    }
    Ok(())
}

fn ask_of(asked: Propose) -> propose::Propose {
    propose::Propose {
        text: asked.text,
        scope: asked.scope,
        evidence: asked.evidence,
        severity: asked.severity,
        kind: asked.kind,
        confidence: asked.confidence,
        repo: asked.repo,
        valid_from: asked.valid_from,
        valid_to: asked.valid_to,
    }
}

async fn reverted(app: &App, home: &Home, asked: Revert) -> Result<(), CommandError> {
    let undo = asked.undo;
    let ask = revert::Revert {
        id: asked.id,
        since: asked.since,
        firing: asked.firing,
        source: asked.source,
        undo: asked.undo,
        reason: asked.reason,
    };
    let back = ask.answer(home).await?;
    if app.json {
        print::json(&back);
        return Ok(());
    }
    if back.lessons.is_empty() {
        print::line(if undo {
            "nothing of that was taken back"
        } else {
            "nothing of that is believed, or waits"
        });
    }
    back.lessons.iter().for_each(shown::taken_back);
    Ok(())
}

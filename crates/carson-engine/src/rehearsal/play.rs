//! Plays a script. This is a program of its own, like any agent CLI: whoever starts it
//! supervises it.

use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use carson_core::Clock;
use nix::sys::signal::{SigSet, Signal};
use serde_json::{Value, json};

use super::outbox;
use super::part::Part;
use super::programs::{git, program};
use super::script::{Script, Step, When};

/// Plays the first matching part in `cwd`, printing to `out`; the exit code.
///
/// # Errors
/// When a step fails: a script asks only for what can be done.
pub fn play(script: &Script, part: &Part, cwd: &Path, out: &mut dyn Write) -> std::io::Result<u8> {
    let mut matching = None;
    for when in &script.when {
        if fits(when, part, cwd)? {
            matching = Some(when);
            break;
        }
    }
    let Some(when) = matching else {
        return Err(std::io::Error::other(format!(
            "no part of the script fits the {} session of the role {:?} on #{}",
            part.stage, part.role, part.issue
        )));
    };
    let mut turns = 0;
    for step in &when.steps {
        if matches!(step, Step::Say(_) | Step::Tool(_) | Step::Edit { .. }) {
            turns += 1;
        }
        if turns > part.max_turns {
            emit(out, &json!({"v": 1, "type": "max_turns"}))?;
            return Ok(1);
        }
        if let Some(exit) = play_step(step, part, cwd, out)? {
            return Ok(exit);
        }
    }
    Ok(0)
}

fn fits(when: &When, part: &Part, cwd: &Path) -> std::io::Result<bool> {
    let is_part = when.role.as_ref().is_none_or(|role| *role == part.role)
        && when.stage.as_ref().is_none_or(|stage| *stage == part.stage)
        && when.issue.is_none_or(|issue| issue == part.issue)
        && when.attempt.is_none_or(|attempt| attempt == part.attempt)
        && when.run.is_none_or(|run| run == part.run);
    match &when.finds {
        Some(finds) if is_part => has(&inside(cwd, &finds.path)?, &finds.text),
        _ => Ok(is_part),
    }
}

fn has(file: &Path, text: &str) -> std::io::Result<bool> {
    match std::fs::read_to_string(file) {
        Ok(found) => Ok(found.contains(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn play_step(
    step: &Step,
    part: &Part,
    cwd: &Path,
    out: &mut dyn Write,
) -> std::io::Result<Option<u8>> {
    match step {
        Step::Say(text) => emit(out, &json!({"v": 1, "type": "say", "text": text}))?,
        Step::Edit { path, content } => write(&inside(cwd, path)?, content, false)?,
        Step::Append { path, content } => write(&inside(cwd, path)?, content, true)?,
        Step::Delete(path) => std::fs::remove_file(inside(cwd, path)?)?,
        Step::Stage(path) => git(cwd, &["add", "--", &inside(cwd, path)?.to_string_lossy()])?,
        Step::Commit(message) => {
            git(cwd, &["add", "--all"])?;
            // What an earlier attempt has committed is there: it goes on.
            if git(cwd, &["diff", "--cached", "--quiet"]).is_err() {
                git(cwd, &["commit", "--quiet", "-m", message])?;
            }
        }
        Step::Outbox(entries) => outbox::write(entries, part, cwd)?,
        Step::Tool(command) => tool(command, part, cwd, out)?,
        Step::SleepMs(ms) => std::thread::sleep(Duration::from_millis(*ms)),
        Step::FloodMb(mb) => flood(*mb, out)?,
        Step::IgnoreSigterm(ignore) => {
            let mut set = SigSet::empty();
            set.add(Signal::SIGTERM);
            if *ignore {
                set.thread_block()?;
            } else {
                set.thread_unblock()?;
            }
        }
        Step::Grandchild(seconds) => grandchild(*seconds, cwd)?,
        Step::LimitS(seconds) => {
            let resets_at = Clock::system().now().timestamp() + seconds;
            emit(
                out,
                &json!({"v": 1, "type": "limit", "resets_at": resets_at}),
            )?;
            return Ok(Some(1));
        }
        Step::Exit(code) => return Ok(Some(*code)),
        Step::Barrier(path) => barrier(path)?,
    }
    Ok(None)
}

fn emit(out: &mut dyn Write, event: &Value) -> std::io::Result<()> {
    writeln!(out, "{event}")?;
    out.flush()
}

fn inside(cwd: &Path, path: &Path) -> std::io::Result<PathBuf> {
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if plain {
        Ok(cwd.join(path))
    } else {
        Err(std::io::Error::other("a path leaves the worktree"))
    }
}

fn write(path: &Path, content: &str, append: bool) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options
        .create(true)
        .write(true)
        .append(append)
        .truncate(!append);
    options.open(path)?.write_all(content.as_bytes())
}

/// Asks the hook as a CLI does (JSON on its standard input, exit 2 blocks), then runs the command.
fn tool(command: &str, part: &Part, cwd: &Path, out: &mut dyn Write) -> std::io::Result<()> {
    let denied = match &part.hook {
        Some(hook) => ask(hook, command, cwd)?,
        None => None,
    };
    let mut event = json!({"v": 1, "type": "tool", "name": "Bash", "call": command});
    if denied.is_none() {
        let ended = program("/bin/sh", cwd)
            .arg("-c")
            .arg(command)
            .stdout(Stdio::null())
            .status()?;
        event["exit"] = ended.code().into();
    }
    event["denied"] = denied.into();
    emit(out, &event)
}

fn ask(hook: &str, command: &str, cwd: &Path) -> std::io::Result<Option<String>> {
    let call = json!({
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": command},
        "cwd": cwd,
        "session_id": "rehearsal",
    });
    let mut child = program("/bin/sh", cwd)
        .arg("-c")
        .arg(hook)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that answers without reading to the end is no error.
        let _ = stdin.write_all(call.to_string().as_bytes());
    }
    let done = child.wait_with_output()?;
    let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
    Ok((done.status.code() == Some(2)).then_some(said))
}

fn flood(mb: u64, out: &mut dyn Write) -> std::io::Result<()> {
    let line = [b"x".repeat(1023), b"\n".to_vec()].concat();
    for _ in 0..mb * 1024 {
        out.write_all(&line)?;
    }
    out.flush()
}

fn grandchild(seconds: u64, cwd: &Path) -> std::io::Result<()> {
    let line = format!("exec setsid sleep {seconds}");
    let mut command = program("/bin/sh", cwd);
    command.arg("-c").arg(line).process_group(0);
    // It keeps our standard output open, as a tool's background job does.
    command.spawn().map(|_| ())
}

fn barrier(path: &Path) -> std::io::Result<()> {
    std::fs::write(path.with_extension("reached"), "")?;
    let until = Instant::now() + Duration::from_secs(60);
    while !path.with_extension("go").exists() {
        if Instant::now() > until {
            return Err(std::io::Error::other("nobody opened the barrier"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

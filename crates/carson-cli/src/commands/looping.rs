//! `carson loop`: needs no fleet and no home.

mod live;
mod tell;

use std::path::Path;

use carson_loop::api::{self, Mine};
use carson_loop::caller::Caller;
use carson_loop::error::LoopError;
use carson_loop::lock::{LockError, owner_of};
use carson_loop::place::{Found, Layout, Place};
use carson_loop::run::{self, Options, Wish};
use carson_loop::walls::Reach;
use carson_proc::{Cancel, become_subreaper};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::looping::{Loop, Run, What};
use crate::error::CommandError;
use crate::print;
use live::Screen;

/// Runs it with a runtime of its own.
pub fn run(action: &Loop, json: bool) -> Result<u8, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let done = runtime.block_on(dispatch(action, json));
    done.map_err(|mut error| {
        if action.layout() == Layout::Alpf {
            error
                .hints
                .iter_mut()
                .for_each(|hint| *hint = tell::alpf(hint));
        }
        error
    })
}

async fn dispatch(action: &Loop, json: bool) -> Result<u8, CommandError> {
    let here = std::env::current_dir()?;
    let caller = caller()?;
    let found = |compat: crate::args::looping::Compat| api::find(&here, compat.layout());
    match action {
        Loop::Init { what } => init(&here, &caller, what, json),
        Loop::Run(args) => run_here(&here, &caller, args, json).await,
        Loop::Start(args) => start(&here, &caller, args, json).await,
        Loop::Stop {
            after_attempt,
            compat,
        } => {
            let answer = api::stop(&found(*compat)?, &caller, *after_attempt).await?;
            print::done(json, &tell::stop(&answer), &answer);
            Ok(0)
        }
        Loop::Status { compat } => {
            let place = found(*compat)?;
            let answer = api::status(&place)?;
            match json {
                true => print::json(&answer),
                false => tell::status(&answer, compat.layout())
                    .iter()
                    .for_each(|line| print::line(line)),
            }
            Ok(0)
        }
        Loop::History { limit, compat } => {
            let answer = api::history(&found(*compat)?, *limit)?;
            match json {
                true => print::json(&answer),
                false => tell::history(&answer),
            }
            Ok(0)
        }
        Loop::Rollback {
            attempt,
            keep_mine,
            overwrite,
            compat,
        } => {
            let mine = match (keep_mine, overwrite) {
                (true, _) => Mine::Keep,
                (_, true) => Mine::Overwrite,
                _ => Mine::Refuse,
            };
            let answer = api::rollback(&found(*compat)?, &caller, *attempt, mine).await?;
            match json {
                true => print::json(&answer),
                false => tell::rollback(&answer)
                    .iter()
                    .for_each(|line| print::line(line)),
            }
            Ok(u8::from(!answer.missed.is_empty()))
        }
        Loop::Update { what } => update(&here, &caller, what, json),
        Loop::Test { compat } => test(&found(*compat)?, &caller, json).await,
        Loop::Compare { a, b, compat } => {
            let answer = api::compare(&found(*compat)?, a, b)?;
            match json {
                true => print::json(&answer),
                false => tell::compare(&answer)
                    .iter()
                    .for_each(|line| print::line(line)),
            }
            Ok(0)
        }
    }
}

/// Who asks: this process.
fn caller() -> Result<Caller, CommandError> {
    let redactor = print::redactor();
    let environ: Vec<_> = std::env::vars_os().collect();
    redactor.learn(carson_home::secrets::of_environment(&environ));
    Ok(Caller::new(environ, std::env::current_exe()?, redactor))
}

fn init(here: &Path, caller: &Caller, what: &What, json: bool) -> Result<u8, CommandError> {
    let config = what.config().map_err(CommandError::usage)?;
    let config = config.ok_or_else(|| {
        CommandError::usage("a loop needs a promise and a task").hint(
            "carson loop init --promise \"npm test\" --task \"claude -p 'fix the failing tests'\"",
        )
    })?;
    let layout = what.compat.layout();
    let place = Place::at(here, layout)?;
    // ALPF's own, with bounds and no promise: they stay.
    let is_unsaid = layout == Layout::Alpf && place.config().is_file() && api::is_unsaid(&place)?;
    let config = match is_unsaid {
        true => {
            let changes = what.changes().map_err(CommandError::usage)?;
            api::update(&place, caller, &changes)?.config
        }
        false => {
            api::init(here, layout, &config)?;
            config
        }
    };
    let text = format!(
        "made {}: `{}` is run until `{}` exits 0, {} times at most; `carson loop run{}` begins",
        place.config().display(),
        config.task,
        config.promise,
        config.max_attempts,
        tell::flag(layout)
    );
    print::done(json, &text, &config);
    Ok(0)
}

fn update(here: &Path, caller: &Caller, what: &What, json: bool) -> Result<u8, CommandError> {
    let changes = what.changes().map_err(CommandError::usage)?;
    if changes.is_empty() {
        return Err(CommandError::usage("nothing is to be changed")
            .hint("`carson loop update --help` has what can be"));
    }
    let place = api::find(here, what.compat.layout())?;
    let answer = api::update(&place, caller, &changes)?;
    print::done(json, &tell::update(&answer), &answer);
    Ok(0)
}

async fn test(place: &Place, caller: &Caller, json: bool) -> Result<u8, CommandError> {
    become_subreaper()?;
    let cancel = cancel_on_signals(false, "asked to stop")?;
    let answer = api::test_promise(place, caller, &cancel).await?;
    match json {
        true => print::json(&answer),
        false => tell::test(&answer)
            .iter()
            .for_each(|line| print::line(line)),
    }
    Ok(u8::from(!answer.promise_fulfilled))
}

/// The loop that a run is about: what its flags say is in its configuration then.
fn place_for(here: &Path, caller: &Caller, what: &What) -> Result<Place, CommandError> {
    let layout = what.compat.layout();
    let changes = what.changes().map_err(CommandError::usage)?;
    let place = match Place::find(here, layout)? {
        Found::Loop(place) | Found::AlpfConfig(place) => place,
        Found::Nothing => Place::at(here, layout)?,
    };
    if let Some(owner) = owner_of(&place.lock()) {
        let (path, owner) = (place.lock(), Box::new(owner));
        return Err(LoopError::from(LockError::Held { path, owner }).into());
    }
    if api::settle(&place, &changes)? {
        print::error(&format!("{} was taken over", place.alpf_config().display()));
    }
    if place.config().symlink_metadata().is_err() {
        let config = what.config().map_err(CommandError::usage)?;
        let config = config.ok_or_else(|| LoopError::None {
            from: here.to_owned(),
        })?;
        return Ok(api::init(place.root(), place.layout(), &config)?);
    }
    if !changes.is_empty() {
        api::update(&place, caller, &changes)?;
    }
    Ok(place)
}

async fn run_here(
    here: &Path,
    caller: &Caller,
    args: &Run,
    json: bool,
) -> Result<u8, CommandError> {
    let place = place_for(here, caller, &args.what)?;
    become_subreaper()?;
    let told = "asked to stop: the attempt ends, and what it left is kept";
    let cancel = cancel_on_signals(args.background, told)?;
    let options = Options {
        wish: Wish {
            more: args.more,
            fresh: args.fresh,
        },
        sandbox: reach(here, args)?,
    };
    let mut screen = Screen::new(&place, args.quiet || args.background);
    let state = run::run(&place, caller, &options, &cancel, &mut |step| {
        screen.see(&step);
    })
    .await?;
    match json {
        true => print::json(&api::status(&place)?),
        false => {
            let reason = state.reason.clone().unwrap_or_default();
            print::line(&format!("{}: {reason}", state.status));
        }
    }
    Ok(state.status.exit_code())
}

async fn start(here: &Path, caller: &Caller, args: &Run, json: bool) -> Result<u8, CommandError> {
    let place = place_for(here, caller, &args.what)?;
    let mut words: Vec<String> = Vec::new();
    words.extend(args.more.map(|more| format!("--more={more}")));
    words.extend(args.fresh.then(|| "--fresh".to_owned()));
    words.extend(args.sandbox.then(|| "--sandbox".to_owned()));
    if let Some(reach) = reach(here, args)? {
        let flag = |name: &str, path: &Path| format!("--{name}={}", path.display());
        words.extend(reach.read.iter().map(|path| flag("read", path)));
        words.extend(reach.write.iter().map(|path| flag("write", path)));
    }
    let answer = api::start(&place, caller, &words).await?;
    print::done(
        json,
        &tell::start(&answer, args.what.compat.layout()),
        &answer,
    );
    Ok(0)
}

/// What a sandbox reaches beside the usual.
fn reach(here: &Path, args: &Run) -> Result<Option<Reach>, CommandError> {
    if !args.sandbox {
        return Ok(None);
    }
    let absolute = |paths: &[std::path::PathBuf]| {
        let one = |path: &std::path::PathBuf| {
            let path = here.join(path);
            match path.exists() {
                true => Ok(path),
                false => Err(CommandError::usage(format!(
                    "{} does not exist",
                    path.display()
                ))),
            }
        };
        paths.iter().map(one).collect::<Result<Vec<_>, _>>()
    };
    Ok(Some(Reach {
        read: absolute(&args.read)?,
        write: absolute(&args.write)?,
    }))
}

/// Every signal that would end the process asks the loop to stop. One in the background does not mind that the
/// terminal goes.
fn cancel_on_signals(in_background: bool, told: &'static str) -> Result<Cancel, CommandError> {
    let cancel = Cancel::new();
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
        SignalKind::quit(),
    ] {
        let mut asked = signal(kind)?;
        if in_background && kind == SignalKind::hangup() {
            tokio::spawn(async move { while asked.recv().await.is_some() {} });
            continue;
        }
        let cancel = cancel.clone();
        tokio::spawn(async move {
            if asked.recv().await.is_some() {
                print::error(told);
                cancel.cancel();
            }
        });
    }
    Ok(cancel)
}

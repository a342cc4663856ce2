//! The `carson-agent` binary: parse, run, print.

use std::io::Write;
use std::process::ExitCode;

use carson_agent::args::Args;
use carson_agent::start::start;
use carson_redact::Redactor;
use clap::Parser;

/// What the command line names is not fit for a run.
const UNFIT: u8 = 2;

fn main() -> ExitCode {
    // Before there is a second thread or an open file.
    if let Some(code) = carson_proc::sandbox::launch_if_asked() {
        return code;
    }
    if cfg!(target_feature = "crt-static") {
        carson_proc::look_names_up_alone();
    }
    let args = Args::parse();
    match run(&args) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // It may tell what a server complained of.
            let text = error.to_string();
            let text = Redactor::default().redact(&text).into_owned();
            let _ = writeln!(std::io::stderr(), "carson-agent: {text}");
            ExitCode::from(UNFIT)
        }
    }
}

fn run(args: &Args) -> Result<u8, Box<dyn std::error::Error>> {
    // What the model starts and leaves behind is handed to us, and ended.
    carson_proc::become_subreaper()?;
    // Every TLS client needs a provider, chosen once.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let done = runtime.block_on(start(args));
    // Nobody waits for who never answered a question.
    runtime.shutdown_background();
    Ok(done?)
}

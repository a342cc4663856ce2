//! The endpoint: the model behind a small server on 127.0.0.1.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

use super::installed::Installed;
use super::memory;
use crate::workspace::root;

/// How long it may take to read the model in, on a machine that has other work.
const PATIENCE: Duration = Duration::from_secs(120);
/// Where its answers begin.
const SEED: &str = "7";

/// It ends when it is dropped.
pub struct Endpoint {
    child: Child,
    /// The server ends with it.
    stdin: Option<ChildStdin>,
    port: u64,
    context: u64,
}

impl Endpoint {
    /// Starts it, and waits until it listens.
    ///
    /// # Errors
    /// When it does not.
    pub fn start(installed: &Installed) -> anyhow::Result<Self> {
        let mut node = Command::new("node");
        node.arg(root().join("tests/local-model/server.mjs"))
            .arg(installed.modules())
            .arg(installed.model())
            .arg(SEED)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = node.spawn().context("node runs the local model")?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("it has no output")?;
        let (sender, said) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(stdout).read_line(&mut line);
            // Whoever waited may have given up.
            let _ = sender.send(read.map(|_| line));
        });
        let mut endpoint = Self {
            child,
            stdin,
            port: 0,
            context: 0,
        };
        let line = said
            .recv_timeout(PATIENCE)
            .context("the local model does not listen")??;
        let said: Value = serde_json::from_str(&line).context("the local model did not start")?;
        let number = |name: &str| {
            said[name]
                .as_u64()
                .with_context(|| format!("no {name}: {line}"))
        };
        endpoint.port = number("port")?;
        endpoint.context = number("context")?;
        Ok(endpoint)
    }

    /// Its base address.
    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// What it is, and what it took.
    pub fn used(&self) -> String {
        let peak = memory::peak(self.child.id()).map_or("unknown".to_owned(), memory::shown);
        format!(
            "a context of {} tokens; the server took {peak} at most",
            self.context
        )
    }

    /// Whether it still runs.
    ///
    /// # Errors
    /// When it does not: then nothing that follows says anything.
    pub fn check(&mut self) -> anyhow::Result<()> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => bail!("the local model ended: {status}"),
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! How fast redaction is, and in how much memory: `cargo xtask bench redact`.

#![expect(clippy::print_stdout, reason = "it prints its figures")]

use std::time::Instant;

use carson_redact::Redactor;
use secrecy::SecretString;

const GIGABYTE: usize = 1 << 30;

fn main() {
    let started = Instant::now();
    let secrets =
        (0..20).map(|at| SecretString::from(format!("a-secret-value-{at}-{:x}", at * 7_919_777)));
    let redactor = Redactor::new(secrets);
    println!(
        "20 known values, made ready: {:.1} ms",
        started.elapsed().as_secs_f64() * 1e3
    );
    let code = "    pub(crate) fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) { self.text.extend(piece); }\\n";
    let json = format!(
        "{{\"type\":\"assistant\",\"uuid\":\"550e8400-e29b-41d4-a716-446655440000\",\"text\":\"{}\"}}\n",
        code.repeat(20)
    );
    let key = format!("key=ghp_{}\n", "Zk3vQ9xLmB7tR2wY5nC8aD1eF4gH6jK0pSuV");
    let known = "a-secret-value-3-16a8123 and then a-secret-value-7-34de6e7\n";
    measure(
        "transcript (JSON lines with code)",
        &redactor,
        json.as_bytes(),
    );
    measure(
        "the same, a key in each line",
        &redactor,
        format!("{json}{key}{known}").as_bytes(),
    );
    measure(
        "one line without end",
        &redactor,
        json.trim_end().as_bytes(),
    );
    measure("x without end", &redactor, &[b'x'; 65_536]);
}

/// A gigabyte of it, in the pieces in which a pipe brings it.
fn measure(what: &str, redactor: &Redactor, text: &[u8]) {
    let input = text.repeat((1 << 22) / text.len() + 1);
    let (mut stream, mut out) = (redactor.stream(), Vec::new());
    let (mut fed, mut most, started) = (0, 0, Instant::now());
    while fed < GIGABYTE {
        for piece in input.chunks(65_536) {
            stream.push(piece, &mut out);
            most = most.max(out.capacity());
            out.clear();
            fed += piece.len();
        }
    }
    stream.finish(&mut out);
    let speed = fed as f64 / 1e6 / started.elapsed().as_secs_f64();
    println!(
        "{what}: {speed:.0} MB/s, at most {} kB handed on at once, {} kB resident",
        most / 1024,
        resident()
    );
}

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok())
        .unwrap_or(0)
}

//! The table: attempt · layer that stopped it · what the record says.

use serde_json::Value;

use super::scene::Went;

/// What stopped an attempt, by the kernel's answer.
pub fn layer(went: &Went) -> String {
    if went.through {
        let made = went.said.ends_with("was made");
        return if made {
            "its own private /tmp, gone with the session".to_owned()
        } else {
            format!("nothing: {}", went.said)
        };
    }
    let by = match went.errno {
        Some(1) => "seccomp, capabilities or signal scope (EPERM)",
        Some(2) => "mount namespace: it is not there (ENOENT)",
        Some(3) => "PID namespace: nobody has that number (ESRCH)",
        Some(11) => "process limit (EAGAIN)",
        Some(13) => "Landlock, or a cover (EACCES)",
        Some(18) => "another file system (EXDEV)",
        Some(20) => "mount namespace: it is covered (ENOTDIR)",
        Some(27) => "file size limit (EFBIG)",
        Some(30) => "read-only mount (EROFS)",
        _ => &went.said,
    };
    by.lines()
        .last()
        .unwrap_or_default()
        .chars()
        .take(90)
        .collect()
}

/// Prints it; the harness shows it under `--no-capture`.
pub fn print(title: &str, row: &Value, all: &[Went]) {
    let weaker: Vec<&str> = row["sandbox"]["weaker"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    println!("\n== {title}: {} ({})", row["outcome"], row["reason"]);
    println!("   sandbox: {}", row["sandbox"]);
    for one in weaker {
        println!("   weaker: {one}");
    }
    println!("{:<26} | {:<60} | in the record", "attempt", "stopped by");
    for went in all {
        let record = if went.through { "through" } else { "refused" };
        println!(
            "{:<26} | {:<60} | transcript: {record}",
            went.name,
            layer(went)
        );
    }
}

//! The hook as a shell command line.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use carson_config::HookFailure;
use carson_core::text::shell_word;
use carson_proc::own_program;

/// The hook's program and its arguments: the small static binary where it is installed beside `carson`, else `carson`
/// itself, which answers the same.
#[must_use]
pub fn hook_program(program: &Path) -> (PathBuf, &'static [&'static str]) {
    let small = program.with_file_name("carson-hook");
    match small.is_file() {
        true => (small, &[]),
        false => (program.to_owned(), &["hook", "run"]),
    }
}

/// The hook as a shell command line, which is what agent CLIs ask for.
fn hook_command(program: &Path) -> String {
    let (program, args) = hook_program(program);
    let words = std::iter::once(quoted(&program)).chain(args.iter().map(|arg| (*arg).to_owned()));
    words.collect::<Vec<_>>().join(" ")
}

/// The hook for a role: an agent CLI lets a call run when its hook is missing, killed, slow or
/// broken, so a role that wants it refused gets a shell around the hook that says so (CLIS.md §2),
/// and that waits less long than the CLI does where there is a `timeout` on the operator's `path`. That is named by
/// its place: none that a session puts on its own `PATH` is taken.
#[must_use]
pub fn guarded_hook(program: &Path, path: Option<&OsStr>, failure: HookFailure) -> String {
    guarded(program, own_program(Path::new("timeout"), path), failure)
}

/// Seconds after which the guard of a role that wants calls refused waits no more for the hook.
pub const GUARD_WAITS_S: u32 = 2;

/// A line that ends after some seconds, where there is a `timeout`.
fn bounded(hook: &str, timeout: Option<PathBuf>) -> String {
    match timeout.as_deref().map(quoted) {
        Some(timeout) => format!(
            "if test -x {timeout}; then {timeout} -k 1 {GUARD_WAITS_S} {hook}; else {hook}; fi"
        ),
        None => hook.to_owned(),
    }
}

fn guarded(program: &Path, timeout: Option<PathBuf>, failure: HookFailure) -> String {
    let hook = hook_command(program);
    match failure {
        HookFailure::Open => hook,
        HookFailure::Closed => {
            let asked = bounded(&hook, timeout);
            format!(
                "{{ {asked}; }} || {{ test $? -eq 2 || \
                 echo 'carson: the hook gave no answer, so the call is refused' >&2; exit 2; }}"
            )
        }
    }
}

/// A path as a word for `sh`.
pub(crate) fn quoted(path: &Path) -> String {
    shell_word(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::disallowed_methods,
        reason = "the hook is run as an agent CLI runs it: by a shell"
    )]

    use super::*;

    /// Answers of a program in the hook's place, by the exit code that the CLI sees.
    fn answer(body: Option<&str>, failure: HookFailure) -> (Option<i32>, String) {
        let timeout = own_program(Path::new("timeout"), Some("/usr/bin:/bin".as_ref()));
        answer_of(body, timeout, failure)
    }

    fn answer_of(
        body: Option<&str>,
        timeout: Option<PathBuf>,
        failure: HookFailure,
    ) -> (Option<i32>, String) {
        use std::os::unix::fs::PermissionsExt;
        let name = format!(
            "it's {:?} of {}",
            std::thread::current().id(),
            std::process::id()
        );
        let dir = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&dir).unwrap();
        if let Some(body) = body {
            let hook = dir.join("carson-hook");
            std::fs::write(&hook, format!("#!/bin/sh\n{body}\n")).unwrap();
            std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        // Who asks has a program of the session's own first on its path.
        let planted = dir.join("timeout");
        std::fs::write(&planted, "#!/bin/sh\nexit 0\n").unwrap();
        std::fs::set_permissions(&planted, std::fs::Permissions::from_mode(0o755)).unwrap();
        let line = guarded(&dir.join("carson"), timeout, failure);
        let path = format!("{}:/usr/bin:/bin", dir.display());
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &line])
            .env("PATH", path)
            .output()
            .unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    }

    #[test]
    fn a_closed_role_refuses_what_its_hook_does_not_answer() {
        let slow = Some("exec sleep 60");
        for body in [None, Some("exit 1"), Some("kill -9 $$"), slow] {
            let (code, said) = answer(body, HookFailure::Closed);
            assert_eq!(code, Some(2), "{body:?}");
            assert!(said.contains("gave no answer"), "{body:?}: {said}");
        }
        for body in [None, Some("exit 1"), Some("kill -9 $$")] {
            assert_ne!(answer(body, HookFailure::Open).0, Some(2), "{body:?}");
        }
    }

    #[test]
    fn a_hook_that_answers_is_left_alone() {
        for failure in [HookFailure::Open, HookFailure::Closed] {
            assert_eq!(answer(Some("exit 0"), failure), (Some(0), String::new()));
            let refused = answer(Some("echo no >&2; exit 2"), failure);
            assert_eq!(refused, (Some(2), "no\n".to_owned()));
        }
    }

    #[test]
    fn without_a_timeout_of_the_machine_the_hook_is_asked_alone() {
        for timeout in [None, Some("/nowhere/timeout".into())] {
            let refuses = answer_of(Some("exit 2"), timeout.clone(), HookFailure::Closed);
            assert_eq!(refuses, (Some(2), String::new()));
            let passes = answer_of(Some("exit 0"), timeout, HookFailure::Closed);
            assert_eq!(passes, (Some(0), String::new()));
        }
    }
}

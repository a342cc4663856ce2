//! The hook as a shell command line.

use std::path::Path;

use carson_config::HookFailure;

/// The hook as a shell command line, which is what agent CLIs ask for: the small static binary
/// where it is installed beside `carson`, else `carson` itself, which answers the same.
#[must_use]
fn hook_command(program: &Path) -> String {
    let small = program.with_file_name("carson-hook");
    if small.is_file() {
        quoted(&small)
    } else {
        format!("{} hook run", quoted(program))
    }
}

/// The hook for a role: an agent CLI lets a call run when its hook is missing, killed, slow or
/// broken, so a role that wants it refused gets a shell around the hook that says so (CLIS.md §2),
/// and that waits less long than the CLI does where there is a `timeout`.
#[must_use]
pub fn guarded_hook(program: &Path, failure: HookFailure) -> String {
    let hook = hook_command(program);
    match failure {
        HookFailure::Open => hook,
        HookFailure::Closed => format!(
            "$(command -v timeout >/dev/null && echo timeout -k 1 2) {hook} || {{ test $? -eq 2 || \
             echo 'carson: the hook gave no answer, so the call is refused' >&2; exit 2; }}"
        ),
    }
}

/// Quotes a path for `sh`.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', r"'\''"))
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
        let line = guarded_hook(&dir.join("carson"), failure);
        let output = std::process::Command::new("/bin/sh")
            .args(["-c", &line])
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
}

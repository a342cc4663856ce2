//! A CLI that is begun by a few lines of `sh`: they make the home that it has for one session, inside
//! of the walls and with the session's own rights, so that nothing that an earlier one left is read or
//! followed by anybody else.

use carson_proc::Command;

use crate::engine::Engine;
use crate::session::Session;

/// The lines get `files` as `$1` and so on, and then the CLI with its arguments; they end with
/// `exec "$@"`.
pub(super) fn begun_by_sh<const N: usize>(
    engine: &Engine,
    session: &Session<'_>,
    lines: &str,
    files: [String; N],
) -> Command {
    Command::new("/bin/sh", session.cwd)
        .exact_env(session.env.clone())
        .args(["-c", lines, "sh"])
        .args(files)
        .arg(&engine.program)
}

//! What the launcher is called with, and what it answers.

use std::ffi::OsString;
use std::path::PathBuf;

use super::first::First;

/// The first argument that makes an executable of ours the launcher.
pub const LAUNCH: &str = "sandbox-launch";

/// The first argument that makes it say what was written above layers of this commit:
/// `sandbox-written COMMIT AT ABOVE BELOW… -- [ANYTHING]…`.
pub const WRITTEN: &str = "sandbox-written";

/// The launcher's option for [`First`].
pub(crate) const ASK_FIRST: &str = "--first";

/// Says that only the level is asked for.
pub(crate) const PROBE: &str = "--probe";

/// What the launcher was called with.
#[derive(Debug)]
pub(crate) struct Call {
    pub profile: PathBuf,
    /// Control groups to join, made by whoever calls.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there are none"))]
    pub cgroups: Vec<PathBuf>,
    /// How the level is said on standard error.
    pub say: Option<Say>,
    /// What is asked behind the walls before the program begins.
    pub first: Option<First>,
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

/// How a level is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Say {
    /// For people.
    Words,
    /// As one line of JSON.
    Json,
}

impl Say {
    /// The launcher's option for it.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Words => "--say",
            Self::Json => "--say-json",
        }
    }
}

/// `[--cgroup DIR]… [--say|--say-json] [--first QUESTIONS] PROFILE -- PROGRAM [ARGUMENT]…`
pub(crate) fn parse(args: Vec<OsString>) -> Result<Call, String> {
    let mut args = args.into_iter();
    let mut cgroups = Vec::new();
    let (mut say, mut first) = (None, None);
    let wrong = || format!("usage: {LAUNCH} [--cgroup DIR]… PROFILE -- PROGRAM [ARGUMENT]…");
    let profile = loop {
        let arg = args.next().ok_or_else(wrong)?;
        if arg == "--cgroup" {
            cgroups.push(PathBuf::from(args.next().ok_or_else(wrong)?));
        } else if arg == ASK_FIRST {
            first = Some(First::from_argument(&args.next().ok_or_else(wrong)?)?);
        } else if let Some(how) = [Say::Words, Say::Json]
            .into_iter()
            .find(|how| arg == how.option())
        {
            say = Some(how);
        } else {
            break PathBuf::from(arg);
        }
    };
    if args.next().is_none_or(|arg| arg != "--") {
        return Err(wrong());
    }
    Ok(Call {
        profile,
        cgroups,
        say,
        first,
        program: args.next().ok_or_else(wrong)?.into(),
        args: args.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<Call, String> {
        parse(args.iter().map(OsString::from).collect())
    }

    #[test]
    fn everything_behind_the_dashes_is_the_program() {
        let call = parsed(&["--cgroup", "/c", "/p", "--", "/bin/x", "--", "--cgroup"]).unwrap();
        assert_eq!(call.cgroups, [PathBuf::from("/c")]);
        assert_eq!(call.profile, PathBuf::from("/p"));
        assert_eq!(call.program, PathBuf::from("/bin/x"));
        assert_eq!(call.args, ["--", "--cgroup"]);
        for wrong in [&[][..], &["/p"], &["/p", "--"], &["/p", "x"], &["--cgroup"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}

//! Who asks: what a loop needs to know of the process that runs it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use carson_core::Clock;
use carson_redact::Redactor;

use crate::normal::Places;

/// Bytes of a file of git's settings that are read.
const SETTINGS: u64 = 1 << 20;

/// Variables that hold no secret, beside those of a locale.
const PLAIN: [&str; 6] = ["PATH", "LANG", "LANGUAGE", "TZ", "TERM", "USER"];

/// Who asks for something.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The environment that task and promise have, all of it.
    pub env: Vec<(OsString, OsString)>,
    /// The `carson` program, which runs a loop in the background.
    pub program: PathBuf,
    /// What is taken out of what is written down and told.
    pub redactor: Redactor,
    /// The time.
    pub clock: Clock,
}

impl Caller {
    /// With this environment.
    #[must_use]
    pub fn new(
        env: impl IntoIterator<Item = (OsString, OsString)>,
        program: PathBuf,
        redactor: Redactor,
    ) -> Self {
        Self {
            env: env.into_iter().collect(),
            program,
            redactor,
            clock: Clock::system(),
        }
    }

    /// A variable.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let found = self.env.iter().rev().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_os_str())
            .filter(|value| !value.is_empty())
    }

    /// The same with no variable but those that programs need to run at all: no secret is in one of them.
    #[must_use]
    pub(crate) fn bare(&self) -> Self {
        let is_plain = |name: &OsStr| {
            let name = name.as_encoded_bytes();
            name.starts_with(b"LC_") || PLAIN.iter().any(|plain| plain.as_bytes() == name)
        };
        let env = self.env.iter().filter(|(name, _)| is_plain(name));
        Self {
            env: env.cloned().collect(),
            ..self.clone()
        }
    }

    /// The user's home.
    #[must_use]
    pub fn home(&self) -> Option<PathBuf> {
        self.variable("HOME").map(PathBuf::from)
    }

    /// The file by which the user's git ignores files everywhere (`core.excludesFile`).
    #[must_use]
    pub fn git_excludes(&self) -> Option<PathBuf> {
        let home = self.home()?;
        let settings = self.variable("XDG_CONFIG_HOME").map(PathBuf::from);
        let settings = settings.unwrap_or_else(|| home.join(".config")).join("git");
        let named = [home.join(".gitconfig"), settings.join("config")]
            .iter()
            .find_map(|file| excludes_file(file, &home));
        named.or_else(|| Some(settings.join("ignore")))
    }

    /// What says where something ran, not what it did.
    #[must_use]
    pub fn places(&self, root: &Path) -> Places {
        let temporary = ["/tmp", "/var/tmp", "/private/tmp"]
            .map(PathBuf::from)
            .into_iter();
        let temporary = temporary.chain(self.variable("TMPDIR").map(PathBuf::from));
        let real = root.canonicalize().ok();
        Places::new([root.to_owned()].into_iter().chain(real), temporary)
    }
}

/// What a file of settings says of `core.excludesFile`, last one first. Files that it includes are not read.
fn excludes_file(file: &Path, home: &Path) -> Option<PathBuf> {
    if fs::metadata(file).ok()?.len() > SETTINGS {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let (mut is_core, mut found) = (false, None);
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            is_core = section
                .trim_end_matches(']')
                .trim()
                .eq_ignore_ascii_case("core");
        } else if let (true, Some((key, value))) = (is_core, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("excludesfile")
        {
            found = Some(value.trim().trim_matches('"').to_owned());
        }
    }
    let value = found.filter(|value| !value.is_empty())?;
    Some(match value.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => home.join(value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_ignore_file_is_found_as_git_finds_it() {
        let home = tempfile::tempdir().unwrap();
        let caller = |env: &[(&str, &Path)]| {
            let env = env.iter().map(|(name, value)| (name.into(), value.into()));
            Caller::new(env, PathBuf::from("carson"), Redactor::default())
        };
        let plain = caller(&[("HOME", home.path())]);
        assert_eq!(
            plain.git_excludes(),
            Some(home.path().join(".config/git/ignore"))
        );
        let moved = caller(&[("HOME", home.path()), ("XDG_CONFIG_HOME", Path::new("/x"))]);
        assert_eq!(moved.git_excludes(), Some(PathBuf::from("/x/git/ignore")));
        let settings = "[user]\n\texcludesfile = no\n[core]\n\tExcludesFile = \"~/mine\"\n[x]\n";
        fs::write(home.path().join(".gitconfig"), settings).unwrap();
        assert_eq!(plain.git_excludes(), Some(home.path().join("mine")));
        assert_eq!(caller(&[]).git_excludes(), None);
    }
}

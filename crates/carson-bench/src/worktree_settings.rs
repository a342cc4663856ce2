//! What git in a worktree is told.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use carson_config::Included;
use carson_git::{Layered, Oid, config_value, ignore_pattern};
use carson_home::Home;
use carson_proc::sandbox::{Overlay, WRITTEN};

use crate::bench::Bench;
use crate::hook_command::quoted;
use crate::layers::EXCLUDE;
use crate::own_places::who_answers;

impl Bench {
    /// Tells git in the bench's repository what the setup left and what was included, so that no session
    /// takes it for its work; and on layers with many files whom to ask what was written, so that it need not look at
    /// each. `base` is the commit below.
    ///
    /// # Errors
    /// What the file system says.
    pub fn tell_git(&self, home: &Home, files: &[Included], base: &Oid) -> std::io::Result<()> {
        let layered = self.layered();
        let below = layered
            .as_ref()
            .map(|layered| layered.overlay.lower.as_slice());
        self.exclude_given(below.unwrap_or_default(), files)?;
        // To look at few files takes less than to ask.
        let Some(layered) = layered.filter(Layered::has_many_files) else {
            return Ok(());
        };
        let Some(asked) = self.who_knows(home, &layered.overlay, base) else {
            return Ok(());
        };
        let config = self.repository().join("config");
        let mut config = fs::OpenOptions::new().append(true).open(config)?;
        let asked = config_value(&asked);
        // What was remembered of a directory would stay where something of it is gone: that is not told.
        write!(
            config,
            "[core]\n\tfsmonitor = {asked}\n\tfsmonitorHookVersion = 2\n\tuntrackedCache = false\n"
        )
    }

    fn exclude_given(&self, below: &[PathBuf], files: &[Included]) -> std::io::Result<()> {
        let lists = below
            .iter()
            .filter_map(|tree| fs::read_to_string(tree.with_file_name(EXCLUDE)).ok());
        let mut all: String = lists.collect();
        for file in files {
            all.push_str(&(ignore_pattern(&file.to) + "\n"));
        }
        if all.trim().is_empty() {
            return Ok(());
        }
        let info = self.repository().join("info");
        fs::create_dir_all(&info)?;
        fs::write(info.join("exclude"), all)
    }

    /// The command line that names what was written; `None` where a path cannot stand in one.
    fn who_knows(&self, home: &Home, overlay: &Overlay, base: &Oid) -> Option<String> {
        let upper = overlay.upper.as_ref()?;
        let program = who_answers(home);
        let places = [&overlay.at, &upper.dir].into_iter().chain(&overlay.lower);
        let places: Vec<&Path> = places.map(AsRef::as_ref).collect();
        let is_plain = |path: &&Path| {
            let text = path.to_str();
            text.is_some_and(|text| !text.chars().any(char::is_control))
        };
        if !places.iter().all(is_plain) || !is_plain(&program.as_path()) {
            return None;
        }
        let places: Vec<String> = places.into_iter().map(quoted).collect();
        Some(format!(
            "{} {WRITTEN} {base} {} --",
            quoted(&program),
            places.join(" ")
        ))
    }
}

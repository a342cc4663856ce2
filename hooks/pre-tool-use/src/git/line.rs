//! A `git` command line in its parts.

use crate::context::Context;
use crate::marks::{self, ANY};
use crate::path;
use crate::walk::options::{self, Spec};
use crate::walk::{State, World};
use crate::words::Words;

/// A `git` command line.
#[derive(Debug, Default, Clone)]
pub struct GitLine {
    /// Everything before the subcommand, as given.
    pub global: Vec<String>,
    /// `-C`, in order.
    pub dirs: Vec<String>,
    /// `-c` and `--config-env`: lower-case key and value.
    pub settings: Vec<(String, String)>,
    /// `--git-dir` or `--work-tree`.
    pub elsewhere: Option<String>,
    /// The subcommand.
    pub sub: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// Settings whose value is a command.
const COMMAND_SETTINGS: Words = Words(
    "core.sshcommand core.editor sequence.editor core.pager diff.external core.fsmonitor \
     core.askpass gpg.program credential.helper",
);

/// Variables whose value is a command.
const COMMAND_VARIABLES: Words = Words(
    "GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND",
);

/// Subcommands that are not aliases. An alias cannot replace one.
const BUILTINS: &str = " add am annotate apply archive bisect blame branch bundle cat-file check-attr \
    check-ignore checkout checkout-index cherry cherry-pick clean clone commit commit-tree config \
    count-objects credential describe diff diff-files diff-index diff-tree difftool fast-export \
    fast-import fetch fetch-pack filter-branch for-each-ref format-patch fsck gc grep hash-object \
    help http-push init lfs log ls-files ls-remote ls-tree maintenance merge merge-base merge-file \
    merge-tree mergetool mktag mktree mv name-rev notes p4 pack-refs prune pull push quiltimport \
    range-diff read-tree rebase receive-pack reflog remote repack replace request-pull reset \
    restore rev-list rev-parse revert rm send-email send-pack shortlog show show-branch show-ref \
    sparse-checkout stash status stripspace submodule subtree svn switch symbolic-ref tag \
    update-index update-ref update-server-info upload-pack var verify-commit verify-tag version \
    whatchanged worktree write-tree credential-store credential-cache credential-osxkeychain ";

/// Whether the word is one of git's own subcommands.
pub fn is_builtin(sub: &str) -> bool {
    !sub.is_empty() && !sub.contains(' ') && BUILTINS.contains(&format!(" {sub} "))
}

impl GitLine {
    /// Reads the arguments of `git`.
    pub fn read(args: &[String]) -> Self {
        let mut line = Self::default();
        let mut at = 0;
        while let Some(arg) = args.get(at).filter(|arg| arg.starts_with('-')) {
            let next = args.get(at + 1);
            at += 1 + usize::from(line.global_option(arg, next));
        }
        let at = at.min(args.len());
        line.global = args[..at].to_vec();
        line.sub = args.get(at).cloned().unwrap_or_default();
        line.args = args.get(at + 1..).unwrap_or_default().to_vec();
        line
    }

    /// Reads one global option; true when it took the next word.
    fn global_option(&mut self, arg: &str, next: Option<&String>) -> bool {
        let value = next.map_or("", String::as_str);
        match arg {
            "-C" => self.dirs.push(value.to_owned()),
            "-c" => self.setting_given(value),
            "--config-env" => self.setting_from_env(value),
            "--git-dir" | "--work-tree" => self.elsewhere = Some(value.to_owned()),
            "--namespace" | "--super-prefix" | "--exec-path" if next.is_some() => {
                return arg != "--exec-path";
            }
            _ => {
                if let Some(pair) = arg.strip_prefix("--config-env=") {
                    self.setting_from_env(pair);
                } else if let Some(dir) = arg
                    .strip_prefix("--git-dir=")
                    .or_else(|| arg.strip_prefix("--work-tree="))
                {
                    self.elsewhere = Some(dir.to_owned());
                }
                return false;
            }
        }
        true
    }

    fn setting_given(&mut self, pair: &str) {
        // `-c key` alone means true.
        let (key, value) = pair.split_once('=').unwrap_or((pair, "true"));
        self.settings
            .push((key.to_ascii_lowercase(), value.to_owned()));
    }

    fn setting_from_env(&mut self, pair: &str) {
        let key = pair.split('=').next().unwrap_or_default();
        self.settings
            .push((key.to_ascii_lowercase(), marks::only(ANY)));
    }

    /// The value `-c` gives a setting.
    pub fn setting(&self, key: &str) -> Option<String> {
        self.settings
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.clone())
    }

    /// Whether an argument is given, before any `--`.
    pub fn has(&self, options: Words) -> bool {
        let before = self.args.iter().take_while(|arg| *arg != "--");
        before.into_iter().any(|arg| options.has(arg))
    }

    /// Where the command works: the shell's directory, `-C`, `--work-tree`, `--git-dir`.
    pub fn directories(&self, state: &State) -> Vec<String> {
        let unknown = || marks::only(ANY);
        let enter = |dir: String, to: &str| path::absolute(to, &dir).unwrap_or_else(unknown);
        let place = |cwd: &String| {
            let dir = self.dirs.iter().fold(cwd.clone(), |dir, to| enter(dir, to));
            match &self.elsewhere {
                Some(to) => enter(dir, to.trim_end_matches('/').trim_end_matches("/.git")),
                None => dir,
            }
        };
        state.cwd.iter().map(place).collect()
    }

    /// Commands in settings, variables and options that git runs through a shell.
    pub fn commands(&self, env: &[(String, String)]) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for (key, value) in &self.settings {
            let code = value.strip_prefix('!').unwrap_or(value);
            let runs = COMMAND_SETTINGS.has(key.as_str())
                || key.starts_with("pager.")
                || key.ends_with(".textconv");
            if runs && marks::exact(code) {
                out.push(code.to_owned());
            }
        }
        let given = env
            .iter()
            .filter(|(name, _)| COMMAND_VARIABLES.has(name.as_str()));
        out.extend(given.map(|(_, value)| value.clone()));
        out.extend(self.option_commands());
        out
    }

    fn option_commands(&self) -> Vec<String> {
        let after = |flags: Words| {
            let pairs = self.args.windows(2).filter(|pair| flags.has(&pair[0]));
            pairs.map(|pair| pair[1].clone()).collect::<Vec<_>>()
        };
        let attached = |flag: &str| {
            self.args
                .iter()
                .filter_map(|arg| arg.strip_prefix(flag))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        match self.sub.as_str() {
            "rebase" => [after(Words("-x --exec")), attached("--exec=")].concat(),
            "difftool" => [after(Words("-x --extcmd")), attached("--extcmd=")].concat(),
            "grep" => [attached("-O"), attached("--open-files-in-pager=")].concat(),
            "submodule" => {
                let words = self.args.iter().skip_while(|arg| *arg != "foreach").skip(1);
                let words: Vec<_> = words
                    .filter(|arg| !arg.starts_with("--"))
                    .cloned()
                    .collect();
                vec![words.join(" ")]
            }
            _ => Vec::new(),
        }
    }

    /// The command of `git bisect run`.
    pub fn inner_command(&self) -> Option<Vec<String>> {
        let runs = self.sub == "bisect" && self.args.first().is_some_and(|arg| arg == "run");
        runs.then(|| self.args[1..].to_vec())
    }

    /// Notes which branch the command checks out and which settings it writes.
    pub fn effects(&self, world: &mut World, state: &State, ctx: &Context) {
        for dir in self
            .directories(state)
            .into_iter()
            .filter(|dir| dir.starts_with('/'))
        {
            if let Some(branch) = self.checked_out() {
                world.branches.insert(super::top_level(&dir, ctx), branch);
            }
        }
        if let ("worktree", [verb, operands @ ..]) = (self.sub.as_str(), self.args.as_slice())
            && verb == "add"
        {
            let spec = Spec {
                short: "bB",
                long: Words("reason"),
            };
            if let [dir, branch] = options::operands(operands, spec).as_slice() {
                for cwd in self.directories(state) {
                    let path = crate::path::absolute(dir, &cwd);
                    world
                        .branches
                        .extend(path.map(|path| (path, (*branch).to_owned())));
                }
            }
        }
        world.git_config.extend(self.written_setting());
        world.git_config.extend(self.upstream());
    }

    /// The branch that `checkout` and `switch` go to.
    fn checked_out(&self) -> Option<String> {
        let makes = |arg: &String| {
            matches!(
                arg.as_str(),
                "-b" | "-B" | "-c" | "-C" | "--orphan" | "--create" | "--force-create"
            )
        };
        match self.sub.as_str() {
            "checkout" | "switch" => {}
            "branch" => return self.renamed(),
            "symbolic-ref" => {
                let operands: Vec<_> = self.args.iter().filter(|a| !a.starts_with('-')).collect();
                let [head, target] = operands[..] else {
                    return None;
                };
                let branch = target.strip_prefix("refs/heads/").unwrap_or(target);
                return (head == "HEAD").then(|| branch.to_owned());
            }
            _ => return None,
        }
        if let Some(at) = self.args.iter().position(makes) {
            return self.args.get(at + 1).cloned();
        }
        if self
            .args
            .iter()
            .any(|arg| arg == "--" || arg == "-p" || arg == "--patch")
        {
            return None;
        }
        let operands: Vec<_> = self
            .args
            .iter()
            .filter(|arg| !arg.starts_with('-'))
            .collect();
        let [only] = operands[..] else { return None };
        if self.has(Words("-t --track")) {
            return only.split_once('/').map(|(_, branch)| branch.to_owned());
        }
        let file = only.starts_with('.')
            || only
                .rsplit_once('.')
                .is_some_and(|(_, e)| e.len() < 5 && e.chars().all(char::is_alphabetic));
        (!file || self.sub == "switch").then(|| only.clone())
    }

    fn renamed(&self) -> Option<String> {
        let renames = self.has(Words("-m -M --move"));
        let mut operands = self.args.iter().filter(|arg| !arg.starts_with('-'));
        renames.then(|| operands.next_back().cloned()).flatten()
    }

    /// `git config KEY VALUE`, `git remote add NAME URL`, `git clone URL`.
    pub fn written_setting(&self) -> Option<(String, String)> {
        let operands: Vec<_> = self
            .args
            .iter()
            .filter(|arg| !arg.starts_with('-'))
            .collect();
        match (self.sub.as_str(), operands.as_slice()) {
            ("config", [verb, key, value, ..]) if *verb == "set" => {
                Some((key.to_ascii_lowercase(), (*value).clone()))
            }
            ("config", [key, value]) if *key != "get" && *key != "unset" => {
                Some((key.to_ascii_lowercase(), (*value).clone()))
            }
            ("remote", [verb, name, url]) if *verb == "add" || *verb == "set-url" => {
                Some((format!("remote.{name}.url"), (*url).clone()))
            }
            ("clone", [url, ..]) => Some(("remote.origin.url".to_owned(), (*url).clone())),
            _ => None,
        }
    }

    /// `git branch -u origin/main`, `git push -u …` set where a later push may go.
    fn upstream(&self) -> Option<(String, String)> {
        if self.sub != "branch" {
            return None;
        }
        let at = self
            .args
            .iter()
            .position(|arg| arg == "-u" || arg == "--set-upstream-to");
        let value = match at {
            Some(at) => self.args.get(at + 1)?.as_str(),
            None => self
                .args
                .iter()
                .find_map(|arg| arg.strip_prefix("--set-upstream-to="))?,
        };
        let branch = value.split_once('/').map_or(value, |(_, branch)| branch);
        Some(("upstream".to_owned(), branch.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> GitLine {
        GitLine::read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn global_options_end_at_the_subcommand() {
        let line = read("-C a -C b -c Core.HooksPath=/x --git-dir=/g -P push -f origin");
        assert_eq!(line.dirs, ["a", "b"]);
        assert_eq!(line.setting("core.hookspath").as_deref(), Some("/x"));
        assert_eq!(line.elsewhere.as_deref(), Some("/g"));
        assert_eq!((line.sub.as_str(), line.args.len()), ("push", 2));
        let state = State::new("/wt");
        assert_eq!(read("-C a -C ../b status").directories(&state), ["/wt/b"]);
    }

    #[test]
    fn what_is_checked_out() {
        let branch = |line: &str| read(line).checked_out();
        assert_eq!(branch("checkout main").as_deref(), Some("main"));
        assert_eq!(
            branch("checkout -b new origin/main").as_deref(),
            Some("new")
        );
        assert_eq!(branch("switch -c new").as_deref(), Some("new"));
        assert_eq!(branch("checkout -t origin/main").as_deref(), Some("main"));
        assert_eq!(branch("checkout -- main"), None);
        assert_eq!(branch("checkout src/lib.rs"), None);
        assert_eq!(branch("checkout main src"), None);
        assert_eq!(branch("checkout ."), None);
    }
}

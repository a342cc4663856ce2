//! What commands print and which files they write, as far as it can become code, a path or a
//! branch later on the line.

use crate::base64;
use crate::git::GitLine;
use crate::marks::{self, ANY, DEEP, DOWNLOAD, OPAQUE, SECRET, STAR};
use crate::path;
use crate::rules::credential_read::is_secret_variable;
use crate::words::Words;

use super::copies;
use super::filters::{ENVIRONMENT, filtered, grep, ls, names_variable, prefixed};
use super::options::{self, Spec};
use super::printing;
use super::stores;
use super::{Exec, State, Walker};

/// Commands that fetch from the network and can print what they fetched.
pub(crate) const DOWNLOADERS: Words = Words(
    "curl curlie wget wget2 lftp wcurl aria2c http https xh fetch lynx w3m nc ncat netcat socat \
     ftp tftp lwp-request GET axel links elinks lwp-download telnet",
);

/// Commands that print the files they are given, or their input.
const PASSED_ON: Words = Words(
    "cat tac head tail sort uniq less more bat pv sponge fold col dos2unix nl shuf strings \
     envsubst",
);

/// Commands that print a number or a name.
const TELLERS: Words =
    Words("date nproc wc id uname hostname whoami seq sha256sum md5sum uuidgen jot getconf");

/// Commands that print nothing.
const SILENT: Words = Words("mkdir rm touch chmod chown rmdir sleep kill true");

/// Commands that print a changed form of their input.
const FILTERS: Words = Words(
    "sed gsed tr awk cut zcat rev tar gtar bsdtar unzip funzip iconv jq yq brotli column \
     paste perl python3",
);

impl Walker<'_> {
    /// Notes what the command writes and returns what it prints.
    pub(super) fn output(&mut self, exec: &Exec, state: &mut State) -> String {
        let args = exec.args();
        let name = exec.name();
        match name {
            _ if DOWNLOADERS.has(name) => self.download(exec, state),
            "echo" => printing::echo(args),
            "printf" => self.printf(args, state),
            _ if PASSED_ON.has(name) => self.passed_on(exec, state),
            "tee" => self.tee(exec, state),
            "rev" if exec.args().is_empty() && marks::exact(&exec.stdin) => {
                let lines = exec.stdin.lines();
                let reversed: Vec<String> =
                    lines.map(|line| line.chars().rev().collect()).collect();
                reversed.join("\n")
            }
            "which" if args.len() == 1 && marks::exact(&args[0]) => {
                format!("/usr/bin/{}", path::name(&args[0]))
            }
            "dd" => self.dd(exec, state),
            _ if stores::STORES.has(name) => self.fetched_from_store(exec, state),
            "grep" | "egrep" | "fgrep" | "rg" | "ag" => grep(exec),
            "base64" | "gbase64" | "base32" | "xxd" | "uudecode" | "gpg" | "gpg2" | "age" => {
                self.decode(exec, state)
            }
            "printenv" if args.iter().any(|arg| is_secret_variable(arg)) => marks::only(SECRET),
            "jq" | "yq" | "gojq" if args.iter().any(|arg| names_variable(arg)) => {
                marks::only(SECRET)
            }
            "dig" | "drill" | "nslookup" | "host" | "kdig" | "doggo" => marks::only(DOWNLOAD),
            "pwd" => state.cwd.join("\n"),
            "mktemp" => format!("{}/{STAR}", self.temp()),
            "dirname" => self.dirname(args),
            "basename" => args
                .first()
                .map(|arg| path::name(arg).to_owned())
                .unwrap_or_default(),
            "realpath" | "readlink" | "greadlink" => {
                let operands = options::operands(args, options::PLAIN);
                operands
                    .last()
                    .map_or_else(String::new, |file| self.paths_of(file, state).join("\n"))
            }
            "ls" | "dir" => ls(args),
            "git" => self.git_output(exec, state),
            "printenv" | "set" | "export" | "declare" if args.is_empty() => {
                format!("{ENVIRONMENT}\n{ANY}")
            }
            _ if TELLERS.has(name) => marks::only(STAR),
            "cp" | "mv" | "ln" | "install" => self.moved(exec, state),
            _ if copies::COPIERS.has(name) => self.copied_here(exec, state),
            _ if SILENT.has(name) => String::new(),
            "gunzip" | "unxz" | "bunzip2" | "unzstd" | "gzip" | "xz" | "bzip2" | "zstd" => {
                self.unpacked(exec, state);
                filtered(exec)
            }
            "sed" | "gsed" if prefixed(exec).is_some() => prefixed(exec).unwrap_or_default(),
            _ if FILTERS.has(name) => self.passed_through(exec, state),
            _ => self.unknown(exec, state),
        }
    }

    /// The output of a command nobody knows: it may print anything, and what it was fed with from the
    /// network may be in it.
    pub(super) fn unknown(&mut self, exec: &Exec, state: &State) -> String {
        let text = self.passed_through(exec, state);
        marks::only(if text.contains(DOWNLOAD) {
            DOWNLOAD
        } else {
            ANY
        })
    }

    /// What a filter prints: a changed form of its input, or of the files it names.
    fn passed_through(&mut self, exec: &Exec, state: &State) -> String {
        let from_file = !self.world.files.is_empty()
            && exec.args().iter().any(|file| {
                let text = self.content(file, state);
                text.is_some_and(|text| text.contains(DOWNLOAD))
            });
        if from_file {
            marks::only(DOWNLOAD)
        } else {
            filtered(exec)
        }
    }

    /// Where `mktemp` makes its files: under `TMPDIR`, which is the firing's private temp.
    fn temp(&self) -> String {
        let tmp = self.ctx.tmp.clone();
        if tmp.is_empty() {
            format!("/tmp/{STAR}")
        } else {
            tmp
        }
    }

    fn printf(&mut self, args: &[String], state: &mut State) -> String {
        if args.first().is_some_and(|arg| arg == "-v") {
            let text = printing::printf(args.get(2..).unwrap_or_default());
            if let Some(name) = args.get(1) {
                state.set(name, vec![text], false);
            }
            return String::new();
        }
        let from = usize::from(args.first().is_some_and(|arg| arg == "--"));
        marks::bounded(printing::printf(&args[from..]))
    }

    /// `cat` and its like: the files, or the input.
    fn passed_on(&mut self, exec: &Exec, state: &State) -> String {
        let spec = Spec {
            short: "ncktS",
            long: Words("lines bytes key"),
        };
        let files = options::operands(exec.args(), spec);
        if files.is_empty() || exec.name() == "envsubst" {
            return exec.stdin.clone();
        }
        let mut out = String::new();
        for file in files {
            let text = match file {
                "-" | "/dev/stdin" => exec.stdin.clone(),
                file => self
                    .content(file, state)
                    .unwrap_or_else(|| marks::only(ANY)),
            };
            super::append(&mut out, &text);
        }
        out
    }

    fn tee(&mut self, exec: &Exec, state: &mut State) -> String {
        let append = exec
            .args()
            .iter()
            .any(|arg| arg == "-a" || arg == "--append");
        for file in options::operands(exec.args(), options::PLAIN) {
            self.write_file(file, &exec.stdin, append, state);
        }
        exec.stdin.clone()
    }

    /// `dd of=FILE`, or what flows through it.
    fn dd(&mut self, exec: &Exec, state: &mut State) -> String {
        let value = |key: &str| exec.args().iter().find_map(|arg| arg.strip_prefix(key));
        let text = match value("if=") {
            Some(file) => self
                .content(file, state)
                .unwrap_or_else(|| marks::only(ANY)),
            None => exec.stdin.clone(),
        };
        match value("of=") {
            Some(file) => {
                self.write_file(file, &text, false, state);
                String::new()
            }
            None => text,
        }
    }

    /// `gunzip FILE.gz`: the file beside it holds what the packed one held.
    fn unpacked(&mut self, exec: &Exec, state: &mut State) {
        for file in options::operands(exec.args(), options::PLAIN) {
            let stem = [".gz", ".xz", ".bz2", ".zst"]
                .iter()
                .find_map(|end| file.strip_suffix(end));
            let text = self.content(file, state);
            if let (Some(stem), Some(text)) = (stem, text) {
                self.write_file(stem, &text, false, state);
            }
        }
    }

    /// `base64 -d`, `xxd -r`, `openssl … -d`: known text is decoded, the rest is opaque.
    pub(super) fn decode(&mut self, exec: &Exec, state: &State) -> String {
        let args = exec.args();
        let flag = |arg: &String| {
            let cluster = arg
                .strip_prefix('-')
                .is_some_and(|rest| !rest.starts_with('-'));
            matches!(
                arg.as_str(),
                "--decode" | "--decrypt" | "-D" | "-revert" | "enc"
            ) || (cluster && arg.len() < 5 && arg.contains(['d', 'r']))
        };
        if exec.name() != "uudecode" && !args.iter().any(flag) {
            return filtered(exec);
        }
        let file = options::operands(
            args,
            Spec {
                short: "w",
                long: Words(""),
            },
        )
        .last()
        .map(|f| (*f).to_owned());
        let written = file.and_then(|file| self.content(&file, state));
        let text = written.unwrap_or_else(|| exec.stdin.clone());
        if text.contains(DOWNLOAD) {
            return marks::only(DOWNLOAD);
        }
        let plain = match exec.name() {
            "base64" | "gbase64" | "openssl" => base64::decode(&text),
            "xxd" => base64::decode_hex(&text),
            _ => None,
        };
        match plain {
            Some(plain) if marks::exact(&text) && !text.is_empty() => marks::clean(&plain),
            _ => marks::only(OPAQUE),
        }
    }

    fn dirname(&self, args: &[String]) -> String {
        let Some(arg) = args.last() else {
            return String::new();
        };
        if arg.contains('/') || marks::exact(arg) {
            path::parent(arg)
        } else {
            marks::only(ANY)
        }
    }

    /// `cp`, `mv`, `ln`: what a file holds moves along.
    fn moved(&mut self, exec: &Exec, state: &mut State) -> String {
        let operands = options::operands(
            exec.args(),
            Spec {
                short: "tSmgo",
                long: Words("mode owner"),
            },
        );
        if let [sources @ .., target] = operands.as_slice() {
            for source in sources {
                if exec.name() == "ln" {
                    self.link(source, target, state);
                } else {
                    self.copy_file(source, target, &exec.stdin, state);
                }
            }
        }
        String::new()
    }

    /// `git` commands that print a path or a branch, or change which branch is checked out.
    fn git_output(&mut self, exec: &Exec, state: &mut State) -> String {
        let line = GitLine::read(exec.args());
        line.effects(&mut self.world, state, self.ctx);
        let has = |text: &str| line.args.iter().any(|arg| arg == text);
        let dir = || line.directories(state);
        match line.sub.as_str() {
            "rev-parse" if has("--show-toplevel") => dir()
                .into_iter()
                .map(|d| crate::git::top_level(&d, self.ctx))
                .collect::<Vec<_>>()
                .join("\n"),
            "rev-parse"
                if has("--git-dir")
                    || has("--git-common-dir")
                    || has("--absolute-git-dir")
                    || has("--git-path") =>
            {
                let path = line.args.last().filter(|_| has("--git-path"));
                let below = path.map_or(String::new(), |path| format!("/{path}"));
                let git =
                    |d: String| format!("{}/.git{below}", crate::git::top_level(&d, self.ctx));
                dir().into_iter().map(git).collect::<Vec<_>>().join("\n")
            }
            "rev-parse" if has("--show-cdup") || has("--show-prefix") => marks::only(ANY),
            "rev-parse" if !has("--abbrev-ref") => marks::only(STAR),
            "rev-parse" | "branch" | "symbolic-ref"
                if has("--abbrev-ref") || has("--show-current") || has("--short") =>
            {
                crate::git::current_branches(&line, &self.world, state, self.ctx).join("\n")
            }
            "ls-files" | "diff" | "status" | "ls-tree" | "log" => format!("{STAR}/{DEEP}"),
            "archive" if line.args.iter().any(|arg| arg.starts_with("--remote")) => {
                marks::only(DOWNLOAD)
            }
            "branch" if has("--list") || has("-l") => {
                let names = line.args.iter().filter(|arg| !arg.starts_with('-'));
                let names: Vec<String> = names.map(|name| marks::live_globs(name)).collect();
                if names.is_empty() {
                    marks::only(ANY)
                } else {
                    names.join("\n")
                }
            }
            "describe" | "config" => marks::only(ANY),
            _ => self.unknown(exec, state),
        }
    }
}

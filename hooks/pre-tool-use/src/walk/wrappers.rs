//! Commands that run the command given to them.

use crate::marks::{self, ANY};

use super::options::{self, Arg, Spec};
use super::simple::requote;
use super::{Exec, State, Walker};

/// A wrapper whose command follows its options and `operands` further words.
struct Wrapper {
    name: &'static str,
    spec: Spec,
    operands: usize,
}

const fn plain(name: &'static str) -> Wrapper {
    with(name, "", 0)
}

const fn with(name: &'static str, short: &'static str, operands: usize) -> Wrapper {
    Wrapper {
        name,
        spec: Spec { short, long: LONG },
        operands,
    }
}

/// Long options of any wrapper that take the next word as their value.
const LONG: &[&str] = &[
    "user",
    "group",
    "prompt",
    "chdir",
    "unset",
    "signal",
    "kill-after",
    "adjustment",
    "class",
    "classdata",
    "output",
    "format",
    "package",
    "with",
    "property",
    "unit",
    "env",
    "directory",
    "host",
    "close-from",
    "interval",
    "init-groups",
    "argv0",
    "target",
    "cpunodebind",
    "membind",
    "physcpubind",
    "interleave",
    "preferred",
    "from",
    "times",
    "delay",
    "limit",
    "exe",
    "watch",
    "filter",
    "spec",
];

/// Documented by each command's own `--help`.
const WRAPPERS: &[Wrapper] = &[
    with("sudo", "CDghpRrTtUu", 0),
    with("doas", "Cua", 0),
    with("nice", "n", 0),
    plain("nohup"),
    with("time", "fo", 0),
    with("timeout", "ks", 1),
    with("gtimeout", "ks", 1),
    plain("setsid"),
    with("stdbuf", "ioe", 0),
    with("ionice", "cnpPu", 0),
    with("chrt", "TPD", 1),
    with("taskset", "", 1),
    with("exec", "a", 0),
    plain("builtin"),
    plain("command"),
    with("chroot", "", 1),
    with("strace", "oeEpPsaSuIb", 0),
    with("ltrace", "oeEpsaunlx", 0),
    with("unshare", "RwSG", 0),
    with("nsenter", "tSGrw", 0),
    Wrapper {
        name: "systemd-run",
        spec: Spec {
            short: "putHME",
            long: &[
                "unit",
                "property",
                "setenv",
                "working-directory",
                "uid",
                "gid",
            ],
        },
        operands: 0,
    },
    with("screen", "ScehtTp", 0),
    with("xvfb-run", "nsefp", 0),
    with("caffeinate", "tw", 0),
    plain("busybox"),
    plain("toybox"),
    plain("torsocks"),
    plain("torify"),
    with("proxychains", "f", 0),
    with("proxychains4", "f", 0),
    plain("fakeroot"),
    plain("eatmydata"),
    plain("chronic"),
    plain("unbuffer"),
    plain("rlwrap"),
    plain("dbus-run-session"),
    plain("valgrind"),
    plain("noglob"),
    plain("nocorrect"),
    plain("setpriv"),
    plain("prlimit"),
    plain("arch"),
    plain("winpty"),
    with("gosu", "", 1),
    with("su-exec", "", 1),
    with("npx", "p", 0),
    plain("bunx"),
    plain("pnpx"),
    with("dumb-init", "r", 0),
    with("tini", "pe", 0),
    with("coproc", "", 0),
    with("script", "cEIOoTtm", usize::MAX),
    with("flock", "wE", 1),
    with("runuser", "ugGs", 0),
    plain("entr"),
    plain("firejail"),
    with("ssh-agent", "aEPt", 0),
    plain("cross-env"),
    plain("cross-env-shell"),
    with("dotenv", "efvpc", 0),
    with("dotenvx", "f", 0),
    with("retry", "tdmsbcn", 0),
    with("faketime", "f", 1),
    with("numactl", "NmCcpwi", 0),
    with("trickle", "dutLs", 0),
    with("cpulimit", "lpe", 0),
    with("tsp", "DLNS", 0),
    with("run-one", "", 0),
    with("run-this-one", "", 0),
    with("setarch", "", 1),
    plain("linux32"),
    plain("linux64"),
    with("pkexec", "", 0),
    with("chpst", "ubUem/nlLoprtdcf", 0),
    with("bwrap", "", 0),
    with("s6-setuidgid", "", 1),
    with("setuidgid", "", 1),
    with("rr", "", 1),
    with("daemonize", "abceoplu", 0),
    with("watchexec", "ewdisfE", 0),
    with("nodemon", "ewix", 0),
    with("concurrently", "ncpk", 0),
    with("start-stop-daemon", "pxaucdgR", 0),
    with("uvx", "p", 0),
    with("pipx", "", 1),
];

/// Options of wrappers that enter a directory before the command runs.
const ENTERING: &[(&[&str], &[&str])] = &[
    (&["sudo"], &["-D", "--chdir"]),
    (&["env"], &["-C", "--chdir"]),
    (&["systemd-run"], &["--working-directory"]),
    (&["nsenter", "unshare"], &["--wd", "-w"]),
    (&["bwrap"], &["--chdir"]),
    (&["pnpm"], &["-C", "--dir"]),
    (&["npm"], &["--prefix"]),
    (&["yarn"], &["--cwd"]),
    (&["uv"], &["--directory"]),
    (&["poetry"], &["-C", "--directory"]),
    (&["mise"], &["-C", "--cd"]),
    (&["direnv"], &["exec"]),
];

/// Commands that run another one when a certain word follows.
const PREFIXES: &[[&str; 2]] = &[
    ["poetry", "run"],
    ["pipenv", "run"],
    ["uv", "run"],
    ["rye", "run"],
    ["pdm", "run"],
    ["hatch", "run"],
    ["bundle", "exec"],
    ["npm", "exec"],
    ["npm", "x"],
    ["pnpm", "exec"],
    ["pnpm", "dlx"],
    ["yarn", "exec"],
    ["yarn", "dlx"],
    ["mise", "exec"],
    ["mise", "x"],
    ["asdf", "exec"],
    ["rbenv", "exec"],
    ["pyenv", "exec"],
    ["perf", "stat"],
    ["perf", "record"],
    ["gdb", "--args"],
    ["rustup", "run"],
    ["conda", "run"],
    ["direnv", "exec"],
    ["dotenv", "run"],
    ["op", "run"],
    ["doppler", "run"],
    ["wsl", "--"],
    ["git", "annex"],
];

impl Walker<'_> {
    /// Takes one wrapper off and runs what is inside. `None` when the command is no wrapper.
    pub(super) fn unwrap(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let name = exec.name().to_owned();
        if name == "env" {
            return self.env(exec, state);
        }
        if name == "dotenv" || name == "dotenvx" {
            // It reads a file of its own first.
            self.judge_command(exec, state);
        }
        if let Some(code) = code_option(&name, exec.args()) {
            return Some(self.code(&code, &mut state.clone(), &exec.stdin));
        }
        let at = inner(&name, exec.args())?;
        if name == "command" && exec.args()[..at].iter().any(|a| a == "-v" || a == "-V") {
            return Some(format!(
                "/usr/bin/{}",
                exec.args().get(at).map_or("", String::as_str)
            ));
        }
        let rest = exec.args().get(at..).unwrap_or_default();
        if rest.is_empty() {
            return self.bare_wrapper(&name, exec, state);
        }
        let mut inside = exec.with(Vec::new());
        let mut words = rest.iter();
        let mut argv = Vec::new();
        // sudo and doas take assignments too.
        for word in words.by_ref() {
            let assigns = matches!(
                name.as_str(),
                "sudo" | "doas" | "cross-env" | "cross-env-shell"
            );
            match assignment(word).filter(|_| assigns) {
                Some(pair) => inside.env.push(pair),
                None => {
                    argv.push(word.clone());
                    break;
                }
            }
        }
        argv.extend(words.cloned());
        inside.argv = argv;
        let mut elsewhere = state.clone();
        self.change_directory(&name, &exec.args()[..at], &mut elsewhere);
        let here = if elsewhere.cwd == state.cwd {
            &mut *state
        } else {
            &mut elsewhere
        };
        let out = self.deeper(&rest.join(" "), |walker| walker.exec(inside, here));
        if name == "exec" {
            state.left = true;
        }
        Some(out)
    }

    /// `sudo -s` and `su` without a command are a shell.
    fn bare_wrapper(&mut self, name: &str, exec: &Exec, state: &mut State) -> Option<String> {
        let shell =
            |arg: &String| matches!(arg.as_str(), "-s" | "-i" | "--shell" | "--login" | "-si");
        if name != "sudo" && name != "doas" && name != "exec" {
            return None;
        }
        if !exec.args().iter().any(shell) {
            return None;
        }
        Some(self.exec(exec.with(vec!["sh".to_owned()]), state))
    }

    /// `env [-i] [-u NAME] [-C DIR] [-S TEXT] [NAME=VALUE]… [COMMAND]`.
    fn env(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        let spec = Spec {
            short: "uCSaP",
            long: &["unset", "chdir", "split-string", "argv0"],
        };
        let args = exec.args();
        let mut inside = exec.with(Vec::new());
        let mut child = state.clone();
        let (given, mut at) = options::leading(args, spec);
        self.change_directory("env", &args[..at], &mut child);
        for arg in given {
            if let Arg::Short('S', Some(text)) | Arg::Long("split-string", Some(text)) = arg {
                let rest: Vec<_> = args[at..].iter().map(|word| requote(word)).collect();
                let code = format!("env {text} {}", rest.join(" "));
                return Some(self.code(&code, &mut child, &exec.stdin));
            }
        }
        at += usize::from(args.get(at).is_some_and(|arg| arg == "-"));
        while let Some(pair) = args.get(at).and_then(|arg| assignment(arg)) {
            inside.env.push(pair);
            at += 1;
        }
        let rest = args.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return Some(marks::only(ANY));
        }
        inside.argv = rest.to_vec();
        Some(self.deeper(&rest.join(" "), |walker| walker.exec(inside, &mut child)))
    }

    /// The directory that a wrapper's own options enter first.
    fn change_directory(&self, name: &str, options: &[String], state: &mut State) {
        let Some((_, flags)) = ENTERING.iter().find(|(names, _)| names.contains(&name)) else {
            return;
        };
        for (at, arg) in options.iter().enumerate() {
            let dir = flags.iter().find_map(|flag| match arg.strip_prefix(flag)? {
                "" => options.get(at + 1).map(String::as_str),
                rest if flag.starts_with("--") => rest.strip_prefix('='),
                rest => Some(rest),
            });
            if let Some(dir) = dir {
                state.cwd = self.paths_of(dir, state);
            }
        }
    }

    /// The absolute paths a word may name; unknown ones as a mark.
    pub(crate) fn paths_of(&self, text: &str, state: &State) -> Vec<String> {
        let path = |cwd: &String| state.absolute(text, cwd);
        let unknown = || marks::only(ANY);
        state
            .cwd
            .iter()
            .map(|cwd| path(cwd).unwrap_or_else(unknown))
            .collect()
    }
}

/// `NAME=value`.
pub(super) fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let letters = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let fits = !name.is_empty()
        && name.chars().all(letters)
        && !name.starts_with(|c: char| c.is_ascii_digit());
    fits.then(|| (name.to_owned(), value.to_owned()))
}

/// Whether the command runs the command given to it.
pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

/// Index of the inner command among the arguments.
fn inner(name: &str, args: &[String]) -> Option<usize> {
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) {
        let mut at = options::first_operand(args, wrapper.spec);
        // `nice -10 cmd` and `busybox` fit the table; a wrapper's own operands may be options' ends.
        at = at.saturating_add(wrapper.operands);
        if name == "retry"
            && args
                .get(at)
                .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        {
            at += 1;
        }
        if name == "bwrap" {
            at = after_options(args);
        }
        if args.get(at).is_some_and(|arg| arg == "--") {
            at += 1;
        }
        return Some(at);
    }
    let prefix = PREFIXES.iter().find(|[first, _]| {
        *first == name
            && args
                .iter()
                .take(3)
                .any(|a| PREFIXES.contains(&[first, a.as_str()]))
    })?;
    let verb = args
        .iter()
        .position(|arg| PREFIXES.contains(&[prefix[0], arg.as_str()]))?;
    let mut at = verb + 1;
    if let Some(dashes) = args[at..].iter().position(|arg| arg == "--") {
        return Some(at + dashes + 1);
    }
    at += options::first_operand(
        &args[at..],
        Spec {
            short: "pn",
            long: LONG,
        },
    );
    Some(if matches!(name, "direnv" | "rustup") {
        at + 1
    } else {
        at
    })
}

/// The first word after options that each take the words up to the next option, `--bind A B` at most
/// two of them.
fn after_options(args: &[String]) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.starts_with("--")) {
        at += match arg.as_str() {
            "--" => return at + 1,
            "--bind" | "--ro-bind" | "--dev-bind" | "--symlink" | "--setenv" | "--bind-try"
            | "--ro-bind-try" | "--file" => 3,
            "--proc" | "--dev" | "--tmpfs" | "--dir" | "--chdir" | "--unsetenv" | "--uid"
            | "--gid" | "--hostname" | "--remount-ro" => 2,
            _ => 1,
        };
    }
    at
}

/// The code of wrappers that take a command line as one option: `su -c`, `script -c`, ….
fn code_option(name: &str, args: &[String]) -> Option<String> {
    let flags: &[&str] = match name {
        "su" | "runuser" | "script" | "flock" | "sg" | "capsh" => {
            &["-c", "--command", "-qc", "-qec"]
        }
        "entr" => &["-s", "-rs", "-cs"],
        "npx" | "npm" | "nix" => &["-c", "--call", "--command"],
        "nix-shell" => &["--run", "--command"],
        "watch" | "hyperfine" | "ssh" | "parallel" => return None,
        _ => return None,
    };
    let at = args.iter().position(|arg| flags.contains(&arg.as_str()))?;
    let code = args.get(at + 1)?;
    // `nix develop -c cmd args` takes words, the others one text.
    if name == "nix" {
        Some(args[at + 1..].join(" "))
    } else {
        Some(code.clone())
    }
}

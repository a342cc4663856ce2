//! `pipe-to-shell`: what was downloaded is looked at before it runs.
//!
//! Refused: downloaded text that reaches a shell or an interpreter as code, through a pipe, a
//! substitution, a variable, a descriptor, a file written on the same command line, or with base64 or
//! any filter in between that nobody knows; a file that any remote copier brought, or that was unpacked
//! out of a download, and runs in the same command; code decoded from something unreadable. Allowed:
//! downloading, looking, filtering (`| jq`, `| tar x`, `| python3 -c …` where the download is only data),
//! running a file that an earlier call downloaded, and all of it in a container that is made for the
//! command and shares nothing.
//!
//! Default: text that is unknown but did not come from the network is no download.
//!
//! Most of the rule lives in the walker, which marks downloaded text and sees where it flows; this
//! file says what a download is and checks the programs that take a script by name.

use crate::decision::{Block, Rule};
use crate::marks::DOWNLOAD;
use crate::path;
use crate::walk::options::{self, Arg, Spec};
use crate::walk::{Exec, View};
use crate::words::Words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "pipe-to-shell",
    reason: "a download that is executed unseen can be anything",
    instead: "Download to a file, read it, then run it in a separate call; prefer a package manager",
    default: "unknown text that did not come from the network is no download",
};

/// `curl` options that take a value.
pub(crate) const CURL: Spec = Spec {
    short: "AbcCdDeEFHKmoPQrtTuUwxXyYz",
    long: Words(
        "output url header data data-raw data-binary data-urlencode data-ascii json form \
         form-string user request user-agent referer cookie cookie-jar cert key cacert capath \
         config proxy preproxy socks5 socks5-hostname connect-to max-time connect-timeout retry \
         retry-delay retry-max-time upload-file write-out range output-dir resolve netrc-file \
         interface limit-rate max-redirs oauth2-bearer proto ciphers unix-socket noproxy dump-header \
         stderr trace trace-ascii",
    ),
};

pub(crate) const WGET: Spec = Spec {
    short: "OoaietTwQPUlADRXB",
    long: Words(
        "output-document output-file directory-prefix header user-agent timeout tries user \
         password post-data post-file input-file execute wait quota",
    ),
};

/// Programs that run a file given by name and are no shell or interpreter the walker follows.
const RUNNERS: Words = Words("java make gmake go julia swift tclsh expect");

/// Of those and others, the ones that run their input when no file is named; `-` as a wrapper
/// (`uv run -`) leaves it.
const READERS: Words = Words("- tclsh wish expect julia octave irb iex ghci guile");

/// Judges one command.
pub fn check(view: &View<'_>) -> Option<String> {
    let name = view.exec.name();
    let args = view.exec.args();
    let fetched = |file: &String| {
        view.content(file)
            .is_some_and(|text| text.contains(DOWNLOAD))
    };
    if RUNNERS.has(name) && args.iter().any(fetched) {
        return Some(format!(
            "{name} would run a file this command line downloads"
        ));
    }
    let fed = view.exec.stdin.contains(DOWNLOAD);
    if fed && READERS.has(name) && args.iter().all(|arg| arg.starts_with('-')) {
        return Some(format!("{name} would run what was just downloaded"));
    }
    if RUNNERS.has(name)
        && view.exec.stdin.contains(DOWNLOAD)
        && args.iter().any(|arg| arg == "-" || arg == "/dev/stdin")
    {
        return Some(format!("{name} would run what was just downloaded"));
    }
    // `socat TCP:host:port EXEC:/bin/sh`, `nc -e /bin/sh host port`.
    let shell = |program: &str| {
        let program = program.split([' ', ',']).next().unwrap_or_default();
        crate::walk::runs_code(path::name(program))
    };
    let starts = |arg: &String| {
        let program = arg
            .split_once(':')
            .filter(|(kind, _)| Words("EXEC SYSTEM exec system").has(kind));
        program.is_some_and(|(_, program)| shell(program))
    };
    let after = |pair: &[String]| Words("-e -c --exec --sh-exec").has(&pair[0]) && shell(&pair[1]);
    if (name == "socat" && args.iter().any(starts))
        || (Words("nc ncat netcat").has(name) && args.windows(2).any(after))
    {
        return Some(format!("{name} would run what another machine sends"));
    }
    let remote = |arg: &String| arg.starts_with("http://") || arg.starts_with("https://");
    if name == "deno" && args.first().is_some_and(|verb| verb == "run") && args.iter().any(remote) {
        return Some("deno run would run code straight from the network".to_owned());
    }
    None
}

/// The block for downloaded text that runs as `what`.
pub(crate) fn downloaded(what: &str) -> Option<Block> {
    let text = format!("a download would run as {what} without being looked at");
    Some(Block::new(super::rule(RULE.id), &text))
}

/// The block for decoded text that nobody can read here.
pub(crate) fn decoded() -> Option<Block> {
    Some(Block::new(
        super::rule(RULE.id),
        "decoded text would run as code without being looked at",
    ))
}

/// The files a download writes; `None` when it prints what it fetched.
pub(crate) fn download_files(exec: &Exec) -> Option<Vec<String>> {
    match exec.name() {
        "curl" | "curlie" => curl_files(exec.args()),
        "wget" | "wget2" | "lwp-download" => Some(wget_files(exec.args())),
        "aria2c" | "axel" | "http" | "https" | "xh" => {
            let spec = Spec {
                short: "od",
                long: Words("output out dir"),
            };
            let read = options::read(exec.args(), spec);
            let dir = read.iter().find_map(|arg| match arg {
                Arg::Short('d', value) | Arg::Long("dir", value) => *value,
                _ => None,
            });
            let dir = dir.filter(|_| matches!(exec.name(), "aria2c"));
            let file = read.into_iter().find_map(|arg| match arg {
                Arg::Short('o', value) | Arg::Long("output" | "out", value) => {
                    value.map(str::to_owned)
                }
                _ => None,
            });
            let mut files = match (file, exec.name()) {
                (Some(file), _) => vec![file],
                (None, "aria2c" | "axel") => url_names(exec.args()),
                (None, _) => return None,
            };
            if let Some(dir) = dir {
                files
                    .iter_mut()
                    .for_each(|file| *file = format!("{dir}/{file}"));
            }
            Some(files)
        }
        _ => None,
    }
}

fn curl_files(args: &[String]) -> Option<Vec<String>> {
    let mut files = Vec::new();
    let mut dir = None;
    for arg in options::read(args, CURL) {
        match arg {
            Arg::Short('o', Some(file)) | Arg::Long("output", Some(file)) => {
                files.push(file.to_owned());
            }
            Arg::Short('O' | 'J', _) | Arg::Long("remote-name" | "remote-name-all", _) => {
                files.extend(url_names(args));
            }
            Arg::Long("output-dir", value) => dir = value,
            _ => {}
        }
    }
    if let Some(dir) = dir {
        files
            .iter_mut()
            .for_each(|file| *file = format!("{dir}/{file}"));
    }
    (!files.is_empty()).then_some(files)
}

fn wget_files(args: &[String]) -> Vec<String> {
    let mut dir = None;
    for arg in options::read(args, WGET) {
        match arg {
            Arg::Short('O', Some(file)) | Arg::Long("output-document", Some(file)) => {
                return vec![file.to_owned()];
            }
            Arg::Short('P', value) | Arg::Long("directory-prefix", value) => dir = value,
            _ => {}
        }
    }
    let names = url_names(args);
    match dir {
        Some(dir) => names.iter().map(|name| format!("{dir}/{name}")).collect(),
        None => names,
    }
}

/// The names that remote files get.
fn url_names(args: &[String]) -> Vec<String> {
    let urls = args
        .iter()
        .filter(|arg| !arg.starts_with('-') && arg.contains(['/', '.']));
    let name =
        |url: &String| path::name(url.split(['?', '#']).next().unwrap_or_default()).to_owned();
    urls.map(name).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
pub(super) mod cases;

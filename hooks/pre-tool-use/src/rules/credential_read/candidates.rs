//! Which words of a command may be files it reads.

use crate::git::GitLine;
use crate::marks;
use crate::walk::View;
use crate::walk::options::{self, Arg, Spec};
use crate::words::Words;

use super::commands::{NAME_ONLY, PATTERN_FIRST, TARGET_LAST};
use super::editors;

const PATTERNS: Spec = Spec {
    short: "eEfmABCgtTdDvF",
    long: Words(
        "regexp expression file include exclude exclude-dir glob iglob type max-count context",
    ),
};

/// The words of a command that may be files it reads.
pub(super) fn candidates(view: &View<'_>) -> Vec<String> {
    let args = view.exec.args();
    let name = view.exec.name();
    match name {
        "xargs" | "gxargs" | "parallel" => pieces_after(args, Words("-a --arg-file")),
        _ if NAME_ONLY.has(name) || name == "find -delete" => Vec::new(),
        "git" => git_candidates(&GitLine::read(args)),
        "<" => args.to_vec(),
        // Packages, by their directories.
        "go" if args
            .first()
            .is_some_and(|verb| !matches!(verb.as_str(), "run" | "tool")) =>
        {
            Vec::new()
        }
        "uv" if args.first().is_some_and(|verb| verb == "venv") => Vec::new(),
        "ssh-keygen" => {
            let spec = Spec {
                short: "abCDEFfGgIJKmMnNOPRrSsTtUVWwYZz",
                long: Words(""),
            };
            let shows = options::read(args, spec)
                .iter()
                .any(|arg| matches!(arg, Arg::Short('y' | 'e' | 'p' | 'i' | 'c', _)));
            if shows { pieces(args) } else { Vec::new() }
        }
        "ssh" => option_values(args, &['i', 'S', 'E']),
        "curl" => curl_candidates(args),
        "wget" | "wget2" => {
            let mut named = long_values(
                args,
                Words("post-file body-file input-file private-key certificate"),
            );
            named.extend(args.iter().filter_map(|url| local_file(url)));
            named
        }
        "gh" | "glab" | "tea" | "hub" => {
            let spec = Spec {
                short: "tbRlamBHjq",
                long: Words("title body repo label assignee jq notes message search"),
            };
            pieces(&kept(args, spec))
        }
        "tar" | "gtar" | "bsdtar" | "zip" | "7z" => archive_candidates(name, args),
        _ if PATTERN_FIRST.has(name) => pattern_candidates(name, args),
        _ if TARGET_LAST.has(name) => target_candidates(args),
        _ if crate::walk::runs_code(name) => code_candidates(args),
        _ if editors::EDITORS.has(name) => editors::candidates(view.exec, pieces(args)),
        _ => pieces(args),
    }
}

/// Words, and the parts of words such as `--file=X`, `name=@X`, `X:/in/container`.
fn pieces(args: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut skip = false;
    for arg in args {
        if std::mem::take(&mut skip) {
            continue;
        }
        let option = arg.starts_with('-');
        let negative = option
            && ["exclude", "ignore", "skip"]
                .iter()
                .any(|word| arg.contains(word));
        if negative {
            skip = !arg.contains('=');
            continue;
        }
        if arg.contains("://") && !arg.starts_with("file://") {
            continue;
        }
        let file = local_file(arg);
        let arg = file.as_deref().unwrap_or(arg);
        if !option {
            out.push(arg.to_owned());
        } else if arg.len() > 2 && !arg.starts_with("--") {
            out.push(arg.chars().skip(2).collect());
        }
        if arg.contains(['=', '@', ':', ',', '<']) && arg.len() < 4096 {
            out.extend(arg.split(['=', '@', ':', ',', '<']).map(str::to_owned));
        }
    }
    out
}

/// The path of a `file://` URL, with or without a host.
fn local_file(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_at_checked(5)?;
    if !scheme.eq_ignore_ascii_case("file:") {
        return None;
    }
    let rest = rest.strip_prefix("//").unwrap_or(rest);
    let path = rest.find('/').map_or(rest, |at| &rest[at..]);
    Some(path.to_owned())
}

/// The words that follow one of the options.
fn pieces_after(args: &[String], flags: Words) -> Vec<String> {
    let pairs = args.windows(2);
    pairs
        .filter(|pair| flags.has(&pair[0]))
        .map(|pair| pair[1].clone())
        .collect()
}

/// The arguments without the values of the given options.
fn kept(args: &[String], spec: Spec) -> Vec<String> {
    let keep = |arg| match arg {
        Arg::Operand(text) => Some(text.to_owned()),
        Arg::Short(c, Some(value)) if !spec.short.contains(c) => Some(value.to_owned()),
        Arg::Long(name, Some(value)) if !spec.long.has(name) => Some(value.to_owned()),
        _ => None,
    };
    options::read(args, spec)
        .into_iter()
        .filter_map(keep)
        .collect()
}

fn option_values(args: &[String], flags: &[char]) -> Vec<String> {
    let spec = Spec {
        short: "BbcDEeFIiJLlmOopQRSWw",
        long: Words(""),
    };
    let value = |arg| match arg {
        Arg::Short(c, Some(value)) if flags.contains(&c) => Some(value.to_owned()),
        _ => None,
    };
    options::read(args, spec)
        .into_iter()
        .filter_map(value)
        .collect()
}

fn long_values(args: &[String], names: Words) -> Vec<String> {
    let value = |arg| match arg {
        Arg::Long(name, Some(value)) if names.has(name) => Some(value.to_owned()),
        _ => None,
    };
    options::read(
        args,
        Spec {
            short: "OoaP",
            long: names,
        },
    )
    .into_iter()
    .filter_map(value)
    .collect()
}

/// `curl` reads `@file`, `<file`, `-T file`, certificates and configuration.
fn curl_candidates(args: &[String]) -> Vec<String> {
    let spec = crate::rules::pipe_to_shell::CURL;
    let mut out = Vec::new();
    for arg in options::read(args, spec) {
        match arg {
            Arg::Short('T' | 'K' | 'E' | 'b', Some(value))
            | Arg::Long(
                "upload-file" | "config" | "cert" | "key" | "netrc-file" | "cookie",
                Some(value),
            ) => {
                out.push(value.to_owned());
            }
            Arg::Short('d' | 'F', Some(value)) | Arg::Long(_, Some(value)) => {
                let file = value.split_once(['@', '<']).map(|(_, file)| file);
                out.extend(file.map(|file| file.split(';').next().unwrap_or_default().to_owned()));
            }
            Arg::Operand(url) => out.extend(local_file(url)),
            _ => {}
        }
    }
    out
}

/// `tar` and `zip` read what they pack; what they unpack are names.
fn archive_candidates(name: &str, args: &[String]) -> Vec<String> {
    let first = args.first().map_or("", String::as_str);
    let bundle = first.trim_start_matches('-');
    let unpacks = name != "zip"
        && !first.starts_with("--")
        && bundle.contains(['x', 't'])
        && !bundle.contains('c');
    if unpacks || args.iter().any(|arg| arg == "--extract" || arg == "--list") {
        return Vec::new();
    }
    let excluded = args
        .iter()
        .position(|arg| arg == "-x")
        .filter(|_| name == "zip");
    pieces(&args[..excluded.unwrap_or(args.len())])
}

/// `grep PATTERN FILE…`: the pattern is data unless `-e` or `-f` gave it.
fn pattern_candidates(name: &str, args: &[String]) -> Vec<String> {
    let rg = name == "rg" || name == "ag";
    let lists = rg && args.iter().any(|arg| arg == "--files");
    let mut given = lists;
    let mut out = Vec::new();
    let mut operands = Vec::new();
    for arg in options::read(args, spec_of(name)) {
        match arg {
            Arg::Short('e', _) | Arg::Long("regexp" | "expression", _) => given = true,
            Arg::Short('f', Some(file)) | Arg::Long("file", Some(file)) => {
                given = true;
                out.push(file.to_owned());
            }
            Arg::Short('g', Some(glob)) | Arg::Long("include" | "glob" | "iglob", Some(glob))
                if !lists && !glob.starts_with('!') =>
            {
                out.push(marks::live_globs(glob));
            }
            // `awk -v f=FILE '… getline < f …'`.
            Arg::Short('v', Some(pair)) if name.ends_with("awk") => {
                let value = pair.split_once('=').map(|(_, value)| value.to_owned());
                out.extend(value.filter(|_| args.iter().any(|arg| arg.contains("getline"))));
            }
            Arg::Operand(text) => operands.push(text.to_owned()),
            _ => {}
        }
    }
    if lists {
        return Vec::new();
    }
    if name.ends_with("sed") {
        out.extend(crate::walk::sed::files(args));
    }
    out.extend(operands.into_iter().skip(usize::from(!given)));
    out
}

/// Options with values differ: `-i`, `-n` and `-E` of `sed` have none, `-v` of `awk` has one.
fn spec_of(name: &str) -> Spec {
    match name {
        "sed" | "gsed" => Spec {
            short: "efl",
            long: PATTERNS.long,
        },
        "awk" | "gawk" | "mawk" | "nawk" => Spec {
            short: "vFf",
            long: PATTERNS.long,
        },
        "jq" | "yq" => Spec {
            short: "fL",
            long: Words("from-file indent"),
        },
        "rg" => Spec {
            short: "efgtTmABCj",
            long: PATTERNS.long,
        },
        _ => Spec {
            short: "efmABCdD",
            long: PATTERNS.long,
        },
    }
}

/// `cp SOURCE… TARGET`.
fn target_candidates(args: &[String]) -> Vec<String> {
    let into = args
        .iter()
        .any(|arg| arg == "-t" || arg.starts_with("--target-directory"));
    let mut words = pieces(args);
    let target = args
        .iter()
        .rposition(|arg| !arg.starts_with('-'))
        .filter(|_| !into);
    if let Some(target) = target.and_then(|at| args.get(at)) {
        let several = args.iter().filter(|arg| !arg.starts_with('-')).count() > 1;
        if several {
            let before: Vec<_> = args.iter().filter(|arg| *arg != target).cloned().collect();
            words = pieces(&before);
        }
    }
    words
}

/// Shells and interpreters: their script and its arguments, not their code.
fn code_candidates(args: &[String]) -> Vec<String> {
    // `python3 -m venv .env` makes a directory of that name.
    if args.iter().any(|arg| arg == "venv" || arg == "virtualenv") {
        return Vec::new();
    }
    let code = args.iter().position(|arg| {
        arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with(['c', 'e', 'E'])
    });
    let mut kept = args.to_vec();
    if let Some(at) = code.filter(|at| at + 1 < args.len()) {
        kept.remove(at + 1);
    }
    pieces(&kept)
}

/// `git` subcommands that print the contents of files.
fn git_candidates(line: &GitLine) -> Vec<String> {
    let quiet = line.has(Words(
        "--stat --name-only --name-status --numstat --shortstat",
    ));
    match line.sub.as_str() {
        "show" | "diff" | "cat-file" | "blame" | "annotate" | "hash-object" | "archive"
        | "difftool"
            if !quiet =>
        {
            pieces(&line.args)
        }
        "log" | "whatchanged" if line.has(Words("-p -u --patch")) => {
            let paths = line
                .args
                .iter()
                .position(|arg| arg == "--")
                .map_or(0, |at| at + 1);
            pieces(&line.args[paths..])
        }
        "clone" | "fetch" | "ls-remote" => {
            line.args.iter().filter_map(|url| local_file(url)).collect()
        }
        "grep" => pattern_candidates("grep", &line.args),
        "config" => [
            long_values(&line.args, Words("file")),
            pieces_after(&line.args, Words("-f")),
        ]
        .concat(),
        _ => Vec::new(),
    }
}

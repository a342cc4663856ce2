//! The languages and how their interpreters take code.

/// A language with an interpreter that takes code on its command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// JavaScript, in any runtime.
    JavaScript,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// R.
    R,
    /// AWK.
    Awk,
    /// AppleScript.
    AppleScript,
    /// PowerShell.
    PowerShell,
    /// Julia.
    Julia,
    /// Elixir and Erlang.
    Elixir,
    /// Tcl.
    Tcl,
    /// Any Lisp.
    Lisp,
    /// Go, C, Rust, Java and others that are mostly compiled: quotes, calls and `//`.
    Compiled,
}

/// What an interpreter's arguments say.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Code on the command line.
    pub code: Option<String>,
    /// A script.
    pub file: Option<String>,
    /// Something else: a module, `--version`.
    pub other: bool,
    /// The words after the code, for it to read.
    pub rest: Vec<String>,
}

impl Language {
    /// The language of an interpreter, by its name with or without a version.
    pub fn of(name: &str) -> Option<Self> {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        Some(match base {
            "python" | "pypy" | "ipython" => Self::Python,
            "hy" | "jython" | "micropython" | "xonsh" => Self::Python,
            "perl" | "raku" => Self::Perl,
            "ruby" | "jruby" | "mruby" | "irb" | "crystal" => Self::Ruby,
            "node" | "nodejs" | "bun" | "deno" | "tsx" | "ts-node" | "coffee" | "qjs" | "zx" => {
                Self::JavaScript
            }
            "julia" => Self::Julia,
            "elixir" | "iex" | "erl" | "escript" => Self::Elixir,
            "tclsh" | "wish" | "expect" => Self::Tcl,
            "emacs" | "guile" | "sbcl" | "clojure" | "clj" | "bb" | "racket" | "janet"
            | "clisp" | "csi" | "ecl" => Self::Lisp,
            "groovy" | "scala" | "jshell" | "ocaml" | "runghc" | "runhaskell" | "nim" | "dart" => {
                Self::Compiled
            }
            "php" => Self::Php,
            "lua" | "luajit" => Self::Lua,
            "Rscript" | "R" | "littler" => Self::R,
            "awk" | "gawk" | "mawk" | "nawk" => Self::Awk,
            "osascript" => Self::AppleScript,
            "pwsh" | "powershell" => Self::PowerShell,
            _ => return None,
        })
    }

    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Perl => "Perl",
            Self::Ruby => "Ruby",
            Self::JavaScript => "JavaScript",
            Self::Php => "PHP",
            Self::Lua => "Lua",
            Self::R => "R",
            Self::Awk => "AWK",
            Self::AppleScript => "AppleScript",
            Self::PowerShell => "PowerShell",
            Self::Julia => "Julia",
            Self::Elixir => "Elixir",
            Self::Tcl => "Tcl",
            Self::Lisp => "Lisp",
            Self::Compiled => "a program",
        }
    }

    /// The sign that starts a comment up to the end of the line.
    pub(super) fn comment(self) -> &'static str {
        match self {
            Self::JavaScript | Self::Php | Self::Compiled => "//",
            Self::Lisp => ";",
            Self::Lua | Self::AppleScript => "--",
            _ => "#",
        }
    }

    /// Whether backticks run a command.
    pub(super) fn backticks_run(self) -> bool {
        matches!(self, Self::Perl | Self::Ruby | Self::Php | Self::Julia)
    }

    /// Whether the option is followed by code.
    fn takes_code(self, arg: &str) -> bool {
        match self {
            Self::Python => {
                arg.starts_with('-')
                    && !arg.starts_with("--")
                    && arg.ends_with('c')
                    && arg.len() < 6
            }
            Self::Perl | Self::Ruby => {
                arg.starts_with('-')
                    && !arg.starts_with("--")
                    && arg.ends_with(['e', 'E'])
                    && arg.len() < 8
            }
            Self::JavaScript => matches!(arg, "-e" | "-p" | "-pe" | "--eval" | "--print" | "eval"),
            Self::Php => matches!(arg, "-r" | "--run"),
            Self::Lua | Self::R | Self::AppleScript => matches!(arg, "-e" | "--eval"),
            Self::PowerShell => matches!(
                arg.to_ascii_lowercase().as_str(),
                "-c" | "-command" | "-encodedcommand"
            ),
            Self::Awk => false,
            Self::Julia => matches!(arg, "-e" | "-E" | "--eval" | "--print"),
            Self::Elixir => matches!(arg, "-e" | "--eval" | "--rpc-eval" | "-eval"),
            Self::Tcl => arg == "-c",
            Self::Lisp => matches!(
                arg,
                "-e" | "--eval"
                    | "-eval"
                    | "-c"
                    | "--execute"
                    | "-x"
                    | "-f"
                    | "--non-interactive-eval"
            ),
            Self::Compiled => matches!(arg, "-e" | "--eval" | "eval"),
        }
    }

    /// Whether the option takes some other word with it.
    fn takes_word(self, arg: &str) -> bool {
        match self {
            Self::Python => matches!(arg, "-W" | "-X"),
            Self::Awk => matches!(arg, "-v" | "-F"),
            Self::JavaScript => matches!(arg, "-r" | "--require" | "--import" | "--loader" | "-C"),
            Self::Ruby => matches!(arg, "-r" | "-I"),
            Self::Perl => arg == "-I",
            _ => false,
        }
    }

    /// Reads an interpreter's arguments.
    pub fn arguments(self, args: &[String]) -> Given {
        let mut given = Given::default();
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            if self.takes_code(arg) {
                let code = args.get(at).map_or("", String::as_str);
                let joined = given.code.take().map_or(String::new(), |old| old + "\n");
                given.code = Some(joined + code);
                at += 1;
            } else if let Some(code) = arg
                .strip_prefix("--eval=")
                .or_else(|| arg.strip_prefix("--print="))
            {
                given.code = Some(code.to_owned());
            } else if self.takes_word(arg) {
                at += 1;
            } else if arg == "-f" && self == Self::Awk && is_input(args.get(at)) {
                return given;
            } else if arg == "-f" && self == Self::Awk || stops(self, arg) {
                given.other = true;
                return given;
            } else if arg == "run" && self == Self::JavaScript {
            } else if arg == "-" || !arg.starts_with('-') {
                if self == Self::Awk && given.code.is_none() {
                    given.code = Some(arg.clone());
                } else if given.code.is_none() {
                    given.file = Some(arg.clone());
                }
                let rest = at - usize::from(given.code.is_some() && self != Self::Awk);
                given.rest = args.get(rest..).unwrap_or_default().to_vec();
                return given;
            }
        }
        given
    }
}

/// Whether a program's file is its standard input.
fn is_input(file: Option<&String>) -> bool {
    file.is_some_and(|file| file == "-" || file == "/dev/stdin")
}

fn stops(language: Language, arg: &str) -> bool {
    let module = arg == "-m" && language == Language::Python;
    let checks = match language {
        Language::JavaScript => matches!(arg, "-c" | "--check"),
        Language::Perl | Language::Ruby => matches!(arg, "-c" | "-wc" | "-cw" | "-Wc" | "-cW"),
        Language::Php => matches!(arg, "-l" | "--syntax-check"),
        _ => false,
    };
    let asks = matches!(arg, "-V" | "--version" | "-h" | "--help" | "-v" | "--test");
    let verb = language == Language::JavaScript
        && matches!(
            arg,
            "install" | "test" | "x" | "add" | "fmt" | "lint" | "task" | "build"
        );
    module || asks || verb || checks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(line: &[&str]) -> Given {
        let args: Vec<_> = line[1..].iter().map(|w| (*w).to_owned()).collect();
        Language::of(line[0]).unwrap().arguments(&args)
    }

    #[test]
    fn where_the_code_stands() {
        let code = |line: &[&str]| given(line).code;
        assert_eq!(code(&["python3.12", "-c", "x"]).as_deref(), Some("x"));
        assert_eq!(code(&["python3", "-Ic", "x"]).as_deref(), Some("x"));
        assert_eq!(
            code(&["perl", "-MX", "-ne", "a", "-e", "b", "f"]).as_deref(),
            Some("a\nb")
        );
        assert_eq!(code(&["node", "--eval=x"]).as_deref(), Some("x"));
        assert_eq!(code(&["deno", "eval", "x"]).as_deref(), Some("x"));
        assert_eq!(
            code(&["awk", "-F", ":", "{print}", "f"]).as_deref(),
            Some("{print}")
        );
        assert_eq!(
            given(&["python3", "s.py", "-c", "x"]).file.as_deref(),
            Some("s.py")
        );
        assert!(given(&["python3", "-m", "json.tool"]).other);
        assert_eq!(given(&["python3"]), Given::default());
    }
}

//! GNU sed runs commands (`e`, `1e command`, `s/…/…/e`) and reads files (`r`, `R`).

/// The shell code in sed's scripts; `e` alone runs a line of the input.
pub(super) fn commands(args: &[String], stdin: &str) -> Vec<String> {
    read(args, stdin).0
}

/// The files that sed's scripts read.
pub(crate) fn files(args: &[String]) -> Vec<String> {
    read(args, "").1
}

fn read(args: &[String], stdin: &str) -> (Vec<String>, Vec<String>) {
    let (mut out, mut files) = (Vec::new(), Vec::new());
    for script in scripts(args) {
        let mut reader = Reader {
            rest: script,
            out: &mut out,
            files: &mut files,
            stdin,
        };
        while !reader.rest.is_empty() {
            reader.command();
        }
    }
    (out, files)
}

/// The values of `-e`, else the first operand.
fn scripts(args: &[String]) -> Vec<&str> {
    let mut given = Vec::new();
    let mut operand = None;
    let mut words = args.iter();
    while let Some(arg) = words.next() {
        if let Some(script) = arg.strip_prefix("--expression=") {
            given.push(script);
        } else if arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('e') {
            given.extend(words.next().map(String::as_str));
        } else if matches!(arg.as_str(), "-f" | "-l" | "--file") {
            words.next();
        } else if !arg.starts_with('-') {
            operand = operand.or(Some(arg.as_str()));
        }
    }
    if given.is_empty() {
        given.extend(operand);
    }
    given
}

struct Reader<'s, 'o> {
    rest: &'s str,
    out: &'o mut Vec<String>,
    files: &'o mut Vec<String>,
    stdin: &'s str,
}

impl<'s> Reader<'s, '_> {
    fn bump(&mut self) -> Option<char> {
        let first = self.rest.chars().next()?;
        self.rest = &self.rest[first.len_utf8()..];
        Some(first)
    }

    /// The text up to the delimiter, which is taken too.
    fn until(&mut self, delimiter: char) -> &'s str {
        let whole = self.rest;
        let mut escaped = false;
        for (at, c) in whole.char_indices() {
            if c == delimiter && !escaped {
                self.rest = &whole[at + c.len_utf8()..];
                return &whole[..at];
            }
            escaped = c == '\\' && !escaped;
        }
        self.rest = "";
        whole
    }

    fn command(&mut self) {
        match self.bump() {
            Some('/') => {
                self.until('/');
            }
            Some('\\') => {
                if let Some(delimiter) = self.bump() {
                    self.until(delimiter);
                }
            }
            Some('e') => {
                let code = self.until('\n').trim();
                let code = if code.is_empty() { self.stdin } else { code };
                self.out.push(code.to_owned());
            }
            Some(kind @ ('s' | 'y')) => {
                let Some(delimiter) = self.bump() else { return };
                self.until(delimiter);
                let with = self.until(delimiter);
                let end = self.rest.find([';', '\n', '}']).unwrap_or(self.rest.len());
                let (flags, rest) = self.rest.split_at(end);
                self.rest = rest;
                if kind == 's' && flags.split('w').next().is_some_and(|it| it.contains('e')) {
                    self.out
                        .push(with.replace(&format!("\\{delimiter}"), &delimiter.to_string()));
                    self.out.push(self.stdin.to_owned());
                }
            }
            Some('r' | 'R') => {
                let file = self.until('\n').trim();
                self.files.push(file.to_owned());
            }
            // Their text, file or label goes on to the end of the line.
            Some('a' | 'i' | 'c' | 'w' | 'W' | 'b' | 't' | 'T' | ':' | '#') => {
                self.until('\n');
            }
            _ => {}
        }
    }
}

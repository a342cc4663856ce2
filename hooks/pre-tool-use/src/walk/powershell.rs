//! PowerShell, as far as its commands can be written as a shell's: cmdlets by the programs that do the
//! same, `$env:X = …` as `export`, `\` in paths as `/`.

use crate::marks::STAR;
use crate::words::{Rows, Words};

use super::{Exec, State, Walker};

/// Cmdlets and aliases, in lower case, and what does the same in a shell.
const CMDLETS: Rows = Rows::new(
    "\
get-childitem list
gci list
get-content cat
gc cat
type cat
rm rm
remove-item rm
ri rm
del rm
erase rm
rd rm
rmdir rm
clear-content :>
clc :>
move-item mv
mi mv
move mv
rename-item mv
rni mv
ren mv
copy-item cp
cpi cp
copy cp
invoke-webrequest curl
iwr curl
invoke-restmethod curl
irm curl
invoke-expression eval
iex eval
set-location cd
sl cd
push-location pushd
select-string cat
sls cat
import-csv cat
get-filehash cat
set-content set-content
sc set-content
out-file set-content
add-content add-content
new-item new-item
ni new-item
start-process start-process
start start-process
saps start-process
invoke-command eval
invoke-item start-process
foreach-object pass
where-object pass
where pass
sort-object pass
select-object pass
?? pass
write-output echo
write-host echo
test-path true",
);

/// Parameters whose value is the file that a cmdlet works on.
const FILES: Words = Words("-path -literalpath -filepath -destination -target -uri -pspath -name");
/// Parameters whose value is what it writes.
const VALUES: Words = Words("-value -inputobject -argumentlist -scriptblock -command");
/// Other parameters with a value.
const OTHERS: Words = Words(
    "-encoding -pattern -itemtype -filter -include -exclude -erroraction -ea -workingdirectory -verb \
     -windowstyle -outfile -method -headers -body -totalcount -tail -newname -delimiter -stream \
     -contenttype -useragent -credential -usebasicparsing: -maximumredirection -readcount",
);

impl Walker<'_> {
    /// Walks PowerShell code as shell code.
    pub(super) fn powershell(&mut self, code: &str, state: &State, stdin: &str) {
        let mut child = state.clone();
        child.cmdlets = true;
        let printed = self.code(&as_shell(code), &mut child, stdin);
        self.shown(&printed, state);
    }

    /// Runs a cmdlet as what does the same; `None` when the command is none.
    pub(super) fn cmdlet(&mut self, exec: &Exec, state: &mut State) -> Option<String> {
        if !state.cmdlets && !exec.name().contains('-') {
            return None;
        }
        let name = exec.name().to_ascii_lowercase();
        let row = CMDLETS.of(&name).next()?;
        let same = row.0;
        let given = Given::read(exec.args());
        let file = given.files.first().cloned().unwrap_or_default();
        let argv = match same {
            "set-content" | "add-content" => {
                let text = given.values.first().cloned();
                let text = text.unwrap_or_else(|| exec.stdin.clone());
                self.write_file(&file, &text, same == "add-content", state);
                return Some(String::new());
            }
            "new-item" => {
                if given.flags.contains("-force") || !given.values.is_empty() {
                    self.write_file(&file, &given.values.join(" "), false, state);
                }
                return Some(String::new());
            }
            "pass" => return Some(exec.stdin.clone()),
            "list" => {
                let dir = if file.is_empty() { "." } else { &file };
                let listed = format!("{dir}/{STAR}");
                self.world.listed = Some(listed.clone());
                return Some(listed);
            }
            "rm" if given.files.is_empty() && !exec.stdin.is_empty() => {
                let lines = exec.stdin.lines().map(str::to_owned);
                ["rm".to_owned(), "-rf".to_owned()]
                    .into_iter()
                    .chain(lines)
                    .collect()
            }
            "start-process" => {
                let words = given.values.iter().flat_map(|text| text.split(['\n', ',']));
                let words = words.map(|word| word.trim().to_owned());
                [vec![file], words.collect()].concat()
            }
            "rm" => {
                let forced = if given.flags.contains("-r") {
                    "-rf"
                } else {
                    "-f"
                };
                let words = [vec!["rm".to_owned(), forced.to_owned()], given.files];
                words.concat()
            }
            "curl" => {
                let mut words = vec!["curl".to_owned()];
                for out in given.outs {
                    words.extend(["-o".to_owned(), out]);
                }
                [words, given.files].concat()
            }
            "eval" => [vec!["eval".to_owned()], given.files, given.values].concat(),
            "cat" | ":>" | "cd" => [vec![same.to_owned()], given.files].concat(),
            _ => [vec![same.to_owned()], given.files, given.values].concat(),
        };
        let mut inside = exec.with(argv);
        if name == "clear-content" || name == "clc" {
            self.judge_command(&inside, state);
            return Some(String::new());
        }
        if matches!(same, "rm" | "cat" | "mv" | "cp") {
            inside.argv.retain(|word| !word.is_empty());
        }
        // The words are a shell's now.
        let outer = std::mem::replace(&mut state.cmdlets, false);
        let out = self.deeper(&name, |walker| walker.exec(inside, state));
        state.cmdlets = outer;
        Some(out)
    }
}

/// A cmdlet's arguments by what they are for.
#[derive(Default)]
struct Given {
    files: Vec<String>,
    values: Vec<String>,
    outs: Vec<String>,
    /// The switches, in lower case.
    flags: String,
}

impl Given {
    fn read(args: &[String]) -> Self {
        let mut given = Self::default();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let lower = arg.to_ascii_lowercase();
            let mut value = || rest.next().cloned().unwrap_or_default();
            match lower.as_str() {
                name if FILES.has(name) => given.files.push(value()),
                name if VALUES.has(name) => given.values.push(value()),
                "-outfile" | "-o" => given.outs.push(value()),
                name if OTHERS.has(name) => {
                    value();
                }
                name if name.starts_with('-') => given.flags.push_str(name),
                // `rd /s /q` of the old shell.
                "/s" | "/q" | "/f" => given.flags.push_str("-r"),
                _ if given.files.is_empty() || !given.flags.is_empty() => {
                    given.files.push(arg.clone());
                }
                // The second operand is what is written; programs take any number.
                _ => given.values.push(arg.clone()),
            }
        }
        let parts = given.files.iter().flat_map(|file| file.split(','));
        given.files = parts.map(|file| absolute(file.trim())).collect();
        given
    }
}

/// `C:/x` is no name in the directory.
fn absolute(file: &str) -> String {
    match file.split_once(":/") {
        Some((drive, rest)) if drive.len() == 1 => format!("/{drive}:/{rest}"),
        _ => file.to_owned(),
    }
}

/// The code with a shell's signs.
fn as_shell(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    for line in code.split_inclusive(['\n', ';']) {
        out.push_str(&statement(line));
    }
    out
}

/// One statement: `$env:X = V` as `export X=V`, `$x = V` as `x=V`, `& 'cmd'` as `'cmd'`.
fn statement(line: &str) -> String {
    let start = line.len() - line.trim_start().len();
    let (indent, text) = line.split_at(start);
    // A text by itself is printed.
    let plain = |c: char| c == '$' || c == ':' || c == '_' || c.is_ascii_alphanumeric();
    let value = text.starts_with('$') && text.trim_end().chars().all(plain);
    let printed = (value || text.starts_with(['\'', '"'])).then(|| format!("echo {text}"));
    let text = printed.as_deref().unwrap_or(text);
    let text = text.strip_prefix("& ").unwrap_or(text);
    let assigned = text.strip_prefix('$').and_then(|rest| {
        let end = rest.find(|c: char| c != ':' && c != '_' && !c.is_ascii_alphanumeric())?;
        let value = rest[end..].trim_start().strip_prefix('=')?.trim_start();
        let name = &rest[..end];
        let env = name
            .get(..4)
            .is_some_and(|it| it.eq_ignore_ascii_case("env:"));
        let (verb, name) = if env {
            ("export ", &name[4..])
        } else {
            ("", name)
        };
        let quoted = value.starts_with(['\'', '"']);
        let ends = |c: char| c == '\n' || c == ';';
        // A cmdlet on the right is run for what it prints.
        let value = if !quoted && value.trim_end_matches(ends).contains([' ', '(']) {
            format!("\"$({})\"\n", value.trim_end_matches(ends))
        } else {
            value.to_owned()
        };
        Some(format!("{verb}{name}={value}"))
    });
    let assigned = assigned.or_else(|| each(text));
    let text = assigned.unwrap_or_else(|| text.to_owned());
    format!("{indent}{}", signs(&text))
}

/// `foreach ($x in LIST) { … }`: `x` is what the list prints.
fn each(text: &str) -> Option<String> {
    let start = text
        .get(..7)
        .filter(|it| it.eq_ignore_ascii_case("foreach"))?;
    let rest = text[start.len()..].trim_start().strip_prefix("($")?;
    let (name, rest) = rest.split_once(" in ")?;
    let at = rest.find(") {").or_else(|| rest.find("){"))?;
    Some(format!(
        "{name}=\"$({})\"\n{}",
        &rest[..at],
        &rest[at + 1..]
    ))
}

/// `\` as `/`, a backtick as `\`, `$env:X` as `$X`, and no `@` before a list.
fn signs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.push('/'),
            '`' => out.push('\\'),
            '@' if matches!(chars.peek(), Some('(' | '{')) => {}
            '{' | '}' => {
                // Blocks stand for what runs in them.
                out.push_str(if out.ends_with('$') { "{" } else { "\n" });
                if c == '}' && out.rfind("${").is_some_and(|at| !out[at..].contains('}')) {
                    out.pop();
                    out.push('}');
                }
            }
            c => out.push(c),
        }
    }
    for env in ["$env:", "$Env:", "$ENV:"] {
        out = out.replace(env, "$");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_as_a_shell_would() {
        for (code, shell) in [
            (
                "$env:HUSKY = \"0\"\ngit commit",
                "export HUSKY=\"0\"\ngit commit",
            ),
            ("rm a\\b", "rm a/b"),
            ("& 'git' push", "'git' push"),
            ("$x = 'a'; cat $x", "x='a'; cat $x"),
            ("cat \"$env:HOME/x\"", "cat \"$HOME/x\""),
            ("$x = Get-Content f", "x=\"$(Get-Content f)\"\n"),
            (
                "foreach ($f in gci) { rm $f }",
                "f=\"$(gci)\"\n \n rm $f \n",
            ),
        ] {
            assert_eq!(as_shell(code), shell, "{code}");
        }
    }

    #[test]
    fn what_arguments_are_for() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let given = Given::read(&words("-Path a -Value b -Force"));
        assert_eq!((given.files, given.values), (words("a"), words("b")));
        let given = Given::read(&words("-Recurse -Force a,b"));
        assert_eq!(given.files, words("a b"));
        assert!(given.flags.contains("-r"));
    }
}

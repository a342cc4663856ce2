//! A small look at code of other languages, as it stands in `python -c`, `perl -e`, `node -e` or a
//! here-document.
//!
//! It is no parser of those languages. It separates string literals from the rest, finds calls by
//! name, and evaluates their arguments as far as literals, simple variables and path joins go. What
//! it finds becomes ordinary commands for the walker and the rules: a shell call its command, a
//! removed tree `remove_tree PATH`, a literal path near a reading call `< PATH`.
//!
//! Reading order: this file, `literals`, `value`, `variables`, `shells` (what is run), `files` (what is opened,
//! written, removed), `setting` (directories and variables that the code sets), `tcl`.

mod calls;
mod files;

mod language;
mod literals;
mod requests;
mod setting;
mod shells;
mod tcl;
mod value;
mod variables;

pub use language::Language;

use crate::words::Words;

use super::{Exec, State, Walker};
use literals::Source;
use value::Values;

/// Longest code that is looked at in one go; longer code is looked at part by part.
const MAX_CODE: usize = 64 * 1024;

/// Signs that the code opens files.
const READS: Words = Words(
    "open read Path load slurp File fs. get_contents copy parse < Get-Content createReadStream \
     source insert-file find-file Open Read",
);

/// A piece of code that is looked at.
#[derive(Clone, Copy)]
struct Piece<'p> {
    language: Language,
    source: &'p Source,
    values: &'p Values<'p>,
    stdin: &'p str,
}

impl<'p> Piece<'p> {
    /// The argument texts of all calls of these names.
    fn calls(&self, names: Words) -> impl Iterator<Item = &'p str> + use<'p> {
        self.named(names).map(|call| call.args)
    }

    /// All calls of these names.
    fn named(&self, names: Words) -> impl Iterator<Item = calls::Call<'p>> + use<'p> {
        let skeleton = &self.source.skeleton;
        names.iter().flat_map(move |name| calls::of(skeleton, name))
    }

    /// The arguments as words; a Lisp puts blanks between them.
    fn words(&self, args: &str) -> Vec<String> {
        if self.language != Language::Lisp {
            return self.values.words(args);
        }
        let between = [literals::CLOSE, ' '];
        let commas = format!("{}, ", literals::CLOSE);
        self.values
            .words(&args.replace(&String::from_iter(between), &commas))
    }

    /// Whether the language's calls that remove a file take several.
    fn removes_lists(&self) -> bool {
        matches!(self.language, Language::Perl | Language::Ruby | Language::R)
    }
}

/// Whether a literal is the address, or the host, of a metadata service.
fn is_address(text: &str) -> bool {
    use crate::rules::credential_read::{is_metadata, is_metadata_host};
    (text.contains("://") && is_metadata(text)) || is_metadata_host(text)
}

/// The code in parts of at most [`MAX_CODE`] bytes that end with a line where one ends.
fn parts(code: &str) -> impl Iterator<Item = &str> {
    let mut rest = code;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let most = rest.floor_char_boundary(MAX_CODE);
        let end = if most == rest.len() {
            most
        } else {
            rest[..most].rfind('\n').map_or(most, |at| at + 1)
        };
        let (part, after) = rest.split_at(end.max(1));
        rest = after;
        Some(part)
    })
}

impl Walker<'_> {
    /// Looks at code of another language; true when it fetches something from the network.
    pub(super) fn scan(
        &mut self,
        language: Language,
        code: &str,
        state: &mut State,
        stdin: &str,
    ) -> bool {
        self.note(|| format!("{} code:", language.name()));
        if language == Language::Tcl {
            self.tcl(code, state, stdin);
            return false;
        }
        let tmp = if self.ctx.tmp.is_empty() {
            "/tmp"
        } else {
            &self.ctx.tmp
        };
        let (tmp, home) = (tmp.to_owned(), self.home());
        let words = state.positional.clone();
        let place = value::Place {
            tmp: &tmp,
            home: &home,
            words: &words,
        };
        if language == Language::Python {
            let own = code
                .lines()
                .filter_map(|line| line.trim_start().strip_prefix('!'));
            let own: Vec<&str> = own.collect();
            let cell = code
                .strip_prefix("%%bash")
                .or_else(|| code.strip_prefix("%%sh"));
            self.code_aside(&own.join("\n"), state, stdin);
            self.code_aside(cell.unwrap_or_default(), state, stdin);
        }
        let mut fetches = false;
        for part in parts(code) {
            if self.done() || !self.spend(part.len() / 64) {
                break;
            }
            let source = Source::read(language, part);
            let piece = Piece {
                language,
                source: &source,
                values: &Values::new(&source, language, place, stdin),
                stdin,
            };
            fetches |= self.scan_piece(piece, state);
        }
        fetches
    }

    fn scan_piece(&mut self, piece: Piece<'_>, state: &State) -> bool {
        let mut state = setting::of(piece, self, state);
        self.scan_files(piece, &state);
        self.scan_shell(piece, &state);
        self.scan_eval(piece);
        self.scan_inner(piece, &mut state);
        self.scan_trees(piece, &state);
        self.scan_listings(piece, &state);
        self.scan_reads(piece, &state);
        self.scan_opens(piece, &state);
        self.scan_requests(piece, &state);
        self.scan_shown(piece, &state);
        value::fetches(&piece.source.skeleton)
    }

    /// A path that starts at the home directory.
    fn with_home(&self, text: String) -> String {
        match text.strip_prefix('~') {
            Some(rest) => format!("{}{rest}", self.home()),
            None => text,
        }
    }

    /// Credentials that are asked of a library, or printed from a variable.
    fn scan_shown(&mut self, piece: Piece<'_>, state: &State) {
        if crate::rules::credential_read::asks_for_credential(&piece.source.skeleton) {
            let exec = Exec::of(vec!["ask-for-credential".to_owned()]);
            self.judge_command(&exec, state);
        }
        if self::lists_secrets(piece) {
            let exec = Exec::of(vec!["print-variable".to_owned()]);
            self.judge_command(&exec, state);
        }
        // Whether it is set, or how long it is, shows nothing.
        let tells =
            Words("bool( len( !! Boolean( typeof .length None null == .nil .size ? defined else");
        let asks = |args: &&str| !tells.any_in(args);
        for args in piece.calls(PRINTS).filter(asks) {
            let text = piece.values.text(args);
            self.shown(&text, state);
        }
        // `node -p process.env.X`.
        let skeleton = &piece.source.skeleton;
        if skeleton.len() < 64 && !skeleton.contains(['\n', ';', '=']) {
            let text = piece.values.expression(skeleton);
            if skeleton.contains("env") && !skeleton.contains('(') {
                self.shown(&text, state);
            }
        }
    }

    fn scan_reads(&mut self, piece: Piece<'_>, state: &State) {
        let source = piece.source;
        let reads = READS.any_in(&source.skeleton);
        let connects = value::fetches(&source.skeleton)
            || Words("socket connect Connection Net").any_in(&source.skeleton)
            || source
                .literals
                .iter()
                .any(|it| Words("http https net").has(&it.text));
        for (number, literal) in source.literals.iter().enumerate() {
            if !self.spend(1) {
                return;
            }
            let text = piece.values.literal(literal, 0);
            let host = connects && is_address(&text);
            if !host && (!reads || is_compared(number, source)) {
                continue;
            }
            let command = if host { "curl" } else { "<" };
            let argv = vec![command.to_owned(), text];
            self.judge_command(&Exec::of(argv), state);
        }
    }
}

/// Whether the code goes through all variables and picks those with credentials.
fn lists_secrets(piece: Piece<'_>) -> bool {
    let skeleton = &piece.source.skeleton;
    let goes = Words(
        "environ.items environ.keys os.environ: os.environ] entries(process.env keys(process.env \
         ENV.each ENV.select ENV.to_h %ENV ENV.filter os.Environ()",
    );
    let named = |text: &str| {
        let upper = text.to_ascii_uppercase();
        Words("TOKEN SECRET PASSW API_KEY CREDENTIAL").any_in(&upper) || upper == "KEY"
    };
    goes.any_in(skeleton)
        && (named(skeleton) || piece.source.literals.iter().any(|it| named(&it.text)))
}

/// Whether a text is only looked for: `'.env' in x`, `x.startswith('.env')`, `x['tls.key']`.
fn is_compared(number: usize, source: &Source) -> bool {
    let sign = format!("{}{number}{}", literals::OPEN, literals::CLOSE);
    let Some((before, after)) = source.skeleton.split_once(&sign) else {
        return false;
    };
    let (before, after) = (before.trim_end(), after.trim_start());
    let calls = Words(
        "startswith( endswith( startsWith( endsWith( includes( contains( replace( replaceAll( split( \
         indexOf( count( === == != !== match( search( findall( re.sub( removeprefix( start_with?( \
         end_with?( include?(",
    );
    let list = before.strip_suffix('[').filter(|_| after.starts_with(']'));
    let name = list.and_then(|list| list.rsplit(|c| !value::is_name(c)).next());
    let looked_up = list.is_some_and(|list| list.ends_with([')', ']']))
        || name.is_some_and(|name| !name.is_empty() && !Words("Dir in of return").has(name));
    looked_up
        || after.starts_with("in ")
        || after.starts_with("not in ")
        || after.starts_with("==")
        || after.starts_with("!=")
        || calls.iter().any(|call| before.ends_with(call))
}

/// Calls that print what they are given.
const PRINTS: Words = Words(
    "print puts p pp printf echo console.log console.error console.info process.stdout.write say \
     IO.puts IO.inspect println fmt.Println fmt.Print System.out.println write-output cat message \
     stdout.write sys.stdout.write pprint print_r var_dump",
);

/// What an AWK program prints that puts words around its lines.
pub(super) fn printed(code: &str, stdin: &str) -> String {
    let source = Source::read(Language::Awk, code);
    let place = value::Place {
        tmp: "",
        home: "",
        words: &[],
    };
    let mut out = String::new();
    for line in stdin.lines().take(64) {
        let values = Values::new(&source, Language::Awk, place, line);
        for args in Words("print printf")
            .iter()
            .flat_map(|name| calls::of(&source.skeleton, name))
        {
            if args.args.contains(literals::OPEN) {
                super::append(
                    &mut out,
                    &values.expression(args.args.split('|').next().unwrap_or_default()),
                );
            }
        }
    }
    out
}

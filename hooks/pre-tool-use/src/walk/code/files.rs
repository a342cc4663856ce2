//! What code opens, writes, moves and removes.

use crate::marks::{self, ANY, DEEP, STAR};
use crate::words::Words;

use super::super::{Exec, State, Walker};
use super::{Language, Piece, calls, literals};

/// Calls that remove a whole tree.
const TREE_CALLS: Words = Words(
    "rmtree send2trash moveToTrash rm_rf rm_rf! rm_r remove_entry_secure remove_entry remove_tree removeSync emptyDirSync \
     emptyDir rimraf rimrafSync deltree remove_dir_all remove_dir deleteAsync deleteSync RemoveAll \
     deleteRecursively deleteDirectory delete-directory removePathForcibly \
     removeDirectoryRecursive delete_directory os.remove.all rrmdir delete-dir-tree removeTree \
     delete-directory-and-files FileUtils.rm_rf",
);

/// Calls that remove a tree when told to be recursive.
const RECURSIVE_CALLS: Words = Words("rmSync rmdirSync rm rmdir Remove-Item remove Delete unlink");

/// Calls that remove one file.
const REMOVALS: Words = Words("unlink remove unlinkSync rmSync delete");

/// The same, told apart from the methods of lists that are called so too.
const SINGLE: Words = Words(
    "os.remove os.unlink unlink unlinkSync File.delete File.unlink os.Remove File.rm File.rm! \
     fs.remove_file remove_file delete-file Files.delete Files.deleteIfExists FileUtils.rm \
     FileUtils.rm_f rmSync rm fs.unlink file.remove rmdir rmdirSync Dir.delete Deno.removeSync \
     Deno.remove File::delete File.Delete File]::Delete removeFile syscall.Unlink",
);

/// Calls that move a file, and that write one anew.
const MOVES: Words = Words(
    "rename renameSync rename! os.replace move moveSync mv mv! os.Rename file.rename File.Move \
     Directory.Move File]::Move Directory]::Move rename-file",
);
const WRITES: Words = Words(
    "writeFileSync writeFile File.write file_put_contents os.WriteFile ioutil.WriteFile \
     File.write! fs::write IO.write Deno.writeTextFileSync Deno.writeTextFile WriteAllText \
     write_file spit Files.writeString os.Create",
);

/// Calls that cut a file to a length.
const CUTS: Words = Words("truncate truncateSync");

/// Calls that change who may execute a file.
const MODES: Words = Words("os.chmod chmodSync chmod os.Chmod File.chmod fs.chmod");

/// Calls that copy a file over another, and that make a link to it.
const COPIES: Words =
    Words("copy shutil.copy shutil.copyfile copyFileSync FileUtils.cp File.cp! cpSync");
const LINKS: Words = Words("symlink symlinkSync ln_s ln_sf");

/// Methods of a path.
const READ_BY: Words = Words("read_text read_bytes open readlines text json");
const WRITTEN_BY: Words = Words("write_text write_bytes touch");
const REMOVED_BY: Words = Words("unlink rmdir delete");
const MOVED_BY: Words = Words("rename replace renameTo");
const TREE_BY: Words = Words("rmtree deleteRecursively remove_tree deleteDir deleteTree");

/// Calls that fetch a file: the address, and where it goes.
const DOWNLOADS: Words = Words(
    "urlretrieve wget.download download_file URLDownloadToFile getstore download.file \
     Downloads.download curl_download DownloadFile",
);

/// Calls that list what is in a directory.
const LISTINGS: Words = Words(
    "walk glob iglob rglob iterdir listdir scandir readdirSync opendir find read_dir list_dir \
     RecursiveDirectoryIterator DirectoryIterator FilesystemIterator walkFileTree newDirectoryStream",
);

/// Calls that open the file they are given.
const OPENS: Words = Words(
    "open read readFile readFileSync createReadStream readlines Path slurp file_get_contents load \
     dotenv_values fileinput.input linecache.getlines Bun.file io.lines openSync readTextFile \
     readTextFileSync io.open File.read File.read! ReadFile Open fopen readfile file \
     read_to_string insert-file-contents find-file copyFile copyFileSync shutil.copy load_dotenv \
     readLines read.csv scan source loadtxt read_csv np.fromfile get-content ReadAllText slurp! \
     read_file stream! readFile! File.foreach IO.read IO.readlines copy cp copyfile config",
);

/// Names that write what they are given, or open a file to be written.
const FILLS: Words = Words(
    "write writelines dump print puts copyfileobj fwrite writerow save say printf syswrite copy",
);

impl Walker<'_> {
    /// Paths put together from pieces: `open('.e' + 'nv')`, `(Path(a) / b).read_text()`.
    pub(super) fn scan_opens(&mut self, piece: Piece<'_>, state: &State) {
        for args in piece.calls(OPENS) {
            for word in piece.values.words(args) {
                self.opened(word, state);
            }
        }
        for name in READ_BY.iter() {
            for call in calls::of(&piece.source.skeleton, name) {
                if call.before.ends_with('.') {
                    let path = piece.values.expression(calls::receiver(call.before));
                    self.opened(path, state);
                }
            }
        }
    }

    /// A file that the code reads.
    fn opened(&mut self, word: String, state: &State) {
        let known = word.chars().any(|c| !marks::is_mark(c));
        if !self.done() && self.spend(1) && known && word.len() < 512 && !word.contains('\n') {
            let word = self.with_home(word);
            self.judge_command(&Exec::of(vec!["<".to_owned(), word]), state);
        }
    }

    pub(super) fn scan_trees(&mut self, piece: Piece<'_>, state: &State) {
        let skeleton = &piece.source.skeleton;
        let always = TREE_CALLS.iter().map(|name| (name, ""));
        let when_told = RECURSIVE_CALLS.iter().map(|name| (name, "ecurse"));
        let recursive = RECURSIVE_CALLS.iter().map(|name| (name, "ecursive"));
        let recursive = recursive.chain([("Delete", "true")]);
        let globbed = std::iter::once(("unlink", "glob"));
        for (name, needs) in always.chain(when_told).chain(recursive).chain(globbed) {
            for call in calls::of(skeleton, name).filter(|call| call.args.contains(needs)) {
                // `Remove-Item build -Recurse` is judged as a shell reads it.
                let plain = !call.args.contains(['$', '(', '\\', ':', literals::OPEN]);
                if name == "Remove-Item" && plain {
                    continue;
                }
                let targets = piece.words(call.args);
                let target = targets.first().cloned().unwrap_or_default();
                self.removed_tree(target, state);
            }
        }
        for name in TREE_BY.iter() {
            for call in calls::of(skeleton, name) {
                if call.before.ends_with(").") && call.args.is_empty() {
                    let path = piece.values.expression(calls::receiver(call.before));
                    self.removed_tree(path, state);
                }
            }
        }
    }

    fn removed_tree(&mut self, target: String, state: &State) {
        let target = marks::live_globs(&self.with_home(target));
        self.judge_command(&Exec::of(vec!["remove_tree".to_owned(), target]), state);
    }

    /// Single files that are removed, moved or written, where the names are known.
    pub(super) fn scan_files(&mut self, piece: Piece<'_>, state: &State) {
        for (names, verb) in [
            (SINGLE, "rm"),
            (MOVES, "mv"),
            (WRITES, ">|"),
            (COPIES, "cp"),
            (LINKS, "ln"),
        ] {
            for args in piece.calls(names) {
                let mut words = piece.words(args);
                if verb == "rm" && piece.removes_lists() {
                    for word in words {
                        self.changed_file(verb, vec![word], String::new(), state);
                    }
                    continue;
                }
                words.truncate(1 + usize::from(verb != "rm"));
                if matches!(verb, "mv" | "cp" | "ln") && words.len() < 2 {
                    continue;
                }
                let text = match verb {
                    ">|" if words.len() > 1 => words.pop(),
                    _ => None,
                };
                self.changed_file(verb, words, text.unwrap_or_default(), state);
            }
        }
        for (names, verb) in [(REMOVED_BY, "rm"), (WRITTEN_BY, ">|")] {
            for name in names.iter() {
                for call in calls::of(&piece.source.skeleton, name) {
                    if call.before.ends_with('.') {
                        let path = piece.values.expression(calls::receiver(call.before));
                        let text = piece.values.text(call.args);
                        self.changed_file(verb, vec![path], text, state);
                    }
                }
            }
        }
        self.scan_moved(piece, state);
        for args in piece.calls(CUTS) {
            let length = args.rsplit_once(',').map(|(_, length)| length.trim());
            if matches!(length, None | Some("" | "0")) {
                let mut words = piece.values.words(args);
                words.truncate(1);
                self.changed_file(">|", words, String::new(), state);
            }
        }
        for args in piece.calls(COPIES) {
            let words = piece.values.words(args);
            if let [from, to] = words.as_slice()
                && from.contains("://")
                && marks::exact(to)
            {
                let fetched = marks::only(marks::DOWNLOAD);
                self.write_file(to, &fetched, false, &mut state.clone());
            }
        }
        for call in piece.named(MODES) {
            let words = piece.values.words(call.args);
            self.changed_mode(call.args, words, state);
            if call.before.ends_with(").") {
                let path = piece.values.expression(calls::receiver(call.before));
                self.changed_mode(call.args, vec![path], state);
            }
        }
        self.scan_written(piece, state);
        for args in piece.calls(DOWNLOADS) {
            let words = piece.values.words(args);
            if let Some(file) = words.get(1).filter(|file| marks::exact(file)) {
                let fetched = marks::only(marks::DOWNLOAD);
                self.write_file(file, &fetched, false, &mut state.clone());
            }
        }
    }

    /// `Path(FILE).rename(TO)`. A `replace` of anything but a path is one of letters.
    fn scan_moved(&mut self, piece: Piece<'_>, state: &State) {
        for call in piece.named(MOVED_BY) {
            let path = calls::receiver(call.before);
            if call.before.ends_with(").") && Words("Path( File(").any_in(path) {
                let mut words = piece.values.words(call.args);
                words.truncate(1);
                words.insert(0, piece.values.expression(path));
                self.changed_file("mv", words, String::new(), state);
            }
        }
    }

    /// `os.chmod(FILE, 0o644)`, `Path(FILE).chmod(0o644)`, `chmod 0644, FILE`.
    fn changed_mode(&mut self, args: &str, words: Vec<String>, state: &State) {
        let digits = args.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let octal = |text: &&str| {
            text.len() > 2 && text.trim_start_matches("0o").chars().all(|c| c.is_digit(8))
        };
        let mode = digits
            .into_iter()
            .find(octal)
            .map(|text| text.trim_start_matches("0o"));
        for word in words {
            if let Some(mode) = mode.filter(|_| marks::exact(&word) && !word.is_empty()) {
                let argv = ["chmod", mode, &word].map(str::to_owned);
                self.judge_command(&Exec::of(argv.to_vec()), state);
            }
        }
    }

    fn changed_file(&mut self, verb: &str, words: Vec<String>, text: String, state: &State) {
        let known = |word: &String| marks::exact(word) && !word.is_empty();
        if self.done() || words.is_empty() || !self.spend(1) || !words.iter().all(known) {
            return;
        }
        let empties = verb == ">|" && text.is_empty();
        let mut exec = Exec::of(vec![verb.to_owned()]);
        exec.argv
            .extend(words.into_iter().map(|word| self.with_home(word)));
        exec.stdin = text;
        self.judge_command(&exec, state);
        if verb == ">|" && exec.stdin.contains(marks::DOWNLOAD) {
            let (file, text) = (exec.argv[1].clone(), exec.stdin.clone());
            self.write_file(&file, &text, false, &mut state.clone());
        }
        if empties {
            exec.argv[0] = ":>".to_owned();
            self.judge_command(&exec, state);
        }
    }

    /// `open(FILE, 'w')`: emptied, or written anew.
    fn scan_written(&mut self, piece: Piece<'_>, state: &State) {
        let skeleton = &piece.source.skeleton;
        let perl = piece.language == Language::Perl;
        let fills = FILLS
            .iter()
            .any(|name| calls::of(skeleton, name).next().is_some());
        for name in Words("open fopen File.open io.open openSync File.new").iter() {
            for call in calls::of(skeleton, name) {
                let mut words = piece.values.words(call.args);
                let writes = |mode: &String| {
                    mode.trim_end_matches(['b', 't', '+']) == "w"
                        || mode == ">"
                        || mode == "truncate"
                };
                if !words.iter().skip(1).any(writes) {
                    continue;
                }
                // Perl's handle comes first: `open(F, '>', FILE)`.
                if words.get(1).is_some_and(|mode| mode == ">") {
                    let file = 2.min(words.len() - 1);
                    words.swap(0, file);
                }
                words.truncate(1);
                let filled = call.after.strip_prefix(".write(").map(|args| {
                    let end = args.find(')').unwrap_or(args.len());
                    piece.values.text(&args[..end])
                });
                let text = match filled {
                    Some(text) => text,
                    None if !fills && (perl || call.after.starts_with(".close(")) => String::new(),
                    None => marks::only(ANY),
                };
                self.changed_file(">|", words, text, state);
            }
        }
    }

    /// Files removed one by one below a directory that the code lists: a removed tree.
    pub(super) fn scan_listings(&mut self, piece: Piece<'_>, state: &State) {
        let skeleton = &piece.source.skeleton;
        // Also as what is called for each: `forEach(fs.unlinkSync)`, `array_map("unlink", …)`.
        let handed = |name: &str| {
            let given = [format!(".{name})"), format!("&{name}")];
            given.iter().any(|it| skeleton.contains(it.as_str()))
                || piece.source.literals.iter().any(|it| it.text == name)
        };
        if piece.calls(REMOVALS).next().is_none() && !REMOVALS.iter().any(handed) {
            return;
        }
        let mut roots = Vec::new();
        for args in piece.calls(LISTINGS).chain(piece.calls(Words("Path"))) {
            roots.extend(piece.values.words(args).into_iter().next());
        }
        for call in LISTINGS.iter().flat_map(|name| calls::of(skeleton, name)) {
            if call.before.ends_with('.') {
                roots.push(piece.values.expression(calls::receiver(call.before)));
            }
        }
        let ruby = skeleton.split("Dir[").skip(1);
        for list in ruby.filter_map(|rest| rest.split(']').next()) {
            roots.push(piece.values.expression(list));
        }
        for root in roots {
            if !root.starts_with(['/', '~', '.']) {
                continue;
            }
            let root = self.with_home(root);
            let root = root.trim_end_matches(['*', '/']);
            let argv = vec!["remove_tree".to_owned(), format!("{root}/{STAR}/{DEEP}")];
            self.judge_command(&Exec::of(argv), state);
        }
    }
}

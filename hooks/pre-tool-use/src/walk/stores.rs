//! What comes from the network: downloads, stores, forges, other machines.

use crate::marks::{self, ANY, DOWNLOAD};
use crate::path;
use crate::words::Words;

use super::copies::SESSIONS;
use super::options::{self, Arg, Spec};
use super::{Exec, State, Walker};

/// Clients of stores and forges that can fetch what others wrote.
pub(super) const STORES: Words = Words(
    "aws gsutil gcloud gh glab rclone s3cmd mc svn az openssl kubectl oc hf huggingface-cli b2 \
     ipfs s5cmd",
);

/// Options of these clients that take a value.
const SPEC: Spec = Spec {
    short: "pODRXfFHqtnbh",
    long: Words(
        "pattern output dir repo method field raw-field header jq template name file profile \
         region endpoint-url hostname bucket key container-name container namespace name \
         account-name local-dir",
    ),
};

impl Walker<'_> {
    /// What a store's client prints; what it fetches into files is noted.
    pub(super) fn fetched_from_store(&mut self, exec: &Exec, state: &mut State) -> String {
        let words = options::operands(exec.args(), SPEC);
        let fetched = marks::only(DOWNLOAD);
        match (exec.name(), words.as_slice()) {
            ("gh" | "glab", ["api", ..]) | ("gh", ["gist", "view", ..]) => fetched,
            ("gh" | "glab", ["release", "download", ..]) => self.released(exec, state),
            ("gsutil" | "rclone" | "mc" | "svn", ["cat", ..])
            | ("gcloud", ["storage", "cat", ..]) => fetched,
            ("openssl", ["s_client", ..]) => fetched,
            ("openssl", _) => self.decode(exec, state),
            ("aws", ["s3", "cp" | "sync" | "mv", from, to])
            | ("gsutil" | "rclone" | "mc", ["cp" | "copy" | "copyto", from, to])
            | ("gcloud", ["storage", "cp", from, to])
            | ("s3cmd", ["get", from, to])
            | ("svn", ["export", from, to]) => self.copied(from, to, state),
            ("s3cmd", ["get", from]) => self.copied(from, ".", state),
            ("s5cmd", ["cp", from, to]) => self.copied(from, to, state),
            ("s5cmd", ["cat", ..]) | ("ipfs", ["cat", ..]) => fetched,
            ("aws", ["s3api", "get-object", .., file]) | ("b2", [.., file]) => {
                self.write_file(file, &fetched, false, state);
                String::new()
            }
            ("az", ["storage", ..]) => self.named_by_option(exec, state),
            ("gcloud", ["compute", "scp", from, to]) | ("oc", ["rsync", from, to]) => {
                self.brought(from, to, true, state);
                String::new()
            }
            ("kubectl" | "oc", ["cp", from, to]) => {
                // `namespace/pod:file`.
                let pod = from
                    .rsplit_once('/')
                    .filter(|(head, _)| !head.contains(':'));
                self.brought(pod.map_or(from, |(_, pod)| pod), to, true, state);
                String::new()
            }
            ("kubectl" | "oc", ["exec" | "rsh" | "logs", ..]) => self.unknown(exec, state),
            ("hf" | "huggingface-cli", ["download", _, files @ ..]) => {
                for file in files {
                    self.write_file(file, &fetched, false, state);
                }
                String::new()
            }
            _ => self.unknown(exec, state),
        }
    }

    /// A copy out of a store, into a file, a directory or the output.
    fn copied(&mut self, from: &str, to: &str, state: &mut State) -> String {
        if !from.contains(':') {
            return marks::only(ANY);
        }
        let fetched = marks::only(DOWNLOAD);
        if to == "-" {
            return fetched;
        }
        let inside = format!("{to}/{}", path::name(from));
        for file in [to.to_owned(), inside] {
            self.write_file(&file, &fetched, false, state);
        }
        String::new()
    }

    /// `az storage blob download -f FILE`.
    fn named_by_option(&mut self, exec: &Exec, state: &mut State) -> String {
        for arg in options::read(exec.args(), SPEC) {
            if let Arg::Short('f', Some(file)) | Arg::Long("file", Some(file)) = arg {
                self.write_file(file, &marks::only(DOWNLOAD), false, state);
            }
        }
        marks::only(ANY)
    }

    /// `gh release download`: the files that its patterns name.
    fn released(&mut self, exec: &Exec, state: &mut State) -> String {
        let (mut files, mut dir, mut output) = (Vec::new(), None, None);
        for arg in options::read(exec.args(), SPEC) {
            match arg {
                Arg::Short('p', Some(name)) | Arg::Long("pattern", Some(name)) => {
                    files.push(marks::live_globs(name));
                }
                Arg::Short('D', value) | Arg::Long("dir", value) => dir = value,
                Arg::Short('O', value) | Arg::Long("output", value) => output = value,
                _ => {}
            }
        }
        if let Some(file) = output {
            if file == "-" {
                return marks::only(DOWNLOAD);
            }
            files = vec![file.to_owned()];
        }
        for file in files {
            let file = dir.map_or(file.clone(), |dir| format!("{dir}/{file}"));
            self.write_file(&file, &marks::only(DOWNLOAD), false, state);
        }
        String::new()
    }

    /// A download: into a file when an option names one, else printed.
    pub(super) fn download(&mut self, exec: &Exec, state: &mut State) -> String {
        let fetched = marks::only(DOWNLOAD);
        if exec
            .args()
            .iter()
            .any(|arg| arg == "--version" || arg == "--help")
        {
            return marks::only(ANY);
        }
        if SESSIONS.has(exec.name()) {
            self.asked_for(exec, state);
        }
        let Some(files) = crate::rules::pipe_to_shell::download_files(exec) else {
            return fetched;
        };
        let mut printed = String::new();
        for file in files {
            if matches!(file.as_str(), "-" | "/dev/stdout") {
                printed.clone_from(&fetched);
            } else {
                self.write_file(&file, &fetched, false, state);
            }
        }
        printed
    }
}

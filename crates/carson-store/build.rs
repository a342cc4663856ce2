//! Lists the migrations, for `src/migrations.rs`: a file that is added is run without being named anywhere.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let variable = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
    let migrations = variable("CARGO_MANIFEST_DIR").join("../../migrations");
    println!("cargo:rerun-if-changed={}", migrations.display());
    let mut lists = String::new();
    for (database, name) in [("sqlite", "SQLITE"), ("postgres", "POSTGRES")] {
        let files = listed(&migrations.join(database))?;
        let _ = writeln!(lists, "pub(crate) const {name}: &[File] = &[{files}];");
    }
    fs::write(variable("OUT_DIR").join("migrations.rs"), lists)
}

/// The files of a directory in their order: version, description, SQL.
fn listed(directory: &Path) -> io::Result<String> {
    let mut paths = Vec::new();
    for item in fs::read_dir(directory)? {
        paths.push(item?.path());
    }
    paths.sort();
    let mut files = String::new();
    for path in paths {
        let odd = || io::Error::other(format!("{path:?} is not called NUMBER_WORDS.sql"));
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.and_then(|name| name.strip_suffix(".sql"));
        let (version, words) = name.and_then(|name| name.split_once('_')).ok_or_else(odd)?;
        let version: i64 = version.parse().map_err(|_| odd())?;
        let words = words.replace('_', " ");
        let _ = write!(files, "({version}, {words:?}, include_str!({path:?})), ");
    }
    Ok(files)
}

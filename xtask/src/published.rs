//! What lets Homebrew and cargo-binstall fetch the archive, once somebody has published it.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

/// An archive, and the address of the folder that it will lie in.
pub struct Published<'a> {
    /// As `https://example.org/carson`.
    pub folder: &'a str,
    /// The archive's name there.
    pub file: &'a str,
    /// Its SHA-256 in hex.
    pub sha256: &'a str,
    /// What it runs on, as rustc calls it.
    pub triple: &'a str,
    /// The programs in it.
    pub programs: &'a [&'a str],
}

impl Published<'_> {
    /// Writes `carson.rb` and `binstall/Cargo.toml`.
    ///
    /// # Errors
    /// When the folder is no address, or a file cannot be written.
    pub fn write(&self, into: &Path) -> anyhow::Result<()> {
        let folder = self.folder.trim_end_matches('/');
        let is_address = folder.starts_with("https://") && !folder.contains(['"', '\\', '#', ' ']);
        ensure!(
            is_address,
            "{folder:?} is no address: --published https://HOST/FOLDER, where the archive will lie"
        );
        let binstall = into.join("binstall");
        fs::create_dir_all(&binstall).context("cannot write below target/package")?;
        fs::write(into.join("carson.rb"), self.formula(folder))?;
        fs::write(binstall.join("Cargo.toml"), self.table(folder))?;
        Ok(())
    }

    /// The formula of a tap of one's own. Homebrew asks its own git when it is not there.
    fn formula(&self, folder: &str) -> String {
        let system = match self.triple.contains("darwin") {
            true => ":macos",
            false => ":linux",
        };
        let (file, sha256) = (self.file, self.sha256);
        let programs = self.programs.iter();
        let programs: Vec<String> = programs.map(|name| format!("\"bin/{name}\"")).collect();
        let programs = programs.join(", ");
        format!(
            r##"class Carson < Formula
  desc "Runs a household of coding agents while its owner sleeps"
  homepage "{folder}"
  url "{folder}/{file}"
  sha256 "{sha256}"
  license any_of: ["Apache-2.0", "MIT"]

  depends_on {system}
  depends_on "git"

  def install
    bin.install {programs}
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/carson"
    zsh_completion.install "share/zsh/site-functions/_carson"
    fish_completion.install "share/fish/vendor_completions.d/carson.fish"
  end

  def caveats
    "`carson init` in a repository begins; `carson service install` has the daemon started at every boot."
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/carson --version")
  end
end
"##
        )
    }

    /// What `cargo binstall --manifest-path binstall/Cargo.toml carson` reads: one package that names every program, as
    /// it takes those of one package alone.
    fn table(&self, folder: &str) -> String {
        let version = env!("CARGO_PKG_VERSION");
        let mut table = format!(
            "[workspace]\n\n[package]\nname = \"carson\"\nversion = \"{version}\"\nedition = \"2024\"\nlicense = \"Apache-2.0 OR MIT\"\n\
             repository = \"{folder}\"\n\n[package.metadata.binstall]\n\
             pkg-url = \"{{ repo }}/carson-{{ version }}-{{ target }}.tar.gz\"\npkg-fmt = \"tgz\"\n\
             bin-dir = \"carson-{{ version }}-{{ target }}/bin/{{ bin }}\"\n"
        );
        // A static program runs beside any libc, and cargo-binstall asks for each by its own name.
        if let Some(system) = self.triple.strip_suffix("-linux-gnu") {
            let name = format!("carson-{{ version }}-{}", self.triple);
            table.push_str(&format!(
                "\n[package.metadata.binstall.overrides.{system}-linux-musl]\n\
                 pkg-url = \"{{ repo }}/{name}.tar.gz\"\nbin-dir = \"{name}/bin/{{ bin }}\"\n"
            ));
        }
        for program in self.programs {
            table.push_str(&format!(
                "\n[[bin]]\nname = \"{program}\"\npath = \"{program}.rs\"\n"
            ));
        }
        table
    }
}

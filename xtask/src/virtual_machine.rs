//! What a virtual machine boots with that the tests run some of theirs in: a Debian kernel, and a first process that makes
//! its root of this machine's own.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::debian;
use crate::interrupt::Interrupt;
use crate::workspace::{Cache, output};

/// The variable that tells the tests where it is.
pub const VARIABLE: &str = "CARSON_TEST_VM";

/// The package that names Debian's newest kernel.
const KERNEL: &str = "linux-image-amd64";
/// The tools of the first process, in one program without libraries.
const TOOLS: &str = "busybox-static";

/// What the kernel needs for the first process, each after those that it needs itself.
const MODULES: [&str; 17] = [
    "drivers/virtio/virtio_ring",
    "drivers/virtio/virtio",
    "drivers/virtio/virtio_pci_legacy_dev",
    "drivers/virtio/virtio_pci_modern_dev",
    "drivers/virtio/virtio_pci",
    "drivers/block/virtio_blk",
    "fs/netfs/netfs",
    "fs/fscache/fscache",
    "net/9p/9pnet",
    "net/9p/9pnet_virtio",
    "fs/9p/9p",
    "fs/overlayfs/overlay",
    "lib/crc16",
    "crypto/crc32c_generic",
    "fs/mbcache",
    "fs/jbd2/jbd2",
    "fs/ext4/ext4",
];

const INIT: &str = include_str!("virtual_machine/init");

/// Why there can be none here.
pub fn missing() -> Option<String> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("it is made for x86-64".to_owned());
    }
    (!nix::unistd::geteuid().is_root())
        .then(|| "it needs root, whose files it boots from".to_owned())
}

/// Fetches and makes what the cache does not have, and the emulator where this machine has none; where it lies: `vmlinuz`
/// and `initramfs`.
///
/// # Errors
/// When Debian's packages cannot be had, or are not as they were.
pub fn ensure(interrupt: &Interrupt, cache: &Cache) -> anyhow::Result<PathBuf> {
    debian::ensure_virtual_machine(interrupt)?;
    let dir = cache.dir("virtual-machine")?;
    let unpacked = dir.join("unpacked");
    if !unpacked.join("bin/busybox").is_file() || modules(&unpacked).is_none() {
        fetch(interrupt, &dir, &unpacked)?;
    }
    let kernel = modules(&unpacked).context("the kernel's package has no modules")?;
    let version = kernel.file_name().unwrap_or_default().to_string_lossy();
    let image = unpacked.join(format!("boot/vmlinuz-{version}"));
    fs::copy(&image, dir.join("vmlinuz")).with_context(|| format!("no {}", image.display()))?;
    write_initramfs(&unpacked, &kernel, &dir)?;
    Ok(dir)
}

/// Where the modules of the kernel lie that was unpacked.
fn modules(unpacked: &Path) -> Option<PathBuf> {
    let mut versions = fs::read_dir(unpacked.join("lib/modules")).ok()?.flatten();
    versions.next().map(|version| version.path())
}

/// Unpacks the packages into a directory and installs nothing: this machine keeps the kernel that it has.
fn fetch(interrupt: &Interrupt, dir: &Path, unpacked: &Path) -> anyhow::Result<()> {
    let _ = fs::remove_dir_all(unpacked);
    let packages = dir.join("packages");
    let _ = fs::remove_dir_all(&packages);
    fs::create_dir_all(&packages)?;
    debian::update(interrupt)?;
    let kernel = newest_kernel()?;
    println!(
        "xtask: fetching {kernel} and {TOOLS} into {}",
        dir.display()
    );
    let mut download = Command::new("apt-get");
    download
        .args(["download", "--quiet", "-o", "APT::Sandbox::User=root"])
        .args([kernel.as_str(), TOOLS])
        .current_dir(&packages);
    interrupt.must(&mut download)?;
    for package in fs::read_dir(&packages)? {
        let mut unpack = Command::new("dpkg-deb");
        unpack.arg("--extract").arg(package?.path()).arg(unpacked);
        interrupt.must(&mut unpack)?;
    }
    fs::remove_dir_all(&packages)?;
    Ok(())
}

/// The package that [`KERNEL`] depends on.
fn newest_kernel() -> anyhow::Result<String> {
    let shown = output(Command::new("apt-cache").args(["show", "--no-all-versions", KERNEL]));
    let shown = shown.with_context(|| format!("Debian's lists have no {KERNEL}"))?;
    let line = shown
        .lines()
        .find_map(|line| line.strip_prefix("Depends: "));
    let name = line.and_then(|line| line.split([' ', ',']).next());
    match name.filter(|name| name.starts_with("linux-image-")) {
        Some(name) => Ok(name.to_owned()),
        None => bail!("{KERNEL} depends on no kernel: {shown}"),
    }
}

/// Packs the first process, its tools and the modules that it loads in the order of their names.
fn write_initramfs(unpacked: &Path, kernel: &Path, dir: &Path) -> anyhow::Result<()> {
    let stage = dir.join("stage");
    let _ = fs::remove_dir_all(&stage);
    fs::create_dir_all(stage.join("bin"))?;
    fs::create_dir_all(stage.join("modules"))?;
    let tools = stage.join("bin/busybox");
    fs::copy(unpacked.join("bin/busybox"), &tools)?;
    fs::write(stage.join("init"), INIT)?;
    fs::set_permissions(stage.join("init"), fs::Permissions::from_mode(0o755))?;
    for (at, module) in MODULES.iter().enumerate() {
        let from = kernel.join("kernel").join(format!("{module}.ko"));
        let name = Path::new(module).file_name().unwrap_or_default();
        let to = format!("modules/{at:02}-{}.ko", name.to_string_lossy());
        fs::copy(&from, stage.join(to)).with_context(|| format!("no {}", from.display()))?;
    }
    let mut pack = Command::new("sh");
    pack.args(["-c", "find . | ./bin/busybox cpio -o -H newc"])
        .current_dir(&stage)
        .stdout(File::create(dir.join("initramfs"))?)
        .stderr(Stdio::null());
    let packed = pack.status().context("sh does not run")?;
    if !packed.success() {
        bail!("{} is not packed ({packed})", stage.display());
    }
    Ok(())
}

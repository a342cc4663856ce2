//! Which commands are wrappers, and where the inner command begins.

use super::options::{self, Spec};
use crate::words::{Rows, Words};

/// Long options of any wrapper that take the next word as their value.
const LONG: Words = Words(
    "user group prompt chdir unset signal kill-after adjustment class classdata output format \
     package with property unit env directory host close-from interval init-groups argv0 target \
     cpunodebind membind physcpubind interleave preferred from times delay limit exe watch filter \
     spec",
);

/// The same of `systemd-run`, whose `--user` takes none.
const SYSTEMD: Words = Words("unit property setenv working-directory uid gid");

/// Each wrapper, how many words stand between its options and the command (`*` for all of them), and its
/// short options that take a value. Documented by each command's own `--help`.
const WRAPPERS: Rows = Rows::new(
    "\
sudo 0 CDghpRrTtUu
doas 0 Cua
nice 0 n
nohup 0
time 0 fo
timeout 1 ks
gtimeout 1 ks
setsid 0
stdbuf 0 ioe
ionice 0 cnpPu
chrt 1 TPD
taskset 1
exec 0 a
builtin 0
command 0
chroot 1
strace 0 oeEpPsaSuIb
ltrace 0 oeEpsaunlx
unshare 0 RwSG
nsenter 0 tSGrw
systemd-run 0 putHME
screen 0 ScehtTp
xvfb-run 0 nsefp
caffeinate 0 tw
busybox 0
toybox 0
torsocks 0
torify 0
proxychains 0 f
proxychains4 0 f
fakeroot 0
eatmydata 0
chronic 0
unbuffer 0
rlwrap 0
dbus-run-session 0
valgrind 0
noglob 0
nocorrect 0
setpriv 0
prlimit 0
arch 0
winpty 0
gosu 1
su-exec 1
npx 0 p
bunx 0
pnpx 0
dumb-init 0 r
tini 0 pe
coproc 0
script * cEIOoTtm
flock 1 wE
runuser 0 ugGs
entr 0
firejail 0
ssh-agent 0 aEPt
cross-env 0
cross-env-shell 0
dotenv 0 efvpc
dotenvx 0 f
retry 0 tdmsbcn
faketime 1 f
numactl 0 NmCcpwi
trickle 0 dutLs
cpulimit 0 lpe
tsp 0 DLNS
run-one 0
run-this-one 0
setarch 0
linux32 0
linux64 0
pkexec 0
chpst 0 ubUem/nlLoprtdcf
bwrap 0
s6-setuidgid 1
setuidgid 1
rr 1
daemonize 0 abceoplu
watchexec 0 ewdisfE
nodemon 0 ewix
start-stop-daemon 0 pxaucdgR
uvx 0 p
pipx 1
proot 0 brwq
cgexec 0 g
choom 0 np
nocache 0
envdir 1
envchain 1
shx 0",
);

/// Wrappers and their options that enter a directory before the command runs.
pub(super) const ENTERING: Rows = Rows::new(
    "\
sudo -D --chdir
env -C --chdir
systemd-run --working-directory
nsenter --wd -w
unshare --wd -w
bwrap --chdir
pnpm -C --dir
npm --prefix
yarn --cwd
uv --directory
poetry -C --directory
mise -C --cd
direnv exec",
);

/// Commands that run another one when one of these words follows.
const PREFIXES: Rows = Rows::new(
    "\
aws-vault exec
chamber exec
infisical run
foreman run
heroku local:run
cargo watch
sops exec-env
poetry run
pipenv run
uv run
rye run
pdm run
hatch run
bundle exec
npm exec x
pnpm exec dlx
yarn exec dlx
mise exec x
asdf exec
rbenv exec
pyenv exec
perf stat record
gdb --args
rustup run
conda run
direnv exec
dotenv run
op run
doppler run
wsl --
git annex",
);

/// Whether the command runs the command given to it.
pub(in crate::walk) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.of(name).next().is_some()
}

/// Index of the inner command among the arguments.
pub(super) fn inner(name: &str, args: &[String]) -> Option<usize> {
    if let Some(row) = WRAPPERS.of(name).next() {
        let mut row = row.iter();
        let operands = row.next().map_or(0, |n| n.parse().unwrap_or(usize::MAX));
        let short = row.next().unwrap_or_default();
        // `nice -10 cmd` and `busybox` fit the table; a wrapper's own operands may be options' ends.
        let long = if name == "systemd-run" { SYSTEMD } else { LONG };
        let at = options::first_operand(args, Spec { short, long });
        let mut at = at.saturating_add(operands);
        let count = |n: &String| n.bytes().all(|b| b.is_ascii_digit());
        if name == "retry" && args.get(at).is_some_and(count) {
            at += 1;
        }
        if name == "setarch" && args.get(at).is_some_and(|arg| MACHINES.has(arg)) {
            at += 1;
        }
        if name == "bwrap" {
            at = after_options(args);
        }
        if args.get(at).is_some_and(|arg| arg == "--") {
            at += 1;
        }
        return Some(at);
    }
    let verbs = PREFIXES.of(name).next()?;
    let verb = args.iter().position(|arg| verbs.has(arg))?;
    if verb > 2 {
        return None;
    }
    let mut at = verb + 1;
    if let Some(dashes) = args[at..].iter().position(|arg| arg == "--") {
        return Some(at + dashes + 1);
    }
    let spec = Spec {
        short: "pn",
        long: LONG,
    };
    at += options::first_operand(&args[at..], spec);
    Some(
        at + usize::from(matches!(
            name,
            "direnv" | "rustup" | "aws-vault" | "chamber"
        )),
    )
}

/// What `setarch` may be told before the command.
const MACHINES: Words = Words("x86_64 i386 i486 i586 i686 linux32 linux64 aarch64 armv7l uname26");

/// Options of `bwrap` with two values, and with one.
const THREE: Words =
    Words("--bind --ro-bind --dev-bind --symlink --setenv --bind-try --ro-bind-try --file");
const TWO: Words =
    Words("--proc --dev --tmpfs --dir --chdir --unsetenv --uid --gid --hostname --remount-ro");

/// The first word after options that each take the words up to the next option, `--bind A B` at most
/// two of them.
fn after_options(args: &[String]) -> usize {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.starts_with("--")) {
        at += match arg.as_str() {
            "--" => return at + 1,
            arg if THREE.has(arg) => 3,
            arg if TWO.has(arg) => 2,
            _ => 1,
        };
    }
    at
}

/// The code of wrappers that take a command line as one option: `su -c`, `script -c`, ….
pub(super) fn code_option(name: &str, args: &[String]) -> Option<String> {
    let flags = Words(match name {
        "su" | "runuser" | "script" | "flock" | "sg" | "capsh" => "-c --command -qc -qec",
        "entr" => "-s -rs -cs",
        "npx" | "npm" | "nix" => "-c --call --command",
        "screen" => "stuff",
        "ansible" if args.iter().any(|arg| arg == "shell" || arg == "command") => "-a --args",
        "nodemon" => "-x --exec",
        "cargo" if args.iter().any(|arg| arg == "watch") => "-s --shell",
        "nix-shell" => "--run --command",
        _ => return None,
    });
    let at = args.iter().position(|arg| flags.has(arg))?;
    let code = args.get(at + 1)?;
    // `nix develop -c cmd args` takes words, the others one text.
    if name == "nix" {
        Some(args[at + 1..].join(" "))
    } else {
        Some(code.clone())
    }
}

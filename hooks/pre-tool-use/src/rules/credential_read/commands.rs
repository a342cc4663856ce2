//! Commands by what they do with the files they are given.

use crate::walk::Exec;
use crate::words::Words;

/// Commands that use only the names of the files they are given, or are followed into what they run.
pub(super) const NAME_ONLY: Words = Words(
    "ls dir stat test [ [[ touch rm rmdir unlink shred mkdir chmod chown chgrp echo printf cd \
     pushd basename dirname realpath readlink which type command du tree export declare local \
     readonly typeset alias unset set : true exit return kill trap mktemp find gfind fd :> \
     remove_tree ssh-keyscan truncate trash rimraf xargs gxargs parallel watch eval read tee \
     lsattr getfacl hyperfine virtualenv exa eza false let shift getopts mapfile readarray file",
);

/// Commands whose first operand is a pattern or a program.
pub(super) const PATTERN_FIRST: Words =
    Words("grep egrep fgrep zgrep rg ag ack sed gsed awk gawk mawk nawk jq yq git-grep");

/// Commands whose last operand is written, not read.
pub(super) const TARGET_LAST: Words = Words("cp mv install scp rsync ln gcp");

/// Commands that show a file wherever it stands; a cluster's tool prints the object it makes of one.
const SHOWERS: Words = Words(
    "< cat bat head tail less more nl strings xxd od hexdump base64 base32 sed awk grep rg diff sort \
     kubectl oc",
);

/// The files that an option gives a command as its key, or to be written: `--tls-key F`, `-out F`. What
/// is told of them is not what is in them.
pub(super) fn used(exec: &Exec) -> Vec<&str> {
    let args = exec.args();
    if SHOWERS.has(exec.name()) {
        return Vec::new();
    }
    let openssl = exec.name() == "openssl";
    let public = openssl && args.iter().any(|arg| arg == "-pubout");
    let uses = |option: &str| {
        let option = option.to_ascii_lowercase();
        option.starts_with('-')
            && (Words("key out").any_in(&option)
                || matches!(option.as_str(), "-o" | "-k")
                || openssl && (option == "-sign" || public))
    };
    let after = args.windows(2).filter(|pair| uses(&pair[0]));
    let attached = args.iter().filter_map(|arg| arg.split_once('='));
    let attached = attached.filter(|(option, _)| uses(option));
    after
        .map(|pair| pair[1].as_str())
        .chain(attached.map(|(_, value)| value))
        .collect()
}

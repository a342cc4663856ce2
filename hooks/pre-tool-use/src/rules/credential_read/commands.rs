//! Commands by what they do with the files they are given.

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

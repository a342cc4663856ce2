#!/bin/sh
# Installs Carson's programs out of the archive that this file came in, or removes them: all of them, beside each other.
#   ./install.sh [--prefix DIR]       into DIR/bin [default: /usr/local as root, else ~/.local]; the manual, what
#                                     shells complete and the documents below DIR/share
#   ./install.sh --uninstall [--prefix DIR]
# What is there already is replaced in one step each, `carson` last; to call it again changes nothing. Fleets' homes are
# not touched.
set -eu

programs="carson-hook carson-launch carson-inspect carson-agent carson"
completions="bash-completion/completions/carson zsh/site-functions/_carson fish/vendor_completions.d/carson.fish"
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
prefix=
uninstall=

say() { printf '%s\n' "$*"; }
fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# Puts a file of the archive in its place below the prefix; it may be that place already.
put() {
    cmp -s -- "$1" "$prefix/$1" || cp -- "$1" "$prefix/$1"
}

while [ $# -gt 0 ]; do
    case "$1" in
    --prefix)
        [ -n "${2-}" ] || fail "--prefix needs a directory"
        prefix=$2
        shift
        ;;
    --uninstall) uninstall=yes ;;
    -h | --help)
        sed -n '2,7s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) fail "cannot do $1: see ./install.sh --help" ;;
    esac
    shift
done
if [ -z "$prefix" ]; then
    if [ "$(id -u)" = 0 ]; then
        prefix=/usr/local
    else
        prefix=${HOME:?there is no HOME: name a directory with --prefix}/.local
    fi
fi
case "$prefix" in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
bin=$prefix/bin
documents=$prefix/share/doc/carson

if [ -n "$uninstall" ]; then
    for program in $programs; do
        if [ -e "$bin/$program" ]; then
            rm -f -- "$bin/$program"
            say "removed $bin/$program"
        fi
    done
    rm -f -- "$prefix"/share/man/man1/carson.1 "$prefix"/share/man/man1/carson-*.1
    for script in $completions; do
        rm -f -- "$prefix/share/$script"
    done
    rm -rf -- "$documents"
    say "a service that still runs is stopped by its own manager: systemctl --user disable --now carson"
    exit 0
fi

cd -- "$here"
[ -f SHA256SUMS ] || fail "there is no SHA256SUMS beside install.sh: unpack the whole archive"
if command -v sha256sum >/dev/null 2>&1; then
    sha256sum -c SHA256SUMS >/dev/null || fail "the files are not those of the archive: nothing was installed"
elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 -c SHA256SUMS >/dev/null || fail "the files are not those of the archive: nothing was installed"
else
    fail "neither sha256sum nor shasum is here to check the files with: nothing was installed"
fi
for program in $programs; do
    grep -q " [ *]\{0,1\}bin/$program\$" SHA256SUMS || fail "SHA256SUMS does not name bin/$program: nothing was installed"
done
"./bin/carson" --version >/dev/null 2>&1 || fail "bin/carson does not run on this machine: is it the archive for it?"

mkdir -p -- "$bin" || fail "$bin cannot be made: name another directory with --prefix"
for program in $programs; do
    if cmp -s -- "bin/$program" "$bin/$program"; then
        continue
    fi
    # A program that runs is not written over: the new file takes its name.
    cp -- "bin/$program" "$bin/.$program.new" || fail "$bin cannot be written: name another directory with --prefix"
    chmod 755 -- "$bin/.$program.new"
    mv -f -- "$bin/.$program.new" "$bin/$program"
    say "installed $bin/$program"
done
# The documents that the programs name, all of this version.
rm -rf -- "$documents"
for dir in share/man/man1 share/doc/carson/docs; do
    mkdir -p -- "$prefix/$dir" || fail "$prefix/$dir cannot be made: name another directory with --prefix"
done
for page in share/man/man1/*.1; do
    put "$page"
done
cp -- README.md LICENSE-APACHE LICENSE-MIT "$documents/"
cp -R -- docs/. "$documents/docs/"
for script in $completions; do
    mkdir -p -- "$(dirname -- "$prefix/share/$script")"
    put "share/$script"
done
case ":${PATH-}:" in
*":$bin:"*) ;;
*) say "$bin is not on your PATH: add it there" ;;
esac
say "$("$bin/carson" --version) is installed; a daemon that runs is restarted by: systemctl --user restart carson"

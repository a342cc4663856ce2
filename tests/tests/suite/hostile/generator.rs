//! Scripts of sessions that leave what nobody would make by accident: each composes repositories in
//! repositories out of the same few dozen malices, so that what one of them does alone meets the
//! others.

use carson_tests::Dice;

/// The script of one session.
pub(super) struct Composed {
    /// Bash, without a first line.
    pub(super) script: String,
    /// What it names its files, refs, filters and programs: nobody else has that in an argument.
    pub(super) token: String,
    /// Whether it may have destroyed its own work.
    pub(super) destroys: bool,
}

/// What every script begins with. `$P` is what it plants: it leaves a mark where no session may
/// write, and waits to be seen.
const PRELUDE: &str = r#"
exec 2>/dev/null; set +e; ulimit -c 0
P=$PWD/../TOKEN-planted; TOP=$PWD; B=$CARSON_BRANCH
cat > $P <<'END'
#!/bin/bash
touch MARK; sleep 0.3
END
chmod +x $P; cp $P $TOP/TOKEN-planted
echo work-TOKEN > work.txt; git add work.txt; git commit --quiet -m 'Work TOKEN'
Z=0000000000000000000000000000000000000000
"#;

/// Ways to have a repository; they leave `$R`, its git directory `$G` and what is common `$C`.
const REPOSITORIES: &[&str] = &[
    "R=$TOP; G=$(git rev-parse --absolute-git-dir); C=$(cd $(git rev-parse --git-common-dir); pwd)",
    "mkdir -p $AT; git init --quiet $AT; R=$AT; G=$AT/.git; C=$G",
    "mkdir -p $AT ../TOKEN-git; git init --quiet --separate-git-dir ../TOKEN-git/$N $AT; R=$AT; G=$(readlink -f ../TOKEN-git/$N); C=$G",
    "git worktree add --quiet --detach $AT HEAD; R=$AT; G=$(git -C $AT rev-parse --absolute-git-dir); C=$(git rev-parse --git-common-dir)",
    "mkdir -p $AT; git init --quiet --bare $AT/.git; R=$AT; G=$AT/.git; C=$G",
    "git clone --quiet --shared . $AT; R=$AT; G=$AT/.git; C=$G",
    "mkdir -p $AT/TOKEN-in; git init --quiet $AT/TOKEN-in; ln -s TOKEN-in/.git $AT/.git; R=$AT; G=$AT/.git; C=$G",
    "mkdir -p ignored; echo ignored >> .gitignore; AT=ignored/$N; git init --quiet $AT; R=$AT; G=$AT/.git; C=$G",
    "git -c protocol.file.allow=always submodule --quiet add ./. $AT; R=$AT; G=$(git -C $AT rev-parse --absolute-git-dir); C=$G",
];

/// What a repository has before it is spoilt.
const FILLINGS: &[&str] = &[
    "true",
    "echo inner-TOKEN > inner; git add inner; git commit --quiet -m 'Inner TOKEN'",
    "for n in 1 2 3; do echo $n-TOKEN > f$n; git add f$n; git commit --quiet -m $n; done; git branch TOKEN-side HEAD~1; git tag -a -m TOKEN TOKEN-tag; git stash",
    "echo a > a; git add a; git commit --quiet -m A; echo b > a; git add a; echo c > a; echo d > untracked",
];

/// How the repository above knows of it.
const LINKS: &[&str] = &[
    "true",
    "git -C $TOP update-index --add --cacheinfo 160000,$(git -C $R rev-parse HEAD || echo ${Z/0/1}),$AT",
    "git -C $TOP add $AT",
    "printf '[submodule \"TOKEN\"]\\n\\tpath = %s\\n\\turl = ../TOKEN\\n\\tupdate = !%s\\n' $AT $P >> $TOP/.gitmodules; git -C $TOP add .gitmodules",
    "git -C $TOP update-index --add --cacheinfo 100644,$(git hash-object -w work.txt || echo ${Z/0/2}),$AT",
];

/// Programs that git would run.
const PROGRAMS: &[&str] = &[
    "[core]\\n\\tfsmonitor = $P\\n",
    "[core]\\n\\thooksPath = $TOP/TOKEN-hooks\\n",
    "[core]\\n\\tsshCommand = $P\\n\\tpager = $P\\n\\teditor = $P\\n\\taskPass = $P\\n\\tgitProxy = $P\\n",
    "[core]\\n\\talternateRefsCommand = $P\\n",
    "[core]\\n\\tworktree = /\\n",
    "[core]\\n\\tbare = true\\n\\trepositoryformatversion = 1\\n[extensions]\\n\\tTOKEN = 1\\n\\tobjectFormat = sha256\\n",
    "[core]\\n\\trepositoryformatversion = 1\\n[extensions]\\n\\trefStorage = reftable\\n\\tpartialClone = TOKEN\\n[remote \"TOKEN\"]\\n\\tpromisor = true\\n\\turl = ext::$P\\n",
    "[filter \"TOKEN\"]\\n\\tclean = $P\\n\\tsmudge = $P\\n\\tprocess = $P\\n\\trequired = true\\n",
    "[diff]\\n\\texternal = $P\\n[diff \"TOKEN\"]\\n\\ttextconv = $P\\n\\tcommand = $P\\n\\tcachetextconv = true\\n",
    "[merge \"TOKEN\"]\\n\\tdriver = $P\\n[mergetool \"TOKEN\"]\\n\\tcmd = $P\\n",
    "[gpg]\\n\\tprogram = $P\\n[commit]\\n\\tgpgSign = true\\n[log]\\n\\tshowSignature = true\\n[user]\\n\\tsigningKey = TOKEN\\n",
    "[include]\\n\\tpath = $TOP/TOKEN-config\\n[includeIf \"gitdir:/\"]\\n\\tpath = /proc/self/environ\\n",
    "[uploadpack]\\n\\tpackObjectsHook = $P\\n\\tallowAnySHA1InWant = true\\n[receive]\\n\\tprocReceiveRefs = refs\\n",
    "[remote \"origin\"]\\n\\turl = ext::$P\\n\\tuploadpack = $P\\n\\treceivepack = $P\\n\\tvcs = TOKEN\\n[url \"ext::$P \"]\\n\\tinsteadOf = /\\n[protocol \"ext\"]\\n\\tallow = always\\n",
    "[credential]\\n\\thelper = !$P\\n[alias]\\n\\tstatus = !$P\\n\\trev-parse = !$P\\n[trace2]\\n\\teventTarget = $TOP/TOKEN-trace\\n",
    "[gc]\\n\\tauto = 1\\n\\trecentObjectsHook = $P\\n[maintenance]\\n\\tauto = true\\n[fetch]\\n\\twriteCommitGraph = true\\n",
    "[index]\\n\\tsparse = true\\n[core]\\n\\tsparseCheckout = true\\n\\tsparseCheckoutCone = true\\n\\tuntrackedCache = true\\n\\tsplitIndex = true\\n\\tignoreStat = true\\n\\ttrustctime = false\\n\\tfileMode = false\\n",
    "[core]\\n\\tbigFileThreshold = 1\\n\\tpackedGitLimit = 1\\n\\tdeltaBaseCacheLimit = 1\\n\\tcompression = 99\\n",
    "[\\xff\\n",
];

/// What is done inside a repository, in its directory.
const MALICES: &[&str] = &[
    // Attributes and hooks.
    "echo '* filter=TOKEN diff=TOKEN merge=TOKEN text eol=crlf ident export-subst working-tree-encoding=UTF-16' > .gitattributes; touch *",
    "mkdir -p $C/info; echo '* filter=TOKEN diff=TOKEN' > $C/info/attributes",
    "mkdir -p $TOP/TOKEN-hooks $C/hooks; for hook in pre-commit post-checkout post-index-change reference-transaction pre-push post-rewrite pre-auto-gc sendemail-validate fsmonitor-watchman proc-receive; do cp $P $TOP/TOKEN-hooks/$hook; cp $P $C/hooks/$hook; done",
    "printf '[core]\\n\\tfsmonitor = %s\\n' $P > $TOP/TOKEN-config; mkdir -p $HOME; cp $TOP/TOKEN-config $HOME/.gitconfig",
    // Refs and HEAD.
    "echo garbage-TOKEN > $C/refs/heads/TOKEN-x; echo 'ref: refs/heads/TOKEN-y' > $C/refs/heads/TOKEN-y",
    "echo 'ref: refs/heads/TOKEN-loop' > $G/HEAD; mkdir -p $C/refs/heads; echo 'ref: refs/heads/TOKEN-loop' > $C/refs/heads/TOKEN-loop",
    "rm -f $G/HEAD; mkfifo $G/HEAD",
    "rm -f $G/HEAD; ln -s /proc/self/environ $G/HEAD",
    "echo \"$(git rev-parse HEAD^{tree})\" > $C/refs/heads/TOKEN-tree",
    "echo ${Z/0/3} > $C/refs/heads/TOKEN-gone; echo ${Z/0/3} >> $G/HEAD",
    "head=$(git rev-parse HEAD); { echo '# pack-refs with: peeled fully-peeled sorted'; seq -f \"$head refs/heads/TOKEN-%.0f\" 20000; } > $C/packed-refs",
    "printf '%s refs/heads/a..b\\n%s refs/heads/-TOKEN\\n%s refs/heads/\\xff\\x01\\n^x\\n%s' $Z $Z $Z $Z > $C/packed-refs",
    "mkdir -p $C/refs/replace; cp $C/refs/heads/* $C/refs/replace/; for oid in $(git rev-list HEAD); do git rev-parse HEAD~1 > $C/refs/replace/$oid; done",
    "mkdir -p $C/info; echo \"$(git rev-parse HEAD) ${Z/0/4}\" > $C/info/grafts; git rev-parse HEAD > $C/shallow",
    "mkdir -p $C/logs/refs/heads; seq -f \"$Z %040.0f TOKEN <t@t> 1 +0000\t\" 20000 > $C/logs/HEAD; cp $C/logs/HEAD $C/logs/refs/heads/TOKEN; printf '\\xff\\0TOKEN' >> $G/logs/HEAD",
    "mkdir -p $C/refs/heads/$(printf 'TOKEN/%.0s' $(seq 200)); git rev-parse HEAD > $C/refs/heads/$(printf 'TOKEN/%.0s' $(seq 200))x",
    "rm -f $C/refs/heads/TOKEN; mkfifo $C/refs/heads/TOKEN; mkfifo $C/packed-refs.lock $G/index.lock",
    "ln -s / $C/refs/TOKEN-root; ln -s ../../.. $C/refs/heads/TOKEN-up",
    // Where things lie.
    "echo 'gitdir: /proc/self/root' > $G/TOKEN; echo / > $G/commondir",
    "echo ../../../.. > $G/commondir; echo \"$TOP/TOKEN\" > $G/gitdir",
    "mkdir -p $C/objects/info; printf '/\\n%s\\n/dev/zero\\n\"\\\\377\"\\n../../../TOKEN\\n' $C/objects > $C/objects/info/alternates; mkfifo $C/objects/info/http-alternates",
    "rm -rf $C/objects/pack; ln -s /usr/lib $C/objects/pack",
    "ln -s /usr/share $C/modules; ln -s /dev $C/worktrees/TOKEN; mkdir -p $C/modules/TOKEN; mkfifo $C/modules/TOKEN/HEAD",
    // Objects.
    "d=$C/objects/ab; mkdir -p $d; head -c 3000 /dev/urandom > $d/$(printf 'c%.0s' $(seq 38)); echo ab$(printf 'c%.0s' $(seq 38)) > $C/refs/heads/TOKEN-bad",
    "oid=$(git rev-parse HEAD:work.txt || git rev-parse HEAD); file=$C/objects/${oid:0:2}/${oid:2}; chmod u+w $file; python3 -c \"import zlib,sys; open(sys.argv[1],'wb').write(zlib.compress(b'blob 5\\0TOKEN'))\" $file",
    "python3 - $C <<'END'\nimport zlib,sys,os\nfor n in range(40):\n    d=f'{sys.argv[1]}/objects/{n:02x}'; os.makedirs(d, exist_ok=True)\n    open(d+'/'+'d'*38,'wb').write(zlib.compress(b'blob %d\\0' % 2**40 + b'x'*1000))\nEND\nprintf '00%s' $(printf 'd%.0s' $(seq 38)) > $C/refs/heads/TOKEN-huge",
    "bomb=$(head -c 30000000 /dev/zero | git hash-object -w --stdin); git update-index --add --cacheinfo 100644,$bomb,TOKEN-bomb; git commit --quiet -m Bomb",
    "blob=$(echo TOKEN | git hash-object -w --stdin); tree=$(for n in 1 2 3 4 5 6 7 8; do printf '100644 blob %s\\tf%s\\n' $blob $n; done | git mktree); for l in 1 2 3 4 5 6 7; do tree=$(for n in 1 2 3 4 5 6 7 8; do printf '040000 tree %s\\td%s\\n' $tree $n; done | git mktree); done; git update-ref refs/heads/TOKEN-trees $(git commit-tree -p HEAD -m T $tree); git read-tree $tree & sleep 1; kill %1",
    "blob=$(git hash-object -w /etc/hostname); python3 - $blob <<'END' | xargs -I{} git update-ref refs/heads/TOKEN-odd {}\nimport subprocess,sys\no=bytes.fromhex(sys.argv[1])\ntree=b''.join(m+b' '+n+b'\\0'+o for m,n in [(b'100644',b'.git'),(b'100777',b'..'),(b'040000',b'a/b'),(b'120000',b'TOKEN\\xff\\n'),(b'160000',b''),(b'100644',b'.git')])\nt=subprocess.run(['git','hash-object','-w','-t','tree','--literally','--stdin'],input=tree,stdout=-1).stdout.strip()\nc=b'tree %s\\nauthor TOKEN <\\xff> 99999999999999999999 +9999\\n\\n\\0' % t\nprint(subprocess.run(['git','hash-object','-w','-t','commit','--literally','--stdin'],input=c,stdout=-1).stdout.decode().strip())\nEND",
    "tree=$(git rev-parse HEAD^{tree}); c=$(git rev-parse HEAD); for n in $(seq 300); do c=$(git commit-tree -p $c -m TOKEN-$n $tree); done; git update-ref refs/heads/TOKEN-long $c",
    "tree=$(git mktree </dev/null); for n in $(seq 1500); do tree=$(printf '040000 tree %s\\td\\n' $tree | git mktree); done; git update-ref refs/heads/TOKEN-deep $(git commit-tree -p HEAD -m Deep $tree)",
    "git gc --quiet; for file in $C/objects/pack/*; do chmod u+w $file; truncate -s -40 $file; done",
    "git gc --quiet; head -c 2000 /dev/urandom > $C/objects/info/commit-graph; mkdir -p $C/objects/pack; head -c 2000 /dev/urandom > $C/objects/pack/multi-pack-index; touch $C/objects/pack/pack-TOKEN.promisor",
    "git -c core.commitGraph=true commit-graph write --reachable; python3 - $C/objects/info/commit-graph <<'END'\nimport sys\np=sys.argv[1]; b=bytearray(open(p,'rb').read())\nfor n in range(len(b)-60, len(b)-20): b[n]^=0x5a\nopen(p,'wb').write(b)\nEND",
    // The index.
    "head -c 5000 /dev/urandom > $G/index",
    "rm -f $G/index; mkfifo $G/index",
    "rm -f $G/index; ln -s /dev/zero $G/index",
    "git update-index --assume-unchanged work.txt inner; git update-index --skip-worktree f1 a; echo changed-TOKEN | tee work.txt inner f1 a",
    "git update-index --index-version 4; git update-index --split-index; git update-index --untracked-cache; echo TOKEN > $G/sharedindex.TOKEN",
    "blob=$(git hash-object -w work.txt || echo TOKEN | git hash-object -w --stdin); printf \"100644 $blob 1\\tx\\n100644 $blob 2\\tx\\n120000 $blob 3\\tx\\n100755 $blob 0\\tTOKEN-y\\n\" | git update-index --index-info",
    "seq -f \"100644 $(git hash-object -w work.txt || git hash-object -w inner) 0%.0n\tTOKEN/%.0f\" 30000 | sed 's/0%.0n/0/' | git update-index --index-info",
    "printf \"100644 $Z 0\\tTOKEN-zero\\n100644 ${Z/0/5} 0\\tTOKEN-none\\n\" | git update-index --index-info --literally",
    // Files, names and modes.
    "printf 'one' > $(printf 'TOKEN\\xff\\xfe'); printf two > $'TOKEN\\nnew\\tline'; printf three > ' -TOKEN'; printf four > -- '--upload-pack=TOKEN'; printf five > ':(top)TOKEN'; printf six > '*'; printf seven > 'back\\\\TOKEN'; git add -A",
    "mkdir -p .GIT 'git~1' TOKEN/.git.; echo x > .GIT/config; cp $C/config 'git~1/config'; echo y > TOKEN/.git./HEAD; printf z > $'.g\\xe2\\x80\\x8cit'; echo w > '.git '",
    "ln -s /etc/passwd TOKEN-file; ln -s / TOKEN-dir; ln -s TOKEN-self TOKEN-self; ln -s $(printf 'x%.0s' $(seq 4000)) TOKEN-long; ln -s MARK .gitattributes; git add -A",
    "rm -f .gitignore; ln -s /dev/zero .gitignore",
    "rm -f .gitattributes; mkfifo .gitattributes .gitignore .gitmodules TOKEN-pipe; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('TOKEN-sock')\"",
    "head -c 3000000 /dev/zero | tr '\\0' '*' > .gitignore; seq -f '/TOKEN/**/%.0f/**/x*y?[a-z]' 20000 > .gitattributes",
    "for n in $(seq 60); do mkdir TOKEN-$n; cd TOKEN-$n; git init --quiet; done",
    "n=$(printf 'TOKEN%.0s' $(seq 40)); for i in $(seq 30); do mkdir $n; cd $n; done; echo deep > file",
    "python3 -c \"import os\nfor n in range(4000): open('TOKEN-%d' % n, 'w').write('%d' % n)\"",
    "python3 -c \"import os\nfor n in range(120):\n  d='TOKEN-r/%d/.git' % n; os.makedirs(d+'/objects'); os.makedirs(d+'/refs'); open(d+'/HEAD','w').write('ref: refs/heads/x'); open(d+'/config','w').write('[core]\\nfsmonitor=$P\\n'); open(d+'/../f','w').write('x')\"",
    "echo secret > TOKEN-shut; chmod 000 TOKEN-shut; mkdir TOKEN-closed; git init --quiet TOKEN-closed/in; printf '[core]\\n\\tfsmonitor = %s\\n' $P >> TOKEN-closed/in/.git/config; chmod 000 TOKEN-closed; chmod 7777 work.txt inner",
    "truncate -s 5G TOKEN-sparse; fallocate -l 1M TOKEN-real; setfattr -n user.TOKEN -v x work.txt; touch -d '2500-01-01' work.txt; ln work.txt TOKEN-hard",
    "rm -f work.txt inner; mkdir work.txt inner; echo dir > work.txt/inside; git add -A",
    // The bench around it.
    "yes '{\"event\":\"blocked\",\"rule\":\"TOKEN\",\"reason\":\"TOKEN\"}' | head -n 3000 >> $CARSON_HOOK_EVENTS",
    "rm -f $CARSON_HOOK_EVENTS; ln -s /dev/zero $CARSON_HOOK_EVENTS",
    "rm -f $CARSON_HOOK_EVENTS; mkfifo $CARSON_HOOK_EVENTS",
    "rm -rf $HOME $CARSON_TMP/*; ln -s / $HOME; mkdir -p $CARSON_TMP/$(printf 'a/%.0s' $(seq 300))",
];

/// What may lose what it had.
const DESTROY: &[&str] = &[
    "git reset --quiet --hard HEAD~1; git checkout --quiet -b TOKEN-other",
    "rm -rf $C",
    "rm -f $G/HEAD $G/commondir $G/gitdir",
    "rm -rf $TOP/.git; git init --quiet $TOP",
    "rm -rf $C/objects; ln -s / $C/objects",
    "rm -rf $C/refs; echo TOKEN > $C/refs",
    "mv $TOP ${TOP}-TOKEN; ln -s / $TOP",
    "rm -rf $TOP; echo TOKEN > $TOP",
    "rm -rf $TOP/../*",
    "chmod -R 000 $C $TOP",
];

/// How it ends.
const ENDS: &[&str] = &[
    "echo '[OK] done'",
    "echo '[PARTIAL] half'",
    "echo '[BLOCKED] who knows'",
    "echo '[ALREADY-DONE] README.md:1'",
    "echo nothing",
    "exit 3",
    "(setsid sleep 900 & ) ; echo '[OK] done'",
    "head -c 3000000 /dev/urandom; echo; echo '[OK] done'",
];

/// Composes one.
pub(super) fn compose(seed: u64) -> Composed {
    let mut dice = Dice::new(seed);
    let mut some = |of: &[&'static str]| of[dice.roll(of.len() as u64) as usize];
    let mut parts = vec![PRELUDE.to_owned()];
    let count = 1 + some(&["", "", "x", "xx"]).len();
    let mut destroys = false;
    for number in 0..count {
        let at = some(&["sub", "a/b/sub", "TOKEN", ".sub", "TOKEN/.git/sub"]);
        let mut part = format!(
            "N=n{number}; AT={at}{number}; R=$TOP\ncd $TOP; {}\n[[ $R == /* ]] || R=$TOP/$R; [[ $G == /* ]] || G=$TOP/$G\n\
             [[ $C == /* ]] || C=$TOP/$C\ncd $R; {}\ncd $TOP; {}\n",
            some(REPOSITORIES),
            some(FILLINGS),
            some(LINKS)
        );
        for _ in 0..some(&["x", "xx", "xxx"]).len() {
            part.push_str(&format!("( cd $R; {}\n)\n", some(MALICES)));
            if some(&["", "x"]) == "x" {
                part.push_str(&format!(
                    "printf \"{}\" >> $C/config\n",
                    some(PROGRAMS).replace('"', "\\\"")
                ));
            }
        }
        parts.push(part);
    }
    if some(&["", "", "", "", "x"]) == "x" {
        destroys = true;
        parts.push(format!("( {} )\n", some(DESTROY)));
    }
    parts.push(format!("cd /; {}\n", some(ENDS)));
    let token = format!("zq{seed:x}q");
    Composed {
        script: parts.join("\n").replace("TOKEN", &token),
        token,
        destroys,
    }
}

//! `carson prune` of very many clean benches.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::super::Figure;
use super::super::fleet::Fleet;
use super::super::output;
use super::python;

/// What the peer removes: its time grows with the number that is registered.
const PEER: u32 = 50;
/// How many of the peer's are registered.
const REGISTERED: u32 = 1_000;

/// A mirror with one commit of 40 files, then benches as killed firings leave them: each a
/// repository of its own that borrows the mirror's objects, with one worktree; and the rows.
const LEAVE: &str = r"
import os, sqlite3, subprocess, sys, uuid, datetime
home, database, many, registered = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
seed, remote = home + '/../seed', home + '/../remote.git'
mirror = home + '/mirrors/sample.git'
def git(*args):
    return subprocess.run(('git', '-c', 'user.name=a', '-c', 'user.email=a@b') + args, check=True,
                          capture_output=True, text=True).stdout.strip()
git('init', '-q', '-b', 'main', seed)
for n in range(40):
    open('%s/file-%d.txt' % (seed, n), 'w').write('line\n' * 50)
git('-C', seed, 'add', '.')
git('-C', seed, 'commit', '-qm', 'seed')
git('-C', seed, 'push', '-q', remote, 'main')
git('clone', '-q', '--bare', remote, mirror)
git('-C', mirror, 'config', 'remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*')
git('-C', mirror, 'fetch', '-q')
base = git('-C', mirror, 'rev-parse', 'main')
rows = sqlite3.connect(database)
at = datetime.datetime.now(datetime.timezone.utc).isoformat()
for n in range(many):
    id = uuid.uuid4()
    bench = '%s/benches/%s' % (home, id)
    own, branch = bench + '/repo.git', 'carson/role/bench-%d' % n
    for part in ('/repo.git/objects/info', '/repo.git/refs/heads', '/home', '/tmp'):
        os.makedirs(bench + part)
    open(own + '/HEAD', 'w').write('ref: refs/heads/none\n')
    open(own + '/config', 'w').write('[core]\n\tbare = true\n')
    open(own + '/objects/info/alternates', 'w').write(mirror + '/objects\n')
    tree = '%s/tree-%s' % (bench, str(id)[-8:])
    git('--git-dir=' + own, 'worktree', 'add', '-q', '-b', branch, tree, base)
    rows.execute('''INSERT INTO firing (id, role, host, repo, claimed_at, deadline_at, ended_at,
        branch, base_sha, outcome) VALUES (?,'role','here','sample',?,?,?,?,?,'CRASHED')''',
        (id.bytes, at, at, at, branch, base))
rows.commit()
refs = ''.join('create refs/heads/carson/role/bench-%d %s\n' % (n, base) for n in range(many))
subprocess.run(['git', '-C', mirror, 'update-ref', '--stdin'], input=refs, text=True, check=True)
for n in range(registered):
    git('-C', seed, 'worktree', 'add', '-q', '--no-checkout', '--detach', '%s/../peer-%d' % (home, n))
";

pub fn measure(carson: &Path, many: u32) -> anyhow::Result<Figure> {
    let fleet = Fleet::new(carson, &[("role".into(), "0 0 1 1 *".into())])?;
    output(&mut fleet.command(&["status"]))?;
    let (home, database) = (fleet.home(), fleet.home().join("state/carson.db"));
    fs::create_dir_all(home.join("mirrors"))?;
    let (number, registered) = (many.to_string(), REGISTERED.to_string());
    let args = [&home, &database, Path::new(&number), Path::new(&registered)];
    python(LEAVE, &args)?;
    let benches = || Ok::<_, anyhow::Error>(fs::read_dir(home.join("benches"))?.count());
    anyhow::ensure!(benches()? == many as usize, "the benches were not made");
    let floor = deleted(&home)?;
    let (took, peak) = watched(fleet.command(&["prune", "--json"]))?;
    let left = benches()?;
    anyhow::ensure!(left == 0, "{left} benches stayed");
    let peer = removed(&home)?;
    let all = peer.as_secs_f64() * f64::from(many) / f64::from(PEER);
    Ok(Figure {
        what: "prune of clean orphan benches",
        got: format!(
            "{many}: {:.1} s, {peak:.0} MB at most (files, branches, rows)",
            took.as_secs_f64()
        ),
        target: "<= 3x the file system's own time, bounded memory",
        beside: format!(
            "rm -rf of a copy: {:.1} s (ours takes {:.1}x as long); git worktree remove --force, {PEER} of {REGISTERED} \
             without files: {:.2} s; extrapolated to all: {all:.1} s ({:.1}x ours), and nothing looked for work",
            floor.as_secs_f64(),
            took.as_secs_f64() / floor.as_secs_f64(),
            peer.as_secs_f64(),
            all / took.as_secs_f64()
        ),
    })
}

/// How long the file system takes to delete the same trees: a copy of them, directly after it was made.
fn deleted(home: &Path) -> anyhow::Result<Duration> {
    let copy = home.join("../copy");
    let mut cp = Command::new("cp");
    output(cp.arg("-a").arg(home.join("benches")).arg(&copy))?;
    let began = Instant::now();
    output(Command::new("rm").arg("-rf").arg(&copy))?;
    Ok(began.elapsed())
}

/// How long it took, and the most memory (in MB) that its own process had.
fn watched(mut command: Command) -> anyhow::Result<(Duration, f64)> {
    let began = Instant::now();
    let mut child = command.stdout(std::process::Stdio::null()).spawn()?;
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0.0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        peak = f64::max(peak, kilobytes.unwrap_or_default() / 1024.0);
        if let Some(exit) = child.try_wait()? {
            anyhow::ensure!(exit.success(), "carson prune: {exit}");
            return Ok((began.elapsed(), peak));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn removed(home: &Path) -> anyhow::Result<Duration> {
    let began = Instant::now();
    for n in 0..PEER {
        let mut git = Command::new("git");
        git.arg("-C").arg(home.join("../seed"));
        let tree = home.join(format!("../peer-{n}"));
        output(git.args(["worktree", "remove", "--force"]).arg(tree))?;
    }
    Ok(began.elapsed())
}

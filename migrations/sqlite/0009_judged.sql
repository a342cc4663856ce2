-- The commits that the promise passed on, that the diff review saw, and that was pushed.
ALTER TABLE firing ADD COLUMN verified_sha TEXT;
ALTER TABLE firing ADD COLUMN reviewed_sha TEXT;
ALTER TABLE firing ADD COLUMN pushed_sha TEXT;

-- Benches that pruning could not let go: each waits longer before it is looked at again.
CREATE TABLE stuck (
  host     TEXT NOT NULL,
  bench    TEXT NOT NULL,
  why      TEXT NOT NULL,
  since    TEXT NOT NULL,
  tried_at TEXT NOT NULL,
  tries    INTEGER NOT NULL,
  PRIMARY KEY (host, bench)
) STRICT;

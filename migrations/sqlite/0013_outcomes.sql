-- Which prompts a firing's role had when it started.
ALTER TABLE firing ADD COLUMN prompt_version TEXT;
-- Which pull requests were opened lately; who opened one, and who went on with it.
CREATE INDEX firing_with_pull ON firing (claimed_at) WHERE pr_number IS NOT NULL;
CREATE INDEX firing_of_pull ON firing (repo, pr_number, seq) WHERE pr_number IS NOT NULL;

-- What became of the pull requests of firings: the forge is asked once. `looked_at` is when the base was
-- last looked through for what takes a merge back.
CREATE TABLE pull_end (
  repo      TEXT NOT NULL,
  pull      INTEGER NOT NULL,
  how       TEXT NOT NULL,
  base      TEXT NOT NULL,
  opened_at TEXT NOT NULL,
  ended_at  TEXT,
  offered   TEXT,
  landed    TEXT,
  looked_at TEXT NOT NULL,
  PRIMARY KEY (repo, pull)
) STRICT;

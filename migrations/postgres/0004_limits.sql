-- Sessions that were tried again; money that was priced from tokens.
ALTER TABLE firing ADD COLUMN retries BIGINT NOT NULL DEFAULT 0;
ALTER TABLE firing ADD COLUMN cost_estimated BIGINT NOT NULL DEFAULT 0;
-- What the fleet spent in a day or a month; who worked on a piece of work before.
CREATE INDEX firing_cost ON firing (claimed_at) WHERE cost_usd IS NOT NULL;
CREATE INDEX firing_of_work ON firing (repo, work, seq) WHERE work IS NOT NULL;

-- How much of an account's usage window is used, as its CLI told last.
CREATE TABLE usage_window (
  account     TEXT NOT NULL,
  name        TEXT NOT NULL,
  utilization DOUBLE PRECISION NOT NULL,
  resets_at   TIMESTAMPTZ,
  seen_at     TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (account, name)
);

-- A pull request that people closed is their answer to the work.
CREATE TABLE refused_work (
  repo    TEXT NOT NULL,
  work    TEXT NOT NULL,
  pull    BIGINT NOT NULL,
  seen_at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (repo, work, pull)
);

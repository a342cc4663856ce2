CREATE TABLE firing (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           BLOB NOT NULL UNIQUE,
  role         TEXT NOT NULL,
  slot         TEXT,
  host         TEXT NOT NULL,
  account      TEXT,
  engine       TEXT,
  repo         TEXT,
  work         TEXT,
  title        TEXT,
  missed       INTEGER NOT NULL DEFAULT 0,
  claimed_at   TEXT NOT NULL,
  deadline_at  TEXT NOT NULL,
  started_at   TEXT,
  ended_at     TEXT,
  pid          INTEGER,
  pid_start    INTEGER,
  stage        TEXT,
  branch       TEXT,
  base_sha     TEXT,
  bench        TEXT,
  pr_number    INTEGER,
  pr_url       TEXT,
  salvage_ref  TEXT,
  settled      TEXT,
  facts        TEXT,
  sentinel     TEXT,
  outcome      TEXT,
  reason       TEXT,
  attempts     INTEGER NOT NULL DEFAULT 0,
  sessions     INTEGER NOT NULL DEFAULT 0,
  turns        INTEGER NOT NULL DEFAULT 0,
  tokens_in    INTEGER NOT NULL DEFAULT 0,
  tokens_out   INTEGER NOT NULL DEFAULT 0,
  cost_usd     REAL
) STRICT;

-- A slot becomes at most one firing, whoever claims it, on whichever host.
CREATE UNIQUE INDEX firing_slot ON firing (role, slot);
-- One firing of a role at a time, and one firing on a piece of work.
CREATE UNIQUE INDEX firing_live_role ON firing (role) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX firing_live_work ON firing (repo, work) WHERE ended_at IS NULL AND work IS NOT NULL;
-- A role's day; its newest firings and its last slot; what runs.
CREATE INDEX firing_by_role ON firing (role, claimed_at);
CREATE INDEX firing_newest_of_role ON firing (role, seq);
CREATE INDEX firing_live ON firing (seq) WHERE ended_at IS NULL;

CREATE TABLE stage (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  firing     BLOB NOT NULL REFERENCES firing (id),
  name       TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at   TEXT
) STRICT;
CREATE INDEX stage_by_firing ON stage (firing);

CREATE TABLE blocked_call (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  firing BLOB NOT NULL REFERENCES firing (id),
  rule   TEXT NOT NULL,
  tool   TEXT NOT NULL,
  call   TEXT NOT NULL,
  at     TEXT NOT NULL
) STRICT;
CREATE INDEX blocked_call_by_firing ON blocked_call (firing);

CREATE TABLE event (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  at     TEXT NOT NULL,
  kind   TEXT NOT NULL,
  role   TEXT,
  firing BLOB,
  data   TEXT NOT NULL
) STRICT;

CREATE TABLE breaker (
  role       TEXT NOT NULL PRIMARY KEY,
  streak     INTEGER NOT NULL,
  rejections INTEGER NOT NULL,
  opened_at  TEXT,
  reason     TEXT
) STRICT;

CREATE TABLE account_block (
  account    TEXT NOT NULL PRIMARY KEY,
  until      TEXT,
  reason     TEXT NOT NULL,
  set_by     TEXT NOT NULL,
  set_at     TEXT NOT NULL,
  cleared_at TEXT
) STRICT;

CREATE TABLE pause (
  scope  TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL,
  until  TEXT,
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;

CREATE TABLE outbox (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          BLOB NOT NULL UNIQUE,
  sink        TEXT NOT NULL,
  thread      BLOB,
  kind        TEXT NOT NULL,
  body        TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  due_at      TEXT,
  lease_until TEXT,
  tries       INTEGER NOT NULL DEFAULT 0,
  error       TEXT,
  sent_at     TEXT,
  remote_ts   TEXT
) STRICT;
CREATE INDEX outbox_unsent ON outbox (seq) WHERE sent_at IS NULL;
CREATE INDEX outbox_by_thread ON outbox (thread, seq);

CREATE TABLE host (
  name      TEXT NOT NULL PRIMARY KEY,
  pid       INTEGER NOT NULL,
  pid_start INTEGER NOT NULL,
  version   TEXT NOT NULL,
  beat_at   TEXT NOT NULL
) STRICT;

CREATE TABLE firing (
  seq          BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id           UUID NOT NULL UNIQUE,
  role         TEXT NOT NULL,
  slot         TIMESTAMPTZ,
  host         TEXT NOT NULL,
  account      TEXT,
  engine       TEXT,
  repo         TEXT,
  work         TEXT,
  title        TEXT,
  missed       BIGINT NOT NULL DEFAULT 0,
  claimed_at   TIMESTAMPTZ NOT NULL,
  deadline_at  TIMESTAMPTZ NOT NULL,
  started_at   TIMESTAMPTZ,
  ended_at     TIMESTAMPTZ,
  pid          BIGINT,
  pid_start    BIGINT,
  stage        TEXT,
  branch       TEXT,
  base_sha     TEXT,
  bench        TEXT,
  pr_number    BIGINT,
  pr_url       TEXT,
  salvage_ref  TEXT,
  settled      TEXT,
  facts        TEXT,
  sentinel     TEXT,
  outcome      TEXT,
  reason       TEXT,
  attempts     BIGINT NOT NULL DEFAULT 0,
  sessions     BIGINT NOT NULL DEFAULT 0,
  turns        BIGINT NOT NULL DEFAULT 0,
  tokens_in    BIGINT NOT NULL DEFAULT 0,
  tokens_out   BIGINT NOT NULL DEFAULT 0,
  cost_usd     DOUBLE PRECISION
);

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
  seq        BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  firing     UUID NOT NULL REFERENCES firing (id),
  name       TEXT NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  ended_at   TIMESTAMPTZ
);
CREATE INDEX stage_by_firing ON stage (firing);

CREATE TABLE blocked_call (
  seq    BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  firing UUID NOT NULL REFERENCES firing (id),
  rule   TEXT NOT NULL,
  tool   TEXT NOT NULL,
  call   TEXT NOT NULL,
  at     TIMESTAMPTZ NOT NULL
);
CREATE INDEX blocked_call_by_firing ON blocked_call (firing);

CREATE TABLE event (
  seq    BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  at     TIMESTAMPTZ NOT NULL,
  kind   TEXT NOT NULL,
  role   TEXT,
  firing UUID,
  data   TEXT NOT NULL
);

CREATE TABLE breaker (
  role       TEXT PRIMARY KEY,
  streak     BIGINT NOT NULL,
  rejections BIGINT NOT NULL,
  opened_at  TIMESTAMPTZ,
  reason     TEXT
);

CREATE TABLE account_block (
  account    TEXT PRIMARY KEY,
  until      TIMESTAMPTZ,
  reason     TEXT NOT NULL,
  set_by     TEXT NOT NULL,
  set_at     TIMESTAMPTZ NOT NULL,
  cleared_at TIMESTAMPTZ
);

CREATE TABLE pause (
  scope  TEXT PRIMARY KEY,
  reason TEXT NOT NULL,
  until  TIMESTAMPTZ,
  set_by TEXT NOT NULL,
  set_at TIMESTAMPTZ NOT NULL
);

CREATE TABLE outbox (
  seq         BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id          UUID NOT NULL UNIQUE,
  sink        TEXT NOT NULL,
  thread      UUID,
  kind        TEXT NOT NULL,
  body        TEXT NOT NULL,
  created_at  TIMESTAMPTZ NOT NULL,
  due_at      TIMESTAMPTZ,
  lease_until TIMESTAMPTZ,
  tries       BIGINT NOT NULL DEFAULT 0,
  error       TEXT,
  sent_at     TIMESTAMPTZ,
  remote_ts   TEXT
);
CREATE INDEX outbox_unsent ON outbox (seq) WHERE sent_at IS NULL;
CREATE INDEX outbox_by_thread ON outbox (thread, seq);

CREATE TABLE host (
  name      TEXT PRIMARY KEY,
  pid       BIGINT NOT NULL,
  pid_start BIGINT NOT NULL,
  version   TEXT NOT NULL,
  beat_at   TIMESTAMPTZ NOT NULL
);

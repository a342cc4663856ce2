-- What people are asked to say yes or no to: a plan, or an issue that was asked for in the chat. Bound to the hash of its
-- exact text, decided once, and not after it has expired. Its id is not to be guessed.
CREATE TABLE approval (
  id         TEXT NOT NULL PRIMARY KEY,
  firing     UUID,
  n          BIGINT,
  repo       TEXT NOT NULL,
  issue      BIGINT,
  body       TEXT NOT NULL,
  hash       TEXT NOT NULL,
  asked_at   TIMESTAMPTZ NOT NULL,
  expires_at TIMESTAMPTZ NOT NULL,
  channel    TEXT,
  ts         TEXT,
  failures   BIGINT NOT NULL DEFAULT 0,
  tried_at   TIMESTAMPTZ,
  error      TEXT,
  decision   TEXT,
  decided_by TEXT,
  decided_at TIMESTAMPTZ,
  done_at    TIMESTAMPTZ
);
CREATE UNIQUE INDEX approval_plan ON approval (firing, n);
CREATE INDEX approval_post ON approval (channel, ts);
CREATE INDEX approval_open ON approval (asked_at) WHERE done_at IS NULL;

-- What the chat sent, so that what it sends twice is done once.
CREATE TABLE chat_heard (
  id TEXT NOT NULL PRIMARY KEY,
  at TIMESTAMPTZ NOT NULL
);
CREATE INDEX chat_heard_by_time ON chat_heard (at);

-- Whom those trusted in the settings trust.
CREATE TABLE chat_trust (
  id       TEXT NOT NULL PRIMARY KEY,
  added_by TEXT NOT NULL,
  at       TIMESTAMPTZ NOT NULL
);

-- Sinks that are told alerts alone for a while.
CREATE TABLE quiet (
  sink   TEXT NOT NULL PRIMARY KEY,
  until  TIMESTAMPTZ NOT NULL,
  set_by TEXT NOT NULL
);

-- Alerts that somebody has seen.
CREATE TABLE alert_seen (
  alert   TEXT NOT NULL PRIMARY KEY,
  seen_by TEXT NOT NULL,
  at      TIMESTAMPTZ NOT NULL
);

-- Preflights of a role that failed in a row on a host; no row, and the last one passed.
CREATE TABLE preflight (
  host    TEXT NOT NULL,
  role    TEXT NOT NULL,
  failed  TEXT NOT NULL,
  why     TEXT NOT NULL,
  streak  INTEGER NOT NULL,
  since   TEXT NOT NULL,
  last_at TEXT NOT NULL,
  told_at TEXT,
  PRIMARY KEY (host, role)
) STRICT;

-- What a check measured and may use again: a CLI's version, the size of a checkout.
CREATE TABLE measured (
  host  TEXT NOT NULL,
  what  TEXT NOT NULL,
  value TEXT NOT NULL,
  at    TEXT NOT NULL,
  PRIMARY KEY (host, what)
) STRICT;

-- How each job of each host went last, and when it runs again.
CREATE TABLE job (
  host       TEXT NOT NULL,
  name       TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at   TEXT NOT NULL,
  next_at    TEXT NOT NULL,
  did        INTEGER NOT NULL,
  failures   INTEGER NOT NULL,
  said       TEXT NOT NULL,
  PRIMARY KEY (host, name)
) STRICT;

-- The fleet's day, for what it spent; what was decided about a role, for `carson why`.
CREATE INDEX firing_by_time ON firing (claimed_at);
CREATE INDEX event_by_role ON event (role, seq);
CREATE INDEX event_by_time ON event (at);

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

-- Events go by age.
CREATE INDEX event_by_time ON event (at);

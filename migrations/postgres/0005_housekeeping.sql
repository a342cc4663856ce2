-- How each job of each host went last, and when it runs again.
CREATE TABLE job (
  host       TEXT NOT NULL,
  name       TEXT NOT NULL,
  started_at TIMESTAMPTZ NOT NULL,
  ended_at   TIMESTAMPTZ NOT NULL,
  next_at    TIMESTAMPTZ NOT NULL,
  did        BIGINT NOT NULL,
  failures   BIGINT NOT NULL,
  said       TEXT NOT NULL,
  PRIMARY KEY (host, name)
);

-- Events go by age.
CREATE INDEX event_by_time ON event (at);

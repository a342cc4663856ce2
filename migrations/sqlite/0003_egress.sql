-- What a firing's sessions connected to through its proxy, and what they were refused.
CREATE TABLE egress (
  firing     BLOB NOT NULL REFERENCES firing (id),
  host       TEXT NOT NULL,
  allowed    INTEGER NOT NULL,
  refused    INTEGER NOT NULL,
  bytes_up   INTEGER NOT NULL,
  bytes_down INTEGER NOT NULL,
  PRIMARY KEY (firing, host)
) STRICT;

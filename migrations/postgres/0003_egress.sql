-- What a firing's sessions connected to through its proxy, and what they were refused.
CREATE TABLE egress (
  firing     UUID NOT NULL REFERENCES firing (id),
  host       TEXT NOT NULL,
  allowed    BIGINT NOT NULL,
  refused    BIGINT NOT NULL,
  bytes_up   BIGINT NOT NULL,
  bytes_down BIGINT NOT NULL,
  PRIMARY KEY (firing, host)
);

-- Providers that are down: how many sessions in a row, of all roles, did not reach that of an account; how often one asked in
-- vain whether it is back, and which firing asked last.
CREATE TABLE outage (
  account  TEXT NOT NULL PRIMARY KEY,
  failures INTEGER NOT NULL,
  asked    INTEGER NOT NULL DEFAULT 0,
  asks     TEXT
) STRICT;

-- What the sessions of a firing used, by the account that they had: who reviews has another one than who writes, and a firing
-- may move on to the next.
CREATE TABLE used (
  firing         BLOB NOT NULL REFERENCES firing (id),
  account        TEXT NOT NULL,
  sessions       INTEGER NOT NULL,
  turns          INTEGER NOT NULL,
  tokens         INTEGER NOT NULL,
  cost_usd       REAL,
  cost_estimated INTEGER NOT NULL,
  untold         INTEGER NOT NULL,
  PRIMARY KEY (firing, account)
) STRICT;
-- What was used lately, whoever did.
CREATE INDEX firing_with_sessions ON firing (claimed_at) WHERE sessions > 0;

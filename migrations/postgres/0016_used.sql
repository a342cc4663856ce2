-- What the sessions of a firing used, by the account that they had: who reviews has another one than who writes, and a firing
-- may move on to the next.
CREATE TABLE used (
  firing         UUID NOT NULL REFERENCES firing (id),
  account        TEXT NOT NULL,
  sessions       BIGINT NOT NULL,
  turns          BIGINT NOT NULL,
  tokens         BIGINT NOT NULL,
  cost_usd       DOUBLE PRECISION,
  cost_estimated BIGINT NOT NULL,
  untold         BIGINT NOT NULL,
  PRIMARY KEY (firing, account)
);
-- What was used lately, whoever did.
CREATE INDEX firing_with_sessions ON firing (claimed_at) WHERE sessions > 0;

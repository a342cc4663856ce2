-- What a transaction of a firing leaves behind: where its end was cut off, this tells whether it is there. Its number does not: one that a
-- killed server had not written down is given to the next.
CREATE TABLE commit_key (
  key UUID PRIMARY KEY,
  at  TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE INDEX commit_key_at ON commit_key (at);

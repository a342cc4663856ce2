-- What an ended firing does to the forge, in its order; what is owed is done once the forge answers.
CREATE TABLE effect (
  firing  UUID NOT NULL REFERENCES firing (id),
  n       BIGINT NOT NULL,
  body    TEXT NOT NULL,
  state   TEXT NOT NULL,
  tries   BIGINT NOT NULL DEFAULT 0,
  said    TEXT,
  next_at TIMESTAMPTZ,
  PRIMARY KEY (firing, n)
);
CREATE INDEX effect_owed ON effect (firing) WHERE state = 'owed';

-- What settle said, once salvage knew what of it could be kept.
ALTER TABLE firing ADD COLUMN delivered TEXT;

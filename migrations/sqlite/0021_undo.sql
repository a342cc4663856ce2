-- What takes back what a firing did, in its order; decided once, before any of it is done.
CREATE TABLE undo (
  firing BLOB NOT NULL REFERENCES firing (id),
  n      INTEGER NOT NULL,
  body   TEXT NOT NULL,
  state  TEXT NOT NULL,
  said   TEXT,
  at     TEXT NOT NULL,
  PRIMARY KEY (firing, n)
) STRICT;

-- The labels that an effect really gave and took, so that those can be put back.
ALTER TABLE effect ADD COLUMN applied TEXT;

-- What was proposed as a lesson, as it was proposed. `words` is its text as it is searched.
CREATE TABLE lesson (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          BLOB NOT NULL UNIQUE,
  recorded_at TEXT NOT NULL,
  text        TEXT NOT NULL,
  body        TEXT,
  kind        TEXT NOT NULL,
  severity    TEXT NOT NULL,
  scope       TEXT NOT NULL,
  repo        TEXT,
  confidence  REAL NOT NULL,
  valid_from  TEXT NOT NULL,
  valid_to    TEXT,
  source      TEXT NOT NULL,
  by          TEXT NOT NULL,
  firing      BLOB,
  origin      TEXT,
  digest      TEXT NOT NULL,
  words       TEXT NOT NULL
) STRICT;
CREATE INDEX lesson_by_digest ON lesson (digest);
CREATE INDEX lesson_by_firing ON lesson (firing) WHERE firing IS NOT NULL;

-- What it rests on.
CREATE TABLE lesson_evidence (
  lesson INTEGER NOT NULL REFERENCES lesson (seq),
  n      INTEGER NOT NULL,
  form   TEXT NOT NULL,
  PRIMARY KEY (lesson, n)
) STRICT;

-- What was known of it since when: the last one that was recorded counts. It is believed of a time in the world when
-- `valid_from` is there and not after it, and `valid_to` is not there or after it. `undoes` is the change that is taken back.
CREATE TABLE lesson_change (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  lesson     INTEGER NOT NULL REFERENCES lesson (seq),
  n          INTEGER NOT NULL,
  at         TEXT NOT NULL,
  state      TEXT NOT NULL,
  valid_from TEXT,
  valid_to   TEXT,
  confidence REAL NOT NULL,
  by         TEXT NOT NULL,
  why        TEXT NOT NULL,
  undoes     INTEGER
) STRICT;
-- Of two who decide at once, one finds that it was decided.
CREATE UNIQUE INDEX lesson_change_nth ON lesson_change (lesson, n);
-- What is or was believed is what vectors are made of.
CREATE INDEX lesson_believed ON lesson_change (lesson) WHERE valid_from IS NOT NULL;

-- What the gate found each time that it looked.
CREATE TABLE judgement (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  lesson     INTEGER NOT NULL REFERENCES lesson (seq),
  at         TEXT NOT NULL,
  run        BLOB NOT NULL,
  account    TEXT,
  asked      INTEGER NOT NULL,
  rails      TEXT NOT NULL,
  structural REAL NOT NULL,
  verdict    TEXT,
  score      REAL,
  decision   TEXT NOT NULL,
  cost_usd   REAL
) STRICT;
CREATE INDEX judgement_of ON judgement (lesson, seq);
CREATE INDEX judgement_by_time ON judgement (at);

-- What a firing was told; `off` where it was told nothing on purpose.
CREATE TABLE recall (
  firing BLOB NOT NULL PRIMARY KEY,
  at     TEXT NOT NULL,
  off    INTEGER NOT NULL,
  mode   TEXT NOT NULL,
  block  TEXT NOT NULL
) STRICT;
CREATE INDEX recall_by_time ON recall (at);
CREATE TABLE recalled (
  firing BLOB NOT NULL REFERENCES recall (firing),
  n      INTEGER NOT NULL,
  lesson INTEGER NOT NULL REFERENCES lesson (seq),
  score  REAL NOT NULL,
  canon  TEXT NOT NULL,
  PRIMARY KEY (firing, n)
) STRICT;
CREATE INDEX recalled_by_lesson ON recalled (lesson);

-- What a model made of a lesson's text: 8 bits a number, and what they are multiplied with.
CREATE TABLE lesson_vector (
  lesson INTEGER NOT NULL REFERENCES lesson (seq),
  model  TEXT NOT NULL,
  scale  REAL NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (lesson, model)
) STRICT;
CREATE INDEX lesson_vector_by_model ON lesson_vector (model, lesson);

-- The past stays as it was.
CREATE TRIGGER lesson_stays BEFORE UPDATE ON lesson BEGIN SELECT RAISE(ABORT, 'lessons are only added to'); END;
CREATE TRIGGER lesson_is_kept BEFORE DELETE ON lesson BEGIN SELECT RAISE(ABORT, 'lessons are only added to'); END;
CREATE TRIGGER lesson_evidence_stays BEFORE UPDATE ON lesson_evidence BEGIN SELECT RAISE(ABORT, 'lessons are only added to'); END;
CREATE TRIGGER lesson_evidence_is_kept BEFORE DELETE ON lesson_evidence BEGIN SELECT RAISE(ABORT, 'lessons are only added to'); END;
CREATE TRIGGER lesson_change_stays BEFORE UPDATE ON lesson_change BEGIN SELECT RAISE(ABORT, 'lessons are only added to'); END;
CREATE TRIGGER lesson_change_is_kept BEFORE DELETE ON lesson_change BEGIN SELECT RAISE(ABORT, 'lessons are only added to'); END;

-- How they are found.
CREATE VIRTUAL TABLE lesson_words USING fts5 (words, content = 'lesson', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 0');
CREATE TRIGGER lesson_is_found AFTER INSERT ON lesson BEGIN
  INSERT INTO lesson_words (rowid, words) VALUES (new.seq, new.words);
END;

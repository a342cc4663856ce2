-- What was proposed as a lesson, as it was proposed. `words` is its text as it is searched.
CREATE TABLE lesson (
  seq         BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  id          UUID NOT NULL UNIQUE,
  recorded_at TIMESTAMPTZ NOT NULL,
  text        TEXT NOT NULL,
  body        TEXT,
  kind        TEXT NOT NULL,
  severity    TEXT NOT NULL,
  scope       TEXT NOT NULL,
  repo        TEXT,
  confidence  DOUBLE PRECISION NOT NULL,
  valid_from  TIMESTAMPTZ NOT NULL,
  valid_to    TIMESTAMPTZ,
  source      TEXT NOT NULL,
  by          TEXT NOT NULL,
  firing      UUID,
  origin      TEXT,
  digest      TEXT NOT NULL,
  words       TEXT NOT NULL
);
CREATE INDEX lesson_by_digest ON lesson (digest);
CREATE INDEX lesson_by_firing ON lesson (firing) WHERE firing IS NOT NULL;

-- What it rests on.
CREATE TABLE lesson_evidence (
  lesson BIGINT NOT NULL REFERENCES lesson (seq),
  n      BIGINT NOT NULL,
  form   TEXT NOT NULL,
  PRIMARY KEY (lesson, n)
);

-- What was known of it since when: the last one that was recorded counts. It is believed of a time in the world when
-- `valid_from` is there and not after it, and `valid_to` is not there or after it. `undoes` is the change that is taken back.
CREATE TABLE lesson_change (
  seq        BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  lesson     BIGINT NOT NULL REFERENCES lesson (seq),
  n          BIGINT NOT NULL,
  at         TIMESTAMPTZ NOT NULL,
  state      TEXT NOT NULL,
  valid_from TIMESTAMPTZ,
  valid_to   TIMESTAMPTZ,
  confidence DOUBLE PRECISION NOT NULL,
  by         TEXT NOT NULL,
  why        TEXT NOT NULL,
  undoes     BIGINT
);
-- Of two who decide at once, one finds that it was decided.
CREATE UNIQUE INDEX lesson_change_nth ON lesson_change (lesson, n);
-- What is or was believed is what vectors are made of.
CREATE INDEX lesson_believed ON lesson_change (lesson) WHERE valid_from IS NOT NULL;

-- What the gate found each time that it looked.
CREATE TABLE judgement (
  seq        BIGINT PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  lesson     BIGINT NOT NULL REFERENCES lesson (seq),
  at         TIMESTAMPTZ NOT NULL,
  run        UUID NOT NULL,
  account    TEXT,
  asked      BIGINT NOT NULL,
  rails      TEXT NOT NULL,
  structural DOUBLE PRECISION NOT NULL,
  verdict    TEXT,
  score      DOUBLE PRECISION,
  decision   TEXT NOT NULL,
  cost_usd   DOUBLE PRECISION
);
CREATE INDEX judgement_of ON judgement (lesson, seq);
CREATE INDEX judgement_by_time ON judgement (at);

-- What a firing was told; `off` where it was told nothing on purpose.
CREATE TABLE recall (
  firing UUID NOT NULL PRIMARY KEY,
  at     TIMESTAMPTZ NOT NULL,
  off    BIGINT NOT NULL,
  mode   TEXT NOT NULL,
  block  TEXT NOT NULL
);
CREATE INDEX recall_by_time ON recall (at);
CREATE TABLE recalled (
  firing UUID NOT NULL REFERENCES recall (firing),
  n      BIGINT NOT NULL,
  lesson BIGINT NOT NULL REFERENCES lesson (seq),
  score  DOUBLE PRECISION NOT NULL,
  canon  TEXT NOT NULL,
  PRIMARY KEY (firing, n)
);
CREATE INDEX recalled_by_lesson ON recalled (lesson);

-- What a model made of a lesson's text: 8 bits a number, and what they are multiplied with.
CREATE TABLE lesson_vector (
  lesson BIGINT NOT NULL REFERENCES lesson (seq),
  model  TEXT NOT NULL,
  scale  DOUBLE PRECISION NOT NULL,
  vector BYTEA NOT NULL,
  PRIMARY KEY (lesson, model)
);
CREATE INDEX lesson_vector_by_model ON lesson_vector (model, lesson);

-- The past stays as it was.
CREATE FUNCTION lessons_are_only_added_to() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'lessons are only added to'; END $$;
CREATE TRIGGER lesson_stays BEFORE UPDATE OR DELETE ON lesson FOR EACH ROW EXECUTE FUNCTION lessons_are_only_added_to();
CREATE TRIGGER lesson_evidence_stays BEFORE UPDATE OR DELETE ON lesson_evidence FOR EACH ROW EXECUTE FUNCTION lessons_are_only_added_to();
CREATE TRIGGER lesson_change_stays BEFORE UPDATE OR DELETE ON lesson_change FOR EACH ROW EXECUTE FUNCTION lessons_are_only_added_to();
-- No row's trigger hears of these.
CREATE TRIGGER lesson_is_kept BEFORE TRUNCATE ON lesson FOR EACH STATEMENT EXECUTE FUNCTION lessons_are_only_added_to();
CREATE TRIGGER lesson_evidence_is_kept BEFORE TRUNCATE ON lesson_evidence FOR EACH STATEMENT EXECUTE FUNCTION lessons_are_only_added_to();
CREATE TRIGGER lesson_change_is_kept BEFORE TRUNCATE ON lesson_change FOR EACH STATEMENT EXECUTE FUNCTION lessons_are_only_added_to();

-- How they are found.
CREATE INDEX lesson_words ON lesson USING gin (array_to_tsvector(string_to_array(words, ' ')));

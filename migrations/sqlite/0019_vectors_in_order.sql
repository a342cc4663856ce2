-- Vectors in the order in which they were made: a lesson may be believed long after later ones, and who has read on
-- would never see its vector.
CREATE TABLE lesson_vector_in_order (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  lesson INTEGER NOT NULL REFERENCES lesson (seq),
  model  TEXT NOT NULL,
  scale  REAL NOT NULL,
  vector BLOB NOT NULL
) STRICT;
INSERT INTO lesson_vector_in_order (lesson, model, scale, vector)
SELECT lesson, model, scale, vector FROM lesson_vector ORDER BY lesson, model;
DROP TABLE lesson_vector;
ALTER TABLE lesson_vector_in_order RENAME TO lesson_vector;
CREATE UNIQUE INDEX lesson_vector_of ON lesson_vector (lesson, model);
CREATE INDEX lesson_vector_by_model ON lesson_vector (model, seq);

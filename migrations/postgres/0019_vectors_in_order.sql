-- Vectors in the order in which they were made: a lesson may be believed long after later ones, and who has read on
-- would never see its vector.
ALTER TABLE lesson_vector ADD COLUMN seq BIGINT GENERATED ALWAYS AS IDENTITY;
ALTER TABLE lesson_vector DROP CONSTRAINT lesson_vector_pkey;
ALTER TABLE lesson_vector ADD PRIMARY KEY (seq);
CREATE UNIQUE INDEX lesson_vector_of ON lesson_vector (lesson, model);
DROP INDEX lesson_vector_by_model;
CREATE INDEX lesson_vector_by_model ON lesson_vector (model, seq);

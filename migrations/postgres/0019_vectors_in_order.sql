-- Vectors in the order in which they were made: a lesson may be believed long after later ones, and who has read on
-- would never see its vector.
ALTER TABLE lesson_vector ADD COLUMN seq BIGINT GENERATED ALWAYS AS IDENTITY;
DROP INDEX lesson_vector_by_model;
CREATE INDEX lesson_vector_by_model ON lesson_vector (model, seq);

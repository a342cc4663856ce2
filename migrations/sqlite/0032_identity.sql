-- How far the clock of a host was ahead of this database's when its lease was renewed last, in seconds.
ALTER TABLE host ADD COLUMN ahead_s INTEGER;
-- Which database this is. Homes remember it, and begin with none that was made anew in its place; one that comes back
-- from a dump is the same.
CREATE TABLE identity (id BLOB NOT NULL PRIMARY KEY);
INSERT INTO identity (id) VALUES (randomblob(16));

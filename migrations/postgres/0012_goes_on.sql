-- The branch of an earlier firing's pull request with whose work a firing goes on; what it makes is pushed there.
ALTER TABLE firing ADD COLUMN goes_on TEXT;

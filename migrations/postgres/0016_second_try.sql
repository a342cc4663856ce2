-- The pull request of an earlier firing beside which this one is a second try of the same work; without it it is none.
ALTER TABLE firing ADD COLUMN second_try BIGINT;

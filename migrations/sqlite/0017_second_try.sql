-- The pull request of an earlier firing beside which this one is a second try of the same work; without it it is none.
ALTER TABLE firing ADD COLUMN second_try INTEGER;
-- They are counted by account, since its usage window began.
CREATE INDEX firing_second_try ON firing (account, claimed_at) WHERE second_try IS NOT NULL;

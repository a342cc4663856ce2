-- How the sessions were confined: what the launcher reported, as JSON.
ALTER TABLE firing ADD COLUMN sandbox TEXT;
-- What a firing's own record shows.
CREATE INDEX event_by_firing ON event (firing) WHERE firing IS NOT NULL;

-- How the sessions were confined: what the launcher reported, as JSON.
ALTER TABLE firing ADD COLUMN sandbox TEXT;

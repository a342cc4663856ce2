-- How many firings of a day ended so or so, counted from the index alone.
CREATE INDEX firing_by_outcome ON firing (outcome, claimed_at);

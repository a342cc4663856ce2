-- Firings are told to a collector of traces in the order of their ends.
CREATE INDEX firing_by_end ON firing (ended_at, id) WHERE ended_at IS NOT NULL;

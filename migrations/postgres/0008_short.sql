-- The eight digits that tables show of an id.
CREATE INDEX firing_short ON firing (right(id::text, 8));

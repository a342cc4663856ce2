-- The eight digits that tables show of an id.
CREATE INDEX firing_short ON firing (lower(substr(hex(id), 25)));

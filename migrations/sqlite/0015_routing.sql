-- The account that judged last what a firing made: its plan, or its change.
ALTER TABLE firing ADD COLUMN reviewed_by TEXT;

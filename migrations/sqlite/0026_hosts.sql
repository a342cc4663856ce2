-- A database in a file has one host, and nobody to take a row over from it: the epochs stay as they are, and nobody
-- renews a lease.
ALTER TABLE host ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;
ALTER TABLE host ADD COLUMN lease_until TEXT;
-- Since when it renews that without a gap.
ALTER TABLE host ADD COLUMN held_since TEXT;
-- Since when the others take it for dead; none while it is not.
ALTER TABLE host ADD COLUMN lapsed_at TEXT;
-- Since when nothing new is to fire there.
ALTER TABLE host ADD COLUMN drained_at TEXT;
-- Its labels, each between spaces.
ALTER TABLE host ADD COLUMN labels TEXT NOT NULL DEFAULT '';
ALTER TABLE firing ADD COLUMN epoch INTEGER NOT NULL DEFAULT 1;
-- A claim has so long until its process begins, or says that it lives.
ALTER TABLE firing ADD COLUMN lease_until TEXT;
-- The host that concludes it, and carries out what it owes, in the place of its own.
ALTER TABLE firing ADD COLUMN carrier TEXT;
CREATE INDEX firing_carried ON firing (carrier) WHERE carrier IS NOT NULL;

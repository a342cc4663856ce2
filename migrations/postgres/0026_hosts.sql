-- Hosts hold leases, which the clock of this database alone judges, and rows have epochs: whoever writes as a firing names
-- the epoch that it knows, and writes nothing once another host has taken the row over.
ALTER TABLE host ADD COLUMN epoch BIGINT NOT NULL DEFAULT 1;
ALTER TABLE host ADD COLUMN lease_until TIMESTAMPTZ;
-- Since when it renews that without a gap.
ALTER TABLE host ADD COLUMN held_since TIMESTAMPTZ;
-- Since when the others take it for dead; none while it is not.
ALTER TABLE host ADD COLUMN lapsed_at TIMESTAMPTZ;
-- Since when nothing new is to fire there.
ALTER TABLE host ADD COLUMN drained_at TIMESTAMPTZ;
-- Its labels, each between spaces.
ALTER TABLE host ADD COLUMN labels TEXT NOT NULL DEFAULT '';
ALTER TABLE firing ADD COLUMN epoch BIGINT NOT NULL DEFAULT 1;
-- A claim has so long until its process begins, or says that it lives.
ALTER TABLE firing ADD COLUMN lease_until TIMESTAMPTZ DEFAULT now() + interval '15 seconds';
-- The host that concludes it, and carries out what it owes, in the place of its own.
ALTER TABLE firing ADD COLUMN carrier TEXT;
CREATE INDEX firing_carried ON firing (carrier) WHERE carrier IS NOT NULL;

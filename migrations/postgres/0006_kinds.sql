-- Which stop a skipped firing met, and what stands behind a block: words for programs. Until now
-- only the sentence for people was kept; this is the one time that it is read.
ALTER TABLE firing ADD COLUMN skip TEXT;
UPDATE firing SET skip = CASE
    WHEN reason LIKE 'paused: %' THEN 'pause'
    WHEN reason LIKE 'blocked: %' THEN 'block'
    WHEN reason LIKE 'kept for people: %' THEN 'reserved'
    WHEN reason LIKE 'low priority: %' THEN 'low-priority'
    WHEN reason LIKE 'budget used up: %' THEN 'budget'
    WHEN reason LIKE 'breaker open: %' THEN 'breaker'
    WHEN reason LIKE 'daily cap of %' THEN 'daily-cap'
    WHEN reason LIKE 'its firing still runs%' THEN 'overlap'
    WHEN reason LIKE 'review queue %' THEN 'open-prs'
    WHEN reason LIKE 'the slot is too old%' THEN 'too-late'
    WHEN reason LIKE 'preflight: %' THEN 'preflight'
  END
  WHERE outcome = 'SKIPPED';

ALTER TABLE account_block ADD COLUMN kind TEXT;
UPDATE account_block SET kind = CASE
    WHEN set_by = 'operator' THEN 'operator'
    WHEN reason LIKE 'sign-in%' THEN 'auth'
    WHEN reason LIKE 'billing%' THEN 'billing'
    ELSE 'limit'
  END;

-- A role's day and the fleet's month are counted and summed from the index alone.
DROP INDEX firing_by_role;
CREATE INDEX firing_by_role ON firing (role, claimed_at, outcome, cost_usd);
DROP INDEX firing_cost;
CREATE INDEX firing_cost ON firing (claimed_at, cost_usd) WHERE cost_usd IS NOT NULL;

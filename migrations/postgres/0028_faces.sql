-- When the buttons of a question were taken off: it was answered, by whichever way, or is answered no more.
ALTER TABLE approval ADD COLUMN bare_at TIMESTAMPTZ;
CREATE INDEX approval_buttons ON approval (asked_at) WHERE channel IS NOT NULL AND bare_at IS NULL;

-- What a daemon serves or listens to and cannot at the moment (page, MCP, metrics, chat), and why.
CREATE TABLE face (
  host  TEXT NOT NULL,
  name  TEXT NOT NULL,
  why   TEXT NOT NULL,
  since TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (host, name)
);

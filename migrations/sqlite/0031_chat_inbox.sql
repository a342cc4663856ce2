-- What was said in the chat and is not dealt with yet, written before the chat is told that it was heard: by whom, in
-- which thread, and whether it may change something. What somebody holds, they hold until a time; what may be done only
-- once has begun at a time.
CREATE TABLE chat_inbox (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  who         TEXT NOT NULL,
  place       TEXT NOT NULL,
  changes     INTEGER NOT NULL,
  heard       TEXT NOT NULL,
  at          TEXT NOT NULL,
  lease_until TEXT,
  begun_at    TEXT
) STRICT;

-- How many posts of a question the chat has that come before the one with its buttons, and the first of them where that
-- began a thread.
ALTER TABLE approval ADD COLUMN told INTEGER NOT NULL DEFAULT 0;
ALTER TABLE approval ADD COLUMN head TEXT;

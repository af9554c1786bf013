-- The page log of a session: what left its window and what came back into it,
-- and why. It holds keys and words of a closed vocabulary only, no content, so
-- that it has no envelope.
CREATE TABLE pages (
  key        INTEGER PRIMARY KEY,          -- owner << 40 | counter
  session    INTEGER NOT NULL REFERENCES sessions (key),
  direction  TEXT NOT NULL,                -- in, out
  reason     TEXT NOT NULL,
  from_key   INTEGER NOT NULL,             -- keys of messages, both inclusive; 0: none
  to_key     INTEGER NOT NULL,
  memory     INTEGER NOT NULL,             -- the key of a memory; 0: none
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX pages_session ON pages (session);
CREATE INDEX pages_message ON pages (from_key) WHERE from_key <> 0 AND from_key = to_key;
CREATE INDEX pages_memory ON pages (memory) WHERE memory <> 0;

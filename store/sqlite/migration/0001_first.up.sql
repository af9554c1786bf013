-- The whole list of tables, those included that later features fill: epochs,
-- idempotency, suppressions and lineage cannot be added after the first row
-- has been derived without them.
--
-- Rows of an owner lie together: their integer key is owner << 40 | n, where n
-- is the owner's sequence number at creation (or the owner's counter, for rows
-- outside the sequence). Loading and forgetting an owner are range scans.
-- Times are UTC microseconds; NULL is "none". Columns called body, wrapped or
-- error are envelopes; columns called *_mark are HMACs under the owner's
-- blind-index key, empty where the text is empty.

CREATE TABLE tenants (
  number     INTEGER PRIMARY KEY,
  mark       BLOB NOT NULL UNIQUE,
  body       BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Rows are never deleted, so that the order of rowids is that of creation.
CREATE TABLE api_keys (
  id         TEXT PRIMARY KEY,
  hash       BLOB NOT NULL UNIQUE,
  tenant     INTEGER NOT NULL REFERENCES tenants (number),
  access     TEXT NOT NULL,
  body       BLOB NOT NULL,               -- name, user
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX api_keys_tenant ON api_keys (tenant);
CREATE INDEX api_keys_live ON api_keys (tenant) WHERE revoked_at IS NULL;

CREATE TABLE settings (
  tenant     INTEGER NOT NULL,            -- 0: the server's own
  name       TEXT NOT NULL,
  body       BLOB NOT NULL,
  version    INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) STRICT, WITHOUT ROWID;

-- An owner's row is never deleted, and its epoch, seq and counter never start
-- again. wrapped is the owner's key; it becomes NULL when consent is withdrawn.
CREATE TABLE owners (
  number       INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND 8388607),
  mark         BLOB NOT NULL UNIQUE,      -- HMAC of (tenant, user) under the store's secret
  body         BLOB NOT NULL,             -- tenant, user
  wrapped      BLOB,
  epoch        INTEGER NOT NULL DEFAULT 0,
  seq          INTEGER NOT NULL DEFAULT 0,
  counter      INTEGER NOT NULL DEFAULT 0, -- numbers of the rows outside the sequence
  withdrawn_at INTEGER,
  created_at   INTEGER NOT NULL
) STRICT;

CREATE TABLE sessions (
  key             INTEGER PRIMARY KEY,
  owner           INTEGER NOT NULL REFERENCES owners (number),
  changed         INTEGER NOT NULL UNIQUE, -- owner << 40 | seq of the last change
  id_mark         BLOB NOT NULL,
  project_mark    BLOB NOT NULL,
  agent_mark      BLOB NOT NULL,
  active_at       INTEGER NOT NULL,        -- last message, or creation
  created_at      INTEGER NOT NULL,
  last_message_at INTEGER,
  ended_at        INTEGER,
  end_reason      TEXT NOT NULL,
  message_count   INTEGER NOT NULL,
  recent_from     INTEGER NOT NULL,
  cursor          INTEGER NOT NULL,
  ended_up_to     INTEGER NOT NULL,
  version         INTEGER NOT NULL,
  body            BLOB NOT NULL,
  UNIQUE (owner, id_mark)
) STRICT;
CREATE INDEX sessions_active ON sessions (owner, active_at);

CREATE TABLE tasks (
  key          INTEGER PRIMARY KEY,
  owner        INTEGER NOT NULL REFERENCES owners (number),
  project_mark BLOB NOT NULL,
  id_mark      BLOB NOT NULL,
  session      INTEGER NOT NULL,           -- that touched it last; 0 where it is gone
  started_at   INTEGER NOT NULL,
  completed_at INTEGER,
  outcome      TEXT NOT NULL,
  body         BLOB NOT NULL,
  UNIQUE (owner, project_mark, id_mark)
) STRICT;
CREATE INDEX tasks_session ON tasks (session) WHERE session <> 0;

-- Messages do not change: the number of their last change is that of their key.
CREATE TABLE messages (
  key         INTEGER PRIMARY KEY,
  session     INTEGER NOT NULL REFERENCES sessions (key),
  id_mark     BLOB NOT NULL,
  task_mark   BLOB NOT NULL,
  role        TEXT NOT NULL,
  origin      TEXT NOT NULL,
  pinned      INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  body        BLOB NOT NULL,
  UNIQUE (session, id_mark)
) STRICT;
CREATE INDEX messages_session ON messages (session);
CREATE INDEX messages_kept ON messages (session) WHERE pinned = 1 OR role = 'system';
CREATE INDEX messages_task ON messages (session, task_mark) WHERE task_mark <> x'';

-- A cleared working memory stays as a row without a body, for its version.
CREATE TABLE working (
  owner        INTEGER NOT NULL REFERENCES owners (number),
  place_mark   BLOB NOT NULL,              -- a task, or a session
  project_mark BLOB NOT NULL,
  agent_mark   BLOB NOT NULL,
  session_mark BLOB NOT NULL,              -- the session that it belongs to; empty for a task's
  open         INTEGER NOT NULL,
  written      INTEGER NOT NULL,           -- the owner's counter at the last write
  version      INTEGER NOT NULL,
  updated_at   INTEGER,
  body         BLOB,
  PRIMARY KEY (owner, place_mark)
) STRICT, WITHOUT ROWID;
CREATE INDEX working_open ON working (owner, project_mark, written) WHERE open = 1;

CREATE TABLE summaries (
  key        INTEGER PRIMARY KEY,
  session    INTEGER NOT NULL REFERENCES sessions (key),
  covers_from INTEGER NOT NULL,            -- keys of messages, both inclusive
  covers_to  INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  path       TEXT NOT NULL,                -- model and prompt version, or extractive
  created_at INTEGER NOT NULL,
  body       BLOB NOT NULL
) STRICT;
CREATE INDEX summaries_session ON summaries (session, covers_to);

-- The life cycle of all kinds of memories stands once; what a kind has of its
-- own stands in facts, episodes and skills under the same key.
CREATE TABLE memories (
  key          INTEGER PRIMARY KEY,
  owner        INTEGER NOT NULL REFERENCES owners (number),
  changed      INTEGER NOT NULL UNIQUE,    -- owner << 40 | seq of the last change
  id           TEXT NOT NULL,
  version      INTEGER NOT NULL,
  reason       TEXT NOT NULL,              -- what made the present state
  kind         TEXT NOT NULL,
  type         TEXT NOT NULL,
  level        TEXT NOT NULL,
  status       TEXT NOT NULL,
  origin       TEXT NOT NULL,
  project_mark BLOB NOT NULL,
  task_mark    BLOB NOT NULL,
  agent_mark   BLOB NOT NULL,
  scope_mark   BLOB NOT NULL,              -- level, project, task, agent
  content_mark BLOB NOT NULL,
  importance   REAL NOT NULL,
  confidence   REAL NOT NULL,
  stability    REAL,
  trust        REAL NOT NULL,
  pinned       INTEGER NOT NULL,
  valid_from   INTEGER,
  valid_to     INTEGER,
  expires_at   INTEGER,
  confirmed_at INTEGER,
  recorded_at  INTEGER NOT NULL,           -- created_at of the memory
  updated_at   INTEGER NOT NULL,
  body         BLOB NOT NULL,
  UNIQUE (owner, id)
) STRICT;
CREATE UNIQUE INDEX memories_content ON memories (owner, scope_mark, content_mark)
  WHERE status = 'active' AND content_mark <> x'';
CREATE INDEX memories_status ON memories (owner, status, type);
CREATE INDEX memories_pinned ON memories (owner) WHERE pinned = 1;

CREATE TABLE facts (
  key            INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
  owner          INTEGER NOT NULL,
  subject_mark   BLOB NOT NULL,
  attribute_mark BLOB NOT NULL,
  single         INTEGER NOT NULL,
  current_mark   BLOB,                     -- scope, subject and attribute, while active and single
  body           BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX facts_current ON facts (owner, current_mark) WHERE current_mark IS NOT NULL;
CREATE INDEX facts_subject ON facts (owner, subject_mark, attribute_mark) WHERE subject_mark <> x'';

CREATE TABLE episodes (
  key     INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
  from_at INTEGER,
  to_at   INTEGER,
  outcome TEXT NOT NULL,
  body    BLOB NOT NULL                    -- participants
) STRICT;

CREATE TABLE skills (
  key       INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
  successes INTEGER NOT NULL DEFAULT 0,
  failures  INTEGER NOT NULL DEFAULT 0,
  body      BLOB NOT NULL                  -- name, situation, steps
) STRICT;

-- What an edit replaced. The key is owner << 40 | seq of the edit.
CREATE TABLE versions (
  key         INTEGER PRIMARY KEY,
  memory      INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
  replaced_at INTEGER NOT NULL,
  reason      TEXT NOT NULL,
  body        BLOB NOT NULL
) STRICT;
CREATE INDEX versions_memory ON versions (memory);

-- item was made from source; n keeps the order in which edges were added.
CREATE TABLE lineage (
  item        INTEGER NOT NULL,
  source      INTEGER NOT NULL,
  item_kind   INTEGER NOT NULL,
  source_kind INTEGER NOT NULL,
  n           INTEGER NOT NULL,
  PRIMARY KEY (item, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX lineage_source ON lineage (source);

CREATE TABLE entities (
  key        INTEGER PRIMARY KEY,
  owner      INTEGER NOT NULL REFERENCES owners (number),
  kind       TEXT NOT NULL,
  name_mark  BLOB NOT NULL,
  epoch      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  body       BLOB NOT NULL                 -- name, aliases
) STRICT;
CREATE INDEX entities_name ON entities (owner, name_mark);

CREATE TABLE relations (
  key         INTEGER PRIMARY KEY,
  owner       INTEGER NOT NULL REFERENCES owners (number),
  subject     INTEGER NOT NULL REFERENCES entities (key) ON DELETE CASCADE,
  object      INTEGER REFERENCES entities (key) ON DELETE CASCADE,
  type_mark   BLOB NOT NULL,
  valid_from  INTEGER,
  valid_to    INTEGER,
  recorded_at INTEGER NOT NULL,
  epoch       INTEGER NOT NULL,
  body        BLOB NOT NULL
) STRICT;
CREATE INDEX relations_subject ON relations (subject);
CREATE INDEX relations_object ON relations (object);

-- changed has its place in the sequence: a vector that arrives later is a change.
CREATE TABLE vectors (
  item    INTEGER NOT NULL,
  model   TEXT NOT NULL,
  kind    INTEGER NOT NULL,
  changed INTEGER NOT NULL,
  epoch   INTEGER NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (item, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_changed ON vectors (changed);

CREATE TABLE terms (
  item     INTEGER NOT NULL,
  analyzer TEXT NOT NULL,
  kind     INTEGER NOT NULL,
  changed  INTEGER NOT NULL,
  epoch    INTEGER NOT NULL,
  body     BLOB NOT NULL,
  PRIMARY KEY (item, analyzer)
) STRICT, WITHOUT ROWID;

CREATE TABLE access (
  key     INTEGER PRIMARY KEY REFERENCES memories (key) ON DELETE CASCADE,
  last_at INTEGER,
  count   INTEGER NOT NULL
) STRICT;

CREATE TABLE extractions (
  key        INTEGER PRIMARY KEY,
  owner      INTEGER NOT NULL REFERENCES owners (number),
  session    INTEGER,
  from_key   INTEGER NOT NULL,
  to_key     INTEGER NOT NULL,
  state      TEXT NOT NULL,                -- stored, nothing, parked
  dry_run    INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  body       BLOB NOT NULL
) STRICT;
CREATE INDEX extractions_session ON extractions (session, to_key);

CREATE TABLE jobs (
  key         INTEGER PRIMARY KEY,         -- owner << 40 | counter
  owner       INTEGER NOT NULL REFERENCES owners (number),
  id          TEXT NOT NULL UNIQUE,
  kind        TEXT NOT NULL,
  session     INTEGER NOT NULL,            -- 0: none
  unique_mark BLOB NOT NULL,
  epoch       INTEGER NOT NULL,
  state       TEXT NOT NULL,               -- waiting, running, done, parked
  attempts    INTEGER NOT NULL DEFAULT 0,
  not_before  INTEGER NOT NULL,
  lease_until INTEGER,
  created_at  INTEGER NOT NULL,
  finished_at INTEGER,
  body        BLOB NOT NULL,               -- arguments
  error       BLOB
) STRICT;
CREATE UNIQUE INDEX jobs_unique ON jobs (owner, unique_mark) WHERE state = 'waiting' AND unique_mark <> x'';
CREATE INDEX jobs_waiting ON jobs (not_before, key) WHERE state = 'waiting';
CREATE INDEX jobs_running ON jobs (lease_until) WHERE state = 'running';
CREATE INDEX jobs_session ON jobs (session) WHERE session <> 0;

CREATE TABLE snapshots (
  key          INTEGER PRIMARY KEY,        -- owner << 40 | counter
  owner        INTEGER NOT NULL REFERENCES owners (number),
  id           TEXT NOT NULL,
  session_mark BLOB NOT NULL,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,
  body         BLOB NOT NULL,
  UNIQUE (owner, id)
) STRICT;
CREATE INDEX snapshots_session ON snapshots (owner, session_mark) WHERE session_mark <> x'';
CREATE INDEX snapshots_expires ON snapshots (owner, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE snapshot_items (
  item     INTEGER NOT NULL,
  snapshot INTEGER NOT NULL REFERENCES snapshots (key) ON DELETE CASCADE,
  PRIMARY KEY (item, snapshot)
) STRICT, WITHOUT ROWID;
CREATE INDEX snapshot_items_snapshot ON snapshot_items (snapshot);

CREATE TABLE batches (
  key        INTEGER PRIMARY KEY,          -- owner << 40 | counter
  owner      INTEGER NOT NULL REFERENCES owners (number),
  id         TEXT NOT NULL UNIQUE,
  kind       TEXT NOT NULL,
  state      TEXT NOT NULL,                -- previewed, applied, undone
  epoch      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  body       BLOB NOT NULL                 -- what it changed, for the undo
) STRICT;
CREATE INDEX batches_owner ON batches (owner);

-- Status and ids only, never content.
CREATE TABLE idempotency (
  key        INTEGER PRIMARY KEY,          -- owner << 40 | counter
  owner      INTEGER NOT NULL REFERENCES owners (number),
  place_mark BLOB NOT NULL,                -- operation, idempotency key
  request    BLOB NOT NULL,
  forgotten  INTEGER NOT NULL,
  at         INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  body       BLOB NOT NULL,
  UNIQUE (owner, place_mark)
) STRICT;
CREATE INDEX idempotency_expires ON idempotency (owner, expires_at);

CREATE TABLE idempotency_items (
  item   INTEGER NOT NULL,
  record INTEGER NOT NULL REFERENCES idempotency (key) ON DELETE CASCADE,
  PRIMARY KEY (item, record)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_items_record ON idempotency_items (record);

CREATE TABLE suppressions (
  owner INTEGER NOT NULL REFERENCES owners (number),
  mark  BLOB NOT NULL,
  at    INTEGER NOT NULL,
  PRIMARY KEY (owner, mark)
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
  key        INTEGER PRIMARY KEY,          -- owner << 40 | counter
  owner      INTEGER NOT NULL REFERENCES owners (number),
  id         TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  body       BLOB NOT NULL,                -- counts, the reason and the keys of what went; no content, no hash of any
  UNIQUE (owner, id)
) STRICT;

-- Forgets in progress: what is left to do after a crash.
CREATE TABLE forgets (
  key        INTEGER PRIMARY KEY,          -- owner << 40 | counter
  owner      INTEGER NOT NULL REFERENCES owners (number),
  epoch      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  body       BLOB NOT NULL                 -- the request, what went so far
) STRICT;

CREATE TABLE audit (
  n     INTEGER PRIMARY KEY,               -- the chain's own order, over all owners
  owner INTEGER,
  at    INTEGER NOT NULL,
  mac   BLOB NOT NULL,
  body  BLOB NOT NULL
) STRICT;
CREATE INDEX audit_owner ON audit (owner, n);

-- What was deleted: number, kind, key; no content.
CREATE TABLE tombstones (
  changed INTEGER PRIMARY KEY,             -- owner << 40 | seq of the deletion
  kind    INTEGER NOT NULL,
  item    INTEGER NOT NULL
) STRICT;

CREATE TABLE usage (
  tenant    INTEGER NOT NULL,
  day       INTEGER NOT NULL,              -- days since 1970-01-01, UTC
  operation TEXT NOT NULL,
  model     TEXT NOT NULL,
  calls     INTEGER NOT NULL DEFAULT 0,
  tokens_in INTEGER NOT NULL DEFAULT 0,
  tokens_out INTEGER NOT NULL DEFAULT 0,
  cost      REAL NOT NULL DEFAULT 0,       -- in USD
  PRIMARY KEY (tenant, day, operation, model)
) STRICT, WITHOUT ROWID;
